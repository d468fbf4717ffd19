//===- Control.cpp - Branches and loops in StableHLO ----------------------===//

#include "MLIR/StableHlo/StableHloWriter.h"

using namespace glowish;

static const MlirForm ifForm = [](StableHloWriter &w, const IfNode &node) {
  MlirValue condition = w.reshape(w.get(node.getCondition()), {});
  return w.ifElse(
      condition, node.getTypes(),
      [&] { return w.writeBranch(node, node.getThenBody()); },
      [&] { return w.writeBranch(node, node.getElseBody()); });
};

//===- Loop ---------------------------------------------------------------===//

/// What the loop carries at first: the number of the iteration, the condition,
/// the states and what scans have so far.
static MlirValues getStart(StableHloWriter &w, const LoopNode &node) {
  NodeValue condition = node.getCondition();
  size_t numStates = size_t(node.getNumStates());
  MlirValues start = {w.splat(Type(ElemKind::Int64, {}), 0),
                      condition ? w.reshape(w.get(condition), {})
                                : w.splat(Type(ElemKind::Bool, {}), 1)};
  auto statesAndCaptures = node.getValues();
  for (size_t i = 0; i < numStates; ++i)
    start.push_back(w.get(statesAndCaptures[i]));
  for (size_t i = numStates; i + 1 < node.getNumResults(); ++i)
    start.push_back(w.splat(node.getType(unsigned(i)), 0));
  return start;
}

static MlirValues writeNext(StableHloWriter &w, const LoopNode &node,
                            const MlirValues &carried) {
  size_t numScalars = 2 + size_t(node.getNumStates());
  const MlirValue &number = carried[0];
  MlirValues results =
      w.writeIteration(node, llvm::ArrayRef(carried).take_front(numScalars));
  MlirValues next = {w.mapSame(ElemKind::Int64, number, [](auto elements) {
    return elements[0] + 1.0;
  })};
  next.insert(next.end(), results.begin(), results.begin() + numScalars - 1);
  MlirValue zero = w.splat(number.type, 0);
  for (size_t i = numScalars; i < carried.size(); ++i) {
    const MlirValue &scan = carried[i];
    Dims row(scan.getShape());
    row[0] = 1;
    MlirValues starts(row.size(), zero);
    starts[0] = number;
    next.push_back(scan.type.getNumElements() == 0
                       ? scan
                       : w.dynamicUpdateSlice(
                             scan, w.reshape(results[i - 1], row), starts));
  }
  return next;
}

/// A loop ends after its largest number of iterations: StableHLO has nothing
/// that would end the run where it should go on.
static const MlirForm loop = [](StableHloWriter &w, const LoopNode &node) {
  MlirValue bound =
      w.splat(Type(ElemKind::Int64, {}), double(node.getMaxTripCount()));
  if (node.getTripCount())
    bound = w.mapSame(
        ElemKind::Int64, {w.reshape(w.get(node.getTripCount()), {}), bound},
        [](auto elements) { return min(elements[0], elements[1]); });
  MlirValues results = w.whileLoop(
      getStart(w, node),
      [&](const MlirValues &carried) {
        return w.mapSame(ElemKind::Bool, {carried[0], bound, carried[1]},
                         [](auto elements) {
                           return elements[0] < elements[1] && elements[2];
                         });
      },
      [&](const MlirValues &carried) { return writeNext(w, node, carried); });
  // The number of iterations is the node's last result, and the loop's first.
  MlirValues ofNode(results.begin() + 2, results.end());
  ofNode.push_back(results[0]);
  return ofNode;
};
