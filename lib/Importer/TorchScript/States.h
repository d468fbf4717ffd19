//===- States.h - Attributes that a program changes -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_STATES_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_STATES_H

#include "TorchScript/Program.h"
#include "glowish/Importer/ImportOptions.h"

namespace glowish::torchscript {

/// A method of a TorchScript module, and how it is imported.
struct ScriptMethod {
  const Program &program;
  const ImportOptions &options;
};

/// Imports \p methods, which are of one TorchScript module, as a module each.
/// Attributes that one of them changes become states of all, which are zeros
/// before the first run, whatever the archive states.
llvm::Expected<std::vector<std::unique_ptr<Module>>>
importMethods(llvm::ArrayRef<ScriptMethod> methods);

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_STATES_H
