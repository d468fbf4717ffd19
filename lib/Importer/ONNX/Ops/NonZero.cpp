//===- NonZero.cpp - NonZero and Compress ---------------------------------===//

#include "ONNX/Ops/NonZero.h"
#include "ONNX/Ops/Reshape.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Positions of true elements -----------------------------------------===//

Found onnximport::findTrueBounded(OpContext &op, NodeValue flags) {
  Found found = findTrue(op, flags);
  if (found.count)
    op.setBound(found.count, flags.getShape()[0]);
  return found;
}

//===- NonZero ------------------------------------------------------------===//

/// Returns the indices of nonzero elements of a constant: [rank, count].
static llvm::Error importConstantNonZero(OpContext &op, const Tensor &input) {
  DimsRef shape = input.getType().getShape();
  Dims strides = getDenseStrides(shape);
  GLOWISH_RETURN_IF_ERROR(op.checkBudget(
      input.getNumElements() * int64_t(sizeof(int64_t) * (shape.size() + 1))));
  std::vector<int64_t> found;
  for (int64_t i = 0; i < input.getNumElements(); ++i)
    if (input.getAsDouble(i) != 0)
      found.push_back(i);
  std::vector<int64_t> indices;
  for (unsigned d = 0; d < shape.size(); ++d)
    for (int64_t i : found)
      indices.push_back(i / strides[d] % shape[d]);
  return op.setOutput(
      0,
      op.createConstant(Tensor::fromValues<int64_t>(
          Type(ElemKind::Int64, {int64_t(shape.size()), int64_t(found.size())}),
          indices)));
}

static llvm::Error importNonZero(OpContext &op, NodeValue x) {
  if (auto *constant = x.getNodeAs<Constant>())
    return importConstantNonZero(op, constant->getTensor());
  DimsRef shape = x.getShape();
  int64_t rank = int64_t(shape.size()), count = x.getType().getNumElements();
  if (count == 0)
    return op.setOutput(0, op.splat(ElemKind::Int64, {rank, 0}, 0));
  Found found = findTrueBounded(op, listNonzero(op, x));
  return op.setOutput(0, op.declare(splitPositions(op, found.positions, shape),
                                    {NodeValue(), found.count}));
}

//===- Compress -----------------------------------------------------------===//

/// Selects slices by a condition, which may be shorter than the dimension.
static llvm::Error importCompress(OpContext &op, NodeValue x,
                                  NodeValue condition) {
  if (condition.getElemKind() != ElemKind::Bool ||
      condition.getShape().size() != 1)
    return op.refuseInput(1, "bools of rank 1");
  int64_t axis = 0;
  if (op.hasAttr("axis")) {
    GLOWISH_ASSIGN_OR_RETURN(axis,
                             op.getAxis("axis", 0, x.getType().getRank()));
  } else {
    x = flatten(op, x);
    GLOWISH_RETURN_IF_ERROR(op.takeError());
  }
  int64_t size = x.getShape()[axis];
  int64_t count = std::min(condition.getShape()[0], size);
  if (count == 0)
    return op.setOutput(
        0, op.slice(op.crop(x, axis, size, std::nullopt), axis, 0, 0));
  NodeValue flags = op.slice(op.dropExtents(condition), 0, 0, count);
  // Selected slices are inside both.
  auto keepBefore = [&](NodeValue value, int64_t dim) {
    if (value.getType().getExtent(dim))
      flags =
          op.logicalAnd(flags, op.less(op.iota(ElemKind::Int64, 1, 0, count),
                                       op.getLength(value, dim)));
  };
  keepBefore(condition, 0);
  keepBefore(x, axis);
  Found found = findTrueBounded(op, flags);
  Lengths lengths(x.getShape().size());
  lengths[axis] = found.count;
  NodeValue all = op.crop(x, axis, size, std::nullopt);
  return op.setOutput(
      0, op.declare(op.gather(all, found.positions, axis), lengths));
}

static OnnxOperator nonZeroOp("NonZero", 9, withExtents<importNonZero>);
static OnnxOperator compressOp("Compress", 9, withExtents<importCompress>);
