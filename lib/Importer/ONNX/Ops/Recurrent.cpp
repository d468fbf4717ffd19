//===- Recurrent.cpp - What recurrent operators have in common ------------===//

#include "ONNX/Ops/Recurrent.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

/// Each step makes nodes of its own.
static constexpr int64_t maxSteps = 1 << 16;

//===- Attributes and operands -------------------------------------------===//

/// Parameters that a function has where the model states none.
static llvm::Expected<Activation> makeActivation(llvm::StringRef name) {
  if (name == "Tanh" || name == "Sigmoid" || name == "Relu" ||
      name == "Softsign")
    return Activation{name.str()};
  if (name == "HardSigmoid")
    return Activation{name.str(), 0.2, 0.5};
  if (name == "LeakyRelu")
    return Activation{name.str(), 0.01};
  if (name == "Elu" || name == "ThresholdedRelu" || name == "Affine" ||
      name == "ScaledTanh")
    return Activation{name.str(), 1.0};
  return makeError("activation '{0}' is not supported; accepted: Tanh, "
                   "Sigmoid, Relu, Softsign, HardSigmoid, LeakyRelu, Elu, "
                   "ThresholdedRelu, Affine, ScaledTanh",
                   name);
}

llvm::Error RecurrentImporter::readActivations(unsigned numDirections) {
  const onnx::AttributeProto *attr = op.findAttr("activations");
  size_t expected = defaultActivations.size() * numDirections;
  size_t count = attr ? size_t(attr->strings_size()) : 0;
  if (count && count != expected)
    return makeError("attribute 'activations' has {0} functions; accepted: {1}",
                     count, expected);
  std::vector<double> alphas, betas;
  if (op.hasAttr("activation_alpha")) {
    GLOWISH_TRY(alphas, op.getFloats("activation_alpha"));
  }
  if (op.hasAttr("activation_beta")) {
    GLOWISH_TRY(betas, op.getFloats("activation_beta"));
  }
  size_t nextAlpha = 0, nextBeta = 0;
  for (size_t i = 0; i < expected; ++i) {
    llvm::StringRef name = defaultActivations[i % defaultActivations.size()];
    if (count)
      name = attr->strings(int(i));
    GLOWISH_TRY(Activation activation, makeActivation(name));
    // Only functions that have a parameter use one up.
    bool hasAlpha = activation.alpha != 0;
    bool hasBeta =
        name == "HardSigmoid" || name == "Affine" || name == "ScaledTanh";
    if (hasAlpha && nextAlpha < alphas.size())
      activation.alpha = alphas[nextAlpha++];
    if (hasBeta && nextBeta < betas.size())
      activation.beta = betas[nextBeta++];
    else if (name == "ScaledTanh")
      activation.beta = 1.0;
    activations.push_back(activation);
  }
  return llvm::Error::success();
}

llvm::Error RecurrentImporter::readAttrs() {
  GLOWISH_TRY(std::string direction, op.getString("direction", "forward"));
  if (direction == "forward")
    isReverse = {false};
  else if (direction == "reverse")
    isReverse = {true};
  else if (direction == "bidirectional")
    isReverse = {false, true};
  else
    return makeError("attribute 'direction' is '{0}'; accepted: forward, "
                     "reverse, bidirectional",
                     direction);
  GLOWISH_CHECK(readActivations(isReverse.size()));
  GLOWISH_TRY(clip, op.getFloat("clip", 0));
  GLOWISH_TRY(int64_t layout, op.getInt("layout", 0));
  isBatchFirst = layout != 0;
  // Old versions say with it which outputs are wanted; their names do, too.
  op.ignoreAttrs({"output_sequence"});
  return readOwnAttrs();
}

llvm::Error RecurrentImporter::readShapes() {
  GLOWISH_TRY(input, op.getInput(0));
  if (input.getShape().size() != 3)
    return makeError("input 0 is {0}; accepted: rank 3", input.getType().str());
  if (isBatchFirst) {
    GLOWISH_TRY(input, op.transpose(input, {1, 0, 2}));
  }
  length = input.getShape()[0];
  if (length > maxSteps)
    return makeError("the sequence has {0} steps, which are written out; "
                     "accepted: at most {1}",
                     length, maxSteps);
  batch = input.getShape()[1];
  GLOWISH_TRY(NodeValue weights, op.getInput(1));
  GLOWISH_TRY(NodeValue states, op.getInput(2));
  int64_t directions = int64_t(isReverse.size());
  if (states.getShape().size() != 3)
    return makeError("input 2 is {0}; accepted: rank 3",
                     states.getType().str());
  hidden = states.getShape()[2];
  GLOWISH_TRY(int64_t stated, op.getInt("hidden_size", hidden));
  int64_t rows = 0;
  if (stated != hidden || hidden < 1 || length < 1 ||
      llvm::MulOverflow(numGates, hidden, rows))
    return makeError("the hidden size is {0}, 'hidden_size' says {1}, and the "
                     "sequence has {2} steps; accepted: equal sizes, of at "
                     "least 1, and at least 1 step",
                     hidden, stated, length);
  Dims expected[] = {{directions, rows, input.getShape()[2]},
                     {directions, rows, hidden}};
  NodeValue values[] = {weights, states};
  for (unsigned i = 0; i < 2; ++i)
    if (values[i].getShape() != DimsRef(expected[i]))
      return makeError("input {0} has the shape {1}; accepted: {2}", i + 1,
                       formatShape(values[i].getShape()),
                       formatShape(expected[i]));
  return llvm::Error::success();
}

