//===- Loops.cpp - Import of prim::Loop -----------------------------------===//

#include "TorchScript/LoopImporter.h"

using namespace glowish;
using namespace glowish::torchscript;

/// Maximum number of nodes of unrolled loops that cannot become a Loop node.
static constexpr int64_t maxForcedUnrolledNodes = 1 << 14;

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

llvm::Expected<ScriptValues>
LoopImporter::runBlock(const ScriptValue &number, const ScriptValues &current) {
  in.set(block.inputs[0], number);
  for (auto [input, state] :
       llvm::zip_equal(llvm::drop_begin(block.inputs), current))
    in.set(input, state);
  GLOWISH_RETURN_IF_ERROR(in.run(block));
  return in.getOutputs(block);
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
    GLOWISH_ASSIGN_OR_RETURN(ScriptValues outputs, runBlock(number, current));
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

//===- Loop nodes ---------------------------------------------------------===//

llvm::Expected<int64_t> LoopImporter::getMost() const {
  const ScriptValue &trips = call.inputs[0];
  if (trips.isInt() && trips.getInt() <= INT32_MAX)
    return std::max<int64_t>(trips.getInt(), 0);
  if (int64_t most = in.options.maxTripCount)
    return most;
  return makeError("the loop has no bound; accepted: a trip count and "
                   "conditions that are known when the model is compiled, or "
                   "«max-trip-count=N»");
}

llvm::Expected<ScriptValues> LoopImporter::makeLoop() {
  GLOWISH_ASSIGN_OR_RETURN(int64_t most, getMost());
  mark = in.journal.mark();
  birth = in.memory.now();
  addTensors();
  std::optional<OpenBody> body;
  // The changes of an iteration show when it is imported.
  for (bool isComplete = false; !isComplete;) {
    body.emplace(in.getFunction().getModule(), "body");
    GLOWISH_ASSIGN_OR_RETURN(isComplete, importBody(*body));
  }
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> values, getInitial());
  auto numStates = int64_t(values.size());
  llvm::append_range(values, body->getCaptures());
  const ScriptValue &trips = call.inputs[0], &begins = call.inputs[1];
  // A bound that is an assumption is checked by the loop.
  NodeValue tripCount = trips.isInt() && trips.getInt() <= most
                            ? NodeValue()
                            : in.makeScalar(trips);
  std::shared_ptr<Body> attr = body->getAttr();
  GLOWISH_ASSIGN_OR_RETURN(LoopNode *node,
                           in.getFunction().tryCreate<LoopNode>(
                               in.memory.nodeName, tripCount,
                               in.makeScalar(begins), attr, numStates, most,
                               values, in.describe(call.node)));
  if (trips.isInt() && begins.is<bool>())
    tensors->setExecuted();
  unsigned next = 0;
  auto getNext = [&] { return node->getResult(next++); };
  GLOWISH_ASSIGN_OR_RETURN(ScriptValues results, enterStates([&](const Type &) {
                             return getNext();
                           }));
  takeCollected(getNext);
  tensors->joinUncertain();
  for (auto [i, state] : llvm::enumerate(states))
    if (isVariant[i])
      forbidChanges(state);
  return results;
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
    return call.refuse(0, "an int that no run decides");
  GLOWISH_ASSIGN_OR_RETURN(call.outputs, LoopImporter(call).import());
  return true;
}
static const ScriptOperators loops(importLoop, {"prim::Loop"});
