//===- ImporterAttentionTest.cpp - Attention of ONNX ----------------------===//

#include "RunText.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

/// Attention of two samples with two queries, whose scores are all equal, so
/// that the result is the mean of the values of the keys that are seen: 3, 6
/// and 9. \p lengths are the keys that are not padding; they are known only
/// when the model runs.
TextModel padded(std::vector<int64_t> lengths, std::string attributes,
                 std::string more = "", int opset = 24, std::string mask = "") {
  TextModel model;
  model.opset = opset;
  model.inputs = {{"x", {int64_t(lengths.size())}}};
  model.body = floats("q", {2, 1, 2, 1}, {0, 0, 0, 0}) +
               floats("k", {2, 1, 3, 1}, {1, 2, 3, 4, 5, 6}) +
               floats("v", {2, 1, 3, 1}, {3, 6, 9, 3, 6, 9}) +
               int64s("l", lengths) +
               onnxNode("Cast", {"x"}, intAttr("to", 7), "zeros") +
               onnxNode("Add", {"l", "zeros"}, "", "lengths") + more +
               onnxNode("Attention", {"q", "k", "v", mask, "", "", "lengths"},
                        attributes);
  return model;
}

/// The result on both back ends, which must agree.
std::string runBoth(const std::function<TextModel()> &make) {
  std::string interpreted = runText(make());
  EXPECT_EQ(runText(make(), llvm::cantFail(CPUBackend::create({}))),
            interpreted);
  return interpreted;
}

} // namespace

TEST(ImporterAttention, PaddedKeys) {
  EXPECT_EQ(runBoth([] { return padded({2, 3}, ""); }),
            "float<2x1x2x1>: 4.50 4.50 6 6");
  // A query without keys has the result 0.
  EXPECT_EQ(runBoth([] { return padded({1, 0}, ""); }),
            "float<2x1x2x1>: 3 3 0 0");
  // The same with other than plain attention.
  EXPECT_EQ(runBoth([] { return padded({2, 0}, floatAttr("softcap", 1)); }),
            "float<2x1x2x1>: 4.50 4.50 0 0");
}

TEST(ImporterAttention, PaddedCausalKeys) {
  // The last query is that of the last key which is not padding.
  EXPECT_EQ(runBoth([] { return padded({3, 2}, intAttr("is_causal", 1)); }),
            "float<2x1x2x1>: 4.50 6 3 4.50");
  EXPECT_EQ(runBoth([] { return padded({1, 3}, intAttr("is_causal", 1)); }),
            "float<2x1x2x1>: 0 3 4.50 6");
}

TEST(ImporterAttention, PaddedAndMaskedKeys) {
  std::string mask = integers("m", 9, {2, 3}, {0, 1, 1, 1, 0, 1});
  EXPECT_EQ(runBoth([&] { return padded({2, 3}, "", mask, 24, "m"); }),
            "float<2x1x2x1>: 6 3 7.50 6");
}

TEST(ImporterAttention, PaddedKeysThatAreRefused) {
  EXPECT_THAT(padded({1, 2}, "", "", 23).importError(),
              HasSubstr("input 6 ('lengths') is not supported in opset 23"));
  EXPECT_THAT(padded({1, 2, 3}, "").importError(),
              HasSubstr("input 6 is int64<3>; accepted: int64<2>, one element "
                        "per sample"));
}
