//===- Memory.cpp - The memory of exported programs' tensors --------------===//

#include "TorchExport/Memory.h"
#include "Common/Messages.h"
#include "glowish/Base/CheckedInt.h"
#include "glowish/Base/Type.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchexport;
namespace json = llvm::json;

/// The strides that the file states of \p name.
llvm::Expected<Dims> ExportedMemory::readStrides(llvm::StringRef name) const {
  auto refuse = [&] {
    return makeError("the file states no strides of {0}, which as_strided "
                     "depends on; accepted: tensors whose strides are numbers",
                     quote(name));
  };
  const json::Object *meta = findTensorMeta(graph, name);
  const json::Array *stated = meta ? meta->getArray("strides") : nullptr;
  if (!stated)
    return refuse();
  Dims strides;
  for (const json::Value &stride : *stated) {
    GLOWISH_ASSIGN_OR_RETURN(JsonMember member, getMember(stride));
    auto number = member.value->getAsInteger();
    if (!number || *number < 0)
      return refuse();
    strides.push_back(*number);
  }
  GLOWISH_ASSIGN_OR_RETURN(AtenValue value, values.get(name));
  if (!value.isTensor() ||
      value.get<NodeValue>().getShape().size() != strides.size())
    return refuse();
  DimsRef shape = value.get<NodeValue>().getShape();
  CheckedInt last = 0;
  for (auto [extent, stride] : llvm::zip_equal(shape, strides))
    last += CheckedInt(std::max<int64_t>(extent - 1, 0)) * stride;
  if (!last.isBetween(0, maxTensorBytes))
    return makeError("the elements of {0} with the strides {1} are larger than "
                     "{2} bytes",
                     quote(name), formatShape(strides), maxTensorBytes);
  return strides;
}

static llvm::ArrayRef<int64_t> getElements(NodeValue places) {
  return places.getNodeAs<Constant>()->getTensor().data<int64_t>();
}

/// Returns the numbers of an int[]; none of other lists.
static std::optional<Dims> readInts(const AtenValue &list) {
  if (list.is<int64_t>())
    return Dims{list.get<int64_t>()};
  if (!list.is<AtenValue::List>())
    return std::nullopt;
  Dims ints;
  for (const AtenValue &value : list.get<AtenValue::List>()) {
    if (!value.is<int64_t>())
      return std::nullopt;
    ints.push_back(value.get<int64_t>());
  }
  return ints;
}

/// Whether an operator that returns a view where it can has copied its operand
/// \p base, as its strides or the kind need it.
llvm::Expected<bool> ExportedMemory::isCopy(llvm::StringRef name,
                                            const View &view,
                                            const Trace &base) const {
  GLOWISH_ASSIGN_OR_RETURN(AtenValue own, values.get(name));
  GLOWISH_ASSIGN_OR_RETURN(AtenValue operand, values.get(view.base));
  const Type &type = own.get<NodeValue>().getType();
  if (type.getKind() != operand.get<NodeValue>().getElemKind())
    return true;
  static constexpr llvm::StringLiteral names[] = {
      "reshape", "reshape_as", "flatten", "contiguous", "to"};
  llvm::StringRef op = view.call.op->schema.name;
  if (!llvm::is_contained(names, op))
    return false;
  DimsRef shape = base.places.getShape();
  std::optional<Dims> strides = findStrides(shape, getElements(base.places));
  if (!strides)
    return true;
  if (op != "contiguous" && op != "to")
    return !canReshape(shape, *strides, type.getShape());
  GLOWISH_ASSIGN_OR_RETURN(Dims stated, readStrides(name));
  return !haveSameOrder(shape, *strides, stated);
}

llvm::Expected<ExportedMemory::Trace>
ExportedMemory::traceRoot(llvm::StringRef name) const {
  GLOWISH_ASSIGN_OR_RETURN(Dims strides, readStrides(name));
  GLOWISH_ASSIGN_OR_RETURN(AtenValue value, values.get(name));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue places,
                           makePlaces(function.getModule(),
                                      value.get<NodeValue>().getShape(),
                                      strides, context));
  return Trace{name.str(), places};
}

