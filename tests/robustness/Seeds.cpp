//===- Seeds.cpp - Small models to mutate ---------------------------------===//

#include "Seeds.h"
#include "../unit/OnnxText.h"

using namespace glowish;
using namespace glowish::robustness;

namespace {

using Shape = std::vector<int64_t>;
using Inputs = std::vector<std::pair<std::string, Shape>>;

/// TensorProto.DataType, as far as seeds need it.
enum : int { UInt8 = 2, Int8 = 3, Int32 = 6, Int64 = 7, Bool = 9 };

class SeedMaker {
public:
  std::vector<Seed> seeds;

  /// A model of \p body over float \p inputs.
  void add(std::string name, Inputs inputs, std::string body, int opset = 13,
           std::string header = "") {
    TextModel model;
    model.opset = opset;
    model.header = std::move(header);
    model.inputs = std::move(inputs);
    model.body = std::move(body);
    seeds.push_back({std::move(name), model.str()});
  }

  void addImages();
  void addNormalizations();
  void addReductions();
  void addMovement();
  void addIndexing();
  void addElementWise();
  void addRecurrent();
  void addQuantized();
  void addAttention();
  void addShapeArithmetic();
  void addFileFeatures();
  void addControlFlow();
  void addTraining();
  void addStrings();
};

} // namespace

/// An initializer of \p kind whose elements are \p text.
static std::string raw(std::string name, int kind, Shape shape,
                       llvm::StringRef element, llvm::StringRef value) {
  std::string text = "initializer { name: \"" + name +
                     "\" data_type: " + std::to_string(kind) + " ";
  int64_t count = 1;
  for (int64_t dim : shape) {
    text += "dims: " + std::to_string(dim) + " ";
    count *= dim;
  }
  for (int64_t i = 0; i < count; ++i)
    text += (element + ": " + value + " ").str();
  return text + "} ";
}

/// A float initializer: small numbers.
static std::string weights(std::string name, Shape shape) {
  size_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(i % 7) / 4 - 0.5f;
  return floats(name, shape, values);
}

static std::string input(std::string name, int kind, Shape shape) {
  std::string text =
      "input { name: \"" + name +
      "\" type { tensor_type { elem_type: " + std::to_string(kind) +
      " shape { ";
  for (int64_t dim : shape)
    text += "dim { dim_value: " + std::to_string(dim) + " } ";
  return text + "} } } } ";
}

/// onnxNode of another domain.
static std::string foreignNode(std::string domain, std::string type,
                               std::vector<std::string> inputs,
                               std::string attributes = "",
                               std::string output = "y") {
  return onnxNode(type, std::move(inputs),
                  "domain: \"" + domain + "\" " + attributes, output);
}

static const std::string microsoft = "com.microsoft";
static const std::string importMicrosoft =
    "opset_import { domain: \"com.microsoft\" version: 1 } ";

