//===- Quantization.h - Caffe2's quantized tensors --------------*- C++ -*-===//
//
// A quantized element q stands for (q - offset) * scale. Caffe2 has uint8; in
// the graph such tensors are int8, and the offset is 128 less.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_QUANTIZATION_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_QUANTIZATION_H

#include "Caffe2/NetOp.h"

namespace glowish {

using SharedQuantParams = std::shared_ptr<const QuantParams>;

/// The arguments Y_scale and Y_zero_point of an int8 tensor: 128 less.
llvm::Expected<SharedQuantParams> readOutputParams(NetOp &op);
/// The same of an int32 tensor: as they are.
llvm::Expected<SharedQuantParams> readIntParams(NetOp &op);

/// The scale or the offset of input \p index, which must be quantized with one
/// pair for the tensor.
llvm::Error checkQuantized(NetOp &op, unsigned index);

/// What quantized \p blob, with one pair for the tensor, stands for: float.
NodeValue dequantize(NetOp &op, const Blob &blob);
/// \p x, float, as int8 of \p params.
NodeValue quantize(NetOp &op, NodeValue x, const QuantParams &params);
/// The elements of \p blob minus their offset, int32.
NodeValue subtractOffset(NetOp &op, const Blob &blob);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_QUANTIZATION_H
