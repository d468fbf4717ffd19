//===- Writes.cpp - Write to tensors through views ------------------------===//

#include "TorchScript/Memory.h"
#include <numeric>

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

namespace {

/// The elements of a tensor that a view of it has, where these are a box: the
/// elements start, start + step, ... along each dimension.
struct ViewedBox {
  Dims start, step, size;
  /// The dimension of the view that runs along each one of the tensor; none
  /// where the view has one index.
  std::vector<std::optional<unsigned>> axes;

  bool hasSteps() const {
    return llvm::any_of(step, [](int64_t own) { return own != 1; });
  }
};

} // namespace

/// The box that a view of the extents \p viewed, whose elements are at \p start
/// and on, has of a tensor of \p shape; none if they aren't one.
static std::optional<ViewedBox> findBox(DimsRef shape, DimsRef viewed,
                                        DimsRef strides, int64_t start) {
  Dims dense = getDenseStrides(shape);
  ViewedBox box;
  box.axes.resize(shape.size());
  for (auto [stride, extent] : llvm::zip_equal(dense, shape)) {
    box.start.push_back(start / stride);
    start %= stride;
  }
  box.step.assign(shape.size(), 1);
  box.size.assign(shape.size(), 1);
  for (auto [axis, stride, extent] : llvm::enumerate(strides, viewed)) {
    if (extent == 1)
      continue;
    bool isFound = false;
    for (size_t d = 0; d < shape.size() && !isFound; ++d) {
      if (box.axes[d] || shape[d] == 1 || stride < dense[d] ||
          stride % dense[d] != 0 ||
          box.start[d] + stride / dense[d] * (extent - 1) >= shape[d])
        continue;
      box.axes[d] = unsigned(axis);
      box.step[d] = stride / dense[d];
      box.size[d] = extent;
      isFound = true;
    }
    if (!isFound)
      return std::nullopt;
  }
  return box;
}

/// Whether \p box of a tensor of type \p type has all indices of dimensions of
/// which a run decides the extent, and \p value, the view, has no others.
static bool hasAllOpen(const ViewedBox &box, const Type &type,
                       const Type &value) {
  std::vector<bool> isCovered(value.getRank());
  for (unsigned d = 0; d < type.getRank(); ++d) {
    std::optional<unsigned> axis = box.axes[d];
    const Extent *extent = type.getExtent(d);
    if (!extent)
      continue;
    const Extent *own = axis ? value.getExtent(*axis) : nullptr;
    if (!own || !(*own == *extent) || box.start[d] != 0 || box.step[d] != 1 ||
        box.size[d] != type.getDim(d))
      return false;
    isCovered[*axis] = true;
  }
  for (unsigned d = 0; d < value.getRank(); ++d)
    if (value.getExtent(d) && !isCovered[d])
      return false;
  return true;
}

/// \p value, which is a view, with its dimensions in the order of \p box.
static NodeValue alignToBox(NodeBuilder &b, NodeValue value,
                            const ViewedBox &box) {
  DimsRef shape = value.getShape();
  std::vector<int64_t> order;
  for (const std::optional<unsigned> &axis : box.axes)
    if (axis)
      order.push_back(*axis);
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (extent == 1)
      order.push_back(int64_t(axis));
  if (!llvm::is_sorted(order))
    value = b.transpose(value, order);
  return b.reshape(value, box.size);
}

/// \p old with \p value in the place of \p box, along the dimensions from
/// \p first on.
static NodeValue insertBox(NodeBuilder &b, NodeValue old, NodeValue value,
                           const ViewedBox &box, size_t first = 0) {
  if (!old || !value)
    return {};
  Dims shape(old.getShape());
  while (first < shape.size() && box.size[first] == shape[first])
    ++first;
  if (first == shape.size())
    return value;
  auto axis = int64_t(first);
  int64_t start = box.start[first], size = box.size[first];
  // What is replaced may itself be kept in part.
  value = insertBox(b, b.slice(old, axis, start, size), value, box, first + 1);
  // Copying all is better for kernels than an update in place, but for one of
  // many small parts.
  constexpr int64_t fewest = 8;
  if (size * fewest <= shape[first])
    return b.make<DynamicUpdateSliceNode>(old, value, b.int64s(start), axis);
  llvm::SmallVector<NodeValue, 3> parts;
  if (start > 0)
    parts.push_back(b.slice(old, axis, 0, start));
  parts.push_back(value);
  if (int64_t end = start + size; end < shape[first])
    parts.push_back(b.slice(old, axis, end, shape[first] - end));
  return b.concat(parts, axis);
}

