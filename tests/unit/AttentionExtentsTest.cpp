//===- AttentionExtentsTest.cpp - Attention of ranges of extents ----------===//

#include "OnnxExtentRuns.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

using Ranges = ExtentRanges;
using Values = ExtentValues;

/// Groups of heads that share their keys, behind a past. \p attributes say
/// which keys a query attends to.
TextModel makeAttentionWithAPast(
    const std::string &attributes = intAttr("is_causal", 1)) {
  TextModel model;
  model.opset = 25;
  model.inputs.clear();
  model.outputs = "output { name: \"y\" } output { name: \"keys\" } ";
  model.body =
      symbolicInput("q", {"B", "4", "S", "8"}) +
      symbolicInput("k", {"B", "2", "S", "8"}) +
      symbolicInput("v", {"B", "2", "S", "8"}) +
      symbolicInput("pastKey", {"B", "2", "P", "8"}) +
      symbolicInput("pastValue", {"B", "2", "P", "8"}) +
      symbolicInput("mask", {"S", "P + S"}) +
      "node { op_type: \"Attention\" input: \"q\" input: \"k\" input: \"v\" "
      "input: \"mask\" input: \"pastKey\" input: \"pastValue\" output: \"y\" "
      "output: \"keys\" " +
      attributes + "} ";
  return model;
}

TEST(AttentionExtents, WithAPast) {
  TextModel model = makeAttentionWithAPast();
  checkBoth(model, {{"B", {1, 3}}, {"S", {1, 7}}, {"P", {0, 33}}},
            {{{"B", 1}, {"S", 1}, {"P", 0}},
             {{"B", 3}, {"S", 7}, {"P", 33}},
             {{"B", 2}, {"S", 3}, {"P", 17}},
             {{"B", 1}, {"S", 7}, {"P", 0}}});
}

TEST(AttentionExtents, Windows) {
  std::string left = intAttr("left_window_size", 3);
  for (const std::string &attributes :
       {left + intAttr("is_causal", 1), left + intAttr("right_window_size", 2),
        left, intAttr("right_window_size", 2)}) {
    TextModel model = makeAttentionWithAPast(attributes);
    checkBoth(model, {{"B", {1, 2}}, {"S", {1, 7}}, {"P", {0, 9}}},
              {{{"B", 1}, {"S", 1}, {"P", 0}},
               {{"B", 2}, {"S", 7}, {"P", 9}},
               {{"B", 1}, {"S", 5}, {"P", 2}}});
  }
}

/// Few queries are computed otherwise than many.
TEST(AttentionExtents, OfFewQueries) {
  TextModel model = makeAttentionWithAPast();
  Ranges ranges = {{"B", {1, 2}}, {"S", {1, 40}}, {"P", {0, 33}}};
  std::vector<Values> values;
  for (auto [queries, past] :
       {std::pair(1, 0), std::pair(1, 33), std::pair(3, 7), std::pair(8, 17),
        std::pair(9, 1), std::pair(40, 33)})
    values.push_back({{"B", 2}, {"S", queries}, {"P", past}});
  checkBoth(model, ranges, values);
}

TEST(AttentionExtents, OfHeadsSideBySide) {
  TextModel model;
  model.opset = 23;
  model.inputs.clear();
  std::string heads = intAttr("q_num_heads", 4) + intAttr("kv_num_heads", 2) +
                      floatAttr("softcap", 2);
  model.body = symbolicInput("q", {"1", "S", "32"}) +
               symbolicInput("k", {"1", "T", "16"}) +
               symbolicInput("v", {"1", "T", "16"}) +
               symbolicInput("m", {"T"}) + floats("bound", {}, {-2}) +
               onnxNode("Greater", {"m", "bound"}, "", "mask") +
               onnxNode("Attention", {"q", "k", "v", "mask"}, heads);
  checkBoth(model, {{"S", {1, 17}}, {"T", {1, 33}}},
            {{{"S", 1}, {"T", 1}},
             {{"S", 17}, {"T", 33}},
             {{"S", 17}, {"T", 3}},
             {{"S", 3}, {"T", 17}}});
}

TEST(AttentionExtents, OverNoKeys) {
  TextModel model;
  model.opset = 23;
  model.inputs.clear();
  model.body = symbolicInput("q", {"2", "2", "3", "4"}) +
               symbolicInput("k", {"2", "2", "T", "4"}) +
               onnxNode("Attention", {"q", "k", "k"}, intAttr("is_causal", 1));
  for (int64_t most : {1, 9})
    checkBoth(model, {{"T", {0, most}}}, {{{"T", 0}}, {{"T", most}}});
}

