//===- Cumulative.cpp - CumSum and CumProd --------------------------------===//

#include "Common/Reductions.h"
#include "ONNX/Extents.h"

using namespace glowish;
using namespace glowish::onnximport;

static llvm::Error importCumulative(OpContext &op, NodeValue value) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t stated, op.getConstantInt(1));
  int64_t exclusive = op.getInt("exclusive", 0);
  int64_t reverse = op.getInt("reverse", 0);
  llvm::Expected<int64_t> axis = normalizeAxis(stated, value.getShape().size());
  if (!axis)
    return addContext(axis.takeError(), "the axis is ");
  if (op.getOpType() == "CumSum")
    return op.setOutput(
        0, op.create<CumSumNode>(value, *axis, exclusive != 0, reverse != 0));
  return op.setOutput(
      0, multiplyAlong(op, value, *axis, exclusive != 0, reverse != 0));
}

static OnnxOperator cumSumOp("CumSum", 11, withExtents<importCumulative>);
static OnnxOperator cumProdOp("CumProd", 26, withExtents<importCumulative>);
