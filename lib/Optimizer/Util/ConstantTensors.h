//===- ConstantTensors.h - Transforming constants directly ------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_UTIL_CONSTANTTENSORS_H
#define GLOWISH_LIB_OPTIMIZER_UTIL_CONSTANTTENSORS_H

#include "glowish/Base/Permute.h"
#include "glowish/Graph/Nodes.h"

namespace glowish {

/// The constant that \p value is; null otherwise.
const Tensor *getConstantTensor(NodeValue value);

/// Whether \p value is a constant or a Splat: what moves its elements is
/// folded.
bool isConstantOrSplat(NodeValue value);

/// The value of all elements of a float constant that has only one; also of a
/// Splat.
std::optional<double> getUniformValue(NodeValue value);

/// A value of \p value's type, and a constant factor by which \p value differs
/// from it: what is multiplied with, or divided by, a constant that has only
/// one value. \p value itself and 1 where there is none.
std::pair<NodeValue, double> splitFactor(NodeValue value);

/// A float constant as a list of \p count values along the channels: a scalar
/// is repeated; a tensor must have \p count elements in its last dimension and
/// nothing in the others. Computing on them is done in double.
std::optional<std::vector<double>> getChannelValues(NodeValue value,
                                                    int64_t count);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_UTIL_CONSTANTTENSORS_H
