//===- Caffe2OpsTest.cpp - What Caffe2's operators compute ----------------===//
//
// On the interpreter, against values worked out by hand. Operators that Glow's
// sample models have are also in tests/e2e/caffe2_cases.py.
//
//===----------------------------------------------------------------------===//

#include "Caffe2Text.h"
#include "glowish/Graph/GraphText.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

/// What an operator makes of x: 1 2 3 / 4 5 6, and of other blobs of \p fills.
static std::string run(llvm::StringRef type, std::vector<std::string> inputs,
                       llvm::StringRef args = "", std::string fills = "",
                       std::vector<std::string> outputs = {"y"}) {
  std::string net = floatFill("x", {2, 3}, {1, 2, 3, 4, 5, 6}) + fills +
                    netOp(type, inputs, outputs, args);
  return runNet(netText(net, outputs));
}

TEST(Caffe2Ops, LegacyBroadcasting) {
  std::string two = floatFill("c", {2}, {10, 20});
  EXPECT_EQ(
      run("Add", {"x", "c"}, intArg("broadcast", 1) + intArg("axis", 0), two),
      "float<2x3>: 11 12 13 24 25 26");
  EXPECT_EQ(run("Mul", {"x", "c"}, intArg("broadcast", 1),
                floatFill("c", {3}, {1, 0, -1})),
            "float<2x3>: 1 0 -3 4 0 -6");
  for (int64_t axis : {int64_t(2), INT64_MAX, INT64_MAX - 1, INT64_MIN})
    EXPECT_THAT(run("Add", {"x", "c"}, intArg("axis", axis), two),
                HasSubstr(": the second operand float<2> does not fit"));
}

/// The graph of one operator of images, a filter and vectors, with all
/// constants.
static std::string importText(llvm::StringRef type,
                              std::vector<std::string> inputs,
                              llvm::StringRef args) {
  auto module = importNet(netText(
      floatFill("x", {1, 2, 3, 3}, std::vector<float>(18, 2)) +
      floatFill("w", {2, 2, 2, 2}, std::vector<float>(16, 3)) +
      floatFill("m", {2, 3}, {1, 2, 3, 4, 5, 6}) + floatFill("v", {2}, {1, 2}) +
      netOp("ConstantFill", {}, {"i"},
            intsArg("shape", {1}) + intArg("dtype", 10)) +
      netOp(type, inputs, {"y"}, args)));
  if (!module)
    return llvm::toString(module.takeError());
  std::string text;
  llvm::raw_string_ostream stream(text);
  printModule(stream, **module, &stream);
  return text;
}

