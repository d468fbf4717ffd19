//===- SquareRoot.cpp - Square roots without an instruction ---------------===//
//
// Of a number m 2^(2n), m in [1, 4), the root is sqrt(m) 2^n. The digits of
// sqrt(m) are found one by one in integers, as on paper, with one more than the
// result has, to round it by.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Math/VectorMath.h"
#include "llvm/IR/Intrinsics.h"

using namespace glowish;
using llvm::Value;

namespace {

/// Makes the function: float or double to its square root.
class RootEmitter {
public:
  RootEmitter(llvm::Function &function, const TargetDescription &target)
      : b(function, target), x(function.getArg(0)),
        type(b.getIntNTy(x->getType()->getPrimitiveSizeInBits())),
        mantissaBits(x->getType()->isDoubleTy() ? 52 : 23),
        bias(x->getType()->isDoubleTy() ? 1023 : 127) {}

  void emit();

private:
  llvm::Constant *integer(int64_t value) {
    return llvm::ConstantInt::getSigned(type, value);
  }
  Value *emitSlices(Value *m);
  Value *emitRoot(Value *magnitude);

  KernelBuilder b;
  Value *x;
  llvm::IntegerType *type;
  unsigned mantissaBits, bias;
};

} // namespace

/// sqrt(\p m) for a fixed-point number with mantissaBits behind the point,
/// rounded to as many.
Value *RootEmitter::emitSlices(Value *m) {
  unsigned count = mantissaBits + 2;
  Value *highest = integer(int64_t(1) << (count - 1));
  // The remainder, the root so far, twice that, and the digit that is tried.
  Values found = b.forLoop(
      count, {b.CreateShl(m, 1), integer(0), integer(0), highest},
      [&](Value *, llvm::ArrayRef<Value *> carried) -> Values {
        Value *rest = carried[0], *root = carried[1], *twice = carried[2];
        Value *digit = carried[3], *tried = b.CreateAdd(twice, digit);
        Value *fits = b.CreateICmpULE(tried, rest);
        rest = b.CreateSelect(fits, b.CreateSub(rest, tried), rest);
        return {b.CreateShl(rest, 1),
                b.CreateSelect(fits, b.CreateAdd(root, digit), root),
                b.CreateSelect(fits, b.CreateAdd(tried, digit), twice),
                b.CreateLShr(digit, 1)};
      });
  // Never half way between two numbers: a root with one digit more has a square
  // with two more.
  return b.CreateLShr(b.CreateAdd(found[1], integer(1)), 1);
}

/// The bits of the root of a finite number above 0, which are \p magnitude.
Value *RootEmitter::emitRoot(Value *magnitude) {
  Value *implicitOne = integer(int64_t(1) << mantissaBits);
  Value *isDenormal = b.CreateICmpULT(magnitude, implicitOne);
  Value *zeros = b.CreateIntrinsic(llvm::Intrinsic::ctlz, {type},
                                   {magnitude, b.getFalse()});
  Value *shift = b.CreateSelect(
      isDenormal,
      b.CreateSub(zeros, integer(type->getBitWidth() - 1 - mantissaBits)),
      integer(0));
  Value *m = b.CreateSelect(
      isDenormal, b.CreateShl(magnitude, shift),
      b.CreateOr(
          b.CreateAnd(magnitude, integer((int64_t(1) << mantissaBits) - 1)),
          implicitOne));
  Value *exponent = b.CreateSelect(isDenormal, b.CreateSub(integer(1), shift),
                                   b.CreateLShr(magnitude, mantissaBits));
  exponent = b.CreateSub(exponent, integer(bias));
  Value *odd = b.CreateAnd(exponent, integer(1));
  Value *half = b.CreateAShr(b.CreateSub(exponent, odd), 1);
  // The root's leading one adds one to the exponent.
  Value *biased = b.CreateAdd(half, integer(int64_t(bias) - 1));
  return b.CreateAdd(emitSlices(b.CreateShl(m, odd)),
                     b.CreateShl(biased, mantissaBits));
}

void RootEmitter::emit() {
  Value *bits = b.CreateBitCast(x, type);
  Value *magnitude = b.CreateAnd(
      bits, llvm::ConstantInt::get(
                type, llvm::APInt::getSignedMaxValue(type->getBitWidth())));
  llvm::Constant *infinity =
      integer(int64_t((uint64_t(2) * bias + 1) << mantissaBits));
  Value *root = emitRoot(magnitude);
  Value *isNegative = b.CreateICmpSLT(bits, integer(0));
  llvm::Constant *quietNaN = llvm::ConstantExpr::getBitCast(
      llvm::ConstantFP::getNaN(x->getType()), type);
  root = b.CreateSelect(isNegative, quietNaN, root);
  // Zeros of both signs and infinity are their own roots, and so is NaN.
  Value *isNaN = b.CreateICmpUGT(magnitude, infinity);
  Value *isItself =
      b.CreateOr(b.CreateOr(isNaN, b.CreateICmpEQ(magnitude, integer(0))),
                 b.CreateICmpEQ(bits, infinity));
  b.CreateRet(
      b.CreateBitCast(b.CreateSelect(isItself, bits, root), x->getType()));
}

static llvm::Function *getRootFunction(KernelBuilder &b, llvm::Type *type) {
  return b.getHelper(type->isDoubleTy() ? "glowish.sqrt.double"
                                        : "glowish.sqrt.float",
                     llvm::FunctionType::get(type, {type}, /*isVarArg=*/false),
                     [&](llvm::Function &function) {
                       RootEmitter(function, b.getTarget()).emit();
                     });
}

Value *vectormath::sqrtByDigits(KernelBuilder &b, Value *x) {
  llvm::Function *function = getRootFunction(b, x->getType()->getScalarType());
  if (KernelBuilder::getLanes(x) == 1)
    return b.CreateCall(function, x);
  Value *result = llvm::PoisonValue::get(x->getType());
  for (unsigned i = 0; i < KernelBuilder::getLanes(x); ++i)
    result = b.CreateInsertElement(
        result, b.CreateCall(function, b.CreateExtractElement(x, i)), i);
  return result;
}
