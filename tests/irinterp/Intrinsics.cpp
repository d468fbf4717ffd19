//===- Intrinsics.cpp - Intrinsics of all targets -------------------------===//

#include "Interpreter.h"
#include "llvm/ADT/bit.h"
#include "llvm/IR/IntrinsicInst.h"
#include <cmath>

using namespace glowish::irinterp;
namespace Intrinsic = llvm::Intrinsic;

//===- Floats -------------------------------------------------------------===//

/// The smaller or larger number; a NaN only of two. \p sign: -1 or 1.
static double pick(double a, double b, int sign, bool keepsNaN) {
  if (std::isnan(a) || std::isnan(b))
    return keepsNaN ? a + b : std::isnan(a) ? b : a;
  if (a == b && a == 0)
    return std::signbit(a) == (sign < 0) ? a : b;
  return (a < b) == (sign < 0) ? a : b;
}

static bool computeUnary(Intrinsic::ID id, double a, double &result) {
  switch (id) {
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::roundeven:
    result = std::nearbyint(a);
    return true;
  case Intrinsic::floor:
    result = std::floor(a);
    return true;
  case Intrinsic::ceil:
    result = std::ceil(a);
    return true;
  case Intrinsic::trunc:
    result = std::trunc(a);
    return true;
  case Intrinsic::round:
    result = std::round(a);
    return true;
  case Intrinsic::sqrt:
    // That of a double, rounded to a float, is that of the float.
    result = std::sqrt(a);
    return true;
  case Intrinsic::canonicalize:
    result = a;
    return true;
  default:
    return false;
  }
}

/// Those that are about the bits alone.
static bool computeSign(Intrinsic::ID id, ScalarType type,
                        llvm::ArrayRef<Lane> in, uint64_t &bits) {
  uint64_t sign = uint64_t(1) << (type.bits - 1);
  if (id == Intrinsic::fabs)
    bits = in[0].bits & ~sign;
  else if (id == Intrinsic::copysign)
    bits = (in[0].bits & ~sign) | (in[1].bits & sign);
  else
    return false;
  return true;
}

static bool computeFloat(Intrinsic::ID id, ScalarType type,
                         llvm::ArrayRef<Lane> in, Lane &lane) {
  if (computeSign(id, type, in, lane.bits))
    return true;
  double a = readFloat(in[0].bits, type), result = 0;
  double b = in.size() > 1 ? readFloat(in[1].bits, type) : 0;
  if (id == Intrinsic::fma || id == Intrinsic::fmuladd) {
    lane.bits =
        type.kind == ScalarType::Float
            ? fromFloat(std::fma(toFloat(in[0].bits), toFloat(in[1].bits),
                                 toFloat(in[2].bits)))
            : writeFloat(std::fma(a, b, readFloat(in[2].bits, type)), type);
    return true;
  }
  if (id == Intrinsic::minnum || id == Intrinsic::maxnum)
    result = pick(a, b, id == Intrinsic::minnum ? -1 : 1, false);
  else if (id == Intrinsic::minimum || id == Intrinsic::maximum)
    result = pick(a, b, id == Intrinsic::minimum ? -1 : 1, true);
  else if (!computeUnary(id, a, result))
    return false;
  lane.bits = writeFloat(result, type);
  return true;
}

//===- Integers -----------------------------------------------------------===//

static uint64_t saturate(__int128 value, ScalarType type, bool isSigned) {
  __int128 least = isSigned ? -(__int128(1) << (type.bits - 1)) : 0;
  __int128 most = isSigned ? -least - 1 : __int128(type.getMask());
  return uint64_t(std::clamp(value, least, most)) & type.getMask();
}

/// Bits of the numbers one behind the other, from \p by on from the left.
static uint64_t funnel(uint64_t high, uint64_t low, uint64_t by,
                       ScalarType type) {
  by %= type.bits;
  return by == 0 ? high
                 : ((high << by) | (low >> (type.bits - by))) & type.getMask();
}

static bool computeBits(Intrinsic::ID id, ScalarType type,
                        llvm::ArrayRef<Lane> in, Lane &lane) {
  uint64_t a = in[0].bits;
  unsigned unused = 64 - type.bits;
  switch (id) {
  case Intrinsic::ctpop:
    lane.bits = uint64_t(llvm::popcount(a));
    return true;
  case Intrinsic::ctlz:
    lane = {uint64_t(llvm::countl_zero(a)) - unused, a == 0 && in[1].bits != 0};
    return true;
  case Intrinsic::cttz:
    lane = {std::min<uint64_t>(uint64_t(llvm::countr_zero(a)), type.bits),
            a == 0 && in[1].bits != 0};
    return true;
  case Intrinsic::bswap:
    lane.bits = llvm::byteswap(a) >> unused;
    return true;
  case Intrinsic::fshl:
    lane.bits = funnel(a, in[1].bits, in[2].bits, type);
    return true;
  case Intrinsic::fshr:
    lane.bits =
        in[2].bits % type.bits == 0
            ? in[1].bits
            : funnel(a, in[1].bits, type.bits - in[2].bits % type.bits, type);
    return true;
  default:
    return false;
  }
}

