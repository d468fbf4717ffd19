//===- CalibrationTest.cpp - Histograms and ranges ------------------------===//

#include "glowish/Optimizer/Quantize.h"
#include "glowish/Support/Random.h"
#include "gtest/gtest.h"

using namespace glowish;

static Histogram count(std::vector<float> values, unsigned numBins = 2048) {
  Histogram histogram(numBins);
  histogram.add(values);
  return histogram;
}

//===- Histograms ---------------------------------------------------------===//

TEST(Histogram, CountsInBinsThatBeginAtMultiples) {
  Histogram histogram = count({0.0f, 1.0f, 2.5f, -1.5f}, 16);
  EXPECT_EQ(histogram.getMin(), -1.5);
  EXPECT_EQ(histogram.getMax(), 2.5);
  EXPECT_EQ(histogram.getExponent(), -1);
  EXPECT_EQ(histogram.getWidth(), 0.5);
  EXPECT_EQ(histogram.getEdge(0), -1.5);
  EXPECT_EQ(histogram.getCounts().vec(),
            (std::vector<uint64_t>{1, 0, 0, 1, 0, 1, 0, 0, 1}));
  EXPECT_EQ(histogram.getTotal(), 4u);
}

TEST(Histogram, DoesNotDependOnTheOrder) {
  Random random(3);
  std::vector<float> values;
  for (int i = 0; i < 5000; ++i)
    values.push_back(random.uniform(-1, 1) * float(1 << 2 * (i / 1000)));
  Histogram whole = count(values, 100), parts(100), reversed(100);
  for (size_t i = 0; i < values.size(); i += 500)
    parts.add(llvm::ArrayRef(values).slice(i, 500));
  for (size_t i = values.size(); i > 0; i -= 250)
    reversed.add(llvm::ArrayRef(values).slice(i - 250, 250));
  for (const Histogram *other : {&parts, &reversed}) {
    EXPECT_EQ(other->getMin(), whole.getMin());
    EXPECT_EQ(other->getMax(), whole.getMax());
    EXPECT_EQ(other->getExponent(), whole.getExponent());
    EXPECT_EQ(other->getCounts(), whole.getCounts());
  }
  EXPECT_EQ(whole.getTotal(), values.size());
  EXPECT_LE(whole.getCounts().size(), 100u);
  EXPECT_GT(whole.getCounts().size(), 48u);
}

TEST(Histogram, OneValueAndExtremes) {
  EXPECT_EQ(count({0.0f, -0.0f}).getCounts().vec(), std::vector<uint64_t>{2});
  EXPECT_EQ(count({7.0f, 7.0f}).getCounts().size(), 1u);
  Histogram wide = count({-3e38f, 3e38f, 1e-40f});
  EXPECT_EQ(wide.getTotal(), 3u);
  EXPECT_LE(wide.getCounts().size(), 2048u);
  Histogram none = count({INFINITY, NAN});
  EXPECT_TRUE(none.isEmpty());
  EXPECT_TRUE(none.hasNonFinite());
}

TEST(RangeProfile, IsReadAsItWasWritten) {
  RangeProfile profile;
  profile.model = "net: 'a'";
  profile.checksum = 0x8123456789abcdef;
  profile.values.emplace("x", count({0.1f, -1.0f / 3, 5, 1e-20f}, 32));
  profile.values.emplace("y:1", count({0}, 32));
  profile.channels["x"] = {{-0.1f, 0}, {0, 1.0f / 3}};
  profile.means["x"] = {-1.0f / 3, 0, 2};
  profile.floatNodes = {"c", "d: 'e'"};
  std::string text = writeRangeProfile(profile);
  auto read = readRangeProfile(text);
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(writeRangeProfile(*read), text);
  EXPECT_EQ(read->model, profile.model);
  EXPECT_EQ(read->checksum, profile.checksum);
  EXPECT_EQ(read->floatNodes, profile.floatNodes);
  EXPECT_EQ(read->channels, profile.channels);
  EXPECT_EQ(read->means, profile.means);
  const Histogram &x = read->values.at("x");
  EXPECT_EQ(float(x.getMin()), -1.0f / 3);
  EXPECT_EQ(x.getMax(), 5);
  EXPECT_EQ(x.getCounts(), profile.values.at("x").getCounts());
}