/// An argument that is stated with its default is the same as none.
TEST(Caffe2Ops, ArgumentsWithTheirDefaults) {
  using Names = std::vector<std::string>;
  struct Case {
    const char *type;
    Names inputs;
    std::string args;
    std::vector<std::string> defaults;
  };
  std::vector<std::string> bounds = {
      "arg { name: \"min\" f: -3.4028234663852886e38 } ",
      "arg { name: \"max\" f: 3.4028234663852886e38 } "};
  std::string kernel = intArg("kernel", 2);
  std::string order = stringArg("order", "NCHW"), axis = intArg("axis", 1);
  const Case cases[] = {
      {"Conv",
       {"x", "w", "v"},
       kernel,
       {order, intArg("stride", 1), intArg("pad", 0), intArg("dilation", 1),
        intArg("group", 1), intArg("legacy_pad", 0),
        intArg("stride_h", 1) + intArg("stride_w", 1)}},
      {"ConvTranspose",
       {"x", "w", "v"},
       kernel,
       {order, intArg("stride", 1), intArg("pad", 0), intArg("adj", 0)}},
      {"MaxPool", {"x"}, kernel, {order, intArg("global_pooling", 0)}},
      {"AveragePool", {"x"}, kernel, {order, intArg("count_include_pad", 0)}},
      {"SpatialBN",
       {"x", "v", "v", "v", "v"},
       intArg("is_test", 1),
       {order, floatArg("epsilon", 1e-5), floatArg("momentum", 0.9)}},
      {"LRN",
       {"x"},
       intArg("size", 3),
       {order, floatArg("alpha", 0), floatArg("beta", 0), floatArg("bias", 1)}},
      {"LayerNorm", {"m"}, "", {axis, floatArg("epsilon", 1e-5)}},
      {"Clip", {"m"}, "", bounds},
      {"Logit", {"m"}, "", {floatArg("eps", 1e-6)}},
      {"Scale", {"m"}, "", {floatArg("scale", 1)}},
      {"Softmax", {"m"}, "", {axis}},
      {"Concat", {"m", "m"}, axis, {order, intArg("add_axis", 0)}},
      {"Gather", {"m", "i"}, "", {intArg("axis", 0)}},
      {"ReduceSum", {"m"}, intsArg("axes", {0}), {intArg("keepdims", 1)}},
      {"ArgMax", {"m"}, "", {intArg("axis", -1), intArg("keepdims", 1)}},
      {"TopK", {"m"}, intArg("k", 1), {intArg("axis", -1)}},
      {"BatchMatMul",
       {"m", "m"},
       intArg("trans_b", 1),
       {intArg("trans_a", 0), intArg("broadcast", 0)}},
      {"Flatten", {"x"}, "", {axis}},
      {"Gelu", {"m"}, "", {intArg("fast_gelu", 0)}},
      {"Tile", {"m"}, "", {intArg("tiles", 1), intArg("axis", 0)}},
      {"ResizeNearest",
       {"x"},
       "",
       {order, floatArg("height_scale", 1), floatArg("width_scale", 1)}},
  };
  for (const Case &c : cases) {
    std::string expected = importText(c.type, c.inputs, c.args);
    EXPECT_THAT(expected, HasSubstr("module")) << c.type;
    for (const std::string &argument : c.defaults)
      EXPECT_EQ(importText(c.type, c.inputs, c.args + argument), expected)
          << c.type << " " << argument;
  }
}

TEST(Caffe2Ops, ElementWise) {
  EXPECT_EQ(run("Pow", {"x"}, floatArg("exponent", 2)),
            "float<2x3>: 1 4 9 16 25 36");
  EXPECT_EQ(run("GE", {"x", "c"}, "", floatFill("c", {1}, {3})),
            "bool<2x3>: 0 0 1 1 1 1");
  EXPECT_EQ(run("NE", {"x", "c"}, "", floatFill("c", {1}, {3})),
            "bool<2x3>: 1 1 0 1 1 1");
  EXPECT_EQ(run("Max", {"x", "c", "d"}, "",
                floatFill("c", {1}, {2}) + floatFill("d", {1}, {5})),
            "float<2x3>: 5 5 5 5 5 6");
  EXPECT_EQ(runNet(netText(intFill("i", {6}, {-7, -6, -5, 5, 6, 7}) +
                           netOp("Mod", {"i"}, {"y"},
                                 intArg("divisor", 3) +
                                     intArg("sign_follow_divisor", 1)))),
            "int64<6>: 2 0 1 2 0 1");
  EXPECT_EQ(run("Cast", {"x"}, stringArg("to", "int32")),
            "int32<2x3>: 1 2 3 4 5 6");
}