/// Numbers that depend on \p seed.
std::vector<float> someNumbers(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> numbers(count);
  for (float &number : numbers)
    number = float(random.uniform(-1, 1));
  return numbers;
}

/// A model of \p opset whose inputs are in \p body, with the outputs \p names.
TextModel makeModel(int opset, std::string body,
                    llvm::ArrayRef<llvm::StringRef> names = {"y"}) {
  TextModel model;
  model.opset = opset;
  model.inputs.clear();
  model.header = "opset_import { domain: \"com.microsoft\" version: 1 } "
                 "opset_import { domain: \"ai.onnx.preview\" version: 1 } ";
  model.outputs.clear();
  for (llvm::StringRef name : names)
    model.outputs += "output { name: \"" + name.str() + "\" } ";
  model.body = std::move(body);
  return model;
}

/// Further outputs of a node behind y, and the domain of com.microsoft.
std::string microsoft(const std::string &attributes,
                      llvm::ArrayRef<llvm::StringRef> outputs = {}) {
  std::string text;
  for (llvm::StringRef output : outputs)
    text += "output: \"" + output.str() + "\" ";
  return text + "domain: \"com.microsoft\" " + attributes;
}

/// Keys of another length than the queries, without a past: query i attends to
/// keys up to number i.
TEST(AttentionExtents, CausalOverOtherKeys) {
  for (bool hasMask : {false, true})
    for (double softcap : {0., 2.}) {
      TextModel model = makeModel(
          23, symbolicInput("q", {"1", "4", "S", "8"}) +
                  symbolicInput("k", {"1", "2", "T", "8"}) +
                  symbolicInput("mask", {"1", "1", "S", "T"}) +
                  onnxNode("Attention", {"q", "k", "k", hasMask ? "mask" : ""},
                           intAttr("is_causal", 1) +
                               floatAttr("softcap", softcap)));
      checkBoth(model, {{"S", {1, 9}}, {"T", {1, 17}}},
                {{{"S", 1}, {"T", 17}},
                 {{"S", 9}, {"T", 1}},
                 {{"S", 4}, {"T", 6}},
                 {{"S", 9}, {"T", 17}}});
    }
}

/// Keys that the mask does not have are left out.
TEST(AttentionExtents, MasksOfFewerKeys) {
  TextModel model =
      makeModel(23, symbolicInput("q", {"B", "2", "S", "8"}) +
                        symbolicInput("k", {"B", "2", "T", "8"}) +
                        symbolicInput("mask", {"B", "1", "S", "M"}) +
                        onnxNode("Attention", {"q", "k", "k", "mask"}));
  for (int64_t most : {7, 9, 20})
    checkBoth(model,
              {{"B", {1, 3}}, {"S", {1, 5}}, {"T", {1, 9}}, {"M", {1, most}}},
              {{{"B", 1}, {"S", 1}, {"T", 1}, {"M", 1}},
               {{"B", 2}, {"S", 3}, {"T", 9}, {"M", 4}},
               {{"B", 3}, {"S", 5}, {"T", 7}, {"M", 7}}});
}

TEST(AttentionExtents, ScoresAsAnOutput) {
  for (int64_t mode : {0, 1, 2, 3}) {
    TextModel model = makeModel(
        23,
        symbolicInput("q", {"1", "S", "32"}) +
            symbolicInput("k", {"1", "S", "16"}) +
            symbolicInput("p", {"1", "2", "P", "8"}) +
            symbolicInput("mask", {"S", "P + S"}) +
            onnxNode("Attention", {"q", "k", "k", "mask", "p", "p"},
                     "output: \"\" output: \"\" output: \"scores\" " +
                         intAttr("q_num_heads", 4) +
                         intAttr("kv_num_heads", 2) + intAttr("is_causal", 1) +
                         floatAttr("softcap", 3) +
                         intAttr("qk_matmul_output_mode", mode)),
        {"y", "scores"});
    checkBoth(
        model, {{"S", {1, 5}}, {"P", {0, 9}}},
        {{{"S", 1}, {"P", 0}}, {{"S", 5}, {"P", 9}}, {{"S", 3}, {"P", 4}}});
  }
}

