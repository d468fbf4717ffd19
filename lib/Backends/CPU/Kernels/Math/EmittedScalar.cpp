//===- EmittedScalar.cpp - Formulas that emit LLVM IR ---------------------===//

#include "Kernels/Math/EmittedScalar.h"
#include "Kernels/Math/ByteLookup.h"
#include "Kernels/Math/DoubleMath.h"
#include "Kernels/Math/IntegerPower.h"
#include "Kernels/Math/LowPrecision.h"
#include "Kernels/Math/SoftFloat.h"
#include "glowish/Base/ElemRange.h"
#include "glowish/Ops/Scalar.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsARM.h"

using namespace glowish;
using llvm::Value;

EmittedScalar glowish::operator+(EmittedScalar x, EmittedScalar y) {
  return x.with(x.isFloat() ? x.builder->CreateFAdd(x.value, y.value)
                            : x.builder->CreateAdd(x.value, y.value));
}

EmittedScalar glowish::operator-(EmittedScalar x, EmittedScalar y) {
  return x.with(x.isFloat() ? x.builder->CreateFSub(x.value, y.value)
                            : x.builder->CreateSub(x.value, y.value));
}

EmittedScalar glowish::operator*(EmittedScalar x, EmittedScalar y) {
  return x.with(x.isFloat() ? x.builder->CreateFMul(x.value, y.value)
                            : x.builder->CreateMul(x.value, y.value));
}

/// Integers: x / 0 is 0, and the lowest number divided by -1 wraps.
EmittedScalar glowish::operator/(EmittedScalar x, EmittedScalar y) {
  KernelBuilder &b = *x.builder;
  if (x.isFloat())
    return x.with(b.CreateFDiv(x.value, y.value));
  Value *zero = llvm::Constant::getNullValue(x.value->getType());
  Value *one = x.like(1).value;
  Value *isZero = b.CreateICmpEQ(y.value, zero);
  if (!isSignedIntegerKind(x.kind)) {
    Value *divisor = b.CreateSelect(isZero, one, y.value);
    return x.with(b.CreateSelect(isZero, zero, b.CreateUDiv(x.value, divisor)));
  }
  Value *isMinusOne = b.CreateICmpEQ(
      y.value, llvm::Constant::getAllOnesValue(y.value->getType()));
  Value *divisor = b.CreateSelect(b.CreateOr(isZero, isMinusOne), one, y.value);
  Value *quotient = b.CreateSDiv(x.value, divisor);
  quotient = b.CreateSelect(isMinusOne, b.CreateNeg(x.value), quotient);
  return x.with(b.CreateSelect(isZero, zero, quotient));
}

EmittedScalar glowish::operator-(EmittedScalar x) {
  return x.with(x.isFloat() ? x.builder->CreateFNeg(x.value)
                            : x.builder->CreateNeg(x.value));
}

EmittedScalar glowish::operator<(EmittedScalar x, EmittedScalar y) {
  KernelBuilder &b = *x.builder;
  if (x.isFloat())
    return x.asBool(b.CreateFCmpOLT(x.value, y.value));
  return x.asBool(isSignedIntegerKind(x.kind)
                      ? b.CreateICmpSLT(x.value, y.value)
                      : b.CreateICmpULT(x.value, y.value));
}

EmittedScalar glowish::operator<=(EmittedScalar x, EmittedScalar y) {
  KernelBuilder &b = *x.builder;
  if (x.isFloat())
    return x.asBool(b.CreateFCmpOLE(x.value, y.value));
  return x.asBool(isSignedIntegerKind(x.kind)
                      ? b.CreateICmpSLE(x.value, y.value)
                      : b.CreateICmpULE(x.value, y.value));
}

EmittedScalar glowish::operator==(EmittedScalar x, EmittedScalar y) {
  return x.asBool(x.isFloat() ? x.builder->CreateFCmpOEQ(x.value, y.value)
                              : x.builder->CreateICmpEQ(x.value, y.value));
}

