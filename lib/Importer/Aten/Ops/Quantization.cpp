//===- Quantization.cpp - Quantized tensors of exported programs ----------===//

#include "Aten/AtenOp.h"
#include "glowish/Base/ElemRange.h"

using namespace glowish;
using namespace glowish::aten;

/// A parameter that has one element for each index of dimension `axis`, or one
/// for all of `input`.
static llvm::Expected<NodeValue>
readParameter(AtenOp &op, llvm::StringRef argument, ElemKind kind) {
  const AtenValue &value = op.get(argument);
  if (value.isNumber())
    return op.finish(op.operand(argument, kind));
  NodeValue tensor = op.cast(op.tensor(argument), kind);
  int64_t count = tensor ? tensor.getType().getNumElements() : 0;
  if (!op.has("axis")) {
    if (count != 1)
      return op.refuse(argument, "one number");
    return op.finish(op.reshape(tensor, {}));
  }
  int64_t rank = op.getRank("input");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("axis", rank));
  if (rank == 0 || count != op.getShape("input")[axis])
    return op.refuse(argument, "one number for each index of the dimension");
  Dims shape(size_t(rank - axis), 1);
  shape[0] = count;
  return op.finish(op.reshape(tensor, shape));
}

namespace {

/// The names of two arguments, which are plural where each channel has its own.
struct ParameterNames {
  llvm::StringRef scale = "scale", zeroPoint = "zero_point";
  explicit ParameterNames(const AtenOp &op) {
    if (op.has("scales"))
      scale = "scales", zeroPoint = "zero_points";
  }
};

} // namespace

/// round(input / scale) + zero point, to even at a half, within the bounds.
static llvm::Error importQuantize(AtenOp &op) {
  ParameterNames names(op);
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("input"));
  NodeValue x = op.cast(op.tensor("input"), ElemKind::Float);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scale,
                           readParameter(op, names.scale, ElemKind::Float));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue zeroPoint,
                           readParameter(op, names.zeroPoint, ElemKind::Float));
  ElemKind kind = op.kind("dtype", ElemKind::Int8);
  if (!isIntegerKind(kind))
    return op.refuse("dtype", "integers");
  NodeValue steps = op.add(op.unary<RoundNode>(op.div(x, scale)), zeroPoint);
  double low = double(op.integer("quant_min")),
         high = double(op.integer("quant_max"));
  // A cast saturates.
  ElemRange range = getFiniteRange(kind);
  if (low != range.low || high != range.high)
    steps = op.clip(steps, low, high);
  return op.setResult(op.cast(steps, kind));
}

/// (input - zero point) * scale, as float.
static llvm::Error importDequantize(AtenOp &op) {
  ParameterNames names(op);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scale,
                           readParameter(op, names.scale, ElemKind::Float));
  NodeValue steps = op.cast(op.tensor("input"), ElemKind::Int32);
  if (!op.isNone(names.zeroPoint)) {
    GLOWISH_ASSIGN_OR_RETURN(
        NodeValue zeroPoint,
        readParameter(op, names.zeroPoint, ElemKind::Int32));
    steps = op.sub(steps, zeroPoint);
  }
  NodeValue result = op.mul(op.cast(steps, ElemKind::Float), scale);
  ElemKind kind = op.has("out_dtype") ? op.kind("out_dtype", ElemKind::Float)
                                      : ElemKind::Float;
  return op.setResult(op.cast(result, kind));
}

static AtenOperators quantization(
    {{importQuantize,
      {"quantized_decomposed::quantize_per_tensor(Tensor input, float scale, "
       "int zero_point, int quant_min, int quant_max, ScalarType dtype) -> "
       "Tensor",
       "quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor "
       "scale, Tensor zero_point, int quant_min, int quant_max, ScalarType "
       "dtype) -> Tensor",
       "quantized_decomposed::quantize_per_channel(Tensor input, Tensor "
       "scales, Tensor zero_points, int axis, int quant_min, int quant_max, "
       "ScalarType dtype) -> Tensor"}},
     {importDequantize,
      {"quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, "
       "int zero_point, int quant_min, int quant_max, ScalarType dtype, *, "
       "ScalarType? out_dtype=None) -> Tensor",
       "quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, "
       "Tensor scale, Tensor zero_point, int quant_min, int quant_max, "
       "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
       "quantized_decomposed::dequantize_per_channel(Tensor input, Tensor "
       "scales, Tensor? zero_points, int axis, int quant_min, int quant_max, "
       "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"}}});
