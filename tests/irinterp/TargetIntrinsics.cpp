//===- TargetIntrinsics.cpp - Intrinsics of single targets ----------------===//
//
// By the manuals of Intel and Arm. Kernels call these where LLVM IR has no
// operation for an instruction.
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include <cmath>

using namespace glowish::irinterp;

using Operands = llvm::ArrayRef<Lanes>;

static bool anyPoison(std::initializer_list<Lane> lanes) {
  return llvm::any_of(lanes, [](const Lane &lane) { return lane.isPoison; });
}

static Lane word(int64_t value, std::initializer_list<Lane> from) {
  return {uint64_t(value) & 0xFFFFFFFF, anyPoison(from)};
}

//===- x86 ----------------------------------------------------------------===//

/// Sums of two neighbouring products of int16.
static void multiplyPairs(Operands in, LanesOut result) {
  for (size_t i = 0; i < result.size(); ++i) {
    Lane a = in[0][2 * i], b = in[1][2 * i], c = in[0][2 * i + 1],
         d = in[1][2 * i + 1];
    result[i] = word(signExtend(a.bits, 16) * signExtend(b.bits, 16) +
                         signExtend(c.bits, 16) * signExtend(d.bits, 16),
                     {a, b, c, d});
  }
}

/// The same of uint8 and int8, as a saturated int16.
static void multiplyBytePairs(Operands in, LanesOut result) {
  for (size_t i = 0; i < result.size(); ++i) {
    Lane a = in[0][2 * i], b = in[1][2 * i], c = in[0][2 * i + 1],
         d = in[1][2 * i + 1];
    int64_t sum = int64_t(a.bits) * signExtend(b.bits, 8) +
                  int64_t(c.bits) * signExtend(d.bits, 8);
    sum = std::clamp<int64_t>(sum, -32768, 32767);
    result[i] = {uint64_t(sum) & 0xFFFF, anyPoison({a, b, c, d})};
  }
}

static int64_t getByte(Lane lane, size_t index, bool isSigned) {
  uint64_t byte = (lane.bits >> (8 * index)) & 0xFF;
  return isSigned ? signExtend(byte, 8) : int64_t(byte);
}

/// Adds four products of bytes, which are lanes of their own or in words.
static void addDots(Operands in, LanesOut result, bool firstIsSigned,
                    bool secondIsSigned) {
  bool hasWords = in[1].size() == result.size();
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t sum = int64_t(in[0][i].bits);
    bool isPoison = in[0][i].isPoison;
    for (size_t k = 0; k < 4; ++k) {
      size_t lane = hasWords ? i : 4 * i + k, byte = hasWords ? k : 0;
      sum += getByte(in[1][lane], byte, firstIsSigned) *
             getByte(in[2][lane], byte, secondIsSigned);
      isPoison |= in[1][lane].isPoison || in[2][lane].isPoison;
    }
    result[i] = {uint64_t(sum) & 0xFFFFFFFF, isPoison};
  }
}

/// Lanes of two tables by indices, whose further bits are ignored.
static void permute(Lanes first, Lanes indices, Lanes second, LanesOut result) {
  size_t size = result.size();
  for (size_t i = 0; i < size; ++i) {
    size_t index = indices[i].bits & (2 * size - 1);
    result[i] = indices[i].isPoison ? Lane::poison()
                : index < size      ? first[index]
                                    : second[index - size];
  }
}

/// a * 2^floor(b), in the lanes of a mask.
static void scale(Operands in, LanesOut result) {
  for (size_t i = 0; i < result.size(); ++i) {
    if (!(in[3][0].bits >> i & 1)) {
      result[i] = in[2][i];
      continue;
    }
    double a = toFloat(in[0][i].bits), b = toFloat(in[1][i].bits);
    double power =
        std::isnan(b) ? b : std::floor(std::clamp(b, -1000.0, 1000.0));
    double value = std::isnan(power) ? power : a * std::ldexp(1.0, int(power));
    result[i] = {fromFloat(float(value)),
                 anyPoison({in[0][i], in[1][i], in[3][0]})};
  }
}

