//===- Branches.cpp - Import of prim::If ----------------------------------===//
//
// A branch whose condition is known is executed. Otherwise both are, each into
// a body of an If node, whose results are the outputs that differ, and what
// either branch changes of tensors, lists and objects from outside.
//
//===----------------------------------------------------------------------===//

#include "TorchScript/Leaves.h"

using namespace glowish;
using namespace glowish::torchscript;

namespace {

using Storage = std::shared_ptr<ScriptStorage>;

/// A slot of a list, or an attribute, that a branch may change.
struct Slot {
  std::shared_ptr<ScriptList> list = {};
  size_t index = 0;
  std::shared_ptr<ScriptObject> object = {};
  std::string attribute = {};

  bool operator==(const Slot &) const = default;
  ScriptValue get() const {
    return list ? list->elements[index]
                : object->attributes.find(attribute)->second;
  }
};

/// One side of an If node.
struct Branch {
  Branch(Function &function, ScriptScope &outer, llvm::StringRef name)
      : body(function.getModule(), name),
        scope{body.getFunction(), &body, &outer} {}

  const ScriptLeaves *find(const Slot &slot) const {
    for (const auto &[own, leaves] : slots)
      if (own == slot)
        return &leaves;
    return nullptr;
  }

  OpenBody body;
  ScriptScope scope;
  std::vector<ScriptLeaves> outputs;
  /// What it changed, and to what.
  std::vector<std::pair<Storage, NodeValue>> storages;
  std::vector<std::pair<Slot, ScriptLeaves>> slots;
};

class IfImporter {
public:
  IfImporter(ScriptCall &call)
      : call(call), in(call.in), outer(*in.memory.scope),
        mark(in.journal.mark()), birth(in.memory.now()),
        then(outer.function, outer, "then"),
        other(outer.function, outer, "else") {}

  llvm::Error import();

private:
  llvm::Error run(const ProgramBlock &block, Branch &branch);
  llvm::Error readChanges(Branch &branch);
  llvm::Error addSlot(Branch &branch, Slot slot);
  llvm::Error mergeStorages();
  llvm::Error mergeSlots();
  ScriptLeaves enter(const ScriptLeaves &leaves, Branch &branch);
  llvm::Error addPair(NodeValue x, NodeValue y);
  llvm::Expected<Node *> makeNode();

  ScriptCall &call;
  ScriptInterpreter &in;
  ScriptScope &outer;
  size_t mark;
  uint64_t birth;
  Branch then, other;
  unsigned numResults = 0;
  /// What either branch changed.
  std::vector<Storage> storages;
  struct Changed {
    Slot slot;
    ScriptLeaves then, other;
  };
  std::vector<Changed> slots;
};

} // namespace

//===- Branches -----------------------------------------------------------===//

llvm::Error IfImporter::addSlot(Branch &branch, Slot slot) {
  GLOWISH_ASSIGN_OR_RETURN(ScriptLeaves leaves, readLeaves(in, slot.get()));
  branch.slots.emplace_back(std::move(slot), std::move(leaves));
  return llvm::Error::success();
}

/// Remembers what \p branch, which was executed, changed.
llvm::Error IfImporter::readChanges(Branch &branch) {
  for (const Storage &storage :
       in.journal.getChanged<ScriptStorage>(mark, birth))
    branch.storages.emplace_back(storage, in.memory.enter(storage->value));
  for (auto &list : in.journal.getChanged<ScriptList>(mark, birth))
    for (size_t i = 0; i < list->elements.size(); ++i)
      GLOWISH_RETURN_IF_ERROR(addSlot(branch, {.list = list, .index = i}));
  if (!in.journal.getChanged<ScriptDict>(mark, birth).empty())
    return makeError("it changes a dictionary in a branch; accepted: a "
                     "condition that is known when the model is compiled");
  for (auto &object : in.journal.getChanged<ScriptObject>(mark, birth))
    for (const auto &[name, value] : object->attributes)
      if (!value.isObject())
        GLOWISH_RETURN_IF_ERROR(
            addSlot(branch, {.object = object, .attribute = name}));
  return llvm::Error::success();
}

llvm::Error IfImporter::run(const ProgramBlock &block, Branch &branch) {
  in.memory.scope = &branch.scope;
  auto execute = [&]() -> llvm::Error {
    GLOWISH_RETURN_IF_ERROR(in.budget.take(1 + int64_t(block.nodes.size())));
    GLOWISH_RETURN_IF_ERROR(in.run(block));
    for (const ScriptValue &output : in.getOutputs(block)) {
      GLOWISH_ASSIGN_OR_RETURN(ScriptLeaves leaves, readLeaves(in, output));
      branch.outputs.push_back(std::move(leaves));
    }
    return readChanges(branch);
  };
  llvm::Error error = execute();
  in.memory.scope = &outer;
  in.journal.rollBack(mark);
  return error;
}

//===- Merging ------------------------------------------------------------===//

llvm::Error IfImporter::addPair(NodeValue x, NodeValue y) {
  if (x.getType() != y.getType())
    return makeError("a tensor is {0} in one branch and {1} in the other; "
                     "accepted: one type, or a condition that is known when "
                     "the model is compiled",
                     x.getType().str(), y.getType().str());
  then.body.getFunction().addResult("result", x);
  other.body.getFunction().addResult("result", y);
  ++numResults;
  return llvm::Error::success();
}

/// \p leaves of the function around, in the body of \p branch.
ScriptLeaves IfImporter::enter(const ScriptLeaves &leaves, Branch &branch) {
  ScriptLeaves entered{leaves.value};
  if (leaves.leaf)
    entered.leaf = branch.body.enter(leaves.leaf);
  for (const ScriptLeaves &element : leaves.elements)
    entered.elements.push_back(enter(element, branch));
  return entered;
}

