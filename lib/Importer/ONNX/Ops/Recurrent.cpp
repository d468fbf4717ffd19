//===- Recurrent.cpp - Common parts of recurrent operators ----------------===//

#include "ONNX/Ops/Recurrent.h"

using namespace glowish;
using namespace glowish::onnximport;

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
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> names,
                           op.getStrings("activations"));
  size_t expected = defaultActivations.size() * numDirections;
  size_t count = names.size();
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
      name = names[i];
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
  if (length > maxUnrolledSteps)
    return makeError("the sequence has {0} steps, which are unrolled; "
                     "accepted: at most {1}",
                     length, maxUnrolledSteps);
  batch = input.getShape()[1];
  GLOWISH_ASSIGN_OR_RETURN(NodeValue weights, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue states, op.getInput(2));
  int64_t directions = int64_t(isReverse.size());
  if (states.getShape().size() != 3)
    return makeError("input 2 is {0}; accepted: rank 3",
                     states.getType().str());
  hidden = states.getShape()[areGatesLast() ? 1 : 2];
  GLOWISH_ASSIGN_OR_RETURN(int64_t stated, op.getInt("hidden_size", hidden));
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

NodeValue RecurrentImporter::getDirection(NodeValue value, unsigned direction) {
  value = c.slice(value, 0, direction, 1);
  return value ? c.reshape(value, value.getShape().drop_front()) : value;
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
  return c.finish(getDirection(value, direction));
}

//===- Weights and activations --------------------------------------------===//

llvm::Error RecurrentImporter::readWeights(unsigned direction) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue all, op.getInput(1));
  weights.input = getDirection(all, direction);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue states, op.getInput(2));
  weights.state = getDirection(states, direction);
  return c.takeError();
}

NodeValue RecurrentImporter::projectRows(NodeValue rows) {
  return c.matMul(rows, c.transpose(weights.input, {1, 0}));
}

NodeValue RecurrentImporter::activate(unsigned function, NodeValue x) {
  const Activation &activation = current[function];
  llvm::StringRef name = activation.name;
  double alpha = activation.alpha, beta = activation.beta;
  if (clip > 0)
    x = c.clip(x, -clip, clip);
  if (!x)
    return x;
  if (name == "Tanh")
    return c.unary<TanhNode>(x);
  if (name == "Sigmoid")
    return c.unary<SigmoidNode>(x);
  if (name == "Relu")
    return c.unary<ReluNode>(x);
  if (name == "HardSigmoid")
    return c.make<HardSigmoidNode>(x, alpha, beta);
  if (name == "LeakyRelu")
    return c.make<LeakyReluNode>(x, alpha);
  if (name == "Elu")
    return c.make<EluNode>(x, alpha);
  if (name == "Softsign")
    return c.div(x, c.add(c.unary<AbsNode>(x), 1));
  if (name == "ThresholdedRelu")
    return c.select(c.greater(x, alpha), x, c.number(x, 0));
  // Affine: alpha * x + beta. ScaledTanh: alpha * tanh(beta * x).
  if (name == "Affine")
    return c.add(c.mul(x, alpha), beta);
  return c.mul(c.unary<TanhNode>(c.mul(x, beta)), alpha);
}

//===- Time steps ---------------------------------------------------------===//

/// Projects the inputs of all time steps: [length * batch, numGates * hidden],
/// including the biases of the input and those of the state that can be added
/// here.
llvm::Expected<NodeValue> RecurrentImporter::projectInputs(unsigned direction) {
  NodeValue gates =
      projectRows(c.reshape(input, {length * batch, input.getShape()[2]}));
  weights.inputBias = weights.stateBias = {};
  NodeValue bias = op.getOptionalInput(3);
  if (!bias)
    return c.finish(gates);
  int64_t size = numGates * hidden;
  Dims expected = {int64_t(isReverse.size()), 2 * size};
  if (bias.getShape() != DimsRef(expected))
    return makeError("input 3 has the shape {0}; accepted: {1}",
                     formatShape(bias.getShape()), formatShape(expected));
  bias = getDirection(bias, direction);
  weights.inputBias = c.slice(bias, 0, 0, size);
  weights.stateBias = c.slice(bias, 0, size, size);
  return c.finish(addBiases(gates, getSeparateBiasGate()));
}

NodeValue RecurrentImporter::clearUnusedRows(NodeValue rows) {
  if (!computedLengths && lengths.empty())
    return rows;
  NodeValue largest =
      computedLengths
          ? c.cast(c.reduce(computedLengths, "max", {0, 1}, /*keepDims=*/false),
                   ElemKind::Int32)
          : c.scalar(ElemKind::Int32, *llvm::max_element(lengths));
  NodeValue steps =
      c.table(ElemKind::Int32, {length * batch, 1},
              [&](DimsRef index) { return double(index[0] / batch); });
  return rows ? c.select(c.less(steps, largest), rows, c.number(rows, 0))
              : rows;
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
  NodeValue isRunning;
  if (computedLengths) {
    isRunning = c.greater(computedLengths, double(t));
  } else {
    Tensor mask(Type(ElemKind::Bool, {batch, 1}));
    for (int64_t i = 0; i < batch; ++i)
      mask.data<bool>()[i] = lengths[i] > t;
    isRunning = op.createConstant(std::move(mask));
  }
  CellState result;
  result.h = c.select(isRunning, next.h, last.h);
  if (hasCell())
    result.c = c.select(isRunning, next.c, last.c);
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
    NodeValue now = c.slice(gates, 0, t * batch, batch);
    CellState seen = state;
    if (clearsEndedStates() && !isReverse && t > 0)
      seen.h = steps[t - 1];
    CellState next = selectRunning(step(now, seen), state, t);
    GLOWISH_RETURN_IF_ERROR(c.takeError());
    steps[t] = next.h;
    // The output is 0 after the end of a sequence.
    if (mayHaveEnded(t)) {
      CellState zeros = {c.number(next.h, 0), c.number(next.h, 0)};
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
      directions.push_back(stackAlong(c, steps, 0));
    NodeValue all = stackAlong(c, directions, 1);
    if (isBatchFirst)
      all = c.transpose(all, {2, 0, 1, 3});
    GLOWISH_RETURN_IF_ERROR(c.setOutput(0, all));
  }
  for (unsigned i = 1; i < (hasCell() ? 3u : 2u); ++i) {
    if (!op.wantsOutput(i))
      continue;
    op.nameAfterOutput(i);
    std::vector<NodeValue> directions;
    directions.reserve(finals.size());
    for (const CellState &state : finals)
      directions.push_back(i == 1 ? state.h : state.c);
    NodeValue all = stackAlong(c, directions, 0);
    if (isBatchFirst)
      all = c.transpose(all, {1, 0, 2});
    GLOWISH_RETURN_IF_ERROR(c.setOutput(i, all));
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
