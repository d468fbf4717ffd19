//===- NormalizationForms.h - Exported normalizations -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_RECOGNIZE_NORMALIZATIONFORMS_H
#define GLOWISH_LIB_OPTIMIZER_RECOGNIZE_NORMALIZATIONFORMS_H

#include "Util/Patterns.h"
#include "Util/Rewriter.h"

namespace glowish {

/// A normalization in primitive nodes: (input - mean) / sqrt(variance +
/// epsilon)
/// * scale + bias, with statistics over `axes`; without the mean where that is
/// not subtracted. Scale and bias broadcast, and may be null.
struct NormalizationForm {
  NodeValue input;
  llvm::SmallVector<int64_t, 4> axes;
  double epsilon = 0;
  NodeValue scale, bias;
  bool subtractMean = false;
};

/// \name The forms that a node can be the last of
/// Of floats. Each is given to \p make, until that returns a value.
/// @{
using MakeNormalization =
    llvm::function_ref<NodeValue(const NormalizationForm &form)>;
NodeValue matchNormalization(DivNode &root, MakeNormalization make);
NodeValue matchNormalization(MulNode &root, MakeNormalization make);
NodeValue matchNormalization(AddNode &root, MakeNormalization make);
/// @}

/// Folds \p parameter into the normalization \p value, as operand \p index,
/// scale or bias, if it is the only user of \p value. \p getShape returns the
/// shape of the parameter as operand of a node, or none where it does not fit.
/// Where the normalization computes in a wider kind and is converted then, the
/// parameter is converted instead, and the result is rounded once.
template <typename NodeT>
NodeValue takeInParameter(Node &root, NodeValue value, NodeValue parameter,
                          unsigned index,
                          std::optional<Dims> (*getShape)(const NodeT &node,
                                                          NodeValue parameter),
                          RewriteContext &context) {
  if (!value.hasOneUse() || value.getType() != root.getType() ||
      parameter.getElemKind() != root.getType().getKind())
    return {};
  NodeValue normalized = value;
  if (auto *cast = value.getNodeAs<CastNode>())
    normalized = cast->getX();
  auto *node = normalized.getNodeAs<NodeT>();
  if (!node || !normalized.hasOneUse() || node->getOperand(index) ||
      node->getBias())
    return {};
  std::optional<Dims> shape = getShape(*node, parameter);
  ElemKind kind = root.getType().getKind(), wide = normalized.getElemKind();
  bool isConverted = kind != wide;
  if (!shape || (isConverted && (!isFloatKind(kind) ||
                                 getElemSize(wide) <= getElemSize(kind))))
    return {};
  parameter = context.reshape(parameter, *shape);
  NodeDraft draft = node->getDraft();
  draft.operands[index] =
      isConverted ? context.create<CastNode>(parameter, wide) : parameter;
  NodeValue moved = context.recreate(root, std::move(draft));
  return isConverted ? context.create<CastNode>(moved, kind) : moved;
}

/// The rewrite of \p T, MulNode or AddNode: one of its operands is a NodeT,
/// which takes the other in.
template <typename NodeT, unsigned Index, auto GetShape, typename T>
NodeValue takeIn(T &root, RewriteContext &context) {
  for (auto [value, parameter] : bothOrders(root))
    if (NodeValue result = takeInParameter<NodeT>(root, value, parameter, Index,
                                                  GetShape, context))
      return result;
  return {};
}

/// Adds the rewrites by which a NodeT takes in the scale and the bias behind
/// it.
template <typename NodeT, auto GetShape>
void addParameterRewrites(RewriteSet &rewrites) {
  rewrites.add<takeIn<NodeT, NodeT::scaleIdx, GetShape, MulNode>>(
      NodeKind::Mul);
  rewrites.add<takeIn<NodeT, NodeT::biasIdx, GetShape, AddNode>>(NodeKind::Add);
}

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_RECOGNIZE_NORMALIZATIONFORMS_H
