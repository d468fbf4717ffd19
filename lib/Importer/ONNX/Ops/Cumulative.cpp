//===- Cumulative.cpp - CumSum and CumProd --------------------------------===//

#include "Common/Reductions.h"
#include "ONNX/DynamicDims.h"

using namespace glowish;
using namespace glowish::onnximport;

static llvm::Error importCumulative(OpContext &op, NodeValue value) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t stated, op.getConstantInt(1));
  int64_t exclusive = op.getInt("exclusive", 0);
  int64_t reverse = op.getInt("reverse", 0);
  llvm::Expected<int64_t> axis = normalizeAxis(stated, value.getShape().size());
  if (!axis)
    return addContext(axis.takeError(), "the axis is ");
  bool isSum = op.getOpType() == "CumSum";
  double neutral = isSum ? 0 : 1;
  DynamicValue x = {value, op.getExtents(0)};
  // Beyond the actual extent, elements must be neutral.
  if (reverse) {
    GLOWISH_ASSIGN_OR_RETURN(value,
                             op.finish(fillOutside(op, x, {*axis}, neutral)));
  }
  if (isSum)
    return setDynamicOutput(
        op, 0,
        {op.make<CumSumNode>(value, *axis, exclusive != 0, reverse != 0),
         x.extents});
  return setDynamicOutput(
      op, 0,
      {multiplyAlong(op, value, *axis, exclusive != 0, reverse != 0),
       x.extents});
}

static OnnxOperator cumSumOp("CumSum", 11, importCumulative);
static OnnxOperator cumProdOp("CumProd", 26, importCumulative);
