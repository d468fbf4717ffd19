//===- Reference.cpp - What a graph computes, and how well ----------------===//

#include "Reference.h"
#include "../../lib/Backends/Interpreter/Kernels.h"
#include "Values.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Random.h"

using namespace glowish;
using namespace glowish::fuzz;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr unsigned numTrials = 4;

/// The spacing of numbers near 1, and the smallest distance of two numbers.
struct Precision {
  double epsilon, smallest;
};

/// What a node's results are known to be.
struct Known {
  std::vector<Tensor> tensors;
  /// Nothing was rounded on the way.
  bool isExact = false;
  /// An infinity or NaN went into sums: fast algorithms spread them.
  bool isUnknown = false;
  /// An infinity or NaN came up.
  bool isDelicate = false;
  unsigned depth = 0;
  /// Of what the results were rounded from.
  double largest = 0;
};

using Knowledge = llvm::DenseMap<const Node *, Known>;

} // namespace

static Precision getPrecision(ElemKind kind) {
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

static bool isFloat(const Tensor &tensor) {
  return isFloatKind(tensor.getType().getKind());
}

static bool isFinite(const Tensor &tensor) {
  if (isFloat(tensor))
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      if (!std::isfinite(tensor.getAsDouble(i)))
        return false;
  return true;
}

static double getLargest(const Tensor &tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (double value = std::fabs(tensor.getAsDouble(i)); std::isfinite(value))
      largest = std::max(largest, value);
  return largest;
}

/// Whether \p node picks, moves and compares elements and rounds nothing that
/// its operands leave open. An operator that is missing here is compared less
/// strictly, and not wrongly.
static bool isExactOperator(const Node &node) {
  switch (node.getKind()) {
  case NodeKind::Resize:
    return llvm::cast<ResizeNode>(node).getMode() == "nearest";
  case NodeKind::Scatter:
    return llvm::cast<ScatterNode>(node).getMode() == "replace" ||
           !isFloatKind(node.getType().getKind());
  case NodeKind::Reduce:
    if (isFloatKind(node.getType().getKind()))
      return llvm::StringRef(llvm::cast<ReduceNode>(node).getMode())
                 .starts_with("m") &&
             llvm::cast<ReduceNode>(node).getMode() != "mean";
    return true;
  case NodeKind::Splat:
  case NodeKind::MaxPool:
  case NodeKind::GlobalMaxPool:
  case NodeKind::Concat:
  case NodeKind::Slice:
  case NodeKind::Transpose:
  case NodeKind::Reshape:
  case NodeKind::Broadcast:
  case NodeKind::Tile:
  case NodeKind::Pad:
  case NodeKind::Gather:
  case NodeKind::ArgMax:
  case NodeKind::TopK:
  case NodeKind::BitCast:
  case NodeKind::Max:
  case NodeKind::Min:
  case NodeKind::Abs:
  case NodeKind::Neg:
  case NodeKind::Relu:
  case NodeKind::Clip:
  case NodeKind::Sign:
  case NodeKind::Floor:
  case NodeKind::Ceil:
  case NodeKind::Round:
  case NodeKind::Select:
  case NodeKind::Cast:
    return true;
  default:
    // Comparisons, logic and integer arithmetic.
    return isElementWise(node) && !isFloatKind(node.getType().getKind());
  }
}

/// How roundings are made worse.
struct Worsening {
  explicit Worsening(uint64_t seed, bool opposite)
      : random(seed), opposite(opposite) {}

  bool goesUp() { return (random.below(2) == 0) != opposite; }

  Random random;
  bool opposite;
};

/// Changes \p tensor by \p units in the last place of each element, or of
/// \p magnitude(index), if that is larger.
static void perturb(Tensor &tensor, double units, Worsening &worsening,
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
    tensor.setFromDouble(i, worsening.goesUp() ? value + step : value - step);
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
  GLOWISH_TRY(Node * copy, function->tryCreate("node", std::move(draft)));
  return evaluateNode(*copy);
}

/// What a node's results are made of: sums of large terms may be small.
struct Magnitude {
  /// The element that a formula of one operand is of.
  const Tensor *source = nullptr;
  /// The largest of the results, before an epilogue too.
  double largest = 0;

  double operator()(int64_t index) const {
    return source ? std::fabs(source->getAsDouble(index)) : largest;
  }
};

/// A node with an epilogue: its results before that.
struct Anchor {
  ScalarProgram epilogue;
  std::vector<Tensor> results;
};

static llvm::Expected<Anchor> interpretAnchor(const Node &node,
                                              llvm::ArrayRef<Tensor> operands) {
  Anchor anchor;
  NodeDraft draft = node.getDraft();
  for (AttrValue &attr : draft.attrs)
    if (auto *program = std::get_if<ScalarProgram>(&attr))
      std::swap(anchor.epilogue, *program);
  if (!anchor.epilogue.empty()) {
    GLOWISH_TRY(anchor.results, interpretNode(std::move(draft), operands));
  }
  return anchor;
}

static llvm::Expected<Tensor> broadcast(const Tensor &tensor, DimsRef shape) {
  Module module("broadcast");
  Function *function = module.createFunction("main");
  NodeDraft draft = {NodeKind::Broadcast,
                     {module.createConstant("c", tensor.clone())},
                     {std::vector<int64_t>(shape.begin(), shape.end())}};
  GLOWISH_TRY(Node * node, function->tryCreate("node", std::move(draft)));
  GLOWISH_TRY(std::vector<Tensor> results, evaluateNode(*node));
  return std::move(results[0]);
}

/// The result of \p anchor's epilogue. \p operands: of the node.
static llvm::Expected<Tensor> applyEpilogue(const Node &node, Anchor anchor,
                                            llvm::ArrayRef<Tensor> operands) {
  DimsRef shape = node.getType().getShape();
  std::vector<Tensor> inputs;
  inputs.push_back(std::move(anchor.results[0]));
  for (const Tensor &fused :
       operands.drop_front(node.getInfo().operands.size() - 1)) {
    GLOWISH_TRY(Tensor input, broadcast(fused, shape));
    inputs.push_back(std::move(input));
  }
  return interpreter::evaluateProgram(anchor.epilogue, std::move(inputs));
}

static Magnitude getMagnitude(const Node &node, llvm::ArrayRef<Tensor> operands,
                              llvm::ArrayRef<Tensor> results,
                              llvm::ArrayRef<Tensor> anchors) {
  Magnitude magnitude;
  if (isElementWise(node)) {
    if (operands.size() == 1)
      magnitude.source = &operands[0];
    return magnitude;
  }
  for (llvm::ArrayRef<Tensor> tensors : {results, anchors})
    for (const Tensor &tensor : tensors)
      magnitude.largest = std::max(magnitude.largest, getLargest(tensor));
  return magnitude;
}

/// Adds what is known of \p node's results. With \p worsening, roundings are
/// made worse.
static llvm::Error learn(Node &node, Knowledge &knowledge,
                         Worsening *worsening) {
  // Accumulations round more than once, and fast ones more than twice.
  constexpr double operandUnits = 2, resultUnits = 4, sumUnits = 32;
  Known known;
  known.isExact = isExactOperator(node);
  bool isExactOp = known.isExact, isFiniteInput = true;
  std::vector<Tensor> operands;
  for (NodeValue operand : node.getOperands()) {
    if (!operand) {
      operands.emplace_back();
      continue;
    }
    const Known &source = knowledge[operand.node];
    known.isExact &= source.isExact;
    known.isUnknown |= source.isUnknown;
    known.isDelicate |= source.isDelicate;
    known.depth = std::max(known.depth, source.depth + 1);
    operands.push_back(source.tensors[operand.result].clone());
    isFiniteInput &= isFinite(operands.back());
    if (worsening && !isExactOp)
      perturb(operands.back(), operandUnits, *worsening,
              [](int64_t) { return 0.0; });
  }
  GLOWISH_TRY(known.tensors, interpretNode(node.getDraft(), operands));
  // Where a mask is large, scores have few digits left; that it is added to
  // all of a row alike hides it from the trials.
  constexpr double largestScore = 100;
  if (llvm::isa<AttentionNode>(node))
    for (const Tensor &operand : operands)
      known.isUnknown |= getLargest(operand) > largestScore;
  GLOWISH_TRY(Anchor anchor, interpretAnchor(node, operands));
  Magnitude magnitude =
      getMagnitude(node, operands, known.tensors, anchor.results);
  known.largest =
      magnitude.source ? getLargest(*magnitude.source) : magnitude.largest;
  // An epilogue may make steps of what was rounded before it.
  if (worsening && !isExactOp && !anchor.epilogue.empty()) {
    perturb(anchor.results[0], sumUnits, *worsening, magnitude);
    GLOWISH_TRY(known.tensors[0],
                applyEpilogue(node, std::move(anchor), operands));
  }
  for (Tensor &tensor : known.tensors) {
    if (!isFinite(tensor))
      known.isDelicate = true;
    if (!isElementWise(node) && !isExactOp)
      known.isUnknown |= !isFiniteInput || !isFinite(tensor);
    if (worsening && !isExactOp)
      perturb(tensor, isElementWise(node) ? resultUnits : sumUnits, *worsening,
              magnitude);
  }
  knowledge[&node] = std::move(known);
  return llvm::Error::success();
}

/// All values of \p module's first function.
static llvm::Expected<Knowledge> learnAll(Module &module,
                                          Worsening *worsening) {
  Knowledge knowledge;
  auto addStorage = [&](const Node &node, Tensor tensor) {
    Known &known = knowledge[&node];
    known.isExact = true;
    known.isDelicate = !isFinite(tensor);
    known.tensors.push_back(std::move(tensor));
  };
  for (const auto &placeholder : module.getPlaceholders())
    if (placeholder->isInput())
      addStorage(*placeholder, makeValues(placeholder->getModelName(),
                                          placeholder->getType()));
  for (const Node &constant : module.getConstants())
    addStorage(constant, llvm::cast<Constant>(constant).getTensor().clone());
  for (Node &node : module.getFunctions().front()->getNodes())
    if (!llvm::isa<SaveNode>(node))
      GLOWISH_CHECK(learn(node, knowledge, worsening));
  return knowledge;
}

/// Makes \p bounds wide enough for \p other, which is the same value after
/// worse roundings.
static void widen(std::vector<double> &bounds, const Tensor &value,
                  const Tensor &other) {
  constexpr double margin = 8;
  for (size_t i = 0; i < bounds.size(); ++i) {
    double a = value.getAsDouble(i), b = other.getAsDouble(i);
    bool isSame = a == b || (std::isnan(a) && std::isnan(b));
    if (isSame)
      continue;
    bool isOpen = !isFloat(value) || !std::isfinite(a) || !std::isfinite(b);
    bounds[i] = std::max(bounds[i], isOpen ? infinity : margin * fabs(a - b));
  }
}

llvm::Expected<std::vector<Expectation>> fuzz::interpretGraph(Module &module) {
  std::array<Knowledge, numTrials> trials;
  for (uint64_t trial = 0; trial < numTrials; ++trial) {
    // The second goes the opposite way of the first: the side that an element
    // is not safe on is tried.
    Worsening worsening((trial + 1) / 2, trial == 2);
    GLOWISH_TRY(trials[trial], learnAll(module, trial ? &worsening : nullptr));
  }
  std::vector<Expectation> result;
  for (Node &node : module.getFunctions().front()->getNodes()) {
    auto *save = llvm::dyn_cast<SaveNode>(&node);
    if (!save)
      continue;
    NodeValue source = save->getInput();
    const Known &known = trials[0][source.node];
    Expectation expectation;
    expectation.name =
        llvm::cast<Placeholder>(save->getOutput().node)->getModelName();
    expectation.value = known.tensors[source.result].clone();
    expectation.isDelicate = known.isDelicate;
    const Tensor &value = expectation.value;
    Precision precision = getPrecision(value.getType().getKind());
    double base = 0;
    if (isFloat(value) && !known.isExact)
      base = std::max(8 * known.depth * precision.epsilon *
                          std::max(known.largest, getLargest(value)),
                      4 * precision.smallest);
    expectation.bounds.assign(value.getNumElements(),
                              known.isUnknown ? infinity : base);
    for (Knowledge &other : llvm::drop_begin(trials)) {
      widen(expectation.bounds, value,
            other[source.node].tensors[source.result]);
      if (other[source.node].isUnknown)
        expectation.bounds.assign(value.getNumElements(), infinity);
    }
    result.push_back(std::move(expectation));
  }
  return result;
}

std::string fuzz::describeDifference(const Expectation &expected,
                                     const Tensor &actual) {
  const Tensor &value = expected.value;
  if (actual.getType() != value.getType())
    return "type " + actual.getType().str() + ", expected " +
           value.getType().str();
  for (int64_t i = 0; i < value.getNumElements(); ++i) {
    double bound = expected.bounds[i];
    if (bound == infinity)
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
    // What is known no better than that it may be 0 has any reciprocal.
    if (std::isinf(a) && b != 0 && bound >= std::fabs(b))
      continue;
    // Written so that a NaN differs.
    if (!(std::fabs(a - b) <= bound))
      return llvm::formatv(
          "element {0} is {1:e6}, expected {2:e6} within {3:e1}", i, a, b,
          bound);
  }
  return "";
}
