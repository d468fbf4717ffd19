//===- LargeAngles.cpp - Multiples of pi / 2 in large numbers -------------===//
//
// Payne and Hanek, Radian Reduction for Trigonometric Functions, 1983: x is
// multiplied by 2 / pi without those bits of 2 / pi that only contribute
// multiples of 4.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Math/LargeAngles.h"
#include "Kernels/Math/VectorMath.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/CFG.h"
#include <array>
#include <limits>

using namespace glowish;
using namespace glowish::vectormath;
using llvm::Value;

/// 64 bits of 0, then 2 / pi.
static constexpr std::array<uint32_t, 39> twoOverPi = {
    0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
    0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0,
    0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b,
    0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
    0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea,
    0x6bfb5fb1, 0x1f8d5d08, 0x56033046,
};

namespace {

/// Emits the parts of one number.
class AngleEmitter {
public:
  explicit AngleEmitter(KernelBuilder &b) : b(b), d(b) {}

  /// Emits the parts of \p x, a positive number.
  Angle emit(Value *x);

private:
  static constexpr unsigned numWords = 6;
  using Words = std::array<Value *, numWords>;

  Value *number64(uint64_t value) { return b.getInt64(value); }
  Value *lower(Value *x) { return b.CreateAnd(x, number64(0xffffffff)); }
  Value *upper(Value *x) { return b.CreateLShr(x, 32); }
  Value *join(Value *high, Value *low) {
    return b.CreateOr(b.CreateShl(high, 32), low);
  }
  /// Emits an integer below 2^52 times \p unit.
  Value *toDouble(Value *x, double unit) {
    constexpr double magic = 0x1p52;
    Value *sum = b.CreateBitCast(b.CreateOr(x, number64(0x4330000000000000)),
                                 b.getDoubleTy());
    return b.CreateFMul(b.CreateFSub(sum, number(sum, magic)),
                        number(sum, unit));
  }
  Words takeBits(Value *begin);
  Words multiply(Value *mantissa, const Words &factor);

  KernelBuilder &b;
  DoubleDoubleBuilder d;
};

} // namespace

/// Emits 192 bits of the table from bit \p begin on, the last word first.
AngleEmitter::Words AngleEmitter::takeBits(Value *begin) {
  Value *first = b.CreateLShr(begin, 5);
  Value *shift = b.CreateSub(number64(32), b.CreateAnd(begin, number64(31)));
  auto getWord = [&](unsigned i) {
    Value *index = b.CreateAdd(first, number64(i));
    Value *word = b.lookUp(llvm::ArrayRef<uint32_t>(twoOverPi),
                           b.CreateZExtOrTrunc(index, b.getIndexTy()));
    return lower(b.CreateZExtOrTrunc(word, b.getInt64Ty()));
  };
  Words bits;
  Value *word = getWord(0);
  for (unsigned i = 0; i < numWords; ++i) {
    Value *next = getWord(i + 1);
    bits[numWords - 1 - i] = lower(b.CreateLShr(join(word, next), shift));
    word = next;
  }
  return bits;
}

/// Emits the last 192 bits of \p mantissa, an integer below 2^53, times \p
/// factor.
AngleEmitter::Words AngleEmitter::multiply(Value *mantissa,
                                           const Words &factor) {
  std::array<Value *, 2> parts = {lower(mantissa), upper(mantissa)};
  Words sums;
  sums.fill(number64(0));
  for (unsigned i = 0; i < numWords; ++i)
    for (unsigned j = 0; j < parts.size() && i + j < numWords; ++j) {
      Value *part = b.CreateMul(factor[i], parts[j]);
      sums[i + j] = b.CreateAdd(sums[i + j], lower(part));
      if (i + j + 1 < numWords)
        sums[i + j + 1] = b.CreateAdd(sums[i + j + 1], upper(part));
    }
  for (unsigned i = 0; i + 1 < numWords; ++i) {
    sums[i + 1] = b.CreateAdd(sums[i + 1], upper(sums[i]));
    sums[i] = lower(sums[i]);
  }
  sums.back() = lower(sums.back());
  return sums;
}

Angle AngleEmitter::emit(Value *x) {
  Value *bits = b.CreateBitCast(x, b.getInt64Ty());
  constexpr uint64_t one = uint64_t(1) << 52;
  Value *mantissa =
      b.CreateOr(b.CreateAnd(bits, number64(one - 1)), number64(one));
  // x is mantissa * 2^(exponent - 1075): bits of 2 / pi above 2^(1077 -
  // exponent) contribute multiples of 4 only.
  Value *begin = b.CreateSub(b.CreateLShr(bits, 52), number64(1077 - 64));
  Words turns = multiply(mantissa, takeBits(begin));
  // A fraction of 4 quarters.
  Value *high = join(turns[5], turns[4]);
  Value *middle = join(turns[3], turns[2]);
  Value *low = join(turns[1], turns[0]);
  Value *quarters = b.CreateLShr(high, 62);
  high = b.CreateOr(b.CreateShl(high, 2), b.CreateLShr(middle, 62));
  middle = b.CreateOr(b.CreateShl(middle, 2), b.CreateLShr(low, 62));
  // More than half a quarter: less than 0 of the next one.
  Value *sign = b.CreateAShr(high, 63);
  quarters = b.CreateSub(quarters, sign);
  high = b.CreateXor(high, sign);
  middle = b.CreateXor(middle, sign);
  // 51, 52 and 24 bits.
  Value *first = toDouble(b.CreateLShr(high, 12), 0x1p-52);
  Value *second =
      toDouble(b.CreateOr(b.CreateShl(b.CreateAnd(high, number64(0xfff)), 40),
                          b.CreateLShr(middle, 24)),
               0x1p-104);
  Value *third = toDouble(b.CreateAnd(middle, number64(0xffffff)), 0x1p-128);
  DoubleDouble fraction = d.addSmaller(first, second);
  fraction = d.addSmaller(fraction.high, b.CreateFAdd(fraction.low, third));
  // Times pi / 2.
  Value *halfPi = number(x, 0x1.921fb54442d18p+0);
  DoubleDouble rest = d.multiply(fraction.high, halfPi);
  rest.low = b.multiplyAdd(fraction.low, halfPi, rest.low);
  rest.low =
      b.multiplyAdd(fraction.high, number(x, 0x1.1a62633145c07p-54), rest.low);
  rest = d.addSmaller(rest.high, rest.low);
  Value *isNegative = b.CreateICmpSLT(sign, number64(0));
  DoubleDouble negative = d.negate(rest);
  rest.high = b.CreateSelect(isNegative, negative.high, rest.high);
  rest.low = b.CreateSelect(isNegative, negative.low, rest.low);
  return {quarters, rest};
}

