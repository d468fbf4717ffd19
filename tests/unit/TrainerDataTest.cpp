//===- TrainerDataTest.cpp - Data sets and checkpoints of model-trainer ---===//

#include "Messages.h"
#include "TestFolder.h"
#include "common/ImageFile.h"
#include "common/Jpeg.h"
#include "model-trainer/Checkpoint.h"
#include "model-trainer/DataSet.h"
#include "gmock/gmock.h"
#include <set>

using namespace glowish;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
class TrainerData : public TestFolder {};

SampleArray makeArray(Tensor values) {
  SampleArray array;
  array.name = "x";
  array.origin = "x.npy";
  array.values = std::move(values);
  return array;
}
} // namespace

TEST_F(TrainerData, ShufflesAllSamplesByTheSeed) {
  for (int64_t count : {0, 1, 2, 7, 33, 1000}) {
    std::vector<int64_t> order = shuffleSamples(count, 1, 0);
    std::set<int64_t> seen(order.begin(), order.end());
    EXPECT_EQ(int64_t(order.size()), count);
    EXPECT_EQ(int64_t(seen.size()), count);
    if (count) {
      EXPECT_EQ(*seen.begin(), 0);
      EXPECT_EQ(*seen.rbegin(), count - 1);
    }
  }
  EXPECT_EQ(shuffleSamples(33, 1, 5), shuffleSamples(33, 1, 5));
  EXPECT_NE(shuffleSamples(33, 1, 5), shuffleSamples(33, 1, 6));
  EXPECT_NE(shuffleSamples(33, 1, 5), shuffleSamples(33, 2, 5));
}

TEST_F(TrainerData, CopiesAndConverts) {
  SampleArray array = makeArray(Tensor::fromValues<uint8_t>(
      Type(ElemKind::UInt8, {2, 2, 1, 2}), {1, 2, 3, 4, 5, 6, 7, 8}));
  Tensor bytes(Type(ElemKind::UInt8, {2, 2, 1, 2}));
  copySamples(array, {1, 0}, bytes);
  EXPECT_THAT(bytes.data<uint8_t>(), ElementsAre(5, 6, 7, 8, 1, 2, 3, 4));
  // A mean for each of two channels, the first dimension of a sample.
  array.means = {1, 3};
  array.scale = 0.5;
  Tensor floats(Type(ElemKind::Float, {1, 2, 1, 2}));
  copySamples(array, {0}, floats);
  EXPECT_THAT(floats.data<float>(), ElementsAre(0, 0.5, 0, 0.5));
  // The last dimension.
  array.channelAxis = 2;
  copySamples(array, {1}, floats);
  EXPECT_THAT(floats.data<float>(), ElementsAre(2, 1.5, 3, 2.5));
  SampleArray labels = makeArray(
      Tensor::fromValues<uint8_t>(Type(ElemKind::UInt8, {3}), {9, 0, 200}));
  Tensor classes(Type(ElemKind::Int64, {2}));
  copySamples(labels, {2, 0}, classes);
  EXPECT_THAT(classes.data<int64_t>(), ElementsAre(200, 9));
}

TEST_F(TrainerData, ChecksShapesAndKinds) {
  SampleArray array = makeArray(Tensor(Type(ElemKind::Float, {5, 3})));
  auto check = [&](const Type &type, bool sameShape) {
    return getMessage(checkSamples(array, type, 2, sameShape));
  };
  EXPECT_EQ(check(Type(ElemKind::Float, {2, 3}), true), "");
  EXPECT_EQ(check(Type(ElemKind::Float, {2, 1, 3}), false), "");
  EXPECT_EQ(check(Type(ElemKind::Float, {6}), false), "");
  EXPECT_EQ(check(Type(ElemKind::Float, {2, 1, 3}), true),
            "'x.npy' has samples of float<3>; 'x' is float<2x1x3> for a batch "
            "of 2");
  EXPECT_THAT(check(Type(ElemKind::Int64, {2, 3}), true),
              HasSubstr("'x' is int64<2x3>"));
  EXPECT_THAT(check(Type(ElemKind::Float, {3, 3}), true),
              HasSubstr("accepted: a first dimension of -batch-size (2)"));
}

TEST_F(TrainerData, ScalesImages) {
  Image uniform = {3, 2, 3, std::vector<uint8_t>(18, 77)};
  for (unsigned size : {1u, 2u, 7u, 33u}) {
    Image scaled = scaleImage(uniform, size, 5);
    EXPECT_EQ(scaled.pixels, std::vector<uint8_t>(size * 5 * 3, 77));
  }
  // Between two pixels, their mean; twice as wide, a ramp.
  Image pair = {2, 1, 1, {0, 100}};
  EXPECT_THAT(scaleImage(pair, 1, 1).pixels, ElementsAre(50));
  EXPECT_THAT(scaleImage(pair, 4, 1).pixels, ElementsAre(0, 25, 75, 100));
  EXPECT_EQ(scaleImage(pair, 2, 1).pixels, pair.pixels);
}

