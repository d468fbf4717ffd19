//===- RecognizeNormalization.cpp - Normalizations of primitive nodes -----===//
//
// Exporters write layer and RMS normalization as a dozen nodes, each in its
// own order. The rewrites find the heart, x - mean divided by the root of the
// variance, and take in the scale and the bias that follow it one by one.
//
//===----------------------------------------------------------------------===//

#include "ConstantTensors.h"
#include "Patterns.h"
#include "Rewriter.h"

using namespace glowish;

namespace {

/// The mean of `input` over the dimensions from `axis` on, which stay as 1.
struct Mean {
  NodeValue input;
  int64_t axis;
};

/// (mean(squared * squared) + epsilon) to the power -1/2, times `scale` unless
/// that is null.
struct Factor {
  NodeValue squared;
  int64_t axis;
  double epsilon;
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
  int64_t count = 1, axis = reduce->getAxes().front();
  for (int64_t reduced : reduce->getAxes()) {
    count *= shape[reduced];
    shape[reduced] = 1;
  }
  double meanFactor = reduce->getMode() == "sum" ? 1 / double(count) : 1;
  bool isTrailing =
      axis + int64_t(reduce->getAxes().size()) == int64_t(shape.size());
  if ((reduce->getMode() != "mean" && reduce->getMode() != "sum") ||
      !isTrailing || !(std::abs(factor / meanFactor - 1) <= 1e-6) ||
      value.getShape() != DimsRef(shape))
    return std::nullopt;
  return Mean{reduce->getInput(), axis};
}

/// mean(x * x) + epsilon.
static std::optional<Factor> matchVariance(NodeValue value) {
  Factor result = {};
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
  result.axis = mean->axis;
  return result;
}

/// The variance to the power \p exponent.
static std::optional<Factor> matchPower(NodeValue value, double exponent) {
  auto *power = value.getNodeAs<PowNode>();
  if (!power || getUniformValue(power->getOperand(1)) != exponent)
    return std::nullopt;
  return matchVariance(power->getOperand(0));
}

/// What is divided by.
static std::optional<Factor> matchDeviation(NodeValue value) {
  if (auto *root = value.getNodeAs<SqrtNode>())
    return matchVariance(root->getX());
  return matchPower(value, 0.5);
}

/// What is multiplied with, without a scale.
static std::optional<Factor> matchInverse(NodeValue value) {
  if (auto *inverse = value.getNodeAs<ReciprocalNode>())
    return matchDeviation(inverse->getX());
  if (auto *quotient = value.getNodeAs<DivNode>())
    if (getUniformValue(quotient->getX()) == 1.0)
      return matchDeviation(quotient->getY());
  return matchPower(value, -0.5);
}

/// Whether \p value can be a scale or a bias of a normalization of \p type from
/// \p axis on: nothing but dimensions of extent 1 before those.
static bool isParameter(NodeValue value, const Type &type, int64_t axis) {
  DimsRef shape = type.getShape().drop_front(axis), own = value.getShape();
  return own.size() >= shape.size() && own.size() <= type.getRank() &&
         value.getElemKind() == type.getKind() &&
         own.take_back(shape.size()) == shape &&
         llvm::all_of(own.drop_back(shape.size()),
                      [](int64_t extent) { return extent == 1; });
}

/// Normalizes \p x; \p bias may be null.
static NodeValue createNormalization(NodeValue x, const Factor &factor,
                                     NodeValue bias, bool subtractMean,
                                     RewriteContext &context) {
  DimsRef shape = x.getShape().drop_front(factor.axis);
  auto reshape = [&](NodeValue value) {
    return value ? context.reshape(value, shape) : value;
  };
  return context.create<LayerNormalizationNode>(x, reshape(factor.scale),
                                                reshape(bias), factor.axis,
                                                factor.epsilon, subtractMean);
}

static std::optional<Factor> matchFactor(NodeValue value) {
  if (std::optional<Factor> factor = matchInverse(value))
    return factor;
  if (auto *product = value.getNodeAs<MulNode>())
    for (auto [x, y] : bothOrders(*product))
      if (std::optional<Factor> factor = matchInverse(x)) {
        factor->scale = y;
        return factor;
      }
  return std::nullopt;
}

/// x where \p value is x - mean(x) over the dimensions from \p axis on.
static NodeValue matchCentered(NodeValue value, int64_t axis) {
  auto *difference = value.getNodeAs<SubNode>();
  if (!difference)
    return {};
  std::optional<Mean> mean = matchMean(difference->getY());
  bool isMean = mean && mean->axis == axis && mean->input == difference->getX();
  return isMean ? mean->input : NodeValue();
}

/// Whether \p value is x - mean(x) or its negative, for what is squared.
static bool isDeviationOf(NodeValue value, NodeValue x, int64_t axis) {
  if (matchCentered(value, axis) == x)
    return true;
  auto *difference = value.getNodeAs<SubNode>();
  if (!difference || difference->getY() != x)
    return false;
  std::optional<Mean> mean = matchMean(difference->getX());
  return mean && mean->axis == axis && mean->input == x;
}

//===- The heart ----------------------------------------------------------===//

/// The normalization that \p numerator times \p factor is.
static NodeValue makeNormalization(NodeValue numerator, const Factor &factor,
                                   const Type &type, RewriteContext &context) {
  NodeValue x = matchCentered(numerator, factor.axis);
  bool subtractsMean = bool(x);
  if (subtractsMean ? !isDeviationOf(factor.squared, x, factor.axis)
                    : numerator != factor.squared)
    return {};
  if (!subtractsMean)
    x = numerator;
  if (x.getType() != type || !isFloatKind(type.getKind()) ||
      (factor.scale && !isParameter(factor.scale, type, factor.axis)))
    return {};
  return createNormalization(x, factor, NodeValue(), subtractsMean, context);
}

/// \p numerator may have been scaled.
static NodeValue recognize(NodeValue numerator, Factor factor, const Type &type,
                           RewriteContext &context) {
  if (NodeValue value = makeNormalization(numerator, factor, type, context))
    return value;
  auto *product = numerator.getNodeAs<MulNode>();
  if (!product || factor.scale)
    return {};
  for (auto [x, scale] : bothOrders(*product)) {
    factor.scale = scale;
    if (NodeValue value = makeNormalization(x, factor, type, context))
      return value;
  }
  return {};
}

static NodeValue recognizeQuotient(DivNode &root, RewriteContext &context) {
  if (std::optional<Factor> factor = matchDeviation(root.getY()))
    return recognize(root.getX(), *factor, root.getType(), context);
  return {};
}

static NodeValue recognizeProduct(MulNode &root, RewriteContext &context) {
  for (auto [x, y] : bothOrders(root))
    if (std::optional<Factor> factor = matchFactor(y))
      if (NodeValue value = recognize(x, *factor, root.getType(), context))
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
  if (!factor || !mean || mean->input != x || mean->axis != factor->axis ||
      !isDeviationOf(factor->squared, x, factor->axis))
    return std::nullopt;
  return factor;
}

static NodeValue recognizeShifted(MulNode &product, SubNode &shift,
                                  MulNode &meanProduct, const Type &type,
                                  RewriteContext &context) {
  NodeValue bias = shift.getX();
  for (auto [x, k] : bothOrders(product))
    for (auto [m, k2] : bothOrders(meanProduct)) {
      std::optional<Factor> factor = matchShifted(x, k, m, k2);
      if (!factor || x.getType() != type || !isFloatKind(type.getKind()) ||
          !isParameter(bias, type, factor->axis) ||
          (factor->scale && !isParameter(factor->scale, type, factor->axis)))
        continue;
      return createNormalization(x, *factor, bias, /*subtractMean=*/true,
                                 context);
    }
  return {};
}

/// x * factor + (bias - mean * factor).
static NodeValue recognizeSum(AddNode &root, RewriteContext &context) {
  for (auto [scaled, shifted] : bothOrders(root)) {
    auto *product = scaled.getNodeAs<MulNode>();
    auto *shift = shifted.getNodeAs<SubNode>();
    auto *meanProduct = shift ? shift->getY().getNodeAs<MulNode>() : nullptr;
    if (!product || !meanProduct)
      continue;
    if (NodeValue value = recognizeShifted(*product, *shift, *meanProduct,
                                           root.getType(), context))
      return value;
  }
  return {};
}

//===- What follows -------------------------------------------------------===//

/// Takes \p parameter in as operand \p index of the normalization that \p value
/// is, if nobody else reads that. Where the normalization computes in a wider
/// kind and is converted then, the parameter is converted instead, and the
/// result is rounded once.
static NodeValue takeIn(Node &root, NodeValue value, NodeValue parameter,
                        unsigned index, RewriteContext &context) {
  if (!value.hasOneUse() || value.getType() != root.getType())
    return {};
  NodeValue normalized = value;
  if (auto *cast = value.getNodeAs<CastNode>())
    normalized = cast->getX();
  auto *node = normalized.getNodeAs<LayerNormalizationNode>();
  if (!node || !normalized.hasOneUse() || node->getOperand(index) ||
      node->getBias() || !node->getEpilogue().empty() ||
      !isParameter(parameter, root.getType(), node->getAxis()))
    return {};
  ElemKind kind = root.getType().getKind(), wide = normalized.getElemKind();
  bool isConverted = kind != wide;
  if (isConverted &&
      (!isFloatKind(kind) || getElemSize(wide) <= getElemSize(kind)))
    return {};
  parameter =
      context.reshape(parameter, value.getShape().drop_front(node->getAxis()));
  NodeDraft draft = node->getDraft();
  draft.operands[index] =
      isConverted ? context.create<CastNode>(parameter, wide) : parameter;
  Node *moved = context.getFunction().create(root.getName(), std::move(draft));
  return isConverted ? context.create<CastNode>(moved->getResult(), kind)
                     : moved->getResult();
}

template <typename T, unsigned Index>
static NodeValue takeInParameter(T &root, RewriteContext &context) {
  for (auto [value, parameter] : bothOrders(root))
    if (NodeValue result = takeIn(root, value, parameter, Index, context))
      return result;
  return {};
}

llvm::Expected<bool>
glowish::recognizeNormalizations(Function &function,
                                 const GraphPassContext &context) {
  static const RewriteSet set = [] {
    RewriteSet rewrites;
    rewrites.add<recognizeQuotient>(NodeKind::Div);
    rewrites.add<recognizeProduct>(NodeKind::Mul);
    rewrites.add<recognizeSum>(NodeKind::Add);
    rewrites.add<takeInParameter<MulNode, LayerNormalizationNode::scaleIdx>>(
        NodeKind::Mul);
    rewrites.add<takeInParameter<AddNode, LayerNormalizationNode::biasIdx>>(
        NodeKind::Add);
    return rewrites;
  }();
  return applyRewrites(function, set, context);
}
