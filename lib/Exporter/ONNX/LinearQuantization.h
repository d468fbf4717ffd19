//===- LinearQuantization.h - QuantizeLinear and its inverse ----*- C++ -*-===//
//
// The graph composes quantization of element-wise nodes. Written as they are,
// they compute the same, but ONNX Runtime multiplies integers only behind
// DequantizeLinear and in front of QuantizeLinear.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_EXPORTER_ONNX_LINEARQUANTIZATION_H
#define GLOWISH_LIB_EXPORTER_ONNX_LINEARQUANTIZATION_H

#include "glowish/Base/Packing.h"
#include "glowish/Graph/Nodes.h"

namespace glowish {

/// What an operator QuantizeLinear or DequantizeLinear computes.
struct LinearQuantization {
  /// Else to floats.
  bool isToIntegers = false;
  NodeValue input = {};
  /// The kind of the integers.
  ElemKind kind = ElemKind::Int8;
  /// Float scales and zero points of the kind: scalars, or vectors along
  /// dimension axis of the input. With a block they have the input's shape with
  /// a number for each block of elements along axis, the last of which may be
  /// shorter.
  Tensor scale = {}, zeroPoint = {};
  std::optional<int64_t> axis = {};
  std::optional<int64_t> block = {};

  /// Whether the integers are known when the model is written.
  bool isOfConstant() const {
    return !isToIntegers && input.getNodeAs<Constant>();
  }
  /// Whether the operator has this since operator set 21.
  bool needsNewerOpset() const { return block || isPacked(kind); }
};

/// Matches the last node of Cast(Round(x / scale) + zero point), or of
/// Cast(integer - zero point) * scale, with constant scales and zero points.
/// Blocks are those of constants of 4 bits.
std::optional<LinearQuantization> matchLinearQuantization(const Node &node);

/// The weights of \p node; nullopt if they are not constant.
std::optional<LinearQuantization> describeWeights(const MatMulNBitsNode &node);

/// Constant \p bias as the int32 multiples of the scales of the sums of
/// products of \p input and \p weights; the scales become \p scale. Nullopt
/// where it is something else than multiples, up to rounding.
std::optional<Tensor> findBiasMultiples(const Constant &bias,
                                        const LinearQuantization &input,
                                        const LinearQuantization &weights,
                                        Tensor &scale);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_ONNX_LINEARQUANTIZATION_H
