//===- TensorLists.cpp - Lists of equal tensors ---------------------------===//
//
// The elements of a list are often parts of one tensor, one after the other: it
// was unbound, or a loop has appended them. An element at an index that the
// graph computes is a part of that tensor, then, and all elements together are
// the tensor, without an operation for each.
//
//===----------------------------------------------------------------------===//

#include "TorchScript/Interpreter.h"
#include <numeric>

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

namespace {

/// Parts of one tensor, of equal sizes along one dimension.
struct EvenParts {
  ScriptPlaceRef base;
  int64_t axis, first, stride;
  /// As of ScriptPart.
  std::optional<int64_t> size;
};

} // namespace

/// Returns the parts that the elements of \p list are, if they are even ones.
static std::optional<EvenParts> findEvenParts(const ScriptList &list) {
  std::optional<EvenParts> even;
  for (auto [i, element] : llvm::enumerate(list.elements)) {
    const ScriptPlaceRef &place = element.getTensor()->place;
    std::optional<ScriptPart> part = TensorMemory::findPart(*place);
    if (!part || part->computed)
      return std::nullopt;
    if (i == 0)
      even = {place->base, part->axis, part->known, 0, part->size};
    else if (i == 1)
      even->stride = part->known - even->first;
    if (place->base != even->base || part->axis != even->axis ||
        part->size != even->size ||
        part->known != even->first + int64_t(i) * even->stride)
      return std::nullopt;
  }
  return even;
}

/// Returns whether \p list has elements, which are tensors of one type.
static bool areEqualTensors(const ScriptList &list) {
  return !list.elements.empty() &&
         llvm::all_of(list.elements, [&](const ScriptValue &element) {
           return element.isTensor() &&
                  element.getType() == list.elements.front().getType();
         });
}

//===- Elements -----------------------------------------------------------===//

/// Makes the element at \p index of \p list, whose elements are no even parts.
/// It may share memory with each of them.
static llvm::Expected<ScriptValue>
gatherElement(ScriptInterpreter &in, const ScriptList &list, NodeValue index) {
  constexpr size_t most = 256;
  if (list.elements.size() > most)
    return makeError("the list has {0} elements, and the index is known only "
                     "when the model runs; accepted: at most {1} elements, or "
                     "parts of one tensor",
                     list.elements.size(), most);
  NodeBuilder b(in.getFunction(), in.memory.nodeName);
  std::vector<NodeValue> values;
  for (const ScriptValue &element : list.elements) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue value,
                             in.memory.read(element.getTensor()->place));
    values.push_back(b.unsqueeze(value, 0));
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value,
                           b.finish(b.gather(b.concat(values, 0), index, 0)));
  ScriptTensorRef tensor = in.memory.create(value, std::nullopt);
  for (const ScriptValue &element : list.elements)
    in.memory.join(*tensor->place, *element.getTensor()->place);
  return ScriptValue(tensor);
}

llvm::Expected<bool> torchscript::importComputedElement(ScriptCall &call) {
  if (!call.inputs[0].isList() || !call.inputs[1].isComputed() ||
      !areEqualTensors(call.inputs[0].getList()))
    return false;
  ScriptInterpreter &in = call.in;
  const ScriptList &list = call.inputs[0].getList();
  NodeBuilder b(in.getFunction(), in.memory.nodeName);
  NodeValue index = in.makeScalar(call.inputs[1]);
  // Negative ones count from the end.
  index = b.select(b.less(index, 0), b.add(index, double(list.elements.size())),
                   index);
  std::optional<EvenParts> even = findEvenParts(list);
  if (!even) {
    GLOWISH_ASSIGN_OR_RETURN(index, b.finish(index));
    GLOWISH_ASSIGN_OR_RETURN(ScriptValue element,
                             gatherElement(in, list, index));
    return call.done(std::move(element));
  }
  if (even->stride != 1)
    index = b.mul(index, double(even->stride));
  if (even->first != 0)
    index = b.add(index, double(even->first));
  GLOWISH_ASSIGN_OR_RETURN(index, b.finish(index));
  ScriptView view{.index = index, .axis = even->axis, .size = even->size};
  GLOWISH_ASSIGN_OR_RETURN(NodeValue base, in.memory.read(even->base));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, in.memory.apply(view, base));
  return call.done(in.memory.createView(even->base, std::move(view), value));
}

//===- All elements -------------------------------------------------------===//

/// torch.stack() and torch.cat() of a list that has all of a tensor.
static llvm::Expected<bool> importStack(ScriptCall &call) {
  if (!call.inputs[0].isList() || !call.inputs[1].isInt() ||
      !areEqualTensors(call.inputs[0].getList()))
    return false;
  ScriptInterpreter &in = call.in;
  std::optional<EvenParts> even = findEvenParts(call.inputs[0].getList());
  auto count = int64_t(call.inputs[0].getList().elements.size());
  if (!even || even->size || even->first != 0 || count < 2 ||
      even->base->type.hasExtents() || even->stride != 1 ||
      even->base->type.getShape()[size_t(even->axis)] != count)
    return false;
  bool isStack = call.node.kind == "aten::stack";
  unsigned rank = even->base->type.getRank();
  GLOWISH_ASSIGN_OR_RETURN(
      int64_t dim,
      normalizeAxis(call.inputs[1].getInt(), isStack ? rank : rank - 1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, in.memory.read(even->base));
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + even->axis);
  order.insert(order.begin() + dim, even->axis);
  NodeBuilder b(in.getFunction(), in.memory.nodeName);
  if (!llvm::is_sorted(order))
    value = b.transpose(value, order);
  if (!isStack && value) {
    Dims shape(value.getShape());
    shape[size_t(dim) + 1] *= count;
    shape.erase(shape.begin() + dim);
    value = b.reshape(value, shape);
  }
  GLOWISH_ASSIGN_OR_RETURN(value, b.finish(value));
  return call.done(in.makeTensor(value));
}
static const ScriptOperators stacks(importStack, {"aten::stack", "aten::cat"});