void SeedMaker::addImages() {
  add("conv", {{"x", {1, 3, 9, 7}}},
      weights("w", {4, 3, 3, 3}) + weights("b", {4}) +
          onnxNode("Conv", {"x", "w", "b"}, intsAttr("pads", {1, 0, 1, 2}),
                   "t") +
          onnxNode("Relu", {"t"}));
  add("conv-depthwise", {{"x", {1, 4, 6, 5}}},
      weights("w", {4, 1, 3, 3}) +
          onnxNode("Conv", {"x", "w"},
                   intAttr("group", 4) + intsAttr("strides", {2, 1})));
  add("conv-auto-pad", {{"x", {2, 2, 7, 7}}},
      weights("w", {3, 2, 2, 3}) +
          onnxNode("Conv", {"x", "w"},
                   stringAttr("auto_pad", "SAME_UPPER") +
                       intsAttr("dilations", {2, 1})));
  add("conv-3d", {{"x", {1, 2, 4, 4, 3}}},
      weights("w", {2, 2, 2, 2, 1}) + onnxNode("Conv", {"x", "w"}));
  add("conv-transpose", {{"x", {1, 3, 4, 3}}},
      weights("w", {3, 2, 3, 3}) +
          onnxNode("ConvTranspose", {"x", "w"},
                   intsAttr("strides", {2, 2}) +
                       intsAttr("output_padding", {1, 1})));
  add("max-pool", {{"x", {1, 2, 7, 6}}},
      onnxNode("MaxPool", {"x"},
               intsAttr("kernel_shape", {3, 2}) + intsAttr("strides", {2, 2}) +
                   intAttr("ceil_mode", 1)));
  add("average-pool", {{"x", {1, 2, 7, 6}}},
      onnxNode("AveragePool", {"x"},
               intsAttr("kernel_shape", {2, 3}) +
                   intsAttr("pads", {1, 1, 0, 1}) +
                   intAttr("count_include_pad", 1)));
  add("lp-pool", {{"x", {1, 2, 5, 5}}},
      onnxNode("LpPool", {"x"},
               intsAttr("kernel_shape", {2, 2}) + intAttr("p", 3)));
  add("global-pool", {{"x", {1, 3, 5, 4}}},
      weights("w", {3, 2}) + onnxNode("GlobalAveragePool", {"x"}, "", "t") +
          onnxNode("Flatten", {"t"}, "", "u") + onnxNode("MatMul", {"u", "w"}));
  add("max-unpool", {{"x", {1, 1, 4, 4}}},
      "node { op_type: \"MaxPool\" input: \"x\" output: \"t\" output: \"i\" " +
          intsAttr("kernel_shape", {2, 2}) + intsAttr("strides", {2, 2}) +
          "} " +
          onnxNode("MaxUnpool", {"t", "i"},
                   intsAttr("kernel_shape", {2, 2}) +
                       intsAttr("strides", {2, 2})));
  add("resize", {{"x", {1, 2, 4, 3}}},
      floats("s", {4}, {1, 1, 2, 1.5}) +
          onnxNode("Resize", {"x", "", "s"}, stringAttr("mode", "linear")));
  add("upsample", {{"x", {1, 1, 2, 2}}},
      floats("s", {4}, {1, 1, 2, 3}) +
          onnxNode("Upsample", {"x", "s"}, stringAttr("mode", "nearest")),
      9);
  add("grid-sample", {{"x", {1, 2, 4, 4}}, {"g", {1, 3, 3, 2}}},
      onnxNode("GridSample", {"x", "g"}, stringAttr("mode", "bilinear")), 16);
  add("roi-align", {{"x", {1, 2, 6, 6}}, {"r", {2, 4}}},
      int64s("b", {0, 0}) +
          onnxNode("RoiAlign", {"x", "r", "b"},
                   intAttr("output_height", 2) + intAttr("output_width", 3) +
                       intAttr("sampling_ratio", 2)),
      16);
  add("deform-conv", {{"x", {1, 1, 4, 4}}, {"o", {1, 8, 3, 3}}},
      weights("w", {1, 1, 2, 2}) + onnxNode("DeformConv", {"x", "w", "o"}), 19);
  add("col2im", {{"x", {1, 4, 9}}},
      int64s("i", {4, 4}) + int64s("k", {2, 2}) +
          onnxNode("Col2Im", {"x", "i", "k"}),
      18);
  add("depth-to-space", {{"x", {1, 8, 2, 3}}},
      onnxNode("DepthToSpace", {"x"}, intAttr("blocksize", 2), "t") +
          onnxNode("SpaceToDepth", {"t"}, intAttr("blocksize", 2)));
}

