//===- TFLiteSignalTest.cpp - Features of sound ---------------------------===//
//
// The custom operators of TensorFlow Lite Micro on both back ends, beside what
// they stand for: a Fourier transform and a logarithm of doubles, square roots
// of integers, and so on.
//
//===----------------------------------------------------------------------===//

#include "TFLiteRuns.h"
#include "flatbuffers/flexbuffers.h"
#include "gmock/gmock.h"
#include <complex>
#include <random>

using namespace glowish;
using testing::HasSubstr;
using tflite::schema::TensorType;
using Doubles = std::vector<double>;
using Options = std::vector<std::pair<const char *, int64_t>>;

namespace {

/// An input or output of a model; the elements of a constant.
struct SignalTensor {
  TensorType type;
  int32_t size;
  std::vector<uint8_t> bytes = {};
};

} // namespace

static std::vector<uint8_t> writeOptions(const Options &options) {
  flexbuffers::Builder builder;
  builder.Map([&] {
    for (auto [name, value] : options)
      builder.Int(name, value);
  });
  builder.Finish();
  return builder.GetBuffer();
}

/// A model of one operator, whose inputs are called x0, ..., and its outputs
/// y0, ...
static std::string makeModel(const char *name,
                             const std::vector<SignalTensor> &inputs,
                             const std::vector<SignalTensor> &outputs,
                             const Options &options) {
  TFLiteModel model;
  std::vector<int32_t> numbers, given, results;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    std::string own = "x" + std::to_string(i);
    numbers.push_back(
        model.tensor(own.c_str(), {input.size}, input.type, {}, input.bytes));
    if (input.bytes.empty())
      given.push_back(numbers.back());
  }
  for (auto [i, output] : llvm::enumerate(outputs)) {
    std::string own = "y" + std::to_string(i);
    results.push_back(model.tensor(own.c_str(), {output.size}, output.type));
  }
  model.custom(name, numbers, results, writeOptions(options));
  return model.finish(given, results);
}

static SignalTensor makeInt16s(std::vector<int16_t> values) {
  return {TensorType::INT16, int32_t(values.size()), getTFLiteBytes(values)};
}

TEST(TFLiteSignal, Window) {
  std::string bytes = makeModel(
      "SignalWindow",
      {{TensorType::INT16, 5}, makeInt16s({4096, 1, -1, 32767, -32768})},
      {{TensorType::INT16, 5}}, {{"shift", 12}});
  auto run =
      runTFLiteEverywhere(bytes, {{{"x0", {-32768, -1, -1, 32767, 32767}}}})[0];
  EXPECT_EQ(run["y0"], (Doubles{-32768, -1, 0, 32767, -32768}));
}

TEST(TFLiteSignal, AutoScale) {
  std::string bytes = makeModel(
      "SignalFftAutoScale", {{TensorType::INT16, 3}},
      {{TensorType::INT16, 3}, {TensorType::INT32, 1}}, {{"unused", 0}});
  auto runs = runTFLiteEverywhere(bytes, {{{"x0", {1, -3, 0}}},
                                          {{"x0", {0, 0, 0}}},
                                          {{"x0", {16383, 0, 0}}},
                                          {{"x0", {5, -32768, 0}}}});
  EXPECT_EQ(runs[0]["y0"], (Doubles{8192, -24576, 0}));
  EXPECT_EQ(runs[0]["y1"], (Doubles{13}));
  EXPECT_EQ(runs[1]["y0"], (Doubles{0, 0, 0}));
  EXPECT_EQ(runs[1]["y1"], (Doubles{0}));
  EXPECT_EQ(runs[2]["y0"], (Doubles{32766, 0, 0}));
  EXPECT_EQ(runs[3]["y0"], (Doubles{5, -32768, 0}));
  EXPECT_EQ(runs[3]["y1"], (Doubles{0}));
}

/// Roundings make some units of the last place of difference, and more with
/// more steps; rows shorter than the transform have zeros behind them.
TEST(TFLiteSignal, Rfft) {
  std::mt19937 random(1);
  for (int length : {4, 8, 16, 32, 128, 512})
    for (int size : {length, length - 3}) {
      std::string bytes = makeModel("SignalRfft", {{TensorType::INT16, size}},
                                    {{TensorType::INT16, length + 2}},
                                    {{"fft_length", length}});
      Doubles x(static_cast<size_t>(size));
      for (double &value : x)
        value = double(int(random() % 65535) - 32767);
      auto run = runTFLiteEverywhere(bytes, {{{"x0", x}}})[0];
      ASSERT_EQ(run["y0"].size(), size_t(length + 2));
      for (int k = 0; k <= length / 2; ++k) {
        std::complex<double> sum;
        for (int i = 0; i < size; ++i)
          sum += x[size_t(i)] * std::polar(1.0, -2 * M_PI * i * k / length);
        sum /= length;
        EXPECT_NEAR(run["y0"][size_t(2 * k)], sum.real(), 3) << length;
        EXPECT_NEAR(run["y0"][size_t(2 * k + 1)], sum.imag(), 3) << length;
      }
    }
  EXPECT_THAT(getTFLiteError(makeModel("SignalRfft", {{TensorType::INT16, 6}},
                                       {{TensorType::INT16, 14}},
                                       {{"fft_length", 12}})),
              HasSubstr("fft_length is 12; accepted: powers of two"));
  EXPECT_THAT(
      getTFLiteError(makeModel("SignalRfft", {{TensorType::INT16, 9}},
                               {{TensorType::INT16, 10}}, {{"fft_length", 8}})),
      HasSubstr("rows of at most fft_length elements"));
}

