//===- Loops.cpp - Import of prim::Loop -----------------------------------===//
//
// A loop of few nodes, with conditions and a trip count that are known, is
// executed iteration by iteration. Another one becomes a Loop node: what an
// iteration changes of the loop's values, and of tensors from outside, are its
// states.
//
//===----------------------------------------------------------------------===//

#include "TorchScript/LoopTensors.h"

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
  llvm::Expected<ScriptValues>
  enterStates(llvm::function_ref<NodeValue(const Type &)> next);
  llvm::Expected<ScriptValue>
  enter(const ScriptValue &first, size_t &tensor,
        llvm::function_ref<NodeValue(const Type &)> next);
  void forbidChanges(const ScriptValue &state);
  llvm::Expected<bool> findChanges(const ScriptValues &before,
                                   const ScriptValues &after);
  llvm::Expected<bool> findPlaces(const ScriptValues &after);
  void findAppended();
  llvm::Error collect(const std::shared_ptr<ScriptList> &list,
                      llvm::ArrayRef<ScriptValue> after);
  llvm::Expected<bool> collectAll();
  void takeCollected(llvm::function_ref<NodeValue()> next);
  llvm::Error checkState(size_t index, const ScriptValue &first,
                         const ScriptValue &next) const;
  llvm::Error addResults(OpenBody &body, const ScriptValues &outputs);
  std::vector<std::pair<ScriptValue, size_t>>
  getVariantLeaves(llvm::ArrayRef<ScriptValue> values) const;
  llvm::Expected<std::vector<NodeValue>> getInitial();
  llvm::Expected<int64_t> getMost() const;
  int64_t countNodes() const;

  ScriptCall &call;
  ScriptInterpreter &in;
  const ProgramBlock &block;
  ScriptValues states;
  /// Their tensors, if the loop becomes a node, and how many each has.
  std::optional<LoopTensors> tensors;
  std::vector<size_t> numTensors;
  /// Whether a state is another value in the next iteration.
  std::vector<bool> isVariant;
  /// The tensors from outside that an iteration changes: further states.
  std::vector<Storage> changed;
  /// Those of which another one may be the same memory, which it changes.
  std::vector<Storage> conflicts;
  /// A list from outside that each iteration appends as many tensors to.
  struct Collected {
    std::shared_ptr<ScriptList> list;
    /// Their numbers in `tensors`.
    std::vector<size_t> numbers = {};
    /// The tensors of the iteration that was imported.
    std::vector<ScriptPlaceRef> appended = {};
  };
  std::vector<Collected> lists;
  /// Lists that an iteration changed, with what they have after it.
  std::vector<std::pair<std::shared_ptr<ScriptList>, ScriptValues>> grown;
  /// Whether as many iterations are executed as there are trips.
  bool isExact = false;
  size_t mark = 0;
  uint64_t birth = 0;
};

} // namespace

/// Appends each tensor and each number in \p value to \p leaves.
static void addLeaves(const ScriptValue &value, ScriptValues &leaves) {
  if (value.isTensor() || value.isNumber())
    leaves.push_back(value);
  for (const ScriptValue &element : value.getElements())
    addLeaves(element, leaves);
}

static ScriptValues getLeaves(const ScriptValue &value) {
  ScriptValues leaves;
  addLeaves(value, leaves);
  return leaves;
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

//===- States -------------------------------------------------------------===//

/// Makes a value that stands for a state that is \p first before the loop.
/// Lists and dictionaries may be those from before it, and must not be changed.
llvm::Expected<ScriptValue>
LoopImporter::enter(const ScriptValue &first, size_t &tensor,
                    llvm::function_ref<NodeValue(const Type &)> next) {
  if (first.isTensor()) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptPlaceRef place,
                             tensors->enter(tensor++, next));
    return ScriptValue(in.memory.createAt(std::move(place)));
  }
  if (first.isNumber())
    return ScriptValue(next(*first.getType()));
  if (!first.isContainer())
    return first;
  ScriptValues elements;
  for (const ScriptValue &element : first.getElements()) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptValue own, enter(element, tensor, next));
    elements.push_back(std::move(own));
  }
  ScriptValue value = in.makeContainer(first, std::move(elements));
  in.forbidChanges(value);
  return value;
}

