//===- ImporterStringsTest.cpp - Strings of fixed content of ONNX ---------===//

#include "RunText.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Importer/OnnxModel.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

/// An initializer of strings of rank 1.
std::string strings(llvm::StringRef name, std::vector<std::string> values) {
  std::string text =
      llvm::formatv("initializer {{ name: \"{0}\" data_type: 8 dims: {1} ",
                    name, values.size());
  for (const std::string &value : values)
    text += "string_data: \"" + value + "\" ";
  return text + "} ";
}

/// A node of ai.onnx.ml.
std::string modelNode(llvm::StringRef type, std::vector<std::string> inputs,
                      std::string attributes, std::string output = "y") {
  return onnxNode(type, std::move(inputs),
                  std::move(attributes) + "domain: \"ai.onnx.ml\" ", output);
}

/// A model with an input x, [1], which is 0.
TextModel make(std::string body) {
  TextModel model;
  model.opset = 20;
  model.header = "opset_import { domain: \"ai.onnx.ml\" version: 4 }";
  model.inputs = {{"x", {1}}};
  model.body = std::move(body);
  return model;
}

/// The result on both back ends, which must agree.
std::string run(const std::string &body) {
  std::string interpreted = runText(make(body));
  EXPECT_EQ(runText(make(body), llvm::cantFail(CPUBackend::create({}))),
            interpreted);
  return interpreted;
}

/// A string that a run picks: of index 0.
std::string pickFirst(const std::string &table) {
  return onnxNode("Cast", {"x"}, intAttr("to", 7), "index") +
         onnxNode("Gather", {table, "index"}, "", "picked");
}

/// Strings in attributes of Constant.
std::string constants() {
  return onnxNode("Constant", {}, stringAttr("value_string", "b"), "b") +
         onnxNode("Constant", {}, stringsAttr("value_strings", {"a", "b"}),
                  "ab") +
         onnxNode("Constant", {},
                  "attribute { name: \"value\" type: TENSOR t { data_type: 8 "
                  "dims: 1 dims: 2 string_data: \"c\" string_data: \"b\" } } ",
                  "cb");
}

} // namespace

TEST(ImporterStrings, UnusedOnes) {
  std::string relu = onnxNode("Relu", {"x"});
  EXPECT_EQ(run(strings("s", {"a"}) + relu), "float<1>: 0");
  EXPECT_EQ(run(constants() + relu), "float<1>: 0");
  EXPECT_EQ(
      run(strings("s", {"a"}) + onnxNode("Identity", {"s"}, "", "t") + relu),
      "float<1>: 0");
}

TEST(ImporterStrings, ConstantsAreFolded) {
  auto fold = [](std::string body) {
    return make(std::move(body)).importConstant();
  };
  std::string both = strings("s", {"a", "b", ""}) + strings("t", {"b"});
  EXPECT_EQ(fold(both + onnxNode("Equal", {"s", "t"})), "bool<3>: 0 1 0");
  EXPECT_EQ(fold(constants() + onnxNode("Equal", {"ab", "b"})), "bool<2>: 0 1");
  EXPECT_EQ(fold(constants() + onnxNode("Equal", {"ab", "cb"})),
            "bool<1x2>: 0 1");
  EXPECT_EQ(fold(both + onnxNode("Shape", {"s"})), "int64<1>: 3");
  EXPECT_EQ(fold(both + onnxNode("Size", {"s"})), "int64<>: 3");
  // Through nodes that move them.
  EXPECT_EQ(fold(both +
                 onnxNode("Concat", {"t", "s"}, intAttr("axis", 0), "joined") +
                 onnxNode("Equal", {"joined", "t"})),
            "bool<4>: 1 0 1 0");
  EXPECT_EQ(fold(both + int64s("two", {1, 2}) +
                 onnxNode("Split", {"s", "two"}, "output: \"rest\" ", "first") +
                 onnxNode("Equal", {"rest", "t"})),
            "bool<2>: 1 0");
}

TEST(ImporterStrings, RunsMoveAndCompareThem) {
  std::string table = strings("s", {"a", "b"});
  std::string picked = table + pickFirst("s");
  EXPECT_EQ(run(picked + onnxNode("Equal", {"picked", "s"})), "bool<2>: 1 0");
  EXPECT_EQ(run(picked + onnxNode("Shape", {"picked"})), "int64<1>: 1");
  EXPECT_EQ(run(table + strings("t", {"b"}) +
                onnxNode("Cast", {"x"}, intAttr("to", 9), "isOne") +
                onnxNode("Where", {"isOne", "s", "t"}, "", "chosen") +
                onnxNode("Equal", {"chosen", "t"})),
            "bool<2>: 1 1");
  EXPECT_EQ(run(picked + modelNode("LabelEncoder", {"picked"},
                                   stringsAttr("keys_strings", {"b", "a"}) +
                                       intsAttr("values_int64s", {5, 6}))),
            "int64<1>: 6");
  EXPECT_EQ(
      run(picked + modelNode("OneHotEncoder", {"picked"},
                             stringsAttr("cats_strings", {"c", "b", "a"}))),
      "float<1x3>: 0 0 1");
}

TEST(ImporterStrings, KeysInATensor) {
  std::string keys = "attribute { name: \"keys_tensor\" type: TENSOR t { "
                     "data_type: 8 dims: 2 string_data: \"b\" string_data: "
                     "\"a\" } } attribute { name: \"values_tensor\" type: "
                     "TENSOR t { data_type: 1 dims: 2 float_data: 5 "
                     "float_data: 6 } } ";
  EXPECT_EQ(run(strings("s", {"a", "b", "c"}) +
                modelNode("LabelEncoder", {"s"},
                          keys + "attribute { name: \"default_tensor\" type: "
                                 "TENSOR t { data_type: 1 dims: 1 float_data: "
                                 "9 } } ",
                          "z") +
                onnxNode("Add", {"z", "x"})),
            "float<3>: 6 5 9");
}

