//===- NumericHazards.cpp - Results that operands do not determine --------===//

#include "NumericHazards.h"
#include "ReferenceEvaluation.h"
#include "glowish/Base/ForEachIndex.h"
#include "glowish/IR/StridedLayout.h"
#include <map>

using namespace glowish;
using namespace glowish::fuzz;

using Tensors = llvm::ArrayRef<Tensor>;
using IsUndetermined = bool (*)(const Node &, Tensors operands,
                                Tensors results);

namespace {

/// Registers a hazard of a node kind.
struct NumericHazard {
  NumericHazard(NodeKind kind, IsUndetermined isUndetermined,
                bool isOfRoundings = false);

  IsUndetermined isUndetermined;
  /// That of roundings of the operands: known ones have none.
  bool isOfRoundings;
};

} // namespace

static std::multimap<NodeKind, const NumericHazard *> &getHazards() {
  static std::multimap<NodeKind, const NumericHazard *> hazards;
  return hazards;
}

NumericHazard::NumericHazard(NodeKind kind, IsUndetermined isUndetermined,
                             bool isOfRoundings)
    : isUndetermined(isUndetermined), isOfRoundings(isOfRoundings) {
  getHazards().emplace(kind, this);
}

bool fuzz::isUndetermined(const Node &node, Tensors operands, Tensors results,
                          bool areExact) {
  auto [begin, end] = getHazards().equal_range(node.getKind());
  return std::any_of(begin, end, [&](const auto &entry) {
    const NumericHazard &hazard = *entry.second;
    return !(hazard.isOfRoundings && areExact) &&
           hazard.isUndetermined(node, operands, results);
  });
}

//===- Bits of floats -----------------------------------------------------===//

/// Whether the operand is of floats, and \p isHazard of one of them.
template <bool (*isHazard)(double)>
static bool hasElement(const Node &, Tensors operands, Tensors) {
  const Tensor &tensor = operands[0];
  if (isFloat(tensor))
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      if (isHazard(tensor.getAsDouble(i)))
        return true;
  return false;
}

static bool isNaN(double value) { return std::isnan(value); }
/// A payload of NaN.
static const NumericHazard payload(NodeKind::BitCast, hasElement<isNaN>);

static bool isZero(double value) { return value == 0; }
/// The sign of 0: -0 + 0 is 0, so that it tells whether a kernel adds a bias
/// that is 0, and perturbed roundings don't change it.
static const NumericHazard sign(NodeKind::BitCast, hasElement<isZero>,
                                /*isOfRoundings=*/true);

//===- Normalization ------------------------------------------------------===//

/// The least normal number of the kind in which \p tensor is computed.
static double getLeastNormal(const Tensor &tensor) {
  return tensor.getType().getKind() == ElemKind::Double ? 0x1p-1022 : 0x1p-126;
}

/// The largest power of 2 of that kind.
static double getMost(const Tensor &tensor) {
  return tensor.getType().getKind() == ElemKind::Double ? 0x1p1023 : 0x1p127;
}

/// Whether what \p input is divided by to come to \p result are normal numbers:
/// a power of a sum of squares can be less, or too large.
static bool hasNormalDivisors(const Tensor &input, const Tensor &result) {
  double least = getLeastNormal(input), most = getMost(input);
  for (int64_t i = 0; i < input.getNumElements(); ++i) {
    double x = std::fabs(input.getAsDouble(i));
    double y = std::fabs(result.getAsDouble(i));
    if (x != 0 && !(x >= least * y && (y == 0 || x <= most * y)))
      return false;
  }
  return true;
}

/// Whether the squares of all elements but 0, and a sum of them, are normal
/// numbers of the kind that they are computed in. The interpreter has a larger
/// range than a kernel.
static bool hasNormalSquares(const Tensor &tensor) {
  double least = getLeastNormal(tensor);
  double most =
      getMost(tensor) / double(std::max<int64_t>(tensor.getNumElements(), 1));
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    double value = tensor.getAsDouble(i);
    if (value != 0 && !(value * value >= least && value * value <= most))
      return false;
  }
  return true;
}

/// Elements that a node takes mean and variance of together: there are `count`
/// such sets of `size` elements, and element i is in set getSet(i).
struct NormalizedSets {
  int64_t count = 0, size = 0;
  std::function<int64_t(int64_t)> getSet;
};

static NormalizedSets getNormalizedSets(const LayerNormalizationNode &node) {
  const Type &type = node.getType();
  int64_t size = countElements(type.getShape().drop_front(node.getAxis()));
  return {countElements(type.getShape().take_front(node.getAxis())), size,
          [=](int64_t i) { return i / size; }};
}