llvm::Expected<ExportedMemory::Trace>
ExportedMemory::trace(llvm::StringRef name) const {
  // From the tensor to what all of them are views of.
  std::vector<std::pair<llvm::StringRef, const View *>> chain;
  llvm::StringRef root = name;
  for (auto found = views.find(root); found != views.end();
       found = views.find(root)) {
    chain.emplace_back(root, &found->second);
    root = found->second.base;
    if (chain.size() > views.size())
      return makeError("{0} is a view of itself", quote(name));
  }
  GLOWISH_ASSIGN_OR_RETURN(Trace trace, traceRoot(root));
  for (auto [own, view] : llvm::reverse(chain)) {
    GLOWISH_ASSIGN_OR_RETURN(bool copies, isCopy(own, *view, trace));
    if (copies) {
      GLOWISH_ASSIGN_OR_RETURN(trace, traceRoot(own));
      continue;
    }
    GLOWISH_ASSIGN_OR_RETURN(trace.places, applyTo(*view, trace.places, own));
  }
  return trace;
}

/// What \p view makes of the places of its operand.
llvm::Expected<NodeValue> ExportedMemory::applyTo(const View &view,
                                                  NodeValue places,
                                                  llvm::StringRef name) const {
  llvm::StringRef op = view.call.op->schema.name;
  // Conversions would convert places.
  if (op == "to")
    return places;
  if (op == "as_strided") {
    // Its operand was replaced by the memory, and the offset stated.
    const AtenValue::List &arguments = view.call.arguments;
    return makePlaces(function.getModule(), *readInts(arguments[1]),
                      *readInts(arguments[2]), context,
                      arguments[3].get<int64_t>());
  }
  GLOWISH_ASSIGN_OR_RETURN(
      places, applyView(view.call, places, function, name, context));
  if (!places.getNodeAs<Constant>())
    return makeError("it is not known where in memory {0} is", quote(name));
  return places;
}

llvm::Expected<bool>
ExportedMemory::isReshaped(llvm::StringRef name, const AtenValue &size,
                           const AtenValue &strides) const {
  std::optional<Dims> shape = readInts(size), wanted = readInts(strides);
  if (!shape || !wanted || shape->size() != wanted->size() ||
      llvm::any_of(*shape, [](int64_t extent) { return extent < 0; }))
    return false;
  GLOWISH_ASSIGN_OR_RETURN(Trace place, trace(name));
  llvm::ArrayRef<int64_t> places = getElements(place.places);
  CheckedInt count = 1;
  for (int64_t extent : *shape)
    count *= extent;
  if (count.get() != int64_t(places.size()))
    return false;
  std::optional<Dims> own = findStrides(*shape, places);
  return own && haveSameOrder(*shape, *own, *wanted);
}

llvm::Expected<ExportedMemory::Place>
ExportedMemory::find(llvm::StringRef name) const {
  GLOWISH_ASSIGN_OR_RETURN(Trace place, trace(name));
  GLOWISH_ASSIGN_OR_RETURN(AtenValue root, values.get(place.root));
  NodeValue memory = root.get<NodeValue>();
  GLOWISH_ASSIGN_OR_RETURN(Dims strides, readStrides(place.root));
  auto order = findOrder(memory.getShape(), strides);
  if (!order)
    return makeError("the elements of {0} have the strides {1}, with gaps "
                     "between them; accepted: tensors without gaps",
                     quote(place.root), formatShape(strides));
  if (!llvm::is_sorted(*order)) {
    NodeBuilder b(function, name);
    GLOWISH_ASSIGN_OR_RETURN(memory, b.finish(b.transpose(memory, *order)));
  }
  llvm::ArrayRef<int64_t> elements = getElements(place.places);
  return Place{memory, elements.empty() ? 0 : elements.front()};
}
