//===- Slices.cpp - Hoists operators over slices --------------------------===//
//
// Exporters write the preparation of an image channel by channel: a slice of
// each, times one number, plus another, and then their concatenation. It
// becomes what is computed of the image, with a constant for each channel.
//
//===----------------------------------------------------------------------===//

#include "Util/ConstantTensors.h"
#include "Util/Rewriter.h"
#include "Util/SliceParts.h"

using namespace glowish;

/// How many element-wise nodes may follow one another.
static constexpr unsigned maxDepth = 8;

using Parts = llvm::ArrayRef<NodeValue>;

/// Operand \p index of each of \p parts' nodes.
static llvm::SmallVector<NodeValue, 4> getOperands(Parts parts,
                                                   unsigned index) {
  llvm::SmallVector<NodeValue, 4> operands;
  for (NodeValue part : parts)
    operands.push_back(part.node->getOperand(index));
  return operands;
}

/// Whether \p parts are results of nodes that compute the same, and nothing
/// else reads them.
static bool areAlike(Parts parts) {
  const Node &first = *parts.front().node;
  return llvm::all_of(parts, [&](NodeValue part) {
    const Node &node = *part.node;
    return isElementWise(node) && part.hasOneUse() &&
           !part.getType().isQuantized() && node.getKind() == first.getKind() &&
           node.getNumOperands() == first.getNumOperands() &&
           areIdentical(node.getAttrs(), first.getAttrs());
  });
}

/// Of floating point: other numbers may not fit into a double.
static bool isNumber(NodeValue value) {
  return isFloatKind(value.getElemKind()) && getUniformValue(value);
}

/// The one operand of \p parts that is not a number for each; none where there
/// are several.
static std::optional<unsigned> findVarying(Parts parts) {
  std::optional<unsigned> varying;
  for (unsigned i = 0; i < parts.front().node->getNumOperands(); ++i) {
    if (llvm::all_of(getOperands(parts, i), isNumber))
      continue;
    if (varying)
      return std::nullopt;
    varying = i;
  }
  return varying;
}

/// A constant with the numbers \p values, each as often as its part of \p parts
/// is long along \p axis of \p rank dimensions.
static NodeValue createNumbers(Parts values, Parts parts, int64_t axis,
                               unsigned rank, RewriteContext &context) {
  Dims shape(rank, 1);
  shape[axis] = 0;
  for (NodeValue part : parts)
    shape[axis] += part.getShape()[axis];
  Tensor tensor(Type(values.front().getElemKind(), shape));
  int64_t next = 0;
  for (auto [value, part] : llvm::zip_equal(values, parts))
    for (int64_t i = 0; i < part.getShape()[axis]; ++i)
      tensor.setFromDouble(next++, *getUniformValue(value));
  return context.createConstant(std::move(tensor));
}

/// \p parts joined along \p axis, without a concatenation; null where they are
/// not the same function of slices that make up all of a value.
static NodeValue join(Parts parts, int64_t axis, RewriteContext &context,
                      unsigned depth = 0) {
  if (NodeValue whole = findWhole(parts, axis))
    return depth > 0 ? whole : NodeValue();
  if (depth == maxDepth || !areAlike(parts))
    return {};
  std::optional<unsigned> varying = findVarying(parts);
  if (!varying)
    return {};
  llvm::SmallVector<NodeValue, 4> inner = getOperands(parts, *varying);
  for (auto [operand, part] : llvm::zip_equal(inner, parts))
    if (operand.getShape() != part.getShape())
      return {};
  NodeValue joined = join(inner, axis, context, depth + 1);
  if (!joined)
    return {};
  NodeDraft draft = parts.front().node->getDraft();
  for (unsigned i = 0; i < draft.operands.size(); ++i)
    draft.operands[i] = i == *varying
                            ? joined
                            : createNumbers(getOperands(parts, i), parts, axis,
                                            joined.getShape().size(), context);
  return context.recreate(*parts.front().node, std::move(draft));
}

static NodeValue joinConcat(ConcatNode &root, RewriteContext &context) {
  llvm::SmallVector<NodeValue, 4> parts = root.getInputs();
  if (root.getType().getNumElements() == 0)
    return {};
  return join(parts, root.getAxis(), context);
}

llvm::Expected<bool> glowish::hoistOverSlices(Function &function,
                                              const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<joinConcat>(NodeKind::Concat);
  });
}
