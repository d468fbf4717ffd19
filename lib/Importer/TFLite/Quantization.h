//===- Quantization.h - TensorFlow Lite's quantized tensors -----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_QUANTIZATION_H
#define GLOWISH_LIB_IMPORTER_TFLITE_QUANTIZATION_H

#include "TFLite/ModelFile.h"

namespace glowish::tflite {

/// What the integers of a tensor stand for: (q - zero point) * scale. There is
/// one scale for the tensor, or one for each index of a dimension, or one for
/// each block of elements along the last dimension.
struct Quantization {
  std::vector<float> scales;
  std::vector<int64_t> zeroPoints;
  int64_t axis = 0;
  /// The elements of a block; 0 where there are no blocks.
  int64_t block = 0;

  bool isPerTensor() const { return scales.size() == 1 && block == 0; }
  /// Of a tensor with one scale.
  float getScale() const { return scales.front(); }
  int64_t getZeroPoint() const { return zeroPoints.front(); }

  /// Whether integers stand for the same numbers.
  bool operator==(const Quantization &other) const {
    return scales == other.scales && zeroPoints == other.zeroPoints &&
           block == other.block && (isPerTensor() || axis == other.axis);
  }
};

/// That of \p tensor, of type \p type; none if it has no scale. The error tells
/// of scales that are no positive numbers, and of a wrong number of them.
/// \p graph has the tensors that are scales of blocks.
llvm::Expected<std::optional<Quantization>>
readQuantization(const TFLiteFile &file, const schema::SubGraph &graph,
                 const schema::Tensor &tensor, const Type &type);

/// A factor as two integers: multiplier * 2^(shift - 31), the operands of
/// Rescale. The multiplier is at least 2^30, or 0.
struct FixedPointFactor {
  int32_t multiplier = 0;
  int shift = 0;

  /// The closest to \p factor; 0 for what is not above 0, and for NaN.
  static FixedPointFactor get(double factor);
};

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_QUANTIZATION_H
