//===- Quantization.h - Quantized tensors of Caffe2 -------------*- C++ -*-===//
//
// A quantized element q has the value (q - offset) * scale. Caffe2's uint8
// becomes int8 in the graph, with the offset reduced by 128.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_QUANTIZATION_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_QUANTIZATION_H

#include "Caffe2/NetOp.h"

namespace glowish::caffe2 {

using SharedQuantParams = std::shared_ptr<const QuantParams>;

/// Reads the arguments Y_scale and Y_zero_point of an int8 tensor; the offset
/// is reduced by 128.
llvm::Expected<SharedQuantParams> readOutputParams(NetOp &op);
/// Reads the same arguments of an int32 tensor; the offset is not changed.
llvm::Expected<SharedQuantParams> readIntParams(NetOp &op);

/// Returns an error if the arguments Y_scale and Y_zero_point of an operator
/// whose result has the scale and offset of input 0 state others.
llvm::Error checkSameParams(NetOp &op);

/// Returns an error unless input \p index is quantized with one scale and
/// offset for the tensor.
llvm::Error checkQuantized(NetOp &op, unsigned index);

/// Converts per-tensor quantized \p blob to float.
NodeValue dequantize(NetOp &op, const Blob &blob);
/// Quantizes float \p x to int8 with \p params.
NodeValue quantize(NetOp &op, NodeValue x, const QuantParams &params);
/// Returns the elements of \p blob minus their offset, int32.
NodeValue subtractOffset(NetOp &op, const Blob &blob);

} // namespace glowish::caffe2

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_QUANTIZATION_H
