//===- Caffe2ExtentsTest.cpp - Caffe2 nets whose runs decide extents -----===//

#include "Caffe2Extents.h"

using namespace glowish;
using namespace glowish::caffe2extents;

//===- Operators that take extents ----------------------------------------===//

/// An operand whose extents are known requires the same of the other one.
TEST(Caffe2Extents, RequiresWhatIsKnown) {
  for (const char *type : {"Add", "Sum", "Max", "EQ"}) {
    Net net = {netOp(type, {"x", "z"}, {"y"}),
               {{"x", "float,[N,3]"}, {"z", "float,[6,3]"}}};
    Program open = llvm::cantFail(compile(net, nullptr, /*isCPU=*/false));
    llvm::cantFail(setInputs(open, nullptr, {{"N", 6}}));
    EXPECT_EQ(getMessage(open.session->run()), "");
    llvm::cantFail(setInputs(open, nullptr, {{"N", 2}}));
    EXPECT_NE(getMessage(open.session->run()), "") << type;
  }
}

TEST(Caffe2Extents, ElementWise) {
  for (const char *type : {"Relu", "Sigmoid", "Sqr", "Softplus", "Abs", "Exp",
                           "Copy", "Gelu", "Logit", "ReplaceNaN", "Swish"})
    check(one(type, images));
  check(one("Clip", rows, floatArg("min", -0.25) + floatArg("max", 0.5)));
  check(one("Pow", rows, floatArg("exponent", 2)));
  check(one("Cast", rows, stringArg("to", "int32")));
  check(one("Mod", "int32,[N,M]", intArg("divisor", 2)));
  check(one("Bucketize", rows, floatsArg("boundaries", {-0.5, 0, 0.25})));
  check(one("Dropout", images, "", {"y", "mask"}));
  for (const char *type : {"Add", "Mul", "Sum", "Max", "EQ", "GE"})
    check({netOp(type, {"x", "z"}, {"y"}),
           {{"x", images}, {"z", "float,[N,3,M+4,7]"}}});
  check(one("Mul", images, intArg("broadcast", 1) + intArg("axis", 1), {"y"},
            {"s"}, weight("s", {3})));
  check({netOp("Add", {"x", "z"}, {"y"},
               intArg("broadcast", 1) + intArg("axis", 0)),
         {{"x", images}, {"z", "float,[N]"}}});
  check(one("PRelu", images, "", {"y"}, {"s"}, weight("s", {3})));
  check(one("ElementwiseLinear", rows, "", {"y"}, {"w", "v"},
            weight("w", {4}) + weight("v", {4})));
  check(one("BatchBoxCox", rows, "", {"y"}, {"w", "v"},
            weight("w", {4}) + weight("v", {4})));
  check({netOp("Mean", {"x", "z"}, {"y"}), {{"x", rows}, {"z", rows}}});
}

TEST(Caffe2Extents, Convolutions) {
  std::string kernel = intArg("kernel", 3), pad = intArg("pad", 1);
  std::string init = weight("w", {4, 3, 3, 3}) + weight("b", {4});
  std::vector<std::string> weights = {"w", "b"};
  for (const std::string &args :
       {kernel + pad, kernel + intArg("stride", 2),
        kernel + pad + intArg("stride", 2), kernel + intArg("legacy_pad", 1),
        kernel + intArg("legacy_pad", 2), kernel + intArg("legacy_pad", 3)})
    for (const char *type : {"Conv", "ConvRelu"})
      check(one(type, images, args, {"y"}, weights, init));
  check(one("Conv", "float,[N,M+3,7,3]",
            kernel + pad + stringArg("order", "NHWC"), {"y"}, weights,
            weight("w", {4, 3, 3, 3}) + weight("b", {4})));
  check(one("Conv", "float,[N,3,M+5,M+4]", kernel + pad, {"y"}, weights, init));
  check(one("ConvTranspose", images, kernel + intArg("stride", 2), {"y"},
            weights, weight("w", {3, 4, 3, 3}) + weight("b", {4})));
  // The stride leaves the same of each height.
  for (const char *size : {"2*M+2", "2*M+3"})
    for (int64_t mode : {2, 3})
      check(one("Conv", std::string("float,[N,3,") + size + ",7]",
                kernel + intArg("stride", 2) + intArg("legacy_pad", mode),
                {"y"}, weights, init));
}

