//===- Composer.cpp - Operators composed of several nodes -----------------===//

#include "ONNX/Composer.h"

using namespace glowish;

NodeValue Composer::keep(llvm::Expected<NodeValue> value) {
  if (value)
    return *value;
  std::string text = llvm::toString(value.takeError());
  if (message.empty())
    message = std::move(text);
  return {};
}

llvm::Expected<NodeValue> Composer::finish(NodeValue value) {
  if (!message.empty())
    return makeError("{0}", message);
  assert(value && "null without an error");
  return value;
}

NodeValue Composer::transpose(NodeValue x,
                              llvm::ArrayRef<int64_t> permutation) {
  return x ? keep(op.transpose(x, permutation)) : x;
}

NodeValue Composer::transposeLast(NodeValue x) {
  if (!x)
    return x;
  std::vector<int64_t> permutation;
  for (unsigned d = 0; d < x.getShape().size(); ++d)
    permutation.push_back(d);
  std::swap(permutation[permutation.size() - 1],
            permutation[permutation.size() - 2]);
  return transpose(x, permutation);
}

NodeValue Composer::slice(NodeValue x, int64_t axis, int64_t start,
                          int64_t size) {
  if (!x)
    return x;
  std::vector<int64_t> starts(x.getShape().size(), 0);
  std::vector<int64_t> steps(x.getShape().size(), 1);
  std::vector<int64_t> sizes(x.getShape());
  if (start == 0 && size == sizes[axis])
    return x;
  starts[axis] = start;
  sizes[axis] = size;
  return make<SliceNode>(x, starts, sizes, steps);
}

NodeValue Composer::concat(llvm::ArrayRef<NodeValue> parts, int64_t axis) {
  for (NodeValue part : parts)
    if (!part)
      return {};
  return parts.size() == 1 ? parts[0] : make<ConcatNode>(parts, axis);
}

NodeValue Composer::broadcast(NodeValue x, DimsRef shape) {
  return !x || x.getShape() == shape ? x : make<BroadcastNode>(x, shape);
}

NodeValue Composer::unsqueeze(NodeValue x, int64_t axis) {
  if (!x)
    return x;
  Dims shape(x.getShape());
  shape.insert(shape.begin() + axis, 1);
  return reshape(x, shape);
}

NodeValue Composer::pad(NodeValue x, llvm::ArrayRef<int64_t> pads,
                        double value) {
  if (!x || llvm::all_of(pads, [](int64_t count) { return count == 0; }))
    return x;
  return make<PadNode>(x, pads, "constant", value);
}

NodeValue Composer::reduce(NodeValue x, llvm::StringRef mode,
                           llvm::ArrayRef<int64_t> axes, bool keepDims) {
  return !x || axes.empty() ? x : make<ReduceNode>(x, mode, axes, keepDims);
}

NodeValue Composer::table(ElemKind kind, DimsRef shape,
                          llvm::function_ref<double(DimsRef)> fn) {
  if (hasFailed())
    return {};
  llvm::Error error = checkShape(kind, shape);
  if (!error)
    error = op.checkBudget(Type(kind, shape).getSizeInBytes());
  if (error)
    return keep(std::move(error));
  Tensor tensor(Type(kind, shape));
  Dims index(shape.size(), 0);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    tensor.setFromDouble(i, fn(index));
    for (size_t d = shape.size(); d > 0 && ++index[d - 1] == shape[d - 1]; --d)
      index[d - 1] = 0;
  }
  return op.createConstant(std::move(tensor));
}

NodeValue Composer::iota(ElemKind kind, unsigned rank, int64_t axis,
                         int64_t extent) {
  Dims shape(rank, 1);
  shape[axis] = extent;
  return table(kind, shape, [&](DimsRef index) { return double(index[axis]); });
}

llvm::Expected<int64_t> glowish::readConstantInt(const OpContext &op,
                                                 unsigned index) {
  GLOWISH_TRY(std::vector<int64_t> values, op.getConstantInts(index));
  if (values.size() != 1)
    return makeError("input {0} has {1} elements; accepted: 1", index,
                     values.size());
  return values[0];
}
