//===- Projections.h - Matmuls with constant weights ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_UTIL_PROJECTIONS_H
#define GLOWISH_LIB_OPTIMIZER_UTIL_PROJECTIONS_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// A matmul with constant weights, and the constant row that is added to it, if
/// there is one: by itself, or by the sum that alone reads it.
struct Projection {
  /// A MatMulNode, a FullyConnectedNode, or a MatMulNBitsNode whose lhs are
  /// floats.
  Node *matMul = nullptr;
  AddNode *sum = nullptr;
  NodeValue bias;

  NodeValue getResult() const {
    return sum ? NodeValue(sum) : NodeValue(matMul);
  }
};

/// \p node as a projection, if it is a matmul of floats with a constant matrix.
std::optional<Projection> getProjection(Node &node);

/// Whether the result is used, and only by nodes that move its elements.
bool isOnlyMoved(const Projection &projection);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_UTIL_PROJECTIONS_H
