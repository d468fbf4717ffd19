//===- BaseTest.cpp - Element kinds, types, tensors, comparison -----------===//

#include "Messages.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Base/ElemRange.h"
#include "glowish/Base/Permute.h"
#include "llvm/ADT/bit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace glowish;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();

template <typename Half> Half fromBits(uint16_t bits) {
  Half half;
  half.bits = bits;
  return half;
}

//===- Element kinds ------------------------------------------------------===//

constexpr std::pair<ElemKind, const char *> spellings[] = {
    {ElemKind::Float, "float"},
    {ElemKind::Float16, "float16"},
    {ElemKind::BFloat16, "bfloat16"},
    {ElemKind::Double, "double"},
    {ElemKind::Int8, "int8"},
    {ElemKind::UInt8, "uint8"},
    {ElemKind::Int16, "int16"},
    {ElemKind::UInt16, "uint16"},
    {ElemKind::Int32, "int32"},
    {ElemKind::UInt32, "uint32"},
    {ElemKind::Int64, "int64"},
    {ElemKind::UInt64, "uint64"},
    {ElemKind::Bool, "bool"},
    {ElemKind::Int8Q, "int8q"},
    {ElemKind::UInt8Q, "uint8q"},
    {ElemKind::Int16Q, "int16q"},
    {ElemKind::Int32Q, "int32q"},
    {ElemKind::Float8E4M3FN, "float8e4m3fn"},
    {ElemKind::Float8E4M3FNUZ, "float8e4m3fnuz"},
    {ElemKind::Float8E5M2, "float8e5m2"},
    {ElemKind::Float8E5M2FNUZ, "float8e5m2fnuz"},
    {ElemKind::Float8E8M0, "float8e8m0"},
    {ElemKind::Float4E2M1, "float4e2m1"},
    {ElemKind::Int4, "int4"},
    {ElemKind::UInt4, "uint4"},
    {ElemKind::Int2, "int2"},
    {ElemKind::UInt2, "uint2"}};
constexpr unsigned firstLowPrecision = 17;

TEST(ElemKind, SpellingBothWays) {
  for (auto [kind, spelling] : spellings) {
    EXPECT_EQ(getElemKindName(kind), spelling);
    EXPECT_EQ(parseElemKind(spelling), kind);
  }
  for (const char *wrong : {"", "Float", "float32", "int8 ", "int", "int128"})
    EXPECT_FALSE(parseElemKind(wrong)) << wrong;
}

TEST(ElemKind, Sizes) {
  unsigned expected[] = {4, 2, 2, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1, 1, 1, 2, 4};
  unsigned lowBits[] = {8, 8, 8, 8, 8, 4, 4, 4, 2, 2};
  ASSERT_EQ(std::size(spellings), std::size(allElemKinds));
  for (size_t i = 0; i < std::size(spellings); ++i) {
    auto [kind, spelling] = spellings[i];
    bool isLow = i >= firstLowPrecision;
    EXPECT_EQ(getElemSize(kind), isLow ? 1 : expected[i]) << spelling;
    EXPECT_EQ(getElemBits(kind),
              isLow ? lowBits[i - firstLowPrecision] : 8 * expected[i])
        << spelling;
  }
}

TEST(ElemKind, Families) {
  for (size_t i = 0; i < std::size(spellings); ++i) {
    auto [kind, spelling] = spellings[i];
    llvm::StringRef name = spelling;
    bool isLow = i >= firstLowPrecision;
    EXPECT_EQ(isLowPrecisionKind(kind), isLow) << spelling;
    EXPECT_EQ(isLowIntegerKind(kind), isLow && name.contains("int"))
        << spelling;
    bool isFloat = !isLow && (name.contains("float") || name == "double");
    bool isQuantized = name.ends_with("q");
    bool isInteger = !isLow && name.contains("int") && !isQuantized;
    EXPECT_EQ(isFloatKind(kind), isFloat) << spelling;
    EXPECT_EQ(isIntegerKind(kind), isInteger) << spelling;
    EXPECT_EQ(isSignedIntegerKind(kind), isInteger && name[0] == 'i')
        << spelling;
    EXPECT_EQ(isQuantizedKind(kind), isQuantized) << spelling;
  }
}