void SeedMaker::addNormalizations() {
  add("batch-norm", {{"x", {1, 3, 4, 4}}},
      weights("s", {3}) + weights("b", {3}) + weights("m", {3}) +
          floats("v", {3}, {1, 2, 3}) +
          onnxNode("BatchNormalization", {"x", "s", "b", "m", "v"},
                   floatAttr("epsilon", 0.01)));
  add("layer-norm", {{"x", {2, 3, 5}}},
      weights("s", {5}) + weights("b", {5}) +
          onnxNode("LayerNormalization", {"x", "s", "b"}, intAttr("axis", -1)),
      17);
  add("instance-norm", {{"x", {2, 3, 4}}},
      weights("s", {3}) + weights("b", {3}) +
          onnxNode("InstanceNormalization", {"x", "s", "b"}));
  add("group-norm", {{"x", {1, 4, 3, 3}}},
      weights("s", {4}) + weights("b", {4}) +
          onnxNode("GroupNormalization", {"x", "s", "b"},
                   intAttr("num_groups", 2)),
      21);
  add("lrn", {{"x", {1, 6, 3, 3}}},
      onnxNode("LRN", {"x"}, intAttr("size", 3) + floatAttr("alpha", 0.1)));
  add("softmax", {{"x", {2, 3, 4}}},
      onnxNode("Softmax", {"x"}, intAttr("axis", 1), "t") +
          onnxNode("LogSoftmax", {"t"}, intAttr("axis", -1)));
  add("softmax-before-13", {{"x", {2, 3, 4}}},
      onnxNode("Softmax", {"x"}, intAttr("axis", 1), "t") +
          onnxNode("Hardmax", {"t"}, intAttr("axis", 2)),
      11);
}

void SeedMaker::addReductions() {
  add("reduce", {{"x", {2, 3, 4}}},
      int64s("a", {1}) +
          onnxNode("ReduceSum", {"x", "a"}, intAttr("keepdims", 0), "t") +
          onnxNode("ReduceMean", {"t"}, intsAttr("axes", {-1})));
  add("reduce-18", {{"x", {2, 3, 4}}},
      int64s("a", {0, 2}) + onnxNode("ReduceLogSumExp", {"x", "a"},
                                     intAttr("noop_with_empty_axes", 1)),
      18);
  add("arg-max", {{"x", {3, 5}}},
      onnxNode("ArgMax", {"x"},
               intAttr("axis", 1) + intAttr("select_last_index", 1)));
  add("top-k", {{"x", {3, 7}}},
      int64s("k", {2}) +
          "node { op_type: \"TopK\" input: \"x\" input: \"k\" output: \"y\" "
          "output: \"i\" " +
          intAttr("axis", 1) + "} output { name: \"i\" } ");
  add("cum-sum", {{"x", {3, 4}}},
      int64s("a", {1}) + onnxNode("CumSum", {"x", "a"}, intAttr("reverse", 1)));
  add("loss", {{"x", {3, 4}}},
      int64s("t", {0, 3, 1}) + onnxNode("SoftmaxCrossEntropyLoss", {"x", "t"},
                                        stringAttr("reduction", "mean")));
}

void SeedMaker::addMovement() {
  add("transpose-reshape", {{"x", {2, 3, 4}}},
      int64s("s", {0, -1}) +
          onnxNode("Transpose", {"x"}, intsAttr("perm", {2, 0, 1}), "t") +
          onnxNode("Reshape", {"t", "s"}));
  add("slice", {{"x", {5, 6}}},
      int64s("s", {4, 0}) + int64s("e", {-9, 5}) + int64s("a", {0, 1}) +
          int64s("p", {-2, 2}) + onnxNode("Slice", {"x", "s", "e", "a", "p"}));
  add("slice-before-10", {{"x", {5, 6}}},
      onnxNode("Slice", {"x"},
               intsAttr("starts", {1}) + intsAttr("ends", {1000}) +
                   intsAttr("axes", {1})),
      9);
  add("split-concat", {{"x", {4, 6}}},
      int64s("s", {1, 5}) +
          "node { op_type: \"Split\" input: \"x\" input: \"s\" output: \"a\" "
          "output: \"b\" " +
          intAttr("axis", 1) + "} " +
          onnxNode("Concat", {"b", "a", "b"}, intAttr("axis", 1)));
  add("pad", {{"x", {2, 3}}},
      int64s("p", {1, 0, 0, 2}) +
          onnxNode("Pad", {"x", "p"}, stringAttr("mode", "reflect")));
  add("expand-tile", {{"x", {1, 3}}},
      int64s("s", {2, 2, 3}) + int64s("r", {1, 2, 3}) +
          onnxNode("Expand", {"x", "s"}, "", "t") +
          onnxNode("Tile", {"t", "r"}));
  add("squeeze", {{"x", {1, 3, 1}}},
      int64s("a", {0}) + int64s("u", {-1}) +
          onnxNode("Squeeze", {"x", "a"}, "", "t") +
          onnxNode("Unsqueeze", {"t", "u"}));
  add("trilu", {{"x", {4, 5}}},
      int64s("k", {-1}) + onnxNode("Trilu", {"x", "k"}, intAttr("upper", 0)),
      14);
  add("center-crop-pad", {{"x", {5, 4}}},
      int64s("s", {3, 7}) + onnxNode("CenterCropPad", {"x", "s"}), 18);
  add("reverse-sequence", {{"x", {4, 2, 3}}},
      int64s("l", {4, 2}) +
          onnxNode("ReverseSequence", {"x", "l"},
                   intAttr("batch_axis", 1) + intAttr("time_axis", 0)));
}

