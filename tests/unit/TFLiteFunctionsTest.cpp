//===- TFLiteFunctionsTest.cpp - Functions of TensorFlow Lite -------------===//
//
// Operators on elements and matrices, against what they compute of floats.
//
//===----------------------------------------------------------------------===//

#include "ExtentRuns.h"
#include "TFLiteRuns.h"
#include "gmock/gmock.h"
#include <cmath>

using namespace glowish;
using testing::HasSubstr;
using tflite::schema::BuiltinOperator;
using tflite::schema::TensorType;
namespace schema = tflite::schema;
using Doubles = std::vector<double>;

static TFLiteScales makeScales(float scale, int64_t zeroPoint) {
  return {{scale}, {zeroPoint}};
}

/// A model of y = \p kind(x), elements of \p type.
static std::string makeUnary(BuiltinOperator kind, TensorType type, int count,
                             TFLiteScales from = {}, TFLiteScales to = {}) {
  TFLiteModel model;
  int x = model.tensor("x", {count}, type, from);
  int y = model.tensor("y", {count}, type, to);
  model.op(kind, {x}, {y});
  return model.finish({x}, {y});
}

static Doubles getIntegers(int first, int count, int step = 1) {
  Doubles values;
  for (int i = 0; i < count; ++i)
    values.push_back(first + i * step);
  return values;
}

//===- Elements -----------------------------------------------------------===//

TEST(TFLiteFunctions, Relu0To1) {
  std::string floats =
      makeUnary(BuiltinOperator::RELU_0_TO_1, TensorType::FLOAT32, 5);
  EXPECT_EQ(
      runTFLiteEverywhere(floats, {{{"x", {-3, -0.0, 0.25, 1, 7}}}})[0]["y"],
      (Doubles{0, 0, 0.25, 1, 1}));
  // 1 is 16 steps of the output above its zero point.
  std::string bytes =
      makeUnary(BuiltinOperator::RELU_0_TO_1, TensorType::INT8, 5,
                makeScales(0.125f, 4), makeScales(0.0625f, -10));
  EXPECT_EQ(runTFLiteEverywhere(bytes, {{{"x", {-128, 4, 5, 11, 60}}}})[0]["y"],
            (Doubles{-10, -10, -8, 4, 6}));
  EXPECT_THAT(getTFLiteError(makeUnary(BuiltinOperator::RELU_0_TO_1,
                                       TensorType::INT32, 5)),
              HasSubstr("node 'y' (RELU_0_TO_1): input 0 ('x') is int32<5>; "
                        "accepted: float"));
}

TEST(TFLiteFunctions, Atan2) {
  TFLiteModel model;
  int y = model.tensor("y", {8}, TensorType::FLOAT32);
  int x = model.tensor("x", {8}, TensorType::FLOAT32);
  int z = model.tensor("z", {8}, TensorType::FLOAT32);
  model.op(BuiltinOperator::ATAN2, {y, x}, {z});
  Doubles ys = {1, 1, -1, -1, 0, 2, -3, 0}, xs = {1, -1, -1, 1, -2, 0, 0, 5};
  std::string bytes = model.finish({y, x}, {z});
  for (bool isCPU : {false, true}) {
    auto runs = llvm::cantFail(
        runTFLite(*createBackend(isCPU), bytes, {{{"y", ys}, {"x", xs}}}, {}));
    for (size_t i = 0; i < ys.size(); ++i)
      EXPECT_NEAR(runs[0]["z"][i], std::atan2(ys[i], xs[i]), 1e-6);
  }
  TFLiteModel integers;
  int a = integers.tensor("a", {2}, TensorType::INT32);
  int b = integers.tensor("b", {2}, TensorType::INT32);
  integers.op(BuiltinOperator::ATAN2, {a, a}, {b});
  EXPECT_THAT(getTFLiteError(integers.finish({a}, {b})),
              HasSubstr("node 'b' (ATAN2): input 0 ('a') is int32<2>; "
                        "accepted: float, double"));
}

/// The integers of 1 / sqrt(x) in steps of \p scale.
static double getRoot(double x, double scale) {
  return 1 / std::sqrt(x) / scale;
}

