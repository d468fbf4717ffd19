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

/// The function that \p value is in; null for the model's placeholders.
static const Function *getFunctionOf(NodeValue value) {
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
  auto tensor = std::make_shared<ScriptTensor>();
  tensor->birth = tick();
  tensor->isDense =
      strides && haveSameOrder(shape, *strides, getDenseStrides(shape));
  storage->strides = std::move(strides);
  tensor->storage = std::move(storage);
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

ScriptTensorRef TensorMemory::createView(ScriptTensorRef base, ScriptView view,
                                         NodeValue value) {
  auto tensor = std::make_shared<ScriptTensor>();
  tensor->birth = tick();
  tensor->isDense = (base->isDense && keepsOrder(view, base->getType())) ||
                    (view.call.op && view.call.op->schema.name == "contiguous");
  tensor->value = value;
  tensor->version = base->getStorage().version;
  tensor->view = std::move(view);
  tensor->base = std::move(base);
  return tensor;
}

ScriptTensorRef
TensorMemory::createUncertain(NodeValue value, std::optional<Dims> strides,
                              llvm::ArrayRef<ScriptTensorRef> others) {
  ScriptTensorRef tensor = create(value, std::move(strides));
  for (const ScriptTensorRef &other : others) {
    const ScriptTensor *root = other.get();
    while (root->base)
      root = root->base.get();
    tensor->storage->mayShare.push_back(
        {root->storage, root->storage->version});
  }
  return tensor;
}

//===- Reading ------------------------------------------------------------===//

llvm::Error TensorMemory::check(const ScriptStorage &storage) const {
  bool isChanged =
      storage.isConflicting ||
      llvm::any_of(storage.mayShare, [](const ScriptStorage::Other &other) {
        return other.storage->version != other.version;
      });
  if (isChanged)
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
    return b.finish(b.gather(base, enter(view.index), view.axis));
  }
  AtenView call = view.call;
  for (AtenValue &argument : call.arguments)
    argument = enter(argument);
  return applyView(std::move(call), base, scope->function, nodeName, aten);
}

llvm::Expected<NodeValue> TensorMemory::read(const ScriptTensorRef &tensor) {
  ScriptStorage &storage = tensor->getStorage();
  GLOWISH_RETURN_IF_ERROR(check(storage));
  if (!tensor->base)
    return enter(storage.value);
  if (tensor->version == storage.version)
    return enter(tensor->value);
  GLOWISH_RETURN_IF_ERROR(settle(tensor));
  if (!tensor->base)
    return enter(tensor->storage->value);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue base, read(tensor->base));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, apply(tensor->view, base));
  journal.save(tensor);
  tensor->value = value;
  tensor->version = storage.version;
  return value;
}

//===- Writing ------------------------------------------------------------===//

void TensorMemory::assign(const std::shared_ptr<ScriptStorage> &storage,
                          NodeValue value) {
  journal.save(storage);
  storage->value = value;
  storage->version = tick();
}

llvm::Error TensorMemory::write(const ScriptTensorRef &tensor,
                                NodeValue value) {
  GLOWISH_RETURN_IF_ERROR(check(tensor->getStorage()));
  GLOWISH_RETURN_IF_ERROR(settle(tensor));
  if (tensor->base) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue old, read(tensor->base));
    GLOWISH_ASSIGN_OR_RETURN(NodeValue all, replace(tensor->view, old, value));
    GLOWISH_RETURN_IF_ERROR(write(tensor->base, all));
    journal.save(tensor);
    tensor->value = value;
    tensor->version = tensor->getStorage().version;
    return llvm::Error::success();
  }
  for (const ScriptStorage::Other &other : tensor->storage->mayShare) {
    journal.save(other.storage);
    other.storage->isConflicting = true;
  }
  assign(tensor->storage, value);
  return llvm::Error::success();
}

/// Decides whether a tensor that may be a copy is one, as its memory or that of
/// its base is to change: a copy gets a storage of its own.
llvm::Error TensorMemory::settle(const ScriptTensorRef &tensor) {
  if (!tensor->base)
    return llvm::Error::success();
  GLOWISH_RETURN_IF_ERROR(settle(tensor->base));
  if (!tensor->view.mayCopy)
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(std::optional<bool> shares, isShared(*tensor));
  if (!shares)
    return makeError("it changes a tensor, of which it is known only when the "
                     "model runs whether it shares memory with another one");
  journal.save(tensor);
  tensor->view.mayCopy = false;
  if (*shares)
    return llvm::Error::success();
  tensor->storage = createDense(tensor->value)->storage;
  tensor->isDense = true;
  tensor->base = nullptr;
  tensor->view = {};
  return llvm::Error::success();
}
