//===- LowPrecisionTest.cpp - Conversions of low precision ----------------===//
//
// Every pattern of the floats of 8 and 4 bits and of the integers of 4 and 2
// bits, and what every float16 and bfloat16 and the numbers between patterns
// become, against values that are computed here from the definition of each
// format: by the functions of Base, the interpreter, and compiled code.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "glowish/Base/Packing.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <map>

using namespace glowish;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

//===- Definitions --------------------------------------------------------===//

/// A format as ONNX's documentation has it, by the values of its patterns.
struct Format {
  ElemKind kind;
  /// By pattern, in one half for formats with a sign.
  std::vector<double> magnitudes;
  unsigned signBit;
  /// What larger numbers and NaN become; of negative ones with the sign.
  uint8_t overflow, nanCode;
  bool hasNegativeZero = true;
  /// The magnitudes that are numbers, and one more, as if there were larger
  /// exponents.
  std::vector<double> numbers = {};
};

/// The numbers with \p exponentBits and \p mantissaBits, from 0 up.
std::vector<double> makeMagnitudes(unsigned exponentBits, unsigned mantissaBits,
                                   int bias) {
  std::vector<double> values;
  for (int exponent = 0; exponent < 1 << exponentBits; ++exponent)
    for (int mantissa = 0; mantissa < 1 << mantissaBits; ++mantissa) {
      double digits = std::ldexp(mantissa, -int(mantissaBits));
      values.push_back(exponent == 0 ? std::ldexp(digits, 1 - bias)
                                     : std::ldexp(1 + digits, exponent - bias));
    }
  return values;
}

std::vector<Format> getFormats() {
  std::vector<Format> formats = {
      {ElemKind::Float8E4M3FN, makeMagnitudes(4, 3, 7), 0x80, 0x7f, 0x7f},
      {ElemKind::Float8E4M3FNUZ, makeMagnitudes(4, 3, 8), 0x80, 0x80, 0x80,
       false},
      {ElemKind::Float8E5M2, makeMagnitudes(5, 2, 15), 0x80, 0x7c, 0x7e},
      {ElemKind::Float8E5M2FNUZ, makeMagnitudes(5, 2, 16), 0x80, 0x80, 0x80,
       false},
      {ElemKind::Float4E2M1, makeMagnitudes(2, 1, 1), 8, 7, 8}};
  formats[0].magnitudes[0x7f] = notANumber;
  formats[2].magnitudes[0x7c] = infinity;
  for (unsigned code : {0x7d, 0x7e, 0x7f})
    formats[2].magnitudes[code] = notANumber;
  for (Format &format : formats) {
    std::vector<double> &numbers = format.numbers;
    llvm::copy_if(format.magnitudes, std::back_inserter(numbers),
                  [](double magnitude) { return std::isfinite(magnitude); });
    size_t count = numbers.size();
    numbers.push_back(2 * numbers[count - 1] - numbers[count - 2]);
  }
  return formats;
}

double getValue(const Format &format, unsigned code) {
  if (!format.hasNegativeZero && code == format.signBit)
    return notANumber;
  double magnitude = format.magnitudes[code & (format.signBit - 1)];
  return code & format.signBit ? -magnitude : magnitude;
}

/// The pattern of the number nearest to \p value, of two the even one.
unsigned findNearest(const Format &format, double value) {
  unsigned sign = std::signbit(value) ? format.signBit : 0;
  if (std::isnan(value))
    return format.nanCode | (format.hasNegativeZero ? sign : 0);
  const std::vector<double> &numbers = format.numbers;
  unsigned count = numbers.size() - 1;
  double magnitude = std::fabs(value);
  unsigned above =
      unsigned(llvm::lower_bound(numbers, magnitude) - numbers.begin());
  unsigned code = above;
  if (above > count)
    code = count;
  else if (above > 0) {
    double low = magnitude - numbers[above - 1],
           high = numbers[above] - magnitude;
    bool isBelow = low < high || (low == high && above % 2 == 1);
    code = isBelow ? above - 1 : above;
  }
  if (code == count)
    return format.overflow | (format.hasNegativeZero ? sign : 0);
  return code == 0 && !format.hasNegativeZero ? 0 : code | sign;
}

