//===- Activations.cpp - Integers in front of quantized weights -----------===//
//
// What is multiplied with quantized weights becomes integers of 8 bits when the
// program runs. Each block of a row, as long as a block of the weights, has a
// scale of its own: its largest magnitude becomes 127.
//
//===----------------------------------------------------------------------===//

#include "Util/Rewriter.h"

using namespace glowish;

namespace {

/// int8 [..., M, K], and float [..., M, K / block].
struct QuantizedBlocks {
  NodeValue integers, scales;
};

} // namespace

static QuantizedBlocks quantizeBlocks(NodeValue x, int64_t block,
                                      RewriteContext &context) {
  if (x.getElemKind() != ElemKind::Float)
    x = context.create<CastNode>(x, ElemKind::Float);
  Dims shape(x.getShape()), blocks = shape;
  blocks.back() /= block;
  Dims scaleShape = blocks;
  blocks.push_back(block);
  auto scalar = [&](double value) {
    return context.createScalar(ElemKind::Float, value);
  };
  x = context.reshape(x, blocks);
  NodeValue largest = context.create<ReduceNode>(
      context.create<AbsNode>(x), "max",
      std::vector<int64_t>{int64_t(blocks.size()) - 1}, /*keepDims=*/true);
  // A block of zeros; the least has a reciprocal.
  largest = context.create<MaxNode>(largest, scalar(1e-30));
  NodeValue steps =
      context.create<MulNode>(x, context.create<DivNode>(scalar(127), largest));
  NodeValue integers = context.create<CastNode>(
      context.create<RoundNode>(steps), ElemKind::Int8);
  return {.integers = context.reshape(integers, shape),
          .scales = context.reshape(
              context.create<MulNode>(largest, scalar(1.0 / 127)), scaleShape)};
}

/// The scales of a row need whole blocks. Kernels take eight integers at a
/// time; the same matmuls are quantized for all back ends.
static bool hasWholeBlocks(const MatMulNBitsNode &matMul) {
  constexpr int64_t together = 8;
  return matMul.getBlock() % together == 0 &&
         matMul.getRhs().getShape()[0] % matMul.getBlock() == 0;
}

static NodeValue quantizeLhs(MatMulNBitsNode &root, RewriteContext &context) {
  if (root.getLhsScales() || !hasWholeBlocks(root) ||
      root.getType().getNumElements() == 0)
    return {};
  QuantizedBlocks lhs = quantizeBlocks(root.getLhs(), root.getBlock(), context);
  NodeValue result = context.createIfSupported<MatMulNBitsNode>(
      lhs.integers, root.getRhs(), root.getScales(), root.getZeroPoints(),
      lhs.scales, root.getBlock());
  if (!result || root.getType().getKind() == ElemKind::Float)
    return result;
  return context.create<CastNode>(result, root.getType().getKind());
}

llvm::Expected<bool>
glowish::quantizeActivations(Function &function,
                             const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<quantizeLhs>(NodeKind::MatMulNBits);
  });
}
