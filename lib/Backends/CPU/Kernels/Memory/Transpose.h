//===- Transpose.h - Transposition of square blocks -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_TRANSPOSE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_TRANSPOSE_H

#include "Kernels/StridedOperand.h"

namespace glowish {

/// \p rows, as many vectors as each has lanes, a power of 2: lane i of result j
/// is lane j of row i.
Values transposeSquare(KernelBuilder &b, Values rows);

/// Copies what is needed of \p extents, the extents of both, from \p input to
/// \p result, in squares of a vector's lanes on a side. False, and no code,
/// where not both have a dimension of neighbours, these are the same one, or
/// there are few of them.
bool emitTransposition(KernelBuilder &b, const LoopExtents &extents,
                       const StridedOperand &result,
                       const StridedOperand &input);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MEMORY_TRANSPOSE_H
