//===- GraphText.cpp - The text form of the graph -------------------------===//

#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Contract.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"

using namespace glowish;
using namespace glowish::parsers;

/// The text, and in the part `weights` the side file with large constants. What
/// is printed again is parsed to what has the same text. A graph is compiled if
/// it is one that a front end could deliver.
GLOWISH_PARSER_FUZZER(graph) {
  Parts parts = splitParts(input);
  auto module = accept(parseModule(parts.front().second, "input.graph",
                                   makeSideFile(findPart(parts, "weights"))));
  if (!module)
    return;
  std::string text, weights, again, otherWeights;
  llvm::raw_string_ostream os(text), side(weights), second(again),
      otherSide(otherWeights);
  printModule(os, **module, &side);
  auto other = parseModule(text, "again.graph", makeSideFile(weights));
  expect(bool(other), "what was printed is refused");
  printModule(second, **other, &otherSide);
  expect(text == again, "what was parsed again has another text");
  if (accept(verifyContract(**module)))
    compileToPlan(std::move(*module), input.size(), Target::CPU);
}
