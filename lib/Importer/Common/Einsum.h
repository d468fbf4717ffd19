//===- Einsum.h - Einstein summation ----------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_EINSUM_H
#define GLOWISH_LIB_IMPORTER_COMMON_EINSUM_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Builds the sum of products that \p equation states, as NumPy's einsum does:
/// "bij,bjk->bik", with '...' and implicit outputs. Terms are contracted from
/// left to right, each by a matmul.
llvm::Expected<NodeValue> makeEinsum(NodeBuilder &b, llvm::StringRef equation,
                                     llvm::ArrayRef<NodeValue> inputs);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_EINSUM_H
