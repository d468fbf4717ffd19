//===- TFLiteImporterTest.cpp - TensorFlow Lite models --------------------===//
//
// What the files of others can't show: errors, options and variables.
//
//===----------------------------------------------------------------------===//

#include "TFLiteRuns.h"
#include "glowish/Importer/ModelFormat.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;
using tflite::schema::ActivationFunctionType;
using tflite::schema::BuiltinOperator;
using tflite::schema::TensorType;

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
  EXPECT_THAT(getTFLiteError("not a model at all"),
              HasSubstr("'m': it is no TensorFlow Lite model: the identifier "
                        "TFL3 is missing"));
  std::string bytes = makeQuantizedConvolution();
  EXPECT_THAT(getTFLiteError(bytes.substr(0, bytes.size() / 2)),
              HasSubstr("it is malformed: its offsets are wrong"));
}

TEST(TFLiteImporter, ListsUnsupportedOperators) {
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int a = model.tensor("a", {2}, TensorType::FLOAT32);
  int b = model.tensor("b", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::LSH_PROJECTION, {x}, {a});
  model.custom("Frobnicate", {a}, {b});
  EXPECT_THAT(getTFLiteError(model.finish({x}, {b})),
              HasSubstr("2 nodes have operators that are not supported:\n"
                        "node 'a' (LSH_PROJECTION)\nnode 'b' (Frobnicate)"));
}

TEST(TFLiteImporter, ErrorsNameNodeAndOperator) {
  EXPECT_THAT(getTFLiteError(makeBinary(BuiltinOperator::DIV, TensorType::INT8,
                                        {{0.5f}, {3}})),
              HasSubstr("node 'z' (DIV): input 0 ('x') is int8<2>, quantized; "
                        "accepted: tensors that are not quantized"));
  EXPECT_THAT(getTFLiteError(makeBinary(BuiltinOperator::ADD, TensorType::INT32,
                                        {{0.5f}, {3}})),
              HasSubstr("node 'z' (ADD): input 0 ('x') is int32<2>, quantized; "
                        "accepted: int8, uint8, int16"));
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {3}, TensorType::FLOAT32);
  model.op(BuiltinOperator::ABS, {x}, {y});
  EXPECT_THAT(getTFLiteError(model.finish({x}, {y})),
              HasSubstr("node 'y' (ABS): output 0 ('y') would be float<2>, and "
                        "the file states float<3>"));
}

TEST(TFLiteImporter, MalformedIndicesAndScales) {
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::ABS, {7}, {y});
  EXPECT_THAT(getTFLiteError(model.finish({x}, {y})),
              HasSubstr("it is malformed: ABS names tensor 7 of 2"));
  EXPECT_THAT(getTFLiteError(makeBinary(BuiltinOperator::ADD, TensorType::INT8,
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
           tflite::schema::CreateFullyConnectedOptions(
               model.fbb(), ActivationFunctionType::NONE,
               tflite::schema::FullyConnectedOptionsWeightsFormat::DEFAULT,
               keepsDims));
  return model.finish({x}, {y});
}

TEST(TFLiteImporter, FullyConnectedInt16) {
  EXPECT_EQ(getTFLiteError(makeConnected({1, 1}, 0, /*keepsDims=*/true)),
            "imported");
  EXPECT_THAT(getTFLiteError(makeConnected({1, 1}, 7, /*keepsDims=*/true)),
              HasSubstr("accepted: int16 with the zero point 0"));
  // A scalar has no dimension to keep.
  EXPECT_EQ(getTFLiteError(makeConnected({}, 0, /*keepsDims=*/true)),
            "imported");
}

TEST(TFLiteImporter, OperatorsHaveOutputs) {
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::INT8, {{0.5f}, {0}});
  model.op(BuiltinOperator::LOGISTIC, {x}, {});
  EXPECT_THAT(getTFLiteError(model.finish({x}, {x})),
              HasSubstr("node '0' (LOGISTIC): it has no output"));
}

TEST(TFLiteImporter, CustomOperatorsAreNoBuiltinOnes) {
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  model.custom("ABS", {x}, {y});
  EXPECT_THAT(getTFLiteError(model.finish({x}, {y})),
              HasSubstr("node 'y' (CUSTOM ABS)"));
}

TEST(TFLiteImporter, OptionsStateOtherShapes) {
  ImportOptions options;
  options.inputTypes.emplace("x", Type(ElemKind::Float, {5}));
  options.inputTypes.emplace("y", Type(ElemKind::Float, {5}));
  auto module = llvm::cantFail(importTFLiteBytes(
      makeBinary(BuiltinOperator::ADD, TensorType::FLOAT32), options));
  EXPECT_EQ(module->findPlaceholder("z")->getType().str(), "float<5>");
  ImportOptions wrong;
  wrong.inputTypes.emplace("q", Type(ElemKind::Float, {5}));
  EXPECT_THAT(
      getTFLiteError(makeBinary(BuiltinOperator::ADD, TensorType::FLOAT32),
                     wrong),
      HasSubstr("«model-input»: the model has no input 'q'; it has 'x', 'y'"));
}