llvm::Error IfImporter::mergeStorages() {
  for (const Branch *branch : {&then, &other})
    for (const auto &[storage, value] : branch->storages)
      if (!llvm::is_contained(storages, storage))
        storages.push_back(storage);
  auto find = [](const Branch &branch, const Storage &storage) {
    for (const auto &[own, value] : branch.storages)
      if (own == storage)
        return value;
    return NodeValue();
  };
  for (const Storage &storage : storages) {
    // Both bodies have the same captures in the same order.
    NodeValue before = in.memory.enter(storage->value);
    NodeValue x = then.body.enter(before), y = other.body.enter(before);
    NodeValue own = find(then, storage), otherOwn = find(other, storage);
    GLOWISH_RETURN_IF_ERROR(addPair(own ? own : x, otherOwn ? otherOwn : y));
  }
  return llvm::Error::success();
}

llvm::Error IfImporter::mergeSlots() {
  std::vector<Slot> changed;
  for (const Branch *branch : {&then, &other})
    for (const auto &[slot, leaves] : branch->slots)
      if (!llvm::is_contained(changed, slot))
        changed.push_back(slot);
  for (const Slot &slot : changed) {
    if (slot.list && slot.index >= slot.list->elements.size())
      return makeError("it appends to a list in a branch; accepted: a "
                       "condition that is known when the model is compiled");
    GLOWISH_ASSIGN_OR_RETURN(ScriptLeaves before, readLeaves(in, slot.get()));
    ScriptLeaves x = enter(before, then), y = enter(before, other);
    if (const ScriptLeaves *own = then.find(slot))
      x = *own;
    if (const ScriptLeaves *own = other.find(slot))
      y = *own;
    if (!areSame(x.value, before.value) || !areSame(y.value, before.value))
      slots.push_back({slot, std::move(x), std::move(y)});
  }
  return llvm::Error::success();
}

llvm::Expected<Node *> IfImporter::makeNode() {
  if (numResults == 0)
    return nullptr;
  std::shared_ptr<Body> thenBody = then.body.getAttr(),
                        otherBody = other.body.getAttr();
  GLOWISH_ASSIGN_OR_RETURN(
      IfNode *node, outer.function.tryCreate<IfNode>(
                        in.memory.nodeName, in.makeScalar(call.inputs[0]),
                        thenBody, otherBody, then.body.getCaptures()));
  return node;
}

llvm::Error IfImporter::import() {
  GLOWISH_RETURN_IF_ERROR(run(call.node.blocks[0], then));
  other.body.enterCaptures(then.body);
  GLOWISH_RETURN_IF_ERROR(run(call.node.blocks[1], other));
  then.body.enterCaptures(other.body);
  GLOWISH_RETURN_IF_ERROR(mergeStorages());
  GLOWISH_RETURN_IF_ERROR(mergeSlots());
  auto add = [&](NodeValue x, NodeValue y) { return addPair(x, y); };
  LeafMerger merger(in, add);
  for (const Changed &changed : slots)
    GLOWISH_RETURN_IF_ERROR(merger.add(changed.then, changed.other));
  for (auto [x, y] : llvm::zip_equal(then.outputs, other.outputs))
    GLOWISH_RETURN_IF_ERROR(merger.add(x, y));
  GLOWISH_ASSIGN_OR_RETURN(Node *node, makeNode());
  unsigned next = 0;
  for (const Storage &storage : storages)
    in.memory.assign(storage, node->getResult(next++));
  auto take = [&](const ScriptLeaves &x, const ScriptLeaves &y) {
    return merger.take(x, y, node, next, birth);
  };
  for (const Changed &changed : slots) {
    ScriptValue value = take(changed.then, changed.other);
    const Slot &slot = changed.slot;
    if (slot.list) {
      in.journal.save(slot.list);
      slot.list->elements[slot.index] = value;
    } else {
      in.journal.save(slot.object);
      slot.object->attributes[slot.attribute] = value;
    }
  }
  for (auto [x, y] : llvm::zip_equal(then.outputs, other.outputs))
    call.outputs.push_back(take(x, y));
  return llvm::Error::success();
}

//===- prim::If -----------------------------------------------------------===//

/// Whether \p block ends the program with an exception.
static bool raises(const ProgramBlock &block) {
  return llvm::any_of(block.nodes, [](const ProgramNode &node) {
    return node.kind == "prim::RaiseException";
  });
}

static llvm::Error runBlock(ScriptCall &call, const ProgramBlock &block) {
  GLOWISH_RETURN_IF_ERROR(call.in.run(block));
  call.outputs = call.in.getOutputs(block);
  return llvm::Error::success();
}

static llvm::Expected<bool> importIf(ScriptCall &call) {
  const ScriptValue &condition = call.inputs[0];
  const ProgramBlock &then = call.node.blocks[0], &other = call.node.blocks[1];
  if (condition.isKnownNumber()) {
    bool isTrue = areEqual(condition, false) == false;
    GLOWISH_RETURN_IF_ERROR(runBlock(call, isTrue ? then : other));
    return true;
  }
  if (!condition.isComputed())
    return call.refuse(0, "a bool");
  if (raises(then) || raises(other)) {
    GLOWISH_RETURN_IF_ERROR(call.in.report(
        llvm::formatv("'{0}': the exception at {1} depends on data and is not "
                      "checked",
                      call.in.program.name,
                      call.node.source.empty() ? "an unknown line"
                                               : call.node.source)
            .str()));
    GLOWISH_RETURN_IF_ERROR(runBlock(call, raises(then) ? other : then));
    return true;
  }
  GLOWISH_RETURN_IF_ERROR(IfImporter(call).import());
  return true;
}
static const ScriptOperators ifOperator(importIf, {"prim::If"});
