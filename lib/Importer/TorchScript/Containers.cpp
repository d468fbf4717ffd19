//===- Containers.cpp - Tuples, lists, dictionaries and objects -----------===//

#include "TorchScript/Interpreter.h"

using namespace glowish;
using namespace glowish::torchscript;

/// The position that \p index, which may count from the end, has of \p count
/// elements.
static llvm::Expected<size_t> findPosition(int64_t index, size_t count) {
  auto size = int64_t(count);
  if (index < -size || index >= size)
    return makeError("the index is {0}, of {1} elements", index, size);
  return size_t(index < 0 ? index + size : index);
}

//===- Tuples -------------------------------------------------------------===//

static llvm::Expected<bool> importTuple(ScriptCall &call) {
  return call.done(
      call.in.makeList(call.inputs, /*isTuple=*/true, call.getType().names));
}
static const ScriptOperators tuples(importTuple, {"prim::TupleConstruct"});

static llvm::Expected<bool> importUnpack(ScriptCall &call) {
  if (!call.inputs[0].isList())
    return call.refuse(0, "a list or a tuple");
  const ScriptValues &elements = call.inputs[0].getList().elements;
  if (elements.size() != call.node.outputs.size())
    return makeError("it has {0} elements, and {1} are taken", elements.size(),
                     call.node.outputs.size());
  call.outputs = elements;
  return true;
}
static const ScriptOperators unpacking(importUnpack, {"prim::TupleUnpack",
                                                      "prim::ListUnpack"});

static llvm::Expected<bool> importElement(ScriptCall &call) {
  const ScriptValue &from = call.inputs[0];
  if (from.isDict()) {
    if (ScriptValue *value = from.getDict().find(call.inputs[1]))
      return call.done(*value);
    return makeError("the dictionary has no such key");
  }
  if (from.is<std::string>()) {
    GLOWISH_ASSIGN_OR_RETURN(int64_t index, call.getInt(1));
    const std::string &text = from.get<std::string>();
    GLOWISH_ASSIGN_OR_RETURN(size_t position, findPosition(index, text.size()));
    return call.done(std::string(1, text[position]));
  }
  if (!from.isList())
    return false;
  GLOWISH_ASSIGN_OR_RETURN(bool isDone, importComputedElement(call));
  if (isDone)
    return true;
  GLOWISH_ASSIGN_OR_RETURN(int64_t index, call.getInt(1));
  const ScriptValues &elements = from.getList().elements;
  GLOWISH_ASSIGN_OR_RETURN(size_t position,
                           findPosition(index, elements.size()));
  return call.done(elements[position]);
}
static const ScriptOperators elements(importElement,
                                      {"prim::TupleIndex", "aten::__getitem__",
                                       "aten::select"});

//===- Lists --------------------------------------------------------------===//

static llvm::Expected<bool> importList(ScriptCall &call) {
  return call.done(call.in.makeList(call.inputs));
}
static const ScriptOperators lists(importList, {"prim::ListConstruct"});

/// Prepares \p container for a change.
template <typename T>
static llvm::Expected<T *> beginChange(ScriptCall &call,
                                       const std::shared_ptr<T> &container) {
  if (container->isUncertain)
    return makeError("it changes a list or a dictionary, of which it is known "
                     "only when the model runs whether it is another one");
  call.in.journal.save(container);
  return container.get();
}

/// The list that input 0 is, which is to change; null if it is none.
static llvm::Expected<ScriptList *> beginListChange(ScriptCall &call) {
  if (!call.inputs[0].isList())
    return nullptr;
  return beginChange(call, call.inputs[0].get<std::shared_ptr<ScriptList>>());
}

/// Returns the dictionary that input 0 is, which is to change.
static llvm::Expected<ScriptDict *> beginDictChange(ScriptCall &call) {
  return beginChange(call, call.inputs[0].get<std::shared_ptr<ScriptDict>>());
}

static llvm::Expected<bool> importAppend(ScriptCall &call) {
  GLOWISH_ASSIGN_OR_RETURN(ScriptList *list, beginListChange(call));
  if (!list)
    return false;
  list->elements.push_back(call.inputs[1]);
  return call.done(call.inputs[0]);
}
static const ScriptOperators appending(importAppend, {"aten::append"});

