//===- Reductions.h - Sums and products that are composed -------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_REDUCTIONS_H
#define GLOWISH_LIB_IMPORTER_COMMON_REDUCTIONS_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// log(sum(e^x)) along \p axes, computed as m + log(sum(e^(x - m))) with the
/// maximum m, so that nothing overflows; log(0) without elements (ONNX
/// ReduceLogSumExp-1, aten::logsumexp).
NodeValue makeLogSumExp(NodeBuilder &b, NodeValue x,
                        llvm::ArrayRef<int64_t> axes, bool keepDims);

/// Products of the elements up to each one along \p axis: with it unless
/// \p exclusive, from the end if \p reverse (ONNX CumProd-26, aten::cumprod).
NodeValue multiplyAlong(NodeBuilder &b, NodeValue x, int64_t axis,
                        bool exclusive, bool reverse);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_REDUCTIONS_H
