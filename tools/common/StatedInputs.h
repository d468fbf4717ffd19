//===- StatedInputs.h - Inputs of a model that is to be read ----*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_STATEDINPUTS_H
#define GLOWISH_TOOLS_COMMON_STATEDINPUTS_H

#include "glowish/Importer/OnnxModel.h"

namespace glowish {

/// The inputs of the model at \p path, in any form that Compilation::import
/// takes, as it and \p options state them. An error if one is quantized.
llvm::Expected<std::vector<OnnxModel::StatedInput>>
readStatedInputs(llvm::StringRef path, const ImportOptions &options);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_STATEDINPUTS_H
