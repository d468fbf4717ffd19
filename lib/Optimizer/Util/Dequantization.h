//===- Dequantization.h - What quantized integers stand for -----*- C++ -*-===//
//
// A quantized value is an integer in the graph. What it stands for is composed:
// Mul(Cast(Sub(Cast(integer), zero point)), scale), as importers do it.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_OPTIMIZER_UTIL_DEQUANTIZATION_H
#define GLOWISH_LIB_OPTIMIZER_UTIL_DEQUANTIZATION_H

#include "Util/ConstantTensors.h"
#include "Util/Rewriter.h"

namespace glowish {

/// A value composed of an integer: (integer - zero point) * scale, then moved.
struct Dequantization {
  NodeValue integer;
  /// Null for 0. Of the integer's kind, or a constant of int32; it broadcasts
  /// to the integer.
  NodeValue zeroPoint = {};
  /// Null for 1. Float; it broadcasts to the integer.
  NodeValue scale = {};
  /// Reshapes and transposes, the last first.
  llvm::SmallVector<Node *, 2> moves = {};

  /// Whether the integer has 8 bits.
  bool isOfBytes() const {
    ElemKind kind = integer.getElemKind();
    return kind == ElemKind::Int8 || kind == ElemKind::UInt8;
  }
};

/// Matches float \p value, and int32 \p value, which has no scale.
std::optional<Dequantization> matchDequantization(NodeValue value);

/// \p value, of the integer's shape, moved as the integer is.
NodeValue moveAlike(const Dequantization &x, NodeValue value,
                    RewriteContext &context);

/// The constant whose elements \p value has in the same order; null if there is
/// none.
const Tensor *getOrderedElements(NodeValue value);

/// The composed form of \p x, which has a scale and no moves.
NodeValue composeDequantization(Function &function, llvm::StringRef name,
                                const Dequantization &x);

/// Whether \p value is absent or has one element.
inline bool hasOneElement(NodeValue value) {
  return !value || value.getType().getNumElements() == 1;
}

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_UTIL_DEQUANTIZATION_H
