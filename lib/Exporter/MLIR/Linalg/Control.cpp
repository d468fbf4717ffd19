//===- Control.cpp - Branches and loops in scf ----------------------------===//

#include "MLIR/Linalg/LinalgWriter.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

//===- If -----------------------------------------------------------------===//

static const MlirForm ifForm = [](LinalgWriter &w, const IfNode &node) {
  return w.ifElse(
      w.extract(w.get(node.getCondition())), node.getTypes(),
      [&] { return w.writeBranch(node, node.getThenBody()); },
      [&] { return w.writeBranch(node, node.getElseBody()); });
};

//===- Loop ---------------------------------------------------------------===//

namespace {

/// scf.while, which carries the number of the iteration, the condition, the
/// states and what scans have so far.
class LoopWriter {
public:
  LoopWriter(LinalgWriter &w, const LoopNode &node)
      : w(w), node(node), numStates(unsigned(node.getNumStates())),
        numScans(node.getNumResults() - numStates - 1) {}

  MlirValues write();

private:
  /// How often the body would be executed, and the values that the loop starts
  /// with.
  MlirScalar getTripCount();
  MlirValues getStart();
  MlirValues writeIteration(const MlirValues &carried);
  /// What is above the body: `before` region and the parameters of the other.
  MlirValues beginLoop(const MlirValues &start, const MlirScalar &bound);
  MlirScalar isBelow(const MlirValues &carried, const MlirScalar &bound);

  LinalgWriter &w;
  const LoopNode &node;
  unsigned numStates, numScans;
};

} // namespace

MlirScalar LoopWriter::getTripCount() {
  if (node.getTripCount())
    return w.extract(w.get(node.getTripCount()));
  return w.scalar(ElemKind::Int64, double(node.getMaxTripCount()));
}

MlirValues LoopWriter::getStart() {
  MlirValues start = {w.fromScalar(w.scalar(ElemKind::Int64, 0)),
                      node.getCondition()
                          ? w.get(node.getCondition())
                          : w.fromScalar(w.scalar(ElemKind::Bool, 1))};
  for (unsigned i = 0; i < numStates; ++i)
    start.push_back(w.get(node.getValues()[i]));
  for (unsigned i = 0; i < numScans; ++i)
    start.push_back(w.splat(node.getType(numStates + i), 0));
  return start;
}

MlirScalar LoopWriter::isBelow(const MlirValues &carried,
                               const MlirScalar &bound) {
  return w.extract(carried[0]) < bound && w.extract(carried[1]);
}

MlirValues LoopWriter::writeIteration(const MlirValues &carried) {
  MlirValues results =
      w.writeIteration(node, llvm::ArrayRef(carried).take_front(2 + numStates));
  MlirScalar number = w.extract(carried[0]);
  MlirValues next = {w.fromScalar(number + 1.0)};
  next.insert(next.end(), results.begin(), results.begin() + 1 + numStates);
  for (unsigned i = 0; i < numScans; ++i) {
    const MlirValue &scan = carried[2 + numStates + i];
    const MlirValue &element = results[1 + numStates + i];
    if (scan.type.getNumElements() == 0) {
      next.push_back(scan);
      continue;
    }
    std::vector<std::string> offsets(scan.getRank(), "0");
    offsets[0] = w.toIndex(number);
    std::vector<int64_t> sizes(scan.getShape());
    sizes[0] = 1;
    next.push_back(w.insertSlice(element, scan, offsets, sizes));
  }
  return next;
}

MlirValues LoopWriter::beginLoop(const MlirValues &start,
                                 const MlirScalar &bound) {
  std::vector<std::string> starts, parameters;
  MlirValues before, after;
  for (const MlirValue &value : start) {
    before.push_back({w.newName(), value.type});
    starts.push_back(before.back().name + " = " + value.name);
    after.push_back({w.newName(), value.type});
    parameters.push_back(after.back().name + ": " + getTensorType(value.type));
  }
  llvm::SmallVector<Type, 4> types = getTypes(start);
  std::string typeList = "(" + getTensorTypes(types) + ")";
  MlirValues results =
      w.beginOp(types, "scf.while (" + llvm::join(starts, ", ") +
                           ") : " + typeList + " -> " + typeList + " {");
  w.indent();
  MlirScalar goesOn = isBelow(before, bound);
  w.line("scf.condition(" + goesOn.name + ") " + formatOperands(before));
  w.outdent();
  w.line("} do {");
  w.line("^bb0(" + llvm::join(parameters, ", ") + "):");
  w.region("scf.yield", [&] { return writeIteration(after); });
  w.line("}");
  return results;
}

MlirValues LoopWriter::write() {
  MlirScalar trips = getTripCount();
  MlirScalar bound = min(trips, double(node.getMaxTripCount()));
  MlirValues results = beginLoop(getStart(), bound);
  // Only a computed trip count or condition can let the loop go on.
  MlirScalar isDone = !isBelow(results, trips);
  w.line("cf.assert " + isDone.name + ", \"'" + node.getName() +
         "' goes on after " + llvm::Twine(node.getMaxTripCount()) +
         " iterations\"");
  // The number of iterations is the node's last result, and the loop's first.
  MlirValues ofNode(results.begin() + 2, results.end());
  ofNode.push_back(results[0]);
  return ofNode;
}

static const MlirForm loop = [](LinalgWriter &w, const LoopNode &node) {
  return LoopWriter(w, node).write();
};
