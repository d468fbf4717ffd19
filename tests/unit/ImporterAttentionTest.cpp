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
  EXPECT_THAT(
      padded({1, 2, 3}, "").importError(),
      HasSubstr(
          "input 6 ('lengths') is int64<3>; accepted: int64<2>, one element "
          "per sample"));
}

/// Attention of three queries at equal scores to the values 1, 10, 100 and
/// 1000, the first of which is a past if \p hasPast. All operands are computed
/// when the model runs.
static TextModel windowed(std::string attributes, bool hasPast,
                          int opset = 25) {
  TextModel model;
  model.opset = opset;
  model.inputs = {{"x", {1}}};
  int64_t keys = hasPast ? 3 : 4;
  std::vector<float> values = {1, 10, 100, 1000};
  if (hasPast)
    values.erase(values.begin());
  model.body = floats("q0", {1, 1, 3, 1}, {0, 0, 0}) +
               onnxNode("Add", {"q0", "x"}, "", "q") +
               floats("k", {1, 1, keys, 1}, std::vector<float>(keys, 1)) +
               floats("v", {1, 1, keys, 1}, values);
  std::vector<std::string> inputs = {"q", "k", "v"};
  if (hasPast) {
    model.body +=
        floats("pk", {1, 1, 1, 1}, {1}) + floats("pv", {1, 1, 1, 1}, {1});
    inputs.insert(inputs.end(), {"", "pk", "pv"});
  }
  model.body += onnxNode("Attention", inputs, std::move(attributes));
  return model;
}

TEST(ImporterAttention, Windows) {
  auto run = [](std::string attributes, bool hasPast = false) {
    return runBoth([&] { return windowed(attributes, hasPast); });
  };
  auto left = [](int64_t size) { return intAttr("left_window_size", size); };
  auto right = [](int64_t size) { return intAttr("right_window_size", size); };
  std::string prefix = "float<1x1x3x1>: ";
  std::string all = prefix + "277.75 277.75 277.75";
  EXPECT_EQ(run(""), all);
  EXPECT_EQ(run(left(-1) + right(-1)), all);
  EXPECT_EQ(run(right(0)), prefix + "1 5.50 37");
  EXPECT_EQ(run(intAttr("is_causal", 1)), prefix + "1 5.50 37");
  EXPECT_EQ(run(left(0) + right(0)), prefix + "1 10 100");
  EXPECT_EQ(run(left(1) + right(0)), prefix + "1 5.50 55");
  EXPECT_EQ(run(left(1) + intAttr("is_causal", 1)), prefix + "1 5.50 55");
  EXPECT_EQ(run(left(0) + right(1)), prefix + "5.50 55 550");
  EXPECT_EQ(run(left(0)), prefix + "277.75 370 550");
  // Within a causal mask, what is behind does not count.
  EXPECT_EQ(run(right(2) + intAttr("is_causal", 1)), prefix + "1 5.50 37");
  // The first query is that of the second key.
  EXPECT_EQ(run(left(0) + right(0), true), prefix + "10 100 1000");
  EXPECT_EQ(run(left(1) + right(0), true), prefix + "5.50 55 550");
}

TEST(ImporterAttention, PaddedWindows) {
  // The last query is that of the last key which is not padding.
  EXPECT_EQ(runBoth([] {
              return padded({3, 2},
                            intAttr("left_window_size", 0) +
                                intAttr("right_window_size", 0),
                            "", 25);
            }),
            "float<2x1x2x1>: 6 9 3 6");
  EXPECT_EQ(runBoth([] {
              return padded({1, 3},
                            intAttr("left_window_size", 1) +
                                intAttr("is_causal", 1),
                            "", 25);
            }),
            "float<2x1x2x1>: 0 3 4.50 7.50");
}

TEST(ImporterAttention, WindowsThatAreRefused) {
  EXPECT_THAT(windowed(intAttr("left_window_size", -2), false).importError(),
              HasSubstr("attributes 'left_window_size' and "
                        "'right_window_size' are -2 and -1; accepted: -1 (not "
                        "limited) or more"));
  EXPECT_THAT(
      windowed(intAttr("left_window_size", 1), false, 24).importError(),
      HasSubstr("attribute 'left_window_size' is not supported in opset 24"));
}

//===- Linear attention ---------------------------------------------------===//

/// Linear attention of two steps to a past state of 10, which both outputs
/// show; queries, keys and values are halves and the state is a float if
/// \p hasHalves.
static TextModel linear(bool hasHalves, std::vector<int64_t> stateShape,
                        llvm::StringRef shown = "y") {
  TextModel model;
  model.opset = 27;
  model.inputs = {{"x", {1}}};
  int kind = hasHalves ? 10 : 1;
  int64_t numStates = 1;
  for (int64_t dim : stateShape)
    numStates *= dim;
  model.body = floats("k0", {1, 2, 1}, {1, 2}) +
               onnxNode("Add", {"k0", "x"}, "", "k1") +
               onnxNode("Cast", {"k1"}, intAttr("to", kind), "k") +
               floats("s", stateShape, std::vector<float>(numStates, 10)) +
               onnxNode("LinearAttention", {"k", "k", "k", "s"},
                        "output: \"present\" " + intAttr("q_num_heads", 1) +
                            intAttr("kv_num_heads", 1) +
                            stringAttr("update_rule", "linear"),
                        "result") +
               onnxNode("Identity", {shown == "y" ? "result" : "present"});
  return model;
}

TEST(ImporterAttention, LinearStates) {
  auto run = [](bool hasHalves, llvm::StringRef shown) {
    return runBoth([&] { return linear(hasHalves, {1, 1, 1, 1}, shown); });
  };
  EXPECT_EQ(run(false, "y"), "float<1x2x1>: 11 30");
  EXPECT_EQ(run(false, "present"), "float<1x1x1x1>: 15");
  // The state keeps its own kind.
  EXPECT_EQ(run(true, "y"), "float16<1x2x1>: 11 30");
  EXPECT_EQ(run(true, "present"), "float<1x1x1x1>: 15");
}

TEST(ImporterAttention, LinearStatesThatAreRefused) {
  EXPECT_THAT(linear(false, {1}).importError(),
              HasSubstr("(LinearAttention): input 3 ('s') is float<1>; "
                        "accepted: [1, 1, 1, 1], a matrix for each head"));
  EXPECT_THAT(linear(false, {1, 1, 1, 2}).importError(),
              HasSubstr("input 3 ('s') is float<1x1x1x2>; accepted: [1, 1, 1, "
                        "1], a matrix for each head"));
}
