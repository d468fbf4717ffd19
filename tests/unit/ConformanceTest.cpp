//===- ConformanceTest.cpp - The runner of ONNX's own tests ---------------===//

#include "OnnxText.h"
#include "TestFolder.h"
#include "conformance/NodeTest.h"
#include "conformance/Report.h"
#include "conformance/UlpError.h"
#include "gmock/gmock.h"
#include <google/protobuf/text_format.h>
#include <onnx/onnx-data_pb.h>
#include <onnx/onnx_pb.h>

using namespace glowish;
using testing::HasSubstr;

namespace {

/// A suite of made-up tests.
class Conformance : public TestFolder {
protected:
  template <typename T>
  void write(const std::string &name, const std::string &text) const {
    T proto;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto));
    std::string file = in(name);
    ASSERT_FALSE(
        llvm::sys::fs::create_directories(llvm::sys::path::parent_path(file)));
    put(name, proto.SerializeAsString());
  }

  /// A test with one node of float inputs [2] and this output.
  void add(const std::string &name, const std::string &model,
           const std::string &expected) const {
    write<onnx::ModelProto>(name + "/model.onnx", model);
    write<onnx::TensorProto>(name + "/test_data_set_0/input_0.pb",
                             "dims: 2 data_type: 1 float_data: -1 "
                             "float_data: 2000");
    write<onnx::TensorProto>(name + "/test_data_set_0/output_0.pb", expected);
  }

  std::vector<NodeTest> find() const {
    auto tests = findNodeTests(folder);
    EXPECT_TRUE(bool(tests)) << llvm::toString(tests.takeError());
    return tests ? std::move(*tests) : std::vector<NodeTest>();
  }

  /// "" for a pass.
  static std::string run(const NodeTest &test, llvm::StringRef backend) {
    auto passed = runNodeTest(test, backend);
    return passed ? "" : llvm::toString(passed.takeError());
  }
};

} // namespace

static std::string makeModel(const std::string &nodes,
                             const std::string &type = "elem_type: 1") {
  return "ir_version: 7 opset_import { version: 13 } graph { name: \"g\" " +
         nodes + " input { name: \"x\" type { tensor_type { " + type +
         " shape { dim { dim_value: 2 } } } } } output { name: \"y\" type { "
         "tensor_type { elem_type: 1 } } } }";
}

static const std::string relu =
    "node { op_type: \"Relu\" input: \"x\" output: \"y\" }";
static const std::string zeroAnd = "dims: 2 data_type: 1 float_data: 0 ";

TEST_F(Conformance, AcceptsOnnxsTolerancesAndNoMore) {
  add("a/node/near", makeModel(relu), zeroAnd + "float_data: 2001.9");
  add("a/node/off", makeModel(relu), zeroAnd + "float_data: 2003");
  add("a/node/shape", makeModel(relu),
      "dims: 1 dims: 2 data_type: 1 "
      "float_data: 0 float_data: 2000");
  std::vector<NodeTest> tests = find();
  ASSERT_EQ(tests.size(), 3u);
  EXPECT_EQ(tests[0].name, "a/node/near");
  for (const char *backend : {"Interpreter", "CPU"}) {
    EXPECT_EQ(run(tests[0], backend), "");
    EXPECT_EQ(run(tests[1], backend),
              "output 'y' differs in 1 of 2 elements, most by 3 at 1: 2000, "
              "not 2003");
    EXPECT_THAT(run(tests[2], backend),
                HasSubstr("is float<2>, not float<1x2>"));
  }
}

TEST_F(Conformance, ComparesIntegersExactly) {
  add("a/node/int",
      makeModel("node { op_type: \"Cast\" input: \"x\" output: \"y\" attribute "
                "{ name: \"to\" type: INT i: 7 } }"),
      "dims: 2 data_type: 7 int64_data: -1 int64_data: 2001");
  EXPECT_THAT(run(find()[0], "CPU"), HasSubstr("most by 1 at 1"));
}

TEST_F(Conformance, RunsModelsWithoutInputsOnARamp) {
  write<onnx::ModelProto>("light/m.onnx", makeModel(relu));
  write<onnx::TensorProto>("light/m_output_0.pb", zeroAnd + "float_data: 0.5");
  write<onnx::ModelProto>("light/none.onnx", makeModel(relu));
  std::vector<NodeTest> tests = find();
  ASSERT_EQ(tests.size(), 1u);
  EXPECT_EQ(tests[0].name, "light/m");
  EXPECT_EQ(run(tests[0], "Interpreter"), "");
}

