//===- ImporterGroupQueryTest.cpp - GroupQueryAttention -------------------===//

#include "RunText.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "gmock/gmock.h"
#include <cmath>

using namespace glowish;
using testing::HasSubstr;

namespace {

constexpr int int32Type = 6;

/// A node of com.microsoft.
std::string microsoftNode(llvm::StringRef type, std::vector<std::string> inputs,
                          std::string attributes, std::string outputs = "") {
  return onnxNode(type, std::move(inputs),
                  outputs + "domain: \"com.microsoft\" " + attributes, "y0");
}

std::string heads(int64_t query, int64_t key) {
  return intAttr("num_heads", query) + intAttr("kv_num_heads", key);
}

/// Lengths that are known only when the model runs: \p values less 1.
std::string lengths(std::vector<int64_t> values) {
  for (int64_t &value : values)
    --value;
  std::vector<int64_t> shape = {int64_t(values.size())};
  return integers("c", int32Type, shape, values) +
         onnxNode("Cast", {"x"}, intAttr("to", int32Type), "zero") +
         onnxNode("Add", {"c", "zero"}, "", "l");
}

/// A model that computes \p body, of which \p output is the result. x is 0.
TextModel model(std::string body, std::string output) {
  TextModel model;
  model.inputs = {{"x", {1}}};
  model.header = "opset_import { domain: \"com.microsoft\" version: 1 } ";
  model.body = body + onnxNode("Identity", {output});
  return model;
}

/// The result on both back ends, which must agree.
std::string runBoth(const std::function<TextModel()> &make) {
  std::string interpreted = runText(make());
  EXPECT_EQ(runText(make(), llvm::cantFail(CPUBackend::create({}))),
            interpreted);
  return interpreted;
}

/// One new token for each of two rows, behind up to two past ones. All scores
/// are 0: the result is the mean of the values that are seen.
std::string oneToken(std::vector<int64_t> rows, std::string attributes = "",
                     std::string total = "") {
  std::string body = floats("q", {2, 1, 1}, {0, 0}) +
                     floats("k", {2, 1, 1}, {5, 6}) +
                     floats("v", {2, 1, 1}, {9, 30}) +
                     floats("pk", {2, 1, 2, 1}, {1, 2, 3, 4}) +
                     floats("pv", {2, 1, 2, 1}, {3, 6, 12, 18}) + lengths(rows);
  if (total.empty())
    body += onnxNode("Cast", {"x"}, intAttr("to", int32Type), "t");
  else
    body += total;
  return body + microsoftNode("GroupQueryAttention",
                              {"q", "k", "v", "pk", "pv", "l", "t"},
                              heads(1, 1) + attributes,
                              "output: \"keys\" output: \"values\" ");
}

/// A prompt of three tokens in two rows without a past; like oneToken().
std::string prompt(std::vector<int64_t> rows, std::string attributes = "") {
  return floats("q", {2, 3, 1}, std::vector<float>(6, 0)) +
         floats("k", {2, 3, 1}, {1, 2, 3, 4, 5, 6}) +
         floats("v", {2, 3, 1}, {2, 4, 9, 6, 12, 30}) + lengths(rows) +
         integers("t", int32Type, {}, {3}) +
         microsoftNode("GroupQueryAttention", {"q", "k", "v", "", "", "l", "t"},
                       heads(1, 1) + attributes, "output: \"keys\" ");
}

/// \p body, whose node has 7 inputs, with input \p index beside these.
std::string withInput(std::string body, unsigned index, llvm::StringRef name) {
  constexpr llvm::StringLiteral last = "input: \"t\" ";
  std::string more = last.str();
  for (unsigned i = 7; i <= index; ++i)
    more += llvm::formatv("input: \"{0}\" ", i == index ? name : "").str();
  body.replace(body.rfind(last.data()), last.size(), more);
  return body;
}

/// The same with the scores \p sink of further keys.
std::string withSink(std::string body, std::vector<float> sink) {
  return floats("sink", {int64_t(sink.size())}, sink) +
         withInput(std::move(body), 11, "sink");
}

std::string run(const std::string &body, std::string output) {
  return runBoth([&] { return model(body, output); });
}

} // namespace