TEST(Caffe2Extents, Poolings) {
  std::string kernel = intArg("kernel", 3), stride = intArg("stride", 2);
  for (const char *type : {"MaxPool", "AveragePool"}) {
    for (const std::string &args :
         {kernel, kernel + intArg("pad", 1), kernel + stride,
          kernel + stride + intArg("pad", 1), kernel + intArg("legacy_pad", 2),
          intArg("global_pooling", 1)})
      check(one(type, images, args));
    for (int64_t mode : {2, 3})
      check(one(type, "float,[N,3,2*M+3,7]",
                kernel + stride + intArg("legacy_pad", mode)));
    check(one(type, "float,[N,3,M+5,M+4]", kernel + stride));
    check(one(type, "float,[N,M+2,6,3]",
              intArg("global_pooling", 1) + stringArg("order", "NHWC")));
  }
  check(one("AveragePool", images,
            kernel + intArg("pad", 1) + intArg("count_include_pad", 1)));
  check(one("ResizeNearest", "float,[N,3,4,7]",
            floatArg("height_scale", 2) + floatArg("width_scale", 1.5)));
}

TEST(Caffe2Extents, Matrices) {
  std::string init = weight("w", {5, 12}) + weight("b", {5});
  std::vector<std::string> weights = {"w", "b"};
  check(one("FC", "float,[N,3,2,2]", "", {"y"}, weights, init));
  check(one("FC", "float,[N,M,3,4]", intArg("axis", 2), {"y"}, weights, init));
  check(
      one("FC", "float,[2,N,M,12]", intArg("axis", -1), {"y"}, weights, init));
  check(one("FCTransposed", "float,[N,12]", "", {"y"}, weights,
            weight("w", {12, 5}) + weight("b", {5})));
  check({netOp("FC", {"x", "z", "b"}, {"y"}),
         {{"x", "float,[N,4]"}, {"z", "float,[5,4]"}},
         weight("b", {5})});
  check({netOp("MatMul", {"x", "z"}, {"y"}),
         {{"x", "float,[N,M]"}, {"z", "float,[M,3]"}}});
  check({netOp("MatMul", {"x", "z"}, {"y"},
               intArg("trans_a", 1) + intArg("trans_b", 1)),
         {{"x", "float,[M,N]"}, {"z", "float,[3,M]"}}});
  check({netOp("MatMul", {"x", "z"}, {"y"}, intArg("axis_a", 2)),
         {{"x", "float,[N,M,4]"}, {"z", "float,[4,3]"}}});
  check({netOp("BatchMatMul", {"x", "z"}, {"y"}, intArg("trans_b", 1)),
         {{"x", "float,[N,2,M,4]"}, {"z", "float,[N,2,3,4]"}}});
  check({netOp("BatchMatMul", {"x", "z"}, {"y"}),
         {{"x", "float,[N,M]"}, {"z", "float,[M]"}}});
  check({netOp("DotProduct", {"x", "z"}, {"y"}),
         {{"x", "float,[N,M,2]"}, {"z", "float,[N,M,2]"}}});
}

