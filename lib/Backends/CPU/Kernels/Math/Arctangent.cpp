//===- Arctangent.cpp - The arctangent of vectors -------------------------===//

#include "Kernels/Math/DoubleMath.h"
#include "Kernels/Math/VectorMath.h"
#include "Kernels/Math/VectorMathParts.h"

using namespace glowish;
using namespace glowish::vectormath;
using llvm::Value;

/// x - x^3 / 3 + x^5 / 5 ...; for |x| up to 0.2 each term is less than 1/25 of
/// the one before.
static Value *series(KernelBuilder &b, Value *x) {
  Value *square = b.CreateFMul(x, x);
  Value *tail =
      polynomial(b, square, {-1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11});
  return b.multiplyAdd(b.CreateFMul(tail, square), x, x);
}

/// With 1 / |x| for |x| > 1 and pi / 2 less the result. Of numbers up to 1,
/// atan(x) = 2 atan(x / (1 + sqrt(1 + x^2))), twice, leaves less than 0.2.
Value *vectormath::atan(KernelBuilder &b, Value *x) {
  if (isDouble(x))
    return doublemath::atan(b, x);
  Value *one = number(x, 1);
  Value *magnitude = abs(b, x);
  Value *isLarge = b.CreateFCmpOGT(magnitude, one);
  Value *t = b.CreateSelect(isLarge, b.CreateFDiv(one, magnitude), magnitude);
  for (unsigned i = 0; i < 2; ++i) {
    Value *root = sqrt(b, b.multiplyAdd(t, t, one));
    t = b.CreateFDiv(t, b.CreateFAdd(one, root));
  }
  Value *angle = b.CreateFMul(series(b, t), number(x, 4));
  Value *rest = b.CreateFSub(number(x, 1.5707963267948966), angle);
  return copySign(b, b.CreateSelect(isLarge, rest, angle), x);
}
