//===- ImporterTest.cpp - ONNX models to graphs ---------------------------===//

#include "Messages.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Importer/ONNX.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

/// A model in protobuf text with float inputs of the given shapes and the
/// output "y".
struct TextModel {
  int opset = 13;
  std::string body;
  std::vector<std::pair<std::string, std::vector<int64_t>>> inputs = {
      {"x", {2, 3}}};

  std::string str() const {
    std::string text = llvm::formatv(
        "ir_version: 7 opset_import {{ version: {0} } graph {{ name: \"g\" ",
        opset);
    text += body;
    for (const auto &[name, shape] : inputs) {
      text += "input { name: \"" + name +
              "\" type { tensor_type { elem_type: 1 shape { ";
      for (int64_t dim : shape)
        text += "dim { dim_value: " + std::to_string(dim) + " } ";
      text += "} } } } ";
    }
    return text + "output { name: \"y\" } }";
  }

  llvm::Expected<std::unique_ptr<Module>> import(ImportOptions options = {}) {
    if (!options.evaluate)
      options.evaluate = evaluateNode;
    std::string text = str();
    return importOnnx(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(text.data()),
                       text.size()),
        "m", options);
  }
  /// The value that is saved to y.
  NodeValue importOutput() {
    auto made = import();
    if (!made) {
      ADD_FAILURE() << llvm::toString(made.takeError());
      return {};
    }
    module = std::move(*made);
    return llvm::cast<SaveNode>(
               module->findFunction("main")->getNodes().back())
        .getInput();
  }
  std::string importError(ImportOptions options = {}) {
    auto made = import(std::move(options));
    return made ? "imported" : llvm::toString(made.takeError());
  }
  std::unique_ptr<Module> module;
};

TextModel node(std::string fields, int opset = 13) {
  TextModel model;
  model.opset = opset;
  model.body = "node { " + fields + " } ";
  return model;
}

std::string ints(const char *name, std::vector<int64_t> values) {
  std::string text =
      std::string("initializer { name: \"") + name + "\" data_type: 7 dims: " +
      std::to_string(values.size());
  for (int64_t value : values)
    text += " int64_data: " + std::to_string(value);
  return text + " } ";
}

} // namespace

TEST(Importer, ListsAllUnsupportedOperators) {
  TextModel model;
  model.body = "node { name: \"a\" op_type: \"Foo\" input: \"x\" output: \"t\" } "
               "node { op_type: \"Relu\" input: \"t\" output: \"u\" } "
               "node { op_type: \"Bar\" domain: \"d\" input: \"u\" output: \"y\" }";
  EXPECT_EQ(model.importError(),
            "'m': 2 nodes have operators that are not supported:\n"
            "node 'a' (Foo)\nnode 'y' (Bar) of domain 'd'");
}

TEST(Importer, NamesNodeOperatorAndOperand) {
  TextModel model = node("name: \"c\" op_type: \"Conv\" input: \"x\" "
                         "input: \"w\" output: \"y\"");
  model.inputs = {{"x", {1, 3, 8, 8}}, {"w", {4, 2, 3, 3}}};
  std::string message = model.importError();
  EXPECT_NE(message.find("node 'c' (Conv): "), std::string::npos) << message;
  EXPECT_NE(message.find("operand 'filter'"), std::string::npos) << message;
}

TEST(Importer, RefusesWhatIsNotDefined) {
  EXPECT_EQ(node("op_type: \"Relu\" input: \"z\" output: \"y\"").importError(),
            "'m': node 'y' (Relu): input 'z' is not defined before it");
  EXPECT_EQ(node("op_type: \"Relu\" input: \"x\" output: \"x\"").importError(),
            "'m': node 'x' (Relu): the value 'x' is defined twice");
  EXPECT_EQ(node("op_type: \"Relu\" input: \"x\" output: \"z\"").importError(),
            "'m': the output 'y' is not computed by any node");
}

TEST(Importer, InputTypes) {
  TextModel model = node("op_type: \"Relu\" input: \"x\" output: \"y\"");
  ImportOptions options;
  options.inputTypes["x"] = Type(ElemKind::Float, {5, 7});
  auto module = model.import(options);
  ASSERT_TRUE(bool(module));
  EXPECT_EQ((*module)->findPlaceholder("y")->getType().str(), "float<5x7>");
  options.inputTypes = {{"x", Type(ElemKind::Float, {5})}};
  EXPECT_EQ(model.importError(options),
            "'m': -model-input states rank 1 for 'x'; the model has 2");
  options.inputTypes = {{"x", Type(ElemKind::Double, {5, 7})}};
  EXPECT_EQ(model.importError(options),
            "'m': -model-input states double for 'x'; the model has float");
  options.inputTypes = {{"w", Type(ElemKind::Float, {5})}};
  EXPECT_EQ(model.importError(options),
            "'m': -model-input: the model has no input 'w'; it has 'x'");
}

