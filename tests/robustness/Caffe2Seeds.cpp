//===- Caffe2Seeds.cpp - Small Caffe2 nets to mutate ----------------------===//

#include "Caffe2Seeds.h"
#include "../unit/Caffe2Text.h"

using namespace glowish;
using namespace glowish::robustness;

namespace {

class SeedMaker {
public:
  std::vector<NetSeed> seeds;

  /// A net of \p ops with the output y and, if they read it, a float input x of
  /// \p shape.
  void add(std::string name, llvm::StringRef ops, std::string fills = "",
           std::initializer_list<int64_t> shape = {2, 3}) {
    std::map<std::string, Type> inputs;
    if (ops.contains("input: \"x\""))
      inputs.emplace("x", Type(ElemKind::Float, shape));
    seeds.push_back(
        {std::move(name), netText(ops), netText(fills, {}), std::move(inputs)});
  }

  void addImages();
  void addMatrices();
  void addLists();
  void addTables();
  void addQuantized();
};

} // namespace

void SeedMaker::addImages() {
  std::string weights = floatFill("w", {2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}) +
                        floatFill("b", {2}, {1, 2});
  std::string args = intArg("kernel", 2) + intArg("pad", 1) +
                     intArg("stride", 2) + stringArg("order", "NCHW");
  add("conv",
      netOp("ConvRelu", {"x", "w", "b"}, {"c"}, args) +
          netOp("MaxPool", {"c"}, {"p"}, args + intArg("legacy_pad", 3)) +
          netOp("AveragePool", {"p"}, {"y"}, intArg("global_pooling", 1)),
      weights, {1, 1, 7, 7});
  add("transposed",
      netOp("ConvTranspose", {"x", "w"}, {"c"}, args + intArg("adj", 1)) +
          netOp("ResizeNearest", {"c"}, {"y"}, floatArg("height_scale", 1.5)),
      weights, {1, 2, 3, 3});
  add("norm",
      netOp("SpatialBN", {"x", "b", "b", "b", "b"}, {"n"},
            floatArg("epsilon", 0.001)) +
          netOp("LRN", {"n"}, {"l"}, intArg("size", 3) + floatArg("beta", 1)) +
          netOp("ChannelShuffle", {"l"}, {"s"}, intArg("group", 2)) +
          netOp("PRelu", {"s", "b"}, {"y"}),
      weights, {1, 2, 3, 3});
}

void SeedMaker::addMatrices() {
  std::string weights = floatFill("w", {4, 3}, std::vector<float>(12, 1)) +
                        floatFill("b", {4}, {1, 2, 3, 4});
  add("fc",
      netOp("FC", {"x", "w", "b"}, {"f"}, intArg("axis", 1)) +
          netOp("Softmax", {"f"}, {"s"}) +
          netOp("LayerNorm", {"s"}, {"l", "m", "d"}, intArg("axis", 1)) +
          netOp("TopK", {"l"}, {"y", "i"}, intArg("k", 2)),
      weights);
  add("matmul",
      netOp("BatchMatMul", {"x", "x"}, {"m"}, intArg("trans_b", 1)) +
          netOp("Add", {"m", "c"}, {"a"}, intArg("axis", 0)) +
          netOp("Split", {"a"}, {"p", "q"}, intsArg("split", {1, 1})) +
          netOp("Concat", {"p", "q", "p"}, {"t", "n"}, intArg("axis", 0)) +
          netOp("ReduceMean", {"t"}, {"y"}, intsArg("axes", {0})),
      floatFill("c", {2}, {1, 2}));
  add("movement",
      netOp("Shape", {"x"}, {"s"}) + netOp("Gather", {"s", "i"}, {"g"}) +
          netOp("Reshape", {"x", "g"}, {"r", "old"}) +
          netOp("ExpandDims", {"r"}, {"e"}, intsArg("dims", {1})) +
          netOp("Slice", {"e"}, {"c"},
                intsArg("starts", {0, 0, 0}) + intsArg("ends", {-1, -1, 1})) +
          netOp("Tile", {"c"}, {"t"}, intArg("tiles", 3) + intArg("axis", 1)) +
          netOp("Squeeze", {"t"}, {"q"}, intsArg("dims", {2})) +
          netOp("Transpose", {"q"}, {"y"}, intsArg("axes", {1, 0})),
      intFill("i", {2}, {1, 0}));
  add("elements",
      netOp("Bucketize", {"x"}, {"b"}, floatsArg("boundaries", {0, 1})) +
          netOp("Cast", {"b"}, {"c"}, stringArg("to", "FLOAT")) +
          netOp("Clip", {"c"}, {"d"}, floatArg("max", 1)) +
          netOp("Logit", {"d"}, {"e"}, floatArg("eps", 0.1)) +
          netOp("ElementwiseLinear", {"e", "w", "w"}, {"y"}),
      floatFill("w", {3}, {1, 2, 3}));
  add("fills",
      netOp("GaussianFill", {"x"}, {"g"}, intsArg("extra_shape", {2})) +
          netOp("ConstantFill", {"i"}, {"c"},
                intArg("input_as_shape", 1) + intArg("dtype", 1)) +
          netOp("Add", {"g", "c"}, {"y"}),
      intFill("i", {3}, {2, 3, 2}));
}

