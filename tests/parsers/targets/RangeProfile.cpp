//===- RangeProfile.cpp - The ranges of a model's values ------------------===//

#include "glowish/Optimizer/RangeProfile.h"
#include "parsers/Fuzzing.h"

using namespace glowish;
using namespace glowish::parsers;

/// What is written again is the same profile.
GLOWISH_PARSER_FUZZER(profile) {
  auto profile = accept(readRangeProfile(input));
  if (!profile)
    return;
  std::string text = writeRangeProfile(*profile);
  auto again = accept(readRangeProfile(text));
  expect(again && writeRangeProfile(*again) == text,
         "a profile that was written is another");
}
