//===- Normalization.cpp - Types of normalizations ------------------------===//

#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::typerules;
using llvm::Twine;

static llvm::Error checkEpsilon(const OpView &op, double epsilon) {
  // Written so that a NaN is refused.
  if (epsilon >= 0)
    return llvm::Error::success();
  return op.attrError("epsilon", "expected a number that is not negative");
}

/// Checks the dimension of \p op, a node that may have any, or an instruction.
template <typename View> static llvm::Error checkLastAxis(const View &op) {
  bool isInstr = op.getNumOutputs() > 0;
  if (!isInstr || op.getAxis() + 1 == op.getInput().getRank())
    return llvm::Error::success();
  return op.attrError("axis", Twine(op.getAxis()) +
                                  " is not the last dimension, which alone "
                                  "the instruction takes");
}

llvm::Expected<TypeList> glowish::inferBatchNormalization(const OpView &view) {
  BatchNormalizationView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkAxis(op, "axis", op.getAxis(), op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkEpsilon(op, op.getEpsilon()));
  int64_t channels = op.getInput().getDim(op.getAxis());
  for (unsigned i : {op.scaleIdx, op.biasIdx, op.meanIdx, op.varianceIdx})
    GLOWISH_RETURN_IF_ERROR(
        checkIs(op, i, op.getInput().getKind(), {channels}));
  return makeResult(op.getInput());
}

llvm::Expected<TypeList>
glowish::inferLocalResponseNormalization(const OpView &view) {
  LocalResponseNormalizationView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkMinRank(op, op.inputIdx, 1));
  if (op.getSize() < 1)
    return op.attrError("size", Twine(op.getSize()) + " is less than 1");
  return makeResult(op.getInput());
}

llvm::Expected<TypeList> glowish::inferLayerNormalization(const OpView &view) {
  LayerNormalizationView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkAxis(op, "axis", op.getAxis(), op.inputIdx));
  const Type &input = op.getInput();
  GLOWISH_RETURN_IF_ERROR(checkLastAxis(op));
  GLOWISH_RETURN_IF_ERROR(checkEpsilon(op, op.getEpsilon()));
  DimsRef normalized = input.getShape().drop_front(op.getAxis());
  for (unsigned i : {op.scaleIdx, op.biasIdx})
    GLOWISH_RETURN_IF_ERROR(checkIs(op, i, input.getKind(), normalized));
  return makeResult(input);
}

llvm::Expected<TypeList> glowish::inferGroupNormalization(const OpView &view) {
  GroupNormalizationView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkMinRank(op, op.inputIdx, 2));
  GLOWISH_RETURN_IF_ERROR(checkAxis(op, "axis", op.getAxis(), op.inputIdx));
  const Type &input = op.getInput();
  if (op.getAxis() == 0)
    return op.attrError("axis", "expected another dimension than 0");
  int64_t channels = input.getDim(op.getAxis());
  if (op.getGroups() < 1 || channels % op.getGroups())
    return op.attrError("groups", Twine(op.getGroups()) +
                                      " does not divide the " +
                                      Twine(channels) + " channels");
  GLOWISH_RETURN_IF_ERROR(checkEpsilon(op, op.getEpsilon()));
  for (unsigned i : {op.scaleIdx, op.biasIdx})
    GLOWISH_RETURN_IF_ERROR(checkIs(op, i, input.getKind(), {channels}));
  return makeResult(input);
}

llvm::Expected<TypeList> glowish::inferDropout(const OpView &view) {
  DropoutView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  if (!(op.getRatio() >= 0 && op.getRatio() < 1))
    return op.attrError("ratio", "expected at least 0 and less than 1");
  return TypeList{op.getInput()};
}

/// Checks that `expected` are class indices of the input: its shape without the
/// last dimension, or without dimension 1 where that is not the last.
static llvm::Error checkClassIndices(const LossView &op) {
  GLOWISH_RETURN_IF_ERROR(checkMinRank(op, op.inputIdx, 1));
  const Type &expected = op.getExpected();
  Dims byLast(op.getInput().getShape()), bySecond = byLast;
  byLast.pop_back();
  if (bySecond.size() > 2) {
    bySecond.erase(bySecond.begin() + 1);
    if (expected.getShape() == DimsRef(bySecond))
      return llvm::Error::success();
  }
  return checkIs(op, op.expectedIdx, expected.getKind(), byLast);
}

llvm::Expected<TypeList> glowish::inferLoss(const OpView &view) {
  LossView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  // Written so that a NaN is refused.
  if (!(op.getDelta() > 0))
    return op.attrError("delta", "expected a number greater than 0");
  ElemKind kind = op.getExpected().getKind();
  if (op.getLoss() == "softmax-cross-entropy" &&
      (kind == ElemKind::Int32 || kind == ElemKind::Int64))
    GLOWISH_RETURN_IF_ERROR(checkClassIndices(op));
  else
    GLOWISH_RETURN_IF_ERROR(checkIs(op, op.expectedIdx, op.getInput().getKind(),
                                    op.getInput().getShape()));
  return TypeList{op.getInput()};
}

llvm::Expected<TypeList> glowish::inferSoftmax(const OpView &view) {
  SoftmaxView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkAxis(op, "axis", op.getAxis(), op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkLastAxis(op));
  return makeResult(op.getInput());
}
