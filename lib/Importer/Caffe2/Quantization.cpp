//===- Quantization.cpp - Quantized tensors of Caffe2 ---------------------===//

#include "Caffe2/Quantization.h"
#include "Common/Messages.h"
#include <cmath>

using namespace glowish;
using namespace glowish::caffe2;

static llvm::Expected<SharedQuantParams>
readParams(NetOp &op, int64_t minimum, int64_t maximum, int64_t shift) {
  double scale = op.getFloat("Y_scale", 1);
  int64_t offset = op.getInt("Y_zero_point", 0);
  if (!(scale > 0 && std::isfinite(scale)))
    return makeError("argument 'Y_scale' is {0}; accepted: above 0", scale);
  if (offset < minimum || offset > maximum)
    return makeError("argument 'Y_zero_point' is {0}; accepted: {1} to {2}",
                     offset, minimum, maximum);
  QuantParams params;
  params.scales = {float(scale)};
  params.offsets = {int32_t(offset - shift)};
  return std::make_shared<const QuantParams>(params);
}

llvm::Expected<SharedQuantParams> caffe2::readOutputParams(NetOp &op) {
  return readParams(op, 0, 255, 128);
}

llvm::Expected<SharedQuantParams> caffe2::readIntParams(NetOp &op) {
  return readParams(op, INT32_MIN, INT32_MAX, 0);
}

llvm::Error caffe2::checkSameParams(NetOp &op) {
  bool hasScale = op.hasArg("Y_scale"), hasOffset = op.hasArg("Y_zero_point");
  const Blob &x = op.getBlob(0);
  if (!x.quant)
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(SharedQuantParams stated, readOutputParams(op));
  if ((hasScale && stated->scales != x.quant->scales) ||
      (hasOffset && stated->offsets != x.quant->offsets))
    return makeError("arguments 'Y_scale' and 'Y_zero_point' are not those of "
                     "input 0 ({0}); accepted: the same ones",
                     quote(op.getInputName(0)));
  return llvm::Error::success();
}

llvm::Error caffe2::checkQuantized(NetOp &op, unsigned index) {
  const Blob &blob = op.getBlob(index);
  if (!blob.quant || blob.quant->scales.size() != 1)
    return op.refuseInput(index, "a quantized tensor with one scale");
  return llvm::Error::success();
}

NodeValue caffe2::subtractOffset(NetOp &op, const Blob &blob) {
  NodeValue x = op.cast(blob.value, ElemKind::Int32);
  int32_t offset = blob.quant->offsets[0];
  return offset ? op.sub(x, double(offset)) : x;
}

NodeValue caffe2::dequantize(NetOp &op, const Blob &blob) {
  NodeValue x = op.cast(subtractOffset(op, blob), ElemKind::Float);
  return op.mul(x, double(blob.quant->scales[0]));
}

NodeValue caffe2::quantize(NetOp &op, NodeValue x, const QuantParams &params) {
  NodeValue q = op.unary<RoundNode>(op.div(x, double(params.scales[0])));
  // Cast saturates.
  return op.cast(op.add(q, double(params.offsets[0])), ElemKind::Int8);
}