EmittedScalar glowish::operator!(EmittedScalar x) {
  return x.with(x.builder->CreateNot(x.value));
}
EmittedScalar glowish::operator&&(EmittedScalar x, EmittedScalar y) {
  return x.with(x.builder->CreateAnd(x.value, y.value));
}
EmittedScalar glowish::operator||(EmittedScalar x, EmittedScalar y) {
  return x.with(x.builder->CreateOr(x.value, y.value));
}
EmittedScalar glowish::operator&(EmittedScalar x, EmittedScalar y) {
  return x.with(x.builder->CreateAnd(x.value, y.value));
}
EmittedScalar glowish::operator|(EmittedScalar x, EmittedScalar y) {
  return x.with(x.builder->CreateOr(x.value, y.value));
}
EmittedScalar glowish::operator^(EmittedScalar x, EmittedScalar y) {
  return x.with(x.builder->CreateXor(x.value, y.value));
}
/// \p shifted where \p y is below the width, else 0: LLVM leaves that open.
static EmittedScalar limitShift(EmittedScalar y, Value *shifted) {
  llvm::Type *type = y.value->getType();
  Value *width = llvm::ConstantInt::get(type, type->getScalarSizeInBits());
  Value *isInside = y.builder->CreateICmpULT(y.value, width);
  return y.with(y.builder->CreateSelect(isInside, shifted,
                                        llvm::Constant::getNullValue(type)));
}
EmittedScalar glowish::shiftLeft(EmittedScalar x, EmittedScalar y) {
  return limitShift(y, x.builder->CreateShl(x.value, y.value));
}
EmittedScalar glowish::shiftRight(EmittedScalar x, EmittedScalar y) {
  return limitShift(y, x.builder->CreateLShr(x.value, y.value));
}
EmittedScalar glowish::arithmeticShiftRight(EmittedScalar x, EmittedScalar y) {
  KernelBuilder &b = *x.builder;
  Value *last = b.literal(y.kind, 31, KernelBuilder::getLanes(y.value));
  return x.with(b.CreateAShr(x.value, b.CreateAnd(y.value, last)));
}
EmittedScalar glowish::roundedMultiplyHigh(EmittedScalar x, EmittedScalar y) {
  KernelBuilder &b = *x.builder;
  unsigned lanes = KernelBuilder::getLanes(x.value);
  llvm::Type *wide = b.getComputeTy(ElemKind::Int64, lanes);
  Value *full =
      b.CreateMul(b.CreateSExt(x.value, wide), b.CreateSExt(y.value, wide));
  full = b.CreateAdd(full, llvm::ConstantInt::get(wide, 1 << 30));
  return x.with(b.CreateTrunc(b.CreateLShr(full, 31), x.value->getType()));
}
EmittedScalar glowish::select(EmittedScalar c, EmittedScalar x,
                              EmittedScalar y) {
  return x.with(x.builder->CreateSelect(c.value, x.value, y.value));
}
EmittedScalar glowish::max(EmittedScalar x, EmittedScalar y) {
  return x.with(x.builder->maximum(x.kind, x.value, y.value));
}
EmittedScalar glowish::min(EmittedScalar x, EmittedScalar y) {
  return x.with(x.builder->minimum(x.kind, x.value, y.value));
}

//===- Functions ----------------------------------------------------------===//

/// A function of double, which the formula of float is not exact enough for.
#define GLOWISH_EMITTED_BY_KIND(FN, FORMULA)                                   \
  EmittedScalar glowish::FN(EmittedScalar x) {                                 \
    return x.kind == ElemKind::Double                                          \
               ? x.with(doublemath::FN(*x.builder, x.value))                   \
               : FORMULA(x);                                                   \
  }
GLOWISH_EMITTED_BY_KIND(tan, tangent)
GLOWISH_EMITTED_BY_KIND(asin, inverseSine)
GLOWISH_EMITTED_BY_KIND(acos, inverseCosine)
GLOWISH_EMITTED_BY_KIND(sinh, hyperbolicSine)
GLOWISH_EMITTED_BY_KIND(cosh, hyperbolicCosine)
GLOWISH_EMITTED_BY_KIND(asinh, inverseHyperbolicSine)
GLOWISH_EMITTED_BY_KIND(acosh, inverseHyperbolicCosine)
GLOWISH_EMITTED_BY_KIND(atanh, inverseHyperbolicTangent)
#undef GLOWISH_EMITTED_BY_KIND

EmittedScalar glowish::pow(EmittedScalar x, EmittedScalar y) {
  KernelBuilder &b = *x.builder;
  return x.with(x.isFloat() ? vectormath::pow(b, x.value, y.value)
                            : emitIntegerPower(b, x.value, y.value,
                                               isSignedIntegerKind(x.kind)));
}

//===- Programs -----------------------------------------------------------===//

EmittedScalar glowish::lookup(EmittedScalar x, llvm::ArrayRef<double> table) {
  llvm::SmallVector<uint8_t, 256> bytes;
  for (double number : table)
    bytes.push_back(uint8_t(int(number)));
  return x.with(emitByteLookup(*x.builder, x.value, bytes));
}