//===- Half precisions ----------------------------------------------------===//

/// The least and the largest finite number of all patterns of \p kind.
ElemRange findRange(ElemKind kind) {
  ElemRange range = {HUGE_VAL, -HUGE_VAL};
  unsigned size = getElemSize(kind);
  Tensor tensor(Type(kind, {1}));
  for (uint32_t bits = 0; bits < 1u << (8 * size); ++bits) {
    if (size == 1 && !isElementByte(kind, uint8_t(bits)))
      continue;
    std::memcpy(tensor.getBytes(), &bits, size);
    double value = tensor.getAsDouble(0);
    if (std::isfinite(value))
      range = {std::min(range.low, value), std::max(range.high, value)};
  }
  return range;
}

TEST(ElemRange, IsThatOfAllPatterns) {
  for (ElemKind kind : allElemKinds) {
    if (getElemSize(kind) > 2 || isQuantizedKind(kind))
      continue;
    ElemRange range = getFiniteRange(kind), found = findRange(kind);
    EXPECT_EQ(range.low, found.low) << getElemKindName(kind).str();
    EXPECT_EQ(range.high, found.high) << getElemKindName(kind).str();
  }
}

TEST(ElemRange, OtherKinds) {
  const std::tuple<ElemKind, double, double> ranges[] = {
      {ElemKind::Float, -0x1.fffffep127, 0x1.fffffep127},
      {ElemKind::Double, -0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023},
      {ElemKind::Int32, -0x1p31, 0x1p31 - 1},
      {ElemKind::UInt32, 0, 0x1p32 - 1},
      {ElemKind::Int8Q, -0x1p7, 0x1p7 - 1},
      {ElemKind::UInt8Q, 0, 0x1p8 - 1},
      {ElemKind::Int16Q, -0x1p15, 0x1p15 - 1},
      {ElemKind::Int32Q, -0x1p31, 0x1p31 - 1},
      {ElemKind::Int64, -0x1p63, 0x1p63},
      {ElemKind::UInt64, 0, 0x1p64}};
  for (auto [kind, low, high] : ranges) {
    EXPECT_EQ(getFiniteRange(kind).low, low) << getElemKindName(kind).str();
    EXPECT_EQ(getFiniteRange(kind).high, high) << getElemKindName(kind).str();
  }
}

TEST(ElemRange, Lowest) {
  EXPECT_EQ(getLowest(ElemKind::BFloat16), -HUGE_VAL);
  EXPECT_EQ(getLowest(ElemKind::Double), -HUGE_VAL);
  EXPECT_EQ(getLowest(ElemKind::Int8), -128);
  EXPECT_EQ(getLowest(ElemKind::UInt16), 0);
}

TEST(ElemRange, Clamps) {
  ElemRange bytes = getFiniteRange(ElemKind::Int8);
  EXPECT_EQ(bytes.clamp(-200), -128);
  EXPECT_EQ(bytes.clamp(1.5), 1.5);
  EXPECT_EQ(bytes.clamp(HUGE_VAL), 127);
  EXPECT_TRUE(std::isnan(bytes.clamp(NAN)));
  EXPECT_TRUE(bytes.contains(127) && bytes.contains(-128));
  EXPECT_FALSE(bytes.contains(128) || bytes.contains(NAN));
}

TEST(Float16, EveryPatternSurvivesFloat) {
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    float value = fromBits<Float16>(bits);
    bool isNaN = (bits & 0x7fff) > 0x7c00;
    ASSERT_EQ(std::isnan(value), isNaN) << bits;
    Float16 back(value);
    if (isNaN)
      ASSERT_TRUE(std::isnan(float(back)) &&
                  (back.bits & 0x8000) == (bits & 0x8000))
          << bits;
    else
      ASSERT_EQ(back.bits, bits);
  }
}