/// The rows have 1 and 4 keys that are not padding.
TEST(AttentionExtents, PaddedKeys) {
  for (bool isCausal : {false, true}) {
    std::string node = intAttr("is_causal", isCausal);
    TextModel model = makeModel(
        24, symbolicInput("q", {"2", "2", "S", "8"}) +
                symbolicInput("k", {"2", "2", "T", "8"}) +
                int64s("lengths", {1, 4}) +
                onnxNode("Attention", {"q", "k", "k", "", "", "", "lengths"},
                         node));
    checkBoth(
        model, {{"S", {1, 4}}, {"T", {4, 9}}},
        {{{"S", 1}, {"T", 4}}, {{"S", 4}, {"T", 9}}, {{"S", 3}, {"T", 6}}});
  }
}

TEST(AttentionExtents, FlexAttention) {
  TextModel model = makeModel(24, symbolicInput("q", {"1", "2", "S", "8"}) +
                                      symbolicInput("k", {"1", "2", "T", "8"}) +
                                      onnxNode("FlexAttention", {"q", "k", "k"},
                                               "domain: \"ai.onnx.preview\" "));
  checkBoth(model, {{"S", {1, 9}}, {"T", {1, 17}}},
            {{{"S", 1}, {"T", 17}}, {{"S", 9}, {"T", 3}}});
}

//===- Operators of com.microsoft -----------------------------------------===//

/// GroupQueryAttention of queries of 4 heads and keys of 2, with a past, of the
/// lengths that all tokens have; \p inputs are those from number 9 on.
TextModel makeGroupQuery(const std::string &body, const std::string &attributes,
                         const std::vector<std::string> &inputs = {}) {
  std::vector<std::string> all = {"q",    "k",     "k",   "p",  "p",
                                  "last", "total", "cos", "sin"};
  all.insert(all.end(), inputs.begin(), inputs.end());
  return makeModel(
      23,
      symbolicInput("q", {"1", "S", "64"}) +
          symbolicInput("k", {"1", "S", "32"}) +
          symbolicInput("p", {"1", "2", "P", "16"}) +
          floats("cos", {64, 8}, someNumbers(512, 1)) +
          floats("sin", {64, 8}, someNumbers(512, 2)) + int64s("dim", {2}) +
          int64s("one", {1}) + onnxNode("Shape", {"p"}, "", "ps") +
          onnxNode("Gather", {"ps", "dim"}, "", "past") +
          onnxNode("Shape", {"q"}, "", "qs") +
          onnxNode("Gather", {"qs", "one"}, "", "new") +
          onnxNode("Add", {"past", "new"}, "", "all") +
          onnxNode("Cast", {"all"}, intAttr("to", 6), "total") +
          integers("minus", /*type=*/6, {1}, {-1}) +
          onnxNode("Add", {"total", "minus"}, "", "last") + body +
          onnxNode("GroupQueryAttention", all,
                   microsoft(intAttr("num_heads", 4) +
                                 intAttr("kv_num_heads", 2) + attributes,
                             {"keys", "values"})),
      {"y", "keys", "values"});
}

TEST(AttentionExtents, GroupQueries) {
  std::string rotary = intAttr("do_rotary", 1);
  std::string bias = symbolicInput("bias", {"1", "4", "S", "P + S"});
  TextModel models[] = {
      makeGroupQuery("", ""),
      makeGroupQuery("", rotary),
      makeGroupQuery("", rotary + intAttr("local_window_size", 3)),
      makeGroupQuery("", intAttr("causal", 0)),
      makeGroupQuery("",
                     intAttr("smooth_softmax", 1) + floatAttr("softcap", 2)),
      makeGroupQuery(floats("sink", {4}, {1, 2, -1, 0}), rotary,
                     {"", "", "sink"}),
      makeGroupQuery(bias, "", {"", "bias"}),
      makeGroupQuery(symbolicInput("at", {"1", "S"}) +
                         onnxNode("Cast", {"at"}, intAttr("to", 7), "position"),
                     rotary, {"position"})};
  for (TextModel &model : models)
    checkBoth(model, {{"S", {1, 7}}, {"P", {0, 9}}},
              {{{"S", 1}, {"P", 0}},
               {{"S", 7}, {"P", 9}},
               {{"S", 1}, {"P", 5}},
               {{"S", 3}, {"P", 4}}});
  // Single queries are the rows of a matrix.
  for (TextModel &model : models)
    checkBoth(
        model, {{"S", {1, 1}}, {"P", {0, 9}}},
        {{{"S", 1}, {"P", 0}}, {{"S", 1}, {"P", 9}}, {{"S", 1}, {"P", 4}}});
}

