//===- ElementWise.h - Composed functions of elements -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_ELEMENTWISE_H
#define GLOWISH_LIB_IMPORTER_COMMON_ELEMENTWISE_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// alpha * (e^(x / alpha) - 1) for negative x, else x (ONNX Celu-12,
/// aten::celu).
NodeValue makeCelu(NodeBuilder &b, NodeValue x, double alpha);

/// x + bias below -bound, x - bias above \p bound, \p inner in between (ONNX
/// Shrink-9, aten::softshrink, aten::hardshrink).
NodeValue makeShrink(NodeBuilder &b, NodeValue x, double bound, double bias,
                     NodeValue inner);

/// log(x / (1 - x)) (aten::logit, Caffe2 Logit).
NodeValue makeLogit(NodeBuilder &b, NodeValue x);

/// \p x to the power \p y, of \p x's kind, whatever kinds both are of (ONNX
/// Pow-15). Integers to integral powers are exact, and wrap; other powers of
/// theirs are truncated.
NodeValue makePower(NodeBuilder &b, NodeValue x, NodeValue y);

/// The angle of the point (\p x, \p y), from -pi to pi (aten::atan2, TensorFlow
/// Lite ATAN2).
NodeValue getAngle(NodeBuilder &b, NodeValue y, NodeValue x);

/// Rounds floats towards 0 (aten::trunc).
NodeValue truncate(NodeBuilder &b, NodeValue x);

/// Quotients of numbers of one kind, rounded towards 0, and down (aten::div,
/// TensorFlow Lite FLOOR_DIV).
NodeValue divideTowardsZero(NodeBuilder &b, NodeValue x, NodeValue y);
NodeValue divideDown(NodeBuilder &b, NodeValue x, NodeValue y);

/// What these divisions leave, without rounding errors: with the sign of \p x
/// (ONNX Mod-10 with fmod, aten::fmod), and with that of \p y (ONNX Mod-10,
/// aten::remainder, TensorFlow Lite FLOOR_MOD).
NodeValue getTruncatedRest(NodeBuilder &b, NodeValue x, NodeValue y);
NodeValue getFlooredRest(NodeBuilder &b, NodeValue x, NodeValue y);

/// Numbers of the kind of \p x in the opposite order: the index of a minimum is
/// that of their maximum. The least integer has no negation, so that integers
/// become their complements.
NodeValue turnOrder(NodeBuilder &b, NodeValue x);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_ELEMENTWISE_H
