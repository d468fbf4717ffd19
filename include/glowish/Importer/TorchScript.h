//===- TorchScript.h - Import of TorchScript archives -----------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_TORCHSCRIPT_H
#define GLOWISH_IMPORTER_TORCHSCRIPT_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// Imports a traced or scripted module (torch.jit.save) as a module with one
/// function, "main": the method that the options state, else forward(), or the
/// only one. The options state the types of inputs, whose names are those of
/// the method's arguments; NAME.0, NAME.1, ... are those in a list or a tuple.
/// Outputs are called output, or output.0, output.1, ... Tensors that the
/// module changes of itself are kept from run to run. Needs the library
/// libglowish-torch.so, and libtorch.
llvm::Expected<std::unique_ptr<Module>>
importTorchScriptFile(llvm::StringRef path, const ImportOptions &options);

} // namespace glowish

#endif // GLOWISH_IMPORTER_TORCHSCRIPT_H