void SeedMaker::addIndexing() {
  std::string indices = input("i", Int64, {2, 2});
  add("gather", {{"x", {5, 3}}},
      indices + onnxNode("Gather", {"x", "i"}, intAttr("axis", 0)));
  add("gather-elements", {{"x", {3, 2}}},
      indices + onnxNode("GatherElements", {"x", "i"}, intAttr("axis", 0)));
  add("gather-nd", {{"x", {3, 2, 4}}},
      indices + onnxNode("GatherND", {"x", "i"}));
  add("scatter-elements", {{"x", {3, 2}}, {"u", {2, 2}}},
      indices + onnxNode("ScatterElements", {"x", "i", "u"},
                         intAttr("axis", 0) + stringAttr("reduction", "add")),
      16);
  add("scatter-nd", {{"x", {3, 2, 4}}, {"u", {2, 4}}},
      indices + onnxNode("ScatterND", {"x", "i", "u"}), 16);
  add("one-hot", {{"x", {2}}},
      raw("i", Int64, {2, 3}, "int64_data", "2") + int64s("d", {5}) +
          floats("v", {2}, {0, 1}) +
          onnxNode("OneHot", {"i", "d", "v"}, intAttr("axis", 1), "t") +
          onnxNode("Mul", {"t", "t"}));
}

void SeedMaker::addElementWise() {
  add("broadcast", {{"x", {2, 1, 4}}, {"z", {3, 1}}},
      onnxNode("Add", {"x", "z"}, "", "t") +
          onnxNode("Pow", {"t", "z"}, "", "u") + onnxNode("Max", {"u", "x"}));
  add("broadcast-before-7", {{"x", {2, 3, 4}}, {"z", {3}}},
      onnxNode("Add", {"x", "z"}, intAttr("broadcast", 1) + intAttr("axis", 1)),
      6);
  add("where", {{"x", {2, 3}}, {"z", {3}}},
      onnxNode("Less", {"x", "z"}, "", "c") +
          onnxNode("Where", {"c", "x", "z"}));
  add("cast", {{"x", {2, 3}}},
      onnxNode("Cast", {"x"}, intAttr("to", Int32), "t") +
          onnxNode("Cast", {"t"}, intAttr("to", 10), "u") +
          onnxNode("Neg", {"u"}));
  add("activations", {{"x", {3, 5}}},
      floats("l", {}, {-1}) + weights("s", {5}) +
          onnxNode("Clip", {"x", "l"}, "", "a") +
          onnxNode("Elu", {"a"}, floatAttr("alpha", 0.5), "b") +
          onnxNode("PRelu", {"b", "s"}, "", "c") +
          onnxNode("HardSigmoid", {"c"}, floatAttr("beta", 0.4), "d") +
          onnxNode("Erf", {"d"}));
  add("bits", {{"x", {2}}},
      input("i", UInt8, {2, 3}) + raw("s", UInt8, {3}, "int32_data", "2") +
          onnxNode("BitShift", {"i", "s"}, stringAttr("direction", "LEFT"),
                   "t") +
          onnxNode("BitwiseXor", {"t", "i"}),
      18);
  add("einsum", {{"x", {2, 3, 4}}, {"z", {2, 4, 5}}},
      onnxNode("Einsum", {"x", "z"}, stringAttr("equation", "bij,bjk->bik")));
  add("gemm", {{"x", {3, 4}}},
      weights("w", {5, 4}) + weights("b", {5}) +
          onnxNode("Gemm", {"x", "w", "b"},
                   intAttr("transB", 1) + floatAttr("alpha", 0.5)));
  add("mat-mul", {{"x", {2, 1, 3, 4}}, {"z", {5, 4, 2}}},
      onnxNode("MatMul", {"x", "z"}));
  add("dft", {{"x", {1, 6, 1}}},
      onnxNode("DFT", {"x"}, intAttr("axis", 1) + intAttr("onesided", 1)), 17);
  add("stft", {{"x", {1, 16, 1}}},
      int64s("s", {4}) +
          "node { op_type: \"STFT\" input: \"x\" input: \"s0\" "
          "input: \"\" input: \"l0\" output: \"y\" } " +
          raw("s0", Int64, {}, "int64_data", "4") +
          raw("l0", Int64, {}, "int64_data", "8") +
          onnxNode("Identity", {"s"}, "", "unused"),
      17);
}