TEST_F(Conformance, BindsWhatDecidesAShape) {
  std::string model =
      "ir_version: 7 opset_import { version: 13 } graph { name: \"g\" node { "
      "op_type: \"Expand\" input: \"x\" input: \"s\" output: \"y\" } input { "
      "name: \"x\" type { tensor_type { elem_type: 1 shape { dim { dim_value: "
      "2 "
      "} } } } } input { name: \"s\" type { tensor_type { elem_type: 7 shape { "
      "dim { dim_value: 2 } } } } } output { name: \"y\" type { tensor_type { "
      "elem_type: 1 } } } }";
  add("a/node/expand", model,
      "dims: 2 dims: 2 data_type: 1 float_data: -1 float_data: 2000 "
      "float_data: -1 float_data: 2000");
  write<onnx::TensorProto>("a/node/expand/test_data_set_0/input_1.pb",
                           "dims: 2 data_type: 7 int64_data: 2 int64_data: 2");
  put("a/scope.csv", "suite,test,ops,opset,class,tags\n"
                     "node,expand,Expand,13,A,zero const-input:s\n");
  std::vector<NodeTest> tests = find();
  ASSERT_EQ(tests.size(), 1u);
  EXPECT_EQ(tests[0].testClass, "A");
  EXPECT_EQ(tests[0].constantInputs, std::vector<std::string>{"s"});
  auto passed = runNodeTest(tests[0], "CPU");
  ASSERT_TRUE(bool(passed)) << llvm::toString(passed.takeError());
  EXPECT_EQ(passed->constants, std::set<std::string>{"s"});
  EXPECT_EQ(PassedTest::parse(passed->str()).constants, passed->constants);
}

TEST_F(Conformance, SkipsByWhatTheModelNeeds) {
  auto getSkip = [](const std::string &text,
                    bool isWritten = false) -> std::string {
    onnx::ModelProto model;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &model));
    const SkipKind *kind = findSkip(model, isWritten);
    return kind ? kind->name.str() : "";
  };
  auto makeNode = [](const std::string &rest) {
    return "node { input: \"x\" output: \"y\" " + rest + " }";
  };
  auto makeInput = [](const std::string &type) {
    return makeModel(relu + " input { name: \"z\" type { " + type + " } }");
  };
  std::string tensor = "tensor_type { elem_type: 1 }";
  EXPECT_EQ(getSkip(makeModel(relu)), "");
  EXPECT_EQ(getSkip(makeModel(relu, "elem_type: 8")), "strings");
  EXPECT_EQ(getSkip(makeModel(relu, "elem_type: 17")), "");
  EXPECT_EQ(getSkip(makeModel(relu, "elem_type: 17"), true), "low-bit");
  EXPECT_EQ(getSkip(makeModel(relu, "elem_type: 27")), "new types");
  std::string to = "op_type: \"Cast\" attribute { name: \"to\" type: INT i: ";
  // Within the model.
  EXPECT_EQ(getSkip(makeModel(makeNode(to + "8 }"))), "");
  EXPECT_EQ(getSkip(makeModel(makeNode(to + "22 }"))), "");
  EXPECT_EQ(getSkip(makeModel(makeNode(to + "22 }")), true), "low-bit");
  EXPECT_EQ(getSkip(makeModel(makeNode(to + "16 }"))), "");
  // In a branch.
  EXPECT_EQ(getSkip(makeModel(makeNode(
                "op_type: \"If\" attribute { name: \"then_branch\" type: GRAPH "
                "g { " +
                makeNode(to + "27 }") + " } }"))),
            "new types");
  EXPECT_EQ(
      getSkip(makeInput("sequence_type { elem_type { " + tensor + " } }")), "");
  EXPECT_EQ(
      getSkip(makeInput("optional_type { elem_type { " + tensor + " } }")), "");
  EXPECT_EQ(getSkip(makeInput("map_type { key_type: 7 value_type { " + tensor +
                              " } }")),
            "maps");
  EXPECT_EQ(getSkip(makeModel(
                makeNode("op_type: \"Scaler\" domain: \"ai.onnx.ml\""))),
            "");
  EXPECT_EQ(getSkip(makeModel(makeNode("op_type: \"ImageDecoder\""))),
            "images");
  EXPECT_EQ(getSkip(makeModel(makeNode("op_type: \"Loop\""))), "");
}

/// Causes stay when the list is written again; those of new failures are
/// unknown.
TEST_F(Conformance, CausesOfExpectedFailures) {
  std::vector<NodeTest> tests(3);
  tests[0].name = "old";
  tests[1].name = "new";
  tests[2].name = "repaired";
  BackendResults results{"CPU", std::vector<TestResult>(3)};
  results.results[0].message = results.results[1].message = "differs";
  results.results[2].passed = true;
  ExpectedFailures failures = {{"old", {{"CPU"}, "wrong data"}},
                               {"repaired", {{"CPU"}, "not supported"}}};
  updateFailures(failures, tests, results);
  ASSERT_FALSE(bool(writeExpectedFailures(in("list.txt"), failures)));
  auto read = readExpectedFailures(in("list.txt"));
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)["old"].cause, "wrong data");
  EXPECT_EQ((*read)["new"].cause, "unknown, differs");
  EXPECT_EQ(findUnexplained(*read), std::vector<std::string>{"new"});
}