/// Rows of lengths of their own, of a batch of any number.
TEST(AttentionExtents, GroupQueriesOfAnyBatch) {
  TextModel model = makeModel(
      23,
      symbolicInput("q", {"B", "2", "64"}) +
          symbolicInput("k", {"B", "2", "32"}) +
          symbolicInput("p", {"B", "2", "5", "16"}) +
          symbolicInput("l", {"B"}) + floats("five", {}, {5}) +
          onnxNode("Add", {"l", "five"}, "", "sum") +
          onnxNode("Cast", {"sum"}, intAttr("to", 6), "last") +
          integers("total", /*type=*/6, {}, {7}) +
          onnxNode(
              "GroupQueryAttention", {"q", "k", "k", "p", "p", "last", "total"},
              microsoft(intAttr("num_heads", 4) + intAttr("kv_num_heads", 2),
                        {"keys"})),
      {"y", "keys"});
  checkBoth(model, {{"B", {1, 3}}}, {{{"B", 1}}, {{"B", 2}}, {{"B", 3}}});
}

TEST(AttentionExtents, MultiHeadAttention) {
  std::string heads = intAttr("num_heads", 2);
  for (bool isCausal : {false, true}) {
    std::string attributes = heads + intAttr("unidirectional", isCausal);
    TextModel model = makeModel(
        23,
        symbolicInput("q", {"B", "S", "16"}) +
            symbolicInput("k", {"B", "S", "16"}) +
            symbolicInput("p", {"B", "2", "P", "8"}) +
            symbolicInput("m", {"B", "P + S"}) +
            floats("b", {48}, someNumbers(48, 3)) + floats("low", {}, {-0.5f}) +
            onnxNode("Greater", {"m", "low"}, "", "mask") +
            onnxNode("MultiHeadAttention",
                     {"q", "k", "k", "b", "mask", "", "p", "p"},
                     microsoft(attributes, {"keys", "values"})),
        {"y", "keys", "values"});
    checkBoth(model, {{"B", {1, 3}}, {"S", {1, 5}}, {"P", {0, 9}}},
              {{{"B", 1}, {"S", 1}, {"P", 0}},
               {{"B", 3}, {"S", 5}, {"P", 9}},
               {{"B", 2}, {"S", 3}, {"P", 4}}});
  }
}

TEST(AttentionExtents, ProjectedAttention) {
  for (llvm::StringRef limits : {"B", "S"}) {
    bool isOfKeys = limits == "S";
    TextModel model = makeModel(
        23,
        symbolicInput("x", {"B", "S", "6"}) +
            symbolicInput("p", {"2", "B", "2", "P", "4"}) +
            (isOfKeys ? symbolicInput("m", {"B", "P + S"})
                      : symbolicInput("m", {"B"})) +
            floats("w", {6, 24}, someNumbers(144, 4)) +
            floats("b", {24}, someNumbers(24, 5)) + floats("one", {}, {1.1f}) +
            onnxNode("Add", {"m", "one"}, "", "above") +
            onnxNode("Cast", {"above"}, intAttr("to", 6), "mask") +
            onnxNode("Attention", {"x", "w", "b", "mask", "p"},
                     // Sums of scores and a larger one have few digits left.
                     microsoft(intAttr("num_heads", 2) +
                                   intAttr("unidirectional", 1) +
                                   floatAttr("mask_filter_value", -16),
                               {"present"})),
        {"y", "present"});
    checkBoth(model, {{"B", {1, 3}}, {"S", {1, 5}}, {"P", {0, 9}}},
              {{{"B", 1}, {"S", 1}, {"P", 0}},
               {{"B", 3}, {"S", 5}, {"P", 9}},
               {{"B", 2}, {"S", 3}, {"P", 4}}});
  }
}

