//===- Order.cpp - The order of tensors' elements -------------------------===//
//
// PyTorch's programs can ask for strides, and whether some operators copy
// depends on them. They are followed from inputs and weights.
//
//===----------------------------------------------------------------------===//

#include "TorchScript/Memory.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

//===- New tensors --------------------------------------------------------===//

/// The most layouts that depend on one another without being known.
static constexpr unsigned maxLayoutDepth = 64;

/// Counts the layouts that aren't known yet that of \p place depends on.
static unsigned getLayoutDepth(const ScriptPlace &place) {
  unsigned depth = 0;
  place.forEachStorage([&](const std::shared_ptr<ScriptStorage> &storage) {
    if (!storage->strides && storage->layout)
      depth = std::max(depth, storage->layout->depth + 1);
  });
  return depth;
}

ScriptTensorRef TensorMemory::create(NodeValue value,
                                     const ScriptLayout &layout) {
  if (layout.isChannelsLast)
    return create(value, getChannelsLastStrides(value.getShape()));
  if (layout.order == AtenOrder::RowMajor)
    return createDense(value);
  ScriptTensorRef tensor = create(value, std::nullopt);
  if (layout.order == AtenOrder::Unknown)
    return tensor;
  auto own = std::make_shared<ScriptLayout>(layout);
  for (const ScriptPlaceRef &operand : layout.operands)
    own->depth = std::max(own->depth, getLayoutDepth(*operand));
  if (own->depth > maxLayoutDepth)
    return tensor;
  ScriptStorage &storage = *tensor->place->storage;
  storage.layout = std::move(own);
  // What views have costs more, and few programs ask for it.
  bool isCheap =
      llvm::all_of(layout.operands, [](const ScriptPlaceRef &operand) {
        return operand->isDense ||
               (operand->getStorage() && operand->getStorage()->strides);
      });
  if (isCheap) {
    llvm::Expected<std::optional<Dims>> strides = resolve(storage);
    // Nothing is computed that could fail.
    if (std::optional<Dims> known = llvm::cantFail(std::move(strides)))
      return create(value, std::move(known));
  }
  return tensor;
}

llvm::Expected<std::optional<Dims>>
TensorMemory::resolve(ScriptStorage &storage) {
  if (storage.strides || !storage.layout)
    return storage.strides;
  std::shared_ptr<const ScriptLayout> layout = std::move(storage.layout);
  DimsRef shape = storage.value.getShape();
  std::vector<DimsRef> shapes;
  std::vector<Dims> all;
  for (const ScriptPlaceRef &operand : layout->operands) {
    GLOWISH_ASSIGN_OR_RETURN(std::optional<Dims> own, getStrides(*operand));
    if (!own || llvm::is_contained(*own, unknownStride))
      return std::nullopt;
    shapes.push_back(operand->type.getShape());
    all.push_back(std::move(*own));
  }
  if (layout->order == AtenOrder::ElementWise) {
    storage.strides = combineStrides(
        shape, shapes, llvm::SmallVector<DimsRef, 4>(all.begin(), all.end()));
  } else if (layout->order == AtenOrder::Kept) {
    // Of elements with gaps between them a copy has another order.
    if (findOrder(shape, all.front()))
      storage.strides = all.front();
  } else {
    bool isLast = false;
    for (auto [own, strides] : llvm::zip_equal(shapes, all))
      isLast |= areChannelsLast(own, strides);
    storage.strides =
        isLast ? getChannelsLastStrides(shape) : getRowMajorStrides(shape);
  }
  return storage.strides;
}

//===- Views --------------------------------------------------------------===//

/// The place in the storage's memory of each element at \p place; null if that
/// isn't known.
llvm::Expected<NodeValue> TensorMemory::trace(const ScriptPlace &place) {
  DimsRef shape = place.type.getShape();
  std::optional<Dims> strides;
  if (const std::shared_ptr<ScriptStorage> &own = place.getStorage()) {
    GLOWISH_ASSIGN_OR_RETURN(strides, resolve(*own));
  } else if (place.isChoice()) {
    GLOWISH_ASSIGN_OR_RETURN(strides, getStrides(place));
  } else if (place.view.mayCopy()) {
    GLOWISH_ASSIGN_OR_RETURN(std::optional<bool> shares, isShared(place));
    if (!shares)
      return NodeValue();
    if (!*shares)
      strides = getRowMajorStrides(shape);
  }
  if (strides)
    return makePlaces(scope->function.getModule(), shape, *strides, aten);
  if (!place.base || !place.view.call.op)
    return NodeValue();
  GLOWISH_ASSIGN_OR_RETURN(NodeValue base, trace(*place.base));
  return base ? apply(place.view, base) : llvm::Expected<NodeValue>(base);
}

