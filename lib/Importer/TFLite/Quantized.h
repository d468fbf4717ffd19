//===- Quantized.h - Parts of quantized operators ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_QUANTIZED_H
#define GLOWISH_LIB_IMPORTER_TFLITE_QUANTIZED_H

#include "TFLite/TFLiteOp.h"

namespace glowish::tflite {

/// The kinds of activations that most quantized operators take.
inline constexpr ElemKind activationKinds[] = {ElemKind::Int8, ElemKind::UInt8,
                                               ElemKind::Int16};

/// Returns an error unless the first \p numInputs inputs are of one of \p kinds
/// with one scale each, and output 0 has one scale.
llvm::Error checkActivations(const TFLiteOp &op, unsigned numInputs = 1,
                             llvm::ArrayRef<ElemKind> kinds = activationKinds);

/// The float \p x after the activation of an operator's options.
NodeValue activate(TFLiteOp &op, NodeValue x,
                   schema::ActivationFunctionType activation);

/// Numbers that results are limited to.
struct ActivationBounds {
  double low, high;
};

/// The int32 or int64 \p x, in steps of output 0's scale, as its integers: with
/// its zero point, limited by the activation or to \p bounds, and by its kind.
NodeValue quantizeSteps(TFLiteOp &op, NodeValue x,
                        schema::ActivationFunctionType activation);
NodeValue quantizeSteps(TFLiteOp &op, NodeValue x, ActivationBounds bounds);

/// What the integers \p x stand for, in float.
NodeValue dequantize(NodeBuilder &b, NodeValue x,
                     const Quantization &quantization);

/// The floats \p x as integers of \p kind that stand for them, with one scale:
/// rounded to the nearest, halves away from zero.
NodeValue quantize(NodeBuilder &b, NodeValue x, ElemKind kind,
                   const Quantization &quantization);

/// The int32 \p x, limited to what kind \p to has, as \p to.
NodeValue saturate(NodeBuilder &b, NodeValue x, ElemKind to);

/// Input \p index as int32, less its zero point.
NodeValue centered(TFLiteOp &op, unsigned index);

/// The int32 sums of (lhs - \p lhsZero) times (rhs - \p rhsZero): lhs [..., M,
/// K], rhs [..., K, N], both bytes; \p bias [N] is added unless it is null.
NodeValue multiplyBytes(NodeBuilder &b, NodeValue lhs, int64_t lhsZero,
                        NodeValue rhs, int64_t rhsZero, NodeValue bias);

/// Returns input \p index in float: as it is, or what its quantized integers
/// stand for; other integers are an error that is kept.
NodeValue dequantized(TFLiteOp &op, unsigned index);

/// The factor that makes output steps of sums of input \p lhs times input
/// \p rhs: one, or one for each scale of rhs.
std::vector<double> getSumFactors(const TFLiteOp &op, unsigned lhs,
                                  unsigned rhs);

/// An error, or a warning if the options ask for one, where input \p bias has
/// scales that are not those of input \p lhs times those of input \p rhs.
llvm::Error checkBiasScales(const TFLiteOp &op, unsigned lhs, unsigned rhs,
                            unsigned bias);

/// The inputs of an operator that are multiplied, and a bias.
struct WeightedInputs {
  unsigned input, weights, bias;
  /// The dimension of the weights whose indices may have scales of their own:
  /// that of the result's channels.
  int64_t channelAxis = 0;
};

/// What a convolution or a fully connected layer does with its sums.
struct SumOptions {
  schema::ActivationFunctionType activation;
  /// The kind of sums that are stated; FLOAT32 where none is.
  schema::TensorType sumType = schema::TensorType::FLOAT32;
};

/// An error unless these are quantized as convolutions and fully connected
/// layers have them, and so is the output; \p taps: of an element of it.
llvm::Error checkWeightedInputs(const TFLiteOp &op, WeightedInputs at,
                                int64_t taps, const SumOptions &options);

/// The int64 sums of the int16 \p x, which \p sum makes in int64 of its halves,
/// int8 and uint8: \p x = 256 * high + low.
NodeValue sumHalves(TFLiteOp &op, NodeValue x,
                    llvm::function_ref<NodeValue(NodeValue half)> sum);
/// The int64 \p x times one of \p factors, or one for each index of the last
/// dimension, rounded once, by multipliers of 16 bits.
NodeValue rescaleInt64(TFLiteOp &op, NodeValue x,
                       llvm::ArrayRef<double> factors);

/// Output 0's integers of weighted sums, each times one of \p factors, or one
/// for each index of the last dimension. \p sum makes the sums in int32 of
/// bytes and a bias, which may be null. \p x: what is weighted, bytes or int16:
/// these are multiplied as two bytes each, and have sums of int64, unless
/// \p options state int32.
NodeValue quantizeSums(TFLiteOp &op, NodeValue x, NodeValue bias,
                       llvm::ArrayRef<double> factors,
                       const SumOptions &options,
                       llvm::function_ref<NodeValue(NodeValue, NodeValue)> sum);

/// A scalar constant of input \p index's kind with its zero point; null for 0.
NodeValue getZeroPoint(TFLiteOp &op, unsigned index);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_QUANTIZED_H
