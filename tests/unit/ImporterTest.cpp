//===- ImporterTest.cpp - ONNX models to graphs ---------------------------===//

#include "OnnxText.h"
#include "TestFolder.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/Importer/OperatorNotes.h"

using namespace glowish;

namespace {

std::string relu(llvm::StringRef input, llvm::StringRef output) {
  return onnxNode("Relu", {input.str()}, "", output.str());
}

} // namespace

//===- Operators that are not supported -----------------------------------===//

TEST(Importer, ListsAllUnsupportedOperators) {
  TextModel model;
  model.body =
      "node { name: \"a\" op_type: \"Foo\" input: \"x\" output: \"t\" } "
      "node { op_type: \"Relu\" input: \"t\" output: \"u\" } "
      "node { op_type: \"Bar\" domain: \"d\" input: \"u\" output: \"v\" } "
      "node { op_type: \"HardSwish\" input: \"v\" output: \"y\" }";
  EXPECT_EQ(model.importError(),
            "'m': 3 nodes have operators that are not supported:\n"
            "node 'a' (Foo) of opset 13\n"
            "node 'v' (Bar) of domain 'd', opset 1\n"
            "node 'y' (HardSwish): supported since opset 14, the model has 13");
}

TEST(Importer, NamesFiveUnsupportedOperatorsInOneMessage) {
  TextModel model;
  model.header = "opset_import { domain: \"d\" version: 3 } "
                 "opset_import { domain: \"com.microsoft\" version: 1 } ";
  model.body =
      "node { name: \"a\" op_type: \"Foo\" input: \"x\" output: \"t\" } "
      "node { name: \"b\" op_type: \"Bar\" domain: \"d\" input: \"t\" "
      "output: \"u\" } "
      "node { op_type: \"Gelu\" input: \"u\" output: \"v\" } "
      "node { name: \"c\" op_type: \"Relu\" domain: \"com.microsoft\" "
      "input: \"v\" output: \"w\" } "
      "node { op_type: \"Baz\" domain: \"ai.onnx\" input: \"w\" "
      "output: \"y\" }";
  EXPECT_EQ(model.importError(),
            "'m': 5 nodes have operators that are not supported:\n"
            "node 'a' (Foo) of opset 13\n"
            "node 'b' (Bar) of domain 'd', opset 3\n"
            "node 'v' (Gelu): supported since opset 20, the model has 13\n"
            "node 'c' (Relu) of domain 'com.microsoft', opset 1\n"
            "node 'y' (Baz) of opset 13");
}

TEST(Importer, UnsupportedOperatorsComeBeforeOtherErrors) {
  TextModel model;
  model.body =
      onnxNode("Reshape", {"missing"}, "", "t") + onnxNode("Foo", {"t"});
  EXPECT_EQ(model.importError(),
            "'m': 1 node has an operator that is not supported:\n"
            "node 'y' (Foo) of opset 13");
}

TEST(Importer, ListsOperatorsSorted) {
  auto list = listOnnxOperators();
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
  auto has = [&](llvm::StringRef name) {
    return llvm::any_of(list, [&](const auto &op) { return op.first == name; });
  };
  EXPECT_TRUE(has("Conv"));
  EXPECT_FALSE(has("Foo"));
}

/// A model of opset 17, as those that are written, of one node whose operands
/// are of the kinds that \p kind accepts.
static TextModel makeRecordModel(NodeKind kind, llvm::StringRef onnxOperator) {
  const ScalarOpInfo &info = getScalarOpInfo(*getNodeInfo(kind).scalarOp);
  std::vector<std::string> operands(info.numArgs, "x");
  if (!info.accepts(ElemKind::Float))
    operands.assign(info.numArgs, "flags");
  if (info.firstIsBool)
    operands[0] = "flags";
  TextModel model = oneNode(onnxOperator, operands, "", 17);
  model.body += onnxNode("Cast", {"x"}, intAttr("to", 9), "flags");
  return model;
}