static std::string readError(const std::string &text) {
  auto read = readRangeProfile(text);
  return read ? "" : llvm::toString(read.takeError());
}

TEST(RangeProfile, SaysWhatIsWrong) {
  EXPECT_EQ(readError(""), "this is no profile; accepted: a file that "
                           "`model-runner -dump-profile=FILE` has written");
  EXPECT_EQ(readError("version: 2\nother: 3\n"),
            "the profile is of format version 2; accepted: 1");
  EXPECT_EQ(readError("version: 1\nmodel: a\nchecksum: 0x1\nvalues: []\n"),
            "line 1: missing required key 'max-bins'; accepted: a file that "
            "`model-runner -dump-profile=FILE` has written");
  std::string head = "version: 1\nmodel: a\nchecksum: 0x1\nmax-bins: 16\n"
                     "values:\n  - name: x\n    bin-exponent: 0\n";
  EXPECT_EQ(readError(head + "    min: 1\n    max: nan\n    counts: [1]\n"),
            "'x': the range is from 1.00 to nan; accepted: finite numbers in "
            "ascending order");
  EXPECT_EQ(readError(head + "    min: 1\n    max: 2\n    counts: [1]\n"),
            "'x': the histogram has 1 bins; the range has 2");
  EXPECT_EQ(readError(head + "    min: 1\n    max: 200\n    counts: [1]\n"),
            "'x': the bins are 2^0 wide; accepted: at least 2^4, with 16 "
            "bins");
  head += "    min: 1\n    max: 1\n    counts: [1]\n";
  EXPECT_EQ(readError(head + "    channel-means: [1, nan]\n"),
            "'x' has a channel with the mean nan; accepted: finite numbers");
  EXPECT_EQ(readError(head + "    channel-minima: [1, 2]\n"),
            "'x' has minima of 2 channels and maxima of 0");
  EXPECT_EQ(readError(head + "    channel-minima: [1]\n"
                             "    channel-maxima: [nan]\n"),
            "'x' has a channel from 1.00 to nan; accepted: finite numbers in "
            "ascending order");
}

//===- Scales and zero points ---------------------------------------------===//

using Schema = QuantizationSchema;
using Calibration = QuantizationCalibration;

static QuantizationParams makeParams(ElemKind kind, double scale, int zero) {
  return {kind, double(float(scale)), zero};
}

TEST(Quantization, ChoosesScales) {
  EXPECT_EQ(chooseQuantization({-1, 1.55}, Schema::Asymmetric),
            makeParams(ElemKind::UInt8, 0.01, 100));
  // Zero is in each range.
  EXPECT_EQ(chooseQuantization({1, 5.1}, Schema::Asymmetric),
            makeParams(ElemKind::UInt8, 0.02, 0));
  EXPECT_EQ(chooseQuantization({-5.1, -3}, Schema::Asymmetric),
            makeParams(ElemKind::UInt8, 0.02, 255));
  EXPECT_EQ(chooseQuantization({-2.54, 1}, Schema::Symmetric),
            makeParams(ElemKind::Int8, 0.02, 0));
  EXPECT_EQ(chooseQuantization({0, 2.55}, Schema::SymmetricWithUInt8),
            makeParams(ElemKind::UInt8, 0.01, 0));
  EXPECT_EQ(chooseQuantization({-1.27, 1}, Schema::SymmetricWithUInt8),
            makeParams(ElemKind::Int8, 0.01, 0));
  for (double most : {63.5, 40.0})
    EXPECT_EQ(chooseQuantization({-1, most}, Schema::SymmetricWithPower2Scale),
              makeParams(ElemKind::Int8, 0.5, 0));
}

