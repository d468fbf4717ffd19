//===- SigmoidTable.cpp - Sigmoid and tanh of int16 -----------------------===//

#include "TFLite/SigmoidTable.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

static constexpr int64_t numEntries = 256;

/// Entry \p i, with 16 bits behind the point. It lies above the curve by half
/// of what the middle of a chord of exact values would lie below, so that what
/// is interpolated is off as much above as below. The last is that of infinity.
static double getEntry(int64_t i) {
  constexpr double step = 1.0 / 24, one = 65536;
  if (i == numEntries - 1)
    return one - 1;
  double value = 1 / (1 + std::exp(-double(i) * step));
  double curvature = value * (1 - value) * (1 - 2 * value);
  double sag = -curvature * step * step / 8;
  return std::floor(one * (value + sag / 2) + 0.5);
}

SigmoidTable::SigmoidTable(TFLiteOp &op)
    : op(op), entries(op.table(ElemKind::Int32, {numEntries},
                               [](DimsRef i) { return getEntry(i[0]); })) {}

NodeValue SigmoidTable::interpolate(NodeValue magnitude, int bits,
                                    double most) {
  if (!magnitude)
    return magnitude;
  NodeValue index =
      op.make<ShiftRightNode>(magnitude, op.number(magnitude, bits));
  NodeValue isBeyond = op.greaterOrEqual(index, double(numEntries - 1));
  index = op.min(index, double(numEntries - 2));
  NodeValue lower = op.gather(entries, index, 0);
  NodeValue upper = op.gather(entries, op.add(index, 1), 0);
  NodeValue part = op.make<BitAndNode>(
      magnitude, op.number(magnitude, std::ldexp(1, bits) - 1));
  NodeValue between = op.add(op.mul(lower, std::ldexp(1, bits)),
                             op.mul(part, op.sub(upper, lower)));
  return op.select(isBeyond, op.number(magnitude, most), between);
}

NodeValue SigmoidTable::sigmoid(NodeValue x) {
  // 24 x of 12 bits is 3 x of 9.
  constexpr int bits = 9;
  constexpr double one = 1 << (16 + bits), half = 1 << bits;
  NodeValue scaled = op.mul(x, 3);
  NodeValue value =
      interpolate(op.unary<AbsNode>(scaled), bits, double(0x7fff << 10));
  NodeValue rounded = op.select(
      op.less(scaled, 0), op.sub(one + half - 1, value), op.add(value, half));
  return rounded ? op.make<ShiftRightNode>(rounded, op.number(rounded, 10))
                 : rounded;
}

/// 2 sigmoid(2 x) - 1.
NodeValue SigmoidTable::tanh(NodeValue x, int power) {
  constexpr int bits = 8;
  constexpr double half = 1 << (bits - 1), center = 1 << (15 + bits);
  // x / 2^by rounded towards minus infinity: the shift moves zeros in.
  auto shiftDown = [&](NodeValue x, int by) {
    constexpr double raise = 1 << 30;
    x = op.make<ShiftRightNode>(op.add(x, raise), op.number(x, by));
    return op.sub(x, std::ldexp(raise, -by));
  };
  // 48 x in units of 2^-bits: 3 * 2^(4 + bits + power) x.
  int shift = 4 + bits + power;
  NodeValue scaled = op.mul(x, 3);
  if (!scaled)
    return scaled;
  if (shift >= 0) {
    scaled = op.mul(scaled, std::ldexp(1, shift));
  } else {
    scaled = shiftDown(op.add(scaled, std::ldexp(1, -shift - 1)), -shift);
  }
  NodeValue value =
      interpolate(op.unary<AbsNode>(scaled), bits, double(0xffff << 8));
  NodeValue rounded =
      op.select(op.less(scaled, 0), op.add(op.sub(center, value), half - 1),
                op.add(op.sub(value, center), half));
  return rounded ? shiftDown(rounded, bits) : rounded;
}
