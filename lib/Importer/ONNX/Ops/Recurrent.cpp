//===- Recurrent.cpp - Common parts of recurrent operators ----------------===//

#include "ONNX/Ops/Recurrent.h"
#include "ONNX/Composer.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

/// Each time step is unrolled.
static constexpr int64_t maxSteps = 1 << 16;

//===- Attributes and operands --------------------------------------------===//

/// Returns activation \p name with its default parameters.
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
    GLOWISH_ASSIGN_OR_RETURN(alphas, op.getFloats("activation_alpha"));
  }
  if (op.hasAttr("activation_beta")) {
    GLOWISH_ASSIGN_OR_RETURN(betas, op.getFloats("activation_beta"));
  }
  size_t nextAlpha = 0, nextBeta = 0;
  for (size_t i = 0; i < expected; ++i) {
    llvm::StringRef name = defaultActivations[i % defaultActivations.size()];
    if (count)
      name = attr->strings(int(i));
    GLOWISH_ASSIGN_OR_RETURN(Activation activation, makeActivation(name));
    // Only functions with a parameter consume one.
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
  GLOWISH_ASSIGN_OR_RETURN(std::string direction,
                           op.getString("direction", "forward"));
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
  GLOWISH_RETURN_IF_ERROR(readActivations(isReverse.size()));
  GLOWISH_ASSIGN_OR_RETURN(clip, op.getFloat("clip", 0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t layout, op.getInt("layout", 0));
  isBatchFirst = layout != 0;
  // In old opsets, states which outputs are used; their names do, too.
  op.ignoreAttrs({"output_sequence"});
  return readOwnAttrs();
}

llvm::Error RecurrentImporter::readShapes() {
  GLOWISH_ASSIGN_OR_RETURN(input, op.getInput(0));
  if (input.getShape().size() != 3)
    return makeError("input 0 is {0}; accepted: rank 3", input.getType().str());
  if (isBatchFirst) {
    GLOWISH_ASSIGN_OR_RETURN(input, op.transpose(input, {1, 0, 2}));
  }
  length = input.getShape()[0];
  if (length > maxSteps)
    return makeError("the sequence has {0} steps, which are unrolled; "
                     "accepted: at most {1}",
                     length, maxSteps);
  batch = input.getShape()[1];
  GLOWISH_ASSIGN_OR_RETURN(NodeValue weights, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue states, op.getInput(2));
  int64_t directions = int64_t(isReverse.size());
  if (states.getShape().size() != 3)
    return makeError("input 2 is {0}; accepted: rank 3",
                     states.getType().str());
  hidden = states.getShape()[areGatesLast() ? 1 : 2];
  GLOWISH_ASSIGN_OR_RETURN(int64_t stated, op.getInt("hidden_size", hidden));
  int64_t rows = 0;
  if (stated != hidden || hidden < 1 || length < 1 ||
      llvm::MulOverflow(numGates, hidden, rows))
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
  if (!op.hasInput(4))
    return llvm::Error::success();
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
  if (llvm::all_of(lengths, [&](int64_t value) { return value == length; }))
    lengths.clear();
  return llvm::Error::success();
}

llvm::Expected<NodeValue> RecurrentImporter::getDirection(NodeValue value,
                                                          unsigned direction) {
  GLOWISH_ASSIGN_OR_RETURN(value, slice(value, 0, direction, 1));
  return op.reshape(value, value.getShape().drop_front(), ".direction");
}

llvm::Expected<NodeValue> RecurrentImporter::readState(unsigned index,
                                                       unsigned direction) {
  NodeValue value = op.getOptionalInput(index);
  if (!value) {
    Type type(input.getElemKind(), {batch, hidden});
    GLOWISH_RETURN_IF_ERROR(op.checkBudget(type.getSizeInBytes()));
    return op.createConstant(Tensor(type));
  }
  if (isBatchFirst && value.getShape().size() == 3) {
    GLOWISH_ASSIGN_OR_RETURN(value, op.transpose(value, {1, 0, 2}));
  }
  Dims expected = {int64_t(isReverse.size()), batch, hidden};
  if (value.getShape() != DimsRef(expected))
    return makeError("input {0} has the shape {1}; accepted: {2}", index,
                     formatShape(value.getShape()), formatShape(expected));
  return getDirection(value, direction);
}

//===- Building blocks of time steps --------------------------------------===//

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
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue rows, slice(recurrence, 0, first * hidden, count * hidden));
  GLOWISH_ASSIGN_OR_RETURN(rows, op.transpose(rows, {1, 0}));
  return op.create<MatMulNode>(h, rows);
}

llvm::Error RecurrentImporter::readWeights(unsigned direction) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue all, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(weights, getDirection(all, direction));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue states, op.getInput(2));
  GLOWISH_ASSIGN_OR_RETURN(recurrence, getDirection(states, direction));
  return llvm::Error::success();
}

