//===- LoopImporter.cpp - Graphs that run again and again -----------------===//

#include "ONNX/LoopImporter.h"
#include "ONNX/ModelFile.h"

using namespace glowish;

/// A loop that makes at most so many nodes is written out, ...
static constexpr int64_t fewNodes = 256;
/// ... and at most so many where it can't be a Loop.
static constexpr int64_t manyNodes = 1 << 14;

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
  if (type.getRank() == 0)
    return value;
  return op.reshape(value, {});
}

//===- What each repetition gets ------------------------------------------===//

/// A node in the function that \p scope becomes.
template <typename T, typename... Args>
static llvm::Expected<NodeValue>
createIn(GraphScope &scope, llvm::StringRef name, Args &&...args) {
  GLOWISH_TRY(T * node, scope.getContext().function.tryCreate<T>(
                            name, std::forward<Args>(args)...));
  return node->getResult();
}

/// Element \p number, a constant or computed, of \p input.
llvm::Expected<NodeValue> LoopImporter::getElement(GraphScope &scope,
                                                   const ScanInput &input,
                                                   NodeValue number) {
  int64_t extent = input.value.getShape()[input.axis];
  if (const Tensor *known = getTensor(number)) {
    int64_t index = known->getAsInt(0);
    Composer c(op);
    Dims shape(input.value.getShape());
    shape.erase(shape.begin() + input.axis);
    return c.finish(
        c.reshape(c.slice(input.value, input.axis,
                          input.isReverse ? extent - 1 - index : index, 1),
                  shape));
  }
  if (input.isReverse) {
    GLOWISH_TRY(number,
                createIn<SubNode>(scope, "index",
                                  op.createScalar(ElemKind::Int64, extent - 1),
                                  number));
  }
  NodeValue value = static_cast<BodyScope &>(scope).enter(input.value);
  return createIn<GatherNode>(scope, "element", value, number, input.axis);
}

llvm::Expected<LoopImporter::Values>
LoopImporter::getElements(GraphScope &scope, NodeValue number) {
  Values elements;
  for (const ScanInput &input : scanInputs) {
    GLOWISH_TRY(NodeValue element, getElement(scope, input, number));
    elements.push_back(element);
  }
  return elements;
}

/// The shape that \p graph states for its input \p index: numbers and
/// conditions are scalars or have one dimension of extent 1.
static Dims getStatedShape(const onnx::GraphProto &graph, int index) {
  const auto &type = graph.input(index).type().tensor_type();
  return type.shape().dim_size() == 1 ? Dims{1} : Dims();
}

//===- Written out --------------------------------------------------------===//

llvm::Expected<std::optional<LoopImporter::Values>>
LoopImporter::writeOutTrips(int64_t mostTrips) {
  const Tensor *trips = tripCount ? getTensor(tripCount) : nullptr;
  int64_t end = trips ? std::max<int64_t>(trips->getAsInt(0), 0) : INT64_MAX;
  Values current = states;
  std::vector<Values> scans;
  for (int64_t number = 0; number < end; ++number) {
    if (number == mostTrips)
      return std::nullopt;
    GraphScope scope(graph, op.getScope());
    NodeValue index = op.createScalar(ElemKind::Int64, double(number));
    Values inputs;
    if (isCounted) {
      GLOWISH_TRY(NodeValue first, op.reshape(index, getStatedShape(graph, 0)));
      GLOWISH_TRY(NodeValue second,
                  op.reshape(op.createScalar(ElemKind::Bool, 1),
                             getStatedShape(graph, 1)));
      inputs = {first, second};
    }
    llvm::append_range(inputs, current);
    GLOWISH_TRY(Values elements, getElements(scope, index));
    llvm::append_range(inputs, elements);
    GLOWISH_TRY(Values outputs, scope.importInner(inputs));
    auto next = outputs.begin() + isCounted;
    current.assign(next, next + states.size());
    scans.emplace_back(next + states.size(), outputs.end());
    if (!isCounted)
      continue;
    const Tensor *goesOn = getTensor(outputs[0]);
    if (!goesOn || goesOn->getType().getKind() != ElemKind::Bool ||
        goesOn->getNumElements() != 1)
      return std::nullopt;
    if (goesOn->getAsInt(0) == 0)
      break;
  }
  GLOWISH_TRY(Values stacked, stackScans(std::move(scans)));
  llvm::append_range(current, stacked);
  return current;
}

