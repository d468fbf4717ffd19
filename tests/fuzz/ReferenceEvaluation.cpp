//===- ReferenceEvaluation.cpp - Values and error bounds ------------------===//

#include "ReferenceEvaluation.h"
#include "NumericHazards.h"
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

ElementMask fuzz::findNonFinite(const Tensor &tensor) {
  ElementMask mask(tensor.getType().getNumElements());
  if (isFloat(tensor))
    for (size_t i = 0; i < mask.size(); ++i)
      mask[i] = !std::isfinite(tensor.getAsDouble(int64_t(i)));
  return mask;
}

bool fuzz::hasAny(const ElementMask &mask) {
  return llvm::is_contained(mask, true);
}

double fuzz::getLargest(const Tensor &tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (double value = std::fabs(tensor.getAsDouble(i)); std::isfinite(value))
      largest = std::max(largest, value);
  return largest;
}

/// Whether it divides, say, by what may be 0 if it is rounded so.
static bool mayHavePole(const Node &node) {
  if (std::optional<ScalarOp> op = node.getInfo().scalarOp)
    return getScalarOpInfo(*op).hasPole;
  return node.getInfo().has(OpTrait::HasPole);
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

/// Adds to \p results, the infinities and NaN of the results of \p node, what
/// the marked elements of its operands go into. All elements are taken to go
/// into each one of a node that is neither element-wise nor moves elements.
static llvm::Error traceNonFinite(Node &node, llvm::ArrayRef<Tensor> operands,
                                  llvm::ArrayRef<ElementMask> marked,
                                  std::vector<ElementMask> &results) {
  bool moves = node.getInfo().has(OpTrait::StaticDataMovement);
  if (llvm::none_of(marked, hasAny) &&
      (isElementWise(node) || moves || llvm::none_of(results, hasAny)))
    return llvm::Error::success();
  bool isAligned =
      isElementWise(node) && llvm::all_of(marked, [&](const ElementMask &mask) {
        return mask.size() == results[0].size();
      });
  if (isAligned) {
    for (const ElementMask &mask : marked)
      for (size_t i = 0; i < mask.size(); ++i)
        if (mask[i])
          results[0][i] = true;
    return llvm::Error::success();
  }
  if (!moves) {
    for (ElementMask &mask : results)
      mask.assign(mask.size(), true);
    return llvm::Error::success();
  }
  std::vector<Tensor> marks;
  for (auto [operand, mask] : llvm::zip_equal(operands, marked)) {
    Tensor &mark = marks.emplace_back(operand.getType());
    for (size_t i = 0; i < mask.size(); ++i)
      mark.setFromDouble(int64_t(i), mask[i] ? 1 : 0);
  }
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Tensor> moved,
                           interpretNode(node.getDraft(), marks));
  for (auto [tensor, mask] : llvm::zip_equal(moved, results))
    for (size_t i = 0; i < mask.size(); ++i)
      if (tensor.getAsDouble(int64_t(i)) != 0)
        mask[i] = true;
  return llvm::Error::success();
}

/// How many terms an element of the result of \p node is the sum of, about.
static double countTerms(const Node &node, llvm::ArrayRef<Tensor> operands,
                         llvm::ArrayRef<Tensor> results) {
  int64_t numResults = results[0].getNumElements(), most = 0;
  if (numResults == 0)
    return 0;
  if (auto *count = node.getInfo().countMultiplyAdds)
    return double(count(NodeTypes(node).getView()));
  for (const Tensor &tensor : operands)
    most = std::max(most, tensor.getNumElements());
  return double(most) / double(numResults);
}

/// The units in the last place that results of \p node are perturbed by.
static double getResultUnits(const Node &node, llvm::ArrayRef<Tensor> operands,
                             llvm::ArrayRef<Tensor> results) {
  // Accumulations round more than once, and fast ones more than twice; those of
  // equal terms all the same way, by half a unit a term at most, which the
  // margin of the bounds makes of a sixteenth.
  constexpr double elementWise = 4, leastOfSum = 32, perTerm = 1.0 / 16;
  return isElementWise(node)
             ? elementWise
             : std::max(leastOfSum,
                        countTerms(node, operands, results) * perTerm);
}

/// Whether \p node adds whole numbers so small that no sum is rounded: a zero
/// point to what was rounded, say.
static bool addsWholeNumbers(const Node &node,
                             llvm::ArrayRef<Tensor> operands) {
  if (node.getKind() != NodeKind::Add && node.getKind() != NodeKind::Sub)
    return false;
  return llvm::all_of(operands, [](const Tensor &operand) {
    if (operand.getType().getKind() != ElemKind::Float)
      return false;
    for (int64_t i = 0; i < operand.getNumElements(); ++i) {
      constexpr double most = 0x1p20;
      double value = operand.getAsDouble(i);
      if (std::trunc(value) != value || std::fabs(value) > most)
        return false;
    }
    return true;
  });
}

/// Adds what is known of the results of \p node, which has no bodies. With
/// \p perturbation, roundings are made worse.
static llvm::Error learnPlain(Node &node, Evaluations &evaluations,
                              RoundingPerturbation *perturbation) {
  constexpr double operandUnits = 2;
  Evaluation evaluation;
  evaluation.isExact = isExact(node);
  evaluation.hasPole = mayHavePole(node);
  bool isExactOp = evaluation.isExact, isFiniteInput = true;
  bool areOperandsExact = true;
  std::vector<Tensor> operands;
  std::vector<ElementMask> marked;
  for (NodeValue operand : node.getOperands()) {
    if (!operand) {
      operands.emplace_back();
      marked.emplace_back();
      continue;
    }
    const Evaluation &source = evaluations[operand.node];
    areOperandsExact &= source.isExact;
    evaluation.isUnbounded |= source.isUnbounded;
    marked.push_back(source.nonFinite[operand.result]);
    evaluation.hasPole |= source.hasPole;
    evaluation.depth = std::max(evaluation.depth, source.depth + 1);
    operands.push_back(source.tensors[operand.result].clone());
    isFiniteInput &= isFinite(operands.back());
  }
  bool isRounded = !isExactOp && !addsWholeNumbers(node, operands);
  for (auto [operand, value] : llvm::zip_equal(operands, node.getOperands()))
    if (perturbation && isRounded && value)
      perturb(operand, operandUnits, *perturbation,
              [](int64_t) { return 0.0; });
  evaluation.isExact &= areOperandsExact;
  GLOWISH_ASSIGN_OR_RETURN(evaluation.tensors,
                           interpretNode(node.getDraft(), operands));
  evaluation.isUnbounded |=
      isUndetermined(node, operands, evaluation.tensors, areOperandsExact);
  Magnitude magnitude = getMagnitude(node, operands, evaluation.tensors);
  evaluation.largest =
      magnitude.source ? getLargest(*magnitude.source) : magnitude.largest;
  double resultUnits = getResultUnits(node, operands, evaluation.tensors);
  for (Tensor &tensor : evaluation.tensors) {
    evaluation.nonFinite.push_back(findNonFinite(tensor));
    if (!isElementWise(node) && !isExactOp)
      evaluation.isUnbounded |= !isFiniteInput || !isFinite(tensor);
    if (perturbation && isRounded)
      perturb(tensor, resultUnits, *perturbation, magnitude);
  }
  GLOWISH_RETURN_IF_ERROR(
      traceNonFinite(node, operands, marked, evaluation.nonFinite));
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