TEST(Caffe2Ops, Shapes) {
  EXPECT_EQ(
      run("Reshape", {"x"}, intsArg("shape", {0, -1, 1}), "", {"y", "old"}),
      "float<2x3x1>: 1 2 3 4 5 6\nint64<2>: 2 3");
  EXPECT_EQ(run("Reshape", {"x", "s"}, "", intFill("s", {1}, {6})),
            "float<6>: 1 2 3 4 5 6");
  EXPECT_THAT(run("Reshape", {"x"}, intsArg("shape", {4, -1})),
              HasSubstr("the new shape is [4, -1]; accepted: a shape of 6 "
                        "elements"));
  // Without elements 0 is no copy, and -1 is 0.
  EXPECT_EQ(run("Reshape", {"e"}, intsArg("shape", {0, -1, 2}),
                floatFill("e", {0, 3}, {}), {"y", "old"}),
            "float<0x0x2>:\nint64<2>: 0 3");
  EXPECT_EQ(run("ExpandDims", {"x"}, intsArg("dims", {0, 3})),
            "float<1x2x3x1>: 1 2 3 4 5 6");
  EXPECT_THAT(run("Squeeze", {"x"}, intsArg("dims", {1})),
              HasSubstr("dimension 1 of float<2x3> has extent 3"));
  EXPECT_EQ(run("Transpose", {"x"}), "float<3x2>: 1 4 2 5 3 6");
  EXPECT_EQ(run("Transpose", {"x"}, intsArg("axes", {0, 1})),
            "float<2x3>: 1 2 3 4 5 6");
  EXPECT_EQ(run("Slice", {"x"},
                intsArg("starts", {0, 1}) + intsArg("ends", {-1, -2})),
            "float<2x1>: 2 5");
  EXPECT_EQ(run("Slice", {"x", "s", "e"}, "",
                intFill("s", {2}, {1, 0}) + intFill("e", {2}, {9, 2})),
            "float<1x2>: 4 5");
  EXPECT_EQ(run("Tile", {"x"}, intArg("tiles", 2) + intArg("axis", 1)),
            "float<2x6>: 1 2 3 1 2 3 4 5 6 4 5 6");
  EXPECT_EQ(run("Split", {"x"}, intArg("axis", 1), "", {"a", "b", "c"}),
            "float<2x1>: 1 4\nfloat<2x1>: 2 5\nfloat<2x1>: 3 6");
  EXPECT_EQ(run("Split", {"x"}, intArg("axis", 1) + intsArg("split", {2, 1}),
                "", {"a", "b"}),
            "float<2x2>: 1 2 4 5\nfloat<2x1>: 3 6");
  EXPECT_THAT(run("Split", {"x"}, "", "", {"a", "b", "c"}),
              HasSubstr("2 elements along dimension 0 can't be split in 3"));
  EXPECT_EQ(run("Concat", {"x", "x"}, intArg("axis", 0), "", {"y", "sizes"}),
            "float<4x3>: 1 2 3 4 5 6 1 2 3 4 5 6\nint32<2>: 2 2");
  EXPECT_EQ(run("ChannelShuffle", {"c"}, intArg("group", 2),
                floatFill("c", {1, 4, 1, 1}, {1, 2, 3, 4})),
            "float<1x4x1x1>: 1 3 2 4");
}

TEST(Caffe2Ops, Reductions) {
  EXPECT_EQ(run("ReduceSum", {"x"}, intsArg("axes", {0})), "float<1x3>: 5 7 9");
  EXPECT_EQ(
      run("ReduceMean", {"x"}, intsArg("axes", {-1}) + intArg("keepdims", 0)),
      "float<2>: 2 5");
  EXPECT_EQ(run("ReduceMax", {"x"}, intArg("keepdims", 0)), "float<>: 6");
  EXPECT_EQ(run("ReduceBackSum", {"x"}, intArg("num_reduce_dim", 2)),
            "float<>: 21");
  EXPECT_EQ(run("AveragedLoss", {"x"}), "float<>: 3.50");
  EXPECT_EQ(run("ArgMax", {"x"}), "int64<2x1>: 2 2");
  EXPECT_EQ(run("LpNorm", {"x"}, intArg("p", 1) + intArg("average", 1)),
            "float<1>: 3.50");
  EXPECT_EQ(run("TopK", {"x"}, intArg("k", 1), "", {"v", "i", "f"}),
            "float<2x1>: 3 6\nint64<2x1>: 2 2\nint64<2>: 2 5");
}

TEST(Caffe2Ops, MatMuls) {
  EXPECT_EQ(run("MatMul", {"x", "x"}, intArg("trans_b", 1)),
            "float<2x2>: 14 32 32 77");
  EXPECT_EQ(run("BatchMatMul", {"x", "c"}, "", floatFill("c", {3}, {1, 1, 1})),
            "float<2>: 6 15");
  EXPECT_EQ(run("BatchMatMul", {"c", "x"}, "", floatFill("c", {2}, {1, 10})),
            "float<3>: 41 52 63");
  EXPECT_EQ(run("DotProduct", {"c", "c"}, "", floatFill("c", {2}, {3, 4})),
            "float<2>: 9 16");
}

/// Images [1, 2, 1, 2] with the channels 1 2 and 3 4.
static const std::string images = floatFill("i", {1, 2, 1, 2}, {1, 2, 3, 4});

