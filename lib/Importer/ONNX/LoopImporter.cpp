//===- LoopImporter.cpp - Import of Loop and Scan -------------------------===//

#include "ONNX/LoopImporter.h"
#include "Common/Messages.h"
#include "ONNX/FunctionExtents.h"
#include "ONNX/ModelFile.h"

using namespace glowish;
using namespace glowish::onnximport;

/// Maximum number of nodes of unrolled loops that cannot become a Loop node.
static constexpr int64_t maxForcedUnrolledNodes = 1 << 14;

static const Tensor *getTensor(NodeValue value) {
  auto *constant = value.getNodeAs<Constant>();
  return constant ? &constant->getTensor() : nullptr;
}

llvm::Error LoopImporter::checkSignature() const {
  int64_t least = isCounted ? 2 : 0;
  if (graph.input_size() != int64_t(states.size() + scanInputs.size()) + least)
    return makeError("the body {0} has {1} inputs; accepted: {2}",
                     quote(graph.name()), graph.input_size(),
                     states.size() + scanInputs.size() + least);
  if (graph.output_size() < int64_t(states.size()) + isCounted)
    return makeError("the body {0} has {1} outputs; accepted: at least {2}",
                     quote(graph.name()), graph.output_size(),
                     states.size() + isCounted);
  return llvm::Error::success();
}

static int64_t countNodesOf(const onnx::GraphProto &graph) {
  int64_t nodes = graph.node_size();
  for (const onnx::NodeProto &node : graph.node())
    for (const onnx::GraphProto *inner : getGraphs(node))
      nodes += countNodesOf(*inner);
  return nodes;
}

int64_t LoopImporter::countNodes() const {
  return std::max<int64_t>(countNodesOf(graph), 1);
}

llvm::Expected<NodeValue>
LoopImporter::makeScalar(NodeValue value, ElemKind kind, llvm::StringRef what) {
  const Type &type = value.getType();
  if (type.getKind() != kind || type.getNumElements() != 1)
    return makeError("{0} is {1}; accepted: {2} with one element", what,
                     type.str(), getElemKindName(kind));
  return op.finish(op.reshape(value, {}));
}

//===- Inputs of an iteration ---------------------------------------------===//

/// Creates a node in the function that \p scope is imported into.
template <typename T, typename... Args>
static llvm::Expected<NodeValue>
createIn(GraphScope &scope, llvm::StringRef name, Args &&...args) {
  GLOWISH_ASSIGN_OR_RETURN(T *node, scope.getContext().function.tryCreate<T>(
                                        name, std::forward<Args>(args)...));
  return node->getResult();
}

/// Returns slice \p number, constant or computed, of \p input.
llvm::Expected<NodeValue> LoopImporter::getElement(GraphScope &scope,
                                                   const ScanInput &input,
                                                   NodeValue number) {
  int64_t extent = input.value.getShape()[input.axis];
  if (const Tensor *known = getTensor(number)) {
    int64_t index = known->getAsInt(0);
    Dims shape(input.value.getShape());
    shape.erase(shape.begin() + input.axis);
    return op.finish(
        op.reshape(op.slice(input.value, input.axis,
                            input.isReverse ? extent - 1 - index : index, 1),
                   shape));
  }
  if (input.isReverse) {
    GLOWISH_ASSIGN_OR_RETURN(
        number,
        createIn<SubNode>(scope, "index",
                          op.scalar(ElemKind::Int64, extent - 1), number));
  }
  NodeValue value = static_cast<BodyScope &>(scope).enter(input.value);
  return createIn<GatherNode>(scope, "element", value, number, input.axis);
}

llvm::Expected<LoopImporter::Values>
LoopImporter::getElements(GraphScope &scope, NodeValue number) {
  Values elements;
  for (const ScanInput &input : scanInputs) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue element,
                             getElement(scope, input, number));
    elements.push_back(element);
  }
  return elements;
}

/// Returns the shape that \p graph declares for its input \p index, an
/// iteration number or condition: a scalar, or one dimension of extent 1.
static Dims getStatedShape(const onnx::GraphProto &graph, int index) {
  const auto &type = graph.input(index).type().tensor_type();
  return type.shape().dim_size() == 1 ? Dims{1} : Dims();
}

