//===- Caffe2.cpp - Caffe2 nets, binary and text --------------------------===//

#include "glowish/Importer/Caffe2.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;
using namespace glowish::parsers;

/// Whether some stated type is large. Weights without an init net are zeros of
/// the types that the user states: gigabytes of them are no fault of a file.
static bool hasLargeTypes(const ImportOptions &options) {
  constexpr int64_t maxElements = 1 << 20;
  return llvm::any_of(options.inputTypes, [](const auto &input) {
    return input.second.getNumElements() > maxElements;
  });
}

/// Parts: `inputs`, their types; `predict` and `init`, the two nets, of which
/// the latter may be missing. Each may be text or binary.
GLOWISH_PARSER_FUZZER(caffe2) {
  Parts parts = splitParts(input);
  llvm::SmallVector<llvm::StringRef> nets = {findPart(parts, "predict")};
  if (llvm::StringRef init = findPart(parts, "init"); !init.empty())
    nets.push_back(init);
  ImportOptions options = getImportOptions(findPart(parts, "inputs"));
  if (nets.size() == 1 && hasLargeTypes(options))
    return;
  compileToPlan(importCaffe2(nets, "model", options), input.size(),
                Target::Interpreter);
}