static llvm::Expected<bool> importExtend(ScriptCall &call) {
  if (!call.inputs[1].isList())
    return false;
  ScriptValues added = call.inputs[1].getList().elements;
  GLOWISH_ASSIGN_OR_RETURN(ScriptList *list, beginListChange(call));
  if (!list)
    return false;
  llvm::append_range(list->elements, added);
  return call.done(call.inputs[0]);
}
static const ScriptOperators extending(importExtend,
                                       {"aten::extend", "aten::add_"});

static llvm::Expected<bool> importInsert(ScriptCall &call) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t index, call.getInt(1));
  GLOWISH_ASSIGN_OR_RETURN(ScriptList *list, beginListChange(call));
  if (!list)
    return false;
  auto size = int64_t(list->elements.size());
  index = std::clamp(index < 0 ? index + size : index, int64_t(0), size);
  list->elements.insert(list->elements.begin() + index, call.inputs[2]);
  return call.done({});
}
static const ScriptOperators inserting(importInsert, {"aten::insert"});

static llvm::Expected<bool> importPop(ScriptCall &call) {
  const ScriptValue &from = call.inputs[0];
  if (from.isDict()) {
    ScriptDict &dict = from.getDict();
    ScriptValue *value = dict.find(call.inputs[1]);
    if (!value)
      return makeError("the dictionary has no such key");
    ScriptValue popped = *value;
    GLOWISH_RETURN_IF_ERROR(beginDictChange(call).takeError());
    llvm::erase_if(dict.entries, [&](const ScriptDict::Entry &entry) {
      return areEqual(entry.key, call.inputs[1]) == true;
    });
    return call.done(popped);
  }
  int64_t index = -1;
  if (call.inputs.size() > 1) {
    GLOWISH_ASSIGN_OR_RETURN(index, call.getInt(1));
  }
  GLOWISH_ASSIGN_OR_RETURN(ScriptList *list, beginListChange(call));
  if (!list)
    return false;
  GLOWISH_ASSIGN_OR_RETURN(size_t position,
                           findPosition(index, list->elements.size()));
  ScriptValue popped = list->elements[position];
  list->elements.erase(list->elements.begin() + int64_t(position));
  return call.done(popped);
}
static const ScriptOperators popping(importPop, {"aten::pop", "aten::Delete"});

static llvm::Expected<bool> importClear(ScriptCall &call) {
  if (call.inputs[0].isDict()) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptDict *dict, beginDictChange(call));
    dict->entries.clear();
    return call.done({});
  }
  GLOWISH_ASSIGN_OR_RETURN(ScriptList *list, beginListChange(call));
  if (!list)
    return false;
  list->elements.clear();
  return call.done({});
}
static const ScriptOperators clearing(importClear, {"aten::clear"});

static llvm::Expected<bool> importReverse(ScriptCall &call) {
  GLOWISH_ASSIGN_OR_RETURN(ScriptList *list, beginListChange(call));
  if (!list)
    return false;
  std::reverse(list->elements.begin(), list->elements.end());
  return call.done({});
}
static const ScriptOperators reversing(importReverse, {"aten::reverse"});

static llvm::Expected<bool> importSetItem(ScriptCall &call) {
  if (call.inputs[0].isDict()) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptDict *dict, beginDictChange(call));
    if (ScriptValue *value = dict->find(call.inputs[1]))
      *value = call.inputs[2];
    else
      dict->entries.push_back({call.inputs[1], call.inputs[2]});
    return call.done({});
  }
  GLOWISH_ASSIGN_OR_RETURN(int64_t index, call.getInt(1));
  GLOWISH_ASSIGN_OR_RETURN(ScriptList *list, beginListChange(call));
  if (!list)
    return false;
  GLOWISH_ASSIGN_OR_RETURN(size_t position,
                           findPosition(index, list->elements.size()));
  list->elements[position] = call.inputs[2];
  return call.done(call.inputs[0]);
}
static const ScriptOperators assigning(importSetItem, {"aten::_set_item"});