TEST(Caffe2Extents, Normalizations) {
  check(one("Softmax", "float,[N,10]"));
  check(one("Softmax", "float,[N,10,1,1]"));
  check(one("Softmax", "float,[2,3,M]"));
  check(one("Softmax", "float,[N,M,3]", intArg("axis", 2)));
  check(one("SpatialBN", images, intArg("is_test", 1), {"y"},
            {"s", "bb", "mmm", "vvvv"},
            weight("s", {3}) + weight("bb", {3}) + weight("mmm", {3}) +
                floatFill("vvvv", {3}, {0.5, 1, 2})));
  check(
      one("LRN", images,
          intArg("size", 3) + floatArg("alpha", 0.5) + floatArg("beta", 0.5)));
  check(one("LayerNorm", "float,[N,M,4]", intArg("axis", 2),
            {"y", "mean", "deviation"}));
  check(one("LayerNorm", "float,[N,3,M]", "", {"y", "mean", "deviation"}));
  check(one("LayerNorm", "float,[N,M,4]", intArg("axis", 2), {"y"}, {"s", "b"},
            weight("s", {4}) + weight("b", {4})));
  check(one("RMSNorm", "float,[N,M,4]",
            intArg("axis", 2) + floatArg("eps", 0.1), {"y", "factor"},
            {"s", "b"}, weight("s", {4}) + weight("b", {4})));
}

TEST(Caffe2Extents, Reductions) {
  for (const char *type :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"}) {
    check(one(type, "float,[N,M,3]", intsArg("axes", {0, 1})));
    check(one(type, "float,[N,M,3]",
              intsArg("axes", {-1}) + intArg("keepdims", 0)));
  }
  check(one("ReduceMean", "float,[N,M,3]"));
  check(one("ReduceBackMean", "float,[N,3,M]", intArg("num_reduce_dim", 2)));
  check(one("ReduceBackSum", "float,[N,3,M]"));
  check(one("AveragedLoss", "float,[N,M]"));
  check(one("LpNorm", "float,[N,M]", intArg("average", 1)));
  for (const char *type : {"ArgMin", "ArgMax"}) {
    check(one(type, "float,[N,M,3]"));
    check(one(type, "float,[N,M,3]", intArg("axis", 1)));
    check(one(type, "int32,[N,M,3]", intArg("axis", 0)));
  }
  check(one("TopK", "float,[N,4]", intArg("k", 2), {"y", "places", "flat"}));
  check({netOp("SigmoidCrossEntropyWithLogits", {"x", "z"}, {"y"}),
         {{"x", "float,[N,M]"}, {"z", "float,[N,M]"}}});
}

TEST(Caffe2Extents, Shapes) {
  check(one("Shape", "float,[N,3,M]"));
  check(one("Shape", "float,[N,3,M]", intsArg("axes", {2, 1})));
  check(one("Flatten", images));
  check(one("Flatten", "float,[2,N,M,3]", intArg("axis", 3)));
  check(one("ExpandDims", "float,[N,M]", intsArg("dims", {0, 2})));
  check(one("Squeeze", "float,[N,1,M]", intsArg("dims", {1})));
  check(one("Transpose", "float,[N,3,M]"));
  check(one("NCHW2NHWC", images));
  check(one("NHWC2NCHW", images));
  check(one("ChannelShuffle", "float,[N,6,M,2]", intArg("group", 2)));
  check(one("Tile", "float,[N,3]", intArg("tiles", 2) + intArg("axis", 1)));
  check(one("Split", "float,[N,6,M]", intArg("axis", 1), {"y", "z"}));
}

TEST(Caffe2Extents, Reshapes) {
  using Shape = std::vector<int64_t>;
  for (const Shape &shape :
       {Shape{-1, 12}, Shape{0, -1}, Shape{0, 3, 4}, Shape{4, -1},
        Shape{2, -1, 6}, Shape{-1}, Shape{3, 4, -1}})
    check(
        one("Reshape", "float,[N,4,3]", intsArg("shape", shape), {"y", "old"}));
  for (const Shape &shape : {Shape{0, -1}, Shape{-1, 4}, Shape{0, -1, 2},
                             Shape{4, -1}, Shape{-1, 0, 2, 2}})
    check(
        one("Reshape", "float,[N,M,4]", intsArg("shape", shape), {"y", "old"}));
  // Rows, an operator on them, and the shape from before, in which a 0 would be
  // the extent of the rows.
  check({netOp("Reshape", {"x"}, {"r", "old"}, intsArg("shape", {-1, 4})) +
             netOp("Relu", {"r"}, {"s"}) +
             netOp("Reshape", {"s", "old"}, {"y", "o"}),
         {{"x", "float,[N,M,4]"}}},
        /*mayBeNothing=*/false);
  // A shape that the net computes.
  check({netOp("Shape", {"x"}, {"s"}) +
             netOp("Slice", {"s"}, {"h"},
                   intsArg("starts", {0}) + intsArg("ends", {1})) +
             intFill("rest", {1}, {-1}) +
             netOp("Concat", {"h", "rest"}, {"t", "i"}, intArg("axis", 0)) +
             netOp("Reshape", {"x", "t"}, {"y", "o"}),
         {{"x", "float,[N,3,M]"}}});
}

