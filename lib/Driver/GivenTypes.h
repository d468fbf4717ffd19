//===- GivenTypes.h - Types of tensors that inputs are given ----*- C++ -*-===//

#ifndef GLOWISH_LIB_DRIVER_GIVENTYPES_H
#define GLOWISH_LIB_DRIVER_GIVENTYPES_H

#include "glowish/Base/InputExtents.h"

namespace glowish {

/// Returns an error unless a tensor of type \p given can be given for the input
/// \p name of type \p type, whose extents depend on \p symbols.
llvm::Error checkGivenType(llvm::StringRef name, const Type &given,
                           const Type &type, const SymbolRanges &symbols);

} // namespace glowish

#endif // GLOWISH_LIB_DRIVER_GIVENTYPES_H