/// Forbids changes of lists and dictionaries in \p state, which the loop may
/// have handed on.
void LoopImporter::forbidChanges(const ScriptValue &state) {
  if (!state.isContainer())
    return;
  in.forbidChanges(state);
  for (const ScriptValue &element : state.getElements())
    forbidChanges(element);
}

/// Begins an iteration, or what follows the loop, with the tensors from outside
/// and the states, in the order of the node's states.
llvm::Expected<ScriptValues>
LoopImporter::enterStates(llvm::function_ref<NodeValue(const Type &)> next) {
  for (const Storage &storage : changed)
    in.memory.assign(storage, next(storage->value.getType()));
  for (const Storage &storage : conflicts)
    in.memory.setConflicting(storage);
  ScriptValues current = states;
  size_t tensor = 0;
  for (auto [i, state] : llvm::enumerate(current)) {
    if (!isVariant[i]) {
      tensor += numTensors[i];
      continue;
    }
    GLOWISH_ASSIGN_OR_RETURN(state, enter(states[i], tensor, next));
  }
  tensors->joinUncertain();
  return current;
}

/// Returns the tensors and numbers in those of \p values, one for each state,
/// that are others in each iteration, with the numbers of the tensors.
std::vector<std::pair<ScriptValue, size_t>>
LoopImporter::getVariantLeaves(llvm::ArrayRef<ScriptValue> values) const {
  std::vector<std::pair<ScriptValue, size_t>> all;
  size_t tensor = 0;
  for (auto [i, value] : llvm::enumerate(values)) {
    size_t own = tensor;
    tensor += numTensors[i];
    if (!isVariant[i])
      continue;
    for (const ScriptValue &leaf : getLeaves(value))
      all.emplace_back(leaf, leaf.isTensor() ? own++ : own);
  }
  return all;
}

/// Returns the values of the node's states before the loop.
llvm::Expected<std::vector<NodeValue>> LoopImporter::getInitial() {
  std::vector<NodeValue> values;
  for (const Storage &storage : changed)
    values.push_back(in.memory.enter(storage->value));
  for (NodeValue value : values)
    if (value.getType().hasExtents())
      return makeError("an iteration changes a tensor, {0}; accepted: extents "
                       "that no run decides",
                       value.getType().str());
  for (const auto &[leaf, tensor] : getVariantLeaves(states)) {
    if (leaf.isTensor() && leaf.isOpen())
      return makeError("an iteration gets {0}; accepted: extents that no run "
                       "decides",
                       leaf.describe());
    if (!leaf.isTensor()) {
      values.push_back(in.makeScalar(leaf));
      continue;
    }
    GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> own,
                             tensors->getInitial(tensor));
    llvm::append_range(values, own);
  }
  return values;
}

//===- Bodies -------------------------------------------------------------===//

static llvm::Error refuseContainer() {
  return makeError("an iteration changes a list or a dictionary; accepted: "
                   "that each iteration appends tensors to a list, tensors and "
                   "numbers, or a trip count and conditions that are known "
                   "when the model is compiled");
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
  auto note = [&](std::vector<Storage> &known, const Storage &storage) {
    if (llvm::is_contained(known, storage))
      return;
    known.push_back(storage);
    isComplete = false;
  };
  for (const Storage &storage :
       in.journal.getChanged<ScriptStorage>(mark, birth)) {
    if (storage->version > birth)
      note(changed, storage);
    if (storage->isConflicting)
      note(conflicts, storage);
  }
  for (const std::shared_ptr<ScriptList> &list :
       in.journal.getChanged<ScriptList>(mark, birth))
    grown.emplace_back(list, list->elements);
  if (!in.journal.getChanged<ScriptDict>(mark, birth).empty())
    return refuseContainer();
  tensors->noteConflicts();
  if (!in.journal.getChanged<ScriptObject>(mark, birth).empty())
    return makeError("an iteration sets an attribute; accepted: tensors that "
                     "are changed in place, or a trip count and conditions "
                     "that are known when the model is compiled");
  if (!in.journal.getChanged<ScriptTensor>(mark, birth).empty())
    return makeError("an iteration changes the shape of a tensor in place; "
                     "accepted: operators that return another tensor, or a "
                     "trip count and conditions that are known when the model "
                     "is compiled");
  return isComplete;
}

