//===- SoftFloatTest.cpp - Float arithmetic in integers -------------------===//
//
// The code that targets without a floating-point unit get runs here, too: its
// results must be those of this machine's instructions.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Math/SoftFloat.h"
#include "SoftFloatRuns.h"
#include "glowish/Support/Random.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace glowish;

namespace {

struct Case {
  int32_t x;
  float scale;
};

/// multiplyToNearest of each. \p slowResult: what the function for all numbers
/// gives instead of what it computes.
std::vector<int32_t> multiply(const std::vector<Case> &cases,
                              std::optional<int32_t> slowResult = {}) {
  struct Place {
    Case of;
    int32_t result;
  };
  std::vector<Place> places;
  for (const Case &c : cases)
    places.push_back({c, 0});
  runWithoutFloatUnit(places.data(), [&](KernelBuilder &b, llvm::Value *data) {
    if (slowResult) {
      llvm::Type *i32 = b.getInt32Ty();
      auto *slow = llvm::Function::Create(
          llvm::FunctionType::get(i32, {i32, b.getFloatTy()}, false),
          llvm::GlobalValue::InternalLinkage, "glowish.multiply_to_nearest",
          b.getFunction().getParent());
      llvm::IRBuilder<>(llvm::BasicBlock::Create(b.getContext(), "entry", slow))
          .CreateRet(b.getInt32(uint32_t(*slowResult)));
    }
    b.forLoop(int64_t(places.size()), [&](llvm::Value *i) {
      llvm::Value *place =
          b.getElement(data, ElemKind::Int32, b.addScaled(b.index(0), i, 3));
      auto at = [&](int64_t field) {
        return b.getElement(place, ElemKind::Int32, field);
      };
      llvm::Value *x = b.load(ElemKind::Int32, at(0), 1);
      llvm::Value *scale = b.load(ElemKind::Float, at(1), 1);
      b.store(ElemKind::Int32, multiplyToNearest(b, x, scale), at(2));
    });
  });
  std::vector<int32_t> results;
  for (const Place &place : places)
    results.push_back(place.result);
  return results;
}

int32_t getNearest(const Case &c) {
  float rounded = std::rint(float(c.x) * c.scale);
  if (std::isnan(rounded))
    return 0;
  if (rounded >= 0x1p31f)
    return std::numeric_limits<int32_t>::max();
  return rounded < -0x1p31f ? std::numeric_limits<int32_t>::min()
                            : int32_t(rounded);
}

float makeScale(Random &random, int lowest, int highest) {
  auto exponent = lowest + int(random.below(uint64_t(highest - lowest + 1)));
  return std::ldexp(1 + float(random.below(1 << 23)) * 0x1p-23f, exponent);
}

} // namespace

/// Numbers of all widths and scales of all magnitudes.
TEST(SoftFloat, ScaledIntegers) {
  std::vector<Case> cases;
  std::vector<float> scales = {0.0f,        -0.0f,         1.0f,     -0.25f,
                               0x1p-2f,     0x1p-3f,       0x1p-26f, 0x1p-27f,
                               0x1.fp-130f, 0x1p127f,      INFINITY, -INFINITY,
                               NAN,         0x1.fffffep-3f};
  Random random(1);
  for (int i = 0; i < 200; ++i)
    scales.push_back(makeScale(random, -40, 3));
  std::vector<int32_t> numbers = {0, 1, -1};
  for (int bit = 1; bit < 32; ++bit)
    for (int64_t offset : {-1, 0, 1})
      for (int64_t sign : {-1, 1})
        numbers.push_back(int32_t(std::clamp<int64_t>(
            sign * ((int64_t(1) << bit) + offset), INT32_MIN, INT32_MAX)));
  for (int i = 0; i < 1000; ++i)
    numbers.push_back(int32_t(uint32_t(random.next()) >> random.below(32)));
  for (float scale : scales)
    for (int32_t x : numbers)
      cases.push_back({x, scale});
  std::vector<int32_t> results = multiply(cases);
  for (size_t i = 0; i < cases.size(); ++i)
    ASSERT_EQ(results[i], getNearest(cases[i]))
        << cases[i].x << " * " << cases[i].scale;
}

/// Near the middle between two integers, where a float is perhaps in the middle
/// and what it is rounded of is not.
TEST(SoftFloat, ScaledNearTheMiddle) {
  std::vector<Case> cases;
  Random random(2);
  for (int i = 0; i < 300000; ++i) {
    float scale = makeScale(random, -18, -3);
    // In parts of 1/512, of which the middle has some to both sides.
    double exact = double(random.below(1 << 16)) - (1 << 15) + 0.5 +
                   (double(random.below(9)) - 4) / 512;
    cases.push_back({int32_t(std::lrint(exact / double(scale))), scale});
  }
  // In the middle of the float's digits.
  for (int32_t odd = 1; odd < 4096; odd += 2)
    for (int32_t x = -64; x <= 64; ++x)
      cases.push_back({x, std::ldexp(float(odd), -13)});
  std::vector<int32_t> results = multiply(cases);
  unsigned numApart = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto &[x, scale] = cases[i];
    ASSERT_EQ(results[i], getNearest(cases[i])) << x << " * " << scale;
    numApart += results[i] != std::lrint(double(x) * double(scale));
  }
  // The cases are there that the test is for.
  EXPECT_GT(numApart, 50u);
}

/// What networks of 8 bits have seldom needs the function for all numbers.
TEST(SoftFloat, ScaledWithoutTheLibrary) {
  std::vector<Case> cases;
  Random random(3);
  for (int i = 0; i < 100000; ++i) {
    float scale = makeScale(random, -13, -4);
    double exact = double(random.below(1 << 10)) - 512 +
                   double(random.below(1 << 20)) * 0x1p-20;
    cases.push_back({int32_t(std::lrint(exact / double(scale))), scale});
  }
  constexpr int32_t slow = 1 << 20;
  std::vector<int32_t> results = multiply(cases, slow);
  auto numSlow = size_t(llvm::count(results, slow));
  EXPECT_GT(numSlow, 0u);
  EXPECT_LT(numSlow, cases.size() / 50);
}
