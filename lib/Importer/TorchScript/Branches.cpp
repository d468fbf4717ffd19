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

/// A list, a dictionary, an object or a tensor that a branch changes: the
/// elements of a container, the attributes of an object, or a tensor itself,
/// which has another place.
struct Change {
  ScriptValue cell;
  /// The keys of entries and attributes; empty for others.
  ScriptValues keys = {};
  std::vector<ScriptLeaves> parts = {};
  /// Whether a container must not be changed any more.
  bool isUncertain = false;

  bool isSameCell(const ScriptValue &other) const;
};

/// One side of an If node.
struct Branch {
  Branch(Function &function, ScriptScope &outer, llvm::StringRef name)
      : body(function.getModule(), name),
        scope{body.getFunction(), &body, &outer} {}

  const Change *find(const ScriptValue &cell) const {
    auto found = llvm::find_if(
        changes, [&](const Change &change) { return change.isSameCell(cell); });
    return found == changes.end() ? nullptr : &*found;
  }

  OpenBody body;
  ScriptScope scope;
  std::optional<BodyExit> exit;
  std::vector<ScriptLeaves> outputs;
  /// The storages, with their new elements, and the cells that it changed.
  std::vector<std::pair<Storage, NodeValue>> storages;
  std::vector<Change> changes;
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
  llvm::Error readChange(Branch &branch, const ScriptValue &cell);
  llvm::Error mergeStorages();
  llvm::Error mergeChanges();
  llvm::Error mergeChange(const ScriptValue &cell);
  llvm::Expected<Change> completeChange(Branch &branch,
                                        const ScriptValue &cell);
  ScriptLeaves enter(const ScriptLeaves &leaves, Branch &branch);
  llvm::Expected<unsigned> addResult(NodeValue x, NodeValue y);
  llvm::Error addLeaves(LeafMerger &merger);
  llvm::Expected<Node *> makeNode(NodeValue condition);
  llvm::Error takeLeaves(LeafMerger &merger);
  llvm::Error takeChange(LeafMerger &merger, const Change &x, const Change &y);

  ScriptCall &call;
  ScriptInterpreter &in;
  ScriptScope &outer;
  size_t mark;
  uint64_t birth;
  Branch then, other;
  unsigned numResults = 0;
  /// The storages that either branch changed.
  std::vector<Storage> storages;
  /// The storages of which another one may be the same memory, and was written.
  std::vector<Storage> conflicts;
  /// The same cells on both sides.
  std::vector<std::pair<Change, Change>> changes;
};

} // namespace

bool Change::isSameCell(const ScriptValue &other) const {
  if (cell.value.index() != other.value.index())
    return false;
  return cell.isList()     ? &cell.getList() == &other.getList()
         : cell.isDict()   ? &cell.getDict() == &other.getDict()
         : cell.isObject() ? &cell.getObject() == &other.getObject()
                           : cell.getTensor() == other.getTensor();
}

//===- Branches -----------------------------------------------------------===//

/// Returns the keys and the parts that \p cell has now.
static std::pair<ScriptValues, ScriptValues> getParts(const ScriptValue &cell) {
  ScriptValues keys, parts;
  if (cell.isContainer()) {
    parts = cell.getElements();
    if (cell.isDict())
      for (const ScriptDict::Entry &entry : cell.getDict().entries)
        keys.push_back(entry.key);
  } else if (cell.isObject()) {
    for (const auto &[name, value] : cell.getObject().attributes)
      // Objects are the same for both branches.
      if (!value.isObject()) {
        keys.push_back(name);
        parts.push_back(value);
      }
  } else {
    parts.push_back(cell);
  }
  return {std::move(keys), std::move(parts)};
}

llvm::Error IfImporter::readChange(Branch &branch, const ScriptValue &cell) {
  auto [keys, parts] = getParts(cell);
  Change change{cell, std::move(keys)};
  change.isUncertain = (cell.isList() && cell.getList().isUncertain) ||
                       (cell.isDict() && cell.getDict().isUncertain);
  for (const ScriptValue &part : parts) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptLeaves leaves, branch.exit->take(part));
    change.parts.push_back(std::move(leaves));
  }
  branch.changes.push_back(std::move(change));
  return llvm::Error::success();
}

/// Remembers what \p branch, which was executed, changed.
llvm::Error IfImporter::readChanges(Branch &branch) {
  for (const Storage &storage :
       in.journal.getChanged<ScriptStorage>(mark, birth)) {
    if (storage->isConflicting)
      conflicts.push_back(storage);
    if (storage->version > birth)
      branch.storages.emplace_back(storage, in.memory.enter(storage->value));
  }
  auto read = [&]<typename T>() -> llvm::Error {
    for (const std::shared_ptr<T> &cell : in.journal.getChanged<T>(mark, birth))
      GLOWISH_RETURN_IF_ERROR(readChange(branch, cell));
    return llvm::Error::success();
  };
  GLOWISH_RETURN_IF_ERROR(read.operator()<ScriptTensor>());
  GLOWISH_RETURN_IF_ERROR(read.operator()<ScriptList>());
  GLOWISH_RETURN_IF_ERROR(read.operator()<ScriptDict>());
  return read.operator()<ScriptObject>();
}

