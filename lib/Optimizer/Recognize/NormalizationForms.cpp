//===- NormalizationForms.cpp - Normalizations as exporters write them ----===//
//
// Exporters write normalizations as a dozen nodes, each in its own order. This
// matches the normalization itself, (x - mean) / sqrt(variance + epsilon), with
// a scale and a bias that may be folded into it.
//
//===----------------------------------------------------------------------===//

#include "Recognize/NormalizationForms.h"
#include "Util/ConstantTensors.h"

using namespace glowish;

namespace {

using Axes = llvm::SmallVector<int64_t, 4>;

/// The mean of `input` over `axes`, which stay as 1.
struct Mean {
  NodeValue input;
  Axes axes;
};

/// (mean(squared * squared) + epsilon) to the power -1/2, times `scale` unless
/// that is null.
struct Factor {
  NodeValue squared;
  Axes axes;
  double epsilon = 0;
  NodeValue scale;
};

} // namespace

/// A mean, or a sum that is divided by the number of elements.
static std::optional<Mean> matchMean(NodeValue value) {
  auto [sum, factor] = splitFactor(value);
  if (auto *reshape = sum.getNodeAs<ReshapeNode>())
    sum = reshape->getInput();
  auto *reduce = sum.getNodeAs<ReduceNode>();
  if (!reduce || reduce->getAxes().empty())
    return std::nullopt;
  Dims shape(reduce->getInput().getShape());
  bool isSum = reduce->getMode() == "sum";
  int64_t count = 1;
  for (int64_t reduced : reduce->getAxes()) {
    // A run decides how many there are.
    if (isSum && reduce->getInput().getType().getExtent(unsigned(reduced)))
      return std::nullopt;
    count *= shape[reduced];
    shape[reduced] = 1;
  }
  double meanFactor = isSum ? 1 / double(count) : 1;
  if ((reduce->getMode() != "mean" && !isSum) ||
      !(std::abs(factor / meanFactor - 1) <= 1e-6) ||
      value.getShape() != DimsRef(shape))
    return std::nullopt;
  return Mean{reduce->getInput(), Axes(reduce->getAxes())};
}

/// mean(x * x) + epsilon.
static std::optional<Factor> matchVariance(NodeValue value) {
  Factor result;
  if (auto *sum = value.getNodeAs<AddNode>())
    for (auto [x, y] : bothOrders(*sum))
      if (auto epsilon = getUniformValue(y)) {
        value = x;
        result.epsilon = *epsilon;
        break;
      }
  std::optional<Mean> mean = matchMean(value);
  if (!mean || !(result.epsilon >= 0))
    return std::nullopt;
  auto *square = mean->input.getNodeAs<MulNode>();
  if (!square || square->getX() != square->getY())
    return std::nullopt;
  result.squared = square->getX();
  result.axes = mean->axes;
  return result;
}

/// The variance to the power \p exponent.
static std::optional<Factor> matchPower(NodeValue value, double exponent) {
  auto *power = value.getNodeAs<PowNode>();
  if (!power || getUniformValue(power->getOperand(1)) != exponent)
    return std::nullopt;
  return matchVariance(power->getOperand(0));
}

/// Matches the root of the variance.
static std::optional<Factor> matchDeviation(NodeValue value) {
  if (auto *root = value.getNodeAs<SqrtNode>())
    return matchVariance(root->getX());
  return matchPower(value, 0.5);
}

/// Matches the reciprocal of the root of the variance.
static std::optional<Factor> matchInverse(NodeValue value) {
  if (auto *inverse = value.getNodeAs<ReciprocalNode>())
    return matchDeviation(inverse->getX());
  if (auto *quotient = value.getNodeAs<DivNode>())
    if (getUniformValue(quotient->getX()) == 1.0)
      return matchDeviation(quotient->getY());
  return matchPower(value, -0.5);
}

static std::optional<Factor> matchFactor(NodeValue value) {
  if (std::optional<Factor> factor = matchInverse(value))
    return factor;
  if (auto *mul = value.getNodeAs<MulNode>())
    for (auto [x, y] : bothOrders(*mul))
      if (std::optional<Factor> factor = matchInverse(x)) {
        factor->scale = y;
        return factor;
      }
  return std::nullopt;
}

