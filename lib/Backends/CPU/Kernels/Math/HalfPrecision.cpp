//===- HalfPrecision.cpp - float16 and bfloat16 to float and back ---------===//

#include "Kernels/Math/HalfPrecision.h"

using namespace glowish;
using llvm::Value;

using Builder = llvm::IRBuilder<>;

static Value *integer(Value *like, uint64_t value) {
  return llvm::ConstantInt::get(like->getType(), value);
}

/// The i32 bits of floats.
static Value *getBits(Builder &b, Value *value) {
  return b.CreateBitCast(value, withElement(value, b.getInt32Ty()));
}

static Value *asFloat(Builder &b, Value *bits) {
  return b.CreateBitCast(bits, withElement(bits, b.getFloatTy()));
}

/// \p bits plus what makes cutting off the lowest \p count bits round to
/// nearest even.
static Value *addHalf(Builder &b, Value *bits, unsigned count) {
  Value *odd = b.CreateAnd(b.CreateLShr(bits, count), integer(bits, 1));
  uint64_t below = (uint64_t(1) << (count - 1)) - 1;
  return b.CreateAdd(b.CreateAdd(bits, integer(bits, below)), odd);
}

Value *glowish::floatFromBFloat16(Builder &b, Value *bits) {
  Value *wide = b.CreateZExt(bits, withElement(bits, b.getInt32Ty()));
  return asFloat(b, b.CreateShl(wide, 16));
}

Value *glowish::bfloat16FromFloat(Builder &b, Value *value) {
  Value *bits = getBits(b, value);
  Value *quiet = b.CreateOr(bits, integer(bits, 0x400000));
  Value *chosen = b.CreateSelect(b.CreateFCmpUNO(value, value), quiet,
                                 addHalf(b, bits, 16));
  return b.CreateTrunc(b.CreateLShr(chosen, 16),
                       withElement(bits, b.getInt16Ty()));
}

Value *glowish::floatFromFloat16(Builder &b, Value *bits, bool hasInstruction) {
  if (hasInstruction)
    return b.CreateFPExt(
        b.CreateBitCast(bits, withElement(bits, b.getHalfTy())),
        withElement(bits, b.getFloatTy()));
  Value *wide = b.CreateZExt(bits, withElement(bits, b.getInt32Ty()));
  Value *magnitude = b.CreateAnd(wide, integer(wide, 0x7fff));
  Value *sign = b.CreateShl(b.CreateXor(wide, magnitude), 16);
  // The bias of exponents grows from 15 to 127; that of infinity and NaN, 31,
  // becomes 255.
  Value *isFinite = b.CreateICmpSLT(magnitude, integer(wide, 0x7c00));
  Value *rebias = b.CreateSelect(isFinite, integer(wide, (127 - 15) << 23),
                                 integer(wide, (255 - 31) << 23));
  Value *normal = b.CreateAdd(b.CreateShl(magnitude, 13), rebias);
  // Denormal numbers are multiples of 2^-24.
  Value *multiple =
      b.CreateSIToFP(magnitude, withElement(bits, b.getFloatTy()));
  Value *denormal = getBits(
      b, b.CreateFMul(multiple,
                      llvm::ConstantFP::get(multiple->getType(), 0x1p-24)));
  Value *isDenormal = b.CreateICmpSLT(magnitude, integer(wide, 0x400));
  Value *result = b.CreateSelect(isDenormal, denormal, normal);
  return asFloat(b, b.CreateOr(result, sign));
}

Value *glowish::float16FromFloat(Builder &b, Value *value,
                                 bool hasInstruction) {
  llvm::Type *resultTy = withElement(value, b.getInt16Ty());
  if (hasInstruction)
    return b.CreateBitCast(
        b.CreateFPTrunc(value, withElement(value, b.getHalfTy())), resultTy);
  Value *bits = getBits(b, value);
  Value *magnitude = b.CreateAnd(bits, integer(bits, 0x7fffffff));
  Value *sign = b.CreateLShr(b.CreateXor(bits, magnitude), 16);
  // From 2^16 on all is infinite, which is what 2^16 itself comes to.
  Value *limit = integer(bits, uint64_t(16 + 127) << 23);
  Value *isLarge = b.CreateICmpSGT(magnitude, limit);
  Value *limited = b.CreateSelect(isLarge, limit, magnitude);
  Value *rebiased =
      b.CreateSub(limited, integer(bits, uint64_t(127 - 15) << 23));
  Value *normal = b.CreateLShr(addHalf(b, rebiased, 13), 13);
  // In 0.5 + x the last bit of the sum is worth 2^-24, as in a denormal.
  Value *half = llvm::ConstantFP::get(value->getType(), 0.5);
  Value *sum = b.CreateFAdd(asFloat(b, magnitude), half);
  Value *denormal = b.CreateSub(getBits(b, sum), getBits(b, half));
  Value *isDenormal =
      b.CreateICmpSLT(magnitude, integer(bits, uint64_t(127 - 14) << 23));
  Value *result = b.CreateSelect(isDenormal, denormal, normal);
  Value *isNaN = b.CreateICmpSGT(magnitude, integer(bits, 0x7f800000));
  Value *payload =
      b.CreateAnd(b.CreateLShr(magnitude, 13), integer(bits, 0x3ff));
  Value *quiet = b.CreateOr(payload, integer(bits, 0x7e00));
  result = b.CreateSelect(isNaN, quiet, result);
  return b.CreateTrunc(b.CreateOr(result, sign), resultTy);
}
