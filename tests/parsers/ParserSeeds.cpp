//===- ParserSeeds.cpp - First inputs of the fuzzers ----------------------===//

#include "parsers/ParserSeeds.h"
#include "Caffe2/caffe2.pb.h"
#include "glowish/Support/Npy.h"
#include "parsers/FileSeeds.h"
#include "parsers/Inputs.h"
#include "robustness/Caffe2Seeds.h"
#include "robustness/Seeds.h"
#include "robustness/TextSeeds.h"
#include "robustness/TorchArchives.h"
#include "unit/TFLiteModels.h"
#include "llvm/Support/FormatVariadic.h"
#include <google/protobuf/text_format.h>
#include <onnx/onnx-data_pb.h>
#include <onnx/onnx_pb.h>

using namespace glowish;
using namespace glowish::parsers;
using namespace glowish::robustness;
using google::protobuf::TextFormat;

/// \p text as a binary message of type T.
template <typename T> static std::string makeBinary(const std::string &text) {
  T message;
  if (!TextFormat::ParseFromString(text, &message))
    llvm::report_fatal_error("a seed is no message");
  return message.SerializeAsString();
}

//===- Models -------------------------------------------------------------===//

/// Inputs with the symbols of the fuzzer.
static void addSymbolicModels(ParserSeeds &seeds) {
  for (const Seed &seed : makeSeeds()) {
    if (seed.name != "gemm" && seed.name != "softmax" && seed.name != "reduce")
      continue;
    onnx::ModelProto model;
    TextFormat::ParseFromString(seed.model, &model);
    auto *shape = model.mutable_graph()
                      ->mutable_input(0)
                      ->mutable_type()
                      ->mutable_tensor_type()
                      ->mutable_shape();
    for (const char *symbol : {"n", "m", "2*m"}) {
      shape->mutable_dim(0)->set_dim_param(symbol);
      seeds.emplace_back(seed.name + "-" + symbol, model.SerializeAsString());
    }
  }
}

static ParserSeeds makeOnnxSeeds() {
  ParserSeeds seeds;
  for (const Seed &seed : makeSeeds())
    seeds.emplace_back(seed.name, makeBinary<onnx::ModelProto>(seed.model));
  addSymbolicModels(seeds);
  // The parser takes text, too.
  seeds.emplace_back("text", makeSeeds().front().model);
  return seeds;
}

static ParserSeeds makeCaffe2Seeds() {
  ParserSeeds seeds;
  for (const NetSeed &net : makeNetSeeds()) {
    std::string inputs;
    for (const auto &[name, type] : net.inputs) {
      inputs += name + ",float,[";
      for (int64_t extent : type.getShape())
        inputs += std::to_string(extent) + ",";
      inputs.back() = ']';
    }
    seeds.emplace_back(net.name + "-text", joinParts({{"inputs", inputs},
                                                      {"predict", net.predict},
                                                      {"init", net.init}}));
    seeds.emplace_back(
        net.name,
        joinParts({{"inputs", inputs},
                   {"predict", makeBinary<caffe2::schema::NetDef>(net.predict)},
                   {"init", makeBinary<caffe2::schema::NetDef>(net.init)}}));
  }
  return seeds;
}

/// What operators have: one value or two, axes, starts and sizes, or weights.
enum class TFLiteOperands { One, Two, Axes, Slice, Weights };

/// An operator of \p kind, without options.
static std::string makeTFLiteOperator(tflite::schema::BuiltinOperator kind,
                                      tflite::schema::TensorType type,
                                      TFLiteOperands form) {
  TFLiteModel model;
  TFLiteScales scales;
  if (type != tflite::schema::TensorType::FLOAT32)
    scales = {{0.5f}, {3}};
  auto tensor = [&](const char *name, std::vector<int32_t> shape) {
    return model.tensor(name, std::move(shape), type, scales);
  };
  auto numbers = [&](std::vector<int32_t> values) {
    return model.tensor("numbers", {int(values.size())},
                        tflite::schema::TensorType::INT32, {},
                        getTFLiteBytes(values));
  };
  int x = tensor("x", {1, 4, 4, 2}), y = tensor("y", {1, 4, 4, 2});
  int z = tensor("z", {1, 4, 4, 2});
  std::vector<int32_t> operands = {x};
  if (form == TFLiteOperands::Two)
    operands = {x, y};
  else if (form == TFLiteOperands::Axes)
    operands = {x, numbers({1, 2})};
  else if (form == TFLiteOperands::Slice)
    operands = {x, numbers({0, 1, 1, 0}), numbers({1, 2, 2, 2})};
  else if (form == TFLiteOperands::Weights)
    operands = {x, tensor("w", {2, 3, 3, 2}), tensor("b", {2})};
  model.op(kind, operands, {z});
  return model.finish({x, y}, {z});
}

static ParserSeeds makeTFLiteSeeds() {
  ParserSeeds seeds = {{"convolution", makeQuantizedConvolution()},
                       {"control-flow", makeControlFlow()}};
  using enum TFLiteOperands;
  for (tflite::schema::BuiltinOperator kind :
       tflite::schema::EnumValuesBuiltinOperator())
    for (tflite::schema::TensorType type : {tflite::schema::TensorType::FLOAT32,
                                            tflite::schema::TensorType::INT8})
      for (TFLiteOperands form : {One, Two, Axes, Slice, Weights})
        seeds.emplace_back("operator" + std::to_string(seeds.size()),
                           makeTFLiteOperator(kind, type, form));
  return seeds;
}

