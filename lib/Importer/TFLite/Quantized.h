//===- Quantized.h - Parts of quantized operators ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_QUANTIZED_H
#define GLOWISH_LIB_IMPORTER_TFLITE_QUANTIZED_H

#include "TFLite/TFLiteOp.h"

namespace glowish {

/// The kinds of activations that most quantized operators take.
inline constexpr ElemKind activationKinds[] = {ElemKind::Int8, ElemKind::UInt8,
                                               ElemKind::Int16};

/// The float \p x after the activation of an operator's options.
NodeValue activate(TFLiteOp &op, NodeValue x,
                   tflite::ActivationFunctionType activation);

/// The int32 or int64 \p x, in steps of output 0's scale, as its integers: with
/// its zero point, limited by the activation and by its kind.
NodeValue quantizeSteps(TFLiteOp &op, NodeValue x,
                        tflite::ActivationFunctionType activation);

/// What the integers \p x stand for, in float.
NodeValue dequantize(NodeBuilder &b, NodeValue x,
                     const Quantization &quantization);

/// The floats \p x as integers of \p kind that stand for them, with one scale:
/// rounded to the nearest, halves away from zero.
NodeValue quantize(NodeBuilder &b, NodeValue x, ElemKind kind,
                   const Quantization &quantization);

/// The int32 \p x, limited to what kind \p to has, as \p to.
NodeValue saturate(NodeBuilder &b, NodeValue x, ElemKind to);

/// An error unless input \p index is quantized, with one zero point; it is 0
/// where there are several scales.
llvm::Error checkWeights(const TFLiteOp &op, unsigned index);

/// Input \p index as int32, less its zero point.
NodeValue centered(TFLiteOp &op, unsigned index);

/// The int32 sums of (lhs - \p lhsZero) times (rhs - \p rhsZero): lhs [..., M,
/// K], rhs [..., K, N], both bytes; \p bias [N] is added unless it is null.
NodeValue multiplyBytes(NodeBuilder &b, NodeValue lhs, int64_t lhsZero,
                        NodeValue rhs, int64_t rhsZero, NodeValue bias);

/// Input \p index in float: as it is, or what its integers stand for.
NodeValue dequantized(TFLiteOp &op, unsigned index);

/// The factor that makes output steps of sums of input \p lhs times input
/// \p rhs: one, or one for each scale of rhs.
std::vector<double> getSumFactors(const TFLiteOp &op, unsigned lhs,
                                  unsigned rhs);

/// An error, or a warning if the options ask for one, where input \p bias has
/// scales that are not those of input \p lhs times those of input \p rhs.
llvm::Error checkBiasScales(const TFLiteOp &op, unsigned lhs, unsigned rhs,
                            unsigned bias);

/// The int16 \p x = 256 * high + low, in int8 and uint8.
struct Int16Halves {
  NodeValue high, low;
};
Int16Halves splitInt16(TFLiteOp &op, NodeValue x);

/// The int64 \p x times one of \p factors, or one for each index of the last
/// dimension, rounded once, by multipliers of 16 bits, as sums of int16 are.
NodeValue rescaleInt64(TFLiteOp &op, NodeValue x,
                       llvm::ArrayRef<double> factors);

/// A scalar constant of input \p index's kind with its zero point; null for 0.
NodeValue getZeroPoint(TFLiteOp &op, unsigned index);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_TFLITE_QUANTIZED_H