/// The elements of \p places, if they are known.
static std::optional<llvm::ArrayRef<int64_t>> readPlaces(NodeValue places) {
  auto *constant = places ? places.getNodeAs<Constant>() : nullptr;
  if (!constant)
    return std::nullopt;
  return llvm::ArrayRef<int64_t>(constant->getTensor().data<int64_t>());
}

llvm::Expected<std::optional<Dims>>
TensorMemory::getStrides(const ScriptPlace &place) {
  // They depend on the run.
  if (place.type.hasExtents() && !place.isDense)
    return std::nullopt;
  if (const std::shared_ptr<ScriptStorage> &own = place.getStorage())
    return resolve(*own);
  DimsRef shape = place.type.getShape();
  if (place.isDense)
    return getRowMajorStrides(shape);
  if (place.isChoice()) {
    GLOWISH_ASSIGN_OR_RETURN(std::optional<Dims> own, getStrides(*place.then));
    GLOWISH_ASSIGN_OR_RETURN(std::optional<Dims> same,
                             getStrides(*place.other));
    return own == same ? own : std::nullopt;
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue places, trace(place));
  auto known = readPlaces(places);
  if (!known)
    return std::nullopt;
  std::optional<Dims> strides = findStrides(shape, *known);
  // No element shows them.
  for (size_t d = 0; strides && d < shape.size(); ++d)
    if (shape[d] == 1 || known->empty())
      (*strides)[d] = unknownStride;
  return strides;
}

/// Whether \p place, a view that may be a copy of its base, shares its memory;
/// none if that isn't known.
llvm::Expected<std::optional<bool>>
TensorMemory::isShared(const ScriptPlace &place) {
  // Where the base is in order, no operator has to copy it.
  if (place.base->isDense)
    return true;
  GLOWISH_ASSIGN_OR_RETURN(std::optional<Dims> strides,
                           getStrides(*place.base));
  if (!strides)
    return std::nullopt;
  DimsRef shape = place.base->type.getShape();
  // That is its argument if the order is the right one already.
  if (place.view.call.op->schema.name == "contiguous")
    return haveSameOrder(shape, *strides, getRowMajorStrides(shape));
  return canReshape(shape, *strides, place.type.getShape());
}

//===- Tensors by strides -------------------------------------------------===//

llvm::Expected<ScriptPlaceRef> TensorMemory::makeStrided(
    const ScriptPlaceRef &place, const std::vector<int64_t> &size,
    const std::vector<int64_t> &strides, std::optional<int64_t> offset) {
  if (place->type.hasExtents())
    return makeError("argument 'self' is {0}; accepted: extents that no run "
                     "decides",
                     place->type.str());
  GLOWISH_RETURN_IF_ERROR(settle(place));
  ScriptPlaceRef root = place;
  while (!root->getStorage() && root->base)
    root = root->base;
  if (root->isChoice() && (offset || root == place)) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptPlaceRef then,
                             makeStrided(root->then, size, strides, offset));
    GLOWISH_ASSIGN_OR_RETURN(ScriptPlaceRef other,
                             makeStrided(root->other, size, strides, offset));
    return choose(root->condition, then, other, /*value=*/{});
  }
  DimsRef shape = root->type.getShape();
  if (root->type.hasExtents())
    return makeError("argument 'self' is a view of {0}; accepted: extents that "
                     "no run decides",
                     root->type.str());
  GLOWISH_ASSIGN_OR_RETURN(std::optional<Dims> own, getStrides(*root));
  std::optional<std::vector<int64_t>> order;
  if (own && !root->isChoice())
    order = findOrder(shape, *own);
  if (!order)
    return makeError("the order in memory of the elements of argument 'self' "
                     "is not known, or there are gaps between them; accepted: "
                     "inputs, weights, and what is computed of them element by "
                     "element");
  if (!offset) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue places, trace(*place));
    auto known = readPlaces(places);
    if (!known)
      return makeError("it is not known where argument 'self' begins in "
                       "memory; accepted: a storage_offset");
    offset = known->empty() ? 0 : known->front();
  }
  // The memory is row-major with the dimensions in this order.
  ScriptPlaceRef memory = root;
  auto view = [&](llvm::StringRef name,
                  AtenValue::List arguments) -> llvm::Expected<ScriptPlaceRef> {
    ScriptView own{
        .call = {.op = findAtenOperator(name), .arguments = arguments}};
    GLOWISH_ASSIGN_OR_RETURN(NodeValue base, read(memory));
    GLOWISH_ASSIGN_OR_RETURN(NodeValue value, apply(own, base));
    return createView(memory, std::move(own), value)->place;
  };
  auto list = [](llvm::ArrayRef<int64_t> values) {
    return AtenValue(AtenValue::List(values.begin(), values.end()));
  };
  if (!llvm::is_sorted(*order)) {
    GLOWISH_ASSIGN_OR_RETURN(memory,
                             view("permute", {AtenValue(), list(*order)}));
  }
  return view("as_strided",
              {AtenValue(), list(size), list(strides), AtenValue(*offset)});
}
