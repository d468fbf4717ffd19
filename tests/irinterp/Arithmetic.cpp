//===- Arithmetic.cpp - Scalar operations of LLVM IR ----------------------===//

#include "Interpreter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include <cmath>
#include <optional>

using namespace glowish::irinterp;

static Lane of(uint64_t bits, ScalarType type) {
  return {bits & type.getMask(), false};
}

//===- Integers -----------------------------------------------------------===//

/// Whether a flag of \p instr excludes this result of exact arithmetic.
static bool overflows(const llvm::Instruction &instr, ScalarType type,
                      __int128 asSigned, __int128 asUnsigned) {
  auto *flags = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&instr);
  if (!flags)
    return false;
  __int128 half = __int128(1) << (type.bits - 1);
  return (flags->hasNoSignedWrap() && (asSigned < -half || asSigned >= half)) ||
         (flags->hasNoUnsignedWrap() &&
          (asUnsigned < 0 || asUnsigned > __int128(type.getMask())));
}

static Lane shift(const llvm::Instruction &instr, ScalarType type, uint64_t a,
                  uint64_t by) {
  if (by >= type.bits)
    return Lane::poison();
  auto *exact = llvm::dyn_cast<llvm::PossiblyExactOperator>(&instr);
  if (exact && exact->isExact() && (a & ((uint64_t(1) << by) - 1)))
    return Lane::poison();
  int64_t value = signExtend(a, type.bits);
  switch (instr.getOpcode()) {
  case llvm::Instruction::LShr:
    return of(a >> by, type);
  case llvm::Instruction::AShr:
    return of(uint64_t(value >> by), type);
  default:
    if (overflows(instr, type, __int128(value) << by, __int128(a) << by))
      return Lane::poison();
    return of(a << by, type);
  }
}

static llvm::Expected<Lane> divide(const llvm::Instruction &instr,
                                   ScalarType type, uint64_t a, uint64_t b) {
  int64_t x = signExtend(a, type.bits), y = signExtend(b, type.bits);
  bool isSigned = instr.getOpcode() == llvm::Instruction::SDiv ||
                  instr.getOpcode() == llvm::Instruction::SRem;
  if (b == 0)
    return llvm::createStringError("a division by zero");
  if (isSigned && y == -1 && a == (uint64_t(1) << (type.bits - 1)))
    return llvm::createStringError("a division that overflows");
  auto *exact = llvm::dyn_cast<llvm::PossiblyExactOperator>(&instr);
  if (exact && exact->isExact() && (isSigned ? x % y != 0 : a % b != 0))
    return Lane::poison();
  switch (instr.getOpcode()) {
  case llvm::Instruction::UDiv:
    return of(a / b, type);
  case llvm::Instruction::URem:
    return of(a % b, type);
  case llvm::Instruction::SDiv:
    return of(uint64_t(x / y), type);
  default:
    return of(uint64_t(x % y), type);
  }
}

static llvm::Expected<Lane> computeInteger(const llvm::Instruction &instr,
                                           ScalarType type, uint64_t a,
                                           uint64_t b) {
  __int128 x = signExtend(a, type.bits), y = signExtend(b, type.bits);
  __int128 u = a, v = b;
  switch (instr.getOpcode()) {
  case llvm::Instruction::Add:
    return overflows(instr, type, x + y, u + v) ? Lane::poison()
                                                : of(a + b, type);
  case llvm::Instruction::Sub:
    return overflows(instr, type, x - y, u - v) ? Lane::poison()
                                                : of(a - b, type);
  case llvm::Instruction::Mul: {
    // Two unsigned factors may need all of the 128 bits.
    unsigned __int128 exact = static_cast<unsigned __int128>(a) * b;
    __int128 asUnsigned = exact >> 64 ? -1 : __int128(exact);
    return overflows(instr, type, x * y, asUnsigned) ? Lane::poison()
                                                     : of(a * b, type);
  }
  case llvm::Instruction::And:
    return of(a & b, type);
  case llvm::Instruction::Or:
    if (auto *disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instr))
      if (disjoint->isDisjoint() && (a & b))
        return Lane::poison();
    return of(a | b, type);
  case llvm::Instruction::Xor:
    return of(a ^ b, type);
  case llvm::Instruction::Shl:
  case llvm::Instruction::LShr:
  case llvm::Instruction::AShr:
    return shift(instr, type, a, b);
  default:
    return divide(instr, type, a, b);
  }
}