/// What each of \p trips gives to the scans, stacked.
llvm::Expected<LoopImporter::Values>
LoopImporter::stackScans(std::vector<Values> trips) {
  Values stacked;
  Composer c(op);
  for (unsigned i = 0; i < getNumScans(); ++i) {
    Values rows;
    for (const Values &trip : trips) {
      if (trip[i].getType() != trips[0][i].getType())
        return makeError("scan {0} is {1} and then {2}; accepted: one type", i,
                         trips[0][i].getType().str(), trip[i].getType().str());
      rows.push_back(c.unsqueeze(trip[i], 0));
    }
    GLOWISH_TRY(NodeValue all, c.finish(c.concat(rows, 0)));
    stacked.push_back(all);
  }
  return stacked;
}

llvm::Expected<std::optional<LoopImporter::Values>>
LoopImporter::writeOut(int64_t mostTrips) {
  const Tensor *begins = condition ? getTensor(condition) : nullptr;
  const Tensor *trips = tripCount ? getTensor(tripCount) : nullptr;
  // Without a repetition only the body tells the types of the scans.
  if ((condition && (!begins || begins->getAsInt(0) == 0)) ||
      (tripCount && (!trips || trips->getAsInt(0) <= 0)))
    return std::nullopt;
  Function &function = op.getScope().getContext().function;
  Node *last =
      function.getNodes().empty() ? nullptr : &function.getNodes().back();
  auto values = writeOutTrips(mostTrips);
  if (values && *values)
    return values;
  // What was made is used by what was made later alone.
  auto &bounds = op.getScope().getState().bounds;
  while (!function.getNodes().empty() && &function.getNodes().back() != last) {
    Node *node = &function.getNodes().back();
    bounds.erase(bounds.lower_bound({node, 0}),
                 bounds.upper_bound({node, ~0u}));
    function.erase(node);
  }
  return values;
}

//===- A Loop node --------------------------------------------------------===//

llvm::Expected<int64_t> LoopImporter::getMaxTripCount() const {
  const Tensor *trips = tripCount ? getTensor(tripCount) : nullptr;
  // Exporters write the largest number for 'until the condition ends it'.
  if (trips && trips->getAsInt(0) <= INT32_MAX)
    return std::max<int64_t>(trips->getAsInt(0), 0);
  GraphScope &scope = op.getScope();
  // The model may say how many elements a scan has.
  for (unsigned i = 0; i < getNumScans(); ++i)
    if (auto extent = scope.getStatedExtent(
            op.getOutputName(unsigned(states.size()) + i)))
      return mostTrips < double(*extent) ? int64_t(mostTrips) : *extent;
  if (mostTrips <= INT32_MAX)
    return int64_t(mostTrips);
  if (int64_t most = scope.getState().maxTripCount)
    return most;
  if (trips && getNumScans() == 0)
    return trips->getAsInt(0);
  return makeError("the trip count has no bound; accepted: a constant, or "
                   "-max-trip-count=N");
}