//===- Unrolling ----------------------------------------------------------===//

/// Returns the inputs of iteration \p index that precede the states.
llvm::Expected<LoopImporter::GraphValues>
LoopImporter::getIterationInputs(NodeValue index) {
  if (!isCounted)
    return GraphValues();
  NodeValue number = op.reshape(index, getStatedShape(graph, 0));
  NodeValue continues =
      op.reshape(op.scalar(ElemKind::Bool, 1), getStatedShape(graph, 1));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return GraphValues{{.tensor = number}, {.tensor = continues}};
}

llvm::Expected<std::optional<LoopImporter::GraphValues>>
LoopImporter::unrollIterations(int64_t mostTrips) {
  const Tensor *trips = tripCount ? getTensor(tripCount) : nullptr;
  int64_t end = trips ? std::max<int64_t>(trips->getAsInt(0), 0) : INT64_MAX;
  GraphValues current = states;
  std::vector<Values> scans;
  for (int64_t number = 0; number < end; ++number) {
    if (number == mostTrips)
      return std::nullopt;
    GraphScope scope(graph, op.getScope());
    NodeValue index = op.scalar(ElemKind::Int64, double(number));
    GLOWISH_ASSIGN_OR_RETURN(GraphValues inputs, getIterationInputs(index));
    llvm::append_range(inputs, current);
    GLOWISH_ASSIGN_OR_RETURN(Values elements, getElements(scope, index));
    for (NodeValue element : elements)
      inputs.push_back({.tensor = element});
    GLOWISH_ASSIGN_OR_RETURN(GraphValues outputs,
                             scope.importStaticValues(inputs));
    auto next = outputs.begin() + isCounted, last = next + states.size();
    current.assign(next, last);
    Values &own = scans.emplace_back();
    for (const GraphValue &scan : llvm::make_range(last, outputs.end())) {
      if (scan.sequence)
        return makeError("scan {0} is a sequence; accepted: a tensor",
                         own.size());
      own.push_back(scan.tensor);
    }
    if (!isCounted)
      continue;
    const Tensor *continues =
        outputs[0].sequence ? nullptr : getTensor(outputs[0].tensor);
    if (!continues || continues->getType().getKind() != ElemKind::Bool ||
        continues->getNumElements() != 1)
      return std::nullopt;
    if (continues->getAsInt(0) == 0)
      break;
  }
  GLOWISH_ASSIGN_OR_RETURN(Values stacked, stackScans(std::move(scans)));
  for (NodeValue scan : stacked)
    current.push_back({.tensor = scan});
  return current;
}

/// Stacks the scan outputs of all \p trips.
llvm::Expected<LoopImporter::Values>
LoopImporter::stackScans(std::vector<Values> trips) {
  Values stacked;
  for (unsigned i = 0; i < getNumScans(); ++i) {
    Values rows;
    for (const Values &trip : trips) {
      if (trip[i].getType() != trips[0][i].getType())
        return makeError("scan {0} is {1} and then {2}; accepted: one type", i,
                         trips[0][i].getType().str(), trip[i].getType().str());
      rows.push_back(op.unsqueeze(trip[i], 0));
    }
    GLOWISH_ASSIGN_OR_RETURN(NodeValue all, op.finish(op.concat(rows, 0)));
    stacked.push_back(all);
  }
  return stacked;
}