void SeedMaker::addRecurrent() {
  add("lstm", {{"x", {3, 2, 4}}},
      weights("w", {1, 12, 4}) + weights("r", {1, 12, 3}) +
          onnxNode("LSTM", {"x", "w", "r"}, intAttr("hidden_size", 3)));
  add("gru", {{"x", {3, 2, 4}}},
      weights("w", {2, 9, 4}) + weights("r", {2, 9, 3}) +
          onnxNode("GRU", {"x", "w", "r"},
                   intAttr("hidden_size", 3) +
                       stringAttr("direction", "bidirectional") +
                       intAttr("linear_before_reset", 1)));
  add("rnn", {{"x", {3, 2, 4}}},
      weights("w", {1, 3, 4}) + weights("r", {1, 3, 3}) +
          raw("l", Int32, {2}, "int32_data", "2") +
          onnxNode("RNN", {"x", "w", "r", "", "l"}, intAttr("hidden_size", 3)));
}

void SeedMaker::addQuantized() {
  std::string scale =
      floats("s", {}, {0.1f}) + raw("z", UInt8, {}, "int32_data", "128");
  add("quantize", {{"x", {3, 4}}},
      scale + onnxNode("QuantizeLinear", {"x", "s", "z"}, "", "q") +
          onnxNode("DequantizeLinear", {"q", "s", "z"}));
  add("quantize-axis", {{"x", {3, 4}}},
      floats("s", {4}, {0.1f, 0.2f, 0.3f, 0.4f}) +
          onnxNode("QuantizeLinear", {"x", "s"}, intAttr("axis", 1), "q") +
          onnxNode("DequantizeLinear", {"q", "s"}, intAttr("axis", 1)));
  add("qlinear-conv", {{"f", {1}}},
      scale + input("x", UInt8, {1, 2, 5, 5}) +
          raw("w", UInt8, {3, 2, 3, 3}, "int32_data", "130") +
          onnxNode("QLinearConv", {"x", "s", "z", "w", "s", "z", "s", "z"},
                   intsAttr("pads", {1, 1, 1, 1})));
  add("qlinear-mat-mul", {{"f", {1}}},
      scale + input("x", UInt8, {3, 4}) +
          raw("w", UInt8, {4, 2}, "int32_data", "130") +
          onnxNode("QLinearMatMul", {"x", "s", "z", "w", "s", "z", "s", "z"}));
  add("integer-matmuls", {{"x", {3, 4}}},
      raw("w", UInt8, {4, 2}, "int32_data", "7") +
          "node { op_type: \"DynamicQuantizeLinear\" input: \"x\" output: "
          "\"q\" output: \"s\" output: \"z\" } " +
          onnxNode("MatMulInteger", {"q", "w", "z"}));
  add("conv-integer", {{"f", {1}}},
      input("x", Int8, {1, 2, 5, 5}) +
          raw("w", Int8, {3, 2, 3, 3}, "int32_data", "-3") +
          onnxNode("ConvInteger", {"x", "w"}));
}

