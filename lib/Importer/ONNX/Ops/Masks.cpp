//===- Masks.cpp - Trilu, EyeLike and OneHot ------------------------------===//

#include "ONNX/DynamicDims.h"
#include "ONNX/ModelFile.h"
#include <cmath>

using namespace glowish;

/// Returns the constant 0 ... \p count - 1 of \p kind.
static llvm::Expected<Tensor> makeIndices(OpContext &op, ElemKind kind,
                                          int64_t count) {
  GLOWISH_RETURN_IF_ERROR(checkShape(kind, {count}));
  Type type(kind, {count});
  GLOWISH_RETURN_IF_ERROR(op.checkBudget(type.getSizeInBytes()));
  Tensor tensor(type);
  for (int64_t i = 0; i < count; ++i)
    tensor.setFromDouble(i, double(i));
  return tensor;
}

/// Returns bools [rows, columns] with the value \p choose(row, column).
template <typename Fn>
static llvm::Expected<Tensor> makeMask(OpContext &op, DimsRef shape,
                                       Fn choose) {
  Type type(ElemKind::Bool, shape);
  GLOWISH_RETURN_IF_ERROR(op.checkBudget(type.getSizeInBytes()));
  Tensor mask(type);
  bool *next = mask.data<bool>().data();
  for (int64_t row = 0; row < shape[0]; ++row)
    for (int64_t column = 0; column < shape[1]; ++column)
      *next++ = choose(row, column);
  return mask;
}

/// Keeps the upper or lower triangle of matrices and zeros the rest. Diagonal k
/// is k above the main one.
static llvm::Error importTrilu(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t upper, op.getInt("upper", 1));
  int64_t k = 0;
  if (op.hasInput(1)) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> values,
                             op.getConstantInts(1));
    if (values.size() != 1)
      return makeError("input 1 has {0} elements; accepted: 1", values.size());
    // Beyond any matrix, without overflow.
    k = std::clamp<int64_t>(values[0], -maxTensorBytes, maxTensorBytes);
  }
  DimsRef shape = input.getShape();
  if (shape.size() < 2)
    return makeError("input 0 is {0}; accepted: rank 2 or more",
                     input.getType().str());
  GLOWISH_ASSIGN_OR_RETURN(Tensor mask, makeMask(
                                            op, shape.take_back(2),
                                            [&](int64_t row, int64_t column) {
                                              return upper ? column >= row + k
                                                           : column <= row + k;
                                            }));
  NodeValue chosen = op.createConstant(std::move(mask));
  NodeValue zero = op.createScalar(input.getElemKind(), 0);
  GLOWISH_RETURN_IF_ERROR(
      op.setOutput(0, op.create<SelectNode>(chosen, input, zero)));
  return passOuterExtents(op, anyDims);
}

/// A matrix with 1 on diagonal k, of the input's shape.
static llvm::Error importEyeLike(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t k, op.getInt("k", 0));
  ElemKind kind = input.getElemKind();
  if (op.hasAttr("dtype")) {
    GLOWISH_ASSIGN_OR_RETURN(int64_t type, op.getInt("dtype", 0));
    GLOWISH_ASSIGN_OR_RETURN(kind, getElemKind(type));
  }
  if (input.getShape().size() != 2)
    return makeError("input 0 is {0}; accepted: rank 2", input.getType().str());
  k = std::clamp<int64_t>(k, -maxTensorBytes, maxTensorBytes);
  GLOWISH_ASSIGN_OR_RETURN(Tensor mask, makeMask(
                                            op, input.getShape(),
                                            [&](int64_t row, int64_t column) {
                                              return column == row + k;
                                            }));
  NodeValue chosen = op.createConstant(std::move(mask));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, op.create<CastNode>(chosen, kind)));
  return passOuterExtents(op, anyDims);
}

/// Expands indices along a new dimension: `values[1]` at the index, `values[0]`
/// elsewhere. Negative indices count from the end; indices out of range select
/// nothing.
static llvm::Error importOneHot(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue indices, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(double depth, op.getConstantNumber(1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue values, op.getInput(2));
  unsigned rank = indices.getShape().size() + 1;
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getAxis("axis", -1, rank));
  ElemKind kind = indices.getElemKind();
  if (!(depth >= 1 && depth < double(INT32_MAX)))
    return makeError("the depth is {0}; accepted: at least 1", depth);
  if (values.getShape() != DimsRef{2})
    return makeError("input 2 is {0}; accepted: two elements",
                     values.getType().str());
  Dims shape(indices.getShape());
  shape.insert(shape.begin() + axis, 1);
  Dims column(rank - axis, 1);
  column[0] = int64_t(depth);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue wanted,
                           op.reshape(indices, shape, ".indices"));
  NodeValue zero = op.createScalar(kind, 0);
  NodeValue size = op.createScalar(kind, std::floor(depth));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue isBelow,
                           op.create<LessNode>(wanted, zero));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue moved, op.create<AddNode>(wanted, size));
  GLOWISH_ASSIGN_OR_RETURN(wanted,
                           op.create<SelectNode>(isBelow, moved, wanted));
  GLOWISH_ASSIGN_OR_RETURN(Tensor places, makeIndices(op, kind, column[0]));
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue place,
      op.reshape(op.createConstant(std::move(places)), column, ".places"));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue isHere,
                           op.create<EqualNode>(wanted, place));
  auto pick = [&](int64_t index) -> llvm::Expected<NodeValue> {
    GLOWISH_ASSIGN_OR_RETURN(
        NodeValue slice,
        op.create<SliceNode>(values, std::vector<int64_t>{index},
                             std::vector<int64_t>{1}, std::vector<int64_t>{1}));
    return op.reshape(slice, {}, ".value");
  };
  GLOWISH_ASSIGN_OR_RETURN(NodeValue off, pick(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue on, pick(1));
  GLOWISH_RETURN_IF_ERROR(
      op.setOutput(0, op.create<SelectNode>(isHere, on, off)));
  Extents extents = op.getExtents(0);
  if (!extents.empty())
    extents.insert(extents.begin() + axis, NodeValue());
  op.setExtents(0, extents);
  return llvm::Error::success();
}

static OnnxOperator triluOp("Trilu", 14, importTrilu);
static OnnxOperator eyeLikeOp("EyeLike", 9, importEyeLike);
static OnnxOperator oneHotOp("OneHot", 9, importOneHot);
