//===- TuningFile.cpp - Measured choices ----------------------------------===//

#include "Tuning/TuningRecord.h"
#include "parsers/Fuzzing.h"

using namespace glowish;
using namespace glowish::parsers;

/// What is written again is the same record.
GLOWISH_PARSER_FUZZER(tuning) {
  auto record = accept(TuningRecord::parse(input, "tuning"));
  if (!record)
    return;
  std::string text = record->str();
  auto again = accept(TuningRecord::parse(text, "again"));
  expect(again && again->str() == text, "a record that was written is another");
}
