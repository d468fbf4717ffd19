//===- GradientContext.cpp - Context of a node's gradient -----------------===//

#include "GradientContext.h"
#include "GradientSum.h"
#include "glowish/Support/Error.h"

using namespace glowish;

NodeValue GradientContext::getGradient(unsigned index) {
  auto found = gradients.find(node.getResult(index));
  if (found == gradients.end() || found->second.empty())
    return {};
  llvm::SmallVector<NodeValue, 2> parts = std::move(found->second);
  NodeValue sum = sumGradients(*this, parts);
  gradients[node.getResult(index)] = {sum};
  return sum;
}

void GradientContext::accumulate(unsigned index, NodeValue gradient) {
  NodeValue operand = node.getOperand(index);
  if (!gradient || !needsGradient(index))
    return;
  assert(gradient.getType() == operand.getType() && "of the operand's type");
  gradients[operand].push_back(gradient);
}

void GradientContext::replaceForward(llvm::ArrayRef<NodeValue> values) {
  for (auto [index, value] : llvm::enumerate(values))
    node.getResult(index).replaceAllUsesWith(value);
}

NodeValue GradientContext::sumTo(NodeValue value, DimsRef shape) {
  if (!value || value.getShape() == shape)
    return value;
  size_t rank = value.getShape().size(), missing = rank - shape.size();
  llvm::SmallVector<int64_t, 4> axes;
  for (size_t d = 0; d < rank; ++d)
    if (d < missing || shape[d - missing] != value.getShape()[d])
      axes.push_back(d);
  return reshape(reduce(value, "sum", axes, /*keepDims=*/true), shape);
}

NodeValue GradientContext::sumToAxis(NodeValue value, int64_t axis) {
  if (!value)
    return value;
  return reduce(value, "sum", getOtherAxes(value.getShape().size(), axis),
                /*keepDims=*/false);
}

NodeValue GradientContext::scatterAdd(NodeValue updates, NodeValue indices,
                                      int64_t axis, int64_t extent) {
  if (!updates || !indices)
    return {};
  int64_t rank = updates.getShape().size();
  // Transpose \p axis to the front and flatten the others.
  std::vector<int64_t> toFront = {axis}, back(rank);
  llvm::append_range(toFront, getOtherAxes(rank, axis));
  for (int64_t d = 0; d < rank; ++d)
    back[toFront[d]] = d;
  NodeValue moved = axis ? transpose(updates, toFront) : updates;
  if (!moved)
    return {};
  Dims shape(moved.getShape());
  int64_t count = shape[0], length = 1;
  for (int64_t size : DimsRef(shape).drop_front())
    length *= size;
  NodeValue rows =
      make<ScatterNode>(splat(moved.getElemKind(), {extent, length}, 0),
                        indices, reshape(moved, {count, length}), "add");
  shape[0] = extent;
  NodeValue result = reshape(rows, shape);
  return axis ? transpose(result, back) : result;
}

llvm::SmallVector<int64_t, 4> glowish::getOtherAxes(int64_t count,
                                                    int64_t left) {
  llvm::SmallVector<int64_t, 4> axes;
  for (int64_t d = 0; d < count; ++d)
    if (d != left)
      axes.push_back(d);
  return axes;
}
