//===- TorchExport.h - Import of PyTorch's exported programs ----*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_TORCHEXPORT_H
#define GLOWISH_IMPORTER_TORCHEXPORT_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// Imports an exported program (.pt2, schema version 8) as a module with one
/// function, "main". Placeholders have the names of the program's inputs and of
/// the values that are its outputs; buffers that it changes are states, named
/// as in the model. All unsupported operators are listed in one error.
llvm::Expected<std::unique_ptr<Module>>
importTorchExportFile(llvm::StringRef path, const ImportOptions &options);

} // namespace glowish

#endif // GLOWISH_IMPORTER_TORCHEXPORT_H