TEST(Importer, ImportsTheOperatorsThatRecordsName) {
  auto list = listOnnxOperators();
  auto check = [&](NodeKind kind, llvm::StringRef name, int since,
                   std::vector<double> defaults = {}) {
    SCOPED_TRACE(name.str());
    auto listed = llvm::find_if(
        list, [&](const auto &op) { return op.first == name.str(); });
    ASSERT_NE(listed, list.end());
    EXPECT_EQ(listed->second, std::vector<int>{since});
    TextModel model = makeRecordModel(kind, name);
    NodeValue result = model.importOutput();
    ASSERT_TRUE(result);
    EXPECT_EQ(result.node->getKind(), kind);
    ASSERT_EQ(result.node->getAttrs().size(), defaults.size());
    for (auto [attr, value] : llvm::zip(result.node->getAttrs(), defaults))
      EXPECT_EQ(std::get<double>(attr), double(float(value)));
  };
#define ONNX_ELEMENT_WISE(NAME, ONNX, SINCE, ...)                              \
  check(NodeKind::NAME, ONNX, SINCE, {__VA_ARGS__});
#define GET_ONNX_ELEMENT_WISE_LIST
#include "glowish/Graph/NodeFunctions.inc"
}

TEST(Importer, KnowsLimitsOfOperators) {
  EXPECT_EQ(getOnnxOperatorNotes("Upsample").until, 9);
  EXPECT_EQ(getOnnxOperatorNotes("Upsample").limit, "");
  EXPECT_EQ(getOnnxOperatorNotes("LinearAttention").limit,
            "unrolled: at most 4096 steps");
  EXPECT_EQ(getOnnxOperatorNotes("com.microsoft.Gelu").until, 0);
  EXPECT_EQ(getOnnxOperatorNotes("Foo").limit, "");
}

TEST(Importer, NamesNodeOperatorAndOperand) {
  TextModel model = oneNode("Conv", {"x", "w"}, "", 13,
                            {{"x", {1, 3, 8, 8}}, {"w", {4, 2, 3, 3}}});
  EXPECT_EQ(model.importError().find("'m': node 'y' (Conv): Convolution 'y': "
                                     "operand 'filter'"),
            0u)
      << model.importError();
}

TEST(Importer, MalformedNamesStayOnOneLine) {
  TextModel model;
  model.body = "node { name: \"a\\nb\" op_type: \"Foo\" output: \"y\" }";
  EXPECT_EQ(model.importError(),
            "'m': 1 node has an operator that is not supported:\n"
            "node 'a\\x0Ab' (Foo) of opset 13");
  model.body = "node { name: \"" + std::string(10000, 'n') +
               "\" op_type: \"Foo\" output: \"y\" }";
  EXPECT_LT(model.importError().size(), 300u);
  // Names are on one line in every other message, too.
  model = oneNode("Relu", {"x"});
  model.body += "input { name: \"a\\nerror: b\\033\" type { tensor_type { "
                "elem_type: 1 } } } ";
  EXPECT_EQ(
      model.importError(),
      "'m': input 'a\\x0Aerror: b\\x1B' has no shape; state its type with "
      "«model-input=a\\x0Aerror: b\\x1B,float,[...]»");
}

//===- Structure of the graph ---------------------------------------------===//

TEST(Importer, RefusesWhatIsNotDefined) {
  auto errorOf = [](std::string body) {
    TextModel model;
    model.body = std::move(body);
    return model.importError();
  };
  EXPECT_EQ(errorOf(relu("z", "y")),
            "'m': node 'y' (Relu): input 'z' is not defined");
  EXPECT_EQ(errorOf(relu("x", "x")),
            "'m': node 'x' (Relu): the value 'x' is defined twice");
  EXPECT_EQ(errorOf(relu("x", "y") + relu("x", "y")),
            "'m': node 'y' (Relu): the value 'y' is defined twice");
  EXPECT_EQ(errorOf(relu("x", "z")),
            "'m': the output 'y' is not computed by any node");
  EXPECT_EQ(errorOf(relu("u", "t") + relu("t", "u") + relu("u", "y")),
            "'m': node 'u' (Relu): its input 't' depends on its output: the "
            "nodes form a cycle");
  EXPECT_EQ(errorOf(relu("y", "y")),
            "'m': node 'y' (Relu): its input 'y' depends on its output: the "
            "nodes form a cycle");
}