llvm::Expected<NodeValue> RecurrentImporter::projectRows(NodeValue rows) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue transposed, op.transpose(weights, {1, 0}));
  return op.create<MatMulNode>(rows, transposed);
}

llvm::Expected<NodeValue> RecurrentImporter::activate(unsigned function,
                                                      NodeValue x) {
  const Activation &activation = current[function];
  llvm::StringRef name = activation.name;
  ElemKind kind = x.getElemKind();
  NodeValue alpha = op.createScalar(kind, activation.alpha);
  NodeValue beta = op.createScalar(kind, activation.beta);
  if (clip > 0) {
    GLOWISH_ASSIGN_OR_RETURN(x, op.create<ClipNode>(x, -clip, clip));
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
    GLOWISH_ASSIGN_OR_RETURN(NodeValue size, op.create<AbsNode>(x));
    GLOWISH_ASSIGN_OR_RETURN(
        size, op.create<AddNode>(size, op.createScalar(kind, 1)));
    return op.create<DivNode>(x, size);
  }
  if (name == "ThresholdedRelu") {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue isLarger,
                             op.create<GreaterNode>(x, alpha));
    return op.create<SelectNode>(isLarger, x, op.createScalar(kind, 0));
  }
  // Affine: alpha * x + beta. ScaledTanh: alpha * tanh(beta * x).
  if (name == "Affine") {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue scaled, op.create<MulNode>(x, alpha));
    return op.create<AddNode>(scaled, beta);
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scaled, op.create<MulNode>(x, beta));
  GLOWISH_ASSIGN_OR_RETURN(scaled, op.create<TanhNode>(scaled));
  return op.create<MulNode>(scaled, alpha);
}

//===- Time steps ---------------------------------------------------------===//

/// Projects the inputs of all time steps: [length * batch, numGates * hidden],
/// including the biases of the input and those of the state that can be added
/// here.
llvm::Expected<NodeValue> RecurrentImporter::projectInputs(unsigned direction) {
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue rows,
      op.reshape(input, {length * batch, input.getShape()[2]}, ".rows"));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue gates, projectRows(rows));
  stateBias = NodeValue();
  NodeValue bias = op.getOptionalInput(3);
  if (!bias)
    return gates;
  int64_t size = numGates * hidden;
  Dims expected = {int64_t(isReverse.size()), 2 * size};
  if (bias.getShape() != DimsRef(expected))
    return makeError("input 3 has the shape {0}; accepted: {1}",
                     formatShape(bias.getShape()), formatShape(expected));
  GLOWISH_ASSIGN_OR_RETURN(bias, getDirection(bias, direction));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue inputBias, slice(bias, 0, 0, size));
  GLOWISH_ASSIGN_OR_RETURN(stateBias, slice(bias, 0, size, size));
  int64_t joint = getSeparateBiasGate() * hidden;
  NodeValue sum = inputBias;
  if (joint == size) {
    GLOWISH_ASSIGN_OR_RETURN(sum, op.create<AddNode>(inputBias, stateBias));
  } else {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue front, slice(inputBias, 0, 0, joint));
    GLOWISH_ASSIGN_OR_RETURN(NodeValue stateFront,
                             slice(stateBias, 0, 0, joint));
    GLOWISH_ASSIGN_OR_RETURN(front, op.create<AddNode>(front, stateFront));
    GLOWISH_ASSIGN_OR_RETURN(NodeValue back,
                             slice(inputBias, 0, joint, size - joint));
    llvm::SmallVector<NodeValue, 2> parts = {front, back};
    GLOWISH_ASSIGN_OR_RETURN(sum, op.create<ConcatNode>(parts, int64_t(0)));
  }
  return op.create<AddNode>(gates, sum);
}

llvm::Expected<NodeValue> RecurrentImporter::clearUnusedRows(NodeValue rows) {
  if (!computedLengths && lengths.empty())
    return rows;
  Composer c(op);
  NodeValue largest =
      computedLengths
          ? c.cast(c.reduce(computedLengths, "max", {0, 1}, /*keepDims=*/false),
                   ElemKind::Int32)
          : c.scalar(ElemKind::Int32, *llvm::max_element(lengths));
  NodeValue steps =
      c.table(ElemKind::Int32, {length * batch, 1},
              [&](DimsRef index) { return double(index[0] / batch); });
  return c.finish(c.select(c.less(steps, largest), rows, c.number(rows, 0)));
}

bool RecurrentImporter::mayHaveEnded(int64_t t) const {
  return computedLengths ||
         llvm::any_of(lengths, [&](int64_t value) { return value <= t; });
}