TEST(Caffe2Extents, PartsOfTensors) {
  check({netOp("Concat", {"x", "z"}, {"y", "info"}, intArg("axis", 1)),
         {{"x", "float,[N,M,2]"}, {"z", "float,[N,3,2]"}},
         "",
         {"y", "info"}});
  check({netOp("Concat", {"x", "z"}, {"y", "info"},
               intArg("axis", 1) + intArg("add_axis", 1)),
         {{"x", "float,[N,M]"}, {"z", "float,[N,M]"}},
         "",
         {"y", "info"}});
  check({netOp("Concat", {"x", "z"}, {"y", "info"}, stringArg("order", "NCHW")),
         {{"x", images}, {"z", images}},
         "",
         {"y", "info"}});
  struct Case {
    std::vector<int64_t> starts, ends;
  };
  for (const Case &c :
       {Case{{0, 0}, {-1, -1}}, Case{{0, 1}, {-1, 3}}, Case{{0, 1}, {-1, -2}},
        Case{{0, 2}, {-1, 1000}}, Case{{0, 0, 1}, {1, -3, -1}}})
    check(one("Slice", "float,[N,L,3]",
              intsArg("starts", c.starts) + intsArg("ends", c.ends)));
}

TEST(Caffe2Extents, Fills) {
  check(one("ConstantFill", "float,[N,3,M]", floatArg("value", 2)));
  check({netOp("Shape", {"x"}, {"s"}) +
             netOp("ConstantFill", {"s"}, {"c"},
                   intArg("input_as_shape", 1) + floatArg("value", 3)) +
             netOp("Add", {"x", "c"}, {"y"}),
         {{"x", "float,[N,M]"}}});
}

TEST(Caffe2Extents, QuantizedOperators) {
  std::string params = floatArg("Y_scale", 0.05) + intArg("Y_zero_point", 120);
  std::string input = "int8q,0.03,3,";
  std::string filter =
      netOp("Int8GivenTensorFill", {}, {"w"},
            intsArg("shape", {4, 3, 3, 3}) +
                stringArg("values", std::string(108, 'A')) +
                floatArg("Y_scale", 0.02) + intArg("Y_zero_point", 60));
  std::string bias =
      netOp("Int8GivenIntTensorFill", {}, {"b"},
            intsArg("shape", {4}) + intsArg("values", {100, -50, 0, 30}) +
                floatArg("Y_scale", 0.0006));
  std::string kernel = intArg("kernel", 3);
  for (const char *type : {"Int8Conv", "Int8ConvRelu"})
    check(one(type, input + "[N,3,M+4,7]", params + kernel + intArg("pad", 1),
              {"y"}, {"w", "b"}, filter + bias));
  check(one("Int8AveragePool", input + "[N,3,M+4,7]", params + kernel));
  check(one("Int8AveragePool", input + "[N,3,M+4,7]",
            params + intArg("global_pooling", 1)));
  check(one("Int8MaxPool", input + "[N,3,M+4,7]", kernel + intArg("pad", 1)));
  check(one("Int8MaxPool", input + "[N,3,M+4,7]", intArg("global_pooling", 1)));
  check(one("Int8ResizeNearest", input + "[N,3,4,7]",
            floatArg("height_scale", 2)));
  std::string weights = netOp(
      "Int8GivenTensorFill", {}, {"w"},
      intsArg("shape", {4, 12}) + stringArg("values", std::string(48, 'F')) +
          floatArg("Y_scale", 0.02) + intArg("Y_zero_point", 60));
  check(one("Int8FC", input + "[N,3,4]", params, {"y"}, {"w", "b"},
            weights + bias));
  check(one("Int8FC", input + "[N,M,3,4]", params + intArg("axis", 2), {"y"},
            {"w", "b"}, weights + bias));
  check(one("Int8FC", "float,[N,M,12]", params + intArg("axis", 2), {"y"},
            {"w", "b"}, weights + bias));
  check(one("Int8Softmax", input + "[N,10]", params));
  check(one("Int8Relu", input + "[N,M]"));
  check(one("Int8Dequantize", input + "[N,M]"));
  check(one("Int8Quantize", "float,[N,M]", params));
  check({netOp("Int8Add", {"x", "z"}, {"y"}, params),
         {{"x", input + "[N,M]"}, {"z", input + "[N,M]"}}});
}