/// A sequence is an output for each element, and their number counts.
TEST_F(Conformance, SequenceOutputs) {
  std::string elements = "elem_type: 1 tensor_values { dims: 2 data_type: 1 "
                         "float_data: 1 float_data: -2000 } ";
  std::string model =
      "ir_version: 7 opset_import { version: 13 } graph { name: \"g\" " +
      onnxNode("Neg", {"x"}, "", "n") +
      onnxNode("SequenceConstruct", {"n", "x"}, "", "y") +
      " input { name: \"x\" type { tensor_type { elem_type: 1 shape { dim { "
      "dim_value: 2 } } } } } output { name: \"y\" type { sequence_type { "
      "elem_type { tensor_type { elem_type: 1 } } } } } }";
  std::string last = "tensor_values { dims: 2 data_type: 1 float_data: -1 "
                     "float_data: 2000 } ";
  for (std::string name : {"both", "first"}) {
    add(name, model, "");
    write<onnx::SequenceProto>(name + "/test_data_set_0/output_0.pb",
                               elements + (name == "both" ? last : ""));
  }
  for (const NodeTest &test : find())
    EXPECT_EQ(run(test, "Interpreter"),
              test.name == "both" ? "" : "the model has 2 outputs, not 1");
}

/// Inputs that are sequences have the elements of the data, those that are
/// optionals their value or none.
TEST_F(Conformance, SequencesAndOptionalsAsInputs) {
  auto makeContainerModel = [](const std::string &type,
                               const std::string &node) {
    return "ir_version: 8 opset_import { version: 18 } graph { name: \"g\" " +
           node + " input { name: \"s\" type { " + type +
           " } } output { name: \"y\" type { tensor_type { } } } }";
  };
  std::string tensor = "elem_type { tensor_type { elem_type: 1 shape { dim { "
                       "dim_value: 2 } } } }";
  write<onnx::ModelProto>(
      "length/model.onnx",
      makeContainerModel("sequence_type { " + tensor + " }",
                         onnxNode("SequenceLength", {"s"}, "", "y")));
  write<onnx::SequenceProto>(
      "length/test_data_set_0/input_0.pb",
      "elem_type: 1 tensor_values { dims: 2 data_type: 1 float_data: 1 "
      "float_data: 2 } tensor_values { dims: 2 data_type: 1 float_data: 1 "
      "float_data: 2 }");
  write<onnx::TensorProto>("length/test_data_set_0/output_0.pb",
                           "data_type: 7 int64_data: 2");
  write<onnx::ModelProto>(
      "none/model.onnx",
      makeContainerModel("optional_type { " + tensor + " }",
                         onnxNode("OptionalHasElement", {"s"}, "", "y")));
  write<onnx::OptionalProto>("none/test_data_set_0/input_0.pb", "elem_type: 1");
  write<onnx::TensorProto>("none/test_data_set_0/output_0.pb",
                           "data_type: 9 int32_data: 0");
  std::vector<NodeTest> tests = find();
  ASSERT_EQ(tests.size(), 2u);
  for (const NodeTest &test : tests)
    EXPECT_EQ(run(test, "Interpreter"), "") << test.name;
}

TEST(UlpError, IsInUnitsOfTheExpectedElement) {
  auto measure = [](ElemKind kind, double actual, double expected) {
    Tensor a(Type(kind, {1})), e(Type(kind, {1}));
    a.setFromDouble(0, actual);
    e.setFromDouble(0, expected);
    return measureUlps(a, e);
  };
  EXPECT_EQ(measure(ElemKind::Float, 1 + 0x1p-22, 1), 2);
  EXPECT_EQ(measure(ElemKind::Float, 1 - 0x1p-24, 1), 0.5);
  EXPECT_EQ(measure(ElemKind::Double, 1 + 0x1p-22, 1), 0x1p30);
  EXPECT_EQ(measure(ElemKind::Float16, 2, 2 + 0x1p-9), 1);
  EXPECT_EQ(measure(ElemKind::Int32, 5, 7), 0);
  // Next to 0 that of 1e-4, which is 2^-37.
  EXPECT_EQ(measure(ElemKind::Float, 0x1p-37, 0), 1);
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(measure(ElemKind::Float, infinity, infinity), 0);
  EXPECT_EQ(measure(ElemKind::Float, 1, infinity), infinity);
}
