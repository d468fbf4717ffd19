//===- Recurrent.cpp - Common parts of recurrent operators ----------------===//

#include "ONNX/Ops/Recurrent.h"
#include <optional>

using namespace glowish;
using namespace glowish::onnximport;

//===- Attributes and operands --------------------------------------------===//

namespace {

/// An activation function of the standard, and the defaults of the parameters
/// that it takes.
struct ActivationType {
  llvm::StringRef name;
  std::optional<double> alpha = {}, beta = {};
};

} // namespace

static constexpr ActivationType activationTypes[] = {{"Tanh"},
                                                     {"Sigmoid"},
                                                     {"Relu"},
                                                     {"Softsign"},
                                                     {"Softplus"},
                                                     {"HardSigmoid", 0.2, 0.5},
                                                     {"LeakyRelu", 0.01},
                                                     {"Elu", 1.0},
                                                     {"ThresholdedRelu", 1.0},
                                                     {"Affine", 1.0, 0.0},
                                                     {"ScaledTanh", 1.0, 1.0}};

/// Finds activation \p name. Letters are small or not, as in ONNX Runtime: old
/// exporters wrote "tanh".
static llvm::Expected<const ActivationType *>
findActivation(llvm::StringRef name) {
  std::string accepted;
  for (const ActivationType &type : activationTypes) {
    if (type.name.equals_insensitive(name))
      return &type;
    accepted += (accepted.empty() ? "" : ", ") + type.name.str();
  }
  return makeError("activation '{0}' is not supported; accepted: {1}", name,
                   accepted);
}

/// Removes what single-direction files have beyond \p count of \p names: the
/// default of RNN's schema has a function for each of two directions.
static void removeUnusedDefault(std::vector<std::string> &names,
                                llvm::ArrayRef<llvm::StringRef> defaults,
                                unsigned numDirections) {
  size_t count = defaults.size();
  if (numDirections != 1 || names.size() != 2 * count)
    return;
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] != defaults[i % count])
      return;
  names.resize(count);
}

llvm::Error RecurrentImporter::readActivations(unsigned numDirections) {
  std::vector<std::string> names = op.getStrings("activations");
  removeUnusedDefault(names, defaultActivations, numDirections);
  size_t expected = defaultActivations.size() * numDirections;
  size_t count = names.size();
  if (count && count != expected)
    return makeError("attribute 'activations' has {0} functions; accepted: {1}",
                     count, expected);
  std::vector<double> parameters[2];
  parameters[0] = op.getFloats("activation_alpha");
  parameters[1] = op.getFloats("activation_beta");
  size_t next[2] = {};
  // Only functions with a parameter consume one.
  auto take = [&](unsigned i, std::optional<double> defaultValue) {
    if (!defaultValue || next[i] == parameters[i].size())
      return defaultValue.value_or(0);
    return parameters[i][next[i]++];
  };
  for (size_t i = 0; i < expected; ++i) {
    llvm::StringRef name = defaultActivations[i % defaultActivations.size()];
    if (count)
      name = names[i];
    GLOWISH_ASSIGN_OR_RETURN(const ActivationType *type, findActivation(name));
    double alpha = take(0, type->alpha);
    activations.push_back({type->name.str(), alpha, take(1, type->beta)});
  }
  return llvm::Error::success();
}

llvm::Error RecurrentImporter::readAttrs() {
  std::string direction = op.getString("direction", "forward");
  // The default of the schema of GRU-1 is misspelt.
  if (direction == "forward" || direction == "foward")
    isReverse = {false};
  else if (direction == "reverse")
    isReverse = {true};
  else if (direction == "bidirectional")
    isReverse = {false, true};
  else
    return makeError("attribute 'direction' is '{0}'; accepted: forward, "
                     "reverse, bidirectional",
                     direction);
  GLOWISH_RETURN_IF_ERROR(readActivations(isReverse.size()));
  clip = op.getFloat("clip", 0);
  isBatchFirst = op.getInt("layout", 0) != 0;
  // In old opsets, states which outputs are used; their names do, too.
  op.ignoreAttrs({"output_sequence"});
  return readOwnAttrs();
}

