//===- Arctangent.cpp - The arctangent of vectors -------------------------===//

#include "Kernels/Math/DoubleMath.h"
#include "Kernels/Math/VectorMath.h"
#include "llvm/IR/Intrinsics.h"

using namespace glowish;
using llvm::Value;

/// x - x^3 / 3 + x^5 / 5 ...; for |x| up to 0.2 each term is less than 1/25 of
/// the one before.
static Value *series(KernelBuilder &b, Value *x) {
  constexpr unsigned terms = 6;
  auto coefficient = [&](unsigned i) {
    double value = (i % 2 ? -1.0 : 1.0) / (2 * i + 1);
    return llvm::ConstantFP::get(x->getType(), value);
  };
  Value *square = b.CreateFMul(x, x);
  Value *tail = coefficient(terms - 1);
  for (unsigned i = terms - 1; i-- > 1;)
    tail = b.multiplyAdd(tail, square, coefficient(i));
  return b.multiplyAdd(b.CreateFMul(tail, square), x, x);
}

/// With 1 / |x| for |x| > 1 and pi / 2 less the result. Of numbers up to 1,
/// atan(x) = 2 atan(x / (1 + sqrt(1 + x^2))), twice, leaves less than 0.2.
Value *vectormath::atan(KernelBuilder &b, Value *x) {
  if (x->getType()->getScalarType()->isDoubleTy())
    return doublemath::atan(b, x);
  auto number = [&](double value) {
    return llvm::ConstantFP::get(x->getType(), value);
  };
  Value *one = number(1);
  Value *magnitude = abs(b, x);
  Value *isLarge = b.CreateFCmpOGT(magnitude, one);
  Value *t = b.CreateSelect(isLarge, b.CreateFDiv(one, magnitude), magnitude);
  for (unsigned i = 0; i < 2; ++i) {
    Value *root = sqrt(b, b.multiplyAdd(t, t, one));
    t = b.CreateFDiv(t, b.CreateFAdd(one, root));
  }
  Value *angle = b.CreateFMul(series(b, t), number(4));
  Value *rest = b.CreateFSub(number(1.5707963267948966), angle);
  return b.CreateIntrinsic(llvm::Intrinsic::copysign, {x->getType()},
                           {b.CreateSelect(isLarge, rest, angle), x});
}