TEST_F(TrainerData, ReadsJpeg) {
  // Of one colour.
  JpegImage image = {.width = 17, .height = 3, .pixels = {}};
  for (unsigned i = 0; i < image.width * image.height; ++i)
    image.pixels.insert(image.pixels.end(), {200, 40, 90});
  std::string file = makeJpeg(image);
  put("a.jpg", file);
  llvm::Expected<Image> colors = readImage(in("a.jpg"), 3);
  ASSERT_TRUE(bool(colors)) << getMessage(colors.takeError());
  EXPECT_EQ(colors->width, 17u);
  EXPECT_EQ(colors->height, 3u);
  ASSERT_EQ(colors->pixels.size(), 17u * 3 * 3);
  for (size_t i = 0; i < colors->pixels.size(); ++i)
    EXPECT_NEAR(colors->pixels[i], (std::array{200, 40, 90})[i % 3], 3);
  llvm::Expected<Image> grey = readImage(in("a.jpg"), 1);
  ASSERT_TRUE(bool(grey)) << getMessage(grey.takeError());
  // The luminance of ITU-R BT.601.
  for (uint8_t pixel : grey->pixels)
    EXPECT_NEAR(pixel, 0.299 * 200 + 0.587 * 40 + 0.114 * 90, 3);
  put("cut.jpg", file.substr(0, file.size() - 20));
  EXPECT_THAT(getMessage(readImage(in("cut.jpg"), 3).takeError()),
              HasSubstr("cut.jpg': not an image (PNG, JPEG, PPM, PGM), "
                        "or a corrupt JPEG file"));
}

TEST_F(TrainerData, RefusesWhatIsNoImage) {
  put("a.png", "\x89PNG nonsense");
  put("b.jpg", "nonsense");
  EXPECT_THAT(getMessage(readImage(in("a.png"), 1).takeError()),
              HasSubstr("a.png': not a PNG image"));
  EXPECT_THAT(getMessage(readImage(in("b.jpg"), 3).takeError()),
              HasSubstr("b.jpg': not an image (PNG, JPEG, PPM, PGM), or "
                        "a corrupt JPEG file"));
  EXPECT_TRUE(isImageName("a/B.JPEG"));
  EXPECT_FALSE(isImageName("a/jpg"));
}

static Checkpoint makeCheckpoint() {
  Checkpoint checkpoint;
  checkpoint.seed = 7;
  checkpoint.batchSize = 3;
  checkpoint.numSamples = 10;
  checkpoint.shuffles = true;
  checkpoint.step = 5;
  checkpoint.metrics = {1.5, 2, 6, 4};
  EpochResult result;
  result.epoch = 1;
  result.loss = 0.25;
  result.validationLoss = 0.5;
  checkpoint.history = {result};
  checkpoint.variables.push_back(
      {"w",
       Tensor::fromValues<float>(Type(ElemKind::Float, {1, 3}), {1, -2, 0.5})});
  checkpoint.variables.push_back({"none", Tensor(Type(ElemKind::Float, {0}))});
  checkpoint.variables.push_back(
      {"training.steps",
       Tensor::fromValues<int64_t>(Type(ElemKind::Int64, {}), {5})});
  return checkpoint;
}

TEST_F(TrainerData, ReadsWhatWasWritten) {
  Checkpoint written = makeCheckpoint();
  ASSERT_EQ(getMessage(writeCheckpoint(written, in("state"))), "");
  llvm::Expected<Checkpoint> read = readCheckpoint(in("state"));
  ASSERT_TRUE(bool(read)) << getMessage(read.takeError());
  EXPECT_EQ(read->seed, 7u);
  EXPECT_EQ(read->batchSize, 3);
  EXPECT_EQ(read->numSamples, 10);
  EXPECT_TRUE(read->shuffles);
  EXPECT_EQ(read->step, 5u);
  EXPECT_EQ(read->metrics.getLoss(), 0.75);
  EXPECT_EQ(read->metrics.numCorrect, 4);
  ASSERT_EQ(read->history.size(), 1u);
  EXPECT_EQ(read->history[0].loss, 0.25);
  EXPECT_EQ(read->history[0].accuracy, std::nullopt);
  EXPECT_EQ(read->history[0].validationLoss, 0.5);
  ASSERT_EQ(read->variables.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read->variables[i].name, written.variables[i].name);
    EXPECT_TRUE(
        read->variables[i].value.isBitwiseEqual(written.variables[i].value));
  }
}

TEST_F(TrainerData, RefusesCorruptedCheckpoints) {
  ASSERT_EQ(getMessage(writeCheckpoint(makeCheckpoint(), in("state"))), "");
  std::string bytes = read("state");
  auto getError = [&](std::string changed) {
    put("changed", changed);
    return getMessage(readCheckpoint(in("changed")).takeError());
  };
  for (size_t i = 0; i < bytes.size(); i += 7) {
    std::string changed = bytes;
    changed[i] ^= 4;
    EXPECT_THAT(getError(changed), HasSubstr("checkpoint")) << i;
  }
  for (size_t size = 0; size < bytes.size(); size += 11)
    EXPECT_THAT(getError(bytes.substr(0, size)), HasSubstr("checkpoint"))
        << size;
  EXPECT_THAT(getError("something else"), HasSubstr("is not a checkpoint"));
  // Version 1 had another checksum.
  bytes[8] = 1;
  EXPECT_THAT(getError(bytes),
              HasSubstr("is a checkpoint of version 1; accepted: 2; without "
                        "the file, training starts again"));
}