llvm::Error IfImporter::run(const ProgramBlock &block, Branch &branch) {
  in.memory.scope = &branch.scope;
  branch.exit.emplace(in, birth);
  auto execute = [&]() -> llvm::Error {
    GLOWISH_RETURN_IF_ERROR(in.budget.take(1 + int64_t(block.nodes.size())));
    GLOWISH_RETURN_IF_ERROR(in.run(block));
    for (const ScriptValue &output : in.getOutputs(block)) {
      GLOWISH_ASSIGN_OR_RETURN(ScriptLeaves leaves, branch.exit->take(output));
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

/// Adds a result, which is \p x in one branch and \p y in the other; zeros
/// where that is null.
llvm::Expected<unsigned> IfImporter::addResult(NodeValue x, NodeValue y) {
  auto orZeros = [&](NodeValue own, NodeValue like, Branch &branch) {
    if (own)
      return own;
    NodeBuilder b(branch.body.getFunction(), in.memory.nodeName);
    return b.splat(like.getElemKind(), like.getShape(), 0);
  };
  x = orZeros(x, y, then);
  y = orZeros(y, x, other);
  if (x.getType() != y.getType())
    return makeError("a tensor is {0} in one branch and {1} in the other; "
                     "accepted: one type, or a condition that is known when "
                     "the model is compiled",
                     x.getType().str(), y.getType().str());
  if (x.getType().hasExtents())
    return makeError("a branch that data decide has the result {0}; accepted "
                     "there: extents that no run decides",
                     x.getType().str());
  then.body.getFunction().addResult("result", x);
  other.body.getFunction().addResult("result", y);
  return numResults++;
}

/// Returns \p leaves of the function around for the body of \p branch. Tensors
/// in memory that the branch changes are read behind it.
ScriptLeaves IfImporter::enter(const ScriptLeaves &leaves, Branch &branch) {
  ScriptLeaves entered = leaves;
  bool isChanged = false;
  if (leaves.place)
    leaves.place->forEachStorage([&](const Storage &storage) {
      for (const auto &[own, value] : branch.storages)
        isChanged |= own == storage;
    });
  if (isChanged) {
    entered.leaf = {};
  } else if (leaves.leaf) {
    // Both bodies have the same captures in the same order.
    NodeValue x = then.body.enter(leaves.leaf),
              y = other.body.enter(leaves.leaf);
    entered.leaf = &branch == &then ? x : y;
  }
  for (ScriptLeaves &element : entered.elements)
    element = enter(element, branch);
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
    NodeValue before = in.memory.enter(storage->value);
    NodeValue x = then.body.enter(before), y = other.body.enter(before);
    NodeValue own = find(then, storage), otherOwn = find(other, storage);
    GLOWISH_RETURN_IF_ERROR(
        addResult(own ? own : x, otherOwn ? otherOwn : y).takeError());
  }
  return llvm::Error::success();
}

/// Returns \p cell, which one branch changes, as it is behind \p branch.
llvm::Expected<Change> IfImporter::completeChange(Branch &branch,
                                                  const ScriptValue &cell) {
  Change change{cell};
  if (const Change *own = branch.find(cell))
    change = *own;
  // The branches don't make anything here that could leave them.
  BodyExit exit(in, in.memory.now());
  auto add = [&](const ScriptValue &part) -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(ScriptLeaves leaves, exit.take(part));
    change.parts.push_back(enter(leaves, branch));
    return llvm::Error::success();
  };
  if (!cell.isObject()) {
    if (branch.find(cell))
      return change;
    auto [keys, parts] = getParts(cell);
    change.keys = std::move(keys);
    for (const ScriptValue &part : parts)
      GLOWISH_RETURN_IF_ERROR(add(part));
    return change;
  }
  // The other branch may have read or set further attributes.
  for (const Branch *own : {&then, &other}) {
    const Change *changed = own->find(cell);
    if (!changed)
      continue;
    for (const ScriptValue &key : changed->keys) {
      if (llvm::any_of(change.keys, [&](const ScriptValue &known) {
            return areEqual(known, key) == true;
          }))
        continue;
      GLOWISH_ASSIGN_OR_RETURN(
          ScriptValue value,
          in.getAttribute(cell.getObject(), key.get<std::string>()));
      change.keys.push_back(key);
      GLOWISH_RETURN_IF_ERROR(add(value));
    }
  }
  return change;
}

llvm::Error IfImporter::mergeChange(const ScriptValue &cell) {
  GLOWISH_ASSIGN_OR_RETURN(Change x, completeChange(then, cell));
  GLOWISH_ASSIGN_OR_RETURN(Change y, completeChange(other, cell));
  if (x.parts.size() != y.parts.size())
    return makeError("a {0} has {1} elements behind one branch and {2} behind "
                     "the other; accepted: a condition that is known when the "
                     "model is compiled",
                     cell.isDict() ? "dictionary" : "list", x.parts.size(),
                     y.parts.size());
  // In the same order.
  Change ordered{cell, x.keys};
  for (const ScriptValue &key : x.keys) {
    auto found = llvm::find_if(y.keys, [&](const ScriptValue &own) {
      return areEqual(own, key) == true;
    });
    if (found == y.keys.end() ||
        (cell.isDict() && found - y.keys.begin() != long(ordered.parts.size())))
      return makeError("a dictionary has other keys behind one branch than "
                       "behind the other; accepted: a condition that is known "
                       "when the model is compiled");
    ordered.parts.push_back(y.parts[size_t(found - y.keys.begin())]);
  }
  changes.emplace_back(std::move(x), ordered.keys.empty() ? std::move(y)
                                                          : std::move(ordered));
  return llvm::Error::success();
}

llvm::Error IfImporter::mergeChanges() {
  for (const Change &change : then.changes)
    GLOWISH_RETURN_IF_ERROR(mergeChange(change.cell));
  for (const Change &change : other.changes)
    if (!then.find(change.cell))
      GLOWISH_RETURN_IF_ERROR(mergeChange(change.cell));
  return llvm::Error::success();
}

llvm::Error IfImporter::addLeaves(LeafMerger &merger) {
  for (const auto &[x, y] : changes)
    for (auto [own, part] : llvm::zip_equal(x.parts, y.parts))
      GLOWISH_RETURN_IF_ERROR(x.cell.isTensor() ? merger.addTensor(own, part)
                                                : merger.add(own, part));
  for (auto [x, y] : llvm::zip_equal(then.outputs, other.outputs))
    GLOWISH_RETURN_IF_ERROR(merger.add(x, y));
  return merger.addNeeds();
}

llvm::Expected<Node *> IfImporter::makeNode(NodeValue condition) {
  if (numResults == 0)
    return nullptr;
  std::shared_ptr<Body> thenBody = then.body.getAttr(),
                        otherBody = other.body.getAttr();
  GLOWISH_ASSIGN_OR_RETURN(
      IfNode *node,
      outer.function.tryCreate<IfNode>(in.memory.nodeName, condition, thenBody,
                                       otherBody, then.body.getCaptures()));
  return node;
}

/// Makes the change that both branches make.
llvm::Error IfImporter::takeChange(LeafMerger &merger, const Change &x,
                                   const Change &y) {
  if (x.cell.isTensor()) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptPlaceRef place,
                             merger.takePlace(x.parts[0], y.parts[0]));
    in.journal.save(x.cell.getTensor());
    x.cell.getTensor()->place = std::move(place);
    return llvm::Error::success();
  }
  ScriptValues values;
  for (auto [own, part] : llvm::zip_equal(x.parts, y.parts)) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptValue value, merger.take(own, part));
    values.push_back(std::move(value));
  }
  if (x.cell.isList()) {
    in.journal.save(x.cell.get<std::shared_ptr<ScriptList>>());
    x.cell.getList().elements = std::move(values);
    x.cell.getList().isUncertain |= x.isUncertain || y.isUncertain;
  } else if (x.cell.isDict()) {
    in.journal.save(x.cell.get<std::shared_ptr<ScriptDict>>());
    auto &entries = x.cell.getDict().entries;
    entries.clear();
    x.cell.getDict().isUncertain |= x.isUncertain || y.isUncertain;
    for (auto [key, value] : llvm::zip_equal(x.keys, values))
      entries.push_back({key, value});
  } else {
    in.journal.save(x.cell.get<std::shared_ptr<ScriptObject>>());
    for (auto [key, value] : llvm::zip_equal(x.keys, values))
      x.cell.getObject().attributes[key.get<std::string>()] = value;
  }
  return llvm::Error::success();
}