/// The first row has one past token, the second one two. The new ones follow.
TEST(ImporterGroupQuery, RowsOfDifferentLengths) {
  std::string body = oneToken({2, 3});
  EXPECT_EQ(run(body, "y0"), "float<2x1x1>: 6 20");
  EXPECT_EQ(run(body, "keys"), "float<2x1x3x1>: 1 5 0 3 4 6");
  EXPECT_EQ(run(body, "values"), "float<2x1x3x1>: 3 9 0 12 18 30");
  EXPECT_EQ(run(oneToken({1, 3}), "y0"), "float<2x1x1>: 9 20");
}

TEST(ImporterGroupQuery, LocalWindow) {
  std::string window = intAttr("local_window_size", 2);
  EXPECT_EQ(run(oneToken({2, 3}, window), "y0"), "float<2x1x1>: 6 24");
  EXPECT_EQ(run(oneToken({3, 3}, intAttr("local_window_size", 1)), "y0"),
            "float<2x1x1>: 9 30");
  EXPECT_EQ(run(prompt({3, 3}, window), "y0"), "float<2x3x1>: 2 3 6.50 6 9 21");
}

/// A constant total length that fits into the past's buffer is that of the
/// present.
TEST(ImporterGroupQuery, PastInALargerBuffer) {
  std::string total = integers("t", int32Type, {1}, {2});
  std::string body = oneToken({2, 1}, "", total);
  EXPECT_EQ(run(body, "y0"), "float<2x1x1>: 6 30");
  EXPECT_EQ(run(body, "values"), "float<2x1x2x1>: 3 9 30 0");
}

/// Padding behind the second row's token sees that token.
TEST(ImporterGroupQuery, PaddedPrompt) {
  std::string body = prompt({3, 1});
  EXPECT_EQ(run(body, "y0"), "float<2x3x1>: 2 3 5 6 6 6");
  EXPECT_EQ(run(body, "keys"), "float<2x1x3x1>: 1 2 3 4 5 6");
  // With a window, the last one sees nothing.
  EXPECT_EQ(run(prompt({3, 1}, intAttr("local_window_size", 2)), "y0"),
            "float<2x3x1>: 2 3 6.50 6 6 0");
}

/// A further key without a value takes part of the attention: with the score 0,
/// as much as each of the others.
TEST(ImporterGroupQuery, SmoothSoftmax) {
  std::string smooth = intAttr("smooth_softmax", 1);
  EXPECT_EQ(run(oneToken({2, 3}, smooth), "y0"), "float<2x1x1>: 4 15");
  EXPECT_EQ(run(prompt({3, 1}, smooth), "y0"), "float<2x3x1>: 1 2 3.75 3 3 3");
  EXPECT_EQ(run(prompt({3, 3}, smooth + intAttr("local_window_size", 1)), "y0"),
            "float<2x3x1>: 1 2 4.50 3 6 15");
  EXPECT_EQ(run(oneToken({2, 3}, intAttr("smooth_softmax", 0)), "y0"),
            "float<2x1x1>: 6 20");
}

/// Each head has a further key of its own: exp(score) times as heavy as
/// another.
TEST(ImporterGroupQuery, HeadSink) {
  EXPECT_EQ(run(withSink(oneToken({2, 3}), {std::log(2.0f)}), "y0"),
            "float<2x1x1>: 3 12");
  EXPECT_EQ(run(withSink(prompt({3, 3}), {std::log(3.0f)}), "y0"),
            "float<2x3x1>: 0.50 1.20 2.50 1.50 3.60 8");
  // Two heads of queries share one of keys.
  std::string body =
      floats("q", {1, 1, 2}, {0, 0}) + floats("k", {1, 1, 1}, {5}) +
      floats("v", {1, 1, 1}, {9}) + floats("pk", {1, 1, 2, 1}, {1, 2}) +
      floats("pv", {1, 1, 2, 1}, {3, 6}) + lengths({3}) +
      integers("t", int32Type, {}, {3}) +
      microsoftNode("GroupQueryAttention",
                    {"q", "k", "v", "pk", "pv", "l", "t"}, heads(2, 1));
  EXPECT_EQ(run(withSink(body, {0, std::log(6.0f)}), "y0"),
            "float<1x1x2>: 4.50 2");
}