/// Emits a function of the parts of each lane of its argument, which need be
/// right only where that is large.
static void emitAngles(llvm::Function &function,
                       const TargetDescription &target) {
  KernelBuilder b(function, target);
  Value *x = function.getArg(0);
  auto *resultTy = llvm::cast<llvm::StructType>(function.getReturnType());
  unsigned lanes = KernelBuilder::getLanes(x);
  llvm::SmallVector<Value *, 3> start;
  for (llvm::Type *type : resultTy->elements())
    start.push_back(llvm::Constant::getNullValue(type));
  auto insert = [&](Value *vector, Value *element, Value *lane) {
    return lanes == 1 ? element : b.CreateInsertElement(vector, element, lane);
  };
  Values parts =
      b.forLoop(lanes, start, [&](Value *lane, llvm::ArrayRef<Value *> done) {
        Value *element = lanes == 1 ? x : b.CreateExtractElement(x, lane);
        Angle angle = AngleEmitter(b).emit(element);
        return Values{insert(done[0], angle.quarters, lane),
                      insert(done[1], angle.rest.high, lane),
                      insert(done[2], angle.rest.low, lane)};
      });
  Value *result = llvm::PoisonValue::get(resultTy);
  for (unsigned i = 0; i < parts.size(); ++i)
    result = b.CreateInsertValue(result, parts[i], i);
  b.CreateRet(result);
}

/// Emits a call of the function for as many lanes as \p x has.
static Angle callForAngles(KernelBuilder &b, Value *x) {
  llvm::Type *doubleTy = x->getType(), *intTy = getIntLike(b, doubleTy);
  auto *resultTy = llvm::StructType::get(intTy, doubleTy, doubleTy);
  std::string name =
      ("glowish.angle.x" + llvm::Twine(KernelBuilder::getLanes(x))).str();
  llvm::Function *function = b.getHelper(
      name, llvm::FunctionType::get(resultTy, {doubleTy}, /*isVarArg=*/false),
      [&](llvm::Function &made) { emitAngles(made, b.getTarget()); });
  Value *parts = b.CreateCall(function, x);
  return {b.CreateExtractValue(parts, 0),
          {b.CreateExtractValue(parts, 1), b.CreateExtractValue(parts, 2)}};
}

Angle glowish::emitLargeAngles(KernelBuilder &b, Value *x,
                               const Angle &reduced) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value *magnitude = vectormath::abs(b, x);
  Value *isLarge = b.CreateAnd(b.CreateFCmpOGT(magnitude, number(x, 1.6e6)),
                               b.CreateFCmpOLT(magnitude, number(x, infinity)));
  Value *isAnyLarge =
      KernelBuilder::getLanes(x) == 1 ? isLarge : b.CreateOrReduce(isLarge);
  llvm::BasicBlock *before = b.GetInsertBlock();
  Angle mixed;
  b.ifThen(isAnyLarge, [&] {
    // Other lanes are computed, too, in the range that the table is for.
    Angle large =
        callForAngles(b, b.CreateSelect(isLarge, magnitude, number(x, 0x1p30)));
    // Those of -x are the opposites.
    Value *isNegative = b.CreateFCmpOLT(x, number(x, 0));
    auto choose = [&](Value *opposite, Value *value, Value *otherwise) {
      return b.CreateSelect(
          isLarge, b.CreateSelect(isNegative, opposite, value), otherwise);
    };
    mixed.quarters =
        choose(b.CreateNeg(large.quarters), large.quarters, reduced.quarters);
    mixed.rest.high = choose(b.CreateFNeg(large.rest.high), large.rest.high,
                             reduced.rest.high);
    mixed.rest.low =
        choose(b.CreateFNeg(large.rest.low), large.rest.low, reduced.rest.low);
  });
  auto merge = [&](Value *ofLarge, Value *otherwise) {
    llvm::PHINode *phi = b.CreatePHI(otherwise->getType(), 2);
    for (llvm::BasicBlock *block : llvm::predecessors(b.GetInsertBlock()))
      phi->addIncoming(block == before ? otherwise : ofLarge, block);
    return phi;
  };
  return {merge(mixed.quarters, reduced.quarters),
          {merge(mixed.rest.high, reduced.rest.high),
           merge(mixed.rest.low, reduced.rest.low)}};
}