TEST(TFLiteImporter, FloatsAtTheBoundary) {
  auto floats = std::make_shared<TFLiteOptions>();
  floats->hasFloatInputs = floats->hasFloatOutputs = true;
  ImportOptions options;
  options.ofFormat = floats;
  TFLiteModel model;
  int x = model.tensor("x", {4}, TensorType::INT8, {{0.5f}, {10}});
  int y = model.tensor("y", {4}, TensorType::INT8, {{0.5f}, {10}});
  model.op(BuiltinOperator::RELU, {x}, {y});
  std::string bytes = model.finish({x}, {y});
  auto runs =
      runTFLiteEverywhere(bytes, {{{"x", {-1, 0.25, 0.74, 1000}}}}, options);
  // Halves away from zero; 127 stands for 58.5.
  EXPECT_EQ(runs[0]["y"], (std::vector<double>{0, 0.5, 0.5, 58.5}));
}

TEST(TFLiteImporter, UInt8BecomesInt8) {
  auto signedBytes = std::make_shared<TFLiteOptions>();
  signedBytes->turnsUInt8ToInt8 = true;
  ImportOptions options;
  options.ofFormat = signedBytes;
  TFLiteModel model;
  int x = model.tensor("x", {3}, TensorType::UINT8, {{0.5f}, {100}});
  int y = model.tensor("y", {3}, TensorType::UINT8, {{0.5f}, {100}});
  model.op(BuiltinOperator::RELU, {x}, {y});
  std::string bytes = model.finish({x}, {y});
  auto runs = runTFLiteEverywhere(bytes, {{{"x", {-128, -20, 127}}}}, options);
  EXPECT_EQ(runs[0]["y"], (std::vector<double>{-28, -20, 127}));
}

/// One filter of rank 1 over three steps: the sum of the last three inputs.
TEST(TFLiteImporter, VariablesKeepTheirValues) {
  TFLiteModel model;
  int x = model.tensor("x", {1, 1}, TensorType::FLOAT32);
  int features = model.tensor("features", {1, 1}, TensorType::FLOAT32, {},
                              getTFLiteBytes<float>({1}));
  int time = model.tensor("time", {1, 3}, TensorType::FLOAT32, {},
                          getTFLiteBytes<float>({1, 1, 1}));
  int state = model.tensor("state", {1, 3}, TensorType::FLOAT32, {}, {}, true);
  int y = model.tensor("y", {1, 1}, TensorType::FLOAT32);
  model.op(BuiltinOperator::SVDF, {x, features, time, -1, state}, {y},
           tflite::schema::CreateSVDFOptions(model.fbb(), 1,
                                             ActivationFunctionType::NONE));
  std::vector<double> sums;
  for (TFLiteRun &run : runTFLiteEverywhere(
           model.finish({x}, {y}),
           {{{"x", {1}}}, {{"x", {2}}}, {{"x", {4}}}, {{"x", {8}}}}))
    sums.push_back(run["y"].front());
  EXPECT_EQ(sums, (std::vector<double>{1, 3, 7, 14}));
}

//===- GATHER -------------------------------------------------------------===//

namespace {

/// A GATHER of \p shape's elements 0, 1, ... by indices of \p indexShape.
struct GatherCase {
  std::vector<int32_t> shape, indexShape;
  int axis = 0, numBatch = 0;

  std::vector<int32_t> getResultShape() const {
    int fromFirst = axis < 0 ? axis + int(shape.size()) : axis;
    int batch = numBatch < 0 ? numBatch + int(indexShape.size()) : numBatch;
    std::vector<int32_t> result(shape.begin(), shape.begin() + fromFirst);
    result.insert(result.end(), indexShape.begin() + batch, indexShape.end());
    result.insert(result.end(), shape.begin() + fromFirst + 1, shape.end());
    return result;
  }

  std::string makeModel(TensorType indexType) const {
    TFLiteModel model;
    int x = model.tensor("x", shape, TensorType::FLOAT32);
    int i = model.tensor("i", indexShape, indexType);
    int y = model.tensor("y", getResultShape(), TensorType::FLOAT32);
    model.op(BuiltinOperator::GATHER, {x, i}, {y},
             tflite::schema::CreateGatherOptions(model.fbb(), axis, numBatch));
    return model.finish({x, i}, {y});
  }
};

} // namespace

static int64_t count(llvm::ArrayRef<int32_t> shape) {
  int64_t elements = 1;
  for (int32_t extent : shape)
    elements *= extent;
  return elements;
}

