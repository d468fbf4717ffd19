//===- Leaves.cpp - Values that are one of two ones -----------------------===//

#include "TorchScript/Leaves.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

/// Returns the address that identifies a tensor, a list or a dictionary.
static const void *getIdentity(const ScriptValue &value) {
  if (value.isTensor())
    return value.getTensor().get();
  return value.isList() ? static_cast<const void *>(&value.getList())
                        : &value.getDict();
}

//===- Adding results -----------------------------------------------------===//

static llvm::Error refuse(const ScriptValue &x, const ScriptValue &y) {
  return makeError("a value is {0} in one branch and {1} in the other; "
                   "accepted: the same type, or a condition that is known "
                   "when the model is compiled",
                   x.describe(), y.describe());
}

llvm::Error LeafMerger::addPair(NodeValue x, NodeValue y) {
  if (results.contains({x, y}))
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(unsigned result, addResult(x, y));
  results[{x, y}] = result;
  sides[0].results.try_emplace(x, result);
  sides[1].results.try_emplace(y, result);
  return llvm::Error::success();
}

llvm::Error LeafMerger::addContainer(const ScriptLeaves &x,
                                     const ScriptLeaves &y) {
  if (x.elements.size() != y.elements.size() || !haveSameKeys(x.value, y.value))
    return refuse(x.value, y.value);
  Pair pair{getIdentity(x.value), getIdentity(y.value)};
  sides[0].pairs[pair.first].insert(pair);
  sides[1].pairs[pair.second].insert(pair);
  for (auto [own, other] : llvm::zip_equal(x.elements, y.elements))
    GLOWISH_RETURN_IF_ERROR(add(own, other));
  return llvm::Error::success();
}

llvm::Error LeafMerger::addTensor(const ScriptLeaves &x,
                                  const ScriptLeaves &y) {
  if (x.place->type != y.place->type)
    return refuse(x.value, y.value);
  Pair pair{getIdentity(x.value), getIdentity(y.value)};
  auto note = [&](Side &side, const ScriptPlace &place) {
    place.forEachStorage([&](const std::shared_ptr<ScriptStorage> &storage) {
      side.pairs[storage.get()].insert(pair);
    });
  };
  note(sides[0], *x.place);
  note(sides[1], *y.place);
  tensors.emplace_back(&x, &y);
  return x.leaf && y.leaf ? addPair(x.leaf, y.leaf) : llvm::Error::success();
}

llvm::Error LeafMerger::add(const ScriptLeaves &x, const ScriptLeaves &y) {
  // Changes of an older container are added as such.
  if (areSame(x.value, y.value))
    return llvm::Error::success();
  if (x.value.isTensor() && y.value.isTensor())
    return addTensor(x, y);
  if (x.value.isNumber() && y.value.isNumber()) {
    if (x.leaf.getType() != y.leaf.getType())
      return refuse(x.value, y.value);
    return addPair(x.leaf, y.leaf);
  }
  if (x.value.value.index() != y.value.value.index())
    return refuse(x.value, y.value);
  if (x.value.isContainer())
    return addContainer(x, y);
  return x.value.isNone() ? llvm::Error::success() : refuse(x.value, y.value);
}

bool LeafMerger::isPrivate(const Side &side, const ScriptPlace &place) const {
  bool isPrivate = true;
  place.forEachStorage([&](const std::shared_ptr<ScriptStorage> &storage) {
    isPrivate &= side.exit.isNew(*storage) && !storage->group &&
                 side.pairs.at(storage.get()).size() == 1;
  });
  return isPrivate;
}

llvm::Error LeafMerger::addNeeds() {
  std::vector<ScriptPlaceRef> places[2];
  for (auto [x, y] : tensors)
    if (!isPrivate(sides[0], *x->place) || !isPrivate(sides[1], *y->place)) {
      places[0].push_back(x->place);
      places[1].push_back(y->place);
    }
  for (bool isThen : {true, false}) {
    Side &side = sides[isThen ? 0 : 1];
    for (const BodyExit::Need *need :
         side.exit.findNeeds(places[isThen ? 0 : 1])) {
      auto [result, isMissing] = side.results.try_emplace(need->inside, 0);
      // On the other side it is not that place.
      if (isMissing) {
        GLOWISH_ASSIGN_OR_RETURN(
            result->second, addResult(isThen ? need->inside : NodeValue(),
                                      isThen ? NodeValue() : need->inside));
      }
      side.needs.emplace_back(need, result->second);
    }
  }
  return llvm::Error::success();
}

void LeafMerger::finish(Node *from, NodeValue decides) {
  node = from;
  condition = decides;
  for (const Side &side : sides)
    for (auto [need, result] : side.needs)
      need->set(node->getResult(result));
}

//===- Taking values ------------------------------------------------------===//

llvm::Expected<ScriptPlaceRef> LeafMerger::takePlace(const ScriptLeaves &x,
                                                     const ScriptLeaves &y) {
  NodeValue value;
  if (x.leaf && y.leaf)
    value = node->getResult(results.at({x.leaf, y.leaf}));
  if (!isPrivate(sides[0], *x.place) || !isPrivate(sides[1], *y.place))
    return in.memory.choose(condition, x.place, y.place, value);
  std::optional<Dims> strides;
  if (x.place->isDense && y.place->isDense)
    strides = getRowMajorStrides(value.getShape());
  return in.memory.create(value, std::move(strides))->place;
}

/// Returns whether the container that is one of two ones is no other
/// variable's, too.
bool LeafMerger::isPrivate(const Side &side,
                           const ScriptValue &container) const {
  uint64_t birth = container.isList() ? container.getList().birth
                                      : container.getDict().birth;
  return side.exit.isNew(birth) &&
         side.pairs.at(getIdentity(container)).size() == 1;
}

llvm::Expected<ScriptValue> LeafMerger::takeContainer(const ScriptLeaves &x,
                                                      const ScriptLeaves &y) {
  ScriptValues elements;
  for (auto [own, other] : llvm::zip_equal(x.elements, y.elements)) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptValue element, take(own, other));
    elements.push_back(std::move(element));
  }
  ScriptValue value = in.makeContainer(x.value, std::move(elements));
  if (!isPrivate(sides[0], x.value) || !isPrivate(sides[1], y.value))
    for (const ScriptValue &own : {x.value, y.value, value})
      in.forbidChanges(own);
  return value;
}

llvm::Expected<ScriptValue> LeafMerger::take(const ScriptLeaves &x,
                                             const ScriptLeaves &y) {
  if (areSame(x.value, y.value))
    return x.value;
  if (x.value.isNumber())
    return ScriptValue(node->getResult(results.at({x.leaf, y.leaf})));
  if (!x.value.isTensor() && !x.value.isContainer())
    return x.value;
  ScriptValue &known = taken[{getIdentity(x.value), getIdentity(y.value)}];
  if (!known.isNone())
    return known;
  ScriptValue value;
  if (x.value.isTensor()) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptPlaceRef place, takePlace(x, y));
    value = in.memory.createAt(std::move(place));
  } else {
    GLOWISH_ASSIGN_OR_RETURN(value, takeContainer(x, y));
  }
  taken[{getIdentity(x.value), getIdentity(y.value)}] = value;
  return value;
}