TEST(Importer, SortsNodes) {
  TextModel model;
  model.body = relu("b", "y") + onnxNode("Add", {"a", "x"}, "", "b") +
               onnxNode("Neg", {"x"}, "", "a");
  auto *relu = model.importOutput().getNodeAs<ReluNode>();
  ASSERT_TRUE(relu);
  auto *add = relu->getX().getNodeAs<AddNode>();
  ASSERT_TRUE(add);
  EXPECT_TRUE(add->getX().getNodeAs<NegNode>());
  EXPECT_FALSE(verify(*model.module));
}

TEST(Importer, SortsDeepGraphs) {
  // Backwards: each node is found through the one before it.
  TextModel model;
  model.body = relu("t0", "y");
  for (int i = 0; i < 20000; ++i)
    model.body += relu(i == 19999 ? "x" : "t" + std::to_string(i + 1),
                       "t" + std::to_string(i));
  EXPECT_EQ(model.importError(), "imported");
}

TEST(Importer, RefusesInputsAndOutputsThatAreNone) {
  TextModel model = oneNode("Relu", {"x"});
  model.outputs = "";
  EXPECT_EQ(model.importError(), "'m': the model has no outputs");
  model.outputs = "output { name: \"y\" } output { name: \"y\" } ";
  EXPECT_EQ(model.importError(), "'m': the output 'y' is listed twice");
  model = oneNode("Relu", {"x"});
  model.inputs = {{"x", {2}}, {"x", {2}}};
  EXPECT_EQ(model.importError(), "'m': the input 'x' is listed twice");
}

TEST(Importer, PlaceholdersAreInTheModelsOrder) {
  TextModel model;
  model.inputs = {{"b", {2}}, {"unused", {3}}, {"a", {2}}};
  model.body = onnxNode("Sub", {"a", "b"}, "", "z") + relu("a", "c");
  model.outputs = "output { name: \"z\" } output { name: \"c\" } ";
  auto module = model.import();
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  std::string found;
  for (const auto &placeholder : (*module)->getPlaceholders())
    found += placeholder->getModelName().str() +
             (placeholder->isInput() ? " in, " : " out, ");
  EXPECT_EQ(found, "b in, unused in, a in, z out, c out, ");
  EXPECT_FALSE(verify(**module));
}

TEST(Importer, AnInputThatIsAnOutputIsOnePlaceholder) {
  TextModel model;
  model.body = relu("x", "y");
  model.outputs = "output { name: \"x\" } output { name: \"y\" } ";
  auto module = model.import();
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  Placeholder *both = (*module)->findPlaceholder("x");
  EXPECT_TRUE(both->isInput() && both->isOutput());
  EXPECT_EQ((*module)->getPlaceholders().size(), 2u);
  EXPECT_FALSE(verify(**module));
}

TEST(Importer, OneValueCanBeSeveralOutputs) {
  TextModel model;
  model.body = onnxNode("Identity", {"x"}, "", "a") +
               onnxNode("Identity", {"x"}, "", "b") + floats("c", {2}, {1, 2});
  model.outputs = "output { name: \"a\" } output { name: \"b\" } "
                  "output { name: \"c\" } ";
  auto module = model.import();
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  EXPECT_EQ((*module)->getPlaceholders().size(), 4u);
  EXPECT_EQ((*module)->findFunction("main")->getNodes().size(), 3u);
  EXPECT_FALSE(verify(**module));
}

TEST(Importer, NodesAreNamedAfterTheModelsValues) {
  TextModel model = oneNode("Conv", {"x", "w"}, "", 13,
                            {{"x", {1, 3, 8, 8}}, {"w", {4, 3, 3, 3}}});
  auto *transpose = model.importOutput().getNodeAs<TransposeNode>();
  ASSERT_TRUE(transpose);
  auto *convolution = transpose->getInput().getNodeAs<ConvolutionNode>();
  ASSERT_TRUE(convolution);
  EXPECT_EQ(convolution->getName(), "y");
  EXPECT_EQ(transpose->getName(), "y.nchw");
}

