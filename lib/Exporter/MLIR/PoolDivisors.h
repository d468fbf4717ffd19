//===- PoolDivisors.h - What sums of windows are divided by -----*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_MLIR_POOLDIVISORS_H
#define GLOWISH_LIB_EXPORTER_MLIR_POOLDIVISORS_H

#include "MLIR/Writer.h"

namespace glowish {

/// What the sum of each window of an AvgPool is divided by, 1 where it is
/// empty: a tensor of \p type, [1, OH, OW, 1]. \p sizes: the image's [H, W].
Tensor makePoolDivisors(const Type &type, const MlirWindow &window,
                        IntsRef sizes, bool countIncludePads);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_MLIR_POOLDIVISORS_H
