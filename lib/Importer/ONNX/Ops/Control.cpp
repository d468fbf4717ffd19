//===- Control.cpp - Import of If, Loop and Scan --------------------------===//

#include "ONNX/LoopImporter.h"
#include "ONNX/ModelFile.h"
#include "ONNX/ShapeInts.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::onnximport;
using Values = std::vector<NodeValue>;
using GraphValues = std::vector<GraphValue>;

static llvm::Error setOutputs(OpContext &op,
                              llvm::ArrayRef<GraphValue> values) {
  for (auto [i, value] : llvm::enumerate(values))
    GLOWISH_RETURN_IF_ERROR(op.setValue(i, value));
  return llvm::Error::success();
}

//===- If -----------------------------------------------------------------===//

/// Imports a branch into its body, whose results are the outputs, with one
/// result per element of a sequence.
static llvm::Expected<GraphValues> importBranch(BodyScope &scope) {
  GLOWISH_ASSIGN_OR_RETURN(GraphValues outputs, scope.importStaticValues({}));
  for (auto [output, value] :
       llvm::zip_equal(scope.getGraph().output(), outputs)) {
    if (!value.sequence)
      scope.getFunction().addResult(output.name(), value.tensor);
    else
      for (NodeValue element : value.sequence->elements)
        scope.getFunction().addResult(output.name(), element);
  }
  return outputs;
}

/// Returns the type of \p value as a text, with that of each element of a
/// sequence.
static std::string getTypeText(const GraphValue &value) {
  if (!value.sequence)
    return value.tensor.getType().str();
  if (value.sequence->isAbsent)
    return "an optional without a value";
  std::vector<std::string> types;
  for (NodeValue element : value.sequence->elements)
    types.push_back(element.getType().str());
  return "a sequence of " +
         (types.empty() ? "no elements" : llvm::join(types, ", "));
}

static llvm::Error checkBranches(const GraphValues &first,
                                 const GraphValues &second) {
  if (first.size() != second.size())
    return makeError("the branches have {0} and {1} outputs; accepted: equal "
                     "numbers",
                     first.size(), second.size());
  for (unsigned i = 0; i < first.size(); ++i) {
    std::string type = getTypeText(first[i]), other = getTypeText(second[i]);
    if (type != other)
      return makeError("output {0} is {1} in one branch and {2} in the other; "
                       "accepted: one type, or a constant condition",
                       i, type, other);
  }
  return llvm::Error::success();
}

/// Sets the outputs to the results of \p node, which have the structure of
/// \p values.
static llvm::Error setIfOutputs(OpContext &op, IfNode *node,
                                GraphValues values) {
  unsigned next = 0;
  for (GraphValue &value : values) {
    if (!value.sequence)
      value.tensor = node->getResult(next++);
    else
      for (NodeValue &element : value.sequence->elements)
        element = node->getResult(next++);
  }
  return setOutputs(op, values);
}

static llvm::Error importIf(OpContext &op, NodeValue condition) {
  GLOWISH_ASSIGN_OR_RETURN(const onnx::GraphProto *thenGraph,
                           op.getGraph("then_branch"));
  GLOWISH_ASSIGN_OR_RETURN(const onnx::GraphProto *elseGraph,
                           op.getGraph("else_branch"));
  if (condition.getElemKind() != ElemKind::Bool ||
      condition.getType().getNumElements() != 1)
    return makeError("the condition is {0}; accepted: bool with one element",
                     condition.getType().str());
  if (auto *known = condition.getNodeAs<Constant>()) {
    GraphScope scope(known->getTensor().getAsInt(0) ? *thenGraph : *elseGraph,
                     op.getScope());
    GLOWISH_ASSIGN_OR_RETURN(GraphValues values, scope.importValues({}));
    return setOutputs(op, values);
  }
  BodyScope thenScope(*thenGraph, op.getScope(), "then");
  BodyScope elseScope(*elseGraph, op.getScope(), "else");
  GLOWISH_ASSIGN_OR_RETURN(GraphValues thenValues, importBranch(thenScope));
  // Both bodies get the captures of both.
  OpenBody &thenBranch = thenScope.getBody(), &elseBranch = elseScope.getBody();
  elseBranch.enterCaptures(thenBranch);
  GLOWISH_ASSIGN_OR_RETURN(GraphValues elseValues, importBranch(elseScope));
  thenBranch.enterCaptures(elseBranch);
  GLOWISH_RETURN_IF_ERROR(checkBranches(thenValues, elseValues));
  GLOWISH_ASSIGN_OR_RETURN(condition, op.finish(op.reshape(condition, {})));
  std::shared_ptr<Body> thenBody = thenBranch.getAttr();
  std::shared_ptr<Body> elseBody = elseBranch.getAttr();
  GLOWISH_ASSIGN_OR_RETURN(IfNode *node,
                           op.createNode<IfNode>(condition, thenBody, elseBody,
                                                 thenBranch.getCaptures()));
  return setIfOutputs(op, node, std::move(thenValues));
}
static OnnxOperator ifOperator("If", 1, importIf);

