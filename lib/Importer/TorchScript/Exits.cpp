//===- Exits.cpp - Values that leave a body -------------------------------===//

#include "TorchScript/Exits.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

bool torchscript::areSame(const ScriptValue &x, const ScriptValue &y) {
  if (x.value.index() != y.value.index())
    return false;
  if (x.isTensor())
    return x.getTensor() == y.getTensor();
  if (x.isComputed())
    return x.get<NodeValue>() == y.get<NodeValue>();
  if (x.isDict())
    return &x.getDict() == &y.getDict();
  if (!x.isList())
    return areEqual(x, y) == true;
  const ScriptList &own = x.getList(), &other = y.getList();
  if (&own == &other)
    return true;
  // Tuples don't change, so that those of the same elements are the same.
  if (!own.isTuple || !other.isTuple ||
      own.elements.size() != other.elements.size())
    return false;
  return llvm::all_of(llvm::zip_equal(own.elements, other.elements),
                      [](const auto &pair) {
                        return areSame(std::get<0>(pair), std::get<1>(pair));
                      });
}

llvm::Expected<ScriptLeaves> BodyExit::take(const ScriptValue &value) {
  ScriptLeaves leaves{value};
  if (value.isTensor()) {
    const ScriptPlaceRef &place = value.getTensor()->place;
    GLOWISH_ASSIGN_OR_RETURN(leaves.leaf, in.memory.read(place));
    leaves.place = carry(place);
  } else if (value.isNumber()) {
    leaves.leaf = in.makeScalar(value);
  }
  for (const ScriptValue &element : value.getElements()) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptLeaves own, take(element));
    leaves.elements.push_back(std::move(own));
  }
  return leaves;
}

//===- Carrying -----------------------------------------------------------===//

void BodyExit::need(NodeValue inside, const void *owner,
                    std::function<void(NodeValue)> set) {
  if (TensorMemory::getFunctionOf(inside) == &function)
    needs.push_back({inside, owner, std::move(set)});
  else
    set(inside);
}

std::shared_ptr<ScriptStorage>
BodyExit::carry(const std::shared_ptr<ScriptStorage> &storage) {
  if (!isNew(*storage))
    return storage;
  std::shared_ptr<ScriptStorage> &own = storages[storage.get()];
  if (own)
    return own;
  own = std::make_shared<ScriptStorage>(*storage);
  own->birth = in.memory.tick();
  own->version = in.memory.tick();
  // Places that it depends on are of the body.
  own->layout = nullptr;
  own->group = nullptr;
  if (storage->group)
    in.memory.join({storage, own});
  std::shared_ptr<ScriptStorage> carried = own;
  need(in.memory.enter(storage->value), own.get(),
       [carried](NodeValue value) { carried->value = value; });
  return own;
}

/// Notes the values of the body that \p view, that of \p owner, is made with.
void BodyExit::carryView(ScriptView &view, const ScriptPlaceRef &owner) {
  if (view.index)
    need(view.index, owner.get(),
         [owner](NodeValue value) { owner->view.index = value; });
  // An operator takes them as tensors or in lists.
  std::function<void(AtenValue &, std::vector<size_t>)> visit =
      [&](AtenValue &value, std::vector<size_t> path) {
        if (value.isTensor())
          need(value.get<NodeValue>(), owner.get(),
               [owner, path](NodeValue to) {
                 AtenValue *own = &owner->view.call.arguments[path.front()];
                 for (size_t next : llvm::drop_begin(path))
                   own = &std::get<AtenValue::List>(own->value)[next];
                 *own = to;
               });
        if (!value.is<AtenValue::List>())
          return;
        auto &list = std::get<AtenValue::List>(value.value);
        for (auto [i, element] : llvm::enumerate(list)) {
          std::vector<size_t> inner = path;
          inner.push_back(i);
          visit(element, std::move(inner));
        }
      };
  for (auto [i, argument] : llvm::enumerate(view.call.arguments))
    if (view.call.op && i != view.call.self)
      visit(argument, {i});
}

ScriptPlaceRef BodyExit::carry(const ScriptPlaceRef &place) {
  if (place->birth <= birth)
    return place;
  if (auto known = places.find(place.get()); known != places.end())
    return known->second;
  kept.push_back(place);
  auto own = std::make_shared<ScriptPlace>(*place);
  places[place.get()] = own;
  own->birth = in.memory.tick();
  own->value = {};
  own->version = 0;
  if (const std::shared_ptr<ScriptStorage> &storage = place->getStorage()) {
    own->storage = carry(storage);
    own->base = nullptr;
    own->view = {};
    return own;
  }
  if (place->isChoice()) {
    own->then = carry(place->then);
    own->other = carry(place->other);
    need(place->condition, own.get(),
         [own](NodeValue value) { own->condition = value; });
    return own;
  }
  own->base = carry(place->base);
  carryView(own->view, own);
  if (place->view.mayCopy()) {
    // If it is a copy, it is one of these elements, which matter only where
    // data decides for this place. If it is none, its base has others
    // elsewhere.
    own->view.copy = std::make_shared<ScriptCopy>();
    need(in.memory.enter(place->value), own.get(),
         [own](NodeValue value) { own->value = value; });
  }
  return own;
}

std::vector<const BodyExit::Need *>
BodyExit::findNeeds(llvm::ArrayRef<ScriptPlaceRef> from) const {
  llvm::SmallPtrSet<const void *, 8> owners;
  std::vector<const ScriptPlace *> open;
  auto visit = [&](const ScriptPlaceRef &place) {
    if (place && owners.insert(place.get()).second)
      open.push_back(place.get());
  };
  llvm::for_each(from, visit);
  while (!open.empty()) {
    const ScriptPlace *place = open.back();
    open.pop_back();
    owners.insert(place->storage.get());
    for (const ScriptPlaceRef *next :
         {&place->base, &place->then, &place->other})
      visit(*next);
  }
  std::vector<const Need *> found;
  for (const Need &own : needs)
    if (owners.contains(own.owner))
      found.push_back(&own);
  return found;
}