TEST(Importer, OpsetsDecide) {
  TextModel model = oneNode("Relu", {"x"}, "", 0);
  EXPECT_EQ(model.importError(), "'m': opset 0 does not exist");
  // Domains other than ONNX's own don't matter to its operators.
  model = oneNode("Relu", {"x"});
  model.header = "opset_import { domain: \"ai.onnx.ml\" version: 0 } ";
  EXPECT_EQ(model.importError(), "imported");
}

//===- Inputs -------------------------------------------------------------===//

TEST(Importer, StatedInputTypes) {
  TextModel model = oneNode("Relu", {"x"});
  ImportOptions options;
  options.inputTypes["x"] = Type(ElemKind::Float, {5, 7});
  auto module = model.import(options);
  ASSERT_TRUE(bool(module));
  EXPECT_EQ((*module)->findPlaceholder("y")->getType().str(), "float<5x7>");
  options.inputTypes = {{"x", Type(ElemKind::Float, {5})}};
  EXPECT_EQ(model.importError(options),
            "'m': «model-input» states rank 1 for 'x'; the model has 2");
  options.inputTypes = {{"x", Type(ElemKind::Double, {5, 7})}};
  EXPECT_EQ(model.importError(options),
            "'m': «model-input» states double for 'x'; the model has float");
  options.inputTypes = {{"w", Type(ElemKind::Float, {5})}};
  EXPECT_EQ(model.importError(options),
            "'m': «model-input»: the model has no input 'w'; it has 'x'");
  model.body += floats("x", {2, 3}, {1, 2, 3, 4, 5, 6});
  options.inputTypes = {{"x", Type(ElemKind::Float, {2, 3})}};
  EXPECT_EQ(model.importError(options),
            "'m': «model-input»: the model has no input 'x'; it has none");
}

static TextModel makeSymbolicModel(llvm::StringRef dim) {
  TextModel model = oneNode("Relu", {"x"});
  model.inputs.clear();
  model.body += "input { name: \"x\" type { tensor_type { elem_type: 7 shape { "
                "dim { " +
                dim.str() + " } dim { dim_value: 2 } } } } } ";
  return model;
}

TEST(Importer, SymbolicDimensions) {
  TextModel model = makeSymbolicModel("dim_param: \"batch\"");
  EXPECT_EQ(model.importError(),
            "'m': input 'x' has the symbolic dimension 'batch'; bind it with "
            "«define-symbol=batch,VALUE» or state the type with "
            "«model-input=x,int64,[...]»");
  ImportOptions options;
  options.symbols["batch"] = 17;
  auto module = model.import(options);
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  EXPECT_EQ((*module)->findPlaceholder("x")->getType().str(), "int64<17x2>");
  options.symbols["batch"] = -3;
  EXPECT_EQ(
      model.importError(options),
      "'m': input 'x': the dimension 'batch' is -3; at least 0 is needed");
  std::string unknown =
      "'m': input 'x' has a dimension without a value; state its type with "
      "«model-input=x,int64,[...]»";
  EXPECT_EQ(makeSymbolicModel("").importError(), unknown);
  EXPECT_EQ(makeSymbolicModel("dim_value: -1").importError(), unknown);
}

TEST(Importer, InputTypesThatAreNone) {
  auto errorOf = [](std::string type) {
    TextModel model = oneNode("Relu", {"x"});
    model.inputs.clear();
    model.body += "input { name: \"x\" " + type + " } ";
    return model.importError();
  };
  EXPECT_EQ(errorOf(""), "'m': input 'x' is not a tensor");
  EXPECT_EQ(errorOf("type { sequence_type { } }"),
            "'m': input 'x' is not a tensor");
  EXPECT_EQ(errorOf("type { tensor_type { elem_type: 8 } }"),
            "'m': input 'x': element type STRING is not supported; accepted: "
            "floats, integers and bool");
  EXPECT_EQ(errorOf("type { tensor_type { elem_type: 1 } }"),
            "'m': input 'x' has no shape; state its type with "
            "«model-input=x,float,[...]»");
  EXPECT_NE(
      errorOf("type { tensor_type { elem_type: 1 shape { dim { dim_value: "
              "9223372036854775807 } dim { dim_value: 9 } } } }")
          .find("input 'x': a tensor of kind float"),
      std::string::npos);
}