/// Adds the sums of two neighbouring products of int16, which lie in words.
static void addPairs(Operands in, LanesOut result) {
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t sum = int64_t(in[0][i].bits);
    for (unsigned shift : {0, 16})
      sum += signExtend(in[1][i].bits >> shift & 0xFFFF, 16) *
             signExtend(in[2][i].bits >> shift & 0xFFFF, 16);
    result[i] = word(sum, {in[0][i], in[1][i], in[2][i]});
  }
}

/// Bytes with the sign of others, or 0 where those are.
static void changeSigns(Operands in, LanesOut result) {
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t sign = signExtend(in[1][i].bits, 8), value = int64_t(in[0][i].bits);
    value = sign < 0 ? -value : sign > 0 ? value : 0;
    result[i] = {uint64_t(value) & 0xFF, anyPoison({in[0][i], in[1][i]})};
  }
}

/// The nearest int32, or \p beyond where there is none.
static Lane roundToWord(Lane lane, int64_t (*beyond)(double)) {
  double value = std::nearbyint(toFloat(lane.bits));
  bool fits = value >= -0x1p31 && value < 0x1p31;
  return word(fits ? int64_t(value) : beyond(value), {lane});
}

/// What Intel calls the integer indefinite value.
static int64_t getIndefinite(double) { return INT32_MIN; }

/// Arm's conversions saturate.
static int64_t saturateWord(double value) {
  return std::isnan(value) ? 0 : value < 0 ? INT32_MIN : INT32_MAX;
}

static void roundMasked(Operands in, LanesOut result) {
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = in[2][0].bits >> i & 1 ? roundToWord(in[0][i], getIndefinite)
                                       : in[1][i];
}

static bool computeX86(llvm::StringRef name, Operands in, LanesOut result) {
  if (name.starts_with("avx2.pmadd.wd") || name.starts_with("sse2.pmadd.wd") ||
      name.starts_with("avx512.pmaddw.d"))
    multiplyPairs(in, result);
  else if (name.starts_with("avx2.pmadd.ub.sw") ||
           name.starts_with("ssse3.pmadd.ub.sw") ||
           name.starts_with("avx512.pmaddubs.w"))
    multiplyBytePairs(in, result);
  else if (name.starts_with("avx512.vpdpwssd"))
    addPairs(in, result);
  else if (name.starts_with("avx2.psign.b"))
    changeSigns(in, result);
  else if (name.starts_with("avx512.mask.cvtps2dq"))
    roundMasked(in, result);
  else if (name.starts_with("avx512.vpdpbusd"))
    addDots(in, result, false, true);
  else if (name.starts_with("avx512.vpermi2var"))
    permute(in[0], in[1], in[2], result);
  else if (name.starts_with("avx512.permvar") || name.starts_with("avx2.perm"))
    permute(in[0], in[1], in[0], result);
  else if (name.starts_with("avx512.mask.scalef.ps"))
    scale(in, result);
  else
    return false;
  return true;
}

//===- AArch64 ------------------------------------------------------------===//

/// Bytes of a table of several registers; those of others where the index is
/// beyond it, or 0.
static void lookUp(Operands tables, Lanes indices, const Lane *others,
                   LanesOut result) {
  for (size_t i = 0; i < result.size(); ++i) {
    size_t table = indices[i].bits / 16;
    Lane beyond = others ? others[i] : Lane();
    result[i] = indices[i].isPoison     ? Lane::poison()
                : table < tables.size() ? tables[table][indices[i].bits % 16]
                                        : beyond;
  }
}

static bool computeAArch64(llvm::StringRef name, Operands in, LanesOut result) {
  if (name.starts_with("neon.tbl"))
    lookUp(in.drop_back(), in.back(), nullptr, result);
  else if (name.starts_with("neon.tbx"))
    lookUp(in.drop_front().drop_back(), in.back(), in[0].data(), result);
  else if (name.starts_with("neon.sdot"))
    addDots(in, result, true, true);
  else if (name.starts_with("neon.udot"))
    addDots(in, result, false, false);
  else if (name.starts_with("neon.usdot"))
    addDots(in, result, false, true);
  else
    return false;
  return true;
}

