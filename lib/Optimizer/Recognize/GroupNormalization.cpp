//===- GroupNormalization.cpp - Groups of channels ------------------------===//
//
// Instance normalization is one over all dimensions but the first and the
// channels. Group normalization is that of an image whose channels have been
// reshaped to groups: the reshape moves behind it, where it meets its inverse.
// Scale and bias of each channel are taken in one by one.
//
//===----------------------------------------------------------------------===//

#include "Recognize/NormalizationForms.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace glowish;

/// Whether \p value can be a scale or a bias of the channels along \p axis of
/// \p type: nothing but 1 in the other dimensions.
static bool isChannelParameter(NodeValue value, const Type &type,
                               int64_t axis) {
  int64_t missing = int64_t(type.getRank()) - int64_t(value.getShape().size());
  if (missing < 0 || value.getElemKind() != type.getKind() ||
      value.getType().getNumElements() != type.getDim(axis))
    return false;
  for (auto [d, extent] : llvm::enumerate(value.getShape()))
    if (missing + int64_t(d) != axis && extent != 1)
      return false;
  return true;
}

//===- Instances ----------------------------------------------------------===//

/// The dimension of channels where \p axes are all others but the first.
static std::optional<int64_t> findChannelAxis(llvm::ArrayRef<int64_t> axes,
                                              int64_t rank) {
  if (rank < 3 || int64_t(axes.size()) != rank - 2 || axes.front() == 0)
    return std::nullopt;
  for (int64_t d = 1; d < rank; ++d)
    if (!llvm::is_contained(axes, d))
      return d;
  return std::nullopt;
}

/// Whether \p reshape undoes the one that made \p value.
static bool isInverseReshape(const ReshapeNode &reshape, NodeValue value) {
  auto *first = value.getNodeAs<ReshapeNode>();
  return first && first->getInput().getType() == reshape.getType();
}

/// Over trailing dimensions it may be a layer normalization, of which scale and
/// bias have these dimensions. It is not where they have dimension 1, before or
/// after \p root, or where groups become channels again.
static bool hasChannels(Node &root, const NormalizationForm &form) {
  const Type &type = form.input.getType();
  bool hasSeveral = type.getDim(1) > 1;
  if (form.scale || form.bias)
    return hasSeveral;
  if (!root.getResult().hasOneUse())
    return false;
  const Node *user = (*root.uses().begin()).getUser();
  if (auto *reshape = llvm::dyn_cast<ReshapeNode>(user))
    return isInverseReshape(*reshape, form.input);
  return hasSeveral && llvm::isa<MulNode, AddNode>(user) &&
         user->getType() == type &&
         llvm::any_of(user->getOperands(), [&](NodeValue value) {
           return isChannelParameter(value, type, /*axis=*/1);
         });
}

/// Whether the centred input of \p root has other users, such as gradients.
/// Then it is computed anyway, and the rest of the normalization is cheap.
static bool isSharedWithOthers(Node &root) {
  constexpr size_t ownReaders = 2; // the root, and the square
  for (NodeValue operand : root.getOperands()) {
    if (!operand.getNodeAs<SubNode>())
      continue;
    llvm::SmallPtrSet<const Node *, 4> readers;
    for (const Use &use : operand.node->uses())
      readers.insert(use.getUser());
    if (readers.size() > ownReaders)
      return true;
  }
  return false;
}

static NodeValue makeNormalization(Node &root, const NormalizationForm &form,
                                   RewriteContext &context) {
  const Type &type = form.input.getType();
  std::optional<int64_t> axis =
      findChannelAxis(form.axes, int64_t(type.getRank()));
  if (!axis || !form.subtractMean)
    return {};
  auto fits = [&](NodeValue parameter) {
    return !parameter || isChannelParameter(parameter, type, *axis);
  };
  if (!fits(form.scale) || !fits(form.bias) ||
      (*axis == 1 && !hasChannels(root, form)) || isSharedWithOthers(root))
    return {};
  int64_t channels = type.getDim(*axis);
  auto reshape = [&](NodeValue value) {
    return value ? context.reshape(value, {channels}) : value;
  };
  // Of no channels there is one group.
  return context.create<GroupNormalizationNode>(
      form.input, reshape(form.scale), reshape(form.bias), *axis,
      std::max<int64_t>(channels, 1), form.epsilon);
}