TEST(AttentionExtents, QuantizedProjections) {
  std::vector<int64_t> weights(6 * 24);
  for (auto [i, weight] : llvm::enumerate(weights))
    weight = int64_t(i * 37 % 255) - 127;
  TextModel model = makeModel(
      23,
      symbolicInput("x", {"B", "S", "6"}) +
          symbolicInput("p", {"2", "B", "2", "P", "4"}) +
          symbolicInput("m", {"B", "P + S"}) +
          integers("w", /*type=*/3, {6, 24}, weights) +
          floats("ws", {}, {0.01f}) + floats("xs", {}, {0.02f}) +
          integers("xz", /*type=*/2, {}, {120}) +
          floats("b", {24}, someNumbers(24, 10)) + floats("one", {}, {1.1f}) +
          onnxNode("QuantizeLinear", {"x", "xs", "xz"}, "", "bytes") +
          onnxNode("Add", {"m", "one"}, "", "above") +
          onnxNode("Cast", {"above"}, intAttr("to", 6), "mask") +
          onnxNode("QAttention",
                   {"bytes", "w", "b", "xs", "ws", "mask", "xz", "", "p"},
                   microsoft(intAttr("num_heads", 2), {"present"})),
      {"y", "present"});
  checkBoth(model, {{"B", {1, 3}}, {"S", {1, 5}}, {"P", {0, 9}}},
            {{{"B", 1}, {"S", 1}, {"P", 0}},
             {{"B", 3}, {"S", 5}, {"P", 9}},
             {{"B", 2}, {"S", 3}, {"P", 4}}});
}

TEST(AttentionExtents, RotaryEmbeddingsOfMicrosoft) {
  for (bool isFlat : {false, true}) {
    for (bool hasAll : {false, true}) {
      TextModel model = makeModel(
          23, (isFlat ? symbolicInput("x", {"B", "S", "24"})
                      : symbolicInput("x", {"B", "3", "S", "8"})) +
                  symbolicInput("n", {"B", "S"}) + int64s("two", {2}) +
                  onnxNode("Cast", {"n"}, intAttr("to", 7), "position") +
                  floats("cos", {16, 4}, someNumbers(64, 6)) +
                  floats("sin", {16, 4}, someNumbers(64, 7)) +
                  onnxNode("RotaryEmbedding",
                           {"x", hasAll ? "position" : "two", "cos", "sin"},
                           microsoft("")));
      checkBoth(
          model, {{"B", {1, 2}}, {"S", {1, 7}}},
          {{{"B", 1}, {"S", 1}}, {{"B", 2}, {"S", 7}}, {{"B", 1}, {"S", 3}}});
    }
  }
}

//===- Others -------------------------------------------------------------===//

TEST(AttentionExtents, LinearAttention) {
  TextModel model = makeModel(
      26,
      symbolicInput("q", {"B", "3", "16"}) +
          symbolicInput("k", {"B", "3", "8"}) +
          symbolicInput("decay", {"B", "3", "8"}) +
          symbolicInput("beta", {"B", "3", "1"}) +
          symbolicInput("past", {"B", "2", "4", "4"}) +
          onnxNode("LinearAttention", {"q", "k", "k", "past", "decay", "beta"},
                   "output: \"present\" " + intAttr("q_num_heads", 4) +
                       intAttr("kv_num_heads", 2)),
      {"y", "present"});
  checkBoth(model, {{"B", {1, 5}}}, {{{"B", 1}}, {{"B", 5}}, {{"B", 3}}});
}

TEST(AttentionExtents, CausalConvolutions) {
  TextModel model = makeModel(
      26,
      symbolicInput("x", {"B", "3", "S"}) +
          symbolicInput("past", {"B", "3", "3"}) +
          floats("w", {3, 1, 4}, someNumbers(12, 8)) +
          onnxNode("CausalConvWithState", {"x", "w", "", "past"},
                   "output: \"present\" " + stringAttr("activation", "silu")),
      {"y", "present"});
  checkBoth(model, {{"B", {1, 3}}, {"S", {1, 9}}},
            {{{"B", 1}, {"S", 1}}, {{"B", 3}, {"S", 9}}, {{"B", 2}, {"S", 5}}});
}

TEST(AttentionExtents, RotaryEmbeddings) {
  for (bool isFlat : {false, true}) {
    TextModel model;
    model.opset = 23;
    model.inputs.clear();
    model.body = (isFlat ? symbolicInput("x", {"B", "S", "24"})
                         : symbolicInput("x", {"B", "3", "S", "8"})) +
                 symbolicInput("cosines", {"B", "S", "4"}) +
                 symbolicInput("sines", {"B", "S", "4"}) +
                 onnxNode("RotaryEmbedding", {"x", "cosines", "sines"},
                          intAttr("num_heads", 3));
    checkBoth(
        model, {{"B", {1, 2}}, {"S", {1, 7}}},
        {{{"B", 1}, {"S", 1}}, {{"B", 2}, {"S", 7}}, {{"B", 1}, {"S", 3}}});
  }
}

