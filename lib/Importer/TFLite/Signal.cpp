//===- Signal.cpp - Integers of signals -----------------------------------===//

#include "TFLite/Signal.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

NodeValue tflite::shiftRight(TFLiteOp &op, NodeValue x, int64_t bits) {
  if (!x || bits == 0)
    return x;
  // Of what is 2^31 more, and not negative, the logical shift is the quotient.
  NodeValue sign = op.number(x, double(INT32_MIN));
  NodeValue moved = op.make<ShiftRightNode>(op.make<BitXorNode>(x, sign),
                                            op.number(x, double(bits)));
  return op.sub(moved, std::ldexp(1, int(31 - bits)));
}

NodeValue tflite::countBits(TFLiteOp &op, NodeValue x, int64_t most) {
  if (!x)
    return x;
  Dims shape(x.getShape());
  shape.push_back(1);
  NodeValue powers = op.table(x.getElemKind(), {most}, [](DimsRef index) {
    return std::ldexp(1, int(index[0]));
  });
  NodeValue reached = op.greaterOrEqual(op.reshape(x, shape), powers);
  return op.reduce(op.cast(reached, ElemKind::Int32), "sum",
                   {int64_t(shape.size()) - 1}, /*keepDims=*/false);
}
