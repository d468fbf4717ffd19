//===- Loops.cpp - Import of prim::Loop -----------------------------------===//
//
// A loop of few nodes, with conditions and a trip count that are known, is
// executed iteration by iteration. Another one becomes a Loop node: what an
// iteration changes of the loop's values, and of tensors from outside, are its
// states.
//
//===----------------------------------------------------------------------===//

#include "TorchScript/Leaves.h"

using namespace glowish;
using namespace glowish::torchscript;

/// Maximum number of nodes of unrolled loops that cannot become a Loop node.
static constexpr int64_t maxForcedUnrolledNodes = 1 << 14;

namespace {

using Storage = std::shared_ptr<ScriptStorage>;

class LoopImporter {
public:
  LoopImporter(ScriptCall &call)
      : call(call), in(call.in), block(call.node.blocks[0]),
        states(call.inputs.begin() + 2, call.inputs.end()),
        isVariant(states.size()) {}

  llvm::Expected<ScriptValues> import();

private:
  llvm::Expected<std::optional<ScriptValues>> unroll(int64_t mostTrips);
  llvm::Expected<std::optional<ScriptValues>>
  unrollIterations(int64_t mostTrips);
  llvm::Expected<ScriptValues> makeLoop();
  llvm::Expected<bool> importBody(OpenBody &body);
  llvm::Expected<ScriptValues> addParameters(OpenBody &body);
  llvm::Expected<bool> findChanges(const ScriptValues &before,
                                   const ScriptValues &after);
  llvm::Error addResults(OpenBody &body, const ScriptValues &outputs);
  llvm::Error addResult(OpenBody &body, const ScriptLeaves &first,
                        const ScriptLeaves &next, size_t index);
  std::vector<NodeValue> getInitial();
  llvm::Expected<int64_t> getMost() const;
  llvm::Expected<ScriptValues> takeResults(Node &loop);
  int64_t countNodes() const;

  ScriptCall &call;
  ScriptInterpreter &in;
  const ProgramBlock &block;
  ScriptValues states;
  /// What they are before the loop, if that becomes a node.
  std::vector<ScriptLeaves> first;
  /// Whether a state is another value in the next iteration.
  std::vector<bool> isVariant;
  /// The tensors from outside that an iteration changes: further states.
  std::vector<Storage> changed;
  size_t mark = 0;
  uint64_t birth = 0;
};

} // namespace

/// Calls \p visit with each leaf of \p leaves: of a tensor or a number.
static void forEachLeaf(const ScriptLeaves &leaves,
                        llvm::function_ref<void(const ScriptLeaves &)> visit) {
  if (leaves.value.isTensor() || leaves.value.isComputed() ||
      leaves.value.isKnownNumber())
    visit(leaves);
  for (const ScriptLeaves &element : leaves.elements)
    forEachLeaf(element, visit);
}

static int64_t countNodesOf(const ProgramBlock &block) {
  auto count = int64_t(block.nodes.size());
  for (const ProgramNode &node : block.nodes)
    for (const ProgramBlock &inner : node.blocks)
      count += countNodesOf(inner);
  return count;
}

int64_t LoopImporter::countNodes() const {
  return std::max<int64_t>(countNodesOf(block), 1);
}

//===- Unrolling ----------------------------------------------------------===//

llvm::Expected<std::optional<ScriptValues>>
LoopImporter::unrollIterations(int64_t mostTrips) {
  const ScriptValue &trips = call.inputs[0];
  ScriptValue condition = call.inputs[1];
  ScriptValues current = states;
  for (int64_t number = 0;; ++number) {
    if (!condition.is<bool>())
      return std::nullopt;
    if (!condition.get<bool>() || number >= trips.getInt())
      return current;
    if (number == mostTrips)
      return std::nullopt;
    in.set(block.inputs[0], number);
    for (auto [input, state] :
         llvm::zip_equal(llvm::drop_begin(block.inputs), current))
      in.set(input, state);
    GLOWISH_RETURN_IF_ERROR(in.run(block));
    ScriptValues outputs = in.getOutputs(block);
    condition = outputs[0];
    current.assign(outputs.begin() + 1, outputs.end());
  }
}

/// Executes the loop unless a condition isn't known or there are more than
/// \p mostTrips iterations.
llvm::Expected<std::optional<ScriptValues>>
LoopImporter::unroll(int64_t mostTrips) {
  if (!call.inputs[0].isInt())
    return std::nullopt;
  Function &function = in.getFunction();
  Node *last =
      function.getNodes().empty() ? nullptr : &function.getNodes().back();
  size_t start = in.journal.mark();
  auto values = unrollIterations(mostTrips);
  if (values && *values)
    return values;
  in.journal.rollBack(start);
  eraseNodesBehind(function, last);
  return values;
}

//===- Bodies -------------------------------------------------------------===//

