//===- ExporterTest.cpp - Models written as ONNX --------------------------===//

#include "Rewritten.h"
#include "TestFolder.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/NodeBuilder.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

static std::unique_ptr<Module> parse(llvm::StringRef text) {
  return llvm::cantFail(parseModule(text, "test", nullptr));
}
static std::string write(const Module &module,
                         const OnnxWriteOptions &options = {}) {
  return llvm::cantFail(writeOnnx(module, options));
}
static std::string writeError(llvm::StringRef text,
                              const OnnxWriteOptions &options = {}) {
  auto bytes = writeOnnx(*parse(text), options);
  return bytes ? "written" : llvm::toString(bytes.takeError());
}
static OnnxWriteOptions ofFunction(llvm::StringRef name) {
  OnnxWriteOptions options;
  options.function = name.str();
  return options;
}
static onnx::ModelProto readProto(const std::string &bytes) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(bytes));
  return model;
}

/// One node between x: float<2x3> and y of type \p result.
static std::string oneNode(llvm::StringRef node, llvm::StringRef result) {
  return llvm::formatv(R"(
module "m"
placeholder %x : float<2x3> input "x"
placeholder %i : uint64<2x3> input "i"
placeholder %y : {1} output "y"
function "main" {{
  %n = {0} : {1}
  Save(%n, %y)
})",
                       node, result);
}

//===- The model ----------------------------------------------------------===//