//===- Floats -------------------------------------------------------------===//

template <typename Number>
static Number computeNumber(unsigned opcode, Number a, Number b) {
  switch (opcode) {
  case llvm::Instruction::FAdd:
    return a + b;
  case llvm::Instruction::FSub:
    return a - b;
  case llvm::Instruction::FMul:
    return a * b;
  case llvm::Instruction::FDiv:
    return a / b;
  default:
    return std::fmod(a, b);
  }
}

/// In the precision of the type: half precisions have so few bits that rounding
/// a double is rounding once.
static Lane computeFloat(const llvm::Instruction &instr, ScalarType type,
                         Lane a, Lane b) {
  uint64_t bits =
      type.kind == ScalarType::Float
          ? fromFloat(computeNumber(instr.getOpcode(), toFloat(a.bits),
                                    toFloat(b.bits)))
          : writeFloat(computeNumber(instr.getOpcode(), readFloat(a.bits, type),
                                     readFloat(b.bits, type)),
                       type);
  double result = readFloat(bits, type);
  if ((instr.hasNoNaNs() && std::isnan(result)) ||
      (instr.hasNoInfs() && std::isinf(result)))
    return Lane::poison();
  return {bits, false};
}

/// Operations that keep apart bits with and without a value. Null for others.
static std::optional<Lane> computePartial(const llvm::Instruction &instr,
                                          ScalarType type, Lane a, Lane b) {
  if (a.isWhollyPoison() || b.isWhollyPoison())
    return std::nullopt;
  uint64_t inA = a.getPoisonBits(), inB = b.getPoisonBits();
  bool isShift = !b.isPoison && b.bits < type.bits;
  switch (instr.getOpcode()) {
  case llvm::Instruction::And:
    return Lane::partial(a.bits & b.bits,
                         (inA & inB) | (inA & b.bits) | (inB & a.bits));
  case llvm::Instruction::Or:
    return Lane::partial(a.bits | b.bits,
                         (inA & inB) | (inA & ~b.bits) | (inB & ~a.bits));
  case llvm::Instruction::Shl:
    if (!isShift)
      return std::nullopt;
    return Lane::partial(a.bits << b.bits & type.getMask(),
                         inA << b.bits & type.getMask());
  case llvm::Instruction::LShr:
    if (!isShift)
      return std::nullopt;
    return Lane::partial(a.bits >> b.bits, inA >> b.bits);
  default:
    return std::nullopt;
  }
}

llvm::Expected<Lane>
glowish::irinterp::computeBinary(const llvm::Instruction &instr,
                                 ScalarType type, Lane a, Lane b) {
  switch (instr.getOpcode()) {
  case llvm::Instruction::UDiv:
  case llvm::Instruction::SDiv:
  case llvm::Instruction::URem:
  case llvm::Instruction::SRem:
    if (b.isPoison)
      return llvm::createStringError("a division by what has no value");
    break;
  default:
    break;
  }
  if (a.isPoison || b.isPoison)
    return computePartial(instr, type, a, b).value_or(Lane::poison());
  if (type.isFloat())
    return computeFloat(instr, type, a, b);
  return computeInteger(instr, type, a.bits, b.bits);
}

//===- Conversions and comparisons ----------------------------------------===//

static Lane convertToInteger(const llvm::Instruction &instr, ScalarType to,
                             double value) {
  value = std::trunc(value);
  double half = std::ldexp(1.0, int(to.bits) - 1);
  if (instr.getOpcode() == llvm::Instruction::FPToSI)
    return value >= -half && value < half ? of(uint64_t(int64_t(value)), to)
                                          : Lane::poison();
  return value >= 0 && value < 2 * half ? of(uint64_t(value), to)
                                        : Lane::poison();
}

