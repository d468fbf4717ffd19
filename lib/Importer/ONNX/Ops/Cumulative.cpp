//===- Cumulative.cpp - CumSum and CumProd --------------------------------===//

#include "Common/Reductions.h"
#include "ONNX/DynamicDims.h"

using namespace glowish;
using namespace glowish::onnximport;

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