/// New queries and keys, of a root mean square of 2 and 3, become 1 each, times
/// their weights. Keys of the past stay.
static std::string normalized(std::string queryWeight, std::string keyWeight) {
  return floats("q", {1, 1, 2}, {2, 2}) + floats("k", {1, 1, 2}, {3, 3}) +
         floats("v", {1, 1, 2}, {9, 1}) + floats("pk", {1, 1, 1, 2}, {10, -5}) +
         floats("pv", {1, 1, 1, 2}, {3, 5}) + lengths({2}) +
         integers("t", int32Type, {}, {2}) + floats("qn", {2}, {1, 2}) +
         floats("kn", {2}, {4, -2}) +
         microsoftNode("GroupQueryAttention",
                       {"q", "k", "v", "pk", "pv", "l", "t", "", "", "", "", "",
                        "", "", queryWeight, keyWeight},
                       heads(1, 1) + floatAttr("qk_norm_epsilon", 1e-9),
                       "output: \"keys\" ");
}

TEST(ImporterGroupQuery, NormalizedHeads) {
  // The scores of both keys are 0.
  EXPECT_EQ(run(normalized("qn", "kn"), "y0"), "float<1x1x2>: 6 3");
  EXPECT_EQ(run(normalized("qn", "kn"), "keys"), "float<1x1x2x2>: 10 -5 4 -2");
  EXPECT_EQ(run(normalized("", ""), "keys"), "float<1x1x2x2>: 10 -5 3 3");
  EXPECT_THAT(model(normalized("qn", ""), "y0").importError(),
              HasSubstr("input 15 is absent; accepted: float<2>, or neither of "
                        "inputs 14 and 15"));
}

TEST(ImporterGroupQuery, WithoutACausalMask) {
  std::string all = intAttr("causal", 0);
  EXPECT_EQ(run(prompt({3, 3}, all), "y0"), "float<2x3x1>: 5 5 5 16 16 16");
  EXPECT_EQ(run(prompt({3, 1}, all), "y0"), "float<2x3x1>: 5 5 5 6 6 6");
  EXPECT_EQ(run(prompt({3, 3}, intAttr("causal", 1)), "y0"),
            run(prompt({3, 3}), "y0"));
  EXPECT_THAT(
      model(prompt({3, 3}, all + intAttr("local_window_size", 2)), "y0")
          .importError(),
      HasSubstr("attribute 'causal' is 0, and 'local_window_size' 2; accepted: "
                "1, and 0 with -1"));
}

TEST(ImporterGroupQuery, HeadSinkOfOpenLengths) {
  TextModel open =
      model(withSink(symbolicInput("q", {"1", "S", "2"}) +
                         symbolicInput("k", {"1", "S", "1"}) +
                         symbolicInput("pk", {"1", "1", "P", "1"}) +
                         integers("l", int32Type, {1}, {0}) +
                         integers("t", int32Type, {}, {1}) +
                         microsoftNode("GroupQueryAttention",
                                       {"q", "k", "k", "pk", "pk", "l", "t"},
                                       heads(2, 1), "output: \"keys\" "),
                     {1, 2}),
            "y0");
  ImportOptions options;
  options.symbolRanges = {{"S", {1, 3}}, {"P", {0, 5}}};
  auto module = llvm::cantFail(open.import(std::move(options)));
  EXPECT_EQ(module->findPlaceholder("y")->getType().str(), "float<1x3x2>");
}

