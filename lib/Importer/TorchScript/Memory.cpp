//===- Memory.cpp - Tensors that share memory -----------------------------===//

#include "TorchScript/Memory.h"
#include <numeric>

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

namespace {

/// Creates nodes of a function; those of constants are folded.
class MemoryBuilder final : public NodeBuilder {
public:
  MemoryBuilder(TensorMemory &memory)
      : NodeBuilder(memory.scope->function, memory.nodeName), memory(memory) {}

private:
  llvm::Expected<NodeValue> create(NodeDraft draft) override {
    AtenContext &aten = memory.getAten();
    return createFolded(getFunction(), getName(), std::move(draft),
                        aten.evaluate, aten.budget);
  }

  TensorMemory &memory;
};

} // namespace

//===- Scopes -------------------------------------------------------------===//

const Function *TensorMemory::getFunctionOf(NodeValue value) {
  if (auto *placeholder = value.getNodeAs<Placeholder>())
    return placeholder->getOwner();
  return value.node->getParent();
}

NodeValue TensorMemory::enter(NodeValue value, ScriptScope &inside) {
  if (llvm::isa<Constant>(value.node) || !inside.body ||
      getFunctionOf(value) == &inside.function)
    return value;
  return inside.body->enter(enter(value, *inside.outer));
}

AtenValue TensorMemory::enter(const AtenValue &value) {
  if (value.isTensor())
    return enter(value.get<NodeValue>());
  if (!value.is<AtenValue::List>())
    return value;
  AtenValue::List list;
  for (const AtenValue &element : value.get<AtenValue::List>())
    list.push_back(enter(element));
  return list;
}

//===- Creating -----------------------------------------------------------===//

ScriptTensorRef TensorMemory::create(NodeValue value,
                                     std::optional<Dims> strides) {
  auto storage = std::make_shared<ScriptStorage>();
  storage->birth = tick();
  storage->version = tick();
  storage->value = value;
  DimsRef shape = value.getShape();
  auto place = std::make_shared<ScriptPlace>();
  place->birth = tick();
  place->type = value.getType();
  place->isDense =
      strides && haveSameOrder(shape, *strides, getDenseStrides(shape));
  storage->strides = std::move(strides);
  place->storage = std::move(storage);
  return createAt(std::move(place));
}

ScriptTensorRef TensorMemory::createAt(ScriptPlaceRef place) {
  auto tensor = std::make_shared<ScriptTensor>();
  tensor->birth = tick();
  tensor->place = std::move(place);
  return tensor;
}

/// Whether \p view of a tensor that is dense is so, too.
static bool keepsOrder(const ScriptView &view, const Type &base) {
  static constexpr llvm::StringLiteral inOrder[] = {
      "view",    "reshape",   "flatten",  "unsqueeze", "squeeze", "contiguous",
      "view_as", "unflatten", "_reshape", "ravel",     "alias",   "detach"};
  const RegisteredAtenOp *op = view.call.op;
  if (op && llvm::is_contained(inOrder, op->schema.name))
    return true;
  // Slices along the first dimension are next to each other.
  if (!op || (op->schema.name != "select" && op->schema.name != "slice" &&
              op->schema.name != "narrow"))
    return false;
  const AtenValue::List &arguments = view.call.arguments;
  std::optional<unsigned> dim = op->schema.findArgument("dim"),
                          step = op->schema.findArgument("step");
  const AtenValue &axis = arguments[*dim];
  bool isFirst =
      axis.is<int64_t>() && (axis.get<int64_t>() == 0 ||
                             axis.get<int64_t>() == -int64_t(base.getRank()));
  return isFirst && (!step || (arguments[*step].is<int64_t>() &&
                               arguments[*step].get<int64_t>() == 1));
}

ScriptTensorRef TensorMemory::createView(ScriptPlaceRef base, ScriptView view,
                                         NodeValue value) {
  auto place = std::make_shared<ScriptPlace>();
  place->birth = tick();
  place->type = value.getType();
  place->isDense = (base->isDense && keepsOrder(view, base->type)) ||
                   (view.call.op && view.call.op->schema.name == "contiguous");
  place->value = value;
  place->version = getVersion(*base);
  place->view = std::move(view);
  place->numWays = base->numWays;
  place->base = std::move(base);
  return createAt(std::move(place));
}

