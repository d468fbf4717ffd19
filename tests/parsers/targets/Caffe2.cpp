//===- Caffe2.cpp - Caffe2 nets, binary and text --------------------------===//

#include "glowish/Importer/Caffe2.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"

using namespace glowish;
using namespace glowish::parsers;

/// Parts: `inputs`, their types; `predict` and `init`, the two nets, of which
/// the latter may be missing. Each may be text or binary.
GLOWISH_PARSER_FUZZER(caffe2) {
  Parts parts = splitParts(input);
  llvm::SmallVector<llvm::StringRef> nets = {findPart(parts, "predict")};
  if (llvm::StringRef init = findPart(parts, "init"); !init.empty())
    nets.push_back(init);
  ImportOptions options = getImportOptions(findPart(parts, "inputs"));
  compileToPlan(importCaffe2(nets, "model", options), input.size(),
                Target::Interpreter);
}
