//===- GradientContext.h - What a node's gradient works with ----*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_GRADIENTCONTEXT_H
#define GLOWISH_LIB_AUTODIFF_GRADIENTCONTEXT_H

#include "glowish/Graph/NodeBuilder.h"
#include "llvm/ADT/DenseSet.h"

namespace glowish {

/// What has flowed back to values so far.
using GradientMap = llvm::DenseMap<NodeValue, llvm::SmallVector<NodeValue, 2>>;

/// The node whose gradient is made: reads what flows back to its results and
/// adds what flows back to its operands.
class GradientContext final : public NodeBuilder {
public:
  /// \p active: values that variables depend on and that are of float kinds.
  GradientContext(Node &node, GradientMap &gradients,
                  const llvm::DenseSet<NodeValue> &active)
      : NodeBuilder(*node.getParent(), (node.getName() + ".grad").str()),
        node(node), gradients(gradients), active(active) {}

  /// What flows back to result \p index; null where nothing does.
  NodeValue getGradient(unsigned index = 0);
  /// Whether operand \p index wants a gradient.
  bool wants(unsigned index) const {
    return active.contains(node.getOperand(index));
  }
  /// Adds \p gradient, of the operand's type, to what flows back to operand
  /// \p index. Null adds nothing.
  void accumulate(unsigned index, NodeValue gradient);
  /// The same of a gradient of what the operand is broadcast to.
  void addBroadcast(unsigned index, NodeValue gradient) {
    if (wants(index) && gradient)
      accumulate(index, sumTo(gradient, node.getOperand(index).getShape()));
  }
  /// Makes all users of the node, and what flows back to it from now on, use
  /// \p values, which compute the same.
  void replaceForward(llvm::ArrayRef<NodeValue> values);

  //===- Expressions that many gradients need -------------------------------//

  /// The sum over those dimensions along which \p shape was broadcast to that
  /// of \p value.
  NodeValue sumTo(NodeValue value, DimsRef shape);
  /// The sum over all dimensions but \p axis: [extent of axis].
  NodeValue sumToAxis(NodeValue value, int64_t axis);
  NodeValue zeros(const Type &type) {
    return splat(type.getKind(), type.getShape(), 0);
  }
  /// Row i of \p updates, a slice of dimension \p axis, added to row
  /// indices[i] of zeros: dimension \p axis becomes \p extent long. \p indices:
  /// int64 [n].
  NodeValue scatterAdd(NodeValue updates, NodeValue indices, int64_t axis,
                       int64_t extent);

private:
  Node &node;
  GradientMap &gradients;
  const llvm::DenseSet<NodeValue> &active;
};

/// 0, 1 ... count - 1 without \p left out.
llvm::SmallVector<int64_t, 4> getOtherAxes(int64_t count, int64_t left);

/// An error where \p program, an epilogue, is not empty.
llvm::Error checkNotFused(const ScalarProgram &program);

/// The gradient of each node kind that has neither formulas nor a reason for
/// not having one.
#define NODE_GRADIENT(NAME)                                                    \
  llvm::Error differentiate##NAME(NAME##Node &node, GradientContext &g);
#define FORMULA_GRADIENT(NAME)
#define ZERO_GRADIENT(NAME, REASON)
#define NO_GRADIENT(NAME, REASON)
#define GET_GRADIENT_LIST
#include "glowish/Autodiff/Gradients.inc"

/// The gradient of an element-wise node with formulas.
void differentiateFormula(Node &node, GradientContext &g);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_GRADIENTCONTEXT_H
