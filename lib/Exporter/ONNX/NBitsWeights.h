//===- NBitsWeights.h - Weights as MatMulNBits reads them -------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_ONNX_NBITSWEIGHTS_H
#define GLOWISH_LIB_EXPORTER_ONNX_NBITSWEIGHTS_H

#include "ONNX/LinearQuantization.h"

namespace glowish {

/// Attributes and inputs of an operator MatMulNBits of com.microsoft.
struct NBitsWeights {
  int64_t rows, columns, bits, block;
  /// uint8 [N, blocks, block * bits / 8]: of each column the integers, which
  /// are not negative; the first in the lowest bits.
  Tensor integers;
  /// Float [N, blocks].
  Tensor scales;
  /// uint8, of each column as many bytes as the zero points of its blocks take;
  /// absent where all of them are half of the range.
  std::optional<Tensor> zeroPoints = {};
};

/// The weights [K, N], or [N, K] if \p isTransposed, of constant integers of 8
/// or 4 bits. Nullopt if their parameters are not those of blocks of rows of a
/// column, or the blocks are no multiples of 16.
std::optional<NBitsWeights> packNBits(const LinearQuantization &weights,
                                      bool isTransposed);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_ONNX_NBITSWEIGHTS_H