static NormalizedSets getNormalizedSets(const GroupNormalizationNode &node) {
  const Type &type = node.getType();
  int64_t groups = node.getGroups(), channels = type.getDim(node.getAxis());
  int64_t image = countElements(type.getShape().drop_front());
  int64_t pixels =
      countElements(type.getShape().drop_front(node.getAxis() + 1));
  return {type.getDim(0) * groups, image / groups, [=](int64_t i) {
            int64_t channel = i / pixels % channels;
            return i / image * groups + channel / (channels / groups);
          }};
}

/// Whether some set of elements are so alike that their distances from the mean
/// are roundings, and no epsilon that hides these. Two elements always come to
/// -1 and 1, so that trials don't show how much of a distance is rounding: it
/// has to be well above.
static bool normalizesRoundings(const NormalizedSets &sets, double nodeEpsilon,
                                const Tensor &input) {
  double epsilon = getPrecision(input.getType().getKind()).epsilon;
  double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> least(sets.count, infinity), most(sets.count, -infinity);
  for (int64_t i = 0; i < input.getNumElements(); ++i) {
    int64_t set = sets.getSet(i);
    least[set] = std::min(least[set], input.getAsDouble(i));
    most[set] = std::max(most[set], input.getAsDouble(i));
  }
  if (input.getNumElements() == 0)
    return false;
  for (int64_t set = 0; set < sets.count; ++set) {
    double relative = sets.size == 2 ? 0x1p-6 : double(sets.size) * epsilon;
    double rounding = relative * std::max(-least[set], most[set]);
    if (most[set] - least[set] <= rounding &&
        nodeEpsilon <= rounding * rounding)
      return true;
  }
  return false;
}

static bool layerHazard(const Node &node, Tensors operands, Tensors) {
  auto &layer = llvm::cast<LayerNormalizationNode>(node);
  return !hasNormalSquares(operands[0]) ||
         (layer.getSubtractMean() &&
          normalizesRoundings(getNormalizedSets(layer), layer.getEpsilon(),
                              operands[0]));
}
static const NumericHazard layers(NodeKind::LayerNormalization, layerHazard);

static bool groupHazard(const Node &node, Tensors operands, Tensors) {
  auto &group = llvm::cast<GroupNormalizationNode>(node);
  return !hasNormalSquares(operands[0]) ||
         normalizesRoundings(getNormalizedSets(group), group.getEpsilon(),
                             operands[0]);
}
static const NumericHazard groups(NodeKind::GroupNormalization, groupHazard);

static bool localResponseHazard(const Node &, Tensors operands,
                                Tensors results) {
  return !hasNormalSquares(operands[0]) ||
         !hasNormalDivisors(operands[0], results[0]);
}
static const NumericHazard localResponses(NodeKind::LocalResponseNormalization,
                                          localResponseHazard);

//===- Reductions ---------------------------------------------------------===//

/// What factors come to may be infinite before one of 0 makes it NaN, and 0 in
/// another order. The factors of all results are taken together.
static bool factorsOverflow(const Node &node, Tensors operands, Tensors) {
  const Tensor &factors = operands[0];
  if (llvm::cast<ReduceNode>(node).getMode() != "prod" || !isFloat(factors))
    return false;
  double exponent = 0;
  for (int64_t i = 0; i < factors.getNumElements(); ++i)
    exponent += std::log2(std::max(std::fabs(factors.getAsDouble(i)), 1.0));
  return exponent > std::log2(getMost(factors));
}
static const NumericHazard factors(NodeKind::Reduce, factorsOverflow);

//===- Attention ----------------------------------------------------------===//

/// Where a mask is large, scores have few digits left; that it is added to all
/// of a row alike hides it from the trials.
static bool hasLargeScores(const Node &, Tensors operands, Tensors) {
  constexpr double largestScore = 100;
  return llvm::any_of(operands, [](const Tensor &operand) {
    return getLargest(operand) > largestScore;
  });
}
static const NumericHazard attention(NodeKind::Attention, hasLargeScores);

/// Whether the softmax of \p scores, of one query, has a weight so near a half
/// that other roundings may make another integer of it.
static bool hasWeightNearHalf(std::vector<double> scores,
                              const AttentionIntegerNode &attention) {
  double largest = *std::max_element(scores.begin(), scores.end());
  double size = 1, total = 0;
  for (double &score : scores) {
    if (std::isfinite(score))
      size = std::max(size, std::fabs(score));
    score = std::exp(score - largest);
    total += score;
  }
  for (double power : scores) {
    double weight = power / total / attention.getWeightScale();
    double rounding = 1e-6 * size * weight + 1e-6;
    double distance = std::fabs(weight - std::floor(weight) - 0.5);
    bool isLargest = weight - rounding > double(attention.getMaxWeight());
    if (!isLargest && !(distance > rounding))
      return true;
  }
  return false;
}

