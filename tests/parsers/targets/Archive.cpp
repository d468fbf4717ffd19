//===- Archive.cpp - ZIP archives -----------------------------------------===//

#include "glowish/Importer/ModelFormat.h"
#include "glowish/Importer/TorchExport.h"
#include "glowish/Support/MemoryFile.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"

using namespace glowish;
using namespace glowish::parsers;

/// The bytes of an archive themselves: lists of files, sizes and checksums, and
/// how files of PyTorch are told from each other.
GLOWISH_PARSER_FUZZER(archive) {
  MemoryFile file(input, "input");
  llvm::consumeError(recognizeModel(file.getPath()).takeError());
  compileToPlan(importTorchExportFile(file.getPath(), getImportOptions()),
                input.size(), Target::Interpreter);
}