/// Floats \p x as integers by \p convert, which gets as many as the target
/// converts at a time.
static Value *convertToIntegers(KernelBuilder &b, Value *x,
                                llvm::function_ref<Value *(Value *)> convert) {
  unsigned lanes = KernelBuilder::getLanes(x);
  if (lanes == 1 || b.getTarget().convertsHalfRegisters ||
      lanes % b.getTarget().getLanes(4) == 0)
    return convert(x);
  // One by one: LLVM narrows what is widened with lanes that nothing reads.
  Value *integers = nullptr;
  for (uint64_t lane = 0; lane < lanes; ++lane) {
    Value *integer = convert(b.CreateExtractElement(x, lane));
    integers = integers ? b.CreateInsertElement(integers, integer, lane)
                        : b.widen(integer, lanes);
  }
  return integers;
}

/// Float \p x as an integer of 8 or 16 bits: NaN becomes 0. Limited first, all
/// lanes are converted by one instruction; LLVM's saturating conversions are
/// made for each width.
static Value *convertToSmall(EmittedScalar x, ElemKind to, llvm::Type *type) {
  KernelBuilder &b = *x.builder;
  auto [low, high] = getFiniteRange(to);
  auto limit = [&](double value) {
    return llvm::ConstantFP::get(x.value->getType(), value);
  };
  // Comparisons with NaN are false.
  Value *limited =
      b.CreateSelect(b.CreateFCmpOGT(x.value, limit(low)), x.value, limit(low));
  limited = b.CreateSelect(b.CreateFCmpOLT(limited, limit(high)), limited,
                           limit(high));
  if (isSignedIntegerKind(to))
    limited =
        b.CreateSelect(b.CreateFCmpORD(x.value, x.value), limited, limit(0));
  Value *wide = convertToIntegers(b, limited, [&](Value *floats) {
    return b.CreateFPToSI(
        floats,
        b.getComputeTy(ElemKind::Int32, KernelBuilder::getLanes(floats)));
  });
  return b.CreateTrunc(wide, type);
}

/// \p x as what elements of \p to are computed in: floats saturate and NaN
/// becomes 0, integers wrap, anything but 0 is true.
static Value *convert(EmittedScalar x, ElemKind to) {
  KernelBuilder &b = *x.builder;
  if (to == x.kind)
    return x.value;
  // roundToKind has the rest.
  if (isLowIntegerKind(to) && x.isFloat())
    x = {x.builder, convert(x, ElemKind::Int32), ElemKind::Int32};
  if (isLowPrecisionKind(to) && x.kind == ElemKind::Double)
    return roundToOdd(b, x.value);
  x.kind = getValueKind(x.kind);
  to = getValueKind(to);
  llvm::Type *type = b.getComputeTy(to, KernelBuilder::getLanes(x.value));
  bool toFloat = type->isFPOrFPVectorTy();
  if (to == x.kind)
    return x.value;
  if (to == ElemKind::Bool)
    return x.isFloat() ? b.CreateFCmpUNE(x.value, x.like(0).value)
                       : b.CreateICmpNE(x.value, x.like(0).value);
  if (x.isFloat() && toFloat)
    return b.CreateFPCast(x.value, type);
  if (x.isFloat() && getElemSize(to) <= 2 && b.hasArithmetic(x.value))
    return convertToSmall(x, to, type);
  if (x.isFloat())
    return convertToIntegers(b, x.value, [&](Value *floats) {
      return b.CreateIntrinsic(
          isSignedIntegerKind(to) ? llvm::Intrinsic::fptosi_sat
                                  : llvm::Intrinsic::fptoui_sat,
          {b.getComputeTy(to, KernelBuilder::getLanes(floats)),
           floats->getType()},
          {floats});
    });
  bool isSigned = isSignedIntegerKind(x.kind);
  if (toFloat)
    return isSigned ? b.CreateSIToFP(x.value, type)
                    : b.CreateUIToFP(x.value, type);
  return b.CreateIntCast(x.value, type, isSigned);
}

/// Floats \p x as the nearest int32.
static Value *convertToNearest(KernelBuilder &b, Value *x) {
  unsigned lanes = KernelBuilder::getLanes(x);
  if (!b.hasArithmetic(x))
    return convertBitsToNearest(b, x);
  if (lanes == 1)
    return b.CreateBitCast(
        b.CreateIntrinsic(llvm::Intrinsic::arm_vcvtr, {x->getType()}, {x}),
        b.getInt32Ty());
  return b.mapParts(x, b.getTarget().getLanes(4), [&](Value *part) {
    Value *isUnsigned = b.getInt32(0);
    llvm::Type *type =
        b.getComputeTy(ElemKind::Int32, KernelBuilder::getLanes(part));
    return b.CreateIntrinsic(llvm::Intrinsic::arm_mve_vcvtn,
                             {type, part->getType()}, {isUnsigned, part});
  });
}

/// Whether rounding floats \p x and converting them is faster at once.
static bool convertsToNearest(KernelBuilder &b, Value *x) {
  const TargetDescription &target = b.getTarget();
  if (!target.hasFloat)
    return true;
  return KernelBuilder::getLanes(x) == 1 ? target.hasRoundingConversion
                                         : target.hasDotReduction;
}

