//===- ExportedProgram.cpp - PyTorch's exported programs ------------------===//

#include "glowish/Importer/ModelFormat.h"
#include "glowish/Importer/TorchExport.h"
#include "glowish/Support/MemoryFile.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"
#include "robustness/TorchArchives.h"

using namespace glowish;
using namespace glowish::parsers;

/// Parts: the entries of a .pt2 archive, which is made of them with right
/// checksums, and `inputs`, the types of inputs.
GLOWISH_PARSER_FUZZER(pt2) {
  Parts parts = splitParts(input);
  ImportOptions options = getImportOptions(findPart(parts, "inputs"));
  llvm::erase_if(parts,
                 [](const auto &part) { return part.first == "inputs"; });
  MemoryFile file(makeArchive(parts), "input");
  llvm::consumeError(recognizeModel(file.getPath()).takeError());
  compileToPlan(importTorchExportFile(file.getPath(), options), input.size(),
                Target::Interpreter);
}