/// The exponent of the least power of two that is not below |value|.
unsigned findPower(double value) {
  if (std::isnan(value))
    return 0xff;
  for (int exponent = -127; exponent <= 127; ++exponent)
    if (std::fabs(value) <= std::ldexp(1, exponent))
      return unsigned(exponent + 127);
  return 0xff;
}

double getPower(unsigned code) {
  return code == 0xff ? notANumber : std::ldexp(1, int(code) - 127);
}

/// All float16 and bfloat16, and around the numbers of all formats and halfway
/// between them.
std::vector<float> makeFloats() {
  std::vector<float> values;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    Float16 half;
    BFloat16 brain;
    half.bits = brain.bits = uint16_t(bits);
    values.push_back(half);
    values.push_back(brain);
  }
  auto add = [&](double value) {
    for (double towards : {-infinity, infinity})
      values.push_back(std::nextafterf(float(value), float(towards)));
    values.push_back(float(value));
  };
  for (const Format &format : getFormats())
    for (unsigned code = 0; code + 1 < format.magnitudes.size(); ++code) {
      double low = format.magnitudes[code], high = format.magnitudes[code + 1];
      if (!std::isfinite(low + high))
        continue;
      for (double value :
           {low, (low + high) / 2, high, high + (high - low) / 2}) {
        add(value);
        add(-value);
      }
    }
  for (unsigned code = 0; code < 0xff; ++code)
    for (double factor : {1.0, 1.5})
      add(getPower(code) * factor);
  return values;
}

//===- Back ends ----------------------------------------------------------===//

/// \p input converted by compiled code of each level of this machine, or the
/// first alone, and by the interpreter: the kernel of the operator Cast.
std::map<std::string, Tensor> castEverywhere(const Tensor &input, ElemKind to,
                                             bool isOnAllLevels) {
  std::map<std::string, Tensor> results;
  auto cast = [&](const std::string &name, Backend &backend) {
    PlannedProgram program =
        llvm::cantFail(compileFor(backend, [&](Function &f, Module &m) {
          NodeValue x = glowish::input(m, input.getType().getKind(),
                                       input.getType().getShape());
          return f.create<CastNode>("c", x, to)->getResult();
        }));
    auto session = llvm::cantFail(Session::create(program));
    llvm::cantFail(session->setInput(
        llvm::cantFail(session->findPlaceholder("x")), input));
    llvm::cantFail(session->run());
    results[name] =
        session->getTensor(llvm::cantFail(session->findPlaceholder("y")))
            .clone();
  };
  cast("interpreter", *createInterpreter());
  for (const TargetOptions &target : getLevels()) {
    cast("'" + target.cpu + "'", *llvm::cantFail(CPUBackend::create(target)));
    if (!isOnAllLevels)
      break;
  }
  return results;
}

/// Bytes 0, 1, ... as \p count elements of \p kind.
Tensor makePatterns(ElemKind kind, int64_t count) {
  Tensor tensor(Type(kind, {count}));
  for (int64_t i = 0; i < count; ++i)
    static_cast<uint8_t *>(tensor.getBytes())[i] = uint8_t(i);
  return tensor;
}

void expectSameNumber(double actual, double expected, const std::string &what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << what;
    return;
  }
  EXPECT_EQ(actual, expected) << what;
  EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << what;
}

/// Checks that the patterns of \p kind have the values \p getExpected.
template <typename Fn>
void checkValues(ElemKind kind, int64_t count, Fn getExpected) {
  Tensor patterns = makePatterns(kind, count);
  auto results = castEverywhere(patterns, ElemKind::Float, true);
  for (int64_t code = 0; code < count; ++code) {
    std::string what =
        (getElemKindName(kind) + " " + llvm::Twine(code) + " ").str();
    double expected = getExpected(unsigned(code));
    expectSameNumber(patterns.getAsDouble(code), expected, what);
    for (const auto &[name, tensor] : results)
      expectSameNumber(tensor.getAsDouble(code), expected, what + name);
  }
}