/// The graph of a branch, with the output z.
static std::string branch(llvm::StringRef name, const std::string &nodes) {
  return ("attribute { name: \"" + name + "\" type: GRAPH g { name: \"" + name +
          "\" " + nodes + "output { name: \"z\" } } } ")
      .str();
}

TEST(ImporterStrings, BranchesHaveThem) {
  std::string start =
      strings("s", {"a", "b"}) + onnxNode("Cast", {"x"}, intAttr("to", 9), "c");
  std::string then =
      branch("then_branch", onnxNode("Equal", {"s", "s"}, "", "z"));
  std::string own = strings("t", {"b"});
  EXPECT_EQ(
      run(start + onnxNode("If", {"c"},
                           then + branch("else_branch",
                                         own + onnxNode("Equal", {"s", "t"}, "",
                                                        "z")))),
      "bool<2>: 0 1");
  EXPECT_THAT(
      make(start +
           onnxNode("If", {"c"},
                    then + branch("else_branch",
                                  onnxNode("Identity", {"s"}, "", "z"))))
          .importError(),
      HasSubstr("node 'y' (If): the output 'z' of the graph 'else_branch' is a "
                "tensor of strings; accepted: floats, integers and bool"));
}

/// A later import of the same model has the same numbers.
TEST(ImporterStrings, ModelsAreImportedAgain) {
  std::string text =
      make(strings("s", {"a", "b"}) + floats("f", {2}, {3, 4}) +
           strings("t", {"b"}) + onnxNode("Equal", {"s", "t"}, "", "c") +
           onnxNode("Where", {"c", "f", "x"}))
          .str();
  OnnxModel model = llvm::cantFail(OnnxModel::parse(text, "m", ""));
  ImportOptions options;
  options.evaluate = evaluateNode;
  for (int i = 0; i < 3; ++i) {
    auto module = model.import(options);
    EXPECT_TRUE(bool(module)) << llvm::toString(module.takeError());
  }
}

TEST(ImporterStrings, OthersAreRefused) {
  auto refusal = [](std::string body) {
    return make(std::move(body)).importError();
  };
  std::string s = strings("s", {"a", "b"}), picked = s + pickFirst("s");
  // Their numbers say nothing.
  EXPECT_EQ(refusal(s + onnxNode("Add", {"x", "s"})),
            "'m': node 'y' (Add): input 1 ('s') is a tensor of strings; "
            "accepted: floats, integers and bool");
  for (std::string type : {"Cast", "TopK", "Unique", "If", "SequenceConstruct"})
    EXPECT_THAT(refusal(s + onnxNode(type, {"s"})),
                HasSubstr("(" + type +
                          "): input 0 ('s') is a tensor of strings; accepted"));
  EXPECT_THAT(refusal(s + onnxNode("Gather", {"x", "s"})),
              HasSubstr("(Gather): input 1 ('s') is a tensor of strings"));
  EXPECT_EQ(refusal(s + onnxNode("Equal", {"s", "x"})),
            "'m': node 'y' (Equal): input 0 ('s') is a tensor of strings and "
            "input 1 ('x') is none; accepted: both of strings, or none");
  // Outputs of the model.
  EXPECT_EQ(refusal(picked + onnxNode("Identity", {"picked"})),
            "'m': node 'y' (Identity): the output 'y' of the model is a tensor "
            "of strings; accepted: floats, integers and bool");
  // The keys are of the kind of the input.
  std::string values = intsAttr("values_int64s", {1});
  EXPECT_THAT(
      refusal(s + modelNode("LabelEncoder", {"s"},
                            intsAttr("keys_int64s", {1}) + values)),
      HasSubstr("the keys are numbers; accepted: strings, as input 0 has"));
  EXPECT_THAT(
      refusal(modelNode("LabelEncoder", {"x"},
                        stringsAttr("keys_strings", {"a"}) + values)),
      HasSubstr("the keys are strings; accepted: numbers, as input 0 has"));
  EXPECT_THAT(refusal(s + modelNode("OneHotEncoder", {"s"},
                                    intsAttr("cats_int64s", {1}))),
              HasSubstr("'cats_int64s' is given; accepted: 'cats_strings'"));
}

TEST(ImporterStrings, MalformedOnes) {
  auto refusal = [](std::string tensor) {
    return make("initializer { name: \"s\" data_type: 8 " + tensor + " } " +
                onnxNode("Relu", {"x"}))
        .importError();
  };
  EXPECT_EQ(refusal("dims: 2 string_data: \"a\""),
            "'m': initializer 's': 2 strings are needed, got 1");
  EXPECT_EQ(refusal("dims: 1 raw_data: \"a\""),
            "'m': initializer 's': strings are in raw data, a segment or a "
            "file; accepted: string_data");
  EXPECT_EQ(refusal("dims: -1"),
            "'m': initializer 's': shape -1 has a negative extent");
  EXPECT_THAT(make("sparse_initializer { values { name: \"s\" data_type: 8 "
                   "dims: 1 string_data: \"a\" } indices { data_type: 7 dims: "
                   "1 int64_data: 0 } dims: 2 } " +
                   onnxNode("Relu", {"x"}))
                  .importError(),
              HasSubstr("element type STRING is not supported"));
}