llvm::Error RecurrentImporter::readShapes() {
  GLOWISH_ASSIGN_OR_RETURN(input, op.getInput(0));
  if (input.getShape().size() != 3)
    return op.refuseInput(0, "rank 3");
  if (isBatchFirst) {
    GLOWISH_ASSIGN_OR_RETURN(input, op.finish(op.transpose(input, {1, 0, 2})));
  }
  if (const Extent *extent = input.getType().getExtent(0)) {
    // Steps beyond it are ones that no sequence has.
    openLength = *extent;
    lengthOfRun = op.getLength(input, 0);
    input = op.crop(input, 0, input.getShape()[0], std::nullopt);
    GLOWISH_RETURN_IF_ERROR(op.takeError());
  }
  length = input.getShape()[0];
  if (length > maxUnrolledSteps)
    return makeError("the sequence has {0} steps, which are unrolled; "
                     "accepted: at most {1}",
                     length, maxUnrolledSteps);
  batch = input.getShape()[1];
  GLOWISH_ASSIGN_OR_RETURN(NodeValue weights, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue states, op.getInput(2));
  int64_t directions = int64_t(isReverse.size());
  if (states.getShape().size() != 3)
    return op.refuseInput(2, "rank 3");
  hidden = states.getShape()[areGatesLast() ? 1 : 2];
  int64_t stated = op.getInt("hidden_size", hidden);
  // Extents of tensors are far from the largest number.
  int64_t rows = numGates * hidden;
  if (stated != hidden || hidden < 1 || length < 1)
    return makeError("the hidden size is {0}, 'hidden_size' says {1}, and the "
                     "sequence has {2} steps; accepted: equal sizes, of at "
                     "least 1, and at least 1 step",
                     hidden, stated, length);
  Dims expected[] = {{directions, rows, input.getShape()[2]},
                     {directions, rows, hidden}};
  if (areGatesLast())
    for (Dims &shape : expected)
      std::swap(shape[1], shape[2]);
  NodeValue values[] = {weights, states};
  for (unsigned i = 0; i < 2; ++i)
    if (values[i].getShape() != DimsRef(expected[i]))
      return makeError("input {0} has the shape {1}; accepted: {2}", i + 1,
                       formatShape(values[i].getShape()),
                       formatShape(expected[i]));
  return llvm::Error::success();
}

llvm::Error RecurrentImporter::readLengths() {
  if (!op.hasInput(4)) {
    if (openLength)
      computedLengths = op.broadcast(lengthOfRun, {batch, 1});
    return op.takeError();
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue operand, op.getInput(4));
  if (!llvm::isa<Constant>(operand.node)) {
    GLOWISH_ASSIGN_OR_RETURN(computedLengths,
                             op.reshape(operand, {batch, 1}, ".lengths"));
    return llvm::Error::success();
  }
  GLOWISH_ASSIGN_OR_RETURN(lengths, op.getConstantInts(4));
  if (int64_t(lengths.size()) != batch)
    return makeError("input 4 has {0} lengths; accepted: {1}", lengths.size(),
                     batch);
  for (int64_t value : lengths)
    if (value < 0 || value > length)
      return makeError("input 4 has the length {0}; accepted: 0 to {1}", value,
                       length);
  bool areAll = !openLength && llvm::all_of(lengths, [&](int64_t value) {
    return value == length;
  });
  if (areAll)
    lengths.clear();
  return llvm::Error::success();
}

NodeValue RecurrentImporter::getDirection(NodeValue value, unsigned direction) {
  value = op.slice(value, 0, direction, 1);
  return value ? op.reshape(value, value.getShape().drop_front()) : value;
}

llvm::Expected<NodeValue> RecurrentImporter::readState(unsigned index,
                                                       unsigned direction) {
  NodeValue value = op.input(index);
  if (!value) {
    Type type(input.getElemKind(), {batch, hidden});
    GLOWISH_RETURN_IF_ERROR(op.checkBudget(type.getSizeInBytes()));
    return op.createConstant(Tensor(type));
  }
  if (isBatchFirst && value.getShape().size() == 3) {
    GLOWISH_ASSIGN_OR_RETURN(value, op.finish(op.transpose(value, {1, 0, 2})));
  }
  Dims expected = {int64_t(isReverse.size()), batch, hidden};
  if (value.getShape() != DimsRef(expected))
    return makeError("input {0} has the shape {1}; accepted: {2}", index,
                     formatShape(value.getShape()), formatShape(expected));
  return op.finish(getDirection(value, direction));
}

//===- Weights and activations --------------------------------------------===//

llvm::Error RecurrentImporter::readWeights(unsigned direction) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue all, op.getInput(1));
  weights.input = getDirection(all, direction);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue states, op.getInput(2));
  weights.state = getDirection(states, direction);
  return op.takeError();
}

NodeValue RecurrentImporter::projectRows(NodeValue rows) {
  return op.matMul(rows, op.transpose(weights.input, {1, 0}));
}