/// The states of the body: variant ones are parameters.
llvm::Expected<ScriptValues> LoopImporter::addParameters(OpenBody &body) {
  auto next = [&](const ScriptLeaves &like) -> llvm::Expected<NodeValue> {
    return body.addParameter("state", getLeaf(in, like).getType());
  };
  LeafRebuilder rebuilder(in, next);
  ScriptValues current = states;
  for (auto [i, state] : llvm::enumerate(current))
    if (isVariant[i]) {
      GLOWISH_ASSIGN_OR_RETURN(state, rebuilder.rebuild(first[i], birth));
    }
  for (const Storage &storage : changed)
    in.memory.assign(storage,
                     body.addParameter("memory", storage->value.getType()));
  return current;
}

/// Whether the states and changes that were assumed are all that there are;
/// those that were missing are added.
llvm::Expected<bool> LoopImporter::findChanges(const ScriptValues &before,
                                               const ScriptValues &after) {
  bool isComplete = true;
  for (auto [i, value] : llvm::enumerate(after))
    if (!isVariant[i] && !areSame(before[i], value)) {
      isVariant[i] = true;
      isComplete = false;
    }
  for (const Storage &storage :
       in.journal.getChanged<ScriptStorage>(mark, birth))
    if (!llvm::is_contained(changed, storage)) {
      changed.push_back(storage);
      isComplete = false;
    }
  if (!in.journal.getChanged<ScriptList>(mark, birth).empty() ||
      !in.journal.getChanged<ScriptDict>(mark, birth).empty())
    return makeError("an iteration changes a list or a dictionary; accepted: "
                     "tensors and numbers, or a trip count and conditions that "
                     "are known when the model is compiled");
  if (!in.journal.getChanged<ScriptObject>(mark, birth).empty())
    return makeError("an iteration sets an attribute; accepted: tensors that "
                     "are changed in place, or a trip count and conditions "
                     "that are known when the model is compiled");
  return isComplete;
}

/// Adds the results of the next state \p index.
llvm::Error LoopImporter::addResult(OpenBody &body, const ScriptLeaves &first,
                                    const ScriptLeaves &next, size_t index) {
  auto refuse = [&] {
    return makeError("state {0} is {1} at first and then {2}; accepted: one "
                     "type, or a trip count and conditions that are known when "
                     "the model is compiled",
                     index, first.value.describe(), next.value.describe());
  };
  if (NodeValue own = getLeaf(in, first)) {
    NodeValue value = getLeaf(in, next);
    if (!value || own.getType() != value.getType())
      return refuse();
    body.getFunction().addResult("next", value);
    return llvm::Error::success();
  }
  if (first.elements.size() != next.elements.size() ||
      first.value.value.index() != next.value.value.index())
    return refuse();
  for (auto [own, other] : llvm::zip_equal(first.elements, next.elements))
    GLOWISH_RETURN_IF_ERROR(addResult(body, own, other, index));
  return llvm::Error::success();
}

llvm::Error LoopImporter::addResults(OpenBody &body,
                                     const ScriptValues &outputs) {
  if (!outputs[0].is<bool>() && !outputs[0].isComputed())
    return makeError("the condition is {0}; accepted: a bool",
                     outputs[0].describe());
  body.getFunction().addResult("next", in.makeScalar(outputs[0]));
  for (size_t i = 0; i < states.size(); ++i) {
    if (!isVariant[i])
      continue;
    GLOWISH_ASSIGN_OR_RETURN(ScriptLeaves next, readLeaves(in, outputs[i + 1]));
    GLOWISH_RETURN_IF_ERROR(addResult(body, first[i], next, i));
  }
  for (const Storage &storage : changed)
    body.getFunction().addResult("memory", in.memory.enter(storage->value));
  return llvm::Error::success();
}

/// Imports an iteration: whether all that changes was known before.
llvm::Expected<bool> LoopImporter::importBody(OpenBody &body) {
  NodeValue number = body.addParameter("number", Type(ElemKind::Int64, {}));
  body.addParameter("condition", Type(ElemKind::Bool, {}));
  GLOWISH_ASSIGN_OR_RETURN(ScriptValues current, addParameters(body));
  ScriptScope *outer = in.memory.scope;
  ScriptScope inside{body.getFunction(), &body, outer};
  in.memory.scope = &inside;
  auto execute = [&]() -> llvm::Expected<bool> {
    GLOWISH_RETURN_IF_ERROR(in.budget.take(countNodes()));
    in.set(block.inputs[0], number);
    for (auto [input, state] :
         llvm::zip_equal(llvm::drop_begin(block.inputs), current))
      in.set(input, state);
    GLOWISH_RETURN_IF_ERROR(in.run(block));
    ScriptValues outputs = in.getOutputs(block);
    GLOWISH_ASSIGN_OR_RETURN(
        bool isComplete,
        findChanges(current, ScriptValues(outputs.begin() + 1, outputs.end())));
    if (isComplete)
      GLOWISH_RETURN_IF_ERROR(addResults(body, outputs));
    return isComplete;
  };
  llvm::Expected<bool> isComplete = execute();
  in.memory.scope = outer;
  in.journal.rollBack(mark);
  return isComplete;
}