//===- A network ----------------------------------------------------------===//

/// As exporters write classifiers: the batch shows only in the input.
TEST(Caffe2Extents, Classifier) {
  std::string ops =
      netOp("Conv", {"x", "w", "b"}, {"c"},
            intArg("kernel", 3) + intArg("pad", 1)) +
      netOp("SpatialBN", {"c", "s", "s", "b", "v"}, {"n"},
            intArg("is_test", 1)) +
      netOp("Relu", {"n"}, {"n"}) +
      netOp("MaxPool", {"n"}, {"p"},
            intArg("kernel", 2) + intArg("stride", 2) +
                intArg("legacy_pad", 3)) +
      netOp("AveragePool", {"p"}, {"a"}, intArg("global_pooling", 1)) +
      netOp("Flatten", {"a"}, {"f"}) + netOp("FC", {"f", "u", "t"}, {"g"}) +
      netOp("Softmax", {"g"}, {"y"});
  check({ops,
         {{"x", "float,[N,3,9,9]"}},
         weight("w", {4, 3, 3, 3}) + weight("b", {4}) + weight("s", {4}) +
             floatFill("v", {4}, {0.5, 1, 2, 1}) + weight("u", {5, 4}) +
             weight("t", {5})});
}

//===- Refusals -----------------------------------------------------------===//

/// A tensor of a shape that the program's does not have is refused by the run.
TEST(Caffe2Extents, RunsThatDoNotFit) {
  Net net = one("Reshape", "float,[N,6]", intsArg("shape", {-1, 4}));
  Program open = llvm::cantFail(compile(net, nullptr, /*isCPU=*/false));
  for (int64_t n : {4, 3}) {
    Tensor extent(Type(ElemKind::Int64, {}));
    extent.setFromDouble(0, double(n));
    llvm::cantFail(open.session->setInput(open.find("N"), extent));
    llvm::cantFail(open.session->setInput(
        open.find("x"), makeRandom(Type(ElemKind::Float, {n, 6}), 1)));
    std::string message = getMessage(open.session->run());
    EXPECT_EQ(message.empty(), n == 4) << message;
  }
}