NodeValue RecurrentImporter::activate(unsigned function, NodeValue x) {
  const Activation &activation = current[function];
  llvm::StringRef name = activation.name;
  double alpha = activation.alpha, beta = activation.beta;
  if (clip > 0)
    x = op.clip(x, -clip, clip);
  if (!x)
    return x;
  if (name == "Tanh")
    return op.unary<TanhNode>(x);
  if (name == "Sigmoid")
    return op.unary<SigmoidNode>(x);
  if (name == "Relu")
    return op.unary<ReluNode>(x);
  if (name == "HardSigmoid")
    return op.make<HardSigmoidNode>(x, alpha, beta);
  if (name == "LeakyRelu")
    return op.make<LeakyReluNode>(x, alpha);
  if (name == "Elu")
    return op.make<EluNode>(x, alpha);
  if (name == "Softplus")
    return op.unary<SoftplusNode>(x);
  if (name == "Softsign")
    return op.div(x, op.add(op.unary<AbsNode>(x), 1));
  if (name == "ThresholdedRelu")
    return op.select(op.greater(x, alpha), x, op.number(x, 0));
  // Affine: alpha * x + beta. ScaledTanh: alpha * tanh(beta * x).
  if (name == "Affine")
    return op.add(op.mul(x, alpha), beta);
  return op.mul(op.unary<TanhNode>(op.mul(x, beta)), alpha);
}

//===- Time steps ---------------------------------------------------------===//

/// Whether a run decides how many sequences there are.
bool RecurrentImporter::isOpen() const { return input.getType().getExtent(1); }

/// Projects the inputs of all time steps: [length * batch, numGates * hidden],
/// including the biases of the input and those of the state that can be added
/// here.
llvm::Expected<NodeValue> RecurrentImporter::projectInputs(unsigned direction) {
  NodeValue isNeeded;
  if (skipsEndedSequences())
    isNeeded = stackSteps(op, running, isOpen());
  NodeValue rows = stackSteps(op, input, isOpen());
  Node *before = getLastNode();
  NodeValue gates = projectRows(rows);
  weights.inputBias = weights.stateBias = {};
  NodeValue bias = op.input(3);
  if (!bias) {
    predicateRows(before, rows, isNeeded);
    return op.finish(gates);
  }
  int64_t size = numGates * hidden;
  Dims expected = {int64_t(isReverse.size()), 2 * size};
  if (bias.getShape() != DimsRef(expected))
    return makeError("input 3 has the shape {0}; accepted: {1}",
                     formatShape(bias.getShape()), formatShape(expected));
  bias = getDirection(bias, direction);
  weights.inputBias = op.slice(bias, 0, 0, size);
  weights.stateBias = op.slice(bias, 0, size, size);
  gates = addBiases(gates, getSeparateBiasGate());
  predicateRows(before, rows, isNeeded);
  return op.finish(gates);
}

NodeValue RecurrentImporter::clearUnusedRows(NodeValue rows) {
  if (!computedLengths && lengths.empty())
    return rows;
  NodeValue largest =
      computedLengths ? op.cast(op.reduce(computedLengths, "max", {0, 1},
                                          /*keepDims=*/false),
                                ElemKind::Int32)
                      : op.scalar(ElemKind::Int32, *llvm::max_element(lengths));
  NodeValue steps =
      op.table(ElemKind::Int32, {length * batch, 1}, [&](DimsRef index) {
        return double(isOpen() ? index[0] % length : index[0] / batch);
      });
  return rows ? op.select(op.less(steps, largest), rows, op.number(rows, 0))
              : rows;
}

/// Computes which sequences have which time steps.
llvm::Error RecurrentImporter::findRunning() {
  if (computedLengths) {
    ElemKind kind = computedLengths.getElemKind();
    NodeValue steps = op.iota(kind, 2, 0, length);
    running = op.less(steps, op.reshape(computedLengths, {1, batch}));
    return op.takeError();
  }
  if (lengths.empty())
    return llvm::Error::success();
  Tensor mask(Type(ElemKind::Bool, {length, batch}));
  for (int64_t i = 0; i < length * batch; ++i)
    mask.data<bool>()[size_t(i)] = lengths[size_t(i % batch)] > i / batch;
  running = op.createConstant(std::move(mask));
  return llvm::Error::success();
}

/// Whether nothing is computed for sequences that have ended: not where one
/// sequence decides about others' results.
bool RecurrentImporter::skipsEndedSequences() const {
  return running && !clearsEndedStates();
}

/// Returns whether each sequence has time step \p t, bool [batch].
NodeValue RecurrentImporter::getRunning(int64_t t) {
  return op.reshape(op.slice(running, 0, t, 1), {batch});
}

bool RecurrentImporter::mayHaveEnded(int64_t t) const {
  return computedLengths ||
         llvm::any_of(lengths, [&](int64_t value) { return value <= t; });
}