llvm::Expected<std::optional<LoopImporter::GraphValues>>
LoopImporter::unroll(int64_t mostTrips) {
  const Tensor *begins = condition ? getTensor(condition) : nullptr;
  const Tensor *trips = tripCount ? getTensor(tripCount) : nullptr;
  if ((condition && !begins) || (tripCount && !trips))
    return std::nullopt;
  bool isEmpty = (begins && begins->getAsInt(0) == 0) ||
                 (trips && trips->getAsInt(0) <= 0);
  // Without an iteration, the types of the scan outputs are unknown. Otherwise
  // a Loop node checks the body.
  if (isEmpty && hasSequences() && getNumScans() == 0)
    return std::optional<GraphValues>(states);
  if (isEmpty)
    return std::nullopt;
  Function &function = op.getScope().getContext().function;
  Node *last =
      function.getNodes().empty() ? nullptr : &function.getNodes().back();
  auto values = unrollIterations(mostTrips);
  if (values && *values)
    return values;
  FunctionExtents &extents = *op.getScope().getContext().extents;
  eraseNodesBehind(function, last, [&](Node &node) { extents.forget(node); });
  return values;
}

//===- Loop nodes ---------------------------------------------------------===//

llvm::Expected<int64_t> LoopImporter::getMaxTripCount() const {
  const Tensor *trips = tripCount ? getTensor(tripCount) : nullptr;
  // Exporters write the maximum integer for "until the condition is false".
  if (trips && trips->getAsInt(0) <= INT32_MAX)
    return std::max<int64_t>(trips->getAsInt(0), 0);
  GraphScope &scope = op.getScope();
  // The model may declare the extent of a scan output.
  for (unsigned i = 0; i < getNumScans(); ++i)
    if (auto extent = scope.getStatedExtent(
            op.getOutputName(unsigned(states.size()) + i)))
      return mostTrips < double(*extent) ? int64_t(mostTrips) : *extent;
  if (mostTrips <= INT32_MAX)
    return int64_t(mostTrips);
  if (int64_t most = scope.getState().options.maxTripCount)
    return most;
  if (trips && getNumScans() == 0)
    return trips->getAsInt(0);
  return makeError("the trip count has no bound; accepted: a constant, or "
                   "«max-trip-count=N»");
}

bool LoopImporter::hasSequences() const {
  return llvm::any_of(
      states, [](const GraphValue &state) { return bool(state.sequence); });
}

/// Imports the graph as a body: adds its parameters and results.
llvm::Error LoopImporter::importBody(BodyScope &scope) {
  Function &function = scope.getFunction();
  OpenBody &body = scope.getBody();
  NodeValue number = body.addParameter("number", Type(ElemKind::Int64, {}));
  NodeValue continues =
      body.addParameter("condition", Type(ElemKind::Bool, {}));
  Values inputs;
  if (isCounted) {
    for (NodeValue value : {number, continues}) {
      NodeValue input = value;
      Dims shape = getStatedShape(graph, int(inputs.size()));
      if (!shape.empty()) {
        GLOWISH_ASSIGN_OR_RETURN(
            input, createIn<ReshapeNode>(scope, "parameter", value, shape));
      }
      inputs.push_back(input);
    }
  }
  for (auto [i, state] : llvm::enumerate(states))
    inputs.push_back(body.addParameter(graph.input(2 * isCounted + i).name(),
                                       state.tensor.getType()));
  GLOWISH_ASSIGN_OR_RETURN(Values elements, getElements(scope, number));
  llvm::append_range(inputs, elements);
  GLOWISH_ASSIGN_OR_RETURN(Values outputs, scope.importInner(inputs));
  if (!isCounted)
    outputs.insert(outputs.begin(), op.scalar(ElemKind::Bool, 1));
  const Tensor *next = getTensor(outputs[0]);
  alwaysContinues =
      outputs[0] == continues ||
      (next && next->getNumElements() == 1 && next->getAsInt(0) != 0);
  for (auto [i, state] : llvm::enumerate(states))
    if (outputs[1 + i].getType() != state.tensor.getType())
      return makeError("state {0} is {1} at first and then {2}; accepted: one "
                       "type, or a constant trip count and conditions",
                       i, state.tensor.getType().str(),
                       outputs[1 + i].getType().str());
  if (outputs[0].getElemKind() != ElemKind::Bool ||
      outputs[0].getType().getNumElements() != 1)
    return makeError("the next condition is {0}; accepted: bool with one "
                     "element",
                     outputs[0].getType().str());
  if (outputs[0].getType().getRank() != 0) {
    GLOWISH_ASSIGN_OR_RETURN(
        outputs[0],
        createIn<ReshapeNode>(scope, "condition", outputs[0], DimsRef()));
  }
  for (NodeValue output : outputs)
    function.addResult("next", output);
  return llvm::Error::success();
}

