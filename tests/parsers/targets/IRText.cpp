//===- IRText.cpp - The text form of the IR -------------------------------===//

#include "glowish/IR/IRText.h"
#include "glowish/IR/MemoryPlan.h"
#include "glowish/IR/Passes.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"

using namespace glowish;
using namespace glowish::parsers;

/// The text, and in the part `weights` the side file with large constants. The
/// passes run, as in glowish-opt, and what is printed then is parsed.
GLOWISH_PARSER_FUZZER(ir) {
  Parts parts = splitParts(input);
  auto function = accept(parseIR(parts.front().second, "input.ir",
                                 makeSideFile(findPart(parts, "weights"))));
  if (!function)
    return;
  if (!accept(runPipeline<IRFunction, IRPassContext>(
                  getIRPipeline(), getIRPasses(), **function, IRPassContext(),
                  PassHooks<IRFunction>())
                  .takeError()))
    return;
  expect(!llvm::errorToBool(verify(**function)),
         "what the passes made does not verify");
  std::string text, weights;
  llvm::raw_string_ostream os(text), side(weights);
  printIR(os, **function, &side);
  expect(bool(accept(parseIR(text, "again.ir", makeSideFile(weights)))),
         "what was printed is refused");
}