llvm::Error IfImporter::takeLeaves(LeafMerger &merger) {
  for (const auto &[x, y] : changes)
    GLOWISH_RETURN_IF_ERROR(takeChange(merger, x, y));
  for (auto [x, y] : llvm::zip_equal(then.outputs, other.outputs)) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptValue output, merger.take(x, y));
    call.outputs.push_back(std::move(output));
  }
  return llvm::Error::success();
}

llvm::Error IfImporter::import() {
  GLOWISH_RETURN_IF_ERROR(run(call.node.blocks[0], then));
  other.body.enterCaptures(then.body);
  GLOWISH_RETURN_IF_ERROR(run(call.node.blocks[1], other));
  then.body.enterCaptures(other.body);
  GLOWISH_RETURN_IF_ERROR(mergeStorages());
  GLOWISH_RETURN_IF_ERROR(mergeChanges());
  auto add = [&](NodeValue x, NodeValue y) { return addResult(x, y); };
  LeafMerger merger(in, *then.exit, *other.exit, add);
  GLOWISH_RETURN_IF_ERROR(addLeaves(merger));
  NodeValue condition = in.makeScalar(call.inputs[0]);
  GLOWISH_ASSIGN_OR_RETURN(Node *node, makeNode(condition));
  for (auto [i, storage] : llvm::enumerate(storages))
    in.memory.assign(storage, node->getResult(unsigned(i)));
  for (const Storage &storage : conflicts)
    in.memory.setConflicting(storage);
  merger.finish(node, condition);
  return takeLeaves(merger);
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