TEST(TFLiteSignal, Energy) {
  std::string bytes = makeModel("SignalEnergy", {{TensorType::INT16, 8}},
                                {{TensorType::UINT32, 4}},
                                {{"start_index", 1}, {"end_index", 3}});
  auto run = runTFLiteEverywhere(
      bytes, {{{"x0", {9, 9, 3, -4, -32768, -32768, 9, 9}}}})[0];
  EXPECT_EQ(run["y0"], (Doubles{0, 25, 2147483648, 0}));
}

/// Two bands: what rises to the first one is the first entry.
TEST(TFLiteSignal, FilterBank) {
  auto make = [](std::vector<int16_t> starts) {
    return makeModel("SignalFilterBank",
                     {{TensorType::UINT32, 5},
                      makeInt16s({1, 2, 3, 4, 5}),
                      makeInt16s({10, 20, 30, 40, 50}),
                      makeInt16s(starts),
                      makeInt16s({0, 1, 3}),
                      makeInt16s({1, 2, 2})},
                     {{TensorType::UINT64, 2}}, {{"num_channels", 2}});
  };
  auto run = runTFLiteEverywhere(make({0, 1, 3}),
                                 {{{"x0", {1, 10, 100, 4294967295, 7}}}})[0];
  EXPECT_EQ(run["y0"],
            (Doubles{10 * 1 + 2 * 10 + 3 * 100,
                     20 * 10 + 30 * 100 + 4 * 4294967295.0 + 5 * 7}));
  EXPECT_THAT(getTFLiteError(make({0, 1, 4})),
              HasSubstr("band 2 is not within 5 frequencies"));
}

/// Refused before anything of their size is made.
TEST(TFLiteSignal, RefusesHugeBands) {
  std::vector<int16_t> zeros(4000), widths(4000, INT16_MAX);
  EXPECT_THAT(
      getTFLiteError(makeModel("SignalFilterBank",
                               {{TensorType::UINT32, 40000},
                                makeInt16s({1}),
                                makeInt16s({1}),
                                makeInt16s(zeros),
                                makeInt16s(zeros),
                                makeInt16s(widths)},
                               {{TensorType::UINT64, 3999}},
                               {{"num_channels", 3999}})),
      HasSubstr("its bands have 262136000 factors; accepted: at most 1048576"));
}

TEST(TFLiteSignal, SquareRoot) {
  Doubles x = {0, 1, 2, 3, 6, 7, 65535.0 * 65535, 4294967295, 4294967296};
  for (int e = 33; e < 64; ++e)
    for (double offset : {-4096.0, -1.0, 0.0, 1.0, 4097.0})
      x.push_back(std::ldexp(1, e) + (e < 53 ? offset : 0));
  for (double root : {65536.0, 94906265.0})
    for (double offset : {-1.0, 0.0, 1.0, root, root + 1})
      x.push_back(root * root + offset);
  x.push_back(18446744073709549568.0);
  for (int shift : {0, 3}) {
    std::string bytes = makeModel(
        "SignalFilterBankSquareRoot",
        {{TensorType::UINT64, int32_t(x.size())}, {TensorType::INT32, 1}},
        {{TensorType::UINT32, int32_t(x.size())}}, {{"unused", 0}});
    auto run =
        runTFLiteEverywhere(bytes, {{{"x0", x}, {"x1", {double(shift)}}}})[0];
    for (size_t i = 0; i < x.size(); ++i) {
      uint64_t number = uint64_t(x[i]), root = 0;
      for (int bit = 31; bit >= 0; --bit)
        if (uint64_t next = root | (uint64_t(1) << bit); next * next <= number)
          root = next;
      uint64_t most = number >> 32 ? UINT32_MAX : UINT16_MAX;
      if (number - root * root > root && root != most)
        ++root;
      EXPECT_EQ(run["y0"][i], double(root >> shift)) << number;
    }
  }
}