template <typename T>
static NodeValue recognize(T &root, RewriteContext &context) {
  return matchNormalization(root, [&](const NormalizationForm &form) {
    return makeNormalization(root, form, context);
  });
}

//===- Groups -------------------------------------------------------------===//

/// The dimension of \p shape whose elements are split into \p groups parts
/// where it is reshaped to \p grouped, which has them along \p axis; none where
/// the groups are not neighbours in one dimension.
static std::optional<int64_t> findGroupedAxis(DimsRef shape, DimsRef grouped,
                                              int64_t axis, int64_t groups) {
  if (shape.size() < 2 || grouped[0] != shape[0] || grouped[axis] != groups)
    return std::nullopt;
  int64_t before = countElements(grouped.slice(1, axis - 1));
  for (int64_t d : llvm::seq<int64_t>(1, shape.size()))
    if (countElements(shape.slice(1, d - 1)) == before &&
        shape[d] % groups == 0)
      return d;
  return std::nullopt;
}

/// Whether scale or bias of each group follow, to be taken in: reshapes do not
/// move behind these.
static bool isScaledNext(GroupNormalizationNode &root) {
  if (!root.getResult().hasOneUse() || root.getBias())
    return false;
  const Node *user = (*root.uses().begin()).getUser();
  bool takesIn = llvm::isa<AddNode>(user) ||
                 (llvm::isa<MulNode>(user) && !root.getScale());
  return takesIn && user->getType() == root.getType() &&
         llvm::any_of(user->getOperands(), [&](NodeValue value) {
           return isChannelParameter(value, root.getType(), root.getAxis());
         });
}

/// A normalization of each group of a reshaped image becomes one of the image,
/// reshaped.
static NodeValue sinkReshape(GroupNormalizationNode &root,
                             RewriteContext &context) {
  auto *reshape = root.getInput().getNodeAs<ReshapeNode>();
  if (!reshape || root.getType().getNumElements() == 0 || isScaledNext(root))
    return {};
  NodeValue image = reshape->getInput();
  std::optional<int64_t> axis =
      findGroupedAxis(image.getShape(), root.getType().getShape(),
                      root.getAxis(), root.getGroups());
  if (!axis)
    return {};
  int64_t channels = image.getShape()[*axis], groups = root.getGroups();
  auto repeat = [&](NodeValue value) {
    if (!value || channels == groups)
      return value;
    NodeValue column = context.reshape(value, {groups, 1});
    return context.reshape(
        context.create<BroadcastNode>(column, Dims{groups, channels / groups}),
        {channels});
  };
  NodeValue normalized = context.create<GroupNormalizationNode>(
      image, repeat(root.getScale()), repeat(root.getBias()), *axis, groups,
      root.getEpsilon());
  return context.reshape(normalized, root.getType().getShape());
}

//===- What follows -------------------------------------------------------===//

/// The shape of \p parameter as scale or bias of \p node.
static std::optional<Dims> getParameterShape(const GroupNormalizationNode &node,
                                             NodeValue parameter) {
  Type type = node.getType().withKind(parameter.getElemKind());
  if (!isChannelParameter(parameter, type, node.getAxis()))
    return std::nullopt;
  return Dims{type.getDim(node.getAxis())};
}

llvm::Expected<bool>
glowish::recognizeGroupNormalizations(Function &function,
                                      const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<recognize<DivNode>>(NodeKind::Div);
    rewrites.add<recognize<MulNode>>(NodeKind::Mul);
    rewrites.add<recognize<AddNode>>(NodeKind::Add);
    rewrites.add<sinkReshape>(NodeKind::GroupNormalization);
    addParameterRewrites<GroupNormalizationNode, getParameterShape>(rewrites);
  });
}