//===- Lists --------------------------------------------------------------===//

/// Finds the tensors that the iteration appended to the lists that are known to
/// grow.
void LoopImporter::findAppended() {
  for (auto &[list, after] : grown) {
    auto known = llvm::find_if(
        lists, [&](const Collected &own) { return own.list == list; });
    if (known == lists.end())
      continue;
    known->appended.clear();
    if (after.size() < known->numbers.size())
      continue;
    for (const ScriptValue &element :
         llvm::ArrayRef(after).take_back(known->numbers.size()))
      if (element.isTensor())
        known->appended.push_back(element.getTensor()->place);
  }
}

/// Lets each iteration append to \p list, which has these elements \p after the
/// first one; an error if it does something else, or nothing that can be
/// collected.
llvm::Error LoopImporter::collect(const std::shared_ptr<ScriptList> &list,
                                  llvm::ArrayRef<ScriptValue> after) {
  const ScriptValues &before = list->elements;
  if (!isExact || after.size() <= before.size())
    return refuseContainer();
  for (auto [x, y] : llvm::zip(before, after))
    if (!areSame(x, y))
      return refuseContainer();
  Collected own{list};
  for (const ScriptValue &element : after.drop_front(before.size())) {
    if (!element.isTensor())
      return refuseContainer();
    own.numbers.push_back(tensors->addCollected());
  }
  lists.push_back(std::move(own));
  return llvm::Error::success();
}

/// Returns whether all lists that the iteration, which was taken back, changed
/// were known to grow; adds others.
llvm::Expected<bool> LoopImporter::collectAll() {
  bool areKnown = true;
  for (const auto &[list, after] : grown) {
    const auto &changed = list;
    auto known = llvm::find_if(
        lists, [&](const Collected &own) { return own.list == changed; });
    if (known == lists.end()) {
      GLOWISH_RETURN_IF_ERROR(collect(list, after));
      areKnown = false;
    } else if (after.size() != list->elements.size() + known->numbers.size()) {
      return refuseContainer();
    }
  }
  for (const Collected &own : lists)
    if (areKnown && (!isExact || own.appended.size() != own.numbers.size()))
      return refuseContainer();
  return areKnown;
}

/// Appends to lists what iterations appended. \p next returns the next result.
void LoopImporter::takeCollected(llvm::function_ref<NodeValue()> next) {
  for (const Collected &own : lists) {
    std::vector<ScriptPlaceRef> places;
    for (size_t number : own.numbers)
      places.push_back(tensors->takeCollected(number, next()));
    in.journal.save(own.list);
    for (int64_t trip = 0; trip < call.inputs[0].getInt(); ++trip)
      for (const ScriptPlaceRef &place : places)
        own.list->elements.push_back(
            in.memory.createAt(in.memory.makePart(place, 0, trip)));
  }
}

/// Refuses a state that is \p first before the loop and can't be \p next.
llvm::Error LoopImporter::checkState(size_t index, const ScriptValue &first,
                                     const ScriptValue &next) const {
  auto refuse = [&] {
    return makeError("state {0} is {1} at first and then {2}; accepted: one "
                     "type, or a trip count and conditions that are known when "
                     "the model is compiled",
                     index, first.describe(), next.describe());
  };
  if (first.isNumber())
    return next.isNumber() && first.getType() == next.getType()
               ? llvm::Error::success()
               : refuse();
  if (first.value.index() != next.value.index())
    return refuse();
  if (first.isTensor())
    return first.getTensor()->getType() == next.getTensor()->getType()
               ? llvm::Error::success()
               : refuse();
  if (!first.isContainer())
    return areSame(first, next) ? llvm::Error::success() : refuse();
  ScriptValues own = first.getElements(), other = next.getElements();
  if (own.size() != other.size() || !haveSameKeys(first, next))
    return refuse();
  for (auto [x, y] : llvm::zip_equal(own, other))
    GLOWISH_RETURN_IF_ERROR(checkState(index, x, y));
  return llvm::Error::success();
}

