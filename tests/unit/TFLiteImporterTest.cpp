//===- TFLiteImporterTest.cpp - TensorFlow Lite models --------------------===//
//
// What the files of others can't show: errors, options and variables.
//
//===----------------------------------------------------------------------===//

#include "TFLiteModels.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Importer/TFLite.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;
using tflite::ActivationFunctionType;
using tflite::BuiltinOperator;
using tflite::TensorType;

static llvm::Expected<std::unique_ptr<Module>>
import(const std::string &bytes, ImportOptions options = {}) {
  options.evaluate = evaluateNode;
  // At an address that is a multiple of 16, as a file's.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(bytes);
  return importTFLite(llvm::arrayRefFromStringRef(buffer->getBuffer()), "m",
                      options);
}

static std::string getError(const std::string &bytes,
                            ImportOptions options = {}) {
  auto module = import(bytes, std::move(options));
  return module ? "imported" : llvm::toString(module.takeError());
}

/// What the runs of an imported model give for \p inputs, one after the other,
/// as numbers of its output \p output.
static std::vector<std::vector<double>> runAll(std::unique_ptr<Module> module,
                                               llvm::ArrayRef<Tensor> inputs,
                                               llvm::StringRef output) {
  auto backend = createInterpreter();
  PlannedProgram program =
      llvm::cantFail(Compilation(*backend, {}).compile(std::move(module)));
  auto session = llvm::cantFail(Session::create(program));
  std::vector<std::vector<double>> results;
  for (const Tensor &input : inputs) {
    llvm::cantFail(session->setInput(
        llvm::cantFail(session->findPlaceholder("x")), input));
    llvm::cantFail(session->run());
    Tensor result =
        session->getOutput(llvm::cantFail(session->findPlaceholder(output)));
    results.emplace_back();
    for (int64_t i = 0; i < result.getNumElements(); ++i)
      results.back().push_back(result.getAsDouble(i));
  }
  return results;
}

static std::string makeBinary(BuiltinOperator kind, TensorType type,
                              TFLiteScales scales = {}) {
  TFLiteModel model;
  int x = model.tensor("x", {2}, type, scales);
  int y = model.tensor("y", {2}, type, scales);
  int z = model.tensor("z", {2}, type, scales);
  model.op(kind, {x, y}, {z});
  return model.finish({x, y}, {z});
}

TEST(TFLiteImporter, TellsWhatIsNoModel) {
  EXPECT_THAT(getError("not a model at all"),
              HasSubstr("'m': it is no TensorFlow Lite model: the identifier "
                        "TFL3 is missing"));
  std::string bytes = makeQuantizedConvolution();
  EXPECT_THAT(getError(bytes.substr(0, bytes.size() / 2)),
              HasSubstr("it is malformed: its offsets are wrong"));
}

TEST(TFLiteImporter, ListsUnsupportedOperators) {
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int a = model.tensor("a", {2}, TensorType::FLOAT32);
  int b = model.tensor("b", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::LSH_PROJECTION, {x}, {a});
  model.custom("Frobnicate", {a}, {b});
  EXPECT_THAT(getError(model.finish({x}, {b})),
              HasSubstr("2 nodes have operators that are not supported:\n"
                        "node 'a' (LSH_PROJECTION)\nnode 'b' (Frobnicate)"));
}

TEST(TFLiteImporter, ErrorsNameNodeAndOperator) {
  EXPECT_THAT(getError(makeBinary(BuiltinOperator::DIV, TensorType::INT8,
                                  {{0.5f}, {3}})),
              HasSubstr("node 'z' (DIV): input 0 ('x') is int8<2>, quantized; "
                        "accepted: tensors that are not quantized"));
  EXPECT_THAT(getError(makeBinary(BuiltinOperator::ADD, TensorType::INT32,
                                  {{0.5f}, {3}})),
              HasSubstr("node 'z' (ADD): input 0 ('x') is int32<2>, quantized; "
                        "accepted: int8, uint8, int16"));
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {3}, TensorType::FLOAT32);
  model.op(BuiltinOperator::ABS, {x}, {y});
  EXPECT_THAT(getError(model.finish({x}, {y})),
              HasSubstr("node 'y' (ABS): output 0 ('y') would be float<2>, and "
                        "the file states float<3>"));
}

TEST(TFLiteImporter, MalformedIndicesAndScales) {
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::ABS, {7}, {y});
  EXPECT_THAT(getError(model.finish({x}, {y})),
              HasSubstr("it is malformed: ABS names tensor 7 of 2"));
  EXPECT_THAT(getError(makeBinary(BuiltinOperator::ADD, TensorType::INT8,
                                  {{-1.0f}, {0}})),
              HasSubstr("tensor 'x' has the scale"));
}

/// A fully connected layer of int16 with one weight.
static std::string makeConnected(std::vector<int32_t> shape, int64_t zeroPoint,
                                 bool keepsDims) {
  TFLiteModel model;
  int x = model.tensor("x", shape, TensorType::INT16, {{0.5f}, {zeroPoint}});
  int w = model.tensor("w", {1, 1}, TensorType::INT8, {{0.5f}, {0}}, {3});
  int y = model.tensor("y", {1, 1}, TensorType::INT16, {{0.5f}, {0}});
  model.op(BuiltinOperator::FULLY_CONNECTED, {x, w}, {y},
           tflite::CreateFullyConnectedOptions(
               model.fbb(), ActivationFunctionType::NONE, 0, keepsDims));
  return model.finish({x}, {y});
}