/// Selects \p next for sequences that have time step \p t, \p last for others.
CellState RecurrentImporter::selectRunning(const CellState &next,
                                           const CellState &last, int64_t t) {
  if (!mayHaveEnded(t))
    return next;
  NodeValue isRunning = op.reshape(getRunning(t), {batch, 1});
  CellState result;
  result.h = op.select(isRunning, next.h, last.h);
  if (hasCell())
    result.c = op.select(isRunning, next.c, last.c);
  return result;
}

llvm::Error RecurrentImporter::runDirection(unsigned direction,
                                            bool isReverse) {
  size_t count = defaultActivations.size();
  current.assign(activations.begin() + direction * count,
                 activations.begin() + (direction + 1) * count);
  GLOWISH_RETURN_IF_ERROR(readWeights(direction));
  peepholes = NodeValue();
  if (hasCell() && op.hasInput(7)) {
    GLOWISH_ASSIGN_OR_RETURN(peepholes, op.getInput(7));
    Dims expected = {int64_t(this->isReverse.size()), 3 * hidden};
    if (peepholes.getShape() != DimsRef(expected))
      return makeError("input 7 has the shape {0}; accepted: {1}",
                       formatShape(peepholes.getShape()),
                       formatShape(expected));
    peepholes = getDirection(peepholes, direction);
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue gates, projectInputs(direction));
  CellState state;
  GLOWISH_ASSIGN_OR_RETURN(state.h, readState(5, direction));
  if (hasCell()) {
    GLOWISH_ASSIGN_OR_RETURN(state.c, readState(6, direction));
  }
  std::vector<NodeValue> steps(length);
  for (int64_t i = 0; i < length; ++i) {
    int64_t t = isReverse ? length - 1 - i : i;
    NodeValue now = takeStep(op, gates, length, isOpen(), t);
    CellState seen = state;
    if (clearsEndedStates() && !isReverse && t > 0)
      seen.h = steps[t - 1];
    NodeValue isNeeded;
    if (skipsEndedSequences() && mayHaveEnded(t))
      isNeeded = getRunning(t);
    Node *before = getLastNode();
    CellState computed = step(now, seen);
    predicateRows(before, {now, seen.h, seen.c}, isNeeded);
    CellState next = selectRunning(computed, state, t);
    GLOWISH_RETURN_IF_ERROR(op.takeError());
    steps[t] = next.h;
    // The output is 0 after the end of a sequence.
    if (mayHaveEnded(t)) {
      CellState zeros = {op.number(next.h, 0), op.number(next.h, 0)};
      steps[t] = selectRunning(next, zeros, t).h;
    }
    state = next;
  }
  outputs.push_back(std::move(steps));
  finals.push_back(state);
  return llvm::Error::success();
}

//===- Results ------------------------------------------------------------===//

/// Sets Y [length, directions, batch, hidden], and Y_h and Y_c [directions,
/// batch, hidden]; with layout 1 the batch comes first.
llvm::Error RecurrentImporter::setOutputs() {
  if (op.wantsOutput(0)) {
    op.nameAfterOutput(0);
    std::vector<NodeValue> directions;
    for (const std::vector<NodeValue> &steps : outputs)
      directions.push_back(stackAlong(op, steps, 0));
    NodeValue all = stackAlong(op, directions, 1);
    if (all && openLength) {
      ExtentList extents(all.getType().getExtents());
      extents.resize(4);
      extents[0] = openLength;
      all = op.declareExtents(all, all.getType().withExtents(extents));
    }
    if (isBatchFirst)
      all = op.transpose(all, {2, 0, 1, 3});
    GLOWISH_RETURN_IF_ERROR(op.setOutput(0, all));
  }
  for (unsigned i = 1; i < (hasCell() ? 3u : 2u); ++i) {
    if (!op.wantsOutput(i))
      continue;
    op.nameAfterOutput(i);
    std::vector<NodeValue> directions;
    directions.reserve(finals.size());
    for (const CellState &state : finals)
      directions.push_back(i == 1 ? state.h : state.c);
    NodeValue all = stackAlong(op, directions, 0);
    if (isBatchFirst)
      all = op.transpose(all, {1, 0, 2});
    GLOWISH_RETURN_IF_ERROR(op.setOutput(i, all));
  }
  return llvm::Error::success();
}

llvm::Error RecurrentImporter::import() {
  GLOWISH_RETURN_IF_ERROR(readAttrs());
  GLOWISH_RETURN_IF_ERROR(readShapes());
  GLOWISH_RETURN_IF_ERROR(readLengths());
  GLOWISH_RETURN_IF_ERROR(findRunning());
  for (unsigned i = 0; i < isReverse.size(); ++i)
    GLOWISH_RETURN_IF_ERROR(runDirection(i, isReverse[i]));
  return setOutputs();
}