/// Returns whether the places that tensors have after an iteration were known.
llvm::Expected<bool> LoopImporter::findPlaces(const ScriptValues &after) {
  std::vector<LoopTensors::Yield> yields;
  for (auto [i, state] : llvm::enumerate(states))
    if (isVariant[i])
      GLOWISH_RETURN_IF_ERROR(checkState(i, state, after[i]));
  for (const auto &[leaf, tensor] : getVariantLeaves(after))
    if (leaf.isTensor())
      yields.push_back({tensor, leaf.getTensor()->place});
  for (const Collected &own : lists)
    for (auto [number, place] : llvm::zip(own.numbers, own.appended))
      yields.push_back({number, place});
  return tensors->findPlaces(yields);
}

llvm::Error LoopImporter::addResults(OpenBody &body,
                                     const ScriptValues &outputs) {
  if (!outputs[0].is<bool>() && !outputs[0].isComputed())
    return makeError("the condition is {0}; accepted: a bool",
                     outputs[0].describe());
  Function &function = body.getFunction();
  function.addResult("next", in.makeScalar(outputs[0]));
  for (const Storage &storage : changed)
    function.addResult("memory", in.memory.enter(storage->value));
  for (const auto &[leaf, tensor] :
       getVariantLeaves(llvm::ArrayRef(outputs).drop_front())) {
    if (!leaf.isTensor()) {
      function.addResult("next", in.makeScalar(leaf));
      continue;
    }
    GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> values,
                             tensors->getNext(tensor));
    for (NodeValue value : values)
      function.addResult("next", value);
  }
  for (const Collected &own : lists)
    for (const ScriptPlaceRef &place : own.appended) {
      GLOWISH_ASSIGN_OR_RETURN(NodeValue value, in.memory.read(place));
      function.addResult("collected", value);
    }
  return llvm::Error::success();
}

/// Imports an iteration: whether all that changes was known before.
llvm::Expected<bool> LoopImporter::importBody(OpenBody &body) {
  NodeValue number = body.addParameter("number", Type(ElemKind::Int64, {}));
  body.addParameter("condition", Type(ElemKind::Bool, {}));
  ScriptScope *outer = in.memory.scope;
  ScriptScope inside{body.getFunction(), &body, outer};
  in.memory.scope = &inside;
  grown.clear();
  std::set<const ScriptList *> outerLists = in.growingLists;
  for (const Collected &own : lists)
    in.growingLists.insert(own.list.get());
  auto execute = [&]() -> llvm::Expected<bool> {
    for (const Collected &own : lists)
      for (size_t number : own.numbers)
        tensors->enterCollected(number);
    GLOWISH_ASSIGN_OR_RETURN(ScriptValues current,
                             enterStates([&](const Type &type) {
                               return body.addParameter("state", type);
                             }));
    GLOWISH_RETURN_IF_ERROR(in.budget.take(countNodes()));
    in.set(block.inputs[0], number);
    for (auto [input, state] :
         llvm::zip_equal(llvm::drop_begin(block.inputs), current))
      in.set(input, state);
    GLOWISH_RETURN_IF_ERROR(in.run(block));
    ScriptValues outputs = in.getOutputs(block);
    ScriptValues after(outputs.begin() + 1, outputs.end());
    isExact = call.inputs[0].isInt() && call.inputs[1].is<bool>() &&
              outputs[0].is<bool>() && outputs[0].get<bool>();
    GLOWISH_ASSIGN_OR_RETURN(bool isComplete, findChanges(current, after));
    findAppended();
    GLOWISH_ASSIGN_OR_RETURN(bool areKnown, findPlaces(after));
    isComplete &= areKnown;
    if (isComplete)
      GLOWISH_RETURN_IF_ERROR(addResults(body, outputs));
    return isComplete;
  };
  llvm::Expected<bool> isComplete = execute();
  in.growingLists = std::move(outerLists);
  in.memory.scope = outer;
  in.journal.rollBack(mark);
  if (!isComplete)
    return isComplete;
  GLOWISH_ASSIGN_OR_RETURN(bool areKnown, collectAll());
  return *isComplete && areKnown;
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
  tensors.emplace(in, birth);
  numTensors.assign(states.size(), 0);
  for (auto [i, state] : llvm::enumerate(states))
    for (const ScriptValue &leaf : getLeaves(state))
      if (leaf.isTensor()) {
        tensors->add(leaf.getTensor()->place);
        ++numTensors[i];
      }
  std::optional<OpenBody> body;
  // What an iteration changes shows when it is imported.
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