/// What \p mask adds to each score, of \p shape.
static std::vector<double> broadcastMask(const Tensor &mask, DimsRef shape) {
  StridedLayout layout =
      broadcastTo(StridedLayout::dense(mask.getType().getShape()), shape);
  std::vector<double> added;
  forEachIndex(shape, [&](DimsRef index) {
    int64_t element = 0;
    for (size_t d = 0; d < index.size(); ++d)
      element += index[d] * layout.strides[d];
    added.push_back(mask.getAsDouble(element));
  });
  return added;
}

static bool roundsWeightsNearHalves(const Node &node, Tensors operands,
                                    Tensors) {
  using Attention = AttentionIntegerNode;
  auto &attention = llvm::cast<Attention>(node);
  const Tensor &query = operands[Attention::queryIdx];
  const Tensor &key = operands[Attention::keyIdx];
  DimsRef shape = query.getType().getShape();
  int64_t depth = shape.back(), queries = shape[shape.size() - 2];
  int64_t keys = key.getType().getShape()[shape.size() - 2];
  int64_t numQueries = countElements(shape.drop_back());
  if (keys == 0)
    return false;
  std::vector<double> mask(size_t(numQueries * keys));
  if (attention.getMask()) {
    const Tensor &operand = operands[Attention::maskIdx];
    if (hasLargeScores(node, operand, {}))
      return true;
    Dims scores(shape.drop_back());
    scores.push_back(keys);
    mask = broadcastMask(operand, scores);
  }
  for (int64_t i = 0; i < numQueries; ++i) {
    std::vector<double> scores;
    int64_t head = i / queries, m = i % queries;
    int64_t last = attention.getCausal() ? m + keys - queries : keys - 1;
    for (int64_t n = 0; n <= last; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += (query.getAsDouble(i * depth + k) -
                double(attention.getQueryZeroPoint())) *
               key.getAsDouble((head * keys + n) * depth + k);
      scores.push_back(sum * attention.getScale() + mask[i * keys + n]);
    }
    if (hasWeightNearHalf(std::move(scores), attention))
      return true;
  }
  return false;
}
static const NumericHazard integerAttention(NodeKind::AttentionInteger,
                                            roundsWeightsNearHalves);

//===- Comparisons --------------------------------------------------------===//

/// Whether \p x and \p y differ by a few roundings of numbers as large as
/// \p scale.
static bool isNearButNot(double x, double y, double precision, double scale) {
  constexpr double units = 64;
  return x != y && std::fabs(x - y) <= units * precision * scale;
}

/// Two numbers that are not equal, but so nearly that other roundings may make
/// them equal: trials hardly ever hit the one value. What cancels, as distances
/// from a mean do, has roundings as large as those of the largest element. Of
/// operands that are broadcast, any two elements count.
static bool isNearlyEqual(const Node &, Tensors operands, Tensors) {
  const Tensor &a = operands[0], &b = operands[1];
  if (!isFloat(a))
    return false;
  double precision = getPrecision(a.getType().getKind()).epsilon;
  double scale = std::max(getLargest(a), getLargest(b));
  auto isNear = [&](int64_t i, int64_t j) {
    return isNearButNot(a.getAsDouble(i), b.getAsDouble(j), precision, scale);
  };
  bool isBroadcast = a.getType().getShape() != b.getType().getShape();
  for (int64_t i = 0; i < a.getNumElements(); ++i)
    for (int64_t j = isBroadcast ? 0 : i;
         j < (isBroadcast ? b.getNumElements() : i + 1); ++j)
      if (isNear(i, j))
        return true;
  return false;
}
static const NumericHazard equal(NodeKind::Equal, isNearlyEqual,
                                 /*isOfRoundings=*/true);

//===- Powers -------------------------------------------------------------===//

/// A negative base has a power if the exponent is an integer, which trials
/// hardly ever hit either.
static bool isNearlyIntegerPower(const Node &, Tensors operands, Tensors) {
  const Tensor &base = operands[0], &exponent = operands[1];
  if (!isFloat(base) || !isFloat(exponent))
    return false;
  double precision = getPrecision(exponent.getType().getKind()).epsilon;
  bool isNegative = false, isNearlyInteger = false;
  for (int64_t i = 0; i < base.getNumElements(); ++i)
    isNegative |= base.getAsDouble(i) < 0;
  for (int64_t i = 0; i < exponent.getNumElements(); ++i) {
    double value = exponent.getAsDouble(i);
    isNearlyInteger |=
        isNearButNot(value, std::round(value), precision, std::fabs(value));
  }
  return isNegative && isNearlyInteger;
}
static const NumericHazard powers(NodeKind::Pow, isNearlyIntegerPower,
                                  /*isOfRoundings=*/true);
