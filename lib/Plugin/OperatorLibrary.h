//===- OperatorLibrary.h - Operators of shared libraries --------*- C++ -*-===//

#ifndef GLOWISH_LIB_PLUGIN_OPERATORLIBRARY_H
#define GLOWISH_LIB_PLUGIN_OPERATORLIBRARY_H

#include "glowish/Plugin/ExternalOperator.h"

namespace glowish {

/// Loads the shared library \p path, whose interface is glowish_operators.h,
/// for the rest of the process and registers the functions of its operators.
llvm::Expected<std::vector<std::unique_ptr<ExternalOperator>>>
loadOperatorLibrary(llvm::StringRef path);

} // namespace glowish

#endif // GLOWISH_LIB_PLUGIN_OPERATORLIBRARY_H
