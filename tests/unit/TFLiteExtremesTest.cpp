//===- TFLiteExtremesTest.cpp - Integers at the borders of int64_t --------===//
//
// Operands and options of TensorFlow Lite's operators whose sums and products
// int64_t does not have. Each of these was undefined behaviour.
//
//===----------------------------------------------------------------------===//

#include "TFLiteRuns.h"
#include "gmock/gmock.h"

using namespace glowish;
using namespace tflite::schema;
using testing::HasSubstr;

static constexpr int64_t lowest = INT64_MIN, highest = INT64_MAX;

namespace {

/// A model of one operator.
struct OneOperator : TFLiteModel {
  std::vector<int> inputs;
  int x = 0;

  explicit OneOperator(std::vector<int32_t> shape) {
    x = tensor("x", std::move(shape), TensorType::FLOAT32);
    inputs.push_back(x);
  }
  OneOperator &operand(std::vector<int64_t> values) {
    int extent = int(values.size());
    inputs.push_back(tensor("operand", {extent}, TensorType::INT64, {},
                            getTFLiteBytes(std::move(values))));
    return *this;
  }
  template <typename... OptionsT>
  std::string getError(BuiltinOperator kind, OptionsT... options) {
    int y = tensor("y", {}, TensorType::FLOAT32);
    op(kind, inputs, {y}, options...);
    return getTFLiteError(finish({x}, {y}));
  }
};

} // namespace

TEST(TFLiteExtremes, Slices) {
  for (int64_t start : {lowest, lowest + 1, int64_t(5), highest})
    EXPECT_THAT(OneOperator({4}).operand({start}).operand({-1}).getError(
                    BuiltinOperator::SLICE),
                HasSubstr("a slice of 4 begins at " + std::to_string(start)));
  for (int64_t end : {lowest, highest})
    for (int64_t step : {lowest, int64_t(-1), int64_t(1), highest})
      for (bool isOffset : {false, true}) {
        OneOperator model({4});
        model.operand({1}).operand({end}).operand({step});
        EXPECT_THAT(model.getError(BuiltinOperator::STRIDED_SLICE,
                                   CreateStridedSliceOptions(
                                       model.fbb(), 0, 0, 0, 0, 0, isOffset)),
                    testing::Not(HasSubstr("internal")))
            << end << " by " << step;
      }
}

TEST(TFLiteExtremes, Parts) {
  for (std::vector<int64_t> sizes :
       {std::vector<int64_t>{highest, highest, -1}, {-1, highest, highest}}) {
    OneOperator model({4});
    model.operand(std::move(sizes)).operand({0});
    EXPECT_THAT(model.getError(BuiltinOperator::SPLIT_V,
                               CreateSplitVOptions(model.fbb(), 1)),
                HasSubstr("a size for each output, of all elements"));
  }
}

TEST(TFLiteExtremes, Blocks) {
  OneOperator flat({0, 0, 0, 1 << 30});
  EXPECT_THAT(flat.getError(BuiltinOperator::SPACE_TO_DEPTH,
                            CreateSpaceToDepthOptions(flat.fbb(), INT32_MAX)),
              HasSubstr("blocks of 2147483647 x 2147483647 pixels"));
  OneOperator cropped({4, 2, 2, 1});
  cropped.operand({2, 2}).operand({highest, highest, 0, 0});
  EXPECT_THAT(cropped.getError(BuiltinOperator::BATCH_TO_SPACE_ND),
              HasSubstr("no more than the pixels there are to crop"));
}

TEST(TFLiteExtremes, TransposedConvolutions) {
  OneOperator model({1, 2, 2, 1});
  int shape = model.tensor(
      "shape", {4}, TensorType::INT32, {},
      getTFLiteBytes<int32_t>({INT32_MAX, INT32_MAX, INT32_MAX, 1}));
  int filter = model.tensor("filter", {1, 2, 2, 1}, TensorType::FLOAT32, {},
                            getTFLiteBytes<float>({1, 2, 3, 4}));
  model.inputs = {shape, filter, model.x};
  EXPECT_THAT(model.getError(BuiltinOperator::TRANSPOSE_CONV,
                             CreateTransposeConvOptions(model.fbb(),
                                                        Padding::VALID, 1, 1)),
              HasSubstr("'y' (TRANSPOSE_CONV)"));
}