/// One row of angles for all rows of tokens.
TEST(AttentionExtents, RotaryEmbeddingsOfOneRow) {
  for (bool hasPositions : {false, true}) {
    std::string last = hasPositions ? "position" : "";
    TextModel model = makeModel(
        23, symbolicInput("x", {"B", "3", "S", "8"}) +
                (hasPositions ? floats("cos", {16, 4}, someNumbers(64, 6))
                              : symbolicInput("cos", {"1", "S", "4"})) +
                symbolicInput("n", {"1", "S"}) +
                onnxNode("Cast", {"n"}, intAttr("to", 7), "position") +
                onnxNode("RotaryEmbedding", {"x", "cos", "cos", last}));
    checkBoth(model, {{"B", {1, 2}}, {"S", {1, 7}}},
              {{{"B", 1}, {"S", 1}}, {{"B", 2}, {"S", 7}}});
  }
}

TEST(AttentionExtents, RefusesOtherDimensions) {
  TextModel model;
  model.opset = 23;
  model.inputs.clear();
  model.body = symbolicInput("q", {"1", "H", "3", "8"}) +
               symbolicInput("k", {"1", "H", "3", "8"}) +
               onnxNode("Attention", {"q", "k", "k"});
  EXPECT_EQ(importError(model, {{"H", {1, 4}}}),
            "'m': node 'y' (Attention): the extent of dimension 1 of input 0 "
            "is known only when the model runs; accepted: such extents of the "
            "batch and the length");
}

/// Both states begin with the same elements, and one value is saved to them.
TEST(AttentionExtents, StatesOfOneValue) {
  TextModel model =
      makeModel(23,
                symbolicInput("q", {"1", "2", "S", "4"}) +
                    symbolicInput("p", {"1", "2", "P", "4"}) +
                    symbolicInput("r", {"1", "2", "P", "4"}) +
                    onnxNode("Attention", {"q", "q", "q", "", "p", "r"},
                             "output: \"keys\" ") +
                    onnxNode("Identity", {"keys"}, "", "same"),
                {"y", "keys", "same"});
  for (bool isCPU : {false, true}) {
    ImportOptions options;
    options.symbolRanges = {{"S", {1, 3}}, {"P", {0, 6}}};
    options.states = {{"p", "keys"}, {"r", "same"}};
    Program program = llvm::cantFail(compileProgram(
        llvm::cantFail(model.import(options)), createBackend(isCPU)));
    for (llvm::StringRef name : {"p", "r"})
      EXPECT_EQ(program.find(name)->getType().str(), "float<1x2x9x4>");
    Session &session = *program.session;
    Tensor query = makeRandom(Type(ElemKind::Float, {1, 2, 2, 4}), 1);
    llvm::cantFail(session.setInput(program.find("q"), query));
    for (llvm::StringRef name : {"p", "r"})
      llvm::cantFail(
          session.setInput(program.find(name),
                           makeRandom(Type(ElemKind::Float, {1, 2, 5, 4}), 2)));
    ASSERT_EQ(getMessage(session.run()), "");
    for (llvm::StringRef name : {"p", "r"}) {
      Tensor whole = session.getTensor(program.find(name));
      // Rows 5 and 6 of the second head.
      for (int64_t i = 0; i < 8; ++i)
        EXPECT_EQ(whole.getAsDouble((9 + 5) * 4 + i), query.getAsDouble(8 + i));
    }
  }
}