/// The noise is kept from run to run, with other weights for odd bands.
TEST(TFLiteSignal, SpectralSubtraction) {
  for (bool clamps : {false, true}) {
    std::string bytes = makeModel(
        "SignalFilterBankSpectralSubtraction", {{TensorType::UINT32, 3}},
        {{TensorType::UINT32, 3}, {TensorType::UINT32, 3}},
        {{"alternate_one_minus_smoothing", 15401},
         {"alternate_smoothing", 983},
         {"clamping", clamps},
         {"min_signal_remaining", 819},
         {"num_channels", 3},
         {"one_minus_smoothing", 15975},
         {"smoothing", 409},
         {"smoothing_bits", 10},
         {"spectral_subtraction_bits", 14}});
    const std::vector<Doubles> inputs = {
        {1000, 1000, 0}, {4000000, 3, 70}, {10, 0, 1}, {20, 4194303, 60000}};
    std::vector<TFLiteRun> given;
    for (const Doubles &input : inputs)
      given.push_back({{"x0", input}});
    auto runs = runTFLiteEverywhere(bytes, given);
    uint64_t noise[3] = {};
    for (size_t r = 0; r < inputs.size(); ++r)
      for (size_t i = 0; i < 3; ++i) {
        uint64_t x = uint64_t(inputs[r][i]), scaled = x << 10 & UINT32_MAX;
        noise[i] = (i % 2 ? scaled * 983 + noise[i] * 15401
                          : scaled * 409 + noise[i] * 15975) >>
                   14;
        uint64_t subtracted = std::min(noise[i], scaled);
        if (clamps)
          noise[i] = subtracted;
        uint64_t rest = std::max((scaled - subtracted) >> 10, x * 819 >> 14);
        EXPECT_EQ(runs[r]["y0"][i], double(rest)) << r << ", " << i;
        EXPECT_EQ(runs[r]["y1"][i], double(noise[i])) << r << ", " << i;
      }
  }
}

/// A table in which the gain is the number of bits of the noise, and between
/// powers of two is what the coefficients say.
TEST(TFLiteSignal, Gain) {
  std::vector<int16_t> table(125);
  table[1] = 100;
  for (int bits = 2; bits <= 32; ++bits) {
    table[size_t(4 * bits - 6)] = int16_t(200 * bits);
    table[size_t(4 * bits - 5)] = int16_t(150);
    table[size_t(4 * bits - 4)] = int16_t(-50);
  }
  Doubles noise = {0, 1, 2, 3, 4, 5, 1000, 1024, 1500, 4294967295};
  Doubles signal = {7, 90000, 500, 300, 1, 20000, 40, 5000, 123456, 99};
  std::string bytes = makeModel("SignalPCAN",
                                {{TensorType::UINT32, int32_t(signal.size())},
                                 {TensorType::UINT32, int32_t(noise.size())},
                                 makeInt16s(table)},
                                {{TensorType::UINT32, int32_t(noise.size())}},
                                {{"snr_shift", 2}});
  auto run = runTFLiteEverywhere(bytes, {{{"x0", signal}, {"x1", noise}}})[0];
  for (size_t i = 0; i < noise.size(); ++i) {
    double gain = noise[i] == 2 ? 400 : 100 * noise[i];
    if (noise[i] > 2) {
      int bits = std::ilogb(noise[i]) + 1;
      // From one power of two to the next, in steps of 2^-10.
      double part = std::floor(std::ldexp(noise[i], 11 - bits)) - 1024;
      double sum = std::floor(-50 * part / 32) + 150 * 32;
      gain = std::floor(sum * part / 32768 + .5) + 200 * bits;
    }
    double ratio = std::floor(signal[i] * gain / 4);
    double expected = ratio < 8192 ? std::floor(ratio * ratio / (1 << 20))
                                   : std::floor(ratio / 64) - 64;
    EXPECT_EQ(run["y0"][i], expected) << i;
  }
}

/// Between the numbers of the table the operator hardly interpolates.
TEST(TFLiteSignal, Logarithm) {
  Doubles x = {0,   1,    2,     3,     10,      127,
               128, 1000, 65535, 65536, 1000003, 536870911};
  std::string bytes = makeModel(
      "SignalFilterBankLog", {{TensorType::UINT32, int32_t(x.size())}},
      {{TensorType::INT16, int32_t(x.size())}},
      {{"output_scale", 1600}, {"input_correction_bits", 3}});
  auto run = runTFLiteEverywhere(bytes, {{{"x0", x}}})[0];
  EXPECT_EQ(run["y0"][0], 0);
  for (size_t i = 1; i < x.size(); ++i)
    EXPECT_NEAR(run["y0"][i], std::min(std::log(x[i] * 8) * 1600, 32767.0), 4)
        << x[i];
}

TEST(TFLiteSignal, RefusesOptions) {
  EXPECT_THAT(getTFLiteError(makeModel(
                  "SignalWindow", {{TensorType::INT16, 1}, makeInt16s({1})},
                  {{TensorType::INT16, 1}}, {{"shift", 40}})),
              HasSubstr("option shift is 40; accepted: 0 to 31"));
  TFLiteModel model;
  int x = model.tensor("x", {4}, TensorType::INT16),
      y = model.tensor("y", {6}, TensorType::INT16);
  model.custom("SignalRfft", {x}, {y}, {1, 2, 3, 4});
  EXPECT_THAT(getTFLiteError(model.finish({x}, {y})),
              HasSubstr("its options are"));
}
