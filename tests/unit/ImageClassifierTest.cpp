//===- ImageClassifierTest.cpp - Images and answers of image-classifier ---===//

#include "Messages.h"
#include "TestFolder.h"
#include "image-classifier/Answer.h"
#include "image-classifier/Sample.h"
#include "gmock/gmock.h"
#include <cmath>

using namespace glowish;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class ImageClassifier : public TestFolder {
protected:
  /// The pixels of a file of these bytes.
  std::vector<uint8_t> readPixels(llvm::StringRef bytes, unsigned numChannels) {
    put("a.ppm", bytes);
    return llvm::cantFail(readImage(in("a.ppm"), numChannels)).pixels;
  }
  std::string readError(llvm::StringRef bytes) {
    put("a.ppm", bytes);
    return getMessage(readImage(in("a.ppm"), 3).takeError());
  }
};

std::vector<int64_t> getBest(std::vector<float> values, size_t topK) {
  Tensor tensor = Tensor::fromValues<float>(
      Type(ElemKind::Float, {int64_t(values.size())}), values);
  AnswerOptions options;
  options.topK = topK;
  std::vector<int64_t> best;
  for (const Answer::Class &entry :
       makeAnswer(tensor, 0, int64_t(values.size()), options).best)
    best.push_back(entry.index);
  return best;
}

} // namespace

TEST_F(ImageClassifier, ReadsNetpbm) {
  EXPECT_THAT(readPixels("P2\n3 1\n255\n0 7 255", 1), ElementsAre(0, 7, 255));
  EXPECT_THAT(readPixels("P2 # one\n#two\n 1 # three\n1 15 5", 3),
              ElementsAre(85, 85, 85));
  EXPECT_THAT(readPixels("P3 1 1 255 255 0 0", 1), ElementsAre(76));
  EXPECT_THAT(readPixels("P5 2 1 255\n#\n", 1), ElementsAre('#', '\n'));
  EXPECT_THAT(readPixels("P6\n1 1\n255\nabc", 3), ElementsAre('a', 'b', 'c'));
  // 16 bits: 0x8000 of 0xffff, 0x0101 of 0xffff.
  EXPECT_THAT(
      readPixels(llvm::StringRef("P5 2 1 65535 \x80\x00\x01\x01", 17), 1),
      ElementsAre(128, 1));
  // What comes after the image is another one.
  EXPECT_THAT(readPixels("P5 1 1 255 aP5 1 1 255 b", 1), ElementsAre('a'));
}

TEST_F(ImageClassifier, RefusesCorruptedNetpbm) {
  EXPECT_THAT(readError("P6 1 1 255 ab"), HasSubstr("it ends too early"));
  EXPECT_THAT(readError("P6 1 1 255"), HasSubstr("it ends too early"));
  EXPECT_THAT(readError("P6 1 1"), HasSubstr("a number is missing"));
  EXPECT_THAT(readError("P6 0 1 255 "),
              HasSubstr("0 by 1 pixels of up to 255"));
  EXPECT_THAT(readError("P6 1 1 0 a"), HasSubstr("1 by 1 pixels of up to 0"));
  EXPECT_THAT(readError("P6 1 1 65536 a"), HasSubstr("of up to 65536"));
  EXPECT_THAT(readError("P6 -1 1 255 a"), HasSubstr("a number is missing"));
  EXPECT_THAT(readError("P6 99999999999 1 255 a"),
              HasSubstr("a number is missing"));
  EXPECT_THAT(readError("P6 4000000000 4000000000 255 a"),
              HasSubstr("4000000000 by 4000000000 pixels; accepted"));
  EXPECT_THAT(readError("P3 1 1 100 101 0 0"),
              HasSubstr("a sample of 101; accepted: at most 100"));
  EXPECT_THAT(readError("P4 1 1 a"), HasSubstr("of the kind P4; accepted"));
}

TEST_F(ImageClassifier, RanksClasses) {
  float nan = std::nanf("");
  EXPECT_THAT(getBest({1, 3, 2}, 3), ElementsAre(1, 2, 0));
  EXPECT_THAT(getBest({2, 3, 3, 2}, 4), ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(getBest({nan, -1, nan, -INFINITY}, 4), ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(getBest({1, 2}, 5), ElementsAre(1, 0));
}

TEST_F(ImageClassifier, TakesSoftmaxOfLargeNumbers) {
  Tensor tensor = Tensor::fromValues<float>(Type(ElemKind::Float, {2, 2}),
                                            {0, 0, 1000, 1000});
  AnswerOptions options;
  options.topK = 2;
  options.softmax = true;
  Answer answer = makeAnswer(tensor, 2, 2, options);
  EXPECT_EQ(answer.best[0].score, 0.5);
  EXPECT_EQ(answer.best[1].score, 0.5);
  EXPECT_TRUE(answer.areProbabilities);
}

TEST_F(ImageClassifier, FillsIntegersRounded) {
  ParsedModel::StatedInput input = {"x", ElemKind::Int8, {2, 1, 1, 2}};
  SampleOptions options;
  options.low = -128;
  options.high = 127;
  options.means = {0.6};
  auto reader = llvm::cantFail(SampleReader::create(
      input, llvm::cantFail(findImageShape(input)), options));
  put("a.pgm", "P2 2 1 255 0 255");
  Tensor batch(Type(ElemKind::Int8, {2, 1, 1, 2}));
  llvm::cantFail(reader.read(in("a.pgm"), batch, 1));
  // -0.6 - 128 saturates.
  EXPECT_THAT(batch.data<int8_t>(), ElementsAre(0, 0, -128, 126));
}
