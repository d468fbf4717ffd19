//===- Pads.cpp - Padding moves into windows ------------------------------===//

#include "Util/Rewriter.h"

using namespace glowish;

/// The Pad that \p value is, or of which it is the transpose.
static PadNode *getPad(NodeValue value) {
  if (auto *transpose = value.getNodeAs<TransposeNode>())
    value = transpose->getInput();
  return value.getNodeAs<PadNode>();
}

/// The pads of \p value, a Pad of an NHWC image with \p filler around its
/// height and width only, as [top, left, bottom, right].
static std::optional<std::vector<int64_t>> getImagePads(NodeValue value,
                                                        double filler) {
  PadNode *pad = getPad(value);
  if (!pad || pad->getMode() != "constant" || pad->getValue() != filler ||
      pad->getType().getRank() != 4)
    return std::nullopt;
  std::vector<int64_t> pads = pad->getPads().vec();
  if (auto *transpose = value.getNodeAs<TransposeNode>())
    for (unsigned d = 0; d < 4; ++d)
      for (unsigned end : {0, 4})
        pads[end + d] = pad->getPads()[end + transpose->getPermutation()[d]];
  for (unsigned outside : {0, 3, 4, 7})
    if (pads[outside] != 0)
      return std::nullopt;
  std::vector<int64_t> image = {pads[1], pads[2], pads[5], pads[6]};
  if (llvm::any_of(image, [](int64_t p) { return p < 0; }))
    return std::nullopt;
  return image;
}

/// \p root with its own and the Pad's pads. Exact where the operator's own
/// padding has the value \p filler.
template <typename T>
static NodeValue foldInto(T &root, double filler, RewriteContext &context) {
  std::optional<std::vector<int64_t>> pads =
      getImagePads(root.getInput(), filler);
  if (!pads)
    return {};
  for (unsigned i = 0; i < 4; ++i)
    (*pads)[i] += root.getPads()[i];
  NodeDraft draft = root.getDraft();
  NodeValue input = getPad(root.getInput())->getInput();
  auto *transpose = root.getInput().template getNodeAs<TransposeNode>();
  draft.operands[T::inputIdx] =
      transpose ? context.transpose(input, transpose->getPermutation()) : input;
  draft.attrs[T::padsAttr] = *pads;
  return context.recreate(root, std::move(draft));
}

static NodeValue foldIntoConvolution(ConvolutionNode &root,
                                     RewriteContext &context) {
  return foldInto(root, 0, context);
}

static NodeValue foldIntoMaxPool(MaxPoolNode &root, RewriteContext &context) {
  return foldInto(root, -std::numeric_limits<double>::infinity(), context);
}

/// The divisor must count the Pad's elements, and no padding of the pool's own
/// that it does not count.
static NodeValue foldIntoAvgPool(AvgPoolNode &root, RewriteContext &context) {
  bool hasPads =
      llvm::any_of(root.getPads(), [](int64_t pad) { return pad != 0; });
  if (!root.getCountIncludePads() && hasPads)
    return {};
  if (!getImagePads(root.getInput(), 0))
    return {};
  NodeValue folded = foldInto(root, 0, context);
  llvm::cast<AvgPoolNode>(folded.node)->setCountIncludePads(true);
  return folded;
}

llvm::Expected<bool> glowish::foldPads(Function &function,
                                       const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<foldIntoConvolution>(NodeKind::Convolution);
    rewrites.add<foldIntoMaxPool>(NodeKind::MaxPool);
    rewrites.add<foldIntoAvgPool>(NodeKind::AvgPool);
  });
}
