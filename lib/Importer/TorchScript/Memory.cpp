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

ScriptTensorRef TensorMemory::create(NodeValue value, bool isDense) {
  auto storage = std::make_shared<ScriptStorage>();
  storage->birth = tick();
  storage->version = tick();
  storage->value = value;
  storage->isDense = isDense;
  auto tensor = std::make_shared<ScriptTensor>();
  tensor->birth = tick();
  tensor->storage = std::move(storage);
  tensor->isDense = isDense;
  return tensor;
}

/// Whether \p view of a tensor that is dense is so, too.
static bool keepsOrder(const ScriptView &view, const Type &base) {
  static constexpr llvm::StringLiteral inOrder[] = {
      "view",    "reshape",   "flatten",  "unsqueeze", "squeeze", "contiguous",
      "view_as", "unflatten", "_reshape", "ravel",     "alias",   "detach"};
  if (view.op && llvm::is_contained(inOrder, view.op->schema.name))
    return true;
  // Slices along the first dimension are next to each other.
  if (!view.op ||
      (view.op->schema.name != "select" && view.op->schema.name != "slice" &&
       view.op->schema.name != "narrow"))
    return false;
  std::optional<unsigned> dim = view.op->schema.findArgument("dim"),
                          step = view.op->schema.findArgument("step");
  const AtenValue &axis = view.arguments[*dim];
  bool isFirst =
      axis.is<int64_t>() && (axis.get<int64_t>() == 0 ||
                             axis.get<int64_t>() == -int64_t(base.getRank()));
  return isFirst && (!step || (view.arguments[*step].is<int64_t>() &&
                               view.arguments[*step].get<int64_t>() == 1));
}

ScriptTensorRef TensorMemory::createView(ScriptTensorRef base, ScriptView view,
                                         NodeValue value) {
  auto tensor = std::make_shared<ScriptTensor>();
  tensor->birth = tick();
  tensor->isDense = (base->isDense && keepsOrder(view, base->getType())) ||
                    (view.op && view.op->schema.name == "contiguous");
  tensor->value = value;
  tensor->version = base->getStorage().version;
  tensor->view = std::move(view);
  tensor->base = std::move(base);
  return tensor;
}

ScriptTensorRef
TensorMemory::createUncertain(NodeValue value, bool isDense,
                              llvm::ArrayRef<ScriptTensorRef> others) {
  ScriptTensorRef tensor = create(value, isDense);
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
  if (!view.op) {
    MemoryBuilder b(*this);
    return b.finish(b.gather(base, enter(view.index), view.axis));
  }
  AtenValue::List arguments;
  for (const AtenValue &argument : view.arguments)
    arguments.push_back(enter(argument));
  arguments[view.self] = base;
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results,
                           importAtenOperator(*view.op, scope->function,
                                              nodeName, std::move(arguments),
                                              aten));
  if (!view.element)
    return results[0].get<NodeValue>();
  return results[0].get<AtenValue::List>()[*view.element].get<NodeValue>();
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
  GLOWISH_ASSIGN_OR_RETURN(bool shares, isShared(*tensor));
  journal.save(tensor);
  tensor->view.mayCopy = false;
  if (shares)
    return llvm::Error::success();
  tensor->storage = create(tensor->value, /*isDense=*/true)->storage;
  tensor->isDense = true;
  tensor->base = nullptr;
  tensor->view = {};
  return llvm::Error::success();
}

//===- Order of elements --------------------------------------------------===//

/// A constant with the numbers 0, 1, ... in \p shape.
llvm::Expected<NodeValue> TensorMemory::makePlaces(DimsRef shape) {
  Type type(ElemKind::Int64, shape);
  GLOWISH_RETURN_IF_ERROR(aten.budget.check(type.getSizeInBytes()));
  Tensor numbers(type);
  std::iota(numbers.data<int64_t>().begin(), numbers.data<int64_t>().end(), 0);
  return NodeValue(
      scope->function.getModule().createConstant("places", std::move(numbers)));
}

/// The number, in the storage, of each element of a tensor; null if the order
/// of the storage's elements isn't known.
llvm::Expected<NodeValue> TensorMemory::trace(const ScriptTensor &tensor) {
  if (!tensor.base) {
    if (!tensor.storage->isDense)
      return NodeValue();
    return makePlaces(tensor.getType().getShape());
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue base, trace(*tensor.base));
  if (!base || !tensor.view.op)
    return NodeValue();
  return apply(tensor.view, base);
}

/// Whether a tensor that may be a copy of its base shares its memory.
llvm::Expected<bool> TensorMemory::isShared(const ScriptTensor &tensor) {
  auto refuse = [] {
    return makeError("it changes a tensor, of which it is known only when the "
                     "model runs whether it shares memory with another one");
  };
  // Where the base is in order, no operator has to copy it.
  if (tensor.base->isDense)
    return true;
  GLOWISH_ASSIGN_OR_RETURN(NodeValue places, trace(*tensor.base));
  auto *known = places ? places.getNodeAs<Constant>() : nullptr;
  if (!known)
    return refuse();
  DimsRef shape = tensor.base->getType().getShape(),
          wanted = tensor.getType().getShape();
  std::optional<Dims> strides =
      findStrides(shape, known->getTensor().data<int64_t>());
  if (!strides)
    return refuse();
  if (tensor.view.op->schema.name != "contiguous")
    return canReshape(shape, *strides, wanted);
  // That is its argument if the order is the right one already.
  Dims dense = getDenseStrides(shape);
  for (auto [extent, stride, own] : llvm::zip_equal(shape, *strides, dense))
    if (extent > 1 && stride != own)
      return false;
  return true;
}

std::optional<Dims> torchscript::findStrides(DimsRef shape,
                                             llvm::ArrayRef<int64_t> places) {
  Dims strides(shape.size(), 0), dense = getDenseStrides(shape);
  if (places.empty())
    return strides;
  for (auto [d, extent] : llvm::enumerate(shape))
    if (extent > 1)
      strides[d] = places[size_t(dense[d])] - places[0];
  for (auto [number, place] : llvm::enumerate(places)) {
    int64_t expected = places[0], rest = int64_t(number);
    for (auto [stride, own] : llvm::zip_equal(strides, dense)) {
      expected += rest / own * stride;
      rest %= own;
    }
    if (place != expected)
      return std::nullopt;
  }
  return strides;
}

bool torchscript::canReshape(DimsRef shape, DimsRef strides, DimsRef wanted) {
  // Dimensions that follow each other without gaps are one.
  Dims runs;
  int64_t next = 0;
  for (auto [extent, stride] : llvm::zip_equal(shape, strides)) {
    if (extent == 0)
      return true;
    if (extent == 1)
      continue;
    if (!runs.empty() && next == stride * extent)
      runs.back() *= extent;
    else
      runs.push_back(extent);
    next = stride;
  }
  // Each of them must be some of the wanted ones.
  size_t run = 0;
  int64_t size = 1;
  for (int64_t extent : wanted) {
    size *= extent;
    if (extent == 1 || run == runs.size())
      continue;
    if (size == runs[run]) {
      size = 1;
      ++run;
    } else if (size > runs[run]) {
      return false;
    }
  }
  return run == runs.size();
}