/// Every float between two neighbours of a half precision goes to the nearer,
/// and the middle to the even one. \p largest: the largest finite pattern.
template <typename Half> void checkTies(uint16_t largest) {
  for (unsigned bits = 0; bits < largest; ++bits) {
    float low = fromBits<Half>(bits), high = fromBits<Half>(bits + 1);
    float middle = float((double(low) + double(high)) / 2);
    ASSERT_EQ(Half(middle).bits, bits + (bits & 1)) << bits;
    ASSERT_EQ(Half(std::nextafter(middle, -infinity)).bits, bits) << bits;
    ASSERT_EQ(Half(std::nextafter(middle, infinity)).bits, bits + 1) << bits;
    ASSERT_EQ(Half(-middle).bits, 0x8000 | (bits + (bits & 1))) << bits;
  }
}

TEST(Float16, RoundsToNearestEven) { checkTies<Float16>(0x7bff); }

TEST(Float16, KnownValues) {
  EXPECT_EQ(Float16(1.0f).bits, 0x3c00);
  EXPECT_EQ(Float16(-2.0f).bits, 0xc000);
  EXPECT_EQ(Float16(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Float16(65519.996f).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Float16(infinity).bits, 0x7c00);
  EXPECT_EQ(Float16(-infinity).bits, 0xfc00);
  EXPECT_EQ(Float16(-0.0f).bits, 0x8000);
  EXPECT_EQ(Float16(0x1p-24f).bits, 0x0001);
  EXPECT_EQ(Float16(0x1p-25f).bits, 0x0000);
  EXPECT_EQ(Float16(0x1.000002p-25f).bits, 0x0001);
  EXPECT_EQ(Float16(0x1p-14f).bits, 0x0400);
  EXPECT_EQ(Float16(0x1.ffep-15f).bits, 0x0400);
  EXPECT_EQ(Float16(notANumber).bits, 0x7e00);
  EXPECT_EQ(Float16(1e-30f).bits, 0);
}

TEST(BFloat16, EveryPatternSurvivesFloat) {
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    float value = fromBits<BFloat16>(bits);
    if (std::isnan(value))
      ASSERT_EQ(BFloat16(value).bits, bits | 0x40);
    else
      ASSERT_EQ(BFloat16(value).bits, bits);
  }
}

TEST(BFloat16, RoundsToNearestEven) { checkTies<BFloat16>(0x7f7f); }

TEST(BFloat16, KnownValues) {
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(3.14159265f).bits, 0x4049);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(BFloat16(-infinity).bits, 0xff80);
  // The payload is in the lower half: the NaN must not become infinite.
  EXPECT_TRUE(
      std::isnan(float(BFloat16(llvm::bit_cast<float>(uint32_t(0x7f800001))))));
}

//===- Types --------------------------------------------------------------===//

TEST(Type, Prints) {
  EXPECT_EQ(Type(ElemKind::Float, {1, 224, 224, 3}).str(),
            "float<1x224x224x3>");
  EXPECT_EQ(Type(ElemKind::Int64, Dims()).str(), "int64<>");
  EXPECT_EQ(Type(ElemKind::Bool, {0, 3}).str(), "bool<0x3>");
  EXPECT_EQ(Type(ElemKind::Int8Q, {4, 4}, {{0.5f}, {3}, -1}).str(),
            "int8q<4x4, scale 0.5 offset 3>");
  EXPECT_EQ(Type(ElemKind::UInt8Q, {2, 4}, {{0.5f, 1e-5f}, {0, -7}, 0}).str(),
            "uint8q<2x4, axis 0 scale [0.5, 1e-05] offset [0, -7]>");
}

