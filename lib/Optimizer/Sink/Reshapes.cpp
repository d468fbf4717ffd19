//===- Reshapes.cpp - Reshapes move below element-wise nodes --------------===//
//
// An element-wise node of a reshaped value becomes the reshaped element-wise
// node of the value. So it stands next to the convolution or matmul before
// it: constants are folded into that, patterns are found across the reshape.
//
//===----------------------------------------------------------------------===//

#include "Util/BroadcastShapes.h"
#include "Util/ConstantTensors.h"
#include "Util/Rewriter.h"

using namespace glowish;

/// The reshape of what is computed, to \p type, that \p value is; or null. That
/// of a constant is folded.
static ReshapeNode *getReshape(NodeValue value, const Type &type) {
  auto *reshape = value.getNodeAs<ReshapeNode>();
  if (!reshape || reshape->getType().getShape() != type.getShape() ||
      isConstantOrSplat(reshape->getInput()) || value.getType().isQuantized())
    return nullptr;
  return reshape;
}

/// The shape of \p value, an operand of a node of \p type, beside reshapes of
/// values of shape \p inner; none where it does not fit.
static std::optional<Dims> getInnerShape(NodeValue value, const Type &type,
                                         DimsRef inner) {
  if (ReshapeNode *reshape = getReshape(value, type))
    if (reshape->getInput().getShape() == inner)
      return Dims(inner);
  if (!isConstantOrSplat(value))
    return std::nullopt;
  return reshapeBroadcast(value.getShape(), type.getShape(), inner);
}

static NodeValue sinkBehindElementWise(Node &root, RewriteContext &context) {
  const Type &type = root.getType();
  ReshapeNode *first = nullptr;
  for (NodeValue value : root.getOperands())
    if (!first)
      first = getReshape(value, type);
  if (!first || type.getNumElements() == 0 || type.isQuantized())
    return {};
  DimsRef inner = first->getInput().getShape();
  llvm::SmallVector<Dims, 4> shapes;
  for (NodeValue value : root.getOperands()) {
    std::optional<Dims> shape = getInnerShape(value, type, inner);
    if (!shape || value.getType().isQuantized())
      return {};
    shapes.push_back(*shape);
  }
  NodeDraft draft = root.getDraft();
  for (auto [value, shape] : llvm::zip_equal(draft.operands, shapes)) {
    ReshapeNode *reshape = getReshape(value, type);
    value = reshape ? reshape->getInput() : context.reshape(value, shape);
  }
  return context.reshape(context.recreate(root, std::move(draft)),
                         type.getShape());
}

llvm::Expected<bool> glowish::sinkReshapes(Function &function,
                                           const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.addElementWise<sinkBehindElementWise>();
    // Where a reshape meets the next one, both are joined at once: a chain of
    // any length is done in one run.
    rewrites.add<joinReshapes>(NodeKind::Reshape);
  });
}
