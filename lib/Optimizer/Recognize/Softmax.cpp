//===- Softmax.cpp - Softmax of primitive nodes ---------------------------===//
//
// e^x divided by its sum along one dimension, and its logarithm. Exporters
// subtract the largest x before, or not: Softmax does so itself, and so
// overflows at least as rarely as what it replaces.
//
//===----------------------------------------------------------------------===//

#include "Util/ConstantTensors.h"
#include "Util/Patterns.h"
#include "Util/Rewriter.h"

using namespace glowish;

namespace {

/// A reduction of `input` along one dimension.
struct Reduction {
  NodeValue input;
  int64_t axis;
};

} // namespace

/// \p value as a reduction along one dimension, shaped so that it is broadcast
/// along that dimension again.
static std::optional<Reduction> matchReduction(NodeValue value,
                                               llvm::StringRef mode) {
  NodeValue inner = value;
  if (auto *reshape = inner.getNodeAs<ReshapeNode>())
    inner = reshape->getInput();
  auto *reduce = inner.getNodeAs<ReduceNode>();
  if (!reduce || reduce->getMode() != mode || reduce->getAxes().size() != 1)
    return std::nullopt;
  int64_t axis = reduce->getAxes().front();
  Dims shape(reduce->getInput().getShape());
  shape[axis] = 1;
  // Broadcasting puts ones in front.
  DimsRef own = value.getShape(), expected = shape;
  if (own.size() > expected.size() || own != expected.take_back(own.size()) ||
      !llvm::all_of(expected.drop_back(own.size()),
                    [](int64_t extent) { return extent == 1; }))
    return std::nullopt;
  return Reduction{reduce->getInput(), axis};
}

/// \p value as a sum of e^x along a dimension, of which `input` is the
/// exponent. Nothing else reads the sum; \p numReaders read e^x.
static std::optional<Reduction> matchSumOfPowers(NodeValue value,
                                                 unsigned numReaders) {
  std::optional<Reduction> sum = matchReduction(value, "sum");
  if (!sum || !value.hasOneUse() || !sum->input.hasUses(numReaders))
    return std::nullopt;
  auto *reshape = value.getNodeAs<ReshapeNode>();
  auto *power = sum->input.getNodeAs<ExpNode>();
  if (!power || (reshape && !reshape->getInput().hasOneUse()))
    return std::nullopt;
  return Reduction{power->getX(), sum->axis};
}

/// x where \p value is x minus its largest element along \p axis; else
/// \p value.
static NodeValue dropShift(NodeValue value, int64_t axis) {
  auto *difference = value.getNodeAs<SubNode>();
  if (!difference || difference->getX().getType() != value.getType())
    return value;
  std::optional<Reduction> largest = matchReduction(difference->getY(), "max");
  bool isLargest =
      largest && largest->axis == axis && largest->input == difference->getX();
  return isLargest ? difference->getX() : value;
}

/// \p power divided by \p sum.
static NodeValue makeSoftmax(NodeValue power, NodeValue sum, const Type &type,
                             RewriteContext &context) {
  auto *exponential = power.getNodeAs<ExpNode>();
  if (!exponential || power.getType() != type)
    return {};
  std::optional<Reduction> match = matchSumOfPowers(sum, /*numReaders=*/2);
  if (!match || match->input != exponential->getX())
    return {};
  return context.create<SoftmaxNode>(dropShift(match->input, match->axis),
                                     match->axis);
}

static NodeValue recognizeQuotient(DivNode &root, RewriteContext &context) {
  return makeSoftmax(root.getX(), root.getY(), root.getType(), context);
}

/// e^x times the reciprocal of the sum.
static NodeValue recognizeMul(MulNode &root, RewriteContext &context) {
  for (auto [power, factor] : bothOrders(root)) {
    NodeValue sum;
    if (auto *reciprocal = factor.getNodeAs<ReciprocalNode>())
      sum = reciprocal->getX();
    if (auto *quotient = factor.getNodeAs<DivNode>())
      if (getUniformValue(quotient->getX()) == 1.0)
        sum = quotient->getY();
    if (!sum || !factor.hasOneUse() || factor.getType() != sum.getType())
      continue;
    if (NodeValue value = makeSoftmax(power, sum, root.getType(), context))
      return value;
  }
  return {};
}

/// The sum of which \p value is the logarithm, if nothing else reads that.
static NodeValue matchLogarithm(NodeValue value) {
  auto *log = value.getNodeAs<LogNode>();
  return log && value.hasOneUse() ? log->getX() : NodeValue();
}

/// x - log(sum(e^x)), where x may be a difference with the largest element, and
/// x - (log(sum(e^(x - largest))) + largest).
static NodeValue recognizeLogSoftmax(SubNode &root, RewriteContext &context) {
  NodeValue x = root.getX();
  if (x.getType() != root.getType())
    return {};
  if (NodeValue sum = matchLogarithm(root.getY())) {
    std::optional<Reduction> match = matchSumOfPowers(sum, /*numReaders=*/1);
    if (match && match->input == x)
      return context.create<LogSoftmaxNode>(dropShift(x, match->axis),
                                            match->axis);
  }
  auto *shifted = root.getY().getNodeAs<AddNode>();
  if (!shifted || !root.getY().hasOneUse())
    return {};
  for (auto [logarithm, largest] : bothOrders(*shifted)) {
    NodeValue sum = matchLogarithm(logarithm);
    if (!sum || largest.getType() != sum.getType())
      continue;
    std::optional<Reduction> match = matchSumOfPowers(sum, /*numReaders=*/1);
    auto *difference = match ? match->input.getNodeAs<SubNode>() : nullptr;
    if (difference && difference->getX() == x &&
        difference->getY() == largest &&
        dropShift(match->input, match->axis) == x)
      return context.create<LogSoftmaxNode>(x, match->axis);
  }
  return {};
}

llvm::Expected<bool>
glowish::recognizeSoftmaxes(Function &function,
                            const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<recognizeQuotient>(NodeKind::Div);
    rewrites.add<recognizeMul>(NodeKind::Mul);
    rewrites.add<recognizeLogSoftmax>(NodeKind::Sub);
  });
}
