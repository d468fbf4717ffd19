//===- Reference.cpp - Reference evaluation -------------------------------===//

#include "Reference.h"
#include "ReferenceEvaluation.h"
#include "Values.h"
#include "glowish/Base/CopyCorner.h"
#include "glowish/Base/ForEachIndex.h"
#include "glowish/Support/Error.h"
#include <cstring>
#include <map>
#include <set>

using namespace glowish;
using namespace glowish::fuzz;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {

/// Constants that were folded when a module was made: they are rounded as what
/// is computed in a run.
class FoldedConstants {
public:
  explicit FoldedConstants(RoundingPerturbation *perturbation)
      : perturbation(perturbation) {}

  llvm::Expected<std::vector<Tensor>> fold(const Node &node);
  Evaluation describe(const Constant &constant) const;

private:
  RoundingPerturbation *perturbation;
  /// What is known of rounded ones, without their tensors, by where their
  /// elements are.
  std::map<const void *, Evaluation> rounded;
};

} // namespace

static Evaluation describeStorage(Tensor tensor) {
  Evaluation evaluation;
  evaluation.isExact = true;
  evaluation.nonFinite.push_back(findNonFinite(tensor));
  evaluation.tensors.push_back(std::move(tensor));
  return evaluation;
}

Evaluation FoldedConstants::describe(const Constant &constant) const {
  const Tensor &tensor = constant.getTensor();
  Evaluation evaluation = describeStorage(tensor.clone());
  auto found = rounded.find(tensor.getBytes());
  if (found == rounded.end())
    return evaluation;
  const Evaluation &known = found->second;
  evaluation.isExact = false;
  evaluation.isUnbounded = known.isUnbounded;
  evaluation.nonFinite = known.nonFinite;
  evaluation.hasPole = known.hasPole;
  evaluation.depth = known.depth;
  evaluation.largest = known.largest;
  return evaluation;
}

llvm::Expected<std::vector<Tensor>> FoldedConstants::fold(const Node &node) {
  Evaluations evaluations;
  for (NodeValue operand : node.getOperands())
    if (operand)
      evaluations[operand.node] = describe(llvm::cast<Constant>(*operand.node));
  // Evaluation leaves nodes as they are.
  GLOWISH_RETURN_IF_ERROR(
      evaluate(const_cast<Node &>(node), evaluations, perturbation));
  Evaluation &result = evaluations[&node];
  std::vector<Tensor> tensors = std::move(result.tensors);
  result.tensors.clear();
  const void *bytes = tensors[0].getBytes();
  rounded.erase(bytes);
  if (!result.isExact)
    rounded[bytes] = std::move(result);
  return tensors;
}

