//===- ReferenceEvaluation.cpp - What is known of the values of a graph ---===//

#include "ReferenceEvaluation.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using namespace glowish::fuzz;

Precision fuzz::getPrecision(ElemKind kind) {
  switch (kind) {
  case ElemKind::Float16:
    return {0x1p-10, 0x1p-24};
  case ElemKind::BFloat16:
    return {0x1p-7, 0x1p-133};
  case ElemKind::Double:
    // Exponentials and such are computed to a little less than double.
    return {0x1p-50, 0x1p-1074};
  default:
    return {0x1p-23, 0x1p-149};
  }
}

bool fuzz::isFloat(const Tensor &tensor) {
  return isFloatKind(tensor.getType().getKind());
}

bool fuzz::isFinite(const Tensor &tensor) {
  if (isFloat(tensor))
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      if (!std::isfinite(tensor.getAsDouble(i)))
        return false;
  return true;
}

double fuzz::getLargest(const Tensor &tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (double value = std::fabs(tensor.getAsDouble(i)); std::isfinite(value))
      largest = std::max(largest, value);
  return largest;
}

static bool hasNaN(const Tensor &tensor) {
  if (isFloat(tensor))
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      if (std::isnan(tensor.getAsDouble(i)))
        return true;
  return false;
}

/// Whether it divides, say, by what may be 0 if it is rounded so.
static bool mayHavePole(const Node &node) {
  if (std::optional<ScalarOp> op = node.getInfo().scalarOp)
    return getScalarOpInfo(*op).hasPole;
  return node.getInfo().has(OpTrait::HasPole);
}

/// The least normal number of the kind in which \p tensor is computed.
static double getLeastNormal(const Tensor &tensor) {
  return tensor.getType().getKind() == ElemKind::Double ? 0x1p-1022 : 0x1p-126;
}

/// Whether what \p input is divided by to come to \p result are normal numbers:
/// a power of a sum of squares can be less.
static bool hasNormalDivisors(const Tensor &input, const Tensor &result) {
  double least = getLeastNormal(input);
  for (int64_t i = 0; i < input.getNumElements(); ++i) {
    double x = std::fabs(input.getAsDouble(i));
    if (x != 0 && !(x >= least * std::fabs(result.getAsDouble(i))))
      return false;
  }
  return true;
}

/// Whether the squares of all elements but 0, and a sum of them, are normal
/// numbers of the kind that they are computed in. The interpreter has a larger
/// range than a kernel.
static bool hasNormalSquares(const Tensor &tensor) {
  bool isDouble = tensor.getType().getKind() == ElemKind::Double;
  double least = getLeastNormal(tensor);
  double most = isDouble ? 0x1p1023 : 0x1p127;
  most /= double(std::max<int64_t>(tensor.getNumElements(), 1));
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
/// are roundings, and no epsilon that hides these.
static bool divides0By0(const NormalizedSets &sets, double nodeEpsilon,
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
    double rounding =
        double(sets.size) * epsilon * std::max(-least[set], most[set]);
    if (most[set] - least[set] <= rounding &&
        nodeEpsilon <= rounding * rounding)
      return true;
  }
  return false;
}

static bool divides0By0(const Node &node, const Tensor &input) {
  if (auto *layer = llvm::dyn_cast<LayerNormalizationNode>(&node))
    return layer->getSubtractMean() &&
           divides0By0(getNormalizedSets(*layer), layer->getEpsilon(), input);
  if (auto *group = llvm::dyn_cast<GroupNormalizationNode>(&node))
    return divides0By0(getNormalizedSets(*group), group->getEpsilon(), input);
  return false;
}

/// Changes \p tensor by \p units in the last place of each element, or of
/// \p magnitude(index), if that is larger.
static void perturb(Tensor &tensor, double units,
                    RoundingPerturbation &perturbation,
                    llvm::function_ref<double(int64_t)> magnitude) {
  if (!isFloat(tensor))
    return;
  Precision precision = getPrecision(tensor.getType().getKind());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    double value = tensor.getAsDouble(i), size = std::fabs(value);
    if (double other = magnitude(i); std::isfinite(other))
      size = std::max(size, other);
    if (!std::isfinite(value) || size == 0)
      continue;
    double step =
        units * std::max(precision.epsilon * size, precision.smallest);
    bool isZero = perturbation.toZero && std::fabs(value) <= step;
    step *= perturbation.getShare();
    double changed = perturbation.goesUp() ? value + step : value - step;
    tensor.setFromDouble(i, isZero ? 0 : changed);
  }
}