//===- Groups -------------------------------------------------------------===//

static ScriptGroup &findGroup(ScriptStorage &storage) {
  ScriptGroup *group = storage.group.get();
  while (group->joined)
    group = group->joined.get();
  return *group;
}

void TensorMemory::join(
    llvm::ArrayRef<std::shared_ptr<ScriptStorage>> storages) {
  auto all = std::make_shared<ScriptGroup>();
  for (const std::shared_ptr<ScriptStorage> &storage : storages) {
    if (!storage->group) {
      storage->group = std::make_shared<ScriptGroup>();
      storage->group->members.push_back(storage);
    }
    ScriptGroup &own = findGroup(*storage);
    if (&own == all.get())
      continue;
    llvm::append_range(all->members, own.members);
    own.members.clear();
    own.joined = all;
  }
}

void TensorMemory::join(const ScriptPlace &place, const ScriptPlace &other) {
  std::vector<std::shared_ptr<ScriptStorage>> storages;
  auto add = [&](const std::shared_ptr<ScriptStorage> &storage) {
    storages.push_back(storage);
  };
  place.forEachStorage(add);
  other.forEachStorage(add);
  join(storages);
}

uint64_t TensorMemory::getVersion(const ScriptPlace &place) {
  // Times are never used twice, so that one write after another one shows.
  uint64_t version = 0;
  place.forEachStorage([&](const std::shared_ptr<ScriptStorage> &storage) {
    version = std::max(version, storage->version);
  });
  return version;
}

//===- Reading ------------------------------------------------------------===//

llvm::Error TensorMemory::check(const ScriptPlace &place) const {
  bool isConflicting = false;
  place.forEachStorage([&](const std::shared_ptr<ScriptStorage> &storage) {
    isConflicting |= storage->isConflicting;
  });
  if (isConflicting)
    return makeError("it reads a tensor after another one was changed, and it "
                     "is known only when the model runs whether they share "
                     "memory");
  return llvm::Error::success();
}

llvm::Expected<NodeValue>
TensorMemory::fold(llvm::function_ref<NodeValue(NodeBuilder &)> make) {
  MemoryBuilder b(*this);
  NodeValue value = make(b);
  return b.finish(value);
}

llvm::Expected<NodeValue> TensorMemory::apply(const ScriptView &view,
                                              NodeValue base) {
  if (!view.call.op) {
    MemoryBuilder b(*this);
    NodeValue index = enter(view.index);
    if (view.size) {
      std::vector<int64_t> offsets(size_t(*view.size));
      std::iota(offsets.begin(), offsets.end(), 0);
      index = b.add(index, b.int64s(offsets));
    }
    return b.finish(b.gather(base, index, view.axis));
  }
  AtenView call = view.call;
  for (AtenValue &argument : call.arguments)
    argument = enter(argument);
  return applyView(std::move(call), base, scope->function, nodeName, aten);
}

/// Computes the elements of a view or a choice.
llvm::Expected<NodeValue> TensorMemory::readAgain(const ScriptPlace &place) {
  if (place.base) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue base, read(place.base));
    return apply(place.view, base);
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue then, read(place.then));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue other, read(place.other));
  MemoryBuilder b(*this);
  return b.finish(b.select(enter(place.condition), then, other));
}

llvm::Expected<NodeValue> TensorMemory::read(const ScriptPlaceRef &place) {
  GLOWISH_RETURN_IF_ERROR(check(*place));
  if (const std::shared_ptr<ScriptStorage> &own = place->getStorage())
    return enter(own->value);
  uint64_t version = getVersion(*place);
  if (place->value && place->version == version)
    return enter(place->value);
  GLOWISH_RETURN_IF_ERROR(settle(place));
  if (const std::shared_ptr<ScriptStorage> &own = place->getStorage())
    return enter(own->value);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, readAgain(*place));
  journal.save(place);
  place->value = value;
  place->version = version;
  return value;
}

