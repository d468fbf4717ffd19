//===- PlantedRewrites.cpp - Rewrites that are wrong ----------------------===//

#include "PlantedRewrites.h"
#include "Util/ConstantTensors.h"
#include "Util/Rewriter.h"

using namespace glowish;
using namespace glowish::proofs;

template <auto Fn, NodeKind Kind>
static llvm::Expected<bool> runPlanted(Function &function,
                                       const GraphPassContext &context) {
  static const RewriteSet set = [] {
    RewriteSet rewrites;
    rewrites.add<Fn>(Kind);
    return rewrites;
  }();
  return applyRewrites(function, set, context);
}

static NodeValue reshapeAnyTranspose(ReshapeNode &root,
                                     RewriteContext &context) {
  if (auto *transpose = root.getInput().getNodeAs<TransposeNode>())
    return context.reshape(transpose->getInput(), root.getShape());
  return {};
}

static NodeValue joinInWrongOrder(TransposeNode &root,
                                  RewriteContext &context) {
  auto *inner = root.getInput().getNodeAs<TransposeNode>();
  if (!inner)
    return {};
  std::vector<int64_t> joined;
  for (int64_t axis : inner->getPermutation())
    joined.push_back(root.getPermutation()[axis]);
  NodeValue result = context.transpose(inner->getInput(), joined);
  return result.getType() == root.getType() ? result : NodeValue();
}

static NodeValue forgetSteps(SliceNode &root, RewriteContext &context) {
  auto *inner = root.getInput().getNodeAs<SliceNode>();
  if (!inner)
    return {};
  std::vector<int64_t> starts;
  for (auto [own, first] : llvm::zip(root.getStarts(), inner->getStarts()))
    starts.push_back(own + first);
  return context.create<SliceNode>(inner->getInput(), starts, root.getSizes(),
                                   root.getSteps());
}

static NodeValue dropAnyUniform(AddNode &root, RewriteContext &) {
  NodeValue x = root.getX();
  return x.getType() == root.getType() && getUniformValue(root.getY())
             ? x
             : NodeValue();
}

static NodeValue intersectLimits(ClipNode &root, RewriteContext &context) {
  auto *inner = root.getX().getNodeAs<ClipNode>();
  if (!inner)
    return {};
  return context.create<ClipNode>(inner->getX(),
                                  std::max(inner->getLow(), root.getLow()),
                                  std::min(inner->getHigh(), root.getHigh()));
}

static NodeValue acceptAnySlope(MaxNode &root, RewriteContext &context) {
  auto *scaled = root.getY().getNodeAs<MulNode>();
  if (!scaled || scaled->getX() != root.getX())
    return {};
  std::optional<double> alpha = getUniformValue(scaled->getY());
  return alpha ? context.create<LeakyReluNode>(root.getX(), *alpha)
               : NodeValue();
}

static NodeValue joinAnyCasts(CastNode &root, RewriteContext &context) {
  auto *inner = root.getX().getNodeAs<CastNode>();
  if (!inner || inner->getX().getType() == root.getType())
    return {};
  return context.create<CastNode>(inner->getX(), root.getTo());
}

static NodeValue foldAnyPad(ConvolutionNode &root, RewriteContext &context) {
  auto *pad = root.getInput().getNodeAs<PadNode>();
  if (!pad || llvm::any_of(pad->getPads(), [](int64_t p) { return p < 0; }))
    return {};
  llvm::ArrayRef<int64_t> pads = pad->getPads();
  if (pads[0] || pads[3] || pads[4] || pads[7])
    return {};
  std::vector<int64_t> own = root.getPads().vec();
  const int64_t more[] = {pads[1], pads[2], pads[5], pads[6]};
  for (auto [pad, other] : llvm::zip_equal(own, more))
    pad += other;
  return context.create<ConvolutionNode>(pad->getInput(), root.getFilter(),
                                         root.getBias(), root.getStrides(), own,
                                         root.getDilations(), root.getGroup());
}

static NodeValue keepOperands(TransposeNode &root, RewriteContext &context) {
  auto *matMul = root.getInput().getNodeAs<MatMulNode>();
  if (!matMul || root.getType() != matMul->getType())
    return {};
  return context.create<MatMulNode>(matMul->getLhs(), matMul->getRhs());
}

static NodeValue scaleWrongSide(MulNode &root, RewriteContext &context) {
  auto *matMul = root.getX().getNodeAs<MatMulNode>();
  NodeValue factor = root.getY();
  if (!matMul || factor.getType().getNumElements() != root.getType().getDim(1))
    return {};
  // Numbers of rows become those of columns.
  NodeValue columns =
      context.reshape(factor, {factor.getType().getNumElements()});
  return context.create<MatMulNode>(
      matMul->getLhs(), context.create<MulNode>(matMul->getRhs(), columns));
}

static NodeValue forgetTheMask(AttentionNode &root, RewriteContext &context) {
  if (root.getCausal() || !root.getMask())
    return {};
  return context.create<AttentionNode>(root.getQuery(), root.getKey(),
                                       root.getValue(), NodeValue(),
                                       root.getScale(), /*causal=*/true);
}

static NodeValue swapBranches(SelectNode &root, RewriteContext &) {
  std::optional<double> condition = getUniformValue(root.getCondition());
  bool isAlike = root.getX().getType() == root.getY().getType();
  return condition && isAlike ? root.getY() : NodeValue();
}

llvm::ArrayRef<PlantedRewrite> proofs::getPlantedRewrites() {
  static const PlantedRewrite all[] = {
      {"canonicalize", "canonicalizeReshape",
       "any transpose is taken for a reshape",
       runPlanted<reshapeAnyTranspose, NodeKind::Reshape>},
      {"canonicalize", "canonicalizeTranspose",
       "two permutations are composed in the wrong order",
       runPlanted<joinInWrongOrder, NodeKind::Transpose>},
      {"canonicalize", "canonicalizeSlice",
       "starts are not multiplied by the steps of the inner slice",
       runPlanted<forgetSteps, NodeKind::Slice>},
      {"canonicalize", "canonicalizeAdd", "any number is taken for 0",
       runPlanted<dropAnyUniform, NodeKind::Add>},
      {"canonicalize", "canonicalizeSelect",
       "a condition that is true picks what is for false",
       runPlanted<swapBranches, NodeKind::Select>},
      {"simplify-elementwise", "joinLimits",
       "limits are intersected where one range is beyond the other",
       runPlanted<intersectLimits, NodeKind::Clip>},
      {"simplify-elementwise", "recognizeLeakyRelu<Max>",
       "slopes above 1 and below 0 are accepted",
       runPlanted<acceptAnySlope, NodeKind::Max>},
      {"simplify-elementwise", "joinCasts",
       "the kind between need not have all values",
       runPlanted<joinAnyCasts, NodeKind::Cast>},
      {"fold-pad", "foldIntoConvolution", "pads need not be 0",
       runPlanted<foldAnyPad, NodeKind::Convolution>},
      {"simplify-matmuls", "swapMatMul", "operands are not transposed",
       runPlanted<keepOperands, NodeKind::Transpose>},
      {"simplify-matmuls", "scaleWeights<Mul>",
       "factors of rows are taken for those of columns",
       runPlanted<scaleWrongSide, NodeKind::Mul>},
      {"recognize-attention", "recognizeCausal<Attention>",
       "any mask is taken for a causal one",
       runPlanted<forgetTheMask, NodeKind::Attention>},
  };
  return all;
}