/// Checks that \p values become the patterns \p getExpected of \p kind.
template <typename T, typename Fn>
void checkPatterns(ElemKind from, llvm::ArrayRef<T> values, ElemKind kind,
                   Fn getExpected, bool isOnAllLevels = true) {
  Tensor input =
      Tensor::fromValues(Type(from, {int64_t(values.size())}), values);
  for (const auto &[name, tensor] :
       castEverywhere(input, kind, isOnAllLevels)) {
    unsigned wrong = 0;
    for (size_t i = 0; i < values.size() && wrong < 5; ++i) {
      unsigned code = tensor.getByteRange()[i];
      unsigned expected = getExpected(double(values[i])) & 0xff;
      if (code == expected)
        continue;
      ++wrong;
      ADD_FAILURE() << double(values[i]) << " as "
                    << getElemKindName(kind).str() << " by " << name << ": "
                    << code << ", not " << expected;
    }
  }
}

} // namespace

//===- Floats -------------------------------------------------------------===//

TEST(LowPrecision, ValuesOfAllFloatPatterns) {
  for (const Format &format : getFormats())
    checkValues(format.kind, 2 * format.signBit,
                [&](unsigned code) { return getValue(format, code); });
  checkValues(ElemKind::Float8E8M0, 256, getPower);
}

TEST(LowPrecision, FloatsBecomeTheNearest) {
  std::vector<float> floats = makeFloats();
  for (const Format &format : getFormats())
    checkPatterns<float>(
        ElemKind::Float, floats, format.kind,
        [&](double value) { return findNearest(format, value); });
}

TEST(LowPrecision, FloatsBecomePowersAbove) {
  checkPatterns<float>(ElemKind::Float, makeFloats(), ElemKind::Float8E8M0,
                       findPower);
}

/// Rounded once: halfway between two numbers, and next to it by less than a
/// float's precision.
TEST(LowPrecision, DoublesAndHalves) {
  for (const Format &format : getFormats()) {
    auto getExpected = [&](double value) { return findNearest(format, value); };
    std::vector<double> doubles = {0,          -0.0,  infinity, -infinity,
                                   notANumber, 1e300, -1e-300};
    for (unsigned code = 0; code + 1 < format.magnitudes.size(); ++code) {
      double half = (format.magnitudes[code] + format.magnitudes[code + 1]) / 2;
      if (std::isfinite(half))
        for (double value :
             {std::nextafter(half, 0), half, std::nextafter(half, infinity)})
          doubles.insert(doubles.end(), {value, -value});
    }
    checkPatterns<double>(ElemKind::Double, doubles, format.kind, getExpected);
    std::vector<Float16> halves(0x10000);
    std::vector<BFloat16> brains(0x10000);
    for (unsigned bits = 0; bits < 0x10000; ++bits)
      halves[bits].bits = brains[bits].bits = uint16_t(bits);
    checkPatterns<Float16>(ElemKind::Float16, halves, format.kind, getExpected,
                           /*isOnAllLevels=*/false);
    checkPatterns<BFloat16>(ElemKind::BFloat16, brains, format.kind,
                            getExpected, /*isOnAllLevels=*/false);
  }
}

//===- Integers -----------------------------------------------------------===//

namespace {

struct IntFormat {
  ElemKind kind;
  int64_t lowest, highest;
};
constexpr IntFormat intFormats[] = {{ElemKind::Int4, -8, 7},
                                    {ElemKind::UInt4, 0, 15},
                                    {ElemKind::Int2, -2, 1},
                                    {ElemKind::UInt2, 0, 3}};

/// What has the low bits of \p value.
int64_t wrap(const IntFormat &format, int64_t value) {
  int64_t count = format.highest - format.lowest + 1, rest = value % count;
  return rest < format.lowest    ? rest + count
         : rest > format.highest ? rest - count
                                 : rest;
}

} // namespace

TEST(LowPrecision, Integers) {
  for (const IntFormat &format : intFormats) {
    std::vector<int8_t> values;
    for (int64_t value = format.lowest; value <= format.highest; ++value)
      values.push_back(int8_t(value));
    Tensor tensor(Type(format.kind, {int64_t(values.size())}));
    llvm::copy(values, static_cast<int8_t *>(tensor.getBytes()));
    for (ElemKind to :
         {ElemKind::Float, ElemKind::Int64, ElemKind::UInt8, ElemKind::Float16})
      for (const auto &[name, result] : castEverywhere(tensor, to, true))
        for (size_t i = 0; i < values.size(); ++i)
          EXPECT_EQ(result.getAsInt(i),
                    to == ElemKind::UInt8 ? uint8_t(values[i]) : values[i])
              << getElemKindName(format.kind).str() << " by " << name;
  }
}