TEST(Importer, InitializersWinOverInputs) {
  TextModel model = node("op_type: \"Add\" input: \"x\" input: \"b\" "
                         "output: \"y\"");
  model.body += "initializer { name: \"b\" data_type: 1 dims: 3 "
                "float_data: 1 float_data: 2 float_data: 3 } ";
  model.inputs = {{"x", {2, 3}}, {"b", {3}}};
  model.importOutput();
  EXPECT_EQ(model.module->getPlaceholders().size(), 2u); // x and y
}

TEST(Importer, LegacyBroadcastAlignsAtTheAxis) {
  TextModel model = node("op_type: \"Add\" input: \"x\" input: \"b\" "
                         "output: \"y\" attribute { name: \"broadcast\" i: 1 "
                         "type: INT } attribute { name: \"axis\" i: 1 type: "
                         "INT }",
                         6);
  model.inputs = {{"x", {2, 3, 4, 5}}, {"b", {3, 4}}};
  auto *add = model.importOutput().getNodeAs<AddNode>();
  ASSERT_TRUE(add);
  EXPECT_EQ(formatShape(add->getY().getShape()), "3x4x1");
}

TEST(Importer, SoftmaxBefore13IsFlat) {
  TextModel model = node("op_type: \"Softmax\" input: \"x\" output: \"y\"", 9);
  model.inputs = {{"x", {2, 3, 4}}};
  auto *reshape = model.importOutput().getNodeAs<ReshapeNode>();
  ASSERT_TRUE(reshape);
  EXPECT_EQ(reshape->getInput().getType().str(), "float<2x12>");
}

TEST(Importer, AxisWrittenAsUnsigned) {
  TextModel model =
      node("op_type: \"Softmax\" input: \"x\" output: \"y\" attribute { name: "
           "\"axis\" i: 4294967295 type: INT }");
  auto *softmax = model.importOutput().getNodeAs<SoftmaxNode>();
  ASSERT_TRUE(softmax);
  EXPECT_EQ(softmax->getAxis(), 1);
  EXPECT_EQ(node("op_type: \"Softmax\" input: \"x\" output: \"y\" attribute { "
                 "name: \"axis\" i: 2 type: INT }")
                .importError(),
            "'m': node 'y' (Softmax): attribute 'axis' is 2; accepted for rank "
            "2: -2 to 1");
}

TEST(Importer, ShapeArithmeticIsFolded) {
  // y = reshape(x, concat(shape(x)[0:1], [-1]))
  TextModel model;
  model.inputs = {{"x", {2, 3, 4}}};
  model.body =
      ints("zero", {0}) + ints("rest", {-1}) +
      "node { op_type: \"Shape\" input: \"x\" output: \"s\" } "
      "node { op_type: \"Gather\" input: \"s\" input: \"zero\" output: \"n\" } "
      "node { op_type: \"Concat\" input: \"n\" input: \"rest\" output: \"t\" "
      "attribute { name: \"axis\" i: 0 type: INT } } "
      "node { op_type: \"Reshape\" input: \"x\" input: \"t\" output: \"y\" } ";
  NodeValue y = model.importOutput();
  ASSERT_TRUE(y);
  EXPECT_EQ(y.getType().str(), "float<2x12>");
  EXPECT_EQ(model.module->findFunction("main")->getNodes().size(), 2u);
}

TEST(Importer, SlicesAsAttributesAndAsInputs) {
  TextModel old =
      node("op_type: \"Slice\" input: \"x\" output: \"y\" attribute { name: "
           "\"starts\" ints: 1 type: INTS } attribute { name: \"ends\" ints: "
           "-1 type: INTS } attribute { name: \"axes\" ints: 1 type: INTS }",
           9);
  EXPECT_EQ(old.importOutput().getType().str(), "float<2x1>");
  TextModel model = node("op_type: \"Slice\" input: \"x\" input: \"s\" input: "
                         "\"e\" input: \"a\" input: \"st\" output: \"y\"");
  model.body += ints("s", {-1}) + ints("e", {INT64_MIN}) + ints("a", {-1}) +
                ints("st", {-2});
  auto *slice = model.importOutput().getNodeAs<SliceNode>();
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->getStarts().vec(), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(slice->getSizes().vec(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(slice->getSteps().vec(), (std::vector<int64_t>{1, -2}));
}

TEST(Importer, ExternalDataStayInTheFolder) {
  TextModel model = node("op_type: \"Add\" input: \"x\" input: \"b\" "
                         "output: \"y\"");
  model.body += "initializer { name: \"b\" data_type: 1 dims: 3 data_location: "
                "EXTERNAL external_data { key: \"location\" value: "
                "\"../secret\" } } ";
  EXPECT_NE(model.importError().find("initializer 'b'"), std::string::npos);
}