TEST(Importer, ConstantInputs) {
  TextModel model = oneNode("Reshape", {"x", "shape"});
  model.body += "input { name: \"shape\" type { tensor_type { elem_type: 7 "
                "shape { dim { dim_value: 1 } } } } } ";
  model.importOutput();
  EXPECT_TRUE(model.module->findPlaceholder("shape")->isInput());
  ImportOptions options;
  options.constantInputs["shape"] = std::make_shared<const Tensor>(
      Tensor::fromValues<int64_t>(Type(ElemKind::Int64, {1}), {6}));
  auto module = model.import(options);
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  EXPECT_EQ((*module)->findPlaceholder("y")->getType().str(), "float<6>");
  EXPECT_EQ((*module)->findPlaceholder("shape"), nullptr);
  options.constantInputs["shape"] =
      std::make_shared<const Tensor>(Type(ElemKind::Float, {1}));
  EXPECT_EQ(model.importError(options),
            "'m': the constant states float for 'shape'; the model has int64");
}

TEST(Importer, InitializersWinOverInputs) {
  TextModel model =
      oneNode("Add", {"x", "b"}, "", 13, {{"x", {2, 3}}, {"b", {3}}});
  model.body += floats("b", {3}, {1, 2, 3});
  model.importOutput();
  EXPECT_EQ(model.module->getPlaceholders().size(), 2u); // x and y
}

//===- Attributes and operands that are not understood --------------------===//

TEST(Importer, RefusesAttributesThatItDoesNotKnow) {
  EXPECT_EQ(
      oneNode("Relu", {"x"}, intsAttr("consumed_inputs", {0})).importError(),
      "'m': node 'y' (Relu): attribute 'consumed_inputs' is not supported "
      "in opset 13");
  EXPECT_EQ(
      oneNode("Relu", {"x"}, intAttr("a", 1) + intAttr("a", 1)).importError(),
      "'m': node 'y' (Relu): attribute 'a' is given twice");
  EXPECT_EQ(
      oneNode("Relu", {"x"}, "attribute { name: \"body\" type: GRAPH g { } } ")
          .importError(),
      "'m': node 'y' (Relu): attribute 'body' is a graph; accepted: "
      "numbers, strings and tensors");
  EXPECT_EQ(oneNode("Softmax", {"x"}, stringAttr("axis", "1")).importError(),
            "'m': node 'y' (Softmax): attribute 'axis' is of type STRING; "
            "accepted: INT");
  // A hint of the first opsets, which says nothing about the numbers.
  EXPECT_EQ(
      oneNode("Relu", {"x"}, intsAttr("consumed_inputs", {0}), 5).importError(),
      "imported");
}

TEST(Importer, RefusesOperandsThatItDoesNotKnow) {
  EXPECT_EQ(oneNode("Relu", {"x", "x"}).importError(),
            "'m': node 'y' (Relu): input 1 ('x') is not supported in opset 13");
  EXPECT_EQ(oneNode("Relu", {}).importError(),
            "'m': node 'y' (Relu): input 0 is missing");
  EXPECT_EQ(oneNode("Add", {"x", ""}).importError(),
            "'m': node 'y' (Add): input 1 is missing");
}

TEST(Importer, OutputsThatAreNotMade) {
  TextModel model;
  std::string relu = "node { op_type: \"Relu\" input: \"x\" output: \"y\" "
                     "output: \"more\" } ";
  model.body = relu;
  EXPECT_EQ(model.importError(), "imported"); // no uses
  model.body = relu + onnxNode("Identity", {"more"}, "", "z");
  EXPECT_EQ(model.importError(),
            "'m': node 'y' (Relu): output 1 ('more') is not supported");
}

//===- Folding ------------------------------------------------------------===//

