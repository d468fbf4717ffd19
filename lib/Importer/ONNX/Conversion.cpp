//===- Conversion.cpp - Conversions to element kinds ----------------------===//
//
// The node Cast makes what is too large infinite or NaN, and rounds to
// float8e8m0 upwards; the rest is composed.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Conversion.h"
#include "glowish/Base/ElemRange.h"
#include "llvm/ADT/StringSwitch.h"

using namespace glowish;
using namespace glowish::onnximport;
using Rounding = Conversion::Rounding;

llvm::Expected<Conversion> onnximport::readConversion(OpContext &op) {
  int64_t saturates = op.getInt("saturate", 1);
  std::string mode = op.getString("round_mode", "up");
  auto rounding = llvm::StringSwitch<std::optional<Rounding>>(mode)
                      .Case("up", Rounding::Up)
                      .Case("down", Rounding::Down)
                      .Case("nearest", Rounding::Nearest)
                      .Default(std::nullopt);
  if (!rounding)
    return makeError("attribute 'round_mode' is '{0}'; accepted: up, down, "
                     "nearest",
                     mode);
  return Conversion{saturates != 0, *rounding};
}

/// The power of two below the floats \p x, or the nearest. Of subnormal numbers
/// 2^-127 is one.
static NodeValue roundToPower(OpContext &op, NodeValue x, Rounding rounding) {
  NodeValue bits = op.make<BitCastNode>(x, ElemKind::UInt32);
  auto word = [&](uint32_t value) { return op.number(bits, value); };
  auto bySize = [&](uint32_t ofSubnormal, uint32_t ofNormal) {
    return op.select(op.less(bits, 0x800000), word(ofSubnormal),
                     word(ofNormal));
  };
  if (rounding == Rounding::Nearest)
    bits = op.add(bits, bySize(0x200000, 0x400000));
  bits = op.make<BitAndNode>(bits, bySize(0x400000, 0x7f800000));
  NodeValue power = op.make<BitCastNode>(bits, ElemKind::Float);
  // A NaN is not equal to itself.
  return op.select(op.equal(x, x), power, x);
}

static NodeValue convertToPower(OpContext &op, NodeValue x,
                                const Conversion &conversion) {
  x = op.cast(x, ElemKind::Float);
  NodeValue nan =
      op.scalar(ElemKind::Float, std::numeric_limits<double>::quiet_NaN());
  if (!conversion.saturates)
    x = op.select(op.less(x, 0x1p-127), nan, x);
  if (conversion.rounding != Rounding::Up && x)
    x = roundToPower(op, x, conversion.rounding);
  if (conversion.saturates)
    x = op.min(x, 0x1p127);
  return op.cast(x, ElemKind::Float8E8M0);
}

/// The largest number of \p kind if it is a float8 that conversions can
/// saturate to.
static std::optional<float> findLimit(ElemKind kind) {
  return dispatchElemKind(kind, [&](auto zero) -> std::optional<float> {
    using T = decltype(zero);
    if constexpr (isLowFloat<T>)
      if (T::width == 8)
        return float(getFiniteRange(kind).high);
    return std::nullopt;
  });
}

NodeValue onnximport::convert(OpContext &op, NodeValue x, ElemKind kind,
                              const Conversion &conversion) {
  if (!x || x.getElemKind() == kind)
    return x;
  if (kind == ElemKind::Float8E8M0)
    return convertToPower(op, x, conversion);
  std::optional<float> limit = findLimit(kind);
  if (!limit || !conversion.saturates || x.getElemKind() == ElemKind::Bool)
    return op.cast(x, kind);
  // Integers may not have the limit.
  if (!isFloatKind(x.getElemKind()))
    x = op.cast(x, ElemKind::Float);
  return op.cast(op.clip(x, -*limit, *limit), kind);
}