TEST(TFLiteImporter, FullyConnectedInt16) {
  EXPECT_EQ(getError(makeConnected({1, 1}, 0, /*keepsDims=*/true)), "imported");
  EXPECT_THAT(getError(makeConnected({1, 1}, 7, /*keepsDims=*/true)),
              HasSubstr("accepted: int16 with the zero point 0"));
  // A scalar has no dimension to keep.
  EXPECT_EQ(getError(makeConnected({}, 0, /*keepsDims=*/true)), "imported");
}

TEST(TFLiteImporter, CustomOperatorsAreNoBuiltinOnes) {
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  model.custom("ABS", {x}, {y});
  EXPECT_THAT(getError(model.finish({x}, {y})),
              HasSubstr("node 'y' (CUSTOM ABS)"));
}

TEST(TFLiteImporter, OptionsStateOtherShapes) {
  ImportOptions options;
  options.inputTypes.emplace("x", Type(ElemKind::Float, {5}));
  options.inputTypes.emplace("y", Type(ElemKind::Float, {5}));
  auto module = llvm::cantFail(
      import(makeBinary(BuiltinOperator::ADD, TensorType::FLOAT32), options));
  EXPECT_EQ(module->findPlaceholder("z")->getType().str(), "float<5>");
  ImportOptions wrong;
  wrong.inputTypes.emplace("q", Type(ElemKind::Float, {5}));
  EXPECT_THAT(
      getError(makeBinary(BuiltinOperator::ADD, TensorType::FLOAT32), wrong),
      HasSubstr("-model-input: the model has no input 'q'; it has 'x', 'y'"));
}

TEST(TFLiteImporter, FloatsAtTheBoundary) {
  ImportOptions options;
  options.tflite.hasFloatInputs = options.tflite.hasFloatOutputs = true;
  TFLiteModel model;
  int x = model.tensor("x", {4}, TensorType::INT8, {{0.5f}, {10}});
  int y = model.tensor("y", {4}, TensorType::INT8, {{0.5f}, {10}});
  model.op(BuiltinOperator::RELU, {x}, {y});
  std::string bytes = model.finish({x}, {y});
  Tensor input = Tensor::fromValues<float>(Type(ElemKind::Float, {4}),
                                           {-1.0f, 0.25f, 0.74f, 1000.0f});
  auto results = runAll(llvm::cantFail(import(bytes, options)), input, "y");
  // Halves away from zero; 127 stands for 58.5.
  EXPECT_EQ(results.front(), (std::vector<double>{0, 0.5, 0.5, 58.5}));
}

TEST(TFLiteImporter, UInt8BecomesInt8) {
  ImportOptions options;
  options.tflite.turnsUInt8ToInt8 = true;
  TFLiteModel model;
  int x = model.tensor("x", {3}, TensorType::UINT8, {{0.5f}, {100}});
  int y = model.tensor("y", {3}, TensorType::UINT8, {{0.5f}, {100}});
  model.op(BuiltinOperator::RELU, {x}, {y});
  std::string bytes = model.finish({x}, {y});
  Tensor input =
      Tensor::fromValues<int8_t>(Type(ElemKind::Int8, {3}), {-128, -20, 127});
  auto results = runAll(llvm::cantFail(import(bytes, options)), input, "y");
  EXPECT_EQ(results.front(), (std::vector<double>{-28, -20, 127}));
}

/// One filter of rank 1 over three steps: the sum of the last three inputs.
TEST(TFLiteImporter, VariablesKeepTheirValues) {
  auto floats = [](std::vector<float> values) {
    std::vector<uint8_t> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  };
  TFLiteModel model;
  int x = model.tensor("x", {1, 1}, TensorType::FLOAT32);
  int features =
      model.tensor("features", {1, 1}, TensorType::FLOAT32, {}, floats({1}));
  int time =
      model.tensor("time", {1, 3}, TensorType::FLOAT32, {}, floats({1, 1, 1}));
  int state = model.tensor("state", {1, 3}, TensorType::FLOAT32, {}, {}, true);
  int y = model.tensor("y", {1, 1}, TensorType::FLOAT32);
  model.op(
      BuiltinOperator::SVDF, {x, features, time, -1, state}, {y},
      tflite::CreateSVDFOptions(model.fbb(), 1, ActivationFunctionType::NONE));
  auto module = llvm::cantFail(import(model.finish({x}, {y})));
  std::vector<Tensor> inputs;
  for (float value : {1.0f, 2.0f, 4.0f, 8.0f})
    inputs.push_back(
        Tensor::fromValues<float>(Type(ElemKind::Float, {1, 1}), {value}));
  std::vector<double> sums;
  for (const auto &result : runAll(std::move(module), inputs, "y"))
    sums.push_back(result.front());
  EXPECT_EQ(sums, (std::vector<double>{1, 3, 7, 14}));
}

TEST(TFLiteImporter, NamesOfTensors) {
  TFLiteModel model;
  int x = model.tensor("same", {2}, TensorType::FLOAT32);
  int y = model.tensor("same", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::ABS, {x}, {y});
  std::string bytes = model.finish({x}, {y});
  auto module = llvm::cantFail(import(bytes));
  EXPECT_TRUE(module->findPlaceholder("same"));
  EXPECT_TRUE(module->findPlaceholder("same_1"));
  ImportOptions options;
  options.tflite.renamesTensors = true;
  module = llvm::cantFail(import(bytes, options));
  EXPECT_TRUE(module->findPlaceholder("tensor0"));
  EXPECT_TRUE(module->findPlaceholder("tensor1"));
}

TEST(TFLiteImporter, FormatsOfFiles) {
  EXPECT_EQ(getModelFormat("a.tflite").name, "TensorFlow Lite");
  EXPECT_EQ(getModelFormat("net.pb").name, "Caffe2");
  EXPECT_EQ(getModelFormat("a.onnx").name, "ONNX");
  EXPECT_EQ(getModelFormat("a").name, "ONNX");
}