llvm::Error RecurrentImporter::readLengths() {
  if (!op.hasInput(4))
    return llvm::Error::success();
  GLOWISH_TRY(NodeValue operand, op.getInput(4));
  if (!llvm::isa<Constant>(operand.node)) {
    GLOWISH_TRY(computedLengths, op.reshape(operand, {batch, 1}, ".lengths"));
    return llvm::Error::success();
  }
  GLOWISH_TRY(lengths, op.getConstantInts(4));
  if (int64_t(lengths.size()) != batch)
    return makeError("input 4 has {0} lengths; accepted: {1}", lengths.size(),
                     batch);
  for (int64_t value : lengths)
    if (value < 0 || value > length)
      return makeError("input 4 has the length {0}; accepted: 0 to {1}", value,
                       length);
  if (llvm::all_of(lengths, [&](int64_t value) { return value == length; }))
    lengths.clear();
  return llvm::Error::success();
}

/// Direction \p direction of [directions, ...].
llvm::Expected<NodeValue> RecurrentImporter::ofDirection(NodeValue value,
                                                         unsigned direction) {
  GLOWISH_TRY(value, slice(value, 0, direction, 1));
  return op.reshape(value, value.getShape().drop_front(), ".direction");
}

llvm::Expected<NodeValue> RecurrentImporter::readState(unsigned index,
                                                       unsigned direction) {
  NodeValue value = op.getOptionalInput(index);
  if (!value) {
    Type type(input.getElemKind(), {batch, hidden});
    GLOWISH_CHECK(op.checkBudget(type.getSizeInBytes()));
    return op.createConstant(Tensor(type));
  }
  if (isBatchFirst && value.getShape().size() == 3) {
    GLOWISH_TRY(value, op.transpose(value, {1, 0, 2}));
  }
  Dims expected = {int64_t(isReverse.size()), batch, hidden};
  if (value.getShape() != DimsRef(expected))
    return makeError("input {0} has the shape {1}; accepted: {2}", index,
                     formatShape(value.getShape()), formatShape(expected));
  return ofDirection(value, direction);
}

//===- Pieces of steps ---------------------------------------------------===//

llvm::Expected<NodeValue> RecurrentImporter::slice(NodeValue value,
                                                   unsigned axis, int64_t start,
                                                   int64_t size) {
  std::vector<int64_t> starts(value.getShape().size(), 0);
  std::vector<int64_t> steps(value.getShape().size(), 1);
  std::vector<int64_t> sizes(value.getShape());
  starts[axis] = start;
  sizes[axis] = size;
  return op.create<SliceNode>(value, starts, sizes, steps);
}

llvm::Expected<NodeValue>
RecurrentImporter::take(NodeValue gates, int64_t first, int64_t count) {
  return slice(gates, 1, first * hidden, count * hidden);
}

llvm::Expected<NodeValue> RecurrentImporter::project(NodeValue h, int64_t first,
                                                     int64_t count) {
  GLOWISH_TRY(NodeValue rows,
              slice(recurrence, 0, first * hidden, count * hidden));
  GLOWISH_TRY(rows, op.transpose(rows, {1, 0}));
  return op.create<MatMulNode>(h, rows);
}