void SeedMaker::addAttention() {
  add("attention",
      {{"q", {1, 2, 3, 4}}, {"k", {1, 2, 5, 4}}, {"v", {1, 2, 5, 4}}},
      onnxNode("Attention", {"q", "k", "v"}, intAttr("is_causal", 1)), 23);
  add("attention-microsoft", {{"x", {1, 3, 4}}},
      weights("w", {4, 12}) + weights("b", {12}) +
          foreignNode(microsoft, "Attention", {"x", "w", "b"},
                      intAttr("num_heads", 2)),
      13, importMicrosoft);
  add("attention-group-query",
      {{"x", {1, 2, 8}}, {"k", {1, 1, 2, 2}}, {"v", {1, 1, 2, 2}}},
      raw("l", Int32, {1}, "int32_data", "2") +
          raw("t", Int32, {1}, "int32_data", "3") + weights("c", {4, 1}) +
          weights("s", {4, 1}) +
          foreignNode(microsoft, "GroupQueryAttention",
                      {"x", "", "", "k", "v", "l", "t", "c", "s"},
                      intAttr("num_heads", 2) + intAttr("kv_num_heads", 1) +
                          intAttr("do_rotary", 1)),
      13, importMicrosoft);
  add("skip-layer-norm", {{"x", {1, 3, 4}}, {"z", {1, 3, 4}}},
      weights("g", {4}) + weights("b", {4}) +
          foreignNode(microsoft, "SkipLayerNormalization", {"x", "z", "g", "b"},
                      "", "t") +
          foreignNode(microsoft, "FastGelu", {"t"}),
      13, importMicrosoft);
  add("quantized-microsoft", {{"x", {2, 4}}},
      floats("s", {}, {0.1f}) + raw("w", UInt8, {4, 3}, "int32_data", "7") +
          foreignNode(microsoft, "DynamicQuantizeMatMul", {"x", "w", "s"}, "",
                      "t") +
          onnxNode("QuantizeLinear", {"t", "s"}, "", "q") +
          foreignNode(microsoft, "QLinearAdd",
                      {"q", "s", "", "q", "s", "", "s"}, "", "a") +
          foreignNode(microsoft, "QLinearSoftmax", {"a", "s", "", "s"},
                      intAttr("opset", 13)),
      13, importMicrosoft);
  add("rotary", {{"x", {1, 2, 3, 4}}},
      weights("c", {3, 2}) + weights("s", {3, 2}) +
          raw("p", Int64, {1, 3}, "int64_data", "1") +
          onnxNode("RotaryEmbedding", {"x", "c", "s", "p"}),
      23);
}

void SeedMaker::addShapeArithmetic() {
  add("shapes", {{"x", {2, 3, 4}}},
      int64s("i", {0}) + int64s("m", {-1}) + onnxNode("Shape", {"x"}, "", "a") +
          onnxNode("Gather", {"a", "i"}, "", "b") +
          onnxNode("Concat", {"b", "m"}, intAttr("axis", 0), "c") +
          onnxNode("Reshape", {"x", "c"}));
  add("constants", {{"x", {3}}},
      int64s("d", {2, 3}) +
          onnxNode("ConstantOfShape", {"d"},
                   "attribute { name: \"value\" type: TENSOR t { data_type: 1 "
                   "dims: 1 float_data: 2.5 } } ",
                   "a") +
          onnxNode("Constant", {}, floatAttr("value_float", 1.5), "b") +
          onnxNode("Mul", {"a", "b"}, "", "c") + onnxNode("Add", {"x", "c"}));
  add("range", {{"x", {4}}},
      floats("s", {}, {1}) + floats("e", {}, {9}) + floats("d", {}, {2}) +
          onnxNode("Range", {"s", "e", "d"}, "", "r") +
          onnxNode("Add", {"x", "r"}));
  add("non-zero", {{"x", {2, 3}}},
      int64s("i", {0, 3, 0, 4}) + onnxNode("NonZero", {"i"}, "", "n") +
          onnxNode("Cast", {"n"}, intAttr("to", 1), "f") +
          onnxNode("ReduceSum", {"f"}, "", "s") + onnxNode("Add", {"x", "s"}));
}