/// Two heads of queries share one of keys; biases select different keys.
TEST(ImporterGroupQuery, BiasOfEachHead) {
  std::string body =
      floats("q", {1, 1, 2}, {0, 0}) + floats("k", {1, 1, 1}, {5}) +
      floats("v", {1, 1, 1}, {9}) + floats("pk", {1, 1, 2, 1}, {1, 2}) +
      floats("pv", {1, 1, 2, 1}, {3, 6}) + lengths({3}) +
      integers("t", int32Type, {}, {3}) +
      floats("b", {1, 2, 1, 3}, {0, -999, 0, -999, 0, -999}) +
      microsoftNode("GroupQueryAttention",
                    {"q", "k", "v", "pk", "pv", "l", "t", "", "", "", "b"},
                    heads(2, 1));
  EXPECT_EQ(run(body, "y0"), "float<1x1x2>: 6 6");
}

//===- Comparison with primitive operators --------------------------------===//

namespace {

std::vector<float> someNumbers(int64_t count, int64_t seed) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(float((i * 37 + seed * 11) % 23) / 16 - 0.7f);
  return numbers;
}

/// Two tokens with two heads of two elements, whose keys and values are one
/// head, behind two past tokens.
std::string primitiveInputs(bool areLengthsConstant) {
  std::string body = floats("qkv", {1, 2, 8}, someNumbers(16, 1)) +
                     onnxNode("Add", {"qkv", "x"}, "", "tokens") +
                     floats("pk", {1, 1, 2, 2}, someNumbers(4, 2)) +
                     floats("pv", {1, 1, 2, 2}, someNumbers(4, 3)) +
                     floats("cos", {4, 1}, someNumbers(4, 4)) +
                     floats("sin", {4, 1}, someNumbers(4, 5)) +
                     integers("t", int32Type, {}, {4});
  return body + (areLengthsConstant ? integers("l", int32Type, {1}, {3})
                                    : lengths({4}));
}

/// Rotates "NAME" [..., tokens 2 and 3, 2] to "NAME.r": (a, b) becomes (a cos -
/// b sin, b cos + a sin).
std::string rotate(const std::string &name) {
  return onnxNode("Mul", {name, "cosines"}, "", name + ".c") +
         onnxNode("MatMul", {name, "turn"}, "", name + ".t") +
         onnxNode("Mul", {name + ".t", "sines"}, "", name + ".s") +
         onnxNode("Add", {name + ".c", name + ".s"}, "", name + ".r");
}

/// The same attention, as "expected" [1, 2, 4], with the additive \p mask of
/// queries and keys.
std::string primitives(double softcap, std::vector<float> mask) {
  std::string text =
      int64s("at", {2, 3}) + onnxNode("Gather", {"cos", "at"}, "", "cosines") +
      onnxNode("Gather", {"sin", "at"}, "", "sines") +
      floats("turn", {2, 2}, {0, 1, -1, 0}) + int64s("sizes", {4, 2, 2}) +
      "node { op_type: \"Split\" input: \"tokens\" input: \"sizes\" output: "
      "\"eq\" output: \"ek\" output: \"ev\" " +
      intAttr("axis", 2) + "} " + int64s("split", {2, 2, 2}) +
      onnxNode("Reshape", {"eq", "split"}, "", "eh") +
      onnxNode("Transpose", {"eh"}, intsAttr("perm", {1, 0, 2}), "query") +
      rotate("query") + rotate("ek") + int64s("flat", {1, 2, 2}) +
      onnxNode("Reshape", {"pk", "flat"}, "", "fk") +
      onnxNode("Reshape", {"pv", "flat"}, "", "fv") +
      onnxNode("Concat", {"fk", "ek.r"}, intAttr("axis", 1), "allKeys") +
      onnxNode("Concat", {"fv", "ev"}, intAttr("axis", 1), "allValues") +
      onnxNode("Transpose", {"allKeys"}, intsAttr("perm", {0, 2, 1}), "kt") +
      onnxNode("MatMul", {"query.r", "kt"}, "", "s0") +
      floats("scale", {}, {0.75f}) + onnxNode("Mul", {"s0", "scale"}, "", "s1");
  if (softcap != 0)
    text += floats("cap", {}, {float(softcap)}) +
            onnxNode("Div", {"s1", "cap"}, "", "s2") +
            onnxNode("Tanh", {"s2"}, "", "s3") +
            onnxNode("Mul", {"s3", "cap"}, "", "s4");
  return text + floats("mask", {2, 4}, mask) +
         onnxNode("Add", {softcap != 0 ? "s4" : "s1", "mask"}, "", "s5") +
         onnxNode("Softmax", {"s5"}, intAttr("axis", 2), "weights") +
         onnxNode("MatMul", {"weights", "allValues"}, "", "e0") +
         onnxNode("Transpose", {"e0"}, intsAttr("perm", {1, 0, 2}), "e1") +
         int64s("joined", {1, 2, 4}) +
         onnxNode("Reshape", {"e1", "joined"}, "", "expected");
}