/// x where \p value is x - mean(x) over \p axes.
static NodeValue matchCentered(NodeValue value, const Axes &axes) {
  auto *difference = value.getNodeAs<SubNode>();
  if (!difference)
    return {};
  std::optional<Mean> mean = matchMean(difference->getY());
  bool isMean = mean && mean->axes == axes && mean->input == difference->getX();
  return isMean ? mean->input : NodeValue();
}

/// Whether \p value, which is squared, is x - mean(x) or its negative.
static bool isDeviationOf(NodeValue value, NodeValue x, const Axes &axes) {
  if (matchCentered(value, axes) == x)
    return true;
  auto *difference = value.getNodeAs<SubNode>();
  if (!difference || difference->getY() != x)
    return false;
  std::optional<Mean> mean = matchMean(difference->getX());
  return mean && mean->axes == axes && mean->input == x;
}

//===- The heart ----------------------------------------------------------===//

/// The normalization that \p numerator times \p factor is.
static NodeValue tryForm(NodeValue numerator, const Factor &factor,
                         const Type &type, MakeNormalization make) {
  NodeValue x = matchCentered(numerator, factor.axes);
  bool subtractsMean = bool(x);
  if (subtractsMean ? !isDeviationOf(factor.squared, x, factor.axes)
                    : numerator != factor.squared)
    return {};
  if (!subtractsMean)
    x = numerator;
  if (x.getType() != type || !isFloatKind(type.getKind()))
    return {};
  return make({x, factor.axes, factor.epsilon, factor.scale, NodeValue(),
               subtractsMean});
}

/// \p numerator may have been scaled.
static NodeValue tryForms(NodeValue numerator, Factor factor, const Type &type,
                          MakeNormalization make) {
  if (NodeValue value = tryForm(numerator, factor, type, make))
    return value;
  auto *mul = numerator.getNodeAs<MulNode>();
  if (!mul || factor.scale)
    return {};
  for (auto [x, scale] : bothOrders(*mul)) {
    factor.scale = scale;
    if (NodeValue value = tryForm(x, factor, type, make))
      return value;
  }
  return {};
}

NodeValue glowish::matchNormalization(DivNode &root, MakeNormalization make) {
  if (std::optional<Factor> factor = matchDeviation(root.getY()))
    return tryForms(root.getX(), *factor, root.getType(), make);
  return {};
}

NodeValue glowish::matchNormalization(MulNode &root, MakeNormalization make) {
  for (auto [x, y] : bothOrders(root))
    if (std::optional<Factor> factor = matchFactor(y))
      if (NodeValue value = tryForms(x, *factor, root.getType(), make))
        return value;
  return {};
}

/// The factor of \p x in x * factor + (bias - mean(x) * factor), where \p k is
/// the first and \p k2 the second one, and \p m the mean.
static std::optional<Factor> matchShifted(NodeValue x, NodeValue k, NodeValue m,
                                          NodeValue k2) {
  if (k != k2)
    return std::nullopt;
  std::optional<Factor> factor = matchFactor(k);
  std::optional<Mean> mean = matchMean(m);
  if (!factor || !mean || mean->input != x || mean->axes != factor->axes ||
      !isDeviationOf(factor->squared, x, factor->axes))
    return std::nullopt;
  return factor;
}

static NodeValue tryShifted(MulNode &mul, SubNode &shift, MulNode &meanMul,
                            const Type &type, MakeNormalization make) {
  for (auto [x, k] : bothOrders(mul))
    for (auto [m, k2] : bothOrders(meanMul)) {
      std::optional<Factor> factor = matchShifted(x, k, m, k2);
      if (!factor || x.getType() != type || !isFloatKind(type.getKind()))
        continue;
      if (NodeValue value = make({x, factor->axes, factor->epsilon,
                                  factor->scale, shift.getX(),
                                  /*subtractMean=*/true}))
        return value;
    }
  return {};
}

/// x * factor + (bias - mean * factor).
NodeValue glowish::matchNormalization(AddNode &root, MakeNormalization make) {
  for (auto [scaled, shifted] : bothOrders(root)) {
    auto *mul = scaled.getNodeAs<MulNode>();
    auto *shift = shifted.getNodeAs<SubNode>();
    auto *meanMul = shift ? shift->getY().getNodeAs<MulNode>() : nullptr;
    if (!mul || !meanMul)
      continue;
    if (NodeValue value =
            tryShifted(*mul, *shift, *meanMul, root.getType(), make))
      return value;
  }
  return {};
}
