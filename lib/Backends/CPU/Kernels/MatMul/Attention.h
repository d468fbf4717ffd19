//===- Attention.h - Scores, softmax and weighted sum in one ----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_ATTENTION_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_ATTENTION_H

#include "Kernels/StridedOperand.h"

namespace glowish {

/// Whether emitAttention takes so many keys of elements of \p kind: float and
/// double, and not more than a task has stack for.
bool fitsAttention(int64_t keys, int64_t depth, ElemKind kind,
                   const TargetDescription &target);

/// Whether a task has stack for emitAttentionInteger of so many keys, of
/// \p depth elements, and values, of \p columns.
bool fitsAttentionInteger(int64_t keys, int64_t depth, int64_t columns,
                          const TargetDescription &target);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_ATTENTION_H