/// \p old with the elements of \p value at \p places, each of which is another.
llvm::Expected<NodeValue>
TensorMemory::replaceMapped(NodeValue old, NodeValue value,
                            llvm::ArrayRef<int64_t> places) {
  int64_t count = old.getType().getNumElements();
  Tensor sources(Type(ElemKind::Int64, {count}));
  llvm::MutableArrayRef<int64_t> source = sources.data<int64_t>();
  std::iota(source.begin(), source.end(), 0);
  for (auto [number, place] : llvm::enumerate(places)) {
    int64_t &own = source[size_t(place)];
    if (own != place)
      return makeError("it writes to a tensor that has some elements several "
                       "times; PyTorch refuses it, too");
    own = count + int64_t(number);
  }
  NodeBuilder b(scope->function, nodeName);
  auto flat = [&](NodeValue x) {
    return b.reshape(x, {x.getType().getNumElements()});
  };
  return b.finish(b.reshape(b.gather(b.concat({flat(old), flat(value)}, 0),
                                     b.createConstant(std::move(sources)), 0),
                            old.getShape()));
}

/// Returns \p value, an argument, with the largest values of its extents.
static AtenValue takeBounds(const AtenValue &value,
                            const SymbolRanges &symbols) {
  if (value.is<Extent>())
    return AtenValue(symbols.getRange(value.get<Extent>())->high);
  if (!value.is<AtenValue::List>())
    return value;
  AtenValue::List list;
  for (const AtenValue &element : value.get<AtenValue::List>())
    list.push_back(takeBounds(element, symbols));
  return list;
}

/// The number, in the base of \p view, of each of its elements.
llvm::Expected<std::vector<int64_t>>
TensorMemory::findPlaces(const ScriptView &view, NodeValue base) {
  DimsRef shape = base.getShape();
  GLOWISH_ASSIGN_OR_RETURN(NodeValue all,
                           makePlaces(scope->function.getModule(), shape,
                                      getDenseStrides(shape), aten));
  ScriptView bounds = view;
  for (AtenValue &argument : bounds.call.arguments)
    argument = takeBounds(argument, scope->function.getModule().getSymbols());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue own, apply(bounds, all));
  auto *known = own.getNodeAs<Constant>();
  if (!known)
    return makeError("it writes to a view of {0}; accepted: views whose places "
                     "are known when the model is compiled, of fewer elements",
                     base.getType().str());
  std::vector<int64_t> places(known->getTensor().data<int64_t>());
  Module &module = scope->function.getModule();
  if (own != all && !known->hasUses())
    module.eraseConstant(known);
  if (!all.node->hasUses())
    module.eraseConstant(llvm::cast<Constant>(all.node));
  return places;
}

/// \p old, the base of \p view, with \p value as its elements.
llvm::Expected<NodeValue>
TensorMemory::replace(const ScriptView &view, NodeValue old, NodeValue value) {
  NodeBuilder b(scope->function, nodeName);
  bool isOpen = old.getType().hasExtents() || value.getType().hasExtents();
  auto refuse = [&] {
    return makeError("it writes to a part, {0}, of {1}; accepted: parts with "
                     "all indices of dimensions that a run decides",
                     value.getType().str(), old.getType().str());
  };
  if (!view.call.op && isOpen)
    return refuse();
  if (!view.call.op)
    return b.finish(b.make<DynamicUpdateSliceNode>(
        old, view.size ? value : b.unsqueeze(value, view.axis),
        enter(view.index), view.axis));
  DimsRef shape = old.getShape(), viewed = value.getShape();
  if (old.getType().getNumElements() == 0 ||
      value.getType().getNumElements() == 0)
    return old;
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> places, findPlaces(view, old));
  // A reshaped tensor.
  bool isInOrder = int64_t(places.size()) == old.getType().getNumElements();
  for (size_t i = 0; i < places.size() && isInOrder; ++i)
    isInOrder = places[i] == int64_t(i);
  if (isInOrder) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue all, b.finish(b.reshape(value, shape)));
    if (all.getType() != old.getType())
      return refuse();
    return all;
  }
  std::optional<Dims> strides = findStrides(viewed, places);
  std::optional<ViewedBox> box;
  if (strides)
    box = findBox(shape, viewed, *strides, places[0]);
  if (isOpen && !(box && hasAllOpen(*box, old.getType(), value.getType())))
    return refuse();
  if (!box || box->hasSteps())
    return replaceMapped(old, value, places);
  return b.finish(insertBox(b, old, alignToBox(b, value, *box), *box));
}