TEST(TFLiteFunctions, RsqrtInt8) {
  constexpr float from = 0.05f, to = 0.02f;
  constexpr int zero = -20, toZero = -128;
  auto runs = runTFLiteEverywhere(
      makeUnary(BuiltinOperator::RSQRT, TensorType::INT8, 256,
                makeScales(from, zero), makeScales(to, toZero)),
      {{{"x", getIntegers(-128, 256)}}});
  const Doubles &result = runs[0]["y"];
  ASSERT_EQ(result.size(), 256u);
  for (int i = 0; i < 256; ++i) {
    int steps = i - 128 - zero;
    double expected =
        steps <= 0
            ? 127
            : std::min(127.0,
                       std::round(getRoot(steps * double(from), double(to))) +
                           toZero);
    // Numbers of 20 bits are rounded before the steps are.
    EXPECT_NEAR(result[size_t(i)], expected, steps <= 0 ? 0 : 1) << i - 128;
  }
}

TEST(TFLiteFunctions, RsqrtInt16) {
  constexpr float from = 0.001f, to = 0.0002f;
  auto runs =
      runTFLiteEverywhere(makeUnary(BuiltinOperator::RSQRT, TensorType::INT16,
                                    6, makeScales(from, 0), makeScales(to, 0)),
                          {{{"x", {-32768, -200, -128, 12800, 25000, 32767}}}});
  const Doubles &result = runs[0]["y"];
  for (int i : {0, 1, 2})
    EXPECT_EQ(result[size_t(i)], 32767);
  EXPECT_NEAR(result[3], getRoot(12.8, double(to)), 1);
  EXPECT_NEAR(result[4], getRoot(25, double(to)), 1);
  EXPECT_NEAR(result[5], getRoot(32.767, double(to)), 1);
}

TEST(TFLiteFunctions, ExpAndLogInt16) {
  Doubles xs = getIntegers(-32768, 64, 1040);
  constexpr float from = 1.0f / 16384, to = 1.0f / 4096;
  Doubles exponentials =
      runTFLiteEverywhere(makeUnary(BuiltinOperator::EXP, TensorType::INT16, 64,
                                    makeScales(from, 0), makeScales(to, 0)),
                          {{{"x", xs}}})[0]["y"];
  for (size_t i = 0; i < xs.size(); ++i)
    EXPECT_NEAR(exponentials[i],
                std::min(32767.0, std::exp(xs[i] * double(from)) / double(to)),
                1.6);
  Doubles logarithms =
      runTFLiteEverywhere(makeUnary(BuiltinOperator::LOG, TensorType::INT16, 64,
                                    makeScales(from, 0), makeScales(to, 0)),
                          {{{"x", xs}}})[0]["y"];
  for (size_t i = 0; i < xs.size(); ++i)
    if (xs[i] <= 0)
      EXPECT_EQ(logarithms[i], -32768);
    else if (xs[i] > 3000)
      EXPECT_NEAR(logarithms[i], std::log(xs[i] * double(from)) / double(to),
                  1.6);
  // So large that floats have no exponential.
  EXPECT_EQ(
      runTFLiteEverywhere(makeUnary(BuiltinOperator::EXP, TensorType::INT16, 2,
                                    makeScales(1, 0), makeScales(1, 0)),
                          {{{"x", {-30000, 30000}}}})[0]["y"],
      (Doubles{0, 32767}));
}

TEST(TFLiteFunctions, RefusesFunctionsOfIntegers) {
  auto getError = [](BuiltinOperator kind, TensorType type, TFLiteScales from,
                     TFLiteScales to) {
    return getTFLiteError(makeUnary(kind, type, 2, from, to));
  };
  EXPECT_THAT(getError(BuiltinOperator::RSQRT, TensorType::UINT8,
                       makeScales(1, 0), makeScales(1, 0)),
              HasSubstr("node 'y' (RSQRT): input 0 ('x') is uint8<2>, "
                        "quantized; accepted: int8"));
  EXPECT_THAT(getError(BuiltinOperator::RSQRT, TensorType::INT16,
                       makeScales(1, 5), makeScales(1, 0)),
              HasSubstr("input 0 ('x') is int16<2>, quantized; accepted: int16 "
                        "with the zero point 0, as the output"));
  EXPECT_THAT(getError(BuiltinOperator::LOG, TensorType::INT16,
                       makeScales(1, 0), makeScales(1, 5)),
              HasSubstr("node 'y' (LOG): input 0 ('x') is int16<2>, quantized; "
                        "accepted: int16 with the zero point 0"));
  EXPECT_THAT(
      getError(BuiltinOperator::RSQRT, TensorType::INT16, makeScales(1, 0), {}),
      HasSubstr("output 0 ('y') is int16<2>; accepted: integers with "
                "one scale"));
  EXPECT_THAT(getError(BuiltinOperator::RSQRT, TensorType::INT32, {}, {}),
              HasSubstr("accepted: float"));
}

