//===- LowPrecision.cpp - Conversions of low precision --------------------===//

#include "Kernels/Math/LowPrecision.h"
#include "Kernels/Math/HalfPrecision.h"

using namespace glowish;
using llvm::Value;

using Builder = llvm::IRBuilder<>;

//===- Formulas -----------------------------------------------------------===//

namespace {

/// Words of 32 bits whose operations are emitted.
struct EmittedWord {
  Builder *builder;
  Value *value;

  EmittedWord with(Value *newValue) const { return {builder, newValue}; }
};

EmittedWord like(EmittedWord x, uint32_t literal) {
  return x.with(llvm::ConstantInt::get(x.value->getType(), literal));
}

EmittedWord select(EmittedWord condition, EmittedWord x, EmittedWord y) {
  return x.with(x.builder->CreateSelect(condition.value, x.value, y.value));
}

#define GLOWISH_EMITTED_WORD(OP, CREATE)                                       \
  EmittedWord operator OP(EmittedWord x, EmittedWord y) {                      \
    return x.with(x.builder->CREATE(x.value, y.value));                        \
  }                                                                            \
  [[maybe_unused]] EmittedWord operator OP(EmittedWord x, uint32_t y) {        \
    return x OP like(x, y);                                                    \
  }                                                                            \
  [[maybe_unused]] EmittedWord operator OP(uint32_t x, EmittedWord y) {        \
    return like(y, x) OP y;                                                    \
  }
GLOWISH_EMITTED_WORD(+, CreateAdd)
GLOWISH_EMITTED_WORD(-, CreateSub)
GLOWISH_EMITTED_WORD(&, CreateAnd)
GLOWISH_EMITTED_WORD(|, CreateOr)
GLOWISH_EMITTED_WORD(^, CreateXor)
GLOWISH_EMITTED_WORD(<<, CreateShl)
GLOWISH_EMITTED_WORD(>>, CreateLShr)
GLOWISH_EMITTED_WORD(<, CreateICmpULT)
GLOWISH_EMITTED_WORD(==, CreateICmpEQ)
#undef GLOWISH_EMITTED_WORD

} // namespace

//===- Conversions --------------------------------------------------------===//

Value *glowish::floatFromLowFloat(Builder &b, Value *code,
                                  const LowFloatFormat &format) {
  Value *wide = b.CreateZExt(code, withElement(code, b.getInt32Ty()));
  EmittedWord word = lowfloat::decode(EmittedWord{&b, wide}, format);
  return b.CreateBitCast(word.value, withElement(code, b.getFloatTy()));
}

Value *glowish::lowFloatFromFloat(Builder &b, Value *value,
                                  const LowFloatFormat &format) {
  Value *bits = b.CreateBitCast(value, withElement(value, b.getInt32Ty()));
  EmittedWord code = lowfloat::encode(EmittedWord{&b, bits}, format);
  return b.CreateTrunc(code.value, withElement(value, b.getInt8Ty()));
}

Value *glowish::roundToOdd(Builder &b, Value *value) {
  Value *nearest = b.CreateFPTrunc(value, withElement(value, b.getFloatTy()));
  Value *back = b.CreateFPExt(nearest, value->getType());
  Value *bits = b.CreateBitCast(nearest, withElement(value, b.getInt32Ty()));
  auto magnitude = [&](Value *x) {
    return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  };
  // Towards 0 first.
  Value *isAbove = b.CreateFCmpOGT(magnitude(back), magnitude(value));
  Value *odd =
      b.CreateOr(b.CreateSub(bits, b.CreateZExt(isAbove, bits->getType())),
                 llvm::ConstantInt::get(bits->getType(), 1));
  // A NaN is not made odd either.
  Value *isRounded = b.CreateFCmpONE(back, value);
  return b.CreateBitCast(b.CreateSelect(isRounded, odd, bits),
                         nearest->getType());
}

Value *glowish::keepLowBits(Builder &b, Value *value, unsigned width,
                            bool isSigned) {
  Value *count = llvm::ConstantInt::get(value->getType(), 8 - width);
  Value *upper = b.CreateShl(value, count);
  return isSigned ? b.CreateAShr(upper, count) : b.CreateLShr(upper, count);
}