TEST(Importer, ShapeArithmeticIsFolded) {
  // y = reshape(x, concat(shape(x)[0:1], [-1]))
  TextModel model;
  model.inputs = {{"x", {2, 3, 4}}};
  model.body = int64s("zero", {0}) + int64s("rest", {-1}) +
               onnxNode("Shape", {"x"}, "", "s") +
               onnxNode("Gather", {"s", "zero"}, "", "n") +
               onnxNode("Concat", {"n", "rest"}, intAttr("axis", 0), "t") +
               onnxNode("Reshape", {"x", "t"});
  EXPECT_EQ(model.importOutput().getType().str(), "float<2x12>");
  EXPECT_EQ(model.getNumNodes(), 2u);
  // What led there is gone.
  EXPECT_TRUE(model.module->getConstants().empty());
}

TEST(Importer, FiltersAreTransposedAtOnce) {
  TextModel model = oneNode("Conv", {"x", "w"}, "", 13, {{"x", {1, 1, 3, 3}}});
  model.body += floats("w", {1, 1, 2, 2}, {1, 2, 3, 4});
  model.importOutput();
  EXPECT_EQ(model.getNumNodes(), 4u); // Transpose, Convolution, Transpose, Save
  EXPECT_EQ(model.module->getConstants().size(), 1u);
}

TEST(Importer, FoldingDoesNotGrowSmallConstants) {
  TextModel model;
  model.body = floats("c", {1}, {1}) + int64s("n", {1 << 20}) +
               onnxNode("Expand", {"c", "n"});
  EXPECT_TRUE(model.importOutput().getNodeAs<BroadcastNode>());
  // Each step doubles: all of them would be gigabytes.
  model.body = int64s("c", {1});
  std::string last = "c";
  for (int i = 0; i < 30; ++i) {
    std::string next = i == 29 ? "y" : "t" + std::to_string(i);
    model.body += onnxNode("Concat", {last, last}, intAttr("axis", 0), next);
    last = next;
  }
  EXPECT_EQ(model.importOutput().getShape()[0], 1 << 30);
  int64_t bytes = 0;
  for (const Node &node : model.module->getConstants())
    bytes += llvm::cast<Constant>(node).getTensor().getSizeInBytes();
  EXPECT_LT(bytes, 1 << 20);
}

TEST(Importer, FoldingHasABudget) {
  // A megabyte that is negated a thousand times.
  TextModel model;
  model.body = onnxNode("Range", {"zero", "many", "one"}, "", "t0") +
               int64s("zero", {0}) + int64s("many", {1 << 17}) +
               int64s("one", {1});
  for (int i = 0; i < 1000; ++i)
    model.body += onnxNode("Neg", {"t" + std::to_string(i)}, "",
                           "t" + std::to_string(i + 1));
  model.body += onnxNode("Identity", {"t1000"});
  EXPECT_FALSE(model.importOutput().getNodeAs<Constant>());
  EXPECT_GT(model.getNumNodes(), 100u);
  EXPECT_LT(model.getNumNodes(), 1000u);
  // What was folded on the way is gone.
  EXPECT_EQ(model.module->getConstants().size(), 1u);
}

TEST(Importer, WithoutAnEvaluatorNodesStay) {
  TextModel model;
  model.body = int64s("c", {1}) + onnxNode("Neg", {"c"});
  ImportOptions options;
  options.evaluate = [](const Node &) -> llvm::Expected<std::vector<Tensor>> {
    return llvm::createStringError("not now");
  };
  EXPECT_EQ(model.importError(options), "'m': node 'y' (Neg): not now");
  std::string text = model.str();
  auto module =
      importOnnx(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(text.data()),
                                text.size()),
                 "m", ImportOptions());
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  EXPECT_EQ((*module)->findFunction("main")->getNodes().size(), 2u);
}

//===- Contents of tensors ------------------------------------------------===//

static std::string constantOf(std::string tensor) {
  TextModel model;
  model.body = "initializer { name: \"y\" " + tensor + " } ";
  return model.importConstant();
}

static std::string tensorError(std::string tensor) {
  TextModel model;
  model.body = "initializer { name: \"y\" " + tensor + " } ";
  return model.importError();
}

