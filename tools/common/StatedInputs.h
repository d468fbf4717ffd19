//===- StatedInputs.h - Inputs of a model that is to be read ----*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_STATEDINPUTS_H
#define GLOWISH_TOOLS_COMMON_STATEDINPUTS_H

#include "glowish/Importer/ParsedModel.h"

namespace glowish {

/// The inputs of the model at \p path, in any form that Compilation::import
/// takes, as it and \p options state them. An error if one is quantized.
/// \p function: of a text form with several, which is meant.
llvm::Expected<std::vector<ParsedModel::StatedInput>>
readStatedInputs(llvm::StringRef path, const ImportOptions &options,
                 llvm::StringRef function = "");

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_STATEDINPUTS_H