/// list[start:end:step], of lists, tuples and strings.
static llvm::Expected<bool> importSlice(ScriptCall &call) {
  const ScriptValue &from = call.inputs[0];
  if (!from.isList())
    return false;
  const ScriptValues &all = from.getList().elements;
  auto size = int64_t(all.size());
  GLOWISH_ASSIGN_OR_RETURN(int64_t step, call.getInt(3));
  if (step == 0)
    return call.refuse(3, "another step");
  // Backwards, the end is before the first element.
  int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
  auto getBound = [&](unsigned index,
                      int64_t absent) -> llvm::Expected<int64_t> {
    if (call.inputs[index].isNone())
      return absent;
    GLOWISH_ASSIGN_OR_RETURN(int64_t bound, call.getInt(index));
    return std::clamp(bound < 0 ? bound + size : bound, least, most);
  };
  GLOWISH_ASSIGN_OR_RETURN(int64_t start, getBound(1, step > 0 ? 0 : most));
  GLOWISH_ASSIGN_OR_RETURN(int64_t end, getBound(2, step > 0 ? size : -1));
  ScriptValues some;
  int64_t distance = step > 0 ? end - start : start - end;
  int64_t count = distance > 0 ? std::abs((distance - 1) / step) + 1 : 0;
  for (int64_t i = 0; i < count; ++i)
    some.push_back(all[size_t(start + i * step)]);
  return call.done(call.in.makeList(std::move(some), from.getList().isTuple));
}
static const ScriptOperators slices(importSlice, {"aten::slice"});

static llvm::Expected<bool> importListCopy(ScriptCall &call) {
  const ScriptValue &from = call.inputs[0];
  if (from.is<std::string>()) {
    ScriptValues letters;
    for (char c : from.get<std::string>())
      letters.push_back(std::string(1, c));
    return call.done(call.in.makeList(std::move(letters)));
  }
  if (!from.isList())
    return false;
  return call.done(call.in.makeList(from.getList().elements));
}
static const ScriptOperators listCopies(importListCopy,
                                        {"aten::list", "aten::copy"});

/// Lists that are added or repeated.
static llvm::Expected<bool> importSum(ScriptCall &call) {
  if (!call.inputs[0].isList() || !call.inputs[1].isList())
    return false;
  ScriptValues all = call.inputs[0].getList().elements;
  llvm::append_range(all, call.inputs[1].getList().elements);
  return call.done(
      call.in.makeList(std::move(all), call.inputs[0].getList().isTuple));
}
static const ScriptOperators sums(importSum, {"aten::add"});

static llvm::Expected<bool> importRepetition(ScriptCall &call) {
  bool isFirst = call.inputs[0].isList();
  const ScriptValue &list = call.inputs[isFirst ? 0 : 1];
  if (!list.isList())
    return false;
  GLOWISH_ASSIGN_OR_RETURN(int64_t count, call.getInt(isFirst ? 1 : 0));
  constexpr int64_t most = 1 << 20;
  if (count > most)
    return call.refuse(isFirst ? 1 : 0, "at most " + std::to_string(most));
  ScriptValues all;
  for (int64_t i = 0; i < count; ++i)
    llvm::append_range(all, list.getList().elements);
  return call.done(call.in.makeList(std::move(all)));
}
static const ScriptOperators repetitions(importRepetition, {"aten::mul"});

static llvm::Expected<bool> importContains(ScriptCall &call) {
  const ScriptValue &in = call.inputs[0];
  if (in.isDict())
    return call.done(in.getDict().find(call.inputs[1]) != nullptr);
  if (in.is<std::string>() && call.inputs[1].is<std::string>())
    return call.done(llvm::StringRef(in.get<std::string>())
                         .contains(call.inputs[1].get<std::string>()));
  if (!in.isList())
    return call.refuse(0, "a list, a dictionary or a string");
  for (const ScriptValue &element : in.getList().elements) {
    std::optional<bool> isSame = areEqual(element, call.inputs[1]);
    if (!isSame)
      return makeError("elements are compared that are known only when the "
                       "model runs");
    if (*isSame)
      return call.done(true);
  }
  return call.done(false);
}
static const ScriptOperators contains(importContains, {"aten::__contains__"});