TEST(ImporterTensor, TypedFields) {
  EXPECT_EQ(constantOf("data_type: 1 dims: 2 float_data: 1.5 float_data: -2"),
            "float<2>: 1.50 -2");
  EXPECT_EQ(constantOf("data_type: 11 double_data: 3"), "double<>: 3");
  EXPECT_EQ(constantOf("data_type: 7 dims: 1 int64_data: -9"), "int64<1>: -9");
  EXPECT_EQ(constantOf("data_type: 6 dims: 1 int32_data: -9"), "int32<1>: -9");
  EXPECT_EQ(constantOf("data_type: 3 dims: 1 int32_data: -9"), "int8<1>: -9");
  EXPECT_EQ(constantOf("data_type: 2 dims: 1 int32_data: 200"),
            "uint8<1>: 200");
  EXPECT_EQ(constantOf("data_type: 5 dims: 1 int32_data: -300"),
            "int16<1>: -300");
  EXPECT_EQ(constantOf("data_type: 4 dims: 1 int32_data: 60000"),
            "uint16<1>: 60000");
  EXPECT_EQ(constantOf("data_type: 12 dims: 1 uint64_data: 4000000000"),
            "uint32<1>: 4000000000");
  EXPECT_EQ(constantOf("data_type: 13 dims: 1 uint64_data: 7"), "uint64<1>: 7");
  EXPECT_EQ(constantOf("data_type: 9 dims: 2 int32_data: 1 int32_data: 0"),
            "bool<2>: 1 0");
  // 1.5 as float16 and -2 as bfloat16.
  EXPECT_EQ(constantOf("data_type: 10 dims: 1 int32_data: 15872"),
            "float16<1>: 1.50");
  EXPECT_EQ(constantOf("data_type: 16 dims: 1 int32_data: 49152"),
            "bfloat16<1>: -2");
}

TEST(ImporterTensor, RawBytes) {
  EXPECT_EQ(constantOf("data_type: 6 dims: 2 raw_data: "
                       "\"\\001\\000\\000\\000\\377\\377\\377\\377\""),
            "int32<2>: 1 -1");
  EXPECT_EQ(constantOf("data_type: 9 dims: 2 raw_data: \"\\000\\376\""),
            "bool<2>: 0 1");
  EXPECT_EQ(constantOf("data_type: 1 dims: 0 dims: 3 raw_data: \"\""),
            "float<0x3>:");
}

TEST(ImporterTensor, RefusesWrongSizes) {
  EXPECT_EQ(tensorError("data_type: 1 dims: 2 float_data: 1"),
            "'m': initializer 'y': float<2> needs 2 elements, got 1");
  EXPECT_EQ(tensorError("data_type: 1 dims: 2 raw_data: \"abc\""),
            "'m': initializer 'y': float<2> needs 8 bytes of data, got 3");
  EXPECT_EQ(tensorError("data_type: 1 dims: -2"),
            "'m': initializer 'y': shape -2 has a negative extent");
  EXPECT_NE(tensorError("data_type: 1 dims: 4611686018427387904 dims: 4")
                .find("is larger than"),
            std::string::npos);
  EXPECT_EQ(tensorError("data_type: 8 dims: 1 string_data: \"a\""),
            "'m': the output 'y' of the model is a tensor of strings; "
            "accepted: floats, integers and bool");
  EXPECT_NE(
      tensorError("data_type: 1 segment { begin: 0 end: 1 }").find("a segment"),
      std::string::npos);
}

//===- Files --------------------------------------------------------------===//

class ImporterFile : public TestFolder {
protected:
  /// Imports y = x + b with b in the file \p location.
  std::string importExternal(llvm::StringRef location,
                             llvm::StringRef more = "") {
    TextModel model = oneNode("Add", {"x", "b"}, "", 13, {{"x", {3}}});
    model.body += "initializer { name: \"b\" data_type: 6 dims: 3 "
                  "data_location: EXTERNAL external_data { key: \"location\" "
                  "value: \"" +
                  location.str() + "\" } " + more.str() + "} ";
    // x is float and b int32 here: a good import ends at Add.
    put("model.onnxtxt", model.str());
    auto made = importOnnxFile(in("model.onnxtxt"), {});
    std::string message = made ? "imported" : llvm::toString(made.takeError());
    std::string prefix = "'" + in("model.onnxtxt") + "': ";
    EXPECT_EQ(message.find(prefix), 0u) << message;
    return message.substr(std::min(prefix.size(), message.size()));
  }
  const std::string wasRead = "node 'y' (Add): Add 'y': operand 'y' (int32<3>)";
  const std::string notFound = "cannot be found in the model's folder";
};

