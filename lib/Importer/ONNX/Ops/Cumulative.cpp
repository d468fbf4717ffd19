//===- Cumulative.cpp - CumSum and CumProd --------------------------------===//

#include "ONNX/DynamicDims.h"
#include "ONNX/Ops/Indexing.h"

using namespace glowish;

/// Multiplies the elements up to each one, by doubling: after each step an
/// element is the product of the last 2 * count elements.
static NodeValue multiplyAlong(Composer &c, NodeValue value, int64_t axis,
                               bool exclusive, bool reverse) {
  int64_t extent = value.getShape()[axis], direction = reverse ? -1 : 1;
  if (exclusive && extent > 0)
    value = shiftAlong(c, value, axis, direction, 1);
  for (int64_t count = 1; count < extent; count *= 2)
    value = c.mul(value, shiftAlong(c, value, axis, direction * count, 1));
  return value;
}

static llvm::Error importCumulative(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t stated, readConstantInt(op, 1));
  GLOWISH_ASSIGN_OR_RETURN(int64_t exclusive, op.getInt("exclusive", 0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t reverse, op.getInt("reverse", 0));
  llvm::Expected<int64_t> axis = normalizeAxis(stated, value.getShape().size());
  if (!axis)
    return addContext(axis.takeError(), "the axis is ");
  bool isSum = op.getOpType() == "CumSum";
  Composer c(op);
  double neutral = isSum ? 0 : 1;
  DynamicValue x = {value, op.getExtents(0)};
  // Beyond the actual extent, elements must be neutral.
  if (reverse) {
    GLOWISH_ASSIGN_OR_RETURN(value,
                             c.finish(fillOutside(c, x, {*axis}, neutral)));
  }
  if (isSum)
    return setDynamicOutput(
        op, c, 0,
        {c.make<CumSumNode>(value, *axis, exclusive != 0, reverse != 0),
         x.extents});
  return setDynamicOutput(
      op, c, 0,
      {multiplyAlong(c, value, *axis, exclusive != 0, reverse != 0),
       x.extents});
}

static OnnxOperator cumSumOp("CumSum", 11, importCumulative);
static OnnxOperator cumProdOp("CumProd", 26, importCumulative);
