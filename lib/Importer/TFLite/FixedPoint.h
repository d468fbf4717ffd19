//===- FixedPoint.h - Arithmetic of fixed-point numbers ---------*- C++ -*-===//
//
// What TensorFlow Lite computes of one quantized number, done at compile time.
// A number of 31 bits behind the point stands for itself / 2^31, and so on.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_FIXEDPOINT_H
#define GLOWISH_LIB_IMPORTER_TFLITE_FIXEDPOINT_H

#include <cstdint>

namespace glowish::tflite {

/// x * y / 2^31, rounded to the nearest, halves up; saturates.
int32_t roundedMultiplyHigh32(int32_t x, int32_t y);
/// x * y / 2^15, the same.
int16_t roundedMultiplyHigh16(int16_t x, int16_t y);
/// x * y / 2^15, rounded towards zero.
int16_t truncatedMultiplyHigh16(int16_t x, int16_t y);

/// x / 2^shift, rounded to the nearest, halves away from zero; \p shift >= 0.
int32_t roundedShiftRight32(int32_t x, int shift);
int16_t roundedShiftRight16(int16_t x, int shift);

/// x * 2^shift; saturates.
int32_t saturatingShiftLeft32(int32_t x, int shift);
int16_t saturatingShiftLeft16(int16_t x, int shift);

/// \p x * \p multiplier * 2^(\p shift - 31), as the node Rescale computes it.
int32_t rescale32(int32_t x, int32_t multiplier, int shift);

/// e^x, with 31 bits behind the point, of \p x <= 0 with 26: by multiplications
/// of 32 bits, as TensorFlow Lite does it.
int32_t exponentOfNegative(int32_t x);

/// multiplier * 2^(shift - 31).
struct ScaledNumber {
  int32_t multiplier;
  int shift;
};
/// 1 / sqrt(\p x) of an integer \p x > 0, by Newton's method in multiplications
/// of 32 bits, as TensorFlow Lite does it.
ScaledNumber getReciprocalRoot(int32_t x);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_FIXEDPOINT_H