TEST(Type, ComparesByContent) {
  Type type(ElemKind::Float, {2, 3});
  EXPECT_EQ(type, Type(ElemKind::Float, {2, 3}));
  EXPECT_NE(type, Type(ElemKind::Float, {3, 2}));
  EXPECT_NE(type, Type(ElemKind::Float, {2, 3, 1}));
  EXPECT_NE(type, Type(ElemKind::Double, {2, 3}));
  Type quantized(ElemKind::Int8Q, {2, 3}, {{0.5f}, {1}, -1});
  EXPECT_EQ(quantized, Type(ElemKind::Int8Q, {2, 3}, {{0.5f}, {1}, -1}));
  EXPECT_NE(quantized, Type(ElemKind::Int8Q, {2, 3}, {{0.5f}, {2}, -1}));
  EXPECT_NE(quantized, Type(ElemKind::Int8Q, {2, 3}, {{0.25f}, {1}, -1}));
  EXPECT_NE(quantized,
            Type(ElemKind::Int8Q, {2, 3}, {{0.5f, 0.5f}, {1, 1}, 0}));
  EXPECT_EQ(hash_value(type), hash_value(Type(ElemKind::Float, {2, 3})));
}

TEST(Type, CountsElements) {
  EXPECT_EQ(Type(ElemKind::Float, Dims()).getNumElements(), 1);
  EXPECT_EQ(Type(ElemKind::Int16, {7, 3, 5}).getNumElements(), 105);
  EXPECT_EQ(Type(ElemKind::Int16, {7, 3, 5}).getSizeInBytes(), 210);
  EXPECT_EQ(Type(ElemKind::Double, {7, 0, 5}).getNumElements(), 0);
}

TEST(Type, ChangesShapeAndKind) {
  Type quantized(ElemKind::Int8Q, {2, 3}, {{0.5f}, {1}, -1});
  EXPECT_EQ(quantized.withShape({6}).str(), "int8q<6, scale 0.5 offset 1>");
  EXPECT_EQ(quantized.withKind(ElemKind::Float).str(), "float<2x3>");
}

TEST(Type, DenseStrides) {
  EXPECT_EQ(getDenseStrides({2, 3, 5}), (Dims{15, 5, 1}));
  EXPECT_EQ(getDenseStrides({}), Dims());
  EXPECT_EQ(getDenseStrides({4, 0, 3}), (Dims{0, 3, 1}));
}

TEST(Type, ShapesForMessages) {
  EXPECT_EQ(formatShape({1, 3, 7}), "1x3x7");
  EXPECT_EQ(formatShape({}), "scalar");
}

TEST(Type, RefusesImpossibleShapes) {
  auto check = [](ElemKind kind, DimsRef shape) {
    return getMessage(checkShape(kind, shape));
  };
  EXPECT_EQ(check(ElemKind::Float, {3, 0, 7}), "");
  EXPECT_EQ(check(ElemKind::Float, {}), "");
  EXPECT_EQ(check(ElemKind::Float, {3, -1}),
            "shape 3x-1 has a negative extent");
  constexpr int64_t large = int64_t(1) << 38;
  EXPECT_EQ(check(ElemKind::Float, {large}), "");
  EXPECT_EQ(check(ElemKind::Float, {large + 1}),
            "a tensor of kind float and shape 274877906945 is larger than "
            "1099511627776 bytes");
  EXPECT_NE(check(ElemKind::Double, {large}), "");
  // The product of these is 0 modulo 2^64.
  EXPECT_NE(check(ElemKind::Int8, {int64_t(1) << 32, int64_t(1) << 32}), "");
  // A zero does not hide extents whose strides would overflow.
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_NE(check(ElemKind::Int8, {0, most, most}), "");
}

//===- Tensors ------------------------------------------------------------===//

