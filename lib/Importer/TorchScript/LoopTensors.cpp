//===- LoopTensors.cpp - Tensors that iterations hand on ------------------===//

#include "TorchScript/LoopTensors.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

/// How many places a tensor is followed to.
static constexpr size_t maxPlaces = 8;

NodeValue LoopTensors::getNumber(int64_t number) {
  return in.makeScalar(ScriptValue(number));
}

llvm::Expected<std::vector<NodeValue>> LoopTensors::getInitial(size_t index) {
  const LoopTensor &tensor = tensors[index];
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, in.memory.read(tensor.first));
  std::vector<NodeValue> values{value};
  if (!tensor.isUncertain)
    values.push_back(getNumber(0));
  return values;
}

llvm::Expected<ScriptPlaceRef>
LoopTensors::enter(size_t index,
                   llvm::function_ref<NodeValue(const Type &)> next) {
  LoopTensor &tensor = tensors[index];
  NodeValue value = next(tensor.first->type);
  // Iterations may have another order of elements.
  ScriptPlaceRef place = in.memory.create(value, std::nullopt)->place;
  tensor.own = place->storage;
  if (!tensor.isUncertain) {
    tensor.which = next(Type(ElemKind::Int64, {}));
    auto *last =
        tensor.nextWhich ? tensor.nextWhich.getNodeAs<Constant>() : nullptr;
    if (isExecuted && last) {
      int64_t number = last->getTensor().data<int64_t>()[0];
      return number == ownNumber ? place : tensor.places[size_t(number)];
    }
    NodeBuilder b(in.getFunction(), in.memory.nodeName);
    for (size_t i = 0; i < tensor.places.size(); ++i) {
      GLOWISH_ASSIGN_OR_RETURN(NodeValue isThere,
                               b.finish(b.equal(tensor.which, double(i))));
      GLOWISH_ASSIGN_OR_RETURN(
          place, in.memory.choose(isThere, tensor.places[i], place, value));
    }
  }
  tensor.inside = place;
  return place;
}

void LoopTensors::enterCollected(size_t index) {
  auto storage = std::make_shared<ScriptStorage>();
  storage->birth = storage->version = in.memory.tick();
  tensors[index].own = std::move(storage);
}

ScriptPlaceRef LoopTensors::takeCollected(size_t index, NodeValue values) {
  LoopTensor &tensor = tensors[index];
  ScriptPlaceRef place = in.memory.create(values, std::nullopt)->place;
  tensor.own = place->storage;
  tensor.own->isConflicting = tensor.isConflicting;
  return place;
}

void LoopTensors::noteConflicts() {
  for (LoopTensor &tensor : tensors)
    if (!tensor.first && tensor.own)
      tensor.isConflicting |= tensor.own->isConflicting;
}

void LoopTensors::joinUncertain() {
  for (const LoopTensor &tensor : tensors) {
    if (!tensor.isUncertain || !tensor.own)
      continue;
    std::vector<std::shared_ptr<ScriptStorage>> all = tensor.sharedStorages;
    all.push_back(tensor.own);
    for (size_t other : tensor.sharedTensors)
      if (tensors[other].own)
        all.push_back(tensors[other].own);
    in.memory.join(all);
  }
}

//===- Places after an iteration ------------------------------------------===//

/// Returns the place that \p place, a view of older ones, is outside; null if
/// values of the body decide that.
ScriptPlaceRef LoopTensors::makeOuter(const ScriptPlaceRef &place) {
  bool isOld = true;
  place->forEachStorage([&](const std::shared_ptr<ScriptStorage> &storage) {
    isOld &= storage->birth <= birth;
  });
  if (!isOld)
    return nullptr;
  BodyExit exit(in, birth);
  ScriptPlaceRef outer = exit.carry(place);
  return exit.findNeeds({outer}).empty() ? outer : nullptr;
}

/// Returns the number of \p place among the places of tensor \p index, computed
/// in the body; null if it can't be followed. Adds new places.
llvm::Expected<NodeValue> LoopTensors::findNumber(size_t index,
                                                  const ScriptPlaceRef &place) {
  LoopTensor &tensor = tensors[index];
  if (place == tensor.inside)
    return tensor.which;
  for (auto [i, known] : llvm::enumerate(tensor.places))
    if (TensorMemory::areSame(place, known))
      return getNumber(int64_t(i));
  if (place->isChoice()) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue then, findNumber(index, place->then));
    GLOWISH_ASSIGN_OR_RETURN(NodeValue other, findNumber(index, place->other));
    if (!then || !other)
      return NodeValue();
    NodeBuilder b(in.getFunction(), in.memory.nodeName);
    return b.finish(b.select(in.memory.enter(place->condition), then, other));
  }
  bool isOwn = true;
  place->forEachStorage([&](const std::shared_ptr<ScriptStorage> &storage) {
    isOwn &= storage->birth > birth && !storage->group;
  });
  if (isOwn)
    return getNumber(ownNumber);
  ScriptPlaceRef outer = makeOuter(place);
  if (!outer || tensor.places.size() >= maxPlaces)
    return NodeValue();
  tensor.places.push_back(outer);
  return getNumber(int64_t(tensor.places.size()) - 1);
}

/// Returns whether that is new.
bool LoopTensors::setUncertain(size_t index) {
  LoopTensor &tensor = tensors[index];
  bool isNew = !tensor.isUncertain;
  tensor.isUncertain = true;
  return isNew;
}

/// Finds tensors that share memory from inside the loop, or that can't be
/// followed and share memory from outside. Returns whether there are new ones.
bool LoopTensors::findShared(llvm::ArrayRef<Yield> yields) {
  bool isNew = false;
  std::map<const ScriptStorage *, std::set<size_t>> users;
  for (const Yield &yield : yields) {
    LoopTensor &tensor = tensors[yield.index];
    auto note = [&](const std::shared_ptr<ScriptStorage> &storage) {
      if (storage->birth > birth) {
        users[storage.get()].insert(yield.index);
      } else if (!llvm::is_contained(tensor.sharedStorages, storage)) {
        tensor.sharedStorages.push_back(storage);
        isNew |= tensor.isUncertain;
      }
    };
    yield.place->forEachStorage(note);
    if (tensor.first)
      tensor.first->forEachStorage(note);
  }
  for (const auto &[storage, indices] : users)
    for (size_t index : indices)
      for (size_t other : indices)
        if (index != other) {
          isNew |= tensors[index].sharedTensors.insert(other).second;
          isNew |= setUncertain(index);
        }
  return isNew;
}

llvm::Expected<bool> LoopTensors::findPlaces(llvm::ArrayRef<Yield> yields) {
  bool isComplete = !findShared(yields);
  for (const Yield &yield : yields) {
    LoopTensor &tensor = tensors[yield.index];
    tensor.nextPlace = yield.place;
    if (tensor.isUncertain)
      continue;
    size_t known = tensor.places.size();
    GLOWISH_ASSIGN_OR_RETURN(tensor.nextWhich,
                             findNumber(yield.index, yield.place));
    if (!tensor.nextWhich)
      isComplete &= !setUncertain(yield.index);
    isComplete &= tensor.places.size() == known;
  }
  return isComplete;
}

llvm::Expected<std::vector<NodeValue>> LoopTensors::getNext(size_t index) {
  const LoopTensor &tensor = tensors[index];
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, in.memory.read(tensor.nextPlace));
  std::vector<NodeValue> values{value};
  if (!tensor.isUncertain)
    values.push_back(tensor.nextWhich);
  return values;
}
