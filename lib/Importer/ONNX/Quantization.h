//===- Quantization.h - Decomposition of quantized operators ----*- C++ -*-===//
//
// A quantized element q has the value (q - zero point) * scale. Quantized
// tensors are integers in the graph; operators on them are decomposed.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_QUANTIZATION_H
#define GLOWISH_LIB_IMPORTER_ONNX_QUANTIZATION_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// Casts \p x to \p kind unless it is of that kind.
llvm::Expected<NodeValue> castTo(OpContext &op, NodeValue x, ElemKind kind);

/// How the elements of a tensor are quantized. The zero point may be null.
struct Quantization {
  ElemKind kind = ElemKind::UInt8;
  NodeValue scale, zeroPoint;
};

/// A tensor with its quantization.
struct Quantized : Quantization {
  NodeValue value;
};

/// An error unless \p parameter, input \p index, is of \p kind, that of what it
/// is the zero point of, or without a kind a float, as a scale is.
llvm::Error checkParameterKind(const OpContext &op, unsigned index,
                               NodeValue parameter,
                               std::optional<ElemKind> kind);

/// Reads the quantization of a tensor of \p kind: the inputs \p scaleIndex, a
/// float, and \p zeroIndex, of \p kind, which may be absent; one value each.
llvm::Expected<Quantization> readQuantization(OpContext &op,
                                              unsigned scaleIndex,
                                              unsigned zeroIndex,
                                              ElemKind kind);
/// Returns input \p index, which must be of int8 or uint8.
llvm::Expected<NodeValue> readBytes(OpContext &op, unsigned index);
/// Reads input \p index, of 8-bit integers, and its quantization.
llvm::Expected<Quantized> readQuantized(OpContext &op, unsigned index,
                                        unsigned scaleIndex,
                                        unsigned zeroIndex);

/// Returns round(\p x) + \p zeroPoint, rounded to nearest even and saturated to
/// \p kind. \p x is float; \p zeroPoint may be null.
llvm::Expected<NodeValue> roundToKind(OpContext &op, NodeValue x,
                                      NodeValue zeroPoint, ElemKind kind);

/// Returns \p x - \p zeroPoint as int32. \p zeroPoint may be null and
/// broadcasts.
llvm::Expected<NodeValue> subtractZeroPoint(OpContext &op, NodeValue x,
                                            NodeValue zeroPoint);

/// Returns (q - zero point) * scale as float. Scale and zero point broadcast.
llvm::Expected<NodeValue> dequantize(OpContext &op, const Quantized &x);

/// Returns round(\p x / scale) + zero point, saturated to the kind.
llvm::Expected<NodeValue> quantize(OpContext &op, NodeValue x,
                                   const Quantization &result);

/// Returns \p sums, accumulators with the scale \p factor, in the quantization
/// \p result.
llvm::Expected<NodeValue> requantize(OpContext &op, NodeValue sums,
                                     NodeValue factor,
                                     const Quantization &result);

/// Quantizes \p x, of floats, to uint8 by a scale and zero point that cover its
/// elements and 0.
llvm::Expected<Quantized> quantizeDynamically(OpContext &op, NodeValue x);

/// Reads a matrix [..., rows, columns], input \p index, whose scale and zero
/// point may also be one value per column. The zero point may be absent.
llvm::Expected<Quantized> readColumns(OpContext &op, unsigned index,
                                      unsigned scaleIndex, unsigned zeroIndex,
                                      bool isTransposed = false);

/// Repeats \p parameter, one value per block of \p block elements along \p axis
/// of a tensor of \p shape, for each element.
llvm::Expected<NodeValue> repeatBlocks(OpContext &op, NodeValue parameter,
                                       DimsRef shape, int64_t axis,
                                       int64_t block);

/// Returns the matmul of \p a, with one scale and zero point, and \p b as
/// float. The sums are int32 and exact. \p bias may be null.
llvm::Expected<NodeValue> makeFloatMatMul(OpContext &op, const Quantized &a,
                                          const Quantized &b, NodeValue bias);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_QUANTIZATION_H