TEST(Tensor, StartsZeroedAndAligned) {
  // Small and large ones take different ways to their memory.
  for (int64_t extent : {0, 1, 17, 1 << 19}) {
    Tensor tensor(Type(ElemKind::Float, {extent}));
    EXPECT_EQ(uintptr_t(tensor.getBytes()) % Tensor::alignment, 0u);
    EXPECT_EQ(tensor.getNumElements(), extent);
    EXPECT_THAT(tensor.data<float>(), testing::Each(0.0f));
  }
}

TEST(Tensor, ClonesAndBorrows) {
  Tensor tensor =
      Tensor::fromValues<int32_t>(Type(ElemKind::Int32, {3}), {7, -1, 5});
  Tensor copy = tensor.clone();
  Tensor alias = Tensor::borrow(tensor.getType(), tensor.getBytes());
  tensor.data<int32_t>()[1] = 17;
  EXPECT_THAT(copy.data<int32_t>(), testing::ElementsAre(7, -1, 5));
  EXPECT_THAT(alias.data<int32_t>(), testing::ElementsAre(7, 17, 5));
  EXPECT_TRUE(alias.isBitwiseEqual(tensor));
  EXPECT_FALSE(copy.isBitwiseEqual(tensor));
}

TEST(Tensor, MovesKeepTheBytes) {
  Tensor tensor =
      Tensor::fromValues<float>(Type(ElemKind::Float, {2, 2}), {1, 2, 3, 4});
  const void *bytes = tensor.getBytes();
  Tensor moved = std::move(tensor).withType(Type(ElemKind::Float, {4}));
  EXPECT_EQ(moved.getBytes(), bytes);
  EXPECT_EQ(moved.getType().str(), "float<4>");
}

TEST(Tensor, ComparesBits) {
  Type type(ElemKind::Float, {1});
  auto make = [&](float value) {
    return Tensor::fromValues<float>(type, {value});
  };
  EXPECT_FALSE(make(0.0f).isBitwiseEqual(make(-0.0f)));
  EXPECT_TRUE(make(notANumber).isBitwiseEqual(make(notANumber)));
  EXPECT_TRUE(Tensor(Type(ElemKind::Float, {0}))
                  .isBitwiseEqual(Tensor(Type(ElemKind::Float, {0}))));
  EXPECT_FALSE(Tensor(Type(ElemKind::Float, {0, 1}))
                   .isBitwiseEqual(Tensor(Type(ElemKind::Float, {0}))));
}