void SeedMaker::addFileFeatures() {
  std::string leaky =
      "functions { name: \"Leaky\" domain: \"own\" input: \"a\" output: \"b\" "
      "attribute: \"slope\" opset_import { version: 11 } " +
      onnxNode("LeakyRelu", {"a"},
               "attribute { name: \"alpha\" type: FLOAT ref_attr_name: "
               "\"slope\" } ",
               "t") +
      onnxNode("Softmax", {"t"}, "", "b") + "} ";
  add("functions", {{"x", {2, 3, 4}}},
      foreignNode("own", "Leaky", {"x"}, floatAttr("slope", 0.25), "u") +
          foreignNode("own", "Leaky", {"u"}),
      13, "opset_import { domain: \"own\" version: 1 } " + leaky);
  std::string sparse =
      "values { name: \"w\" data_type: 1 dims: 2 float_data: 1 "
      "float_data: 2 } indices { data_type: 7 dims: 2 "
      "int64_data: 5 int64_data: 1 } dims: 2 dims: 3 ";
  add("sparse", {{"x", {2, 3}}},
      "sparse_initializer { " + sparse + "} " +
          onnxNode("Constant", {},
                   "attribute { name: \"sparse_value\" type: SPARSE_TENSOR "
                   "sparse_tensor { " +
                       sparse + "} } ",
                   "c") +
          onnxNode("Add", {"x", "w"}, "", "t") + onnxNode("Mul", {"t", "c"}));
  auto external = [](std::string name, int64_t dims, int64_t offset) {
    return "initializer { name: \"" + name +
           "\" data_type: 1 dims: " + std::to_string(dims) +
           " data_location: EXTERNAL external_data { key: \"location\" value: "
           "\"weights\" } external_data { key: \"offset\" value: \"" +
           std::to_string(offset) +
           "\" } external_data { key: \"length\" value: \"" +
           std::to_string(4 * dims) + "\" } } ";
  };
  add("external", {{"x", {3, 16}}},
      external("a", 16, 0) + external("b", 16, 66) +
          onnxNode("Add", {"x", "a"}, "", "t") + onnxNode("Mul", {"t", "b"}));
  add("raw-data", {{"x", {2}}},
      "initializer { name: \"h\" data_type: 10 dims: 2 raw_data: "
      "\"\\000<\\000@\" } initializer { name: \"f\" data_type: 9 dims: 2 "
      "raw_data: \"\\001\\000\" } " +
          onnxNode("Cast", {"h"}, intAttr("to", 1), "t") +
          onnxNode("Where", {"f", "x", "t"}));
  std::string chain;
  for (int i = 0; i < 40; ++i)
    chain += onnxNode(i % 2 ? "Tanh" : "Abs",
                      {i == 0 ? "x" : "t" + std::to_string(i - 1)}, "",
                      i == 39 ? "y" : "t" + std::to_string(i));
  add("chain", {{"x", {2, 3}}},
      chain + "value_info { name: \"t3\" type { tensor_type { elem_type: 1 "
              "shape { dim { dim_value: 2 } dim { dim_param: \"n\" } } } } } "
              "doc_string: \"forty nodes\" ");
}

