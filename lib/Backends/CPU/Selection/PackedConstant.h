//===- PackedConstant.h - What kernels read of a constant -------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_PACKEDCONSTANT_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_PACKEDCONSTANT_H

#include "glowish/Base/Tensor.h"
#include <functional>

namespace glowish {

/// Returns the tensor of \p type that \p pack makes of \p constant each time
/// when it is written; \p pack gets the constant and zeros to write to.
/// Packings of equal constants with the same \p layout, a name, and \p key are
/// equal: \p key is all that \p pack depends on besides the constant.
Tensor packLater(const Type &type, std::shared_ptr<const Tensor> constant,
                 llvm::StringLiteral layout, llvm::ArrayRef<int64_t> key,
                 std::function<void(const Tensor &, uint8_t *)> pack);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_PACKEDCONSTANT_H