/// The largest difference in units of 1e-5, rounded down, on both back ends.
std::string compare(std::string attributes, double softcap,
                    std::vector<float> mask, bool areLengthsConstant) {
  std::string body =
      primitiveInputs(areLengthsConstant) + primitives(softcap, mask) +
      microsoftNode("GroupQueryAttention",
                    {"tokens", "", "", "pk", "pv", "l", "t", "cos", "sin"},
                    heads(2, 1) + floatAttr("scale", 0.75) +
                        intAttr("do_rotary", 1) + attributes) +
      onnxNode("Sub", {"y0", "expected"}, "", "difference") +
      onnxNode("Abs", {"difference"}, "", "error") +
      onnxNode("ReduceMax", {"error"}, intAttr("keepdims", 0), "largest") +
      floats("factor", {}, {1e5f}) +
      onnxNode("Mul", {"largest", "factor"}, "", "scaled") +
      onnxNode("Floor", {"scaled"}, "", "floor");
  return run(body, "floor");
}

} // namespace

TEST(ImporterGroupQuery, IsLikePrimitives) {
  constexpr float no = -1e9f;
  std::vector<float> causal = {0, 0, 0, no, 0, 0, 0, 0};
  for (bool isConstant : {false, true}) {
    EXPECT_EQ(compare("", 0, causal, isConstant), "float<>: 0");
    EXPECT_EQ(compare(floatAttr("softcap", 0.5), 0.5, causal, isConstant),
              "float<>: 0");
    EXPECT_EQ(compare(intAttr("rotary_interleaved", 1), 0, causal, isConstant),
              "float<>: 0");
    EXPECT_EQ(compare(intAttr("local_window_size", 2), 0,
                      {no, 0, 0, no, no, no, 0, 0}, isConstant),
              "float<>: 0");
  }
  // The comparison notices other masks and softcaps.
  EXPECT_NE(compare("", 0, std::vector<float>(8, 0), true), "float<>: 0");
  EXPECT_NE(compare("", 0.5, causal, true), "float<>: 0");
}

/// With lengths known at compile time, it is one node without a mask.
TEST(ImporterGroupQuery, BecomesCausalAttention) {
  TextModel made = model(
      primitiveInputs(/*areLengthsConstant=*/true) +
          microsoftNode("GroupQueryAttention",
                        {"tokens", "", "", "pk", "pv", "l", "t"}, heads(2, 1)),
      "y0");
  made.importOutput();
  unsigned count = 0;
  for (Node &node : made.module->findFunction("main")->getNodes())
    if (auto *attention = llvm::dyn_cast<AttentionNode>(&node)) {
      ++count;
      EXPECT_FALSE(attention->getMask());
      EXPECT_TRUE(attention->getCausal());
    }
  EXPECT_EQ(count, 1u);
}

//===- Refusals -----------------------------------------------------------===//