//===- Matrices -----------------------------------------------------------===//

/// y = a b, or with the columns of either as its rows, in int16.
static std::string makeMatMul(std::vector<int32_t> a, std::vector<int32_t> b,
                              std::vector<int32_t> y, bool turnsA, bool turnsB,
                              TFLiteScales aScales = {{0.01f}, {0}},
                              TensorType bType = TensorType::INT16) {
  TFLiteModel model;
  int first = model.tensor("a", a, TensorType::INT16, aScales);
  int second = model.tensor("b", b, bType, {{0.02f}, {0}});
  int result = model.tensor("y", y, TensorType::INT16, {{0.75f}, {0}});
  model.op(BuiltinOperator::BATCH_MATMUL, {first, second}, {result},
           schema::CreateBatchMatMulOptions(model.fbb(), turnsA, turnsB));
  return model.finish({first, second}, {result});
}

TEST(TFLiteFunctions, BatchMatMulInt16) {
  constexpr int batch = 2, rows = 3, depth = 5, columns = 4;
  Doubles a, b;
  for (int i = 0; i < batch * rows * depth; ++i)
    a.push_back(i * 7919 % 65536 - 32768);
  for (int i = 0; i < depth * columns; ++i)
    b.push_back(i * 27449 % 65536 - 32768);
  for (bool turnsA : {false, true})
    for (bool turnsB : {false, true}) {
      auto getA = [&](int n, int m, int k) {
        return a[size_t(n * rows * depth +
                        (turnsA ? k * rows + m : m * depth + k))];
      };
      auto getB = [&](int k, int n) {
        return b[size_t(turnsB ? n * depth + k : k * columns + n)];
      };
      Doubles expected;
      for (int n = 0; n < batch; ++n)
        for (int m = 0; m < rows; ++m)
          for (int c = 0; c < columns; ++c) {
            double sum = 0;
            for (int k = 0; k < depth; ++k)
              sum += getA(n, m, k) * getB(k, c);
            expected.push_back(
                std::clamp(sum * 0.01 * 0.02 / 0.75, -32768.0, 32767.0));
          }
      std::string model = makeMatMul(turnsA ? std::vector{batch, depth, rows}
                                            : std::vector{batch, rows, depth},
                                     turnsB ? std::vector{1, columns, depth}
                                            : std::vector{1, depth, columns},
                                     {batch, rows, columns}, turnsA, turnsB);
      Doubles result =
          runTFLiteEverywhere(model, {{{"a", a}, {"b", b}}})[0]["y"];
      ASSERT_EQ(result.size(), expected.size());
      // Multipliers have 16 bits.
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(result[i], expected[i], 1 + std::abs(expected[i]) / 16384);
    }
}

TEST(TFLiteFunctions, RefusesMatMulsOfInt16) {
  EXPECT_THAT(getTFLiteError(makeMatMul({2, 3}, {3, 2}, {2, 2}, false, false,
                                        {{0.5f}, {7}})),
              HasSubstr("node 'y' (BATCH_MATMUL): input 0 ('a') is int16<2x3>, "
                        "quantized; accepted: int16 with the zero point 0"));
  EXPECT_THAT(getTFLiteError(makeMatMul({2, 3}, {3, 2}, {2, 2}, false, false,
                                        {{0.5f}, {0}}, TensorType::INT8)),
              HasSubstr("node 'y' (BATCH_MATMUL): input 1 ('b') is int8<3x2>, "
                        "quantized; accepted: int16"));
  EXPECT_THAT(
      getTFLiteError(makeMatMul({1, 40000}, {40000, 1}, {1, 1}, false, false)),
      HasSubstr("accepted: sums of at most 32768 elements"));
}

/// They were multiplied as floats.
TEST(TFLiteFunctions, RefusesMatMulsOfIntegers) {
  TFLiteModel model;
  int x = model.tensor("x", {2, 2}, TensorType::INT64);
  int y = model.tensor("y", {2, 2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::BATCH_MATMUL, {x, x}, {y});
  EXPECT_THAT(getTFLiteError(model.finish({x}, {y})),
              HasSubstr("node 'y' (BATCH_MATMUL): input 0 ('x') is int64<2x2>; "
                        "accepted: floats, quantized integers"));
}