static llvm::Expected<bool> importIndex(ScriptCall &call) {
  // Of tensors it is another operator.
  if (!call.inputs[0].isList() || call.inputs[1].isList())
    return false;
  for (auto [i, element] : llvm::enumerate(call.inputs[0].getList().elements))
    if (areEqual(element, call.inputs[1]) == true)
      return call.done(int64_t(i));
  return makeError("the list has no such element");
}
static const ScriptOperators indices(importIndex, {"aten::index"});

//===- Dictionaries -------------------------------------------------------===//

static llvm::Expected<bool> importDict(ScriptCall &call) {
  std::vector<ScriptDict::Entry> entries;
  for (size_t i = 0; i + 1 < call.inputs.size(); i += 2)
    entries.push_back({call.inputs[i], call.inputs[i + 1]});
  return call.done(call.in.makeDict(std::move(entries)));
}
static const ScriptOperators dicts(importDict, {"prim::DictConstruct"});

static llvm::Expected<bool> importEntries(ScriptCall &call) {
  if (!call.inputs[0].isDict())
    return false;
  bool isKeys = call.node.kind == "aten::keys",
       isItems = call.node.kind == "aten::items";
  ScriptValues all;
  for (const ScriptDict::Entry &entry : call.inputs[0].getDict().entries)
    all.push_back(isItems  ? call.in.makeList({entry.key, entry.value},
                                              /*isTuple=*/true)
                  : isKeys ? entry.key
                           : entry.value);
  return call.done(call.in.makeList(std::move(all)));
}
static const ScriptOperators
    entries(importEntries, {"aten::keys", "aten::values", "aten::items"});

static llvm::Expected<bool> importGet(ScriptCall &call) {
  if (!call.inputs[0].isDict())
    return false;
  if (ScriptValue *value = call.inputs[0].getDict().find(call.inputs[1]))
    return call.done(*value);
  return call.done(call.inputs.size() > 2 ? call.inputs[2] : ScriptValue());
}
static const ScriptOperators getting(importGet, {"aten::get"});

//===- Objects ------------------------------------------------------------===//

static llvm::Expected<bool> importObject(ScriptCall &call) {
  auto object = std::make_shared<ScriptObject>();
  object->birth = call.in.memory.tick();
  object->type = call.getType().text;
  return call.done(object);
}
static const ScriptOperators objects(importObject, {"prim::CreateObject"});

static llvm::Expected<bool> importGetAttr(ScriptCall &call) {
  const ScriptValue &from = call.inputs[0];
  // Fields of a tuple.
  if (from.isList()) {
    const ScriptList &tuple = from.getList();
    for (auto [name, element] : llvm::zip(tuple.names, tuple.elements))
      if (name == call.node.attribute)
        return call.done(element);
  }
  if (!from.isObject())
    return call.refuse(0, "an object");
  GLOWISH_ASSIGN_OR_RETURN(
      ScriptValue value,
      call.in.getAttribute(from.getObject(), call.node.attribute));
  return call.done(std::move(value));
}
static const ScriptOperators getAttr(importGetAttr, {"prim::GetAttr"});

static llvm::Expected<bool> importSetAttr(ScriptCall &call) {
  if (!call.inputs[0].isObject())
    return call.refuse(0, "an object");
  auto object = call.inputs[0].get<std::shared_ptr<ScriptObject>>();
  // What it was before is known from then on.
  auto before = call.in.getAttribute(*object, call.node.attribute);
  if (!before)
    llvm::consumeError(before.takeError());
  call.in.journal.save(object);
  object->attributes[call.node.attribute] = call.inputs[1];
  return true;
}
static const ScriptOperators setAttr(importSetAttr, {"prim::SetAttr"});

static llvm::Expected<bool> importCallMethod(ScriptCall &call) {
  return makeError("it calls the method '{0}' of an interface, which isn't "
                   "known when the model is compiled",
                   call.node.attribute);
}
static const ScriptOperators
    callMethod(importCallMethod, {"prim::CallMethod", "prim::CallFunction"});