//===- Loop ---------------------------------------------------------------===//

static llvm::Error importLoop(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(const onnx::GraphProto *graph, op.getGraph("body"));
  LoopImporter loop(op, *graph, /*isCounted=*/true);
  loop.tripCount = op.input(0);
  loop.condition = op.input(1);
  if (loop.tripCount && (loop.tripCount.getElemKind() != ElemKind::Int64 ||
                         loop.tripCount.getType().getNumElements() != 1))
    return makeError("the trip count is {0}; accepted: int64 with one element",
                     loop.tripCount.getType().str());
  if (loop.condition && (loop.condition.getElemKind() != ElemKind::Bool ||
                         loop.condition.getType().getNumElements() != 1))
    return makeError("the condition is {0}; accepted: bool with one element",
                     loop.condition.getType().str());
  if (loop.tripCount) {
    GLOWISH_ASSIGN_OR_RETURN(ShapeInt trips, readShapeInt(op, 0));
    loop.mostTrips = std::max(trips.high, 0.0);
  }
  for (unsigned i = 2; i < op.getNumInputs(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(GraphValue state, op.getValue(i));
    loop.states.push_back(std::move(state));
  }
  GLOWISH_ASSIGN_OR_RETURN(GraphValues values, loop.import());
  GLOWISH_RETURN_IF_ERROR(setOutputs(op, values));
  // Scan outputs have as many elements as there are iterations.
  for (size_t i = loop.states.size(); loop.getCount() && i < values.size();
       ++i) {
    DimsRef shape = values[i].tensor.getShape();
    Lengths lengths(shape.size());
    lengths[0] = loop.getCount();
    op.setBound(lengths[0], shape[0]);
    GLOWISH_RETURN_IF_ERROR(
        op.setOutput(i, op.declare(values[i].tensor, lengths)));
  }
  return llvm::Error::success();
}
static OnnxOperator loopOperator("Loop", 1, importLoop);

//===- Scan ---------------------------------------------------------------===//

namespace {

/// The attributes of a Scan, with one number per scan input or scan output.
struct ScanAttributes {
  const onnx::GraphProto *graph;
  size_t numInputs;
  std::vector<int64_t> inputAxes, inputDirections, outputAxes, outputDirections;
};

} // namespace

/// Reads an attribute of \p count numbers; the default is zeros.
static llvm::Expected<std::vector<int64_t>>
readList(OpContext &op, llvm::StringRef name, size_t count) {
  std::vector<int64_t> values =
      op.getInts(name, std::vector<int64_t>(count, 0));
  if (values.size() != count)
    return makeError("attribute '{0}' has {1} numbers; accepted: {2}", name,
                     values.size(), count);
  return values;
}

/// \p numValues: the number of states and scan inputs.
static llvm::Expected<ScanAttributes> readScan(OpContext &op,
                                               size_t numValues) {
  ScanAttributes scan;
  GLOWISH_ASSIGN_OR_RETURN(scan.graph, op.getGraph("body"));
  int64_t numInputs = op.getInt("num_scan_inputs", 0);
  if (numInputs < 1 || size_t(numInputs) > numValues)
    return makeError("attribute 'num_scan_inputs' is {0}; accepted: 1 to {1}",
                     numInputs, numValues);
  scan.numInputs = size_t(numInputs);
  size_t numStates = numValues - scan.numInputs;
  if (size_t(scan.graph->output_size()) < numStates)
    return makeError("the body {0} has {1} outputs; accepted: at least {2}",
                     quote(scan.graph->name()), scan.graph->output_size(),
                     numStates);
  size_t numOutputs = scan.graph->output_size() - numStates;
  bool isOld = op.getOpset() < 9;
  GLOWISH_ASSIGN_OR_RETURN(
      scan.inputDirections,
      readList(op, isOld ? "directions" : "scan_input_directions",
               scan.numInputs));
  scan.inputAxes.resize(scan.numInputs);
  scan.outputAxes.resize(numOutputs);
  scan.outputDirections.resize(numOutputs);
  if (isOld)
    return scan;
  GLOWISH_ASSIGN_OR_RETURN(scan.inputAxes,
                           readList(op, "scan_input_axes", scan.numInputs));
  GLOWISH_ASSIGN_OR_RETURN(scan.outputAxes,
                           readList(op, "scan_output_axes", numOutputs));
  GLOWISH_ASSIGN_OR_RETURN(scan.outputDirections,
                           readList(op, "scan_output_directions", numOutputs));
  return scan;
}

/// Moves dimension 0 of a scan output to dimension \p axis, reversed if
/// \p isReverse.
static llvm::Expected<NodeValue> moveScanAxis(OpContext &op, NodeValue scan,
                                              int64_t axis, bool isReverse) {
  unsigned rank = scan.getType().getRank();
  if (isReverse && scan.getShape()[0] > 1)
    scan = op.reverse(scan, {0});
  llvm::Expected<int64_t> position = normalizeAxis(axis, rank);
  if (!position)
    return addContext(position.takeError(), "a scan output's axis is ");
  if (*position)
    scan = op.transpose(scan, getMovedDims(rank, 0, *position));
  return op.finish(scan);
}

/// Runs the body along the scan inputs, which follow the states in \p values.
static llvm::Expected<Values> scanOnce(OpContext &op,
                                       const ScanAttributes &scan,
                                       llvm::ArrayRef<NodeValue> values) {
  LoopImporter loop(op, *scan.graph, /*isCounted=*/false);
  size_t numStates = values.size() - scan.numInputs;
  for (NodeValue state : values.take_front(numStates))
    loop.states.push_back({.tensor = state});
  std::optional<int64_t> length;
  for (auto [i, value] : llvm::enumerate(values.drop_front(numStates))) {
    llvm::Expected<int64_t> axis =
        normalizeAxis(scan.inputAxes[i], value.getType().getRank());
    if (!axis)
      return addContext(axis.takeError(), "a scan input's axis is ");
    int64_t extent = value.getShape()[*axis];
    if (extent != length.value_or(extent))
      return makeError("the scan inputs have {0} and {1} elements; accepted: "
                       "equal numbers",
                       *length, extent);
    length = extent;
    loop.scanInputs.push_back({value, *axis, scan.inputDirections[i] != 0});
  }
  loop.tripCount = op.scalar(ElemKind::Int64, double(*length));
  GLOWISH_ASSIGN_OR_RETURN(GraphValues outputs, loop.import());
  Values results;
  for (const GraphValue &value : outputs)
    results.push_back(value.tensor);
  for (size_t i = numStates; i < results.size(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(
        results[i], moveScanAxis(op, results[i], scan.outputAxes[i - numStates],
                                 scan.outputDirections[i - numStates] != 0));
  }
  return results;
}

/// Before opset 9 inputs and outputs have a batch dimension first; the body
/// runs for each element of the batch.
static llvm::Error importBatchedScan(OpContext &op) {
  if (op.hasInput(0))
    return makeError("input 0 ('sequence_lens') is not supported; accepted: "
                     "none, so that all sequences have all elements");
  Values values;
  for (unsigned i = 1; i < op.getNumInputs(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(i));
    if (value.getType().getRank() == 0 ||
        value.getShape()[0] !=
            (values.empty() ? value : values[0]).getShape()[0])
      return op.refuseInput(i, "the batch first");
    values.push_back(value);
  }
  GLOWISH_ASSIGN_OR_RETURN(ScanAttributes scan, readScan(op, values.size()));
  std::vector<Values> results(scan.graph->output_size());
  int64_t batch = values[0].getShape()[0];
  if (batch == 0)
    return makeError("the batch is empty; accepted: at least 1");
  for (int64_t b = 0; b < batch; ++b) {
    Values own;
    for (NodeValue value : values)
      own.push_back(
          op.reshape(op.slice(value, 0, b, 1), value.getShape().drop_front()));
    GLOWISH_RETURN_IF_ERROR(op.finish(own[0]).takeError());
    GLOWISH_ASSIGN_OR_RETURN(Values ends, scanOnce(op, scan, own));
    for (auto [i, end] : llvm::enumerate(ends))
      results[i].push_back(op.unsqueeze(end, 0));
  }
  for (auto [i, parts] : llvm::enumerate(results))
    GLOWISH_RETURN_IF_ERROR(op.setOutput(i, op.concat(parts, 0)));
  return llvm::Error::success();
}

static llvm::Error importScan(OpContext &op) {
  if (op.getOpset() < 9)
    return importBatchedScan(op);
  Values values;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(i));
    values.push_back(value);
  }
  GLOWISH_ASSIGN_OR_RETURN(ScanAttributes scan, readScan(op, values.size()));
  GLOWISH_ASSIGN_OR_RETURN(Values results, scanOnce(op, scan, values));
  for (auto [i, result] : llvm::enumerate(results))
    GLOWISH_RETURN_IF_ERROR(op.setOutput(i, result));
  return llvm::Error::success();
}
static OnnxOperator scanOperator("Scan", 8, importScan);