/// The results of \p draft for \p operands, interpreted alone.
static llvm::Expected<std::vector<Tensor>>
interpretNode(NodeDraft draft, llvm::ArrayRef<Tensor> operands) {
  Module module("node");
  Function *function = module.createFunction("main");
  for (auto [operand, tensor] : llvm::zip_equal(draft.operands, operands))
    if (operand)
      operand = module.createConstant("c", tensor.clone());
  GLOWISH_ASSIGN_OR_RETURN(Node *copy,
                           function->tryCreate("node", std::move(draft)));
  return evaluateNode(*copy);
}

/// What a node's results are made of: sums of large terms may be small.
struct Magnitude {
  /// The element that a formula of one operand is of.
  const Tensor *source = nullptr;
  /// The largest of the results.
  double largest = 0;

  double operator()(int64_t index) const {
    return source ? std::fabs(source->getAsDouble(index)) : largest;
  }
};

static Magnitude getMagnitude(const Node &node, llvm::ArrayRef<Tensor> operands,
                              llvm::ArrayRef<Tensor> results) {
  Magnitude magnitude;
  if (isElementWise(node)) {
    if (operands.size() == 1)
      magnitude.source = &operands[0];
    return magnitude;
  }
  for (const Tensor &tensor : results)
    magnitude.largest = std::max(magnitude.largest, getLargest(tensor));
  return magnitude;
}

/// Adds what is known of the results of \p node, which has no bodies. With
/// \p perturbation, roundings are made worse.
static llvm::Error learnPlain(Node &node, Evaluations &evaluations,
                              RoundingPerturbation *perturbation) {
  // Accumulations round more than once, and fast ones more than twice.
  constexpr double operandUnits = 2, resultUnits = 4, sumUnits = 32;
  Evaluation evaluation;
  evaluation.isExact = isExact(node);
  evaluation.hasPole = mayHavePole(node);
  bool isExactOp = evaluation.isExact, isFiniteInput = true;
  std::vector<Tensor> operands;
  for (NodeValue operand : node.getOperands()) {
    if (!operand) {
      operands.emplace_back();
      continue;
    }
    const Evaluation &source = evaluations[operand.node];
    evaluation.isExact &= source.isExact;
    evaluation.isUnbounded |= source.isUnbounded;
    evaluation.hasNonFinite |= source.hasNonFinite;
    evaluation.hasPole |= source.hasPole;
    evaluation.depth = std::max(evaluation.depth, source.depth + 1);
    operands.push_back(source.tensors[operand.result].clone());
    isFiniteInput &= isFinite(operands.back());
    if (perturbation && !isExactOp)
      perturb(operands.back(), operandUnits, *perturbation,
              [](int64_t) { return 0.0; });
  }
  GLOWISH_ASSIGN_OR_RETURN(evaluation.tensors,
                           interpretNode(node.getDraft(), operands));
  // Which NaN came up is nobody's business.
  if (llvm::isa<BitCastNode>(node) && hasNaN(operands[0]))
    evaluation.isUnbounded = true;
  if (llvm::isa<LayerNormalizationNode, GroupNormalizationNode,
                LocalResponseNormalizationNode>(node))
    evaluation.isUnbounded |= !hasNormalSquares(operands[0]);
  if (llvm::isa<LocalResponseNormalizationNode>(node))
    evaluation.isUnbounded |=
        !hasNormalDivisors(operands[0], evaluation.tensors[0]);
  evaluation.isUnbounded |= !operands.empty() && divides0By0(node, operands[0]);
  // Where a mask is large, scores have few digits left; that it is added to
  // all of a row alike hides it from the trials.
  constexpr double largestScore = 100;
  if (llvm::isa<AttentionNode>(node))
    for (const Tensor &operand : operands)
      evaluation.isUnbounded |= getLargest(operand) > largestScore;
  Magnitude magnitude = getMagnitude(node, operands, evaluation.tensors);
  evaluation.largest =
      magnitude.source ? getLargest(*magnitude.source) : magnitude.largest;
  for (Tensor &tensor : evaluation.tensors) {
    if (!isFinite(tensor))
      evaluation.hasNonFinite = true;
    if (!isElementWise(node) && !isExactOp)
      evaluation.isUnbounded |= !isFiniteInput || !isFinite(tensor);
    if (perturbation && !isExactOp)
      perturb(tensor, isElementWise(node) ? resultUnits : sumUnits,
              *perturbation, magnitude);
  }
  evaluations[&node] = std::move(evaluation);
  return llvm::Error::success();
}

llvm::Error fuzz::evaluate(Node &node, Evaluations &evaluations,
                           RoundingPerturbation *perturbation) {
  if (auto *branch = llvm::dyn_cast<IfNode>(&node))
    return evaluateIf(*branch, evaluations, perturbation);
  if (auto *loop = llvm::dyn_cast<LoopNode>(&node))
    return evaluateLoop(*loop, evaluations, perturbation);
  return learnPlain(node, evaluations, perturbation);
}