//===- ARM's DSP extension ------------------------------------------------===//

static int64_t getHalf(Lane lane, bool isTop) {
  return signExtend((lane.bits >> (isTop ? 16 : 0)) & 0xFFFF, 16);
}

static bool isPartPoison(Lane lane, unsigned shift, uint64_t mask) {
  return (lane.getPoisonBits() >> shift & mask) != 0;
}

/// Adds the products of halves. What has no value may be multiplied by 0.
static Lane addHalves(Lane sum, Lane a, Lane b,
                      llvm::ArrayRef<std::pair<bool, bool>> tops) {
  int64_t result = int64_t(sum.bits);
  bool isPoison = sum.isPoison;
  for (auto [topOfA, topOfB] : tops) {
    int64_t x = getHalf(a, topOfA), y = getHalf(b, topOfB);
    bool noX = isPartPoison(a, topOfA ? 16 : 0, 0xFFFF);
    bool noY = isPartPoison(b, topOfB ? 16 : 0, 0xFFFF);
    result += x * y;
    isPoison |= (noX && (noY || y != 0)) || (noY && (noX || x != 0));
  }
  return {uint64_t(result) & 0xFFFFFFFF, isPoison};
}

/// Two bytes of a word, extended to 16 bits, added to the halves of another.
static Lane addExtended(Lane start, Lane bytes, bool isSigned) {
  uint64_t result = 0, poison = 0;
  for (unsigned half = 0; half < 2; ++half) {
    int64_t sum = getHalf(start, half) + getByte(bytes, 2 * half, isSigned);
    result |= (uint64_t(sum) & 0xFFFF) << (16 * half);
    if (isPartPoison(start, 16 * half, 0xFFFF) ||
        isPartPoison(bytes, 16 * half, 0xFF))
      poison |= uint64_t(0xFFFF) << (16 * half);
  }
  return Lane::partial(result, poison);
}

static bool computeArm(llvm::StringRef name, Operands in, LanesOut result) {
  Lane a = in[0][0], b = in.size() > 1 ? in[1][0] : Lane(),
       c = in.size() > 2 ? in[2][0] : Lane();
  if (name == "vcvtr.f32") {
    result[0] = roundToWord(a, saturateWord);
  } else if (name.starts_with("mve.vcvtn.v4i32.v4f32") && in[0][0].bits == 0) {
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = roundToWord(in[1][i], saturateWord);
  } else if (name == "sxtb16" || name == "uxtb16") {
    result[0] = addExtended(Lane(), a, name == "sxtb16");
  } else if (name == "sxtab16" || name == "uxtab16") {
    result[0] = addExtended(a, b, name == "sxtab16");
  } else if (name == "smlad" || name == "smladx" || name == "smuad") {
    bool isCrossed = name == "smladx";
    result[0] = addHalves(c, a, b, {{false, isCrossed}, {true, !isCrossed}});
  } else if (name.size() == 6 && name.starts_with("smla")) {
    result[0] = addHalves(c, a, b, {{name[4] == 't', name[5] == 't'}});
  } else {
    return false;
  }
  return true;
}

//===- WebAssembly --------------------------------------------------------===//

static bool computeWasm(llvm::StringRef name, Operands in, LanesOut result) {
  if (name != "dot")
    return false;
  multiplyPairs(in, result);
  return true;
}

llvm::Error glowish::irinterp::computeTargetIntrinsic(llvm::StringRef name,
                                                      Operands operands,
                                                      LanesOut result) {
  llvm::StringRef rest = name;
  rest.consume_front("llvm.");
  bool isKnown =
      rest.consume_front("x86.")       ? computeX86(rest, operands, result)
      : rest.consume_front("aarch64.") ? computeAArch64(rest, operands, result)
      : rest.consume_front("arm.")     ? computeArm(rest, operands, result)
      : rest.consume_front("wasm.")    ? computeWasm(rest, operands, result)
                                       : false;
  return isKnown ? llvm::Error::success()
                 : llvm::make_error<Unsupported>(name.str());
}