TEST(Exporter, KeepsNamesOrderAndTypes) {
  onnx::ModelProto model = readProto(write(*parse(R"(
module "net"
placeholder %b : float16<3> input "in/b:0"
placeholder %a : float<2x3> input "a"
placeholder %unread : int64<> input "unread"
placeholder %s : float<3x2> output "s"
placeholder %r : float<2x3> output "r"
constant %w : float<2x3> = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
function "main" {
  %r_1 = Add(%a, %w) : float<2x3>
  %t = Transpose(%r_1) {permutation = [1, 0]} : float<3x2>
  %wide = Cast(%b) {to = float} : float<3>
  %sum = Mul(%r_1, %wide) : float<2x3>
  Save(%t, %s)
  Save(%sum, %r)
})")));
  const onnx::GraphProto &graph = model.graph();
  EXPECT_EQ(graph.name(), "net");
  EXPECT_EQ(model.producer_name(), "glowish");
  ASSERT_EQ(model.opset_import_size(), 1);
  EXPECT_EQ(model.opset_import(0).version(), onnxWriterOpset);
  ASSERT_EQ(graph.input_size(), 3);
  EXPECT_EQ(graph.input(0).name(), "in/b:0");
  EXPECT_EQ(graph.input(0).type().tensor_type().elem_type(),
            onnx::TensorProto::FLOAT16);
  EXPECT_EQ(graph.input(1).type().tensor_type().shape().dim(1).dim_value(), 3);
  EXPECT_EQ(graph.input(2).name(), "unread");
  EXPECT_EQ(graph.input(2).type().tensor_type().shape().dim_size(), 0);
  ASSERT_EQ(graph.output_size(), 2);
  EXPECT_EQ(graph.output(0).name(), "s");
  EXPECT_EQ(graph.output(1).name(), "r");
  ASSERT_EQ(graph.initializer_size(), 1);
  EXPECT_EQ(graph.initializer(0).name(), "w");
  // Outputs are results of the nodes that compute them.
  EXPECT_EQ(graph.node(graph.node_size() - 1).op_type(), "Transpose");
  EXPECT_EQ(graph.node(graph.node_size() - 1).output(0), "s");
}

TEST(Exporter, OutputsThatNoNodeComputes) {
  auto make = [] {
    return parse(R"(
module "m"
placeholder %x : float<3> input "x"
placeholder %both : float<2> input output "both"
placeholder %y : float<3> output "y"
placeholder %z : float<3> output "z"
placeholder %c : float<2> output "c"
placeholder %d : float<3> output "d"
constant %w : float<2> = [1.0, 2.0]
function "main" {
  Save(%x, %y)
  %r = Relu(%x) : float<3>
  Save(%r, %z)
  Save(%r, %d)
  Save(%w, %c)
})");
  };
  checkRewritten("outputs", make);
  EXPECT_THAT(getOperators(write(*make())),
              ElementsAre("Relu", "Identity", "Identity", "Identity"));
}

TEST(Exporter, LeavesOutWhatNothingNeeds) {
  std::string bytes = write(*parse(R"(
module "m"
placeholder %x : float<3> input "x"
placeholder %y : float<3> output "y"
constant %w : float<3> = [1.0, 2.0, 3.0]
function "main" {
  %dead = Add(%x, %w) : float<3>
  %r = Relu(%x) : float<3>
  Save(%r, %y)
})"));
  EXPECT_THAT(getOperators(bytes), ElementsAre("Relu"));
  EXPECT_EQ(readProto(bytes).graph().initializer_size(), 0);
}

TEST(Exporter, TheSameModuleGivesTheSameBytes) {
  auto make = [] {
    return buildModule([](Function &function, Module &module) {
      NodeBuilder b(function, "n");
      NodeValue x = newInput(module, ElemKind::Float, {2, 3, 3, 4});
      for (int i = 0; i < 20; ++i)
        x = b.add(b.make<GeluNode>(x), double(i));
      return x;
    });
  };
  EXPECT_EQ(write(*make()), write(*make()));
}

//===- Functions and values -----------------------------------------------===//

static const char *trained = R"(
module "m"
placeholder %x : float<2> input "x"
placeholder %label : float<2> input "label"
placeholder %w : float<2> "w"
placeholder %y : float<2> output "y"
placeholder %loss : float<2> output "loss"
function "infer" {
  %p = Mul(%x, %w) : float<2>
  Save(%p, %y)
}
function "train" {
  %q = Mul(%x, %w) : float<2>
  %d = Sub(%q, %label) : float<2>
  %n = Sub(%w, %d) : float<2>
  Save(%d, %loss)
  Save(%n, %w)
}
)";

TEST(Exporter, WritesOneFunctionWithGivenWeights) {
  auto values = std::make_shared<Tensor>(
      Tensor::fromValues<float>(Type(ElemKind::Float, {2}), {3, 5}));
  std::string bytes = write(*parse(trained), {"infer", {{"w", values}}});
  onnx::GraphProto graph = readProto(bytes).graph();
  ASSERT_EQ(graph.input_size(), 1);
  EXPECT_EQ(graph.input(0).name(), "x");
  ASSERT_EQ(graph.output_size(), 1);
  ASSERT_EQ(graph.initializer_size(), 1);
  EXPECT_EQ(graph.initializer(0).name(), "w");
  auto outputs = llvm::cantFail(
      runModule(llvm::cantFail(readWritten(bytes)), {{"x", {2, 7}}}));
  EXPECT_EQ(outputs["y"].getAsDouble(0), 6);
  EXPECT_EQ(outputs["y"].getAsDouble(1), 35);
  // Without values they are an input.
  EXPECT_EQ(readProto(write(*parse(trained), ofFunction("infer")))
                .graph()
                .input_size(),
            2);
}

TEST(Exporter, WritesTheVariablesOfAModelThatIsTrained) {
  const std::string text = R"(
ir_version: 7 opset_import { version: 13 } graph { name: "g"
node { op_type: "Gemm" input: "x" input: "w" input: "b" output: "h" }
node { op_type: "Dropout" input: "h" output: "d" }
node { op_type: "Relu" input: "d" output: "y" }
input { name: "x" type { tensor_type { elem_type: 1 shape {
  dim { dim_value: 3 } dim { dim_value: 2 } } } } }
output { name: "y" }
initializer { name: "w" data_type: 1 dims: 2 dims: 1
  float_data: 0.5 float_data: 2 }
initializer { name: "b" data_type: 1 dims: 1 float_data: 0.25 } })";
  OnnxWriteOptions options;
  ImportOptions importOptions;
  importOptions.evaluate = evaluateNode;
  importOptions.variables = &options.values;
  llvm::ArrayRef bytes(reinterpret_cast<const uint8_t *>(text.data()),
                       text.size());
  auto module = llvm::cantFail(importOnnx(bytes, "m", importOptions));
  ASSERT_EQ(options.values.size(), 2u);
  // As if a step had changed it.
  options.values["b"] = std::make_shared<Tensor>(
      Tensor::fromValues<float>(Type(ElemKind::Float, {1}), {-1}));
  std::string written = write(*module, options);
  onnx::GraphProto graph = readProto(written).graph();
  EXPECT_EQ(graph.input_size(), 1);
  EXPECT_EQ(graph.output_size(), 1);
  EXPECT_THAT(getOperators(written), ElementsAre("Gemm", "Dropout", "Relu"));
  auto outputs = llvm::cantFail(runModule(llvm::cantFail(readWritten(written)),
                                          {{"x", {2, 1, 1, 0, 4, 0}}}));
  EXPECT_EQ(outputs["y"].getAsDouble(0), 2);
  EXPECT_EQ(outputs["y"].getAsDouble(1), 0);
  EXPECT_EQ(outputs["y"].getAsDouble(2), 1);
}

TEST(Exporter, RefusesWhatAModelCannotBe) {
  auto one = std::make_shared<Tensor>(Type(ElemKind::Float, {1}));
  EXPECT_EQ(writeError(trained, ofFunction("train")),
            "the placeholder 'w' is read and written; accepted: inputs, "
            "outputs, and weights with given values");
  EXPECT_EQ(writeError(trained, ofFunction("eval")),
            "the module has no function 'eval'");
  EXPECT_EQ(writeError(trained, {"infer", {{"w", one}}}),
            "the values of 'w' are float<1>; accepted: float<2>");
  EXPECT_EQ(writeError(trained, {"infer", {{"v", one}}}),
            "values are given for 'v', which the module does not have");
  EXPECT_EQ(writeError("module \"m\"\nfunction \"main\" {\n}"),
            "the function 'main' has no outputs; an ONNX model needs one");
  EXPECT_THAT(writeError("module \"m\""), HasSubstr("no function"));
}

TEST(Exporter, RefusesNodesByName) {
  EXPECT_EQ(writeError(oneNode("BitAnd(%i, %i)", "uint64<2x3>")),
            "BitAnd 'n': it cannot be written as ONNX: bitwise operators need "
            "opset 18; models are written with opset 17");
  EXPECT_THAT(writeError(oneNode("RandomBits(%i, %i)", "uint64<2x3>")),
              HasSubstr("RandomBits 'n': it cannot be written as ONNX: "));
  EXPECT_THAT(writeError(oneNode("BitCast(%x) {to = int32}", "int32<2x3>")),
              HasSubstr("BitCast 'n': "));
  EXPECT_THAT(writeError(R"(
module "m"
placeholder %x : int8q<3, scale 0.5 offset 3> input "x"
placeholder %y : int8q<3, scale 0.5 offset 3> output "y"
function "main" {
  Save(%x, %y)
})"),
              HasSubstr("the input 'x' is int8q<3, scale 0.5 offset 3>"));
}

/// Of which only weights can be written.
TEST(Exporter, RefusesLowPrecisionBeyondWeights) {
  EXPECT_THAT(writeError(R"(
module "m"
placeholder %x : float8e4m3fn<2> input "x"
placeholder %y : float8e4m3fn<2> output "y"
function "main" {
  Save(%x, %y)
}
)"),
              HasSubstr("the input 'x' is float8e4m3fn<2>"));
  EXPECT_THAT(writeError(R"(
module "m"
placeholder %y : int4<2> output "y"
constant %c : int4<2> = [1, 2]
function "main" {
  Save(%c, %y)
}
)"),
              HasSubstr("the output 'y' is int4<2>"));
}

//===- Layouts ------------------------------------------------------------===//

static NodeValue convolve(Function &function, Module &module, NodeValue x) {
  int64_t channels = x.getShape()[3];
  return NodeValue(function.create<ConvolutionNode>(
      "conv", x, constant(module, ElemKind::Float, {channels, 3, 3, channels}),
      NodeValue(), Ints{1, 1}, Ints{1, 1, 1, 1}, Ints{1, 1}, 1));
}

TEST(Exporter, NetworksOfImagesHaveNoTransposesInside) {
  auto module = buildModule([](Function &function, Module &module) {
    NodeBuilder b(function, "n");
    NodeValue x = newInput(module, ElemKind::Float, {1, 4, 6, 6});
    x = b.transpose(x, {0, 2, 3, 1});
    NodeValue y = b.unary<ReluNode>(convolve(function, module, x));
    y = b.add(y, constant(module, ElemKind::Float, {4}));
    y = b.concat({y, x}, 3);
    y = b.pad(y, {0, 1, 1, 0, 0, 1, 1, 0}, 0);
    y = b.make<SliceNode>(y, Ints{0, 1, 1, 2}, Ints{1, 6, 6, 5},
                          Ints{1, 1, 1, 1});
    y = convolve(function, module, b.mul(y, 2.0));
    y = b.reduce(y, "mean", {1, 2}, true);
    return b.reshape(y, {1, 5});
  });
  EXPECT_THAT(getOperators(write(*module)),
              ElementsAre("Conv", "Relu", "Add", "Concat", "Pad", "Slice",
                          "Mul", "Conv", "ReduceMean", "Reshape"));
}

TEST(Exporter, TransposesThatMeetBecomeOne) {
  auto module = buildModule([](Function &function, Module &module) {
    NodeBuilder b(function, "n");
    NodeValue x = newInput(module, ElemKind::Float, {2, 3, 4});
    NodeValue transposed = b.transpose(b.transpose(x, {2, 0, 1}), {0, 2, 1});
    return b.matMul(transposed,
                    b.transpose(b.transpose(x, {1, 0, 2}), {2, 1, 0}));
  });
  EXPECT_THAT(getOperators(write(*module)),
              ElementsAre("Transpose", "Transpose", "MatMul"));
}

//===- Files --------------------------------------------------------------===//

using ExporterFiles = TestFolder;

static std::unique_ptr<Module> makeLarge() {
  return buildModule([](Function &function, Module &module) {
    NodeBuilder b(function, "n");
    NodeValue x = newInput(module, ElemKind::Float, {3, 33});
    x = b.matMul(x, constant(module, ElemKind::Float, {33, 65}));
    x = b.matMul(x, constant(module, ElemKind::Float, {65, 17}));
    return b.add(x, constant(module, ElemKind::Float, {17}));
  });
}

TEST_F(ExporterFiles, OneFile) {
  llvm::cantFail(writeOnnxFile(*makeLarge(), in("m.onnx")));
  EXPECT_THAT(list(), ElementsAre("m.onnx"));
  EXPECT_EQ(read("m.onnx"), write(*makeLarge()));
}

TEST_F(ExporterFiles, LargeModelsHaveAFileOfWeights) {
  OnnxWriteOptions options;
  options.maxFileBytes = 8192;
  llvm::cantFail(writeOnnxFile(*makeLarge(), in("m.onnx"), options));
  EXPECT_THAT(list(), ElementsAre("m.onnx", "m.onnx.data"));
  EXPECT_LE(read("m.onnx").size(), 8192u);
  // The second begins on a page of its own.
  EXPECT_EQ(read("m.onnx.data").size(), 3u * 4096 + 4 * 65 * 17);
  ImportOptions importOptions;
  importOptions.evaluate = evaluateNode;
  auto actual = llvm::cantFail(
      runModule(llvm::cantFail(importOnnxFile(in("m.onnx"), importOptions))));
  auto expected = llvm::cantFail(runModule(makeLarge()));
  expectSame("y", actual["y"], expected["y"]);
  auto bytes = writeOnnx(*makeLarge(), options);
  EXPECT_THAT(llvm::toString(bytes.takeError()),
              HasSubstr("bytes; accepted: 8192"));
}

TEST_F(ExporterFiles, ErrorsLeaveNothing) {
  auto module = parse(oneNode("BitOr(%i, %i)", "uint64<2x3>"));
  std::string path = in("m.onnx");
  EXPECT_THAT(llvm::toString(writeOnnxFile(*module, path)),
              HasSubstr("cannot write '" + path + "': BitOr 'n': "));
  EXPECT_THAT(list(), ElementsAre());
  EXPECT_THAT(llvm::toString(writeOnnxFile(*makeLarge(), in("no/m.onnx"))),
              HasSubstr("cannot write"));
}