TEST(Quantization, ValuesThatAreAllTheSame) {
  for (Schema schema :
       {Schema::Asymmetric, Schema::Symmetric, Schema::SymmetricWithUInt8,
        Schema::SymmetricWithPower2Scale}) {
    EXPECT_EQ(chooseQuantization({0, 0}, schema).scale, 1);
    EXPECT_GT(chooseQuantization({3, 3}, schema).scale, 3.0 / 256);
    EXPECT_LT(chooseQuantization({3, 3}, schema).scale, 3.0 / 60);
    EXPECT_GT(chooseQuantization({1e-44, 1e-44}, schema).scale, 1e-30);
  }
}

//===- Calibration --------------------------------------------------------===//

/// Numbers of a normal distribution, and one far away.
static std::vector<float> makeNormal(float outlier) {
  Random random(1);
  std::vector<float> values;
  for (int i = 0; i < 100000; ++i)
    values.push_back(random.normal());
  values.push_back(outlier);
  return values;
}

TEST(Calibration, CutsOffOutliers) {
  // Many of them: the square of an outlier's error counts.
  Histogram histogram = count(makeNormal(50));
  for (int i = 0; i < 40; ++i)
    histogram.add(makeNormal(0));
  ValueRange all = calibrate(histogram, Schema::Asymmetric, Calibration::None);
  EXPECT_EQ(all.max, 50);
  for (Calibration calibration :
       {Calibration::KL, Calibration::Percentile, Calibration::MeanSquare}) {
    for (Schema schema : {Schema::Asymmetric, Schema::Symmetric}) {
      ValueRange range = calibrate(histogram, schema, calibration);
      EXPECT_LT(range.max, 10) << int(calibration) << int(schema);
      EXPECT_GT(range.max, 2) << int(calibration) << int(schema);
      EXPECT_LT(range.min, -2) << int(calibration) << int(schema);
    }
  }
}

TEST(Calibration, KeepsWhatIsEvenlyDistributed) {
  std::vector<float> values;
  for (int i = 0; i <= 20000; ++i)
    values.push_back(float(i) / 10000);
  Histogram histogram = count(values);
  for (Calibration calibration :
       {Calibration::KL, Calibration::Percentile, Calibration::MeanSquare}) {
    ValueRange range = calibrate(histogram, Schema::Asymmetric, calibration);
    EXPECT_GT(range.max, 1.9) << int(calibration);
    EXPECT_LE(range.max, 2) << int(calibration);
  }
}

/// Where all numbers are on one side of 0, all that is cut off is at that end.
TEST(Calibration, PercentileOfOneSide) {
  std::vector<float> values;
  for (int i = 0; i < 9999; ++i)
    values.push_back(float(i) / 10000);
  values.push_back(10);
  ValueRange range =
      calibrate(count(values), Schema::Asymmetric, Calibration::Percentile);
  EXPECT_EQ(range.min, 0);
  EXPECT_LT(range.max, 1.1);
  // Half of it is less than one number.
  values[0] = -1;
  range = calibrate(count(values), Schema::Asymmetric, Calibration::Percentile);
  EXPECT_EQ(range.min, -1);
  EXPECT_EQ(range.max, 10);
}

TEST(Calibration, OneNumber) {
  for (float number : {0.0f, 3.0f, -3.0f})
    for (Calibration calibration :
         {Calibration::KL, Calibration::Percentile, Calibration::MeanSquare})
      for (Schema schema : {Schema::Asymmetric, Schema::Symmetric}) {
        QuantizationParams params = chooseQuantization(
            calibrate(count({number}), schema, calibration), schema);
        double integer =
            std::clamp(std::nearbyint(number / params.scale) + params.zeroPoint,
                       double(params.getLeast()), double(params.getGreatest()));
        EXPECT_NEAR((integer - params.zeroPoint) * params.scale, number, 0.03)
            << int(calibration) << int(schema);
      }
}
