//===- Values.cpp - Values of TorchScript during import -------------------===//

#include "TorchScript/Values.h"

using namespace glowish;
using namespace glowish::torchscript;

std::string ScriptValue::describe() const {
  struct Visitor : aten::ScalarDescriber {
    using aten::ScalarDescriber::operator();
    std::string operator()(const std::shared_ptr<ScriptTensor> &tensor) const {
      return "a tensor, " + tensor->getType().str();
    }
    std::string operator()(NodeValue) const {
      return "a number that is known only when the model runs";
    }
    std::string operator()(const std::shared_ptr<ScriptList> &list) const {
      using Meaning = ScriptList::Meaning;
      if (list->meaning != Meaning::List)
        return (list->meaning == Meaning::Complex
                    ? "a complex tensor, of parts "
                    : "a quantized tensor, ") +
               list->elements[0].getTensor()->getType().str();
      return llvm::formatv("a {0} of {1}", list->isTuple ? "tuple" : "list",
                           list->elements.size());
    }
    std::string operator()(const std::shared_ptr<ScriptDict> &dict) const {
      return llvm::formatv("a dictionary of {0}", dict->entries.size());
    }
    std::string operator()(const std::shared_ptr<ScriptObject> &object) const {
      return "an object, " + object->type;
    }
    std::string operator()(const ScriptIgnored &ignored) const {
      return ignored.what;
    }
  };
  return std::visit(Visitor(), value);
}

std::optional<Type> ScriptValue::getType() const {
  if (isTensor())
    return getTensor()->getType();
  if (isComputed())
    return get<NodeValue>().getType();
  if (isKnownNumber() || is<Extent>())
    return Type(getExtent()    ? ElemKind::Int64
                : is<double>() ? ElemKind::Double
                               : ElemKind::Bool,
                {});
  return std::nullopt;
}

std::vector<ScriptValue> ScriptValue::getElements() const {
  if (isList())
    return getList().elements;
  std::vector<ScriptValue> values;
  if (isDict())
    for (const ScriptDict::Entry &entry : getDict().entries)
      values.push_back(entry.value);
  return values;
}

bool ScriptValue::isOpen() const {
  if (isTensor() || is<Extent>())
    return is<Extent>() || getTensor()->getType().hasExtents();
  return llvm::any_of(getElements(), [](const ScriptValue &element) {
    return element.isOpen();
  });
}

/// Whether two lists have the same elements.
static std::optional<bool> areEqual(const ScriptList &x, const ScriptList &y) {
  if (x.elements.size() != y.elements.size())
    return false;
  for (auto [own, other] : llvm::zip_equal(x.elements, y.elements)) {
    std::optional<bool> same = areEqual(own, other);
    if (!same || !*same)
      return same;
  }
  return true;
}

std::optional<bool> torchscript::areEqual(const ScriptValue &x,
                                          const ScriptValue &y) {
  if (x.isComputed() || y.isComputed() || x.isTensor() || y.isTensor())
    return std::nullopt;
  if (x.isInt() && y.isInt())
    return x.getInt() == y.getInt();
  // Another expression may have the same value in some runs.
  if (x.is<Extent>() || y.is<Extent>())
    return x.getExtent() == y.getExtent() ? std::optional(true)
           : x.isNumber() && y.isNumber() ? std::nullopt
                                          : std::optional(false);
  if (x.isKnownNumber() && y.isKnownNumber())
    return x.getNumber() == y.getNumber();
  if (x.value.index() != y.value.index())
    return false;
  if (x.is<std::string>())
    return x.get<std::string>() == y.get<std::string>();
  if (x.isList())
    return ::areEqual(x.getList(), y.getList());
  if (x.isObject())
    return &x.getObject() == &y.getObject();
  if (x.isDict())
    return &x.getDict() == &y.getDict() ? std::optional(true) : std::nullopt;
  return true;
}

bool torchscript::haveSameKeys(const ScriptValue &x, const ScriptValue &y) {
  return !x.isDict() ||
         llvm::all_of(llvm::zip_equal(x.getDict().entries, y.getDict().entries),
                      [](const auto &pair) {
                        return areEqual(std::get<0>(pair).key,
                                        std::get<1>(pair).key) == true;
                      });
}

void ScriptPlace::forEachStorage(
    llvm::function_ref<void(const std::shared_ptr<ScriptStorage> &)> visit)
    const {
  if (const std::shared_ptr<ScriptStorage> &own = getStorage()) {
    visit(own);
  } else if (base) {
    base->forEachStorage(visit);
  } else {
    then->forEachStorage(visit);
    other->forEachStorage(visit);
  }
}

ScriptValue *ScriptDict::find(const ScriptValue &key) {
  for (Entry &entry : entries)
    if (areEqual(entry.key, key) == true)
      return &entry.value;
  return nullptr;
}

void ScriptJournal::rollBack(size_t mark) {
  saved.clear();
  while (records.size() > mark) {
    std::visit([](auto &record) { record.takeBack(); }, records.back());
    records.pop_back();
  }
}