TEST(ImporterGroupQuery, Refused) {
  auto refusal = [](std::string body) {
    return model(std::move(body), "y0").importError();
  };
  EXPECT_THAT(refusal(prompt({3, 3}, intAttr("smooth_softmax", 2))),
              HasSubstr("attribute 'smooth_softmax' is 2; accepted: -1, 0, 1"));
  EXPECT_THAT(refusal(prompt({3, 3}, intAttr("qk_output", 1))),
              HasSubstr("attribute 'qk_output' is 1; accepted: 0"));
  EXPECT_THAT(refusal(prompt({3, 3}, intAttr("sliding_window_cache", 1))),
              HasSubstr("attribute 'sliding_window_cache' is 1; accepted: 0"));
  EXPECT_THAT(refusal(prompt({3, 3}, stringAttr("k_quant_type", "PER_TENSOR"))),
              HasSubstr("attribute 'k_quant_type' is 'PER_TENSOR'; accepted: "
                        "NONE"));
  EXPECT_THAT(refusal(prompt({3, 3}, intAttr("local_window_size", 0))),
              HasSubstr("attribute 'local_window_size' is 0; accepted: -1 or a "
                        "positive number"));
  EXPECT_THAT(refusal(withInput(prompt({3, 3}), 12, "q")),
              HasSubstr("input 12 is a scale of quantized keys or values; "
                        "accepted: none"));
  EXPECT_THAT(refusal(withSink(prompt({3, 3}), {1, 2})),
              HasSubstr("input 11 ('sink') is float<2>; accepted: float<1>"));
  EXPECT_THAT(refusal(prompt({3, 3, 3})),
              HasSubstr("input 5 ('l') is int32<3>; accepted: int32<2>"));
  EXPECT_THAT(
      refusal(oneToken({2, 2}, "", integers("t", int32Type, {}, {4}))),
      HasSubstr("input 6, the total length, is 4; accepted: 1 to 3, as 1 "
                "tokens follow up to 2"));
}

//===- RotaryEmbedding ----------------------------------------------------===//

namespace {

/// Two tokens with one head of four elements, of which the first two or all are
/// turned: by 0 degrees at position 0, 90 at 1, and 180 at 2.
std::string rotary(std::vector<int64_t> shape, std::vector<int64_t> positions,
                   std::string attributes, int64_t pairs = 2) {
  std::vector<float> cosines, sines;
  for (int64_t i = 0; i < 3 * pairs; ++i) {
    cosines.push_back(float(1 - i / pairs));
    sines.push_back(float(i / pairs % 2));
  }
  return floats("h", {1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}) +
         integers("p", int32Type, shape, positions) +
         onnxNode("Cast", {"p"}, intAttr("to", 7), "p64") +
         floats("cos", {3, pairs}, cosines) + floats("sin", {3, pairs}, sines) +
         microsoftNode("RotaryEmbedding", {"h", "p64", "cos", "sin"},
                       attributes);
}

} // namespace

TEST(ImporterGroupQuery, RotaryEmbedding) {
  EXPECT_EQ(run(rotary({1, 2}, {0, 1}, ""), "y0"),
            "float<1x2x4>: 1 2 3 4 -7 -8 5 6");
  EXPECT_EQ(run(rotary({1, 2}, {2, 0}, intAttr("interleaved", 1)), "y0"),
            "float<1x2x4>: -1 -2 -3 -4 5 6 7 8");
  // One position is that of the first token.
  for (std::vector<int64_t> shape : {std::vector<int64_t>(), {1}})
    EXPECT_EQ(run(rotary(shape, {1}, intAttr("interleaved", 1)), "y0"),
              "float<1x2x4>: -2 1 -4 3 -5 -6 -7 -8");
  EXPECT_THAT(
      model(rotary({2}, {0, 1}, ""), "y0").importError(),
      HasSubstr("input 1 ('p64') is int64<2>; accepted: a scalar, [1] or [1, "
                "2]"));
  std::string two =
      intAttr("rotary_embedding_dim", 2) + intAttr("num_heads", 1);
  EXPECT_EQ(run(rotary({1, 2}, {1, 1}, two, 1), "y0"),
            "float<1x2x4>: -2 1 3 4 -6 5 7 8");
  EXPECT_THAT(
      model(rotary({1, 2}, {0, 1}, intAttr("is_packed_batching", 1)), "y0")
          .importError(),
      HasSubstr("attribute 'is_packed_batching' is 1; accepted: 0"));
}
