//===- Reference.cpp - Reference evaluation -------------------------------===//

#include "Reference.h"
#include "ReferenceEvaluation.h"
#include "Values.h"
#include "glowish/Support/Error.h"
#include <cstring>

using namespace glowish;
using namespace glowish::fuzz;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// All values of \p module's first function.
static llvm::Expected<Evaluations>
evaluateAll(Module &module, RoundingPerturbation *perturbation) {
  Evaluations evaluations;
  auto addStorage = [&](const Node &node, Tensor tensor) {
    Evaluation &evaluation = evaluations[&node];
    evaluation.isExact = true;
    evaluation.nonFinite.push_back(findNonFinite(tensor));
    evaluation.tensors.push_back(std::move(tensor));
  };
  for (const auto &placeholder : module.getPlaceholders())
    if (placeholder->isInput())
      addStorage(*placeholder, makeValues(placeholder->getModelName(),
                                          placeholder->getType()));
  for (const Node &constant : module.getConstants())
    addStorage(constant, llvm::cast<Constant>(constant).getTensor().clone());
  for (Node &node : module.getFunctions().front()->getNodes())
    if (!llvm::isa<SaveNode>(node))
      GLOWISH_RETURN_IF_ERROR(evaluate(node, evaluations, perturbation));
  return evaluations;
}

/// Makes \p bounds wide enough for \p other, which is the same value after
/// perturbed roundings.
static void widen(std::vector<double> &bounds, const Tensor &value,
                  const Tensor &other) {
  constexpr double margin = 8;
  for (size_t i = 0; i < bounds.size(); ++i) {
    // Of 64 bits, a double does not have the last.
    if (!isFloat(value)) {
      if (value.getAsInt(i) != other.getAsInt(i))
        bounds[i] = infinity;
      continue;
    }
    double a = value.getAsDouble(i), b = other.getAsDouble(i);
    bool isSame = a == b || (std::isnan(a) && std::isnan(b));
    if (isSame)
      continue;
    bool isOpen = !std::isfinite(a) || !std::isfinite(b);
    bounds[i] = std::max(bounds[i], isOpen ? infinity : margin * fabs(a - b));
  }
}

/// What is expected of the value that \p save writes, by its precision alone.
static Expectation expect(SaveNode &save, const Evaluations &evaluations) {
  NodeValue source = save.getInput();
  const Evaluation &evaluation = evaluations.find(source.node)->second;
  Expectation expectation;
  expectation.name =
      llvm::cast<Placeholder>(save.getOutput().node)->getModelName();
  expectation.value = evaluation.tensors[source.result].clone();
  expectation.nonFinite = evaluation.nonFinite[source.result];
  expectation.hasPole = evaluation.hasPole;
  const Tensor &value = expectation.value;
  Precision precision = getPrecision(value.getType().getKind());
  double base = 0;
  if (isFloat(value) && !evaluation.isExact)
    base = std::max(8 * evaluation.depth * precision.epsilon *
                        std::max(evaluation.largest, getLargest(value)),
                    4 * precision.smallest);
  expectation.bounds.assign(value.getNumElements(),
                            evaluation.isUnbounded ? infinity : base);
  return expectation;
}

llvm::Expected<std::vector<Expectation>>
fuzz::interpretGraph(Module &module, unsigned numTrials) {
  GLOWISH_ASSIGN_OR_RETURN(Evaluations evaluations,
                           evaluateAll(module, nullptr));
  std::vector<Expectation> result;
  std::vector<NodeValue> sources;
  for (Node &node : module.getFunctions().front()->getNodes())
    if (auto *save = llvm::dyn_cast<SaveNode>(&node)) {
      sources.push_back(save->getInput());
      result.push_back(expect(*save, evaluations));
    }
  for (uint64_t trial = 1; trial <= numTrials; ++trial) {
    // The second goes the opposite way of the first, and so on: the side that
    // an element is not safe on is tried.
    RoundingPerturbation perturbation((trial + 1) / 2);
    perturbation.opposite = trial % 2 == 0;
    perturbation.toZero = trial == 3;
    perturbation.anyShare = trial > 5;
    GLOWISH_ASSIGN_OR_RETURN(Evaluations worse,
                             evaluateAll(module, &perturbation));
    for (auto [expectation, source] : llvm::zip_equal(result, sources)) {
      const Evaluation &evaluation = worse[source.node];
      widen(expectation.bounds, expectation.value,
            evaluation.tensors[source.result]);
      if (evaluation.isUnbounded)
        std::ranges::fill(expectation.bounds, infinity);
    }
  }
  return result;
}

bool fuzz::isCompared(const Expectation &expected, size_t index, bool reorder) {
  return std::isfinite(expected.bounds[index]) &&
         !(reorder && expected.nonFinite[index]);
}

std::string fuzz::describeOtherBits(const Expectation &expected,
                                    const Tensor &actual, const Tensor &other,
                                    bool reorder) {
  size_t size = getElemSize(actual.getType().getKind());
  const auto *bytes = static_cast<const uint8_t *>(actual.getBytes());
  const auto *others = static_cast<const uint8_t *>(other.getBytes());
  for (int64_t i = 0; i < actual.getNumElements(); ++i) {
    if (!isCompared(expected, i, reorder) ||
        !std::memcmp(bytes + i * size, others + i * size, size))
      continue;
    if (!isFloat(actual))
      return llvm::formatv("element {0} is {1}, and {2} at the lowest level", i,
                           actual.getAsInt(i), other.getAsInt(i));
    double a = actual.getAsDouble(i), b = other.getAsDouble(i);
    if (!std::isnan(a) || !std::isnan(b))
      return llvm::formatv("element {0} is {1:e16}, and {2:e16} at the lowest "
                           "level",
                           i, a, b);
  }
  return "";
}

std::string fuzz::describeDifference(const Expectation &expected,
                                     const Tensor &actual, bool reorder) {
  const Tensor &value = expected.value;
  if (actual.getType() != value.getType())
    return "type " + actual.getType().str() + ", expected " +
           value.getType().str();
  for (int64_t i = 0; i < value.getNumElements(); ++i) {
    double bound = expected.bounds[i];
    if (!isCompared(expected, i, reorder))
      continue;
    if (!isFloat(value)) {
      if (actual.getAsInt(i) != value.getAsInt(i))
        return llvm::formatv("element {0} is {1}, expected {2}", i,
                             actual.getAsInt(i), value.getAsInt(i));
      continue;
    }
    double a = actual.getAsDouble(i), b = value.getAsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    // What is known no better than that it may be 0 has any reciprocal, of
    // either sign: the trials find large ones, but not the largest.
    if (expected.hasPole && bound > 0 &&
        (bound >= std::fabs(b) || std::isinf(b)))
      continue;
    // Written so that a NaN differs.
    if (!(std::fabs(a - b) <= bound))
      return llvm::formatv(
          "element {0} is {1:e6}, expected {2:e6} within {3:e1}", i, a, b,
          bound);
  }
  return "";
}
