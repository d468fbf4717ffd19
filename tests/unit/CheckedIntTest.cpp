//===- CheckedIntTest.cpp - Arithmetic at the borders of int64_t ----------===//

#include "glowish/Base/CheckedInt.h"
#include "Messages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

constexpr int64_t lowest = INT64_MIN, highest = INT64_MAX;
constexpr std::nullopt_t none = std::nullopt;
using Number = std::optional<int64_t>;

//===- CheckedInt ---------------------------------------------------------===//

TEST(CheckedInt, HasNoValueBeyondTheBorders) {
  EXPECT_EQ((CheckedInt(highest) + 0).get(), highest);
  EXPECT_EQ((CheckedInt(highest) + 1).get(), none);
  EXPECT_EQ((CheckedInt(lowest) + -1).get(), none);
  EXPECT_EQ((CheckedInt(lowest) - 1).get(), none);
  EXPECT_EQ((CheckedInt(-1) - highest).get(), lowest);
  EXPECT_EQ((-CheckedInt(lowest)).get(), none);
  EXPECT_EQ((-CheckedInt(lowest + 1)).get(), highest);
  EXPECT_EQ((CheckedInt(int64_t(1) << 31) * (int64_t(1) << 31)).get(),
            int64_t(1) << 62);
  EXPECT_EQ((CheckedInt(int64_t(1) << 32) * (int64_t(1) << 31)).get(), none);
  EXPECT_EQ((CheckedInt(lowest) * -1).get(), none);
}

TEST(CheckedInt, TakesUnsignedNumbers) {
  EXPECT_EQ(CheckedInt(uint64_t(highest)).get(), highest);
  EXPECT_EQ(CheckedInt(uint64_t(highest) + 1).get(), none);
  EXPECT_EQ((CheckedInt(uint8_t(3)) - size_t(4)).get(), -1);
}

TEST(CheckedInt, Divides) {
  EXPECT_EQ((CheckedInt(7) / -2).get(), -3);
  EXPECT_EQ((CheckedInt(7) % -2).get(), 1);
  EXPECT_EQ(divideDown(7, -2).get(), -4);
  EXPECT_EQ(divideDown(-7, 2).get(), -4);
  EXPECT_EQ(divideDown(-8, 2).get(), -4);
  EXPECT_EQ(divideDown(lowest, 2).get(), lowest / 2);
  for (int64_t x : {lowest, int64_t(0), highest}) {
    EXPECT_EQ((CheckedInt(x) / 0).get(), none);
    EXPECT_EQ((CheckedInt(x) % 0).get(), none);
    EXPECT_EQ(divideDown(x, 0).get(), none);
  }
  EXPECT_EQ((CheckedInt(lowest) / -1).get(), none);
  EXPECT_EQ(divideDown(lowest, -1).get(), none);
  EXPECT_EQ((CheckedInt(lowest) % -1).get(), 0);
  EXPECT_EQ(getRestDown(7, -2).get(), -1);
  EXPECT_EQ(getRestDown(-7, 2).get(), 1);
  EXPECT_EQ(getRestDown(-8, 2).get(), 0);
  EXPECT_EQ(getRestDown(lowest, -1).get(), 0);
  EXPECT_EQ(getRestDown(lowest, highest).get(), highest - 1);
  EXPECT_EQ(getRestDown(7, 0).get(), none);
}

TEST(CheckedInt, StaysWithoutValue) {
  CheckedInt number = CheckedInt(highest) + 1;
  EXPECT_EQ((number - 1).get(), none);
  EXPECT_EQ((number * 0).get(), none);
  EXPECT_EQ((-number).get(), none);
  EXPECT_EQ((0 / number).get(), none);
  EXPECT_EQ((CheckedInt(0) % number).get(), none);
  EXPECT_EQ(divideDown(1, number).get(), none);
  EXPECT_FALSE(number.isBetween(lowest, highest));
  number = 1;
  EXPECT_EQ((number += 2).get(), 3);
  EXPECT_EQ((number *= highest).get(), none);
}

TEST(CheckedInt, IsBetween) {
  EXPECT_TRUE((CheckedInt(2) * 3).isBetween(6, 6));
  EXPECT_FALSE((CheckedInt(2) * 3).isBetween(7, highest));
  EXPECT_FALSE((CheckedInt(2) * 3).isBetween(lowest, 5));
}

TEST(CheckedInt, OfFloats) {
  EXPECT_EQ(toInt64(-3.75), -3);
  EXPECT_EQ(toInt64(-0x1p63), lowest);
  EXPECT_EQ(toInt64(0x1.fffffffffffffp62), highest - 1023);
  EXPECT_EQ(toInt64(0x1p63), none);
  EXPECT_EQ(toInt64(-0x1.0000000000001p63), none);
  EXPECT_EQ(toInt64(std::numeric_limits<double>::infinity()), none);
  EXPECT_EQ(toInt64(-std::numeric_limits<double>::infinity()), none);
  EXPECT_EQ(toInt64(std::numeric_limits<double>::quiet_NaN()), none);
}

} // namespace