llvm::Expected<LoopImporter::GraphValues> LoopImporter::makeLoop() {
  for (auto [i, state] : llvm::enumerate(states))
    if (state.sequence)
      return makeError("state {0} is a sequence or an optional; accepted: a "
                       "tensor, or a trip count and conditions that are "
                       "constant, and at most {1} iterations",
                       i, maxForcedUnrolledNodes / countNodes());
  BodyScope scope(graph, op.getScope(), "body");
  GLOWISH_RETURN_IF_ERROR(importBody(scope));
  GLOWISH_ASSIGN_OR_RETURN(int64_t most, getMaxTripCount());
  Values values;
  for (const GraphValue &state : states)
    values.push_back(state.tensor);
  llvm::append_range(values, scope.getBody().getCaptures());
  NodeValue trips, begins;
  if (tripCount && !getTensor(tripCount)) {
    GLOWISH_ASSIGN_OR_RETURN(
        trips, makeScalar(tripCount, ElemKind::Int64, "the trip count"));
  } else if (!tripCount || getTensor(tripCount)->getAsInt(0) > most) {
    // The bound is an assumption, which the loop checks.
    trips = op.createConstant(Tensor::fromValues<int64_t>(
        Type(ElemKind::Int64, {}),
        {tripCount ? getTensor(tripCount)->getAsInt(0) : INT64_MAX}));
  }
  if (condition) {
    GLOWISH_ASSIGN_OR_RETURN(
        begins, makeScalar(condition, ElemKind::Bool, "the condition"));
  }
  std::shared_ptr<Body> body = scope.getBody().getAttr();
  GLOWISH_ASSIGN_OR_RETURN(
      LoopNode *loop,
      op.createNode<LoopNode>(trips, begins, body, int64_t(states.size()), most,
                              values,
                              describeNode(op.getNodeName(), op.getOpType())));
  GraphValues results;
  for (unsigned i = 0; i + 1 < loop->getNumResults(); ++i)
    results.push_back({.tensor = loop->getResult(i)});
  // Otherwise the scan outputs have their full extents.
  const Tensor *start = condition ? getTensor(condition) : nullptr;
  bool begun = !condition || (start && start->getAsInt(0) != 0);
  if (!alwaysContinues || !begun || !tripCount || !getTensor(tripCount))
    count = loop->getResult(loop->getNumResults() - 1);
  return results;
}

llvm::Expected<LoopImporter::GraphValues> LoopImporter::import() {
  GLOWISH_RETURN_IF_ERROR(checkSignature());
  // If the initial condition is constant false, only the types of the body
  // matter.
  const Tensor *begins = condition ? getTensor(condition) : nullptr;
  if (begins && begins->getAsInt(0) == 0)
    tripCount = op.scalar(ElemKind::Int64, 0);
  const Tensor *trips = tripCount ? getTensor(tripCount) : nullptr;
  // Sequences leave no choice.
  int64_t mostUnrolled =
      (hasSequences() ? maxForcedUnrolledNodes : maxUnrolledNodes) /
      countNodes();
  bool isShort =
      (trips || !tripCount) && (!trips || trips->getAsInt(0) <= mostUnrolled);
  if (isShort) {
    GLOWISH_ASSIGN_OR_RETURN(std::optional<GraphValues> values,
                             unroll(std::max<int64_t>(mostUnrolled, 1)));
    if (values)
      return std::move(*values);
  }
  llvm::Expected<GraphValues> values = makeLoop();
  if (values || isShort || !trips)
    return values;
  std::string reason = llvm::toString(values.takeError());
  GLOWISH_ASSIGN_OR_RETURN(std::optional<GraphValues> all,
                           unroll(maxForcedUnrolledNodes / countNodes()));
  if (all)
    return std::move(*all);
  return llvm::make_error<llvm::StringError>(reason,
                                             llvm::inconvertibleErrorCode());
}