static bool computeInteger(Intrinsic::ID id, ScalarType type,
                           llvm::ArrayRef<Lane> in, Lane &lane) {
  uint64_t a = in[0].bits, b = in.size() > 1 ? in[1].bits : 0;
  int64_t x = signExtend(a, type.bits), y = signExtend(b, type.bits);
  switch (id) {
  case Intrinsic::smax:
    lane.bits = x > y ? a : b;
    return true;
  case Intrinsic::smin:
    lane.bits = x < y ? a : b;
    return true;
  case Intrinsic::umax:
    lane.bits = std::max(a, b);
    return true;
  case Intrinsic::umin:
    lane.bits = std::min(a, b);
    return true;
  case Intrinsic::abs:
    lane = {uint64_t(x < 0 ? -uint64_t(x) : uint64_t(x)) & type.getMask(),
            b != 0 && a == uint64_t(1) << (type.bits - 1)};
    return true;
  case Intrinsic::sadd_sat:
    lane.bits = saturate(__int128(x) + y, type, true);
    return true;
  case Intrinsic::ssub_sat:
    lane.bits = saturate(__int128(x) - y, type, true);
    return true;
  case Intrinsic::uadd_sat:
    lane.bits = saturate(__int128(a) + b, type, false);
    return true;
  case Intrinsic::usub_sat:
    lane.bits = saturate(__int128(a) - b, type, false);
    return true;
  default:
    return computeBits(id, type, in, lane);
  }
}

//===- Reductions, conversions and all ------------------------------------===//

/// The operation of two lanes that a reduction repeats; 0 for none.
static Intrinsic::ID getReduced(Intrinsic::ID id) {
  switch (id) {
  case Intrinsic::vector_reduce_smax:
    return Intrinsic::smax;
  case Intrinsic::vector_reduce_smin:
    return Intrinsic::smin;
  case Intrinsic::vector_reduce_umax:
    return Intrinsic::umax;
  case Intrinsic::vector_reduce_umin:
    return Intrinsic::umin;
  case Intrinsic::vector_reduce_fmax:
    return Intrinsic::maxnum;
  case Intrinsic::vector_reduce_fmin:
    return Intrinsic::minnum;
  default:
    return Intrinsic::not_intrinsic;
  }
}

static bool reduce(Intrinsic::ID id, ScalarType type, Lanes in, Lane &lane) {
  lane = in[0];
  Intrinsic::ID each = getReduced(id);
  for (const Lane &next : in.drop_front()) {
    bool isPoison = lane.isPoison || next.isPoison;
    if (id == Intrinsic::vector_reduce_add)
      lane.bits = (lane.bits + next.bits) & type.getMask();
    else if (id == Intrinsic::vector_reduce_or)
      lane.bits |= next.bits;
    else if (id == Intrinsic::vector_reduce_and)
      lane.bits &= next.bits;
    else if (each == Intrinsic::not_intrinsic ||
             !(type.isFloat() ? computeFloat(each, type, {lane, next}, lane)
                              : computeInteger(each, type, {lane, next}, lane)))
      return false;
    lane.isPoison = isPoison;
  }
  return true;
}

/// Sums of floats in order, from a start.
static llvm::Error sumFloats(ScalarType type, Lane start, Lanes in,
                             bool multiplies, Lane &lane) {
  lane = start;
  for (const Lane &next : in) {
    lane.isPoison |= next.isPoison;
    double a = readFloat(lane.bits, type), b = readFloat(next.bits, type);
    lane.bits = writeFloat(multiplies ? a * b : a + b, type);
  }
  return llvm::Error::success();
}

static bool convert(const llvm::CallBase &call, ScalarType type, Lane in,
                    Lane &lane) {
  Intrinsic::ID id = call.getIntrinsicID();
  if (id != Intrinsic::fptosi_sat && id != Intrinsic::fptoui_sat)
    return false;
  ScalarType to{ScalarType::Integer,
                call.getType()->getScalarType()->getIntegerBitWidth()};
  double value = readFloat(in.bits, type);
  bool isSigned = id == Intrinsic::fptosi_sat;
  // Beyond 2^80 all are beyond the largest of any type.
  value = std::isnan(value) ? 0 : std::clamp(value, -0x1p80, 0x1p80);
  lane = {saturate(__int128(value), to, isSigned), false};
  return true;
}

llvm::Error glowish::irinterp::computeIntrinsic(const llvm::CallBase &call,
                                                ScalarType type,
                                                llvm::ArrayRef<Lanes> operands,
                                                LanesOut result) {
  Intrinsic::ID id = call.getIntrinsicID();
  if (id == Intrinsic::vector_reduce_fadd ||
      id == Intrinsic::vector_reduce_fmul)
    return sumFloats(type, operands[0][0], operands[1],
                     id == Intrinsic::vector_reduce_fmul, result[0]);
  bool isKnown = false;
  if (result.size() == 1 && operands[0].size() > 1) {
    isKnown = reduce(id, type, operands[0], result[0]);
  } else {
    llvm::SmallVector<Lane, 4> in;
    for (size_t i = 0; i < result.size(); ++i) {
      in.clear();
      bool isPoison = false;
      for (Lanes lanes : operands) {
        in.push_back(lanes[lanes.size() == 1 ? 0 : i % lanes.size()]);
        isPoison |= in.back().isPoison;
      }
      Lane lane;
      isKnown = convert(call, type, in[0], lane) ||
                (type.isFloat() ? computeFloat(id, type, in, lane)
                                : computeInteger(id, type, in, lane));
      if (!isKnown)
        break;
      result[i] = isPoison ? Lane::poison() : lane;
    }
  }
  return isKnown ? llvm::Error::success()
                 : computeTargetIntrinsic(call.getCalledFunction()->getName(),
                                          operands, result);
}