/// The definition: y[b, p, i, q] = x[b, p, indices[b, i], q], where b numbers
/// the batch, p and q the dimensions before and behind the axis.
static std::vector<double> gather(const GatherCase &test,
                                  const std::vector<double> &x,
                                  const std::vector<double> &indices) {
  llvm::ArrayRef<int32_t> shape = test.shape, indexShape = test.indexShape;
  auto axis = size_t(test.axis < 0 ? test.axis + int(shape.size()) : test.axis);
  auto batch = size_t(test.numBatch < 0 ? test.numBatch + int(indexShape.size())
                                        : test.numBatch);
  int64_t outer = count(shape.slice(batch, axis - batch)),
          inner = count(shape.drop_front(axis + 1)),
          chosen = count(indexShape.drop_front(batch));
  std::vector<double> result;
  for (int64_t b = 0; b < count(shape.take_front(batch)); ++b)
    for (int64_t p = 0; p < outer; ++p)
      for (int64_t i = 0; i < chosen; ++i)
        for (int64_t q = 0; q < inner; ++q) {
          auto index = int64_t(indices[size_t(b * chosen + i)]);
          int64_t row = (b * outer + p) * shape[axis] + index;
          result.push_back(x[size_t(row * inner + q)]);
        }
  return result;
}

TEST(TFLiteImporter, GatherWithBatches) {
  const GatherCase cases[] = {
      {{5, 3}, {7}, 0, 0},          {{5, 3}, {2, 2}, -1, 0},
      {{3, 7}, {3, 2}, 1, 1},       {{3, 7, 2}, {3, 5}, 1, 1},
      {{3, 2, 7}, {3, 5}, 2, 1},    {{3, 2, 7, 3}, {3, 1, 2}, -2, 1},
      {{2, 3, 5}, {2, 3}, 2, 2},    {{2, 3, 5}, {2, 3, 4}, -1, -1},
      {{2, 3, 5, 2}, {2, 3}, 2, 1}, {{1, 17, 33}, {1, 3}, -1, 1}};
  Random random(1);
  for (const GatherCase &test : cases) {
    std::vector<double> x(size_t(count(test.shape))),
        indices(size_t(count(test.indexShape)));
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = double(i);
    auto axis =
        size_t(test.axis < 0 ? test.axis + int(test.shape.size()) : test.axis);
    for (double &index : indices)
      index = double(random.below(uint64_t(test.shape[axis])));
    for (TensorType type : {TensorType::INT32, TensorType::INT64})
      EXPECT_EQ(runTFLiteEverywhere(test.makeModel(type),
                                    {{{"x", x}, {"i", indices}}})[0]["y"],
                gather(test, x, indices));
  }
}

TEST(TFLiteImporter, GatherRefusesWrongBatches) {
  auto getError = [](std::vector<int32_t> indexShape, int axis, int numBatch) {
    TFLiteModel model;
    int x = model.tensor("x", {3, 7}, TensorType::FLOAT32);
    int i = model.tensor("i", indexShape, TensorType::INT32);
    int y = model.tensor("y", {3, 2}, TensorType::FLOAT32);
    model.op(BuiltinOperator::GATHER, {x, i}, {y},
             tflite::schema::CreateGatherOptions(model.fbb(), axis, numBatch));
    return getTFLiteError(model.finish({x, i}, {y}));
  };
  EXPECT_THAT(getError({3, 2}, 0, 1),
              HasSubstr("node 'y' (GATHER): batch_dims is 1; accepted for 2 "
                        "dimensions of the indices and axis 0: -2 to 0"));
  EXPECT_THAT(getError({2, 2}, 1, 1),
              HasSubstr("node 'y' (GATHER): input 0 is float<3x7> and input 1 "
                        "int32<2x2>; accepted: the same first 1 extents"));
  EXPECT_THAT(getError({3, 2}, 2, 0),
              HasSubstr("node 'y' (GATHER): axis is 2; accepted for rank 2: -2 "
                        "to 1"));
}

TEST(TFLiteImporter, NamesOfTensors) {
  TFLiteModel model;
  int x = model.tensor("same", {2}, TensorType::FLOAT32);
  int y = model.tensor("same", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::ABS, {x}, {y});
  std::string bytes = model.finish({x}, {y});
  auto module = llvm::cantFail(importTFLiteBytes(bytes));
  EXPECT_TRUE(module->findPlaceholder("same"));
  EXPECT_TRUE(module->findPlaceholder("same_1"));
  auto renaming = std::make_shared<TFLiteOptions>();
  renaming->renamesTensors = true;
  ImportOptions options;
  options.ofFormat = renaming;
  module = llvm::cantFail(importTFLiteBytes(bytes, options));
  EXPECT_TRUE(module->findPlaceholder("tensor0"));
  EXPECT_TRUE(module->findPlaceholder("tensor1"));
}

TEST(TFLiteImporter, FormatsOfFiles) {
  auto getName = [](llvm::StringRef path) {
    return llvm::cantFail(getModelFormat(path))->name;
  };
  EXPECT_EQ(getName("a.tflite"), "TensorFlow Lite");
  EXPECT_EQ(getName("net.pb"), "Caffe2");
  EXPECT_EQ(getName("a.onnx"), "ONNX");
  EXPECT_EQ(getName("a"), "ONNX");
  EXPECT_EQ(getName("a.pt2"), "PyTorch ExportedProgram");
  EXPECT_EQ(getName("a.pt"), "TorchScript");
  EXPECT_EQ(llvm::cantFail(recognizeModel("a")), nullptr);
}