llvm::Expected<NodeValue> RecurrentImporter::activate(unsigned function,
                                                      NodeValue x) {
  const Activation &activation = current[function];
  llvm::StringRef name = activation.name;
  ElemKind kind = x.getElemKind();
  NodeValue alpha = op.createScalar(kind, activation.alpha);
  NodeValue beta = op.createScalar(kind, activation.beta);
  if (clip > 0) {
    GLOWISH_TRY(x, op.create<ClipNode>(x, -clip, clip));
  }
  if (name == "Tanh")
    return op.create<TanhNode>(x);
  if (name == "Sigmoid")
    return op.create<SigmoidNode>(x);
  if (name == "Relu")
    return op.create<ReluNode>(x);
  if (name == "HardSigmoid")
    return op.create<HardSigmoidNode>(x, activation.alpha, activation.beta);
  if (name == "LeakyRelu")
    return op.create<LeakyReluNode>(x, activation.alpha);
  if (name == "Elu")
    return op.create<EluNode>(x, activation.alpha);
  if (name == "Softsign") {
    GLOWISH_TRY(NodeValue size, op.create<AbsNode>(x));
    GLOWISH_TRY(size, op.create<AddNode>(size, op.createScalar(kind, 1)));
    return op.create<DivNode>(x, size);
  }
  if (name == "ThresholdedRelu") {
    GLOWISH_TRY(NodeValue isLarger, op.create<GreaterNode>(x, alpha));
    return op.create<SelectNode>(isLarger, x, op.createScalar(kind, 0));
  }
  // Affine: alpha * x + beta. ScaledTanh: alpha * tanh(beta * x).
  if (name == "Affine") {
    GLOWISH_TRY(NodeValue scaled, op.create<MulNode>(x, alpha));
    return op.create<AddNode>(scaled, beta);
  }
  GLOWISH_TRY(NodeValue scaled, op.create<MulNode>(x, beta));
  GLOWISH_TRY(scaled, op.create<TanhNode>(scaled));
  return op.create<MulNode>(scaled, alpha);
}

//===- Time --------------------------------------------------------------===//

/// [length * batch, numGates * hidden], with the biases of the input, and those
/// of the state that can be added at once.
llvm::Expected<NodeValue> RecurrentImporter::projectInputs(unsigned direction) {
  GLOWISH_TRY(NodeValue weights, op.getInput(1));
  GLOWISH_TRY(weights, ofDirection(weights, direction));
  GLOWISH_TRY(weights, op.transpose(weights, {1, 0}));
  GLOWISH_TRY(
      NodeValue rows,
      op.reshape(input, {length * batch, input.getShape()[2]}, ".rows"));
  GLOWISH_TRY(NodeValue gates, op.create<MatMulNode>(rows, weights));
  stateBias = NodeValue();
  NodeValue bias = op.getOptionalInput(3);
  if (!bias)
    return gates;
  int64_t size = numGates * hidden;
  Dims expected = {int64_t(isReverse.size()), 2 * size};
  if (bias.getShape() != DimsRef(expected))
    return makeError("input 3 has the shape {0}; accepted: {1}",
                     formatShape(bias.getShape()), formatShape(expected));
  GLOWISH_TRY(bias, ofDirection(bias, direction));
  GLOWISH_TRY(NodeValue inputBias, slice(bias, 0, 0, size));
  GLOWISH_TRY(stateBias, slice(bias, 0, size, size));
  int64_t joint = getSeparateBiasGate() * hidden;
  NodeValue sum = inputBias;
  if (joint == size) {
    GLOWISH_TRY(sum, op.create<AddNode>(inputBias, stateBias));
  } else {
    GLOWISH_TRY(NodeValue front, slice(inputBias, 0, 0, joint));
    GLOWISH_TRY(NodeValue stateFront, slice(stateBias, 0, 0, joint));
    GLOWISH_TRY(front, op.create<AddNode>(front, stateFront));
    GLOWISH_TRY(NodeValue back, slice(inputBias, 0, joint, size - joint));
    llvm::SmallVector<NodeValue, 2> parts = {front, back};
    GLOWISH_TRY(sum, op.create<ConcatNode>(parts, int64_t(0)));
  }
  return op.create<AddNode>(gates, sum);
}

bool RecurrentImporter::mayBeOver(int64_t t) const {
  return computedLengths ||
         llvm::any_of(lengths, [&](int64_t value) { return value <= t; });
}

/// \p next for sequences that have a step \p t, \p last for the others.
llvm::Expected<State> RecurrentImporter::hold(const State &next,
                                              const State &last, int64_t t) {
  if (!mayBeOver(t))
    return next;
  NodeValue isRunning;
  if (computedLengths) {
    NodeValue time = op.createScalar(computedLengths.getElemKind(), double(t));
    GLOWISH_TRY(isRunning, op.create<GreaterNode>(computedLengths, time));
  } else {
    Tensor mask(Type(ElemKind::Bool, {batch, 1}));
    for (int64_t i = 0; i < batch; ++i)
      mask.data<bool>()[i] = lengths[i] > t;
    isRunning = op.createConstant(std::move(mask));
  }
  State result;
  GLOWISH_TRY(result.h, op.create<SelectNode>(isRunning, next.h, last.h));
  if (hasCell()) {
    GLOWISH_TRY(result.c, op.create<SelectNode>(isRunning, next.c, last.c));
  }
  return result;
}

