//===- GradientContext.h - Context of a node's gradient ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_GRADIENTCONTEXT_H
#define GLOWISH_LIB_AUTODIFF_GRADIENTCONTEXT_H

#include "glowish/Graph/NodeBuilder.h"
#include "llvm/ADT/DenseSet.h"

namespace glowish {

/// The contributions to the adjoint of each value so far.
using GradientMap = llvm::DenseMap<NodeValue, llvm::SmallVector<NodeValue, 2>>;

/// Builds the gradient of one node: reads the adjoints of its results and adds
/// to the adjoints of its operands.
class GradientContext final : public NodeBuilder {
public:
  /// \p active: float values that depend on the variables.
  GradientContext(Node &node, GradientMap &gradients,
                  const llvm::DenseSet<NodeValue> &active)
      : NodeBuilder(*node.getParent(), (node.getName() + ".grad").str()),
        node(node), gradients(gradients), active(active) {}

  /// Returns the adjoint of result \p index (the upstream gradient), or null if
  /// it is zero.
  NodeValue getGradient(unsigned index = 0);
  /// Whether the adjoint of operand \p index is needed.
  bool needsGradient(unsigned index) const {
    return active.contains(node.getOperand(index));
  }
  /// Adds \p gradient, of the operand's type, to the adjoint of operand
  /// \p index. Null adds nothing.
  void accumulate(unsigned index, NodeValue gradient);
  /// Like accumulate(), with \p gradient of a shape that the operand is
  /// broadcast to.
  void addBroadcast(unsigned index, NodeValue gradient) {
    if (needsGradient(index) && gradient)
      accumulate(index, sumTo(gradient, node.getOperand(index).getShape()));
  }
  /// Keeps \p error, if it is one, as those of nodes that can't be made.
  void keepError(llvm::Error error) {
    if (error)
      keep(std::move(error));
  }
  /// Replaces the results of the node by \p values, equivalent ones, in all its
  /// users, including the gradients built from now on.
  void replaceForward(llvm::ArrayRef<NodeValue> values);

  //===- Common subexpressions of gradients -------------------------------===//

  /// Sums \p value over the dimensions along which \p shape is broadcast to its
  /// shape.
  NodeValue sumTo(NodeValue value, DimsRef shape);
  /// Sums over all dimensions but \p axis; the result has rank 1.
  NodeValue sumToAxis(NodeValue value, int64_t axis);
  NodeValue zeros(const Type &type) {
    return splat(type.getKind(), type.getShape(), 0);
  }
  /// Adds slice i of \p updates along dimension \p axis to slice indices[i] of
  /// zeros, with extent \p extent in dimension \p axis. \p indices: int64 [n].
  NodeValue scatterAdd(NodeValue updates, NodeValue indices, int64_t axis,
                       int64_t extent);

private:
  Node &node;
  GradientMap &gradients;
  const llvm::DenseSet<NodeValue> &active;
};

/// Returns 0 ... count - 1 without \p left.
llvm::SmallVector<int64_t, 4> getOtherAxes(int64_t count, int64_t left);

/// Declares differentiateNAME for each node kind without gradient formulas in
/// its record and without a reason for having no gradient. The context keeps
/// what is wrong.
#define NODE_GRADIENT(NAME)                                                    \
  void differentiate##NAME(NAME##Node &node, GradientContext &g);
#define FORMULA_GRADIENT(NAME)
#define ZERO_GRADIENT(NAME, REASON)
#define NO_GRADIENT(NAME, REASON)
#define GET_GRADIENT_LIST
#include "glowish/Autodiff/Gradients.inc"

/// Differentiates an element-wise node by the gradient formulas of its record.
void differentiateFormula(Node &node, GradientContext &g);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_GRADIENTCONTEXT_H
