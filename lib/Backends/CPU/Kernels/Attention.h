//===- Attention.h - Scores, softmax and weighted sum in one --*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_ATTENTION_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_ATTENTION_H

#include "StridedOperand.h"

namespace glowish {

/// For each index of the leading dimensions `batch`: queries [queries, depth],
/// keys [keys, depth], values [keys, columns], result [queries, columns].
struct AttentionShape {
  Dims batch;
  int64_t queries, keys, depth, columns;
  /// The factor of the scores.
  double scale;
  /// Query m sees keys up to m + keys - queries only.
  bool causal;
};

/// All have the rank of the result. The mask [batch..., queries, keys], which
/// may repeat and may have a null base, is added to the scores.
struct AttentionOperands {
  StridedOperand result, query, key, value, mask;
};

/// Whether emitAttention takes so many keys of elements of \p kind: float and
/// double, and not more than a task has stack for.
bool fitsAttention(int64_t keys, int64_t depth, ElemKind kind,
                   const TargetDescription &target);

/// No extent is 0 but perhaps the depth.
void emitAttention(KernelBuilder &b, const AttentionShape &shape,
                   AttentionOperands operands);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_ATTENTION_H
