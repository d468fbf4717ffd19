//===- OpenOperatorsTest.cpp - ONNX operators with open dimensions --------===//

#include "OpenOperators.h"

using namespace glowish;
using namespace glowish::openoperators;

namespace {

//===- Images -------------------------------------------------------------===//

TEST(OpenOperators, Convolutions) {
  std::string w = weights("w", {6, 4, 3, 3}), b = weights("b", {6}),
              grouped = weights("g", {6, 2, 3, 3}),
              transposed = weights("t", {4, 6, 3, 3});
  std::string p1 = pads({1, 1, 1, 1}), s2 = strides({2, 2});
  checkCases({
      {"Conv", image, w + b + node("Conv", {"x", "w", "b"}, p1)},
      {"ConvStride2", image, w + b + node("Conv", {"x", "w", "b"}, p1 + s2)},
      {"ConvGroups", image,
       grouped +
           node("Conv", {"x", "g"}, pads({0, 2, 1, 0}) + intAttr("group", 2))},
      {"ConvDilated", image,
       w + node("Conv", {"x", "w"},
                pads({2, 1, 2, 2}) + intsAttr("dilations", {2, 1}))},
      {"ConvSame", image, w + node("Conv", {"x", "w"}, autoPad("SAME_UPPER"))},
      {"ConvSameLower2", doubled,
       w + node("Conv", {"x", "w"}, autoPad("SAME_LOWER") + s2)},
      {"ConvValid", image,
       w + node("Conv", {"x", "w"}, autoPad("VALID") + strides({1, 2}))},
      {"ConvLine", line,
       weights("v", {5, 4, 3}) + node("Conv", {"x", "v"}, pads({1, 1}))},
      {"ConvVolume", volume,
       weights("v", {5, 4, 2, 2, 3}) +
           node("Conv", {"x", "v"}, pads({1, 0, 1, 0, 1, 1}))},
      {"ConvTranspose", image,
       transposed + b +
           node("ConvTranspose", {"x", "t", "b"},
                s2 + p1 + intsAttr("output_padding", {1, 0}))},
      {"ConvTransposeSame", image,
       transposed +
           node("ConvTranspose", {"x", "t"}, s2 + autoPad("SAME_UPPER"))},
      {"ConvTransposeShape", square,
       transposed + node("ConvTranspose", {"x", "t"},
                         s2 + intsAttr("output_shape", {12, 11}))},
      {"ConvTransposeLine", line,
       weights("v", {4, 3, 4}) +
           node("ConvTranspose", {"x", "v"}, strides({2}))},
      {"ConvTransposeVolume", volume,
       weights("v", {4, 3, 2, 3, 2}) +
           node("ConvTranspose", {"x", "v"}, strides({2, 1, 2}))},
  });
}

TEST(OpenOperators, Pools) {
  std::string k3s2 = kernel({3, 3}) + strides({2, 2}), p1 = pads({1, 1, 1, 1}),
              ceil = intAttr("ceil_mode", 1),
              counts = intAttr("count_include_pad", 1);
  std::vector<Case> cases = {
      {"GlobalAveragePool", image, node("GlobalAveragePool", {"x"})},
      {"GlobalMaxPool", image, node("GlobalMaxPool", {"x"})},
      {"GlobalAveragePoolLine", line, node("GlobalAveragePool", {"x"})},
      {"GlobalLpPool", image, node("GlobalLpPool", {"x"}, intAttr("p", 3))},
      {"MaxPoolLine", line, node("MaxPool", {"x"}, kernel({2}) + strides({2}))},
      {"MaxPoolVolume", volume, node("MaxPool", {"x"}, kernel({2, 2, 2}))},
      {"AveragePoolVolume", volume,
       node("AveragePool", {"x"},
            kernel({2, 2, 2}) + ceil + strides({2, 1, 2}))},
      {"LpPool", square, node("LpPool", {"x"}, k3s2 + p1)},
      {"MaxPoolIndices", square,
       nodeWith("MaxPool", {"x"}, {"y", "i"}, k3s2 + p1), 13,
       makeOutputs({"y", "i"})},
      {"MaxPoolIndicesOfOne", square,
       nodeWith("MaxPool", {"x"}, {"y", "i"}, kernel({1, 1})), 13,
       makeOutputs({"y", "i"})},
      {"MaxUnpool", square,
       nodeWith("MaxPool", {"x"}, {"m", "i"},
                kernel({2, 2}) + strides({2, 2})) +
           node("MaxUnpool", {"m", "i"}, kernel({2, 2}) + strides({2, 2}))},
  };
  for (const char *type : {"MaxPool", "AveragePool"}) {
    bool isMean = std::string(type) == "AveragePool";
    for (const std::string &own :
         {k3s2, k3s2 + p1, k3s2 + ceil, k3s2 + p1 + ceil,
          kernel({2, 2}) + strides({2, 2}) + ceil,
          kernel({3, 2}) + pads({1, 0, 1, 1}) + ceil,
          kernel({3, 3}) + autoPad("SAME_LOWER")}) {
      cases.push_back({type, image, node(type, {"x"}, own), 19});
      if (isMean)
        cases.push_back({type, image, node(type, {"x"}, own + counts), 19});
    }
    cases.push_back({type, doubled,
                     node(type, {"x"}, k3s2 + autoPad("SAME_UPPER") + ceil),
                     19});
  }
  checkCases(cases);
}

TEST(OpenOperators, Resizes) {
  std::string scales = floats("s", {4}, {1, 1, 2, 1.5f});
  auto resize = [&](const std::string &attrs) {
    return scales + node("Resize", {"x", "", "s"}, attrs);
  };
  std::string sizes =
      node("Shape", {"x"}, "", "shape") + int64s("from", {0}) +
      int64s("to", {2}) + int64s("own", {9, 8}) +
      node("Slice", {"shape", "from", "to"}, "", "outer") +
      node("Concat", {"outer", "own"}, intAttr("axis", 0), "sizes");
  const std::vector<llvm::StringRef> channels = {"N", "W", "6", "5"};
  checkCases({
      {"Linear", channels, resize(stringAttr("mode", "linear"))},
      {"Nearest", channels, resize(stringAttr("mode", "nearest"))},
      {"Sizes", channels,
       sizes + node("Resize", {"x", "", "", "sizes"},
                    stringAttr("mode", "linear"))},
      {"Line",
       {"N", "W", "5"},
       floats("s", {3}, {1, 1, 3}) + node("Resize", {"x", "", "s"})},
      {"Row",
       {"N", "5"},
       floats("s", {2}, {1, 3}) + node("Resize", {"x", "", "s"})},
      {"WholeScales", image,
       floats("s", {4}, {1, 1, 2, 3}) +
           node("Resize", {"x", "", "s"}, stringAttr("mode", "linear"))},
      {"HalfRows", image,
       floats("s", {4}, {1, 1, 0.5f, 1}) + node("Resize", {"x", "", "s"})},
      {"LineOfAnyLength", line,
       floats("s", {3}, {1, 1, 2}) +
           node("Resize", {"x", "", "s"},
                stringAttr("coordinate_transformation_mode", "asymmetric") +
                    stringAttr("nearest_mode", "floor"))},
      {"Upsample", channels,
       scales + node("Upsample", {"x", "s"}, stringAttr("mode", "linear")), 9},
      {"Aligned", square,
       resize(stringAttr("mode", "linear") +
              stringAttr("coordinate_transformation_mode", "align_corners"))},
      {"Cubic", square, resize(stringAttr("mode", "cubic"))},
      {"Crop", square,
       floats("roi", {8}, {0, 0, 0.25f, 0, 1, 1, 0.75f, 1}) + scales +
           node("Resize", {"x", "roi", "s"},
                stringAttr("coordinate_transformation_mode",
                           "tf_crop_and_resize") +
                    stringAttr("mode", "linear"))},
  });
}

/// Layers compute the batch that there is, in front of images that are joined,
/// spread and resized.
TEST(OpenOperators, ImagesEndWithTheBatch) {
  std::string p1 = pads({1, 1, 1, 1}), s2 = strides({2, 2});
  TextModel model = makeModel(
      {"",
       {"N", "8", "16", "16"},
       weights("w", {8, 8, 3, 3}) + weights("t", {8, 8, 4, 4}) +
           floats("s", {4}, {1, 1, 2, 2}) + node("Conv", {"x", "w"}, p1, "a") +
           node("MaxPool", {"a"}, kernel({2, 2}) + s2, "half") +
           node("ConvTranspose", {"half", "t"}, p1 + s2, "whole") +
           node("Concat", {"whole", "a"}, intAttr("axis", 1), "both") +
           node("Resize", {"both", "", "s"}, stringAttr("mode", "linear"))});
  Program program = compile(model, /*isCPU=*/true, {}, {{"N", {1, 9}}});
  EXPECT_EQ(countUnbounded(program), 4u);
}

//===- Data movement ------------------------------------------------------===//

TEST(OpenOperators, Pads) {
  auto pad = [](const std::string &mode, std::vector<int64_t> extents) {
    return int64s("pads", std::move(extents)) +
           node("Pad", {"x", "pads"}, stringAttr("mode", mode));
  };
  std::vector<Case> cases = {
      {"Constant", image, pad("constant", {0, 1, 2, 0, 1, 0, 1, 3})},
      {"Crop", image, pad("constant", {0, 0, -1, 1, 0, -1, -2, -3})},
      {"Value", image,
       int64s("pads", {0, 0, 1, 2, 0, 1, 3, 0}) +
           node("ReduceMax", {"x"}, intAttr("keepdims", 0), "v") +
           node("Pad", {"x", "pads", "v"})},
  };
  for (const char *mode : {"reflect", "edge", "wrap"})
    for (auto [a, b, c, d] :
         {std::tuple(1, 2, 0, 3), {0, 0, 2, 1}, {11, 0, 9, 20}, {-1, 1, 2, 0}})
      cases.push_back({mode, image, pad(mode, {0, 0, a, b, 0, 1, c, d}), 19});
  checkCases(cases);
}

TEST(OpenOperators, Movements) {
  std::string block = intAttr("blocksize", 2);
  checkCases({
      {"Split", image, nodeWith("Split", {"x"}, {"z", "y"}, intAttr("axis", 1)),
       13, makeOutputs({"z", "y"})},
      {"DepthToSpace", image, node("DepthToSpace", {"x"}, block)},
      {"DepthToSpaceCRD", image,
       node("DepthToSpace", {"x"}, block + stringAttr("mode", "CRD"))},
      {"SpaceToDepth", doubled, node("SpaceToDepth", {"x"}, block)},
      {"CenterCropPad", image,
       int64s("sizes", {7}) +
           node("CenterCropPad", {"x", "sizes"}, intsAttr("axes", {1})),
       18},
      {"Col2Im",
       {"N", "12", "6"},
       int64s("shape", {3, 4}) + int64s("block", {2, 2}) +
           node("Col2Im", {"x", "shape", "block"}),
       18},
      {"CastLike", image,
       node("Shape", {"x"}, "", "s") + node("CastLike", {"x", "s"}), 19},
  });
}

//===- Quantization -------------------------------------------------------===//

TEST(OpenOperators, Quantized) {
  std::string scale = floats("scale", {}, {0.02f}) + floats("one", {}, {1}) +
                      integers("zero", 2, {}, {100}) +
                      floats("outScale", {}, {0.017f});
  std::string bytes =
      scale + node("QuantizeLinear", {"x", "scale", "zero"}, "", "q");
  std::string filter = integers(
      "w", 2, {2, 4, 2, 2}, {1, 2, 3, 4, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2,
                             3, 9, 1, 7, 2, 6, 4, 8, 5, 5, 1, 3, 2, 9, 9, 0});
  std::string matrix =
      integers("m", 2, {4, 3}, {200, 0, 3, 7, 100, 9, 255, 31, 8, 1, 2, 90}) +
      integers("mZero", 2, {}, {90});
  std::string p1 = pads({1, 0, 1, 1});
  const std::vector<llvm::StringRef> rows = {"N", "W", "4"}, two = {"W", "4"};
  checkCases({
      {"PerChannel", image,
       floats("s4", {4}, {0.1f, 0.02f, 0.3f, 0.04f}) +
           integers("z4", 2, {4}, {1, 90, 3, 128}) +
           node("QuantizeLinear", {"x", "s4", "z4"}, intAttr("axis", 1), "q") +
           node("DequantizeLinear", {"q", "s4", "z4"}, intAttr("axis", 1))},
      {"Blocks",
       {"N", "6"},
       int64s("axis", {1}) + node("Abs", {"x"}, "", "a") +
           node("ReduceMax", {"a", "axis"}, "", "s") +
           node("QuantizeLinear", {"x", "s"},
                intAttr("axis", 1) + intAttr("block_size", 6), "q") +
           node("DequantizeLinear", {"q", "s"},
                intAttr("axis", 1) + intAttr("block_size", 6)),
       21},
      {"Dynamic", image,
       nodeWith("DynamicQuantizeLinear", {"x"}, {"y", "s", "z"}), 13,
       makeOutputs({"y", "s", "z"})},
      {"ConvInteger", image,
       bytes + filter + node("ConvInteger", {"q", "w", "zero"}, p1)},
      {"QLinearConv", image,
       bytes + filter +
           node("QLinearConv",
                {"q", "scale", "zero", "w", "one", "", "outScale", "zero"},
                p1 + strides({2, 1}))},
      {"QLinearAveragePool", image,
       bytes + microsoft("QLinearAveragePool",
                         {"q", "scale", "zero", "outScale", "zero"},
                         kernel({2, 3}) + p1)},
      {"QLinearAveragePoolLast",
       {"N", "H", "W", "3"},
       bytes + microsoft("QLinearAveragePool",
                         {"q", "scale", "zero", "outScale", "zero"},
                         kernel({2, 3}) + intAttr("channels_last", 1))},
      {"QLinearGlobalAveragePool", image,
       bytes + microsoft("QLinearGlobalAveragePool",
                         {"q", "scale", "zero", "outScale", "zero"})},
      {"QLinearReduceMean", image,
       bytes + microsoft("QLinearReduceMean",
                         {"q", "scale", "zero", "outScale", "zero"},
                         intsAttr("axes", {0, 3}))},
      {"QLinearConcat", image,
       bytes + microsoft(
                   "QLinearConcat",
                   {"scale", "zero", "q", "scale", "zero", "q", "one", "zero"},
                   intAttr("axis", 2))},
      {"MatMulInteger", rows,
       bytes + matrix + node("MatMulInteger", {"q", "m", "zero", "mZero"})},
      {"QLinearMatMul", rows,
       bytes + matrix +
           node("QLinearMatMul", {"q", "scale", "zero", "m", "one", "mZero",
                                  "outScale", "zero"})},
      {"MatMulIntegerToFloat", rows,
       bytes + matrix +
           microsoft("MatMulIntegerToFloat",
                     {"q", "m", "scale", "one", "zero", "mZero"})},
      {"DynamicQuantizeMatMul", rows,
       scale + matrix +
           microsoft("DynamicQuantizeMatMul", {"x", "m", "one", "mZero"})},
      {"QGemm", two,
       bytes + matrix +
           microsoft("QGemm", {"q", "scale", "zero", "m", "one", "mZero", "",
                               "outScale", "zero"})},
  });
}

//===- ONNX Runtime's own -------------------------------------------------===//

TEST(OpenOperators, Microsoft) {
  std::string eight = weights("b", {8}), skip = weights("row", {1, 1, 8});
  const std::vector<llvm::StringRef> rows = {"N", "W", "8"};
  std::string ids = floats("ten", {}, {5}) +
                    node("Squeeze", {"x"}, intsAttr("axes", {2}), "flat") +
                    node("Mul", {"flat", "ten"}, "", "scaled") +
                    node("Abs", {"scaled"}, "", "positive") +
                    node("Cast", {"positive"}, intAttr("to", 6), "ids");
  std::string tables = weights("words", {7, 8}) + weights("positions", {8, 8}) +
                       weights("gamma", {8}) + eight;
  auto embed = [&](const std::string &mask) {
    return ids + tables +
           nodeWith("EmbedLayerNormalization",
                    {"ids", "", "words", "positions", "", "gamma", "b", mask},
                    {"y", "n", "sum"}, "domain: \"com.microsoft\" ");
  };
  checkCases({
      {"BiasGelu", rows, eight + microsoft("BiasGelu", {"x", "b"})},
      {"FastGelu", rows, microsoft("FastGelu", {"x"})},
      {"QuickGelu", rows, microsoft("QuickGelu", {"x"})},
      {"BiasAdd", rows, eight + microsoft("BiasAdd", {"x", "b", "x"})},
      {"BiasSplitGelu", rows, eight + microsoft("BiasSplitGelu", {"x", "b"})},
      {"FusedMatMul", rows,
       microsoft("FusedMatMul", {"x", "x"},
                 intAttr("transB", 1) + floatAttr("alpha", 0.5))},
      {"FusedConv", image,
       weights("w", {6, 4, 3, 3}) + node("Conv", {"x", "w"}, "", "z") +
           microsoft("FusedConv", {"x", "w", "", "z"},
                     stringAttr("activation", "Relu"))},
      {"LayerNormalization",
       {"N", "W"},
       symbolicInput("scale", {"W"}) + symbolicInput("bias", {"W"}) +
           node("LayerNormalization", {"x", "scale", "bias"}),
       17},
      {"RMSNormalization",
       {"N", "W"},
       symbolicInput("scale", {"W"}) + node("RMSNormalization", {"x", "scale"}),
       23},
      {"SkipLayerNormalization", rows,
       eight + weights("gamma", {8}) +
           nodeWith("SkipLayerNormalization", {"x", "x", "gamma", "b"},
                    {"y", "", "", "sum"}, "domain: \"com.microsoft\" "),
       13, makeOutputs({"y", "sum"})},
      {"SkipRow", rows,
       skip + weights("gamma", {8}) +
           microsoft("SkipSimplifiedLayerNormalization",
                     {"x", "row", "gamma"})},
      {"Embed", {"N", "W", "1"}, embed(""), 11, makeOutputs({"y", "n", "sum"})},
      {"EmbedMask",
       {"N", "W", "1"},
       embed("ids"),
       11,
       makeOutputs({"y", "n", "sum"})},
  });
}

//===- Others -------------------------------------------------------------===//

TEST(OpenOperators, Einsums) {
  auto einsum = [](llvm::StringRef equation, Names inputs) {
    return node("Einsum", std::move(inputs), stringAttr("equation", equation));
  };
  std::string m = weights("m", {4, 5}), t = weights("t", {4, 2, 5});
  checkCases({
      {"Transpose", {"N", "W"}, einsum("ij->ji", {"x"})},
      {"Sum", {"N", "W", "4"}, einsum("ijk->i", {"x"})},
      {"Batch", {"N", "W", "4"}, einsum("bik,bjk->bij", {"x", "x"})},
      {"Depth", {"N", "W", "4"}, einsum("bik,bil->bkl", {"x", "x"})},
      {"Matrix", {"N", "W", "4"}, m + einsum("bik,kl->bil", {"x", "m"})},
      {"Heads", {"N", "4"}, t + einsum("bk,khl->bhl", {"x", "t"})},
      {"Diagonal", {"N", "4", "4"}, einsum("bii->bi", {"x"})},
      {"Trace", {"N", "4", "4"}, einsum("bii->b", {"x"})},
  });
}

TEST(OpenOperators, MatricesAndSignals) {
  checkCases({
      {"TrainingBatchNormalization", image,
       weights("four", {4}) + floats("var", {4}, {1, 2, 3, 4}) +
           nodeWith("BatchNormalization", {"x", "four", "four", "four", "var"},
                    {"y", "a", "b"}, intAttr("training_mode", 1)),
       15, makeOutputs({"y", "a", "b"})},
      {"Det", {"N", "3", "2", "2"}, node("Det", {"x"})},
      {"DFT",
       {"N", "3", "8", "1"},
       int64s("axis", {2}) + node("Squeeze", {"axis"}, "", "a") +
           node("DFT", {"x", "", "a"}),
       20},
      {"STFT",
       {"N", "16", "1"},
       int64s("s", {4}) + int64s("l", {8}) +
           node("Squeeze", {"s"}, "", "stepOne") +
           node("Squeeze", {"l"}, "", "lengthOne") +
           node("STFT", {"x", "stepOne", "", "lengthOne"}),
       17},
  });
}

TEST(OpenOperators, RandomOnes) {
  checkCases({
      {"Uniform", {"N", "5"}, node("RandomUniformLike", {"x"})},
      {"Normal", {"N", "5"}, node("RandomNormalLike", {"x"})},
      {"Bernoulli",
       {"N", "5"},
       node("Abs", {"x"}, "", "p") + node("Bernoulli", {"p"}),
       15},
      {"Multinomial",
       {"N", "5"},
       node("Multinomial", {"x"}, intAttr("sample_size", 7))},
      {"Dropout",
       {"N", "W"},
       nodeWith("Dropout", {"x"}, {"y", "m"}),
       13,
       makeOutputs({"y", "m"})},
      {"TrainingDropout",
       {"N", "5"},
       floats("ratio", {}, {0.4f}) + integers("yes", 9, {}, {1}) +
           nodeWith("Dropout", {"x", "ratio", "yes"}, {"y", "m"}),
       13,
       makeOutputs({"y", "m"})},
  });
}

//===- Refusals -----------------------------------------------------------===//

/// What would be computed of a bound is an error that says what is accepted.
TEST(OpenOperators, Refusals) {
  std::string w = weights("w", {6, 4, 3, 3}), s2 = strides({2, 2});
  std::string decides = "a run decides the extent of dimension ";
  const std::pair<Case, std::string> cases[] = {
      {{"", image, w + node("Conv", {"x", "w"}, autoPad("SAME_UPPER") + s2)},
       "(Conv): a run decides an extent, H, and how 'SAME_UPPER' pads it for a "
       "stride of 2; accepted: multiples of the stride"},
      {{"", image,
        node("MaxPool", {"x"},
             kernel({2, 2}) + s2 + pads({0, 0, 1, 1}) +
                 intAttr("ceil_mode", 1))},
       "(MaxPool): a run decides an extent, and in ceil_mode whether a window "
       "of 2 elements begins in the padding; accepted: windows of at least the "
       "pad and the stride, 3"},
      {{"", image,
        weights("t", {4, 6, 3, 3}) +
            node("ConvTranspose", {"x", "t"},
                 s2 + intsAttr("output_shape", {12, 11}))},
       "(ConvTranspose): " + decides +
           "2 of input 0, and 'output_shape' that of the result; accepted: "
           "pads"},
      {{"", image, node("LpPool", {"x"}, kernel({2, 2}))},
       "(LpPool): " + decides +
           "2 of input 0; accepted: those of the batch and the channels, over "
           "three dimensions, for positions of maxima and in LpPool"},
      {{"", image,
        floats("s", {4}, {1, 1, 2, 2}) +
            node("Resize", {"x", "", "s"}, stringAttr("mode", "cubic"))},
       "(Resize): " + decides +
           "2 of float<3{N}x4x9{H}x8{W}>, which is resized; accepted: such "
           "extents of others"},
      {{"", image,
        int64s("s", {3, 4, 9, 8}) + node("Resize", {"x", "", "", "s"})},
       "(Resize): a run decides size 0 of input 3 or the extent that it "
       "replaces; accepted: constants for constant extents, and the extents of "
       "other dimensions as they are"},
      {{"", image, nodeWith("Split", {"x"}, {"y", "z"}, intAttr("axis", 2))},
       "(Split): the extent of dimension 2, which is split, is known only when "
       "the model runs; accepted: such extents of others"},
      {{"", image,
        int64s("pads", {0, 0, 1, 0, 0, 0, -1, 0}) +
            node("Pad", {"x", "pads"}, stringAttr("mode", "edge"))},
       "(Pad): " + decides +
           "2 of input 0, whose end is cropped; accepted: pads of at least 0 "
           "there, or mode constant"},
      {{"", {"N", "W"}, microsoft("BiasSplitGelu", {"x"})},
       "(BiasSplitGelu): the sum of the inputs is float<3{N}x8{W}>; accepted: "
       "rows of two halves, of a constant extent"},
      {{"", {"N", "W", "W"}, node("Det", {"x"})},
       "(Det): input 0 is float<3{N}x8{W}x8{W}>; accepted: matrices of as many "
       "rows in each run"},
      {{"", {"N", "W"}, node("RandomNormalLike", {"x"})},
       "(RandomNormalLike): " + decides +
           "1 of input 0; accepted: that of the first dimension"},
  };
  for (const auto &[test, message] : cases) {
    TextModel model = makeModel(test);
    ExtentRanges own;
    for (llvm::StringRef dim : test.shape)
      if (auto found = ranges.find(dim.str()); found != ranges.end())
        own.insert(*found);
    EXPECT_EQ(importError(model, own), "'m': node 'y' " + message);
  }
}

} // namespace