void SeedMaker::addLists() {
  std::string lengths = intFill("l", {3}, {2, 0, 1}, "GivenTensorIntFill") +
                        intFill("i", {3}, {1, 0, 1});
  add("lists",
      netOp("LengthsRangeFill", {"l"}, {"r"}, intArg("maxOutputSize", 5)) +
          netOp("Gather", {"x", "i"}, {"g"}) +
          netOp("LengthsSum", {"g", "l"}, {"s"}) +
          netOp("SparseToDense", {"i", "g", "x"}, {"d"}) +
          netOp("DotProduct", {"d", "x"}, {"p"}) +
          netOp("ReduceBackSum", {"s"}, {"q"}) +
          netOp("ReduceSum", {"p"}, {"t"}) + netOp("Sum", {"q", "t"}, {"y"}),
      lengths);
  add("masks",
      netOp("SparseToDenseMask", {"i", "v", "d", "l"}, {"m"},
            intsArg("mask", {1, 7, 0})) +
          netOp("BatchSparseToDense", {"l", "i", "v"}, {"b"},
                intArg("dense_last_dim", 2)) +
          netOp(
              "SparseLabelSplit", {"l", "i2", "v2"}, {"p", "q", "e", "f", "o"},
              intArg("num_labels", 2) + intArg("keep_gradient_offset_map", 1)) +
          netOp("ReduceSum", {"m"}, {"t"}, intsArg("axes", {1})) +
          netOp("ReduceSum", {"b"}, {"u"}, intsArg("axes", {1})) +
          netOp("Concat", {"t", "u"}, {"c", "n"}) +
          netOp("Concat", {"p", "q"}, {"y", "k"}, intArg("axis", 0)),
      lengths + floatFill("v", {3}, {1, 2, 3}) + floatFill("d", {1}, {9}) +
          intFill("i2", {4}, {0, 1, 1, 0}) +
          floatFill("v2", {4}, {1, 2, 3, 4}));
}

void SeedMaker::addTables() {
  std::string fills =
      netOp("GivenTensorByteStringToUInt8Fill", {}, {"t"},
            intsArg("shape", {2, 10}) + "arg { name: \"values\" strings: "
                                        "\"0123456789abcdefghij\" } ") +
      intFill("l", {2}, {1, 2}, "GivenTensorIntFill") +
      intFill("i", {3}, {1, 0, 1}) + floatFill("w", {3}, {1, 2, 3});
  for (const char *bits : {"8", "4"})
    add(std::string("table") + bits,
        netOp(
            (llvm::Twine("SparseLengthsWeightedSumFused") + bits + "BitRowwise")
                .str(),
            {"t", "w", "i", "l"}, {"y"}),
        fills);
}

void SeedMaker::addQuantized() {
  std::string quant = floatArg("Y_scale", 0.5) + intArg("Y_zero_point", 130);
  std::string fills =
      netOp("Int8GivenTensorFill", {}, {"w"},
            intsArg("shape", {2, 1, 2, 2}) + stringArg("values", "01234567") +
                quant) +
      netOp("Int8GivenIntTensorFill", {}, {"b"},
            intsArg("shape", {2}) + intsArg("values", {4, 5}) + quant) +
      netOp("Int8GivenTensorFill", {}, {"v"},
            intsArg("shape", {2, 8}) + stringArg("values", "0123456701234567") +
                quant);
  add("int8",
      netOp("Int8Quantize", {"x"}, {"q"}, quant) +
          netOp("Int8Conv", {"q", "w", "b"}, {"c"},
                quant + intArg("kernel", 2) + intArg("pad", 1) +
                    intArg("stride", 2)) +
          netOp("Int8Relu", {"c"}, {"r"}) +
          netOp("Int8FC", {"r", "v", "b"}, {"f"}, quant) +
          netOp("Int8Sum", {"f", "f"}, {"s"}, quant) +
          netOp("Int8Dequantize", {"s"}, {"y"}),
      fills, {1, 1, 3, 3});
}

std::vector<NetSeed> glowish::robustness::makeNetSeeds() {
  SeedMaker maker;
  maker.addImages();
  maker.addMatrices();
  maker.addLists();
  maker.addTables();
  maker.addQuantized();
  return std::move(maker.seeds);
}