static ParserSeeds makeTextFormSeeds(std::initializer_list<TextForm> forms) {
  ParserSeeds seeds;
  for (const TextSeed &seed : makeTextSeeds(forms)) {
    Parts parts = {{"", seed.text}};
    if (!seed.weights.empty())
      parts.emplace_back("weights", seed.weights);
    seeds.emplace_back(seed.name + "-" + std::to_string(seeds.size()),
                       joinParts(parts));
  }
  return seeds;
}

static ParserSeeds makeArchiveSeeds() {
  std::string big(2000, 'x');
  return {{"text", makeArchive({{"a/code/x.py", "def f():\n"},
                                {"a/constants.pkl", ""},
                                {"a/data.pkl", big}})},
          {"program", makeArchive({{"a/archive_format", "pt2"},
                                   {"a/models/model.json", "{}"},
                                   {"a/data/weights/weight_0", "1234"}})},
          {"none", makeArchive({{"model.json", "{}"}})}};
}

//===- Tensors and texts --------------------------------------------------===//

static ParserSeeds makeNpySeeds() {
  ParserSeeds seeds;
  for (llvm::StringRef element : {"f2", "f4", "f8", "i1", "u2", "i8", "b1"}) {
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    std::vector<uint8_t> data(6 * size_t(element[1] - '0'), 1);
    writeNpy(os, element, {2, 3}, data);
    seeds.emplace_back(element.str(), bytes);
  }
  std::string header = "{\"shape\": (2, 1L,), 'fortran_order': True, "
                       "'descr': '>i2'}";
  seeds.emplace_back("column-major",
                     std::string("\x93NUMPY\2\0", 8) + char(header.size()) +
                         std::string(3, '\0') + header + "abcd");
  return seeds;
}

static ParserSeeds makeTensorSeeds() {
  std::vector<std::pair<int, const char *>> fields = {
      {1, "float_data: 1 float_data: 2"},
      {2, "int32_data: 255 int32_data: 2"},
      {3, "raw_data: \"ab\""},
      {7, "int64_data: -1 int64_data: 9"},
      {10, "int32_data: 15360 int32_data: 0"},
      {11, "double_data: 1 double_data: 2"},
      {13, "uint64_data: 1 uint64_data: 2"},
      {16, "raw_data: \"abcd\""},
      {17, "raw_data: \"ab\""},
      {21, "raw_data: \"a\""}};
  ParserSeeds seeds;
  std::string all;
  for (auto [kind, data] : fields) {
    std::string text = llvm::formatv("data_type: {0} dims: 2 {1} ", kind, data);
    seeds.emplace_back(std::to_string(kind),
                       makeBinary<onnx::TensorProto>(text));
    all += "tensor_values { " + text + "} ";
  }
  seeds.emplace_back("sequence", makeBinary<onnx::SequenceProto>(
                                     "name: \"s\" elem_type: 1 " + all));
  return seeds;
}

static ParserSeeds makeTuningSeeds() {
  std::string key = "x86_64-v3 float 1x9x7x32 -> 9x7x48 kernel 3x3 stride 1x1 "
                    "pad 1x1 dilation 1x1 group 1 winograd 4 input ";
  return {{"choices", "glowish-tuning 1\n" + key +
                          "dense: direct 4x2 # 3.5 us\n" + key +
                          "2016x224x64x1: winograd 4x4 2\n"},
          {"bytes", "glowish-tuning 1\naarch64-generic uint8xint8 1x1x1x256 -> "
                    "1x1x10 kernel 1x1 stride 1x1 pad 0x0 dilation 1x1 group 1 "
                    "winograd 0 input dense: depthwise\n"}};
}

static ParserSeeds makeShapeRuleSeeds() {
  return {{"rules", "function my_function\nschema \"own::f(Tensor x, int axis) "
                    "-> Tensor\"\n(float<N, [S], 4>, K<3>) -> (K<\"2*N+axis\", "
                    "[S]>)\n"},
          {"absent", "(T<[S]>, none) -> (T<[S]>, int64<\"-1*(2-3)\">)\n"}};
}

static ParserSeeds makeOptionSeeds() {
  ParserSeeds seeds;
  for (const char *text :
       {"x,float,[1,3,224,224]", "x,uint8,0.5,128,[2,3]", "x,float,[]",
        "sram:64K,dram:1M", "fast=65536,slow", "N,8", "N,1,2,4", "N,1..64",
        "N,4,8,1..64", "2*N+1", "(N - 3) * length / 2", "-length", "floor(N/2)",
        "9223372036854775807*N"})
    seeds.emplace_back("option" + std::to_string(seeds.size()), text);
  return seeds;
}

ParserSeeds glowish::parsers::makeParserSeeds(llvm::StringRef name) {
  static const std::pair<llvm::StringLiteral, ParserSeeds (*)()> makers[] = {
      {"onnx", makeOnnxSeeds},
      {"caffe2", makeCaffe2Seeds},
      {"tflite", makeTFLiteSeeds},
      {"archive", makeArchiveSeeds},
      {"graph",
       [] {
         return makeTextFormSeeds({TextForm::Graph, TextForm::LoweredGraph});
       }},
      {"ir", [] { return makeTextFormSeeds({TextForm::IR}); }},
      {"npy", makeNpySeeds},
      {"tensor", makeTensorSeeds},
      {"tuning", makeTuningSeeds},
      {"profile", makeProfileSeeds},
      {"checkpoint", makeCheckpointSeeds},
      {"image", makeImageSeeds},
      {"shaperules", makeShapeRuleSeeds},
      {"options", makeOptionSeeds}};
  for (const auto &[known, make] : makers)
    if (name == known)
      return make();
  return {};
}