/// The graph as a body: the parameters are there, the results are added.
llvm::Error LoopImporter::importBody(BodyScope &scope) {
  Function &function = scope.getFunction();
  NodeValue number = scope.addParameter("number", Type(ElemKind::Int64, {}));
  NodeValue goesOn = scope.addParameter("condition", Type(ElemKind::Bool, {}));
  Values inputs;
  if (isCounted) {
    for (NodeValue value : {number, goesOn}) {
      NodeValue input = value;
      Dims shape = getStatedShape(graph, int(inputs.size()));
      if (!shape.empty()) {
        GLOWISH_TRY(input,
                    createIn<ReshapeNode>(scope, "parameter", value, shape));
      }
      inputs.push_back(input);
    }
  }
  for (auto [i, state] : llvm::enumerate(states))
    inputs.push_back(scope.addParameter(graph.input(2 * isCounted + i).name(),
                                        state.getType()));
  GLOWISH_TRY(Values elements, getElements(scope, number));
  llvm::append_range(inputs, elements);
  GLOWISH_TRY(Values outputs, scope.importInner(inputs));
  if (!isCounted)
    outputs.insert(outputs.begin(), op.createScalar(ElemKind::Bool, 1));
  const Tensor *next = getTensor(outputs[0]);
  alwaysGoesOn = outputs[0] == goesOn || (next && next->getNumElements() == 1 &&
                                          next->getAsInt(0) != 0);
  for (auto [i, state] : llvm::enumerate(states))
    if (outputs[1 + i].getType() != state.getType())
      return makeError("state {0} is {1} at first and then {2}; accepted: one "
                       "type, or a constant trip count and conditions",
                       i, state.getType().str(),
                       outputs[1 + i].getType().str());
  if (outputs[0].getElemKind() != ElemKind::Bool ||
      outputs[0].getType().getNumElements() != 1)
    return makeError("the next condition is {0}; accepted: bool with one "
                     "element",
                     outputs[0].getType().str());
  if (outputs[0].getType().getRank() != 0) {
    GLOWISH_TRY(outputs[0], createIn<ReshapeNode>(scope, "condition",
                                                  outputs[0], DimsRef()));
  }
  for (NodeValue output : outputs)
    function.addResult("next", output);
  return llvm::Error::success();
}

llvm::Expected<LoopImporter::Values> LoopImporter::makeLoop() {
  BodyScope scope(graph, op.getScope(), "body");
  GLOWISH_CHECK(importBody(scope));
  GLOWISH_TRY(int64_t most, getMaxTripCount());
  Values values = states;
  llvm::append_range(values, scope.getCaptures());
  NodeValue trips, begins;
  if (tripCount && !getTensor(tripCount)) {
    GLOWISH_TRY(trips,
                makeScalar(tripCount, ElemKind::Int64, "the trip count"));
  }
  if (condition) {
    GLOWISH_TRY(begins, makeScalar(condition, ElemKind::Bool, "the condition"));
  }
  std::shared_ptr<Body> body = scope.getBody();
  GLOWISH_TRY(LoopNode * loop,
              op.createNode<LoopNode>(trips, begins, body,
                                      int64_t(states.size()), most, values));
  Values results;
  for (unsigned i = 0; i + 1 < loop->getNumResults(); ++i)
    results.push_back(loop->getResult(i));
  // Else the scans are full.
  const Tensor *start = condition ? getTensor(condition) : nullptr;
  bool begun = !condition || (start && start->getAsInt(0) != 0);
  if (!alwaysGoesOn || !begun || !tripCount || !getTensor(tripCount))
    count = loop->getResult(loop->getNumResults() - 1);
  return results;
}

llvm::Expected<LoopImporter::Values> LoopImporter::import() {
  GLOWISH_CHECK(checkSignature());
  // A loop that begins with a constant false has the body's types and nothing
  // else of it.
  const Tensor *begins = condition ? getTensor(condition) : nullptr;
  if (begins && begins->getAsInt(0) == 0)
    tripCount = op.createScalar(ElemKind::Int64, 0);
  const Tensor *trips = tripCount ? getTensor(tripCount) : nullptr;
  bool isShort = (trips || !tripCount) &&
                 (!trips || trips->getAsInt(0) <= fewNodes / countNodes());
  if (isShort) {
    GLOWISH_TRY(std::optional<Values> values,
                writeOut(std::max<int64_t>(fewNodes / countNodes(), 1)));
    if (values)
      return std::move(*values);
  }
  llvm::Expected<Values> values = makeLoop();
  if (values || isShort || !trips)
    return values;
  std::string reason = llvm::toString(values.takeError());
  GLOWISH_TRY(std::optional<Values> all, writeOut(manyNodes / countNodes()));
  if (all)
    return std::move(*all);
  return llvm::make_error<llvm::StringError>(reason,
                                             llvm::inconvertibleErrorCode());
}