TEST(LowPrecision, IntegersWrap) {
  std::vector<int64_t> integers = {INT64_MIN, INT64_MAX, -1000, 1000};
  std::vector<float> floats = {0.99f, -0.99f,           7.5f, -8.9f, 1e6f,
                               -0.0f, float(notANumber)};
  for (int i = -40; i <= 40; ++i) {
    integers.push_back(i);
    floats.push_back(float(i));
  }
  for (const IntFormat &format : intFormats) {
    checkPatterns<int64_t>(
        ElemKind::Int64, integers, format.kind, [&](double value) {
          // INT64_MAX is not a double; its low bits are ones.
          int64_t number = value >= 0x1p63 ? INT64_MAX : int64_t(value);
          return unsigned(wrap(format, number));
        });
    checkPatterns<float>(
        ElemKind::Float, floats, format.kind, [&](double value) {
          return unsigned(wrap(format, std::isnan(value) ? 0 : int64_t(value)));
        });
    Tensor tensor(Type(format.kind, {1}));
    for (auto [value, expected] : {std::pair(1e9, format.highest),
                                   {-1e9, format.lowest},
                                   {notANumber, int64_t(0)}}) {
      tensor.setFromDouble(0, value);
      EXPECT_EQ(tensor.getAsInt(0), expected);
    }
  }
}

//===- Movement -----------------------------------------------------------===//

/// Bits are moved, not values: NaNs stay what they are.
TEST(LowPrecision, CopiesKeepBits) {
  Tensor patterns = makePatterns(ElemKind::Float8E5M2, 256);
  auto build = [](Function &f, Module &m) {
    NodeValue x = glowish::input(m, ElemKind::Float8E5M2, {256});
    NodeValue square = f.create<ReshapeNode>("r", x, Dims{16, 16})->getResult();
    return f.create<TransposeNode>("t", square, std::vector<int64_t>{1, 0})
        ->getResult();
  };
  for (bool isCompiled : {false, true}) {
    std::unique_ptr<Backend> backend = createInterpreter();
    if (isCompiled)
      backend = llvm::cantFail(CPUBackend::create(TargetOptions()));
    PlannedProgram program = llvm::cantFail(compileFor(*backend, build));
    auto session = llvm::cantFail(Session::create(program));
    llvm::cantFail(session->setInput(
        llvm::cantFail(session->findPlaceholder("x")), patterns));
    llvm::cantFail(session->run());
    const Tensor &result =
        session->getTensor(llvm::cantFail(session->findPlaceholder("y")));
    for (unsigned i = 0; i < 256; ++i)
      EXPECT_EQ(result.getByteRange()[i], i % 16 * 16 + i / 16);
  }
}

TEST(LowPrecision, Packing) {
  struct Case {
    ElemKind kind;
    std::vector<double> values;
    std::vector<uint8_t> bytes;
  };
  const Case cases[] = {
      {ElemKind::Int4, {1, -8, -1}, {0x81, 0x0f}},
      {ElemKind::UInt4, {15, 2}, {0x2f}},
      {ElemKind::Int2, {1, -2, -1, 0, 1}, {0x39, 0x01}},
      {ElemKind::UInt2, {3, 2, 1}, {0x1b}},
      {ElemKind::Float4E2M1, {-0.5, 6, 1}, {0x79, 0x02}},
      {ElemKind::Float8E5M2, {1, -1}, {0x3c, 0xbc}},
      {ElemKind::Int16, {-2}, {0xfe, 0xff}},
      {ElemKind::UInt4, {}, {}},
  };
  for (const Case &each : cases) {
    Type type(each.kind, {int64_t(each.values.size())});
    EXPECT_EQ(getPackedSize(type), int64_t(each.bytes.size())) << type.str();
    Tensor tensor = unpackElements(type, each.bytes);
    for (size_t i = 0; i < each.values.size(); ++i)
      EXPECT_EQ(tensor.getAsDouble(i), each.values[i]) << type.str();
    EXPECT_EQ(packElements(tensor),
              std::string(each.bytes.begin(), each.bytes.end()))
        << type.str();
  }
}