/// Selects \p next for sequences that have time step \p t, \p last for others.
llvm::Expected<State> RecurrentImporter::selectRunning(const State &next,
                                                       const State &last,
                                                       int64_t t) {
  if (!mayHaveEnded(t))
    return next;
  NodeValue isRunning;
  if (computedLengths) {
    NodeValue time = op.createScalar(computedLengths.getElemKind(), double(t));
    GLOWISH_ASSIGN_OR_RETURN(isRunning,
                             op.create<GreaterNode>(computedLengths, time));
  } else {
    Tensor mask(Type(ElemKind::Bool, {batch, 1}));
    for (int64_t i = 0; i < batch; ++i)
      mask.data<bool>()[i] = lengths[i] > t;
    isRunning = op.createConstant(std::move(mask));
  }
  State result;
  GLOWISH_ASSIGN_OR_RETURN(result.h,
                           op.create<SelectNode>(isRunning, next.h, last.h));
  if (hasCell()) {
    GLOWISH_ASSIGN_OR_RETURN(result.c,
                             op.create<SelectNode>(isRunning, next.c, last.c));
  }
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
    GLOWISH_ASSIGN_OR_RETURN(peepholes, getDirection(peepholes, direction));
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue gates, projectInputs(direction));
  State state;
  GLOWISH_ASSIGN_OR_RETURN(state.h, readState(5, direction));
  if (hasCell()) {
    GLOWISH_ASSIGN_OR_RETURN(state.c, readState(6, direction));
  }
  std::vector<NodeValue> steps(length);
  for (int64_t i = 0; i < length; ++i) {
    int64_t t = isReverse ? length - 1 - i : i;
    GLOWISH_ASSIGN_OR_RETURN(NodeValue now, slice(gates, 0, t * batch, batch));
    State seen = state;
    if (clearsEndedStates() && !isReverse && t > 0)
      seen.h = steps[t - 1];
    GLOWISH_ASSIGN_OR_RETURN(State next, step(now, seen));
    GLOWISH_ASSIGN_OR_RETURN(next, selectRunning(next, state, t));
    steps[t] = next.h;
    // The output is 0 after the end of a sequence.
    if (mayHaveEnded(t)) {
      State zeros = {op.createScalar(next.h.getElemKind(), 0),
                     op.createScalar(next.h.getElemKind(), 0)};
      GLOWISH_ASSIGN_OR_RETURN(State shown, selectRunning(next, zeros, t));
      steps[t] = shown.h;
    }
    state = next;
  }
  outputs.push_back(std::move(steps));
  finals.push_back(state);
  return llvm::Error::success();
}

//===- Results ------------------------------------------------------------===//

/// Stacks tensors of one shape along a new dimension \p axis.
llvm::Expected<NodeValue>
RecurrentImporter::stackDirections(llvm::ArrayRef<NodeValue> parts,
                                   unsigned axis) {
  Dims shape(parts[0].getShape());
  shape.insert(shape.begin() + axis, 1);
  llvm::SmallVector<NodeValue, 8> stacked;
  for (NodeValue part : parts) {
    GLOWISH_ASSIGN_OR_RETURN(part, op.reshape(part, shape, ".stacked"));
    stacked.push_back(part);
  }
  if (stacked.size() == 1)
    return stacked[0];
  return op.create<ConcatNode>(stacked, int64_t(axis));
}

/// Sets Y [length, directions, batch, hidden], and Y_h and Y_c [directions,
/// batch, hidden]; with layout 1 the batch comes first.
llvm::Error RecurrentImporter::setOutputs() {
  if (op.wantsOutput(0)) {
    op.nameAfterOutput(0);
    std::vector<NodeValue> directions;
    for (const std::vector<NodeValue> &steps : outputs) {
      GLOWISH_ASSIGN_OR_RETURN(NodeValue all, stackDirections(steps, 0));
      directions.push_back(all);
    }
    GLOWISH_ASSIGN_OR_RETURN(NodeValue all, stackDirections(directions, 1));
    if (isBatchFirst) {
      GLOWISH_ASSIGN_OR_RETURN(all, op.transpose(all, {2, 0, 1, 3}));
    }
    GLOWISH_RETURN_IF_ERROR(op.setOutput(0, all));
  }
  for (unsigned i = 1; i < (hasCell() ? 3u : 2u); ++i) {
    if (!op.wantsOutput(i))
      continue;
    op.nameAfterOutput(i);
    std::vector<NodeValue> directions;
    directions.reserve(finals.size());
    for (const State &state : finals)
      directions.push_back(i == 1 ? state.h : state.c);
    GLOWISH_ASSIGN_OR_RETURN(NodeValue all, stackDirections(directions, 0));
    if (isBatchFirst) {
      GLOWISH_ASSIGN_OR_RETURN(all, op.transpose(all, {1, 0, 2}));
    }
    GLOWISH_RETURN_IF_ERROR(op.setOutput(i, all));
  }
  return llvm::Error::success();
}

llvm::Error RecurrentImporter::import() {
  GLOWISH_RETURN_IF_ERROR(readAttrs());
  GLOWISH_RETURN_IF_ERROR(readShapes());
  GLOWISH_RETURN_IF_ERROR(readLengths());
  for (unsigned i = 0; i < isReverse.size(); ++i)
    GLOWISH_RETURN_IF_ERROR(runDirection(i, isReverse[i]));
  return setOutputs();
}
