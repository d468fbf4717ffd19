//===- States.h - Attributes that a program changes -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_STATES_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_STATES_H

#include "TorchScript/Program.h"
#include "glowish/Importer/ImportOptions.h"

namespace glowish::torchscript {

/// Imports \p program as a module. Attributes that it changes become states,
/// which are zeros before the first run, whatever the archive states.
llvm::Expected<std::unique_ptr<Module>>
importWithStates(const torchscript::Program &program,
                 const ImportOptions &options);

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_STATES_H
