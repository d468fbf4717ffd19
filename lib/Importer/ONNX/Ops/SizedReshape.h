//===- SizedReshape.h - Other shapes of run-time extents --------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_SIZEDRESHAPE_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_SIZEDRESHAPE_H

#include "ONNX/Extents.h"

namespace glowish {

/// The elements of \p x, in row-major order of its actual extents, under the
/// largest extents \p shape and the actual ones \p extents. Where the elements
/// of both lie differently, they are gathered.
SizedValue reshapeSized(Composer &c, const SizedValue &x, DimsRef shape,
                        Extents extents);

/// Dimensions \p begin ... \p end - 1 as one: the largest extent and the actual
/// one, null where that is the same.
std::pair<int64_t, NodeValue> joinDims(OpContext &op, Composer &c,
                                       const SizedValue &x, unsigned begin,
                                       unsigned end);

/// \p x with one dimension.
llvm::Expected<SizedValue> flatten(OpContext &op, Composer &c,
                                   const SizedValue &x);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_SIZEDRESHAPE_H