void SeedMaker::addControlFlow() {
  auto branch = [](std::string name, std::string type) {
    return "attribute { name: \"" + name + "\" type: GRAPH g { name: \"" +
           name + "\" " + onnxNode(type, {"x"}, "", "r") +
           "output { name: \"r\" } } } ";
  };
  std::string condition = input("c", Bool, {});
  add("if", {{"x", {2, 3}}},
      condition + onnxNode("If", {"c"},
                           branch("then_branch", "Abs") +
                               branch("else_branch", "Neg")));
  std::string body =
      "attribute { name: \"body\" type: GRAPH g { name: \"body\" " +
      input("n", Int64, {}) + input("c", Bool, {}) + input("s", 1, {2, 3}) +
      onnxNode("Add", {"s", "s"}, "", "next") +
      onnxNode("Identity", {"c"}, "", "more") +
      "output { name: \"more\" } output { name: \"next\" } } } ";
  add("loop", {{"x", {2, 3}}},
      raw("m", Int64, {}, "int64_data", "3") +
          onnxNode("Loop", {"m", "", "x"}, body));
}

void SeedMaker::addTraining() {
  const std::string header =
      "opset_import { domain: \"ai.onnx.preview.training\" version: 1 } ";
  const std::string domain = "domain: \"ai.onnx.preview.training\" ";
  add("gradient", {{"x", {1, 2, 5, 5}}},
      floats("w", {3, 2, 3, 3}, std::vector<float>(54, 0.5f)) +
          onnxNode("Conv", {"x", "w"}, intsAttr("strides", {2, 1}), "c") +
          onnxNode("Relu", {"c"}, "", "r") +
          onnxNode("ReduceSum", {"r"}, intAttr("keepdims", 0), "s") +
          onnxNode("Gradient", {"w", "x"},
                   domain + stringsAttr("xs", {"w", "x"}) +
                       stringAttr("y", "s") + "output: \"dx\" ",
                   "dw") +
          onnxNode("Add", {"dx", "x"}),
      13, header);
  add("momentum", {{"x", {3}}},
      floats("rate", {}, {0.5f}) + raw("step", Int64, {}, "int64_data", "1") +
          floats("v", {3}, {1, 2, 3}) +
          onnxNode("Momentum", {"rate", "step", "x", "x", "v"},
                   domain + floatAttr("alpha", 0.5) + floatAttr("beta", 0.5) +
                       floatAttr("norm_coefficient", 0.25) +
                       stringAttr("mode", "nesterov") + "output: \"v1\" "),
      13, header);
}

void SeedMaker::addStrings() {
  add("strings", {{"x", {2}}},
      raw("s", /*kind=*/8, {2}, "string_data", "\"a\"") +
          onnxNode("Constant", {}, stringsAttr("value_strings", {"a", "b"}),
                   "t") +
          onnxNode("Cast", {"x"}, intAttr("to", Int64), "index") +
          onnxNode("Gather", {"t", "index"}, "", "picked") +
          onnxNode("Equal", {"picked", "s"}, "", "same") +
          onnxNode("LabelEncoder", {"picked"},
                   "domain: \"ai.onnx.ml\" " +
                       stringsAttr("keys_strings", {"b", "a"}) +
                       intsAttr("values_int64s", {0, 1}),
                   "label") +
          onnxNode("Cast", {"label"}, intAttr("to", 1), "number") +
          onnxNode("Where", {"same", "x", "number"}),
      19, "opset_import { domain: \"ai.onnx.ml\" version: 4 } ");
}

std::vector<Seed> glowish::robustness::makeSeeds() {
  SeedMaker maker;
  maker.addImages();
  maker.addNormalizations();
  maker.addReductions();
  maker.addMovement();
  maker.addIndexing();
  maker.addElementWise();
  maker.addRecurrent();
  maker.addQuantized();
  maker.addAttention();
  maker.addShapeArithmetic();
  maker.addFileFeatures();
  maker.addControlFlow();
  maker.addTraining();
  maker.addStrings();
  return std::move(maker.seeds);
}

std::string glowish::robustness::makeWeights() {
  std::string bytes;
  for (int i = 0; i < 1024; ++i) {
    float value = float(i % 64) / 32;
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  return bytes;
}
