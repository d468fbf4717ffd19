//===- RecurrentCells.cpp - Time steps of LSTM, GRU and RNN ---------------===//

#include "Common/RecurrentCells.h"
#include "llvm/ADT/DenseSet.h"

using namespace glowish;

NodeValue RecurrentCell::activate(unsigned function, NodeValue x) {
  return function == 0 ? b.unary<SigmoidNode>(x) : b.unary<TanhNode>(x);
}

NodeValue RecurrentCell::projectState(NodeValue h, int64_t first,
                                      int64_t count) {
  NodeValue rows = b.slice(weights.state, 0, first * hidden, count * hidden);
  return b.matMul(h, b.transpose(rows, {1, 0}));
}

NodeValue RecurrentCell::addBiases(NodeValue gates, int64_t numJoint) {
  if (!weights.inputBias || !weights.stateBias)
    return gates;
  int64_t size = weights.inputBias.getShape()[0], joint = numJoint * hidden;
  NodeValue bias = b.add(b.slice(weights.inputBias, 0, 0, joint),
                         b.slice(weights.stateBias, 0, 0, joint));
  if (joint < size)
    bias =
        b.concat({bias, b.slice(weights.inputBias, 0, joint, size - joint)}, 0);
  return b.add(gates, bias);
}

Node *RecurrentCell::getLastNode() {
  Function::NodeList &nodes = b.getFunction().getNodes();
  return nodes.empty() ? nullptr : &nodes.back();
}

void RecurrentCell::predicateRows(Node *last, llvm::ArrayRef<NodeValue> values,
                                  NodeValue predicate) {
  if (!predicate)
    return;
  Function::NodeList &nodes = b.getFunction().getNodes();
  llvm::DenseSet<NodeValue> rows(values.begin(), values.end());
  for (auto it = last ? std::next(last->getIterator()) : nodes.begin();
       it != nodes.end(); ++it) {
    bool readsRows = llvm::any_of(it->getOperands(), [&](NodeValue operand) {
      return operand && rows.contains(operand);
    });
    if (!readsRows || &*it == predicate.node)
      continue;
    it->setPredicate(predicate);
    for (unsigned i = 0; i < it->getNumResults(); ++i)
      rows.insert(it->getResult(i));
  }
}

CellState RecurrentCell::stepLSTM(NodeValue gates, const CellState &state,
                                  const LSTMForm &form) {
  gates = b.add(gates, projectState(state.h, 0, 4));
  auto addPeephole = [&](NodeValue gate, NodeValue c, int64_t number) {
    if (!form.peepholes)
      return gate;
    NodeValue own = b.slice(form.peepholes, 0, number * hidden, hidden);
    return b.add(gate, b.mul(c, own));
  };
  NodeValue in = activate(0, addPeephole(take(gates, form.in), state.c, 0));
  NodeValue forget =
      form.isCoupled
          ? b.sub(1, in)
          : activate(0, addPeephole(take(gates, form.forget), state.c, 2));
  NodeValue candidate = activate(1, take(gates, form.candidate));
  CellState next;
  next.c = b.add(b.mul(forget, state.c), b.mul(in, candidate));
  NodeValue out = activate(0, addPeephole(take(gates, form.out), next.c, 1));
  next.h = b.mul(out, activate(2, next.c));
  return next;
}

CellState RecurrentCell::stepGRU(NodeValue gates, const CellState &state,
                                 const GRUForm &form) {
  NodeValue joint =
      activate(0, b.add(take(gates, 0, 2), projectState(state.h, 0, 2)));
  NodeValue reset = take(joint, form.reset), update = take(joint, form.update);
  NodeValue recurrent;
  if (form.isResetLate) {
    recurrent = projectState(state.h, 2, 1);
    if (weights.stateBias)
      recurrent =
          b.add(recurrent, b.slice(weights.stateBias, 0, 2 * hidden, hidden));
    recurrent = b.mul(reset, recurrent);
  } else {
    recurrent = projectState(b.mul(reset, state.h), 2, 1);
  }
  NodeValue candidate = activate(1, b.add(take(gates, 2), recurrent));
  CellState next;
  next.h = b.add(b.mul(b.sub(1, update), candidate), b.mul(update, state.h));
  return next;
}

CellState RecurrentCell::stepRNN(NodeValue gates, const CellState &state) {
  CellState next;
  next.h = activate(0, b.add(gates, projectState(state.h, 0, 1)));
  return next;
}

NodeValue glowish::stackSteps(NodeBuilder &b, NodeValue sequences,
                              bool isOpen) {
  if (!sequences)
    return sequences;
  Dims shape(sequences.getShape());
  shape[1] *= shape[0];
  if (isOpen)
    sequences = b.swapDims(sequences, 0, 1);
  return b.reshape(sequences, DimsRef(shape).drop_front());
}

NodeValue glowish::takeStep(NodeBuilder &b, NodeValue rows, int64_t length,
                            bool isOpen, int64_t t) {
  if (!rows)
    return rows;
  Dims shape(rows.getShape());
  shape[0] /= length;
  if (!isOpen)
    return b.slice(rows, 0, t * shape[0], shape[0]);
  Dims steps = shape;
  steps.insert(steps.begin() + 1, length);
  return b.reshape(b.slice(b.reshape(rows, steps), 1, t, 1), shape);
}

NodeValue glowish::stackAlong(NodeBuilder &b, llvm::ArrayRef<NodeValue> parts,
                              int64_t axis) {
  std::vector<NodeValue> slices;
  for (NodeValue part : parts)
    slices.push_back(b.unsqueeze(part, axis));
  return b.concat(slices, axis);
}