/// New elements of a state are set in it, and none of the others is moved.
TEST(AttentionExtents, StatesStayInPlace) {
  std::string past = symbolicInput("p", {"1", "2", "P", "4"});
  std::string groups = symbolicInput("x", {"1", "S", "8"}) +
                       integers("l", /*type=*/6, {1}, {0}) +
                       integers("t", /*type=*/6, {}, {1});
  TextModel models[] = {
      makeModel(23,
                symbolicInput("q", {"1", "4", "S", "4"}) +
                    symbolicInput("k", {"1", "2", "S", "4"}) + past +
                    symbolicInput("r", {"1", "2", "P", "4"}) +
                    onnxNode("Attention", {"q", "k", "k", "", "p", "r"},
                             "output: \"keys\" output: \"values\" " +
                                 intAttr("is_causal", 1)),
                {"y", "keys", "values"}),
      makeModel(23,
                groups + past + symbolicInput("r", {"1", "2", "P", "4"}) +
                    onnxNode("GroupQueryAttention",
                             {"x", "x", "x", "p", "r", "l", "t"},
                             microsoft(intAttr("num_heads", 2) +
                                           intAttr("kv_num_heads", 2),
                                       {"keys", "values"})),
                {"y", "keys", "values"})};
  for (TextModel &model : models) {
    ImportOptions options;
    options.symbolRanges = {{"S", {1, 3}}, {"P", {0, 60}}};
    options.states = {{"p", "keys"}, {"r", "values"}};
    Program program = llvm::cantFail(compileProgram(
        llvm::cantFail(model.import(options)), createBackend(/*isCPU=*/true)));
    unsigned numSet = 0;
    for (const Instruction &instr : program.program->getIR().getInstrs()) {
      numSet += instr.getKindName() == "InsertSlice";
      EXPECT_NE(instr.getKindName().str(), "Fill");
      if (instr.getKindName() == "Copy")
        EXPECT_LT(instr.getOperand(0)->getType().getNumElements(), 2 * 60 * 4);
    }
    EXPECT_EQ(numSet, 2u);
  }
}

TEST(AttentionExtents, Refused) {
  auto refusal = [](std::string body, const Ranges &ranges, int opset = 26) {
    TextModel model = makeModel(opset, std::move(body));
    return importError(model, ranges);
  };
  std::string two = intAttr("q_num_heads", 2) + intAttr("kv_num_heads", 2);
  EXPECT_THAT(
      refusal(symbolicInput("q", {"1", "3", "W"}) +
                  onnxNode("Attention", {"q", "q", "q"}, two),
              {{"W", {2, 8}}}),
      HasSubstr("(Attention): the extent of dimension 2 of input 0 is known "
                "only when the model runs; accepted: such extents of the batch "
                "and the length"));
  EXPECT_THAT(refusal(symbolicInput("q", {"1", "S", "8"}) +
                          onnxNode("LinearAttention", {"q", "q", "q"},
                                   two + stringAttr("update_rule", "linear")),
                      {{"S", {1, 4}}}),
              HasSubstr("input 0 is float<1x4{S}x8>, and each of its steps is "
                        "unrolled; accepted: a length that no run decides"));
  EXPECT_THAT(refusal(symbolicInput("q", {"2", "S", "8"}) +
                          integers("l", /*type=*/6, {2}, {0, 0}) +
                          integers("t", /*type=*/6, {}, {1}) +
                          onnxNode("GroupQueryAttention",
                                   {"q", "q", "q", "", "", "l", "t"},
                                   microsoft(intAttr("num_heads", 2) +
                                             intAttr("kv_num_heads", 2))),
                      {{"S", {1, 4}}}),
              HasSubstr("the batch is 2, and lengths are known only when the "
                        "model runs; accepted: 1"));
  EXPECT_THAT(refusal(symbolicInput("q", {"1", "S", "8"}) +
                          symbolicInput("k", {"1", "T", "8"}) +
                          integers("l", /*type=*/6, {1}, {0}) +
                          integers("t", /*type=*/6, {}, {1}) +
                          onnxNode("GroupQueryAttention",
                                   {"q", "k", "k", "", "", "l", "t"},
                                   microsoft(intAttr("num_heads", 2) +
                                             intAttr("kv_num_heads", 2))),
                      {{"S", {1, 4}}, {"T", {1, 4}}}),
              HasSubstr("inputs 1 and 2 are float<1x4{T}x8> and "
                        "float<1x4{T}x8>; accepted: [1, S, 8]"));
  // The starts of rows lie behind the bound of the batch.
  EXPECT_THAT(
      refusal(symbolicInput("x", {"B", "3", "6"}) +
                  floats("w", {6, 6}, someNumbers(36, 9)) +
                  symbolicInput("m", {"2*B"}) +
                  onnxNode("Cast", {"m"}, intAttr("to", 6), "mask") +
                  onnxNode("Attention", {"x", "w", "", "mask"},
                           microsoft(intAttr("num_heads", 2))),
              {{"B", {1, 4}}}),
      HasSubstr("input 3 ('mask') is int32<8{2*B}>; accepted: [4], [8], [14], "
                "[4, 3] or [4, 3, 3]"));
}

} // namespace