//===- Loop nodes ---------------------------------------------------------===//

llvm::Expected<int64_t> LoopImporter::getMost() const {
  const ScriptValue &trips = call.inputs[0];
  if (trips.isInt() && trips.getInt() <= INT32_MAX)
    return std::max<int64_t>(trips.getInt(), 0);
  if (int64_t most = in.options.maxTripCount)
    return most;
  return makeError("the loop has no bound; accepted: a trip count and "
                   "conditions that are known when the model is compiled, or "
                   "-max-trip-count=N");
}

/// The leaves of the states before the loop, in the order of parameters.
std::vector<NodeValue> LoopImporter::getInitial() {
  std::vector<NodeValue> values;
  for (size_t i = 0; i < first.size(); ++i)
    if (isVariant[i])
      forEachLeaf(first[i], [&](const ScriptLeaves &leaf) {
        values.push_back(getLeaf(in, leaf));
      });
  for (const Storage &storage : changed)
    values.push_back(in.memory.enter(storage->value));
  return values;
}

/// The states after the loop.
llvm::Expected<ScriptValues> LoopImporter::takeResults(Node &loop) {
  unsigned next = 0;
  auto take = [&](const ScriptLeaves &) -> llvm::Expected<NodeValue> {
    return loop.getResult(next++);
  };
  LeafRebuilder rebuilder(in, take);
  ScriptValues results = states;
  for (auto [i, state] : llvm::enumerate(results))
    if (isVariant[i]) {
      GLOWISH_ASSIGN_OR_RETURN(state, rebuilder.rebuild(first[i], birth));
    }
  for (const Storage &storage : changed)
    in.memory.assign(storage, loop.getResult(next++));
  return results;
}

llvm::Expected<ScriptValues> LoopImporter::makeLoop() {
  GLOWISH_ASSIGN_OR_RETURN(int64_t most, getMost());
  for (const ScriptValue &state : states) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptLeaves leaves, readLeaves(in, state));
    first.push_back(std::move(leaves));
  }
  mark = in.journal.mark();
  birth = in.memory.now();
  std::optional<OpenBody> body;
  // What an iteration changes shows when it is imported.
  for (bool isComplete = false; !isComplete;) {
    body.emplace(in.getFunction().getModule(), "body");
    GLOWISH_ASSIGN_OR_RETURN(isComplete, importBody(*body));
  }
  std::vector<NodeValue> values = getInitial();
  auto numStates = int64_t(values.size());
  llvm::append_range(values, body->getCaptures());
  const ScriptValue &trips = call.inputs[0], &begins = call.inputs[1];
  // A bound that is an assumption is checked by the loop.
  NodeValue tripCount = trips.isInt() && trips.getInt() <= most
                            ? NodeValue()
                            : in.makeScalar(trips);
  std::shared_ptr<Body> attr = body->getAttr();
  GLOWISH_ASSIGN_OR_RETURN(LoopNode *node, in.getFunction().tryCreate<LoopNode>(
                                               in.memory.nodeName, tripCount,
                                               in.makeScalar(begins), attr,
                                               numStates, most, values));
  return takeResults(*node);
}

llvm::Expected<ScriptValues> LoopImporter::import() {
  const ScriptValue &trips = call.inputs[0], &begins = call.inputs[1];
  bool isCounted = trips.isInt() && trips.getInt() <= INT32_MAX;
  // Nothing happens.
  if ((begins.is<bool>() && !begins.get<bool>()) ||
      (trips.isInt() && trips.getInt() <= 0))
    return states;
  int64_t few = maxUnrolledNodes / countNodes(),
          many = maxForcedUnrolledNodes / countNodes();
  // How many iterations there are of a loop with known conditions shows when it
  // is executed.
  if (!isCounted || trips.getInt() <= few) {
    GLOWISH_ASSIGN_OR_RETURN(std::optional<ScriptValues> values, unroll(many));
    if (values)
      return std::move(*values);
    return makeLoop();
  }
  size_t start = in.journal.mark();
  llvm::Expected<ScriptValues> values = makeLoop();
  if (values)
    return values;
  std::string reason = llvm::toString(values.takeError());
  in.journal.rollBack(start);
  GLOWISH_ASSIGN_OR_RETURN(std::optional<ScriptValues> all, unroll(many));
  if (all)
    return std::move(*all);
  return makeError("{0}", reason);
}

static llvm::Expected<bool> importLoop(ScriptCall &call) {
  if (!call.inputs[0].isInt() && !call.inputs[0].isComputed())
    return call.refuse(0, "an int");
  GLOWISH_ASSIGN_OR_RETURN(call.outputs, LoopImporter(call).import());
  return true;
}
static const ScriptOperators loops(importLoop, {"prim::Loop"});