TEST_F(ImporterFile, ExternalData) {
  put("weights", "ignoredabcdefghijkl");
  EXPECT_EQ(importExternal("weights",
                           "external_data { key: \"offset\" value: \"7\" } "
                           "external_data { key: \"length\" value: \"12\" } ")
                .find(wasRead),
            0u);
  EXPECT_EQ(importExternal("weights",
                           "external_data { key: \"offset\" value: \"8\" } "),
            "initializer 'b': external data 'weights' have 19 bytes; 12 at 8 "
            "are needed");
  EXPECT_EQ(importExternal("weights",
                           "external_data { key: \"length\" value: \"8\" } "),
            "initializer 'b': int32<3> needs 12 bytes of data, got 8");
  EXPECT_EQ(importExternal("weights",
                           "external_data { key: \"offset\" value: \"-1\" } "),
            "initializer 'b': external data have a malformed offset: '-1'");
  EXPECT_NE(importExternal("absent").find(notFound), std::string::npos);
}

TEST_F(ImporterFile, ExternalDataStayInTheFolder) {
  put("secret", "abcdefghijkl");
  ASSERT_FALSE(llvm::sys::fs::create_directory(in("sub")));
  EXPECT_EQ(importExternal("sub/../secret"),
            "initializer 'b': external data must be in the model's folder");
  EXPECT_EQ(importExternal(in("secret")),
            "initializer 'b': external data must be in the model's folder");
  EXPECT_EQ(importExternal(""),
            "initializer 'b': external data must be in the model's folder");
  // A link out of the folder, to one whose name begins like the folder's.
  std::string sibling = folder.str().str() + "2";
  ASSERT_FALSE(llvm::sys::fs::create_directory(sibling));
  ASSERT_FALSE(llvm::sys::fs::copy_file(in("secret"), sibling + "/secret"));
  ASSERT_FALSE(llvm::sys::fs::create_link(sibling + "/secret", in("link")));
  EXPECT_EQ(
      importExternal("link"),
      "initializer 'b': external data 'link' are a link out of the "
      "model's folder; accepted: a file in it, or a link to a file beside "
      "the one that the model itself is a link to");
  llvm::sys::fs::remove_directories(sibling);
}

TEST(ImporterFiles, BytesAloneHaveNoFolder) {
  TextModel model = oneNode("Relu", {"b"});
  model.body += "initializer { name: \"b\" data_type: 1 dims: 3 data_location: "
                "EXTERNAL external_data { key: \"location\" value: \"w\" } } ";
  EXPECT_EQ(model.importError(), "'m': initializer 'b': external data 'w' need "
                                 "the model to be a file");
}

TEST(ImporterFiles, RefusesWhatIsNoModel) {
  auto errorOf = [](llvm::StringRef text) {
    auto made = importOnnx(
        llvm::ArrayRef<uint8_t>(text.bytes_begin(), text.bytes_end()), "m", {});
    return made ? "imported" : llvm::toString(made.takeError());
  };
  EXPECT_EQ(errorOf(""), "'m': the file is empty");
  EXPECT_EQ(errorOf("ir_version: 7 nonsense: 3"),
            "'m': not an ONNX model in protobuf text: 1:23: Message type "
            "\"onnx.ModelProto\" has no field named \"nonsense\".");
  EXPECT_EQ(errorOf("ir_version: 7"),
            "'m': not an ONNX model: it has no graph");
  EXPECT_EQ(errorOf("\x7f"
                    "ELF"),
            "'m': not an ONNX model: the protobuf is truncated or corrupt");
  // Deeper than the stack.
  std::string deep = "graph { node { attribute { ";
  for (int i = 0; i < 200000; ++i)
    deep += "g { node { attribute { ";
  EXPECT_NE(errorOf(deep).find("not an ONNX model in protobuf text"),
            std::string::npos);
}
