//===- OpenReshapeTest.cpp - Shapes of extents that runs decide -----------===//

#include "Common/OpenReshape.h"
#include "Messages.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

/// Returns the extents in \p text, which blanks separate.
std::vector<Extent> parse(llvm::StringRef text) {
  std::vector<Extent> extents;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  text.split(parts, ' ', -1, false);
  for (llvm::StringRef part : parts)
    extents.push_back(*Extent::parse(part));
  return extents;
}

/// Returns the extents of the shape \p dims of elements in dimensions \p from
/// by the rule that is asked for, or the error. N and M are from 1 on, Z and Y
/// may be 0.
struct Shapes {
  EmptyRest rule;

  std::string operator()(llvm::StringRef from, llvm::StringRef dims) const {
    SymbolRanges symbols(
        {{"N", {1, 6}}, {"M", {1, 5}}, {"Z", {0, 4}}, {"Y", {0, 4}}});
    auto shape = completeShape(parse(dims), parse(from), symbols, rule);
    if (!shape)
      return llvm::toString(shape.takeError());
    std::string text;
    for (const Extent &extent : *shape)
      text += (text.empty() ? "" : " ") + extent.str();
    return text;
  }
};

const Shapes torch{EmptyRest::Refused}, caffe2{EmptyRest::Zero},
    tflite{EmptyRest::Ratio};
const char *const noZero =
    "beside -1 no extent that is 0, or may be 0 in a run";

} // namespace

TEST(OpenReshape, DividesElements) {
  for (const Shapes &shape : {torch, caffe2, tflite}) {
    EXPECT_EQ(shape("2 6", "-1 3"), "4 3");
    EXPECT_EQ(shape("2 6", "12"), "12");
    EXPECT_EQ(shape("0 6", "-1 3"), "0 3");
    EXPECT_EQ(shape("N 6", "-1 3"), "2*N 3");
    EXPECT_EQ(shape("N 6", "N -1"), "N 6");
    EXPECT_EQ(shape("N M", "-1"), "M*N");
    EXPECT_EQ(shape("N M", "M -1"), "M N");
    EXPECT_EQ(shape("Z 6", "-1 3"), "2*Z 3");
    // Each run requires that nothing remains.
    EXPECT_EQ(shape("N", "4 -1"), "4 N//4");
    EXPECT_EQ(shape("2 6", "5 -1"), "the new shape is [5, -1]; accepted: a "
                                    "shape of 12 elements");
    EXPECT_EQ(shape("2 6", "5"),
              "the new shape is [5]; accepted: a shape of 12 elements");
    EXPECT_EQ(shape("N 6", "M -1"),
              "the new shape is [M, -1]; accepted: beside -1 extents that "
              "divide the number of elements, 6*N");
    for (const char *dims : {"-1 -1", "-2 -1", "-3", "N-2"})
      EXPECT_THAT(shape("2 6", dims), HasSubstr("extents of 0 and more"));
    EXPECT_THAT(shape("2 6", "9223372036854775807 2 -1"),
                HasSubstr("accepted: fewer elements"));
  }
}

TEST(OpenReshape, FollowsTheFrameworkWithoutElements) {
  EXPECT_THAT(torch("0 3", "0 -1"), HasSubstr(noZero));
  EXPECT_EQ(caffe2("0 3", "0 -1"), "0 0");
  EXPECT_EQ(tflite("0 3", "0 -1"), "0 3");
  EXPECT_EQ(tflite("0 3", "0 2 -1"), "0 2 1");
  EXPECT_EQ(tflite("0 6 0", "2 0 -1"), "2 0 3");
  for (const Shapes &shape : {torch, caffe2, tflite})
    EXPECT_EQ(shape("2 3", "0 -1"),
              "the new shape is [0, -1]; accepted: beside -1 extents that "
              "divide the number of elements, 6");
  EXPECT_EQ(caffe2("0 N", "N -1"), "N 0");
  EXPECT_EQ(caffe2("0 N", "Z -1"), "Z 0");
}

TEST(OpenReshape, DecidesWhatRunsWithoutElementsHave) {
  // PyTorch refuses these runs.
  EXPECT_EQ(torch("Z 3", "Z -1"), "Z 3");
  EXPECT_THAT(torch("Z 3", "0 -1"), HasSubstr(noZero));
  // In Caffe2 the columns would be 0 where Z is.
  EXPECT_THAT(caffe2("Z 3", "Z -1"), HasSubstr(noZero));
  // TensorFlow Lite divides by the extents that are not 0.
  EXPECT_EQ(tflite("Z 3", "Z -1"), "Z 3");
  EXPECT_EQ(tflite("Z N 4", "2 Z -1"), "2 Z 2*N");
  EXPECT_EQ(tflite("Z 0 N", "0 Z -1"), "0 Z N");
  for (auto [from, dims] : {std::pair("Z Y", "Z -1"),
                            {"2*Z", "Z -1"},
                            {"Z Z", "Z -1"},
                            {"Z 0", "Z -1"}})
    EXPECT_THAT(tflite(from, dims), HasSubstr(noZero)) << from << " " << dims;
}