TEST(Caffe2Ops, Normalizations) {
  std::string params =
      floatFill("s", {2}, {1, 2}) + floatFill("b", {2}, {0, 1}) +
      floatFill("m", {2}, {1, 2}) + floatFill("v", {2}, {1, 4});
  EXPECT_EQ(run("SpatialBN", {"i", "s", "b", "m", "v"}, floatArg("epsilon", 0),
                images + params),
            "float<1x2x1x2>: 0 1 2 3");
  EXPECT_EQ(run("SpatialBN", {"i", "s", "b", "m", "v"},
                floatArg("epsilon", 0) + stringArg("order", "NHWC"),
                images + params),
            "float<1x2x1x2>: 0 1 2 3");
  // x / (1 + 2 / 1 * x^2).
  EXPECT_EQ(run("LRN", {"i"},
                intArg("size", 1) + floatArg("alpha", 0.5) +
                    floatArg("beta", 1) + floatArg("bias", 1),
                floatFill("i", {1, 1, 1, 2}, {0, 2})),
            "float<1x1x1x2>: 0 0.67");
  // The dimensions from the axis on are one.
  EXPECT_EQ(run("Softmax", {"z"}, "", floatFill("z", {1, 2, 2}, {0, 0, 0, 0})),
            "float<1x2x2>: 0.25 0.25 0.25 0.25");
  EXPECT_EQ(run("LayerNorm", {"x"}, floatArg("epsilon", 0), "",
                {"y", "mean", "deviation"}),
            "float<2x3>: -1.22 0 1.22 -1.22 0 1.22\nfloat<2x1>: 2 5\n"
            "float<2x1>: 0.82 0.82");
}

TEST(Caffe2Ops, Pooling) {
  std::string line = floatFill("i", {1, 1, 1, 6}, {1, 2, 3, 4, 5, 6});
  auto pool = [&](llvm::StringRef args, llvm::StringRef type = "MaxPool") {
    return run(type, {"i"}, args, line);
  };
  std::string window = intArg("kernel_h", 1) + intArg("kernel_w", 3) +
                       intArg("stride_h", 1) + intArg("stride_w", 2);
  EXPECT_EQ(pool(window), "float<1x1x1x2>: 3 5");
  // Caffe's rounding up adds a window that is cut off.
  EXPECT_EQ(pool(window + intArg("legacy_pad", 3)), "float<1x1x1x3>: 3 5 6");
  EXPECT_EQ(pool(window + intArg("legacy_pad", 2)), "float<1x1x1x3>: 3 5 6");
  EXPECT_EQ(pool(window + intArg("legacy_pad", 1) + intArg("pad", 7)),
            "float<1x1x1x2>: 3 5");
  EXPECT_EQ(pool(intArg("global_pooling", 1), "AveragePool"),
            "float<1x1x1x1>: 3.50");
  std::string padded = intsArg("kernels", {1, 2}) + intsArg("strides", {1, 7}) +
                       intsArg("pads", {0, 1, 0, 0});
  EXPECT_EQ(pool(padded, "AveragePool"), "float<1x1x1x1>: 1");
  EXPECT_EQ(pool(padded + intArg("count_include_pad", 1), "AveragePool"),
            "float<1x1x1x1>: 0.50");
}

TEST(Caffe2Ops, Convolutions) {
  // Each group of one channel has a filter of its own; NHWC filters are
  // [OC, KH, KW, C / group].
  std::string filters = floatFill("w", {2, 1, 1, 1}, {10, 100});
  EXPECT_EQ(run("Conv", {"i", "w"}, intArg("group", 2) + intArg("kernel", 1),
                images + filters),
            "float<1x2x1x2>: 10 20 300 400");
  EXPECT_EQ(run("Conv", {"i", "w"},
                intArg("group", 2) + stringArg("order", "NHWC"),
                images + filters),
            "float<1x2x1x2>: 10 200 30 400");
  EXPECT_THAT(run("Conv", {"i", "w"}, intArg("kernel", 3) + intArg("group", 2),
                  images + filters),
              HasSubstr("argument 'kernel' is 3x3; the filter has 1x1"));
  // One row of output padding, with the bias in it.
  EXPECT_EQ(run("ConvTranspose", {"i", "w", "b"},
                intArg("kernel", 1) + intArg("stride", 2) + intArg("adj_w", 1),
                floatFill("i", {1, 1, 1, 2}, {1, 2}) +
                    floatFill("w", {1, 1, 1, 1}, {3}) +
                    floatFill("b", {1}, {1})),
            "float<1x1x1x4>: 4 1 7 1");
}