static Lane convertToFloat(bool isSigned, ScalarType from, ScalarType to,
                           uint64_t bits) {
  int64_t value = signExtend(bits, from.bits);
  if (to.kind == ScalarType::Float)
    return {fromFloat(isSigned ? float(value) : float(bits)), false};
  return {writeFloat(isSigned ? double(value) : double(bits), to), false};
}

llvm::Expected<Lane>
glowish::irinterp::computeCast(const llvm::Instruction &instr, ScalarType from,
                               ScalarType to, Lane lane) {
  if (lane.isPoison) {
    bool keepsBits = instr.getOpcode() == llvm::Instruction::Trunc ||
                     instr.getOpcode() == llvm::Instruction::ZExt;
    if (lane.isWhollyPoison() || !keepsBits)
      return Lane::poison();
    return Lane::partial(lane.bits & to.getMask(),
                         lane.poisonBits & to.getMask());
  }
  switch (instr.getOpcode()) {
  case llvm::Instruction::ZExt:
  case llvm::Instruction::UIToFP: {
    auto *flags = llvm::dyn_cast<llvm::PossiblyNonNegInst>(&instr);
    if (flags && flags->hasNonNeg() && signExtend(lane.bits, from.bits) < 0)
      return Lane::poison();
    return instr.getOpcode() == llvm::Instruction::ZExt
               ? lane
               : convertToFloat(false, from, to, lane.bits);
  }
  case llvm::Instruction::SExt:
    return of(uint64_t(signExtend(lane.bits, from.bits)), to);
  case llvm::Instruction::Trunc: {
    Lane result = of(lane.bits, to);
    auto &flags = llvm::cast<llvm::TruncInst>(instr);
    if ((flags.hasNoUnsignedWrap() && result.bits != lane.bits) ||
        (flags.hasNoSignedWrap() &&
         signExtend(result.bits, to.bits) != signExtend(lane.bits, from.bits)))
      return Lane::poison();
    return result;
  }
  case llvm::Instruction::PtrToInt:
  case llvm::Instruction::IntToPtr:
    return of(lane.bits, to);
  case llvm::Instruction::FPToSI:
  case llvm::Instruction::FPToUI:
    return convertToInteger(instr, to, readFloat(lane.bits, from));
  case llvm::Instruction::SIToFP:
    return convertToFloat(true, from, to, lane.bits);
  case llvm::Instruction::FPExt:
  case llvm::Instruction::FPTrunc:
    return Lane{writeFloat(readFloat(lane.bits, from), to), false};
  default:
    return llvm::make_error<Unsupported>(instr.getOpcodeName());
  }
}

static bool compareFloats(llvm::CmpInst::Predicate predicate, double a,
                          double b) {
  // The bits of a predicate: equal, greater, less, unordered.
  unsigned is = std::isnan(a) || std::isnan(b) ? 8 : a == b ? 1 : a > b ? 2 : 4;
  return unsigned(predicate) & is;
}

template <typename Number>
static bool compareNumbers(llvm::CmpInst::Predicate predicate, Number a,
                           Number b) {
  switch (predicate) {
  case llvm::CmpInst::ICMP_EQ:
    return a == b;
  case llvm::CmpInst::ICMP_NE:
    return a != b;
  case llvm::CmpInst::ICMP_UGT:
  case llvm::CmpInst::ICMP_SGT:
    return a > b;
  case llvm::CmpInst::ICMP_UGE:
  case llvm::CmpInst::ICMP_SGE:
    return a >= b;
  case llvm::CmpInst::ICMP_ULT:
  case llvm::CmpInst::ICMP_SLT:
    return a < b;
  default:
    return a <= b;
  }
}

Lane glowish::irinterp::compare(llvm::CmpInst::Predicate predicate,
                                ScalarType type, Lane a, Lane b) {
  if (a.isPoison || b.isPoison)
    return Lane::poison();
  if (llvm::CmpInst::isFPPredicate(predicate))
    return {compareFloats(predicate, readFloat(a.bits, type),
                          readFloat(b.bits, type)),
            false};
  if (llvm::CmpInst::isSigned(predicate))
    return {compareNumbers(predicate, signExtend(a.bits, type.bits),
                           signExtend(b.bits, type.bits)),
            false};
  return {compareNumbers(predicate, a.bits, b.bits), false};
}