TEST(Caffe2Extents, Refusals) {
  struct Case {
    Net net;
    const char *message;
  };
  std::string kernel = intArg("kernel", 3), stride = intArg("stride", 2);
  std::string init = weight("w", {4, 3, 3, 3}) + weight("b", {4});
  const Case cases[] = {
      {one("Conv", images, kernel + stride + intArg("legacy_pad", 2), {"y"},
           {"w", "b"}, init),
       "'y' (Conv): argument 'legacy_pad' is 2, and the height of the images, "
       "M + 4, divided by the stride 2 does not leave the same in each run"},
      {one("MaxPool", images, kernel + stride + intArg("legacy_pad", 3)),
       "'y' (MaxPool): argument 'legacy_pad' is 3"},
      {one("Conv", "float,[2,N,5,5]", kernel, {"y"}, {"w", "b"},
           weight("w", {4, 6, 3, 3}) + weight("b", {4})),
       "the filter needs all channels"},
      {one("ResizeNearest", "float,[1,3,M,4]", floatArg("height_scale", 1.5)),
       "scales that are whole numbers or powers of two"},
      {one("Split", "float,[2*N,3]", intArg("axis", 0), {"y", "z"}),
       "the parts begin at known places"},
      {one("Slice", "float,[N,3]",
           intsArg("starts", {2}) + intsArg("ends", {-1})),
       "it slices 2 to -1 of dimension 0, N, whose extent a run decides"},
      {one("Slice", "float,[L,3]",
           intsArg("starts", {-3}) + intsArg("ends", {-1})),
       "it slices -3 to -1"},
      {one("Slice", "float,[N,3]",
           intsArg("starts", {0}) + intsArg("ends", {-4})),
       "it slices 0 to -4"},
      {one("Reshape", "float,[N,6]", intsArg("shape", {1, 36})),
       "'y' (Reshape): the new shape has 36 elements, and the input 6*N"},
      {one("Reshape", "float,[N,6]", intsArg("shape", {6, 6})),
       "the new shape has 36 elements"},
      {one("Reshape", "float,[N - 1,6]", intsArg("shape", {0, -1})),
       "the new shape is [N - 1, -1]; accepted: beside -1 no extent that is 0, "
       "or may be 0 in a run"},
      {one("Reshape", "float,[N - 1,6]", intsArg("shape", {-1, 0})),
       "extent 1 of the new shape is 0, and the input, float<5{N - 1}x6>, has "
       "no elements in some runs"},
      {one("Tile", "float,[N,3]", intArg("tiles", 2)), "it is repeated"},
      {one("ChannelShuffle", "float,[2,2*N,3,3]", intArg("group", 2)),
       "the channels are divided into groups"},
      {one("TopK", "float,[2,L]", intArg("k", 2)),
       "elements behind it are selected by their positions"},
      {one("TopK", "float,[L]", intArg("k", 7)),
       "there may be fewer or more than 7"},
      {one("GaussianFill", "float,[N,3]"),
       "each number is drawn for its position"},
      {one("ElementwiseLinear", "float,[2,N]", "", {"y"}, {"w", "v"},
           weight("w", {6}) + weight("v", {6})),
       "w and b have an element for each"},
      {one("LayerNorm", "float,[2,N]", "", {"y"}, {"s", "b"},
           weight("s", {6}) + weight("b", {6})),
       "there is a scale or bias for each element"},
      {one("RMSNorm", "float,[2,N]", "", {"y", "z"}, {"s", "b"},
           weight("s", {6}) + weight("b", {6})),
       "there is a scale or bias for each element"},
      {{netOp("SparseLabelSplit", {"c", "l", "x"}, {"y", "z", "yy", "zz"},
              intArg("num_labels", 2)),
        {{"c", "int32,[3]"}, {"l", "int32,[L]"}, {"x", "float,[L]"}}},
       "each label has as many values"},
      {{netOp("LengthsRangeFill", {"c"}, {"y"}), {{"c", "int32,[N]"}}},
       "accepted: constant lengths, or the argument 'maxOutputSize'"},
      {{netOp("SparseLengthsSumFused8BitRowwise", {"d", "i", "c"}, {"y"}),
        {{"d", "uint8,[6,L+9]"}, {"i", "int64,[4]"}, {"c", "int32,[2]"}}},
       "scale and bias are the last bytes of a row"},
      {{netOp("SparseToDenseMask", {"i", "x", "f"}, {"y"},
              intsArg("mask", {4, 1, 3})),
        {{"i", "int64,[4]"}, {"x", "float,[4,N]"}},
        weight("f", {6})},
       "a value is one row"},
  };
  for (const Case &c : cases) {
    std::string message = importError(c.net);
    EXPECT_THAT(message, HasSubstr(c.message)) << c.net.ops;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

/// What is an input and an output has no output of its extents.
TEST(Caffe2Extents, InputsThatAreOutputs) {
  Net net = one("Relu", rows);
  net.outputs = {"y", "x"};
  EXPECT_THAT(importError(net), HasSubstr("the input 'x' is float<6{N}x4> and "
                                          "an output"));
}
