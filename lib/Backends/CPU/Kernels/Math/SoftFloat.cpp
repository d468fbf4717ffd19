//===- SoftFloat.cpp - Float arithmetic in integers -----------------------===//

#include "Kernels/Math/SoftFloat.h"

using namespace glowish;
using llvm::Value;

/// convertBitsToNearest where it is called: some thirty instructions.
static Value *emitBitsToNearest(KernelBuilder &b, Value *x) {
  llvm::Type *type =
      b.getComputeTy(ElemKind::Int32, KernelBuilder::getLanes(x));
  auto number = [&](uint64_t value) {
    return llvm::ConstantInt::get(type, value);
  };
  Value *bits = b.CreateBitCast(x, type);
  Value *exponent = b.CreateAnd(b.CreateLShr(bits, 23), number(255));
  Value *mantissa =
      b.CreateOr(b.CreateAnd(bits, number(0x7fffff)), number(0x800000));
  // mantissa * 2^(exponent - 150). Below: with so many bits of a fraction, at
  // least one. Those of numbers below 1/4 don't matter.
  constexpr uint64_t integral = 150;
  Value *fractionBits = b.CreateSub(number(integral), exponent);
  Value *most = number(25), *least = number(1);
  fractionBits =
      b.CreateSelect(b.CreateICmpSLT(fractionBits, most), fractionBits, most);
  Value *isFraction = b.CreateICmpSGE(fractionBits, least);
  fractionBits = b.CreateSelect(isFraction, fractionBits, least);
  // Half of the last bit, or a little less where the integer is even.
  Value *isOdd = b.CreateAnd(b.CreateLShr(mantissa, fractionBits), least);
  Value *half = b.CreateShl(least, b.CreateSub(fractionBits, least));
  Value *rounded = b.CreateLShr(
      b.CreateAdd(mantissa, b.CreateSub(b.CreateAdd(half, isOdd), least)),
      fractionBits);
  // Integers up to 2^31, and what saturates.
  constexpr uint64_t firstLarge = 158;
  Value *zeros =
      b.CreateAnd(b.CreateSub(exponent, number(integral)), number(7));
  Value *whole = b.CreateShl(mantissa, zeros);
  Value *isNegative = b.CreateICmpSLT(bits, number(0));
  Value *largest =
      b.CreateSelect(isNegative, number(1u << 31), number((1u << 31) - 1));
  Value *isNaN = b.CreateICmpUGT(b.CreateShl(bits, 1), number(0xff000000));
  largest = b.CreateSelect(isNaN, number(0), largest);
  Value *magnitude = b.CreateSelect(isFraction, rounded, whole);
  Value *result = b.CreateSelect(isNegative, b.CreateNeg(magnitude), magnitude);
  return b.CreateSelect(b.CreateICmpUGE(exponent, number(firstLarge)), largest,
                        result);
}

Value *glowish::convertBitsToNearest(KernelBuilder &b, Value *x) {
  if (KernelBuilder::getLanes(x) > 1)
    return emitBitsToNearest(b, x);
  return b.CreateCall(
      b.getHelper("glowish.nearest",
                  llvm::FunctionType::get(b.getInt32Ty(), {b.getFloatTy()},
                                          /*isVarArg=*/false),
                  [&](llvm::Function &function) {
                    KernelBuilder body(function, b.getTarget());
                    body.CreateRet(emitBitsToNearest(body, function.getArg(0)));
                  }),
      x);
}

/// multiplyToNearest for all numbers, by the library.
static llvm::Function *getMultiplyToNearest(KernelBuilder &b) {
  llvm::Type *i32 = b.getInt32Ty(), *f32 = b.getFloatTy();
  return b.getHelper(
      "glowish.multiply_to_nearest",
      llvm::FunctionType::get(i32, {i32, f32}, /*isVarArg=*/false),
      [&](llvm::Function &function) {
        KernelBuilder body(function, b.getTarget());
        Value *x = body.CreateSIToFP(function.getArg(0), f32);
        body.CreateRet(
            convertBitsToNearest(body, body.CreateFMul(x, function.getArg(1))));
      });
}

/// x times the 24 bits of the scale's mantissa is exact as an integer. Below
/// 2^15 a float is at most 2^-9 away from what it is rounded of: both have the
/// same nearest integer, but where the middle between two is near.
Value *glowish::multiplyToNearest(KernelBuilder &b, Value *x, Value *scale) {
  llvm::Type *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
  Value *bits = b.CreateBitCast(scale, i32);
  // scale = mantissa * 2^(exponent - 157). Negative ones have exponents from
  // 256 on.
  Value *exponent = b.CreateLShr(bits, 23);
  Value *mantissa =
      b.CreateLShr(b.CreateOr(b.CreateShl(bits, 8), b.getInt32(1u << 31)), 1);
  // shifted * mantissa = x * scale * 2^(164 - exponent): the upper half of that
  // has fractionBits, at least 8, behind the point.
  Value *shifted = b.CreateShl(x, 7);
  Value *wide =
      b.CreateMul(b.CreateSExt(shifted, i64), b.CreateZExt(mantissa, i64));
  Value *high = b.CreateTrunc(b.CreateLShr(wide, 32), i32);
  Value *fractionBits = b.CreateSub(b.getInt32(132), exponent);
  Value *bitsAboveEight = b.CreateSub(fractionBits, b.getInt32(8));
  auto limit = [&](Value *shift) { return b.CreateAnd(shift, 31); };
  // 1/2 + 1/256. A fraction of less than 2/256 was up to 1/256 above or below
  // the middle.
  Value *half = b.CreateShl(b.getInt32(129), limit(bitsAboveEight));
  Value *sum = b.CreateAdd(high, half);
  Value *nearest = b.CreateAShr(sum, limit(fractionBits));
  Value *fraction = b.CreateShl(sum, limit(b.CreateNeg(fractionBits)));
  Value *isRight = b.CreateICmpUGE(fraction, b.getInt32(1u << 25));
  auto require = [&](Value *condition) {
    isRight = b.CreateAnd(isRight, condition);
  };
  require(b.CreateICmpULT(bitsAboveEight, b.getInt32(24)));
  // x is a float as it is.
  require(b.CreateICmpEQ(b.CreateAShr(shifted, 7), x));
  require(b.CreateICmpULT(b.CreateAdd(nearest, b.getInt32(1u << 15)),
                          b.getInt32(1u << 16)));
  llvm::BasicBlock *before = b.GetInsertBlock(), *then = nullptr;
  Value *ofLibrary = nullptr;
  b.ifThen(b.CreateNot(isRight), [&] {
    ofLibrary = b.CreateCall(getMultiplyToNearest(b), {x, scale});
    then = b.GetInsertBlock();
  });
  llvm::PHINode *result = b.CreatePHI(i32, 2);
  result->addIncoming(nearest, before);
  result->addIncoming(ofLibrary, then);
  return result;
}