TEST(Tensor, ConvertsElements) {
  auto store = [](ElemKind kind, double value) {
    Tensor tensor(Type(kind, {1}));
    tensor.setFromDouble(0, value);
    return tensor;
  };
  EXPECT_EQ(store(ElemKind::Int8, 1000).getAsDouble(0), 127);
  EXPECT_EQ(store(ElemKind::Int8, -1000).getAsDouble(0), -128);
  EXPECT_EQ(store(ElemKind::UInt8, -3).getAsInt(0), 0);
  EXPECT_EQ(store(ElemKind::Int32, -2.75).getAsInt(0), -2);
  EXPECT_EQ(store(ElemKind::Int32, notANumber).getAsInt(0), 0);
  EXPECT_EQ(store(ElemKind::Int64, 1e300).getAsInt(0),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(store(ElemKind::UInt64, 0x1p63).data<uint64_t>()[0], uint64_t(1)
                                                                     << 63);
  EXPECT_EQ(store(ElemKind::Bool, 0.25).getAsDouble(0), 1);
  EXPECT_EQ(store(ElemKind::Float16, 0.1).getAsDouble(0), 0.0999755859375);
  // Beyond the 24 bits of a float.
  EXPECT_EQ(store(ElemKind::Double, 16777217.5).getAsInt(0), 16777217);
  EXPECT_EQ(store(ElemKind::Float, -infinity).getAsInt(0),
            std::numeric_limits<int64_t>::min());
}

//===- Comparison ---------------------------------------------------------===//

Tensor makeFloats(llvm::ArrayRef<float> values) {
  Tensor tensor(Type(ElemKind::Float, {int64_t(values.size())}));
  llvm::copy(values, tensor.data<float>().begin());
  return tensor;
}

/// Element \p index of what \p permutation makes of \p tensor.
static double getPermuted(const Tensor &tensor, DimsRef permutation,
                          int64_t index) {
  DimsRef shape = tensor.getType().getShape();
  Dims strides = getDenseStrides(shape);
  int64_t element = 0;
  for (int64_t axis : llvm::reverse(permutation)) {
    element += index % shape[axis] * strides[axis];
    index /= shape[axis];
  }
  return tensor.getAsDouble(element);
}

TEST(Tensor, PermutesDimensions) {
  const Dims shapes[] = {{},        {7},        {17, 33},      {33, 1},
                         {1, 40},   {2, 3, 17}, {33, 2, 16},   {3, 5, 7, 19},
                         {4, 0, 3}, {16, 1, 1}, {1, 18, 1, 17}};
  for (ElemKind kind :
       {ElemKind::Int8, ElemKind::Float16, ElemKind::Float, ElemKind::Double})
    for (const Dims &shape : shapes) {
      Tensor tensor(Type(kind, shape));
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        tensor.setFromDouble(i, double(i % 127));
      Dims permutation;
      for (size_t d = 0; d < shape.size(); ++d)
        permutation.push_back(int64_t(d));
      do {
        Tensor result = permute(tensor, permutation);
        Dims expected;
        for (int64_t axis : permutation)
          expected.push_back(shape[size_t(axis)]);
        ASSERT_EQ(result.getType(), Type(kind, expected));
        for (int64_t i = 0; i < result.getNumElements(); ++i)
          ASSERT_EQ(result.getAsDouble(i), getPermuted(tensor, permutation, i))
              << result.getType().str() << " at " << i;
      } while (std::next_permutation(permutation.begin(), permutation.end()));
    }
}

TEST(Comparison, NamesTheElementFurthestOverItsTolerance) {
  // The first has the largest error and is within 1e-3 of itself.
  Tensor expected = makeFloats({1000, 0.5f, 2, 0});
  Tensor actual = makeFloats({1000.5f, 0.5f, 2.125f, 0.0625f});
  Comparison result = compareTensors(actual, expected, 1e-3, 1e-3);
  EXPECT_EQ(result.maxError, 0.5);
  EXPECT_EQ(result.maxErrorIndex, 0);
  EXPECT_EQ(result.numMismatches, 2);
  EXPECT_EQ(result.worstMismatch, 0.125);
  EXPECT_EQ(result.worstMismatchIndex, 2);
  EXPECT_EQ(compareTensors(actual, expected, 0.1, 0.1).numMismatches, 0);
}

TEST(Comparison, RootMeanSquare) {
  Type type(ElemKind::Float, {4});
  Tensor expected = Tensor::fromValues<float>(type, {3, -4, INFINITY, 0});
  Tensor actual = Tensor::fromValues<float>(type, {3, -4.5, INFINITY, 0});
  EXPECT_DOUBLE_EQ(compareTensors(actual, expected, 0, 0).getRelativeRms(),
                   0.1);
}

TEST(Comparison, InfinitiesAndNaNMustBeExpected) {
  Tensor expected =
      makeFloats({infinity, -infinity, notANumber, infinity, 1, 1});
  EXPECT_EQ(compareTensors(expected, expected, 1e-3, 0).numMismatches, 0);
  Tensor actual =
      makeFloats({1e30f, infinity, 0, notANumber, notANumber, -infinity});
  for (double rtol : {0.0, 1e-3}) {
    Comparison result = compareTensors(actual, expected, rtol, 1e-3);
    EXPECT_EQ(result.numMismatches, 6);
    EXPECT_EQ(result.worstMismatch, infinity);
    EXPECT_EQ(result.worstMismatchIndex, 0);
  }
}

} // namespace