TEST(Caffe2Ops, FiltersInEitherOrder) {
  // The number of channels shows that they are dimension 1, or the last one.
  std::string order = stringArg("order", "NHWC");
  std::string pixel = floatFill("i", {1, 1, 1, 3}, {1, 2, 3});
  std::vector<float> weights = {1, 10, 100};
  for (const std::vector<int64_t> &shape :
       std::vector<std::vector<int64_t>>{{1, 3, 1, 1}, {1, 1, 1, 3}})
    EXPECT_EQ(
        run("Conv", {"i", "w"}, order, pixel + floatFill("w", shape, weights)),
        "float<1x1x1x1>: 321");
  // So does that of the bias.
  EXPECT_EQ(run("ConvTranspose", {"i", "w", "b"}, order,
                floatFill("i", {1, 1, 1, 1}, {2}) +
                    floatFill("w", {1, 2, 1, 1}, {1, 10}) +
                    floatFill("b", {2}, {3, 4})),
            "float<1x1x1x2>: 5 24");
  // A row of a filter, not its channels.
  EXPECT_EQ(run("Conv", {"i", "w"}, order,
                floatFill("i", {1, 1, 3, 1}, {1, 2, 3}) +
                    floatFill("w", {1, 1, 1, 3}, weights)),
            "float<1x1x1x1>: 321");
  // Where both fit, Caffe2's form is taken.
  std::vector<float> first = {1, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(run("Conv", {"i", "w"}, order,
                floatFill("i", {1, 3, 1, 3}, {7, 6, 5, 4, 3, 2, 1, 0, 0}) +
                    floatFill("w", {1, 3, 1, 3}, first)),
            "float<1x1x1x1>: 7");
}

TEST(Caffe2Ops, Indexing) {
  EXPECT_EQ(run("Gather", {"x", "i"}, "", intFill("i", {1, 2}, {1, 0})),
            "float<1x2x3>: 4 5 6 1 2 3");
  EXPECT_EQ(run("BatchGather", {"x", "i"}, "", intFill("i", {2}, {2, 0})),
            "float<2x2>: 3 1 6 4");
  EXPECT_EQ(run("GatherND", {"x", "i"}, "", intFill("i", {2, 2}, {0, 1, 1, 2})),
            "float<2>: 2 6");
  EXPECT_EQ(run("GatherND", {"x", "i"}, "", intFill("i", {1, 1}, {1})),
            "float<1x3>: 4 5 6");
  EXPECT_EQ(run("ScatterAssign", {"x", "i", "s"}, "",
                intFill("i", {1}, {1}) + floatFill("s", {1, 3}, {7, 8, 9})),
            "float<2x3>: 1 2 3 7 8 9");
  EXPECT_EQ(run("Embedding", {"x", "i"}, intArg("padIdx", 1),
                intFill("i", {2}, {1, 0})),
            "float<2x3>: 0 0 0 1 2 3");
  EXPECT_EQ(run("EmbeddingBag", {"x", "w", "i", "o"}, "",
                floatFill("w", {3}, {1, 1, 2}) + intFill("i", {3}, {0, 1, 1}) +
                    intFill("o", {3}, {0, 2, 2})),
            "float<3x3>: 5 7 9 0 0 0 8 10 12");
  // Columns 0 and 1 have 1 and 2 values.
  EXPECT_EQ(run("BatchOneHot", {"d", "l", "v"}, "",
                intFill("d", {2, 2}, {5, 7, 6, 8}) +
                    intFill("l", {2}, {1, 2}, "GivenTensorIntFill") +
                    intFill("v", {3}, {5, 7, 8})),
            "int64<2x3>: 1 1 0 0 0 1");
}

TEST(Caffe2Ops, Lists) {
  std::string lengths = intFill("l", {2}, {1, 2}, "GivenTensorIntFill");
  // Without maxOutputSize the lengths tell.
  EXPECT_EQ(run("LengthsRangeFill", {"l"}, "", lengths), "int32<3>: 0 0 1");
  EXPECT_THAT(run("LengthsRangeFill", {"l"}, "",
                  intFill("l", {1}, {-1}, "GivenTensorIntFill")),
              HasSubstr("length 0 is -1; accepted: 0 or more"));
  // Lists with lengths, and which elements are there.
  EXPECT_EQ(run("SparseToDenseMask", {"i", "v", "d", "l"},
                intsArg("mask", {4, 9}) + intArg("return_presence_mask", 1),
                lengths + intFill("i", {3}, {9, 4, 5}) +
                    floatFill("v", {3}, {1, 2, 3}) + floatFill("d", {1}, {-1}),
                {"y", "present"}),
            "float<2x2>: -1 1 2 -1\nbool<2x2>: 0 1 1 0");
  EXPECT_EQ(run("BatchSparseToDense", {"l", "i", "v", "x"},
                floatArg("default_value", -1),
                lengths + intFill("i", {3}, {2, 0, 1}) +
                    floatFill("v", {3}, {1, 2, 3})),
            "float<2x3>: -1 -1 1 2 3 -1");
  EXPECT_EQ(run("SparseLengthsWeightedSum", {"x", "w", "i", "l"}, "",
                lengths + floatFill("w", {3}, {1, 2, 3}) +
                    intFill("i", {3}, {1, 0, 0})),
            "float<2x3>: 4 5 6 5 10 15");
}

TEST(Caffe2Ops, Losses) {
  EXPECT_EQ(
      run("SigmoidCrossEntropyWithLogits", {"z", "t"}, "",
          floatFill("z", {1, 2}, {0, 200}) + floatFill("t", {1, 2}, {0.5, 0})),
      "float<1>: 100.35");
}

/// 0 1 2 3 with a scale of 0.5 and Caffe2's zero point 129: -64.5 -64 -63.5
/// -63.
static const std::string quantizedFill =
    netOp("Int8GivenTensorFill", {}, {"q"},
          intsArg("shape", {1, 2, 2, 1}) +
              stringArg("values", "\\000\\001\\002\\003") +
              floatArg("Y_scale", 0.5) + intArg("Y_zero_point", 129));

TEST(Caffe2Ops, QuantizedNumbers) {
  EXPECT_EQ(run("Copy", {"q"}, "", quantizedFill),
            "int8<1x2x2x1>: -128 -127 -126 -125");
  EXPECT_EQ(run("Int8Dequantize", {"q"}, "", quantizedFill),
            "float<1x2x2x1>: -64.50 -64 -63.50 -63");
  // 1 is what stands for 0.
  EXPECT_EQ(run("Int8Relu", {"q"}, "", quantizedFill),
            "int8<1x2x2x1>: 1 1 1 1");
  EXPECT_EQ(run("Int8Relu", {"q"},
                floatArg("Y_scale", 0.5) + intArg("Y_zero_point", 129),
                quantizedFill),
            "int8<1x2x2x1>: 1 1 1 1");
  EXPECT_THAT(run("Int8Relu", {"q"}, floatArg("Y_scale", 0.25), quantizedFill),
              HasSubstr("arguments 'Y_scale' and 'Y_zero_point' are not those "
                        "of input 0 ('q'); accepted: the same ones"));
  EXPECT_EQ(run("Int8Quantize", {"x"},
                floatArg("Y_scale", 2) + intArg("Y_zero_point", 254)),
            "int8<2x3>: 126 127 127 127 127 127");
  EXPECT_EQ(run("Int8MaxPool", {"q"},
                intArg("kernel", 2) + stringArg("order", "NHWC"),
                quantizedFill),
            "int8<1x1x1x1>: -125");
  // The mean is -63.75.
  EXPECT_EQ(run("Int8AveragePool", {"q"},
                intArg("kernel", 2) + stringArg("order", "NHWC") +
                    floatArg("Y_scale", 1) + intArg("Y_zero_point", 128),
                quantizedFill),
            "int8<1x1x1x1>: -64");
  EXPECT_THAT(run("Relu", {"q"}, "", quantizedFill),
              HasSubstr("quantized; accepted: tensors that are not quantized"));
  EXPECT_THAT(run("Int8Quantize", {"x"}, intArg("Y_zero_point", 256)),
              HasSubstr("argument 'Y_zero_point' is 256; accepted: 0 to 255"));
}