namespace {
/// A program while it is emitted.
struct EmittedProgram {
  KernelBuilder &b;
  const ScalarProgram &program;
  size_t numInputs;
  /// The inputs and the results of the steps so far.
  std::vector<EmittedScalar> values;

  const ScalarStep *getFloatStep(unsigned value, ScalarOp op) const {
    if (value < numInputs)
      return nullptr;
    const ScalarStep &step = program.steps[value - numInputs];
    return step.op == op && step.kind == ElemKind::Float ? &step : nullptr;
  }
  Value *emitScaledToNearest(unsigned value) const;
  Value *emitToNearest(const ScalarStep &step) const;
};
} // namespace

/// Where float \p value is an integer times a scale, perhaps limited to at
/// least 0, the nearest int32; else null. The floats in between are left to the
/// optimizer, which drops what nothing reads.
Value *EmittedProgram::emitScaledToNearest(unsigned value) const {
  if (const ScalarStep *relu = getFloatStep(value, ScalarOp::Relu)) {
    Value *nearest = emitScaledToNearest(relu->args[0]);
    return nearest ? b.maximum(ElemKind::Int32, nearest, b.getInt32(0))
                   : nullptr;
  }
  const ScalarStep *scaling = getFloatStep(value, ScalarOp::Mul);
  const ScalarStep *cast =
      scaling ? getFloatStep(scaling->args[0], ScalarOp::Cast) : nullptr;
  if (!cast)
    return nullptr;
  const EmittedScalar &x = values[cast->args[0]];
  if (!isIntegerKind(x.kind) || getElemSize(x.kind) > 4 ||
      x.kind == ElemKind::UInt32)
    return nullptr;
  return multiplyToNearest(b, convert(x, ElemKind::Int32),
                           values[scaling->args[1]].value);
}

/// Where \p step converts what a rounding makes of a float to int32, and both
/// are faster at once, the integer; else null.
Value *EmittedProgram::emitToNearest(const ScalarStep &step) const {
  const ScalarStep *rounding =
      step.op == ScalarOp::Cast && step.kind == ElemKind::Int32
          ? getFloatStep(step.args[0], ScalarOp::Round)
          : nullptr;
  if (!rounding)
    return nullptr;
  Value *x = values[rounding->args[0]].value;
  if (!convertsToNearest(b, x))
    return nullptr;
  if (!b.hasArithmetic(x) && KernelBuilder::getLanes(x) == 1)
    if (Value *nearest = emitScaledToNearest(rounding->args[0]))
      return nearest;
  return convertToNearest(b, x);
}

template <typename Formula, size_t... Args>
static EmittedScalar evaluate(const ScalarStep &step,
                              llvm::ArrayRef<EmittedScalar> args,
                              std::index_sequence<Args...>) {
  return Formula::eval(args[Args]..., step.params);
}

/// Whether the value of \p step, of half precision, is rounded when it is
/// stored: it is computed in float. A conversion is there to round.
static bool isRoundedLater(const ScalarStep &step) {
  bool isHalf =
      step.kind == ElemKind::Float16 || step.kind == ElemKind::BFloat16;
  return isHalf && step.op != ScalarOp::Cast;
}

Value *glowish::emitProgram(KernelBuilder &builder,
                            const ScalarProgram &program,
                            llvm::ArrayRef<Value *> inputs,
                            llvm::ArrayRef<ElemKind> kinds) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder);
  if (builder.getKeepsRoundings())
    builder.clearFastMathFlags();
  EmittedProgram emitted = {builder, program, inputs.size(), {}};
  std::vector<EmittedScalar> &values = emitted.values;
  for (size_t i = 0; i < inputs.size(); ++i)
    values.push_back({&builder, inputs[i], kinds[i]});
  bool roundsAll =
      builder.getKeepsRoundings() || builder.getTarget().roundsEachStep;
  for (const ScalarStep &step : program.steps) {
    if (Value *nearest = emitted.emitToNearest(step)) {
      values.push_back({&builder, nearest, step.kind});
      continue;
    }
    llvm::SmallVector<EmittedScalar, 3> args;
    for (unsigned arg : step.args)
      args.push_back(values[arg]);
    EmittedScalar result = dispatchScalarOp(step.op, [&](auto formula) {
      using Formula = decltype(formula);
      return evaluate<Formula>(step, args,
                               std::make_index_sequence<Formula::numArgs>());
    });
    Value *value = convert(result, step.kind);
    if (roundsAll || !isRoundedLater(step))
      value = builder.roundToKind(step.kind, value);
    values.push_back({&builder, value, step.kind});
  }
  return program.empty() ? values.front().value : values.back().value;
}