llvm::Error RecurrentImporter::runDirection(unsigned direction,
                                            bool isReverse) {
  size_t count = defaultActivations.size();
  current.assign(activations.begin() + direction * count,
                 activations.begin() + (direction + 1) * count);
  GLOWISH_TRY(NodeValue states, op.getInput(2));
  GLOWISH_TRY(recurrence, ofDirection(states, direction));
  peepholes = NodeValue();
  if (hasCell() && op.hasInput(7)) {
    GLOWISH_TRY(peepholes, op.getInput(7));
    Dims expected = {int64_t(this->isReverse.size()), 3 * hidden};
    if (peepholes.getShape() != DimsRef(expected))
      return makeError("input 7 has the shape {0}; accepted: {1}",
                       formatShape(peepholes.getShape()),
                       formatShape(expected));
    GLOWISH_TRY(peepholes, ofDirection(peepholes, direction));
  }
  GLOWISH_TRY(NodeValue gates, projectInputs(direction));
  State state;
  GLOWISH_TRY(state.h, readState(5, direction));
  if (hasCell()) {
    GLOWISH_TRY(state.c, readState(6, direction));
  }
  std::vector<NodeValue> steps(length);
  for (int64_t i = 0; i < length; ++i) {
    int64_t t = isReverse ? length - 1 - i : i;
    GLOWISH_TRY(NodeValue now, slice(gates, 0, t * batch, batch));
    GLOWISH_TRY(State next, step(now, state));
    GLOWISH_TRY(next, hold(next, state, t));
    steps[t] = next.h;
    // A sequence that is over has zeros in the output.
    if (mayBeOver(t)) {
      State zeros = {op.createScalar(next.h.getElemKind(), 0),
                     op.createScalar(next.h.getElemKind(), 0)};
      GLOWISH_TRY(State shown, hold(next, zeros, t));
      steps[t] = shown.h;
    }
    state = next;
  }
  outputs.push_back(std::move(steps));
  finals.push_back(state);
  return llvm::Error::success();
}

//===- Results -----------------------------------------------------------===//

/// Tensors of one shape, stacked on a new dimension \p axis.
llvm::Expected<NodeValue>
RecurrentImporter::stackDirections(llvm::ArrayRef<NodeValue> parts,
                                   unsigned axis) {
  Dims shape(parts[0].getShape());
  shape.insert(shape.begin() + axis, 1);
  llvm::SmallVector<NodeValue, 8> stacked;
  for (NodeValue part : parts) {
    GLOWISH_TRY(part, op.reshape(part, shape, ".stacked"));
    stacked.push_back(part);
  }
  if (stacked.size() == 1)
    return stacked[0];
  return op.create<ConcatNode>(stacked, int64_t(axis));
}

/// Y [length, directions, batch, hidden], Y_h and Y_c [directions, batch,
/// hidden]; with layout 1 the batch comes first.
llvm::Error RecurrentImporter::setOutputs() {
  if (op.wantsOutput(0)) {
    op.nameAfterOutput(0);
    std::vector<NodeValue> directions;
    for (const std::vector<NodeValue> &steps : outputs) {
      GLOWISH_TRY(NodeValue all, stackDirections(steps, 0));
      directions.push_back(all);
    }
    GLOWISH_TRY(NodeValue all, stackDirections(directions, 1));
    if (isBatchFirst) {
      GLOWISH_TRY(all, op.transpose(all, {2, 0, 1, 3}));
    }
    GLOWISH_CHECK(op.setOutput(0, all));
  }
  for (unsigned i = 1; i < (hasCell() ? 3u : 2u); ++i) {
    if (!op.wantsOutput(i))
      continue;
    op.nameAfterOutput(i);
    std::vector<NodeValue> directions;
    for (const State &state : finals)
      directions.push_back(i == 1 ? state.h : state.c);
    GLOWISH_TRY(NodeValue all, stackDirections(directions, 0));
    if (isBatchFirst) {
      GLOWISH_TRY(all, op.transpose(all, {1, 0, 2}));
    }
    GLOWISH_CHECK(op.setOutput(i, all));
  }
  return llvm::Error::success();
}

llvm::Error RecurrentImporter::import() {
  GLOWISH_CHECK(readAttrs());
  GLOWISH_CHECK(readShapes());
  GLOWISH_CHECK(readLengths());
  for (unsigned i = 0; i < isReverse.size(); ++i)
    GLOWISH_CHECK(runDirection(i, isReverse[i]));
  return setOutputs();
}
