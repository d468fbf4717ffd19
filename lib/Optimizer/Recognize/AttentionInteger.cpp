//===- AttentionInteger.cpp - Attention of quantized values ---------------===//
//
// An attention whose query, key and value are quantized, and whose softmax is
// quantized before it is multiplied with the values. All scales and zero points
// are constants.
//
//===----------------------------------------------------------------------===//

#include "Recognize/AttentionScores.h"
#include "Util/Dequantization.h"
#include "glowish/Base/ElemRange.h"

using namespace glowish;

namespace {

/// An operand of integers of 8 bits, whose parameters are constants.
struct QuantizedOperand {
  Dequantization value;
  int64_t zeroPoint;
  double scale;

  NodeValue getIntegers(RewriteContext &context) const {
    return moveAlike(value, value.integer, context);
  }
};

/// Cast(Round(input / scale) + zeroPoint).
struct Rounding {
  NodeValue input;
  double scale;
  int64_t zeroPoint;
};

} // namespace

/// The number that constant \p value has, \p absent where it is null; nullopt
/// for anything else.
static std::optional<double> getNumber(NodeValue value, double absent) {
  if (!value)
    return absent;
  const Tensor *tensor = getOrderedElements(value);
  if (!tensor || tensor->getNumElements() != 1)
    return std::nullopt;
  return tensor->getAsDouble(0);
}

static std::optional<QuantizedOperand> matchOperand(NodeValue value) {
  std::optional<Dequantization> x = matchDequantization(value);
  if (!x || !x->scale || !x->isOfBytes())
    return std::nullopt;
  std::optional<double> zero = getNumber(x->zeroPoint, 0);
  std::optional<double> scale = getNumber(x->scale, 1);
  if (!scale || !zero ||
      !getFiniteRange(x->integer.getElemKind()).contains(*zero))
    return std::nullopt;
  return QuantizedOperand{*x, int64_t(*zero), *scale};
}

static std::optional<Rounding> matchRounding(NodeValue integer) {
  auto *cast = integer.getNodeAs<CastNode>();
  if (!cast || !integer.hasOneUse())
    return std::nullopt;
  NodeValue value = cast->getX(), zeroPoint;
  if (auto *add = value.getNodeAs<AddNode>()) {
    value = add->getX();
    zeroPoint = add->getY();
  }
  std::optional<double> zero = getNumber(zeroPoint, 0);
  auto *round = value.getNodeAs<RoundNode>();
  if (!zero || !round)
    return std::nullopt;
  auto [input, factor] = splitFactor(round->getX());
  return Rounding{input, 1 / factor, int64_t(*zero)};
}

NodeValue glowish::recognizeAttentionInteger(MatMulNode &root,
                                             RewriteContext &context) {
  std::optional<QuantizedOperand> weights = matchOperand(root.getLhs());
  if (!weights || !weights->value.moves.empty() || !root.getLhs().hasOneUse())
    return {};
  std::optional<Rounding> rounded = matchRounding(weights->value.integer);
  if (!rounded || weights->zeroPoint != rounded->zeroPoint ||
      !(rounded->scale >= 0x1p-126 && rounded->scale <= 0x1p126))
    return {};
  ElemKind kind = weights->value.integer.getElemKind();
  int64_t most = int64_t(getFiniteRange(kind).high) - weights->zeroPoint;
  // Masked queries have the weights 0 either way: those of NaN are.
  std::optional<AttentionWeights> floats = matchWeights(rounded->input);
  if (!floats || !fitsAttention(*floats->scores.matMul, root) || most == 0)
    return {};
  const AttentionScores *scores = &floats->scores;
  auto query = matchOperand(scores->matMul->getLhs());
  auto key = matchOperand(scores->matMul->getRhs());
  auto value = matchOperand(root.getRhs());
  if (!query || !key || !value)
    return {};
  double scale = double(float(scores->scale * query->scale * key->scale));
  NodeValue sums = context.createIfSupported<AttentionIntegerNode>(
      query->getIntegers(context),
      context.transposeMatrices(key->getIntegers(context)),
      value->getIntegers(context), scores->makeMask(context), scale,
      /*causal=*/false, query->zeroPoint, value->zeroPoint, rounded->scale,
      most);
  if (!sums)
    return {};
  return context.create<MulNode>(
      context.create<CastNode>(sums, ElemKind::Float),
      context.createScalar(ElemKind::Float, weights->scale * value->scale));
}