//===- Writing ------------------------------------------------------------===//

void TensorMemory::assign(const std::shared_ptr<ScriptStorage> &storage,
                          NodeValue value) {
  journal.save(storage);
  storage->value = value;
  storage->version = tick();
}

/// Sets all elements of \p storage; of others that may be the same memory it
/// isn't known any more what they are.
void TensorMemory::writeStorage(const std::shared_ptr<ScriptStorage> &storage,
                                NodeValue value) {
  if (storage->group)
    for (const std::weak_ptr<ScriptStorage> &member :
         findGroup(*storage).members)
      if (std::shared_ptr<ScriptStorage> other = member.lock();
          other && other != storage)
        setConflicting(other);
  assign(storage, value);
}

/// Writes to both places; the one that it isn't keeps its elements.
llvm::Error TensorMemory::writeChoice(const ScriptPlace &place,
                                      NodeValue value) {
  // Both may be the same memory: the second one is read after the first write.
  for (bool isThen : {true, false}) {
    const ScriptPlaceRef &own = isThen ? place.then : place.other;
    GLOWISH_ASSIGN_OR_RETURN(NodeValue old, read(own));
    MemoryBuilder b(*this);
    NodeValue condition = enter(place.condition);
    GLOWISH_ASSIGN_OR_RETURN(
        NodeValue selected, b.finish(isThen ? b.select(condition, value, old)
                                            : b.select(condition, old, value)));
    GLOWISH_RETURN_IF_ERROR(write(own, selected));
  }
  return llvm::Error::success();
}

llvm::Error TensorMemory::write(const ScriptPlaceRef &place, NodeValue value) {
  GLOWISH_RETURN_IF_ERROR(check(*place));
  // Elements up to the bound are there where no run decides an extent.
  if (const Type &own = value.getType();
      own != place->type && (own.hasExtents() || place->type.hasExtents())) {
    MemoryBuilder b(*this);
    if (own != place->type.withoutExtents())
      return makeError("it writes {0} to a tensor; accepted: its own type, {1}",
                       own.str(), place->type.str());
    GLOWISH_ASSIGN_OR_RETURN(value,
                             b.finish(b.declareExtents(value, place->type)));
  }
  GLOWISH_RETURN_IF_ERROR(settle(place));
  if (const std::shared_ptr<ScriptStorage> &own = place->getStorage()) {
    writeStorage(own, value);
    return llvm::Error::success();
  }
  if (place->base) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue old, read(place->base));
    GLOWISH_ASSIGN_OR_RETURN(NodeValue all, replace(place->view, old, value));
    GLOWISH_RETURN_IF_ERROR(write(place->base, all));
  } else {
    GLOWISH_RETURN_IF_ERROR(writeChoice(*place, value));
  }
  journal.save(place);
  place->value = value;
  place->version = getVersion(*place);
  return llvm::Error::success();
}

/// Decides whether the tensor at \p place, which may be a copy, is one, as its
/// memory or that of its base is to change: a copy gets a storage of its own.
llvm::Error TensorMemory::settle(const ScriptPlaceRef &place) {
  if (place->getStorage())
    return llvm::Error::success();
  if (place->isChoice()) {
    GLOWISH_RETURN_IF_ERROR(settle(place->then));
    return settle(place->other);
  }
  GLOWISH_RETURN_IF_ERROR(settle(place->base));
  if (!place->view.mayCopy())
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(std::optional<bool> isShared,
                           this->isShared(*place));
  if (!isShared)
    return makeError("it changes a tensor, of which it is known only when the "
                     "model runs whether it shares memory with another one");
  ScriptCopy &copy = *place->view.copy;
  copy.isCopy = !*isShared;
  if (*isShared)
    return llvm::Error::success();
  // Where a branch or a loop finds it, the copy was there before.
  copy.storage = createDense(place->value)->place->storage;
  copy.storage->birth = place->birth;
  return llvm::Error::success();
}