/// All values of \p module's first function.
static llvm::Expected<Evaluations>
evaluateAll(Module &module, const FoldedConstants &folded,
            RoundingPerturbation *perturbation) {
  Evaluations evaluations;
  for (const auto &placeholder : module.getPlaceholders())
    if (placeholder->isInput())
      evaluations[placeholder.get()] = describeStorage(
          makeValues(placeholder->getModelName(), placeholder->getType()));
  for (const Node &constant : module.getConstants())
    evaluations[&constant] = folded.describe(llvm::cast<Constant>(constant));
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

/// Leaves of \p whole what \p extents say.
static void cutToExtents(Expectation &whole, const Expectation &extents) {
  whole.hasOpenExtents = llvm::any_of(
      extents.bounds, [](double bound) { return !std::isfinite(bound); });
  if (whole.hasOpenExtents)
    return;
  Dims shape;
  for (int64_t d = 0; d < extents.value.getNumElements(); ++d)
    shape.push_back(extents.value.getAsInt(d));
  DimsRef all = whole.value.getType().getShape();
  Dims strides = getDenseStrides(all);
  Expectation part{whole.name, Tensor(), {}, {}, whole.hasPole};
  part.value = Tensor(whole.value.getType().withShape(shape));
  copyCorner(whole.value, part.value);
  part.bounds.clear();
  part.nonFinite.clear();
  forEachIndex(shape, [&](DimsRef index) {
    int64_t element = 0;
    for (auto [i, stride] : llvm::zip_equal(index, strides))
      element += i * stride;
    part.bounds.push_back(whole.bounds[element]);
    part.nonFinite.push_back(whole.nonFinite[element]);
  });
  whole = std::move(part);
}

/// Cuts each of \p outputs of which another one has the extents, and drops the
/// latter.
static void cutOutputs(const Module &module,
                       std::vector<Expectation> &outputs) {
  std::set<std::string> extents;
  auto find = [&](llvm::StringRef name) {
    return llvm::find_if(outputs, [&](const Expectation &output) {
      return output.name == name;
    });
  };
  for (const auto &placeholder : module.getPlaceholders())
    if (const Placeholder *own = placeholder->getExtents()) {
      extents.insert(own->getModelName().str());
      cutToExtents(*find(placeholder->getModelName()),
                   *find(own->getModelName()));
    }
  llvm::erase_if(outputs, [&](const Expectation &output) {
    return extents.count(output.name) > 0;
  });
}

/// What \p make makes is, without a \p perturbation exactly; its outputs are
/// not cut to their extents.
static llvm::Expected<std::vector<Expectation>>
interpretOnce(ModuleMaker make, RoundingPerturbation *perturbation,
              std::unique_ptr<Module> &module) {
  FoldedConstants folded(perturbation);
  GLOWISH_ASSIGN_OR_RETURN(
      module, make([&](const Node &node) { return folded.fold(node); }));
  GLOWISH_ASSIGN_OR_RETURN(Evaluations evaluations,
                           evaluateAll(*module, folded, perturbation));
  std::vector<Expectation> result;
  for (Node &node : module->getFunctions().front()->getNodes())
    if (auto *save = llvm::dyn_cast<SaveNode>(&node))
      result.push_back(expect(*save, evaluations));
  return result;
}

/// Widens the bounds of \p outputs for \p worse, the same after perturbed
/// roundings; nothing is known where these have decided shapes.
static void widenAll(std::vector<Expectation> &outputs,
                     llvm::ArrayRef<Expectation> worse) {
  for (auto [i, output] : llvm::enumerate(outputs)) {
    bool isSame = worse.size() == outputs.size() &&
                  worse[i].value.getType() == output.value.getType();
    if (isSame)
      widen(output.bounds, output.value, worse[i].value);
    if (!isSame || llvm::all_of(worse[i].bounds,
                                [](double bound) { return std::isinf(bound); }))
      std::ranges::fill(output.bounds, infinity);
  }
}

llvm::Expected<std::vector<Expectation>>
fuzz::interpretGraph(ModuleMaker make, unsigned numTrials) {
  std::unique_ptr<Module> module;
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Expectation> result,
                           interpretOnce(make, nullptr, module));
  for (uint64_t trial = 1; trial <= numTrials; ++trial) {
    // The second goes the opposite way of the first, and so on: the side that
    // an element is not safe on is tried.
    RoundingPerturbation perturbation((trial + 1) / 2);
    perturbation.opposite = trial % 2 == 0;
    perturbation.toZero = trial == 3;
    perturbation.anyShare = trial > 5;
    std::unique_ptr<Module> other;
    GLOWISH_ASSIGN_OR_RETURN(std::vector<Expectation> worse,
                             interpretOnce(make, &perturbation, other));
    widenAll(result, worse);
  }
  cutOutputs(*module, result);
  return result;
}

bool fuzz::isCompared(const Expectation &expected, size_t index, bool reorder) {
  return !expected.hasOpenExtents && std::isfinite(expected.bounds[index]) &&
         !(reorder && expected.nonFinite[index]);
}

std::string fuzz::describeOtherBits(const Expectation &expected,
                                    const Tensor &actual, const Tensor &other,
                                    bool reorder) {
  if (expected.hasOpenExtents)
    return "";
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
  if (expected.hasOpenExtents)
    return "";
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
