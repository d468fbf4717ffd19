//===- ImporterOpsTest.cpp - Meaning of ONNX's operators ------------------===//
//
// Operators over constants are folded, so that their results can be read from
// the graph; of the others the nodes that they become are looked at. Numbers
// of whole networks are compared in tests/e2e.
//
//===----------------------------------------------------------------------===//

#include "OneOperator.h"
#include <limits>

using namespace glowish;

//===- Broadcasting of old opsets -----------------------------------------===//

TEST(ImporterOps, LegacyBroadcastAlignsAtTheAxis) {
  auto shapeOfY = [](std::vector<int64_t> y, std::string attributes,
                     int opset = 6) {
    TextModel model = oneNode("Add", {"x", "b"}, std::move(attributes), opset,
                              {{"x", {2, 3, 4, 5}}, {"b", std::move(y)}});
    auto *add = model.importOutput().getNodeAs<AddNode>();
    return add ? formatShape(add->getY().getShape()) : "none";
  };
  std::string broadcast = intAttr("broadcast", 1);
  EXPECT_EQ(shapeOfY({3, 4}, broadcast + intAttr("axis", 1)), "3x4x1");
  EXPECT_EQ(shapeOfY({3}, broadcast + intAttr("axis", -3)), "3x1x1");
  EXPECT_EQ(shapeOfY({4, 5}, broadcast), "4x5");
  EXPECT_EQ(shapeOfY({2, 3, 4, 5}, broadcast + intAttr("axis", 0)), "2x3x4x5");
  EXPECT_EQ(shapeOfY({4, 1}, "", 7), "4x1");

  TextModel model = oneNode("Add", {"x", "b"}, broadcast + intAttr("axis", 3),
                            6, {{"x", {2, 3, 4, 5}}, {"b", {4, 5}}});
  EXPECT_EQ(model.importError(),
            "'m': node 'y' (Add): attribute 'axis' is 3: the second operand "
            "float<4x5> does not fit into float<2x3x4x5>");
  // Since opset 7 the attributes are unknown.
  EXPECT_EQ(errorOf("Add", {"c", "c"}, broadcast, 7),
            "attribute 'broadcast' is not supported in opset 7");
}

TEST(ImporterOps, PReluSlopeOfOldOpsetsIsPerChannel) {
  auto slope = [](int opset) {
    TextModel model = oneNode("PRelu", {"x", "s"}, "", opset,
                              {{"x", {2, 3, 4, 3}}, {"s", {3}}});
    auto *prelu = model.importOutput().getNodeAs<PReluNode>();
    return prelu ? formatShape(prelu->getY().getShape()) : "none";
  };
  EXPECT_EQ(slope(6), "3x1x1");
  EXPECT_EQ(slope(7), "3");
}

//===- Element-wise -------------------------------------------------------===//

TEST(ImporterOps, ClipBounds) {
  std::string bounds = floatAttr("min", 2) + floatAttr("max", 4);
  EXPECT_EQ(fold("Clip", {"c"}, bounds, 6), "float<2x3>: 2 2 3 4 4 4");
  EXPECT_EQ(errorOf("Clip", {"c"}, bounds, 11),
            "attribute 'min' is not supported in opset 11");
  std::string scalars = floats("lo", {}, {2}) + floats("hi", {}, {5});
  EXPECT_EQ(fold("Clip", {"c", "lo", "hi"}, "", 11, scalars),
            "float<2x3>: 2 2 3 4 5 5");
  EXPECT_EQ(fold("Clip", {"c", "", "hi"}, "", 11, scalars),
            "float<2x3>: 1 2 3 4 5 5");
  EXPECT_EQ(fold("Clip", {"c"}), "float<2x3>: 1 2 3 4 5 6");
  // The defaults of opsets 6 to 10 are finite.
  TextModel finite = oneNode("Clip", {"x"}, floatAttr("min", 2), 6);
  auto *clip = finite.importOutput().getNodeAs<ClipNode>();
  ASSERT_TRUE(clip);
  EXPECT_EQ(clip->getHigh(), std::numeric_limits<float>::max());
  EXPECT_EQ(errorOf("Clip", {"c", "i"}, "", 13, int64s("i", {0})),
            "input 1 ('i') is int64<1>; accepted: float");
  // Bounds that are computed when the model runs.
  TextModel model = oneNode("Clip", {"x", "lo", "hi"}, "", 13,
                            {{"x", {3}}, {"lo", {}}, {"hi", {}}});
  auto *min = model.importOutput().getNodeAs<MinNode>();
  ASSERT_TRUE(min);
  EXPECT_TRUE(min->getX().getNodeAs<MaxNode>());
}

TEST(ImporterOps, PowOfTwoKinds) {
  EXPECT_EQ(fold("Pow", {"c", "p"}, "", 13, int64s("p", {2})),
            "float<2x3>: 1 4 9 16 25 36");
  EXPECT_EQ(fold("Pow", {"p", "h"}, "", 13,
                 int64s("p", {4, 9}) + floats("h", {}, {0.5})),
            "int64<2>: 2 3");
  // Beyond 2^53 exact; wrapping, and with negative exponents.
  EXPECT_EQ(fold("Pow", {"b", "e"}, "", 13,
                 int64s("b", {3, 207, -7, 5, 2, -1, 0}) +
                     int64s("e", {39, 8, 19, 40, -1, -3, -2})),
            "int64<7>: 4052555153018976267 3371031134626313601 "
            "-11398895185373143 -4369436395329424031 0 -1 0");
  // Integral exponents of floats are as exact.
  EXPECT_EQ(fold("Pow", {"b", "h"}, "", 13,
                 int64s("b", {3, 4, 2}) + floats("h", {3}, {39, 0.5, -0.5})),
            "int64<3>: 4052555153018976267 2 0");
  // An exponent that no float has tells the sign.
  EXPECT_EQ(fold("Pow", {"h", "e"}, "", 13,
                 floats("h", {1}, {-1}) + int64s("e", {16777217, 16777218})),
            "float<2>: -1 1");
}

TEST(ImporterOps, ClipOfLargeIntegers) {
  constexpr int64_t large = (int64_t(1) << 60) + 1;
  EXPECT_EQ(fold("Clip", {"x", "lo", "hi"}, "", 13,
                 int64s("x", {large - 2, large, large + 2}) +
                     int64s("lo", {large - 1}) + int64s("hi", {large + 1})),
            "int64<3>: 1152921504606846976 1152921504606846977 "
            "1152921504606846978");
}

TEST(ImporterOps, VariadicSums) {
  EXPECT_EQ(fold("Sum", {"c", "c", "c"}), "float<2x3>: 3 6 9 12 15 18");
  EXPECT_EQ(fold("Mean", {"c", "c"}), "float<2x3>: 1 2 3 4 5 6");
  EXPECT_EQ(fold("Max", {"c"}), "float<2x3>: 1 2 3 4 5 6");
}

TEST(ImporterOps, ModHasTheDivisorsSign) {
  std::string values =
      int64s("a", {-7, 7, -7, 7, 6, -6}) + int64s("b", {3, -3, -3, 3, 3, -3});
  EXPECT_EQ(fold("Mod", {"a", "b"}, "", 13, values), "int64<6>: 2 -2 -1 1 0 0");
  EXPECT_EQ(fold("Mod", {"a", "b"}, intAttr("fmod", 1), 13, values),
            "int64<6>: -1 1 -1 1 0 0");
}

TEST(ImporterOps, Casts) {
  EXPECT_EQ(fold("Cast", {"c"}, intAttr("to", 7)), "int64<2x3>: 1 2 3 4 5 6");
  EXPECT_EQ(fold("Cast", {"c"}, stringAttr("to", "INT8"), 5),
            "int8<2x3>: 1 2 3 4 5 6");
  EXPECT_EQ(errorOf("Cast", {"c"}, stringAttr("to", "WORD"), 5),
            "attribute 'to' is 'WORD', which is not an element type");
  EXPECT_EQ(errorOf("Cast", {"c"}, intAttr("to", 8)),
            "element type STRING is not supported; accepted: floats, integers "
            "and bool");
  EXPECT_EQ(errorOf("Cast", {"c"}, intAttr("to", (int64_t(1) << 32) + 1)),
            "element type 4294967297 is not supported; accepted: floats, "
            "integers and bool");
  EXPECT_EQ(fold("CastLike", {"c", "i"}, "", 15, int64s("i", {1})),
            "int64<2x3>: 1 2 3 4 5 6");
}

//===- Matmuls ------------------------------------------------------------===//

/// Constant weights take alpha; beta = 0 ignores what is added.
TEST(ImporterOps, GemmOfConstantWeights) {
  auto make = [](double beta) {
    TextModel model = oneNode("Gemm", {"x", "c", "b"},
                              intAttr("transB", 1) + floatAttr("alpha", 0.5) +
                                  floatAttr("beta", beta),
                              13, {{"x", {4, 3}}, {"b", {2}}});
    model.body += floats("c", {2, 3}, {1, 2, 3, 4, 5, 6});
    return model;
  };
  auto weightsOf = [](NodeValue weights) {
    auto *constant = weights.getNodeAs<Constant>();
    return constant ? toText(constant->getTensor()) : "not a constant";
  };
  TextModel model = make(1);
  auto *layer = model.importOutput().getNodeAs<FullyConnectedNode>();
  ASSERT_TRUE(layer);
  EXPECT_EQ(weightsOf(layer->getWeights()), "float<3x2>: 0.50 2 1 2.50 1.50 3");
  model = make(0);
  auto *matMul = model.importOutput().getNodeAs<MatMulNode>();
  ASSERT_TRUE(matMul);
  EXPECT_EQ(weightsOf(matMul->getRhs()), "float<3x2>: 0.50 2 1 2.50 1.50 3");
}

/// Of inputs: a layer where the bias is a row and there is no factor of the
/// matMul, else a MatMul, which is multiplied, and a sum.
TEST(ImporterOps, GemmOfInputs) {
  auto import = [](std::vector<int64_t> bias, double alpha, TextModel &model) {
    model = oneNode("Gemm", {"x", "w", "b"},
                    intAttr("transB", 1) + floatAttr("alpha", alpha) +
                        floatAttr("beta", 2),
                    13, {{"x", {4, 3}}, {"w", {5, 3}}, {"b", std::move(bias)}});
    return model.importOutput();
  };
  TextModel model;
  for (std::vector<int64_t> row : {IntVector{5}, IntVector{1, 5}})
    EXPECT_TRUE(import(row, 1, model).getNodeAs<FullyConnectedNode>());
  for (std::vector<int64_t> other :
       {IntVector{4, 1}, IntVector{4, 5}, IntVector{}, IntVector{1}}) {
    auto *sum = import(other, 1, model).getNodeAs<AddNode>();
    ASSERT_TRUE(sum);
    EXPECT_TRUE(sum->getX().getNodeAs<MatMulNode>());
    EXPECT_TRUE(sum->getY().getNodeAs<MulNode>());
  }
  auto *sum = import({5}, 0.5, model).getNodeAs<AddNode>();
  auto *matMul = sum ? sum->getX().getNodeAs<MulNode>() : nullptr;
  ASSERT_TRUE(matMul);
  EXPECT_TRUE(matMul->getX().getNodeAs<MatMulNode>());
}

TEST(ImporterOps, GemmRefuses) {
  auto errorOfShapes = [](std::vector<int64_t> a, std::vector<int64_t> b,
                          std::vector<int64_t> c) {
    return oneNode(
               "Gemm", {"a", "b", "c"}, "", 13,
               {{"a", std::move(a)}, {"b", std::move(b)}, {"c", std::move(c)}})
        .importError();
  };
  std::string at = "'m': node 'y' (Gemm): ";
  EXPECT_EQ(errorOfShapes({2, 3, 4}, {4, 5}, {5}),
            at + "inputs are float<2x3x4> and float<4x5>; accepted: matrices");
  for (auto &[c, type] : {std::pair(IntVector{3}, "float<3>"),
                          {IntVector{2, 3, 5}, "float<2x3x5>"},
                          {IntVector{1, 3, 5}, "float<1x3x5>"}})
    EXPECT_EQ(errorOfShapes({3, 4}, {4, 5}, c),
              at + "input 2 ('c') is " + type +
                  "; accepted: what broadcasts to float<3x5>");
  EXPECT_EQ(errorOfShapes({1, 4}, {4, 5}, {3, 5}),
            at + "input 2 ('c') is float<3x5>; accepted: what broadcasts to "
                 "float<1x5>");
  std::string ints = integers("i", 6, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(errorOf("Gemm", {"i", "i"}, floatAttr("alpha", 0.5), 13, ints),
            "attribute 'alpha' is 0.5; accepted for int32: whole "
            "numbers in its range");
}

//===- Convolution and pooling --------------------------------------------===//

TEST(ImporterOps, ConvIsTransposedToNHWC) {
  TextModel model =
      oneNode("Conv", {"x", "w", "b"},
              intsAttr("strides", {2, 1}) + intsAttr("pads", {1, 2, 3, 4}) +
                  intAttr("group", 2),
              13, {{"x", {1, 4, 7, 9}}, {"w", {6, 2, 3, 2}}, {"b", {6}}});
  auto *conv = imageNode<ConvolutionNode>(model);
  ASSERT_TRUE(conv);
  EXPECT_EQ(formatShape(conv->getInput().getShape()), "1x7x9x4");
  EXPECT_EQ(formatShape(conv->getFilter().getShape()), "6x3x2x2");
  EXPECT_EQ(formatShape(conv->getType().getShape()), "1x5x14x6");
  EXPECT_EQ(conv->getStrides().vec(), (IntVector{2, 1}));
  EXPECT_EQ(conv->getPads().vec(), (IntVector{1, 2, 3, 4}));
  EXPECT_EQ(conv->getDilations().vec(), (IntVector{1, 1}));
}

TEST(ImporterOps, ConvOfOneDimension) {
  TextModel model = oneNode("Conv", {"x", "w"},
                            intsAttr("strides", {3}) + intsAttr("pads", {1, 2}),
                            13, {{"x", {1, 4, 17}}, {"w", {6, 4, 5}}});
  auto *reshape = model.importOutput().getNodeAs<ReshapeNode>();
  ASSERT_TRUE(reshape);
  EXPECT_EQ(reshape->getType().str(), "float<1x6x6>");
  auto *conv = reshape->getInput()
                   .getNodeAs<TransposeNode>()
                   ->getInput()
                   .getNodeAs<ConvolutionNode>();
  ASSERT_TRUE(conv);
  EXPECT_EQ(conv->getPads().vec(), (IntVector{0, 1, 0, 2}));
  EXPECT_EQ(conv->getStrides().vec(), (IntVector{1, 3}));
}

TEST(ImporterOps, ConvRefusesWhatDoesNotFit) {
  auto errorOfConv = [](std::string attributes,
                        std::vector<int64_t> x = {1, 3, 8, 8},
                        std::vector<int64_t> w = {4, 3, 3, 3}) {
    std::string message = oneNode("Conv", {"x", "w"}, std::move(attributes), 13,
                                  {{"x", std::move(x)}, {"w", std::move(w)}})
                              .importError();
    llvm::StringRef text = message;
    text.consume_front("'m': node 'y' (Conv): ");
    return text.str();
  };
  EXPECT_EQ(errorOfConv(intsAttr("kernel_shape", {5, 3})),
            "attribute 'kernel_shape' is 5x3; the filter has 3x3");
  EXPECT_EQ(errorOfConv(intsAttr("strides", {1})),
            "attribute 'strides' has 1 values; accepted: 2");
  EXPECT_EQ(errorOfConv(intsAttr("dilations", {0, 1})),
            "attribute 'dilations' has the value 0; accepted: 1 to 2147483648");
  EXPECT_EQ(errorOfConv(intsAttr("pads", {1, 1, INT64_MAX, 1})),
            "attribute 'pads' has the value 9223372036854775807; accepted: 0 "
            "to 2147483648");
  EXPECT_EQ(errorOfConv(stringAttr("auto_pad", "SOME")),
            "attribute 'auto_pad' is 'SOME'; accepted: NOTSET, SAME_UPPER, "
            "SAME_LOWER, VALID");
  EXPECT_EQ(
      errorOfConv("", {1, 3, 8, 8, 8, 8}, {4, 3, 3, 3, 3, 3}),
      "input 0 ('x') is float<1x3x8x8x8x8>; accepted: rank 3, 4 or 5 (one to "
      "three spatial dimensions)");
  EXPECT_EQ(errorOfConv("", {1, 3, 8, 8, 8}, {4, 3, 3, 3}),
            "the filter is float<4x3x3x3>; accepted: rank 5");
  EXPECT_EQ(errorOfConv("", {1, 3, 8, 8}, {4, 3, 3}),
            "the filter has 1 and the input 2 spatial dimensions");
}

TEST(ImporterOps, SamePadding) {
  auto padsOf = [](llvm::StringRef mode, int64_t stride) {
    TextModel model = oneNode("Conv", {"x", "w"},
                              stringAttr("auto_pad", mode) +
                                  intsAttr("strides", {stride, stride}),
                              13, {{"x", {1, 1, 7, 8}}, {"w", {1, 1, 4, 3}}});
    auto *conv = imageNode<ConvolutionNode>(model);
    return conv ? conv->getPads().vec() : IntVector();
  };
  EXPECT_EQ(padsOf("SAME_UPPER", 1), (IntVector{1, 1, 2, 1}));
  EXPECT_EQ(padsOf("SAME_LOWER", 1), (IntVector{2, 1, 1, 1}));
  EXPECT_EQ(padsOf("SAME_UPPER", 2), (IntVector{1, 0, 2, 1}));
  EXPECT_EQ(padsOf("VALID", 1), (IntVector{0, 0, 0, 0}));
  EXPECT_EQ(padsOf("NOTSET", 1), (IntVector{0, 0, 0, 0}));
}

/// A pooling with kernel 3 and stride 2 of 7 pixels by \p width.
static TextModel makePool(llvm::StringRef type, int64_t width,
                          std::string attributes) {
  return oneNode(type, {"x"},
                 intsAttr("kernel_shape", {3, 3}) +
                     intsAttr("strides", {2, 2}) + attributes,
                 13, {{"x", {1, 1, 7, width}}});
}

TEST(ImporterOps, CeilModePadsTheEnd) {
  auto padsOf = [](int64_t width, IntVector pads) {
    TextModel model = makePool(
        "MaxPool", width, intAttr("ceil_mode", 1) + intsAttr("pads", pads));
    auto *pool = imageNode<MaxPoolNode>(model);
    return pool ? pool->getPads().vec() : IntVector();
  };
  EXPECT_EQ(padsOf(7, {0, 0, 0, 0}), (IntVector{0, 0, 0, 0}));
  EXPECT_EQ(padsOf(8, {0, 0, 0, 0}), (IntVector{0, 0, 0, 1}));
  // The last window would begin in the padding: it is left out.
  EXPECT_EQ(padsOf(5, {0, 0, 0, 1}), (IntVector{0, 0, 0, 1 + 1}));
  EXPECT_EQ(padsOf(4, {0, 0, 0, 2}), (IntVector{0, 0, 0, 2}));
}

TEST(ImporterOps, CountedPadsUnderCeilModeBecomePixels) {
  TextModel model =
      makePool("AveragePool", 8,
               intAttr("ceil_mode", 1) + intAttr("count_include_pad", 1) +
                   intsAttr("pads", {1, 1, 1, 1}));
  auto *pool = imageNode<AvgPoolNode>(model);
  ASSERT_TRUE(pool);
  EXPECT_FALSE(pool->getCountIncludePads());
  EXPECT_EQ(pool->getPads().vec(), (IntVector{0, 0, 0, 1}));
  auto *pad = pool->getInput().getNodeAs<PadNode>();
  ASSERT_TRUE(pad);
  EXPECT_EQ(pad->getPads().vec(), (IntVector{0, 1, 1, 0, 0, 1, 1, 0}));
}

TEST(ImporterOps, PoolingNeedsItsKernel) {
  EXPECT_EQ(
      oneNode("MaxPool", {"x"}, "", 13, {{"x", {1, 1, 7, 7}}}).importError(),
      "'m': node 'y' (MaxPool): attribute 'kernel_shape' is missing");
  EXPECT_EQ(oneNode("AveragePool", {"x"}, intsAttr("kernel_shape", {3}), 13,
                    {{"x", {1, 1, 7, 7}}})
                .importError(),
            "'m': node 'y' (AveragePool): attribute 'kernel_shape' has 1 "
            "values; accepted: 2");
}

TEST(ImporterOps, GlobalPoolOfAnyRank) {
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{2, 3, 5}, std::vector<int64_t>{2, 3, 4, 5, 6}}) {
    TextModel model = oneNode("GlobalMaxPool", {"x"}, "", 13, {{"x", shape}});
    auto *reduce = model.importOutput().getNodeAs<ReduceNode>();
    ASSERT_TRUE(reduce);
    EXPECT_EQ(reduce->getMode(), "max");
    EXPECT_EQ(reduce->getType().getDim(1), 3);
  }
}

//===- Normalization ------------------------------------------------------===//

TEST(ImporterOps, SoftmaxBefore13IsFlat) {
  TextModel model = oneNode("Softmax", {"x"}, "", 9, {{"x", {2, 3, 4}}});
  auto *reshape = model.importOutput().getNodeAs<ReshapeNode>();
  ASSERT_TRUE(reshape);
  EXPECT_EQ(reshape->getInput().getType().str(), "float<2x12>");
  model.opset = 13;
  auto *softmax = model.importOutput().getNodeAs<SoftmaxNode>();
  ASSERT_TRUE(softmax);
  EXPECT_EQ(softmax->getAxis(), 2);
}

TEST(ImporterOps, AxisWrittenAsUnsigned) {
  TextModel model = oneNode("Softmax", {"x"}, intAttr("axis", 4294967295));
  auto *softmax = model.importOutput().getNodeAs<SoftmaxNode>();
  ASSERT_TRUE(softmax);
  EXPECT_EQ(softmax->getAxis(), 1);
  EXPECT_EQ(errorOf("Softmax", {"x"}, intAttr("axis", 2)),
            "attribute 'axis' is 2; accepted for rank 2: -2 to 1");
  EXPECT_EQ(errorOf("Softmax", {"x"}, intAttr("axis", INT64_MIN)),
            "attribute 'axis' is -9223372036854775808; accepted for rank 2: -2 "
            "to 1");
}

TEST(ImporterOps, BatchNormalizationInInference) {
  auto errorOfNorm = [](std::string attributes, int opset,
                        std::vector<int64_t> shape = {1, 3, 4, 4},
                        std::string more = "") {
    TextModel model;
    model.opset = opset;
    model.inputs = {{"x", std::move(shape)}, {"s", {3}}};
    model.body = "node { op_type: \"BatchNormalization\" input: \"x\" input: "
                 "\"s\" input: \"s\" input: \"s\" input: \"s\" output: \"y\" "
                 "output: \"mean\" " +
                 attributes + "} " + more;
    std::string message = model.importError();
    llvm::StringRef text = message;
    text.consume_front("'m': node 'y' (BatchNormalization): ");
    return text.str();
  };
  EXPECT_EQ(errorOfNorm("", 15), "imported");
  EXPECT_EQ(errorOfNorm(intAttr("is_test", 0) + floatAttr("momentum", 0.9), 6),
            "imported");
  EXPECT_EQ(errorOfNorm(intAttr("training_mode", 1), 15), "imported");
  EXPECT_EQ(
      errorOfNorm("", 9, {1, 3, 4, 4}, onnxNode("Identity", {"mean"}, "", "z")),
      "output 1, a statistic of training, is used; accepted: inference");
  EXPECT_EQ(errorOfNorm(intAttr("spatial", 0), 7),
            "input 1 is float<3>; accepted, as attribute 'spatial' is 0: the "
            "shape of a sample, 3x4x4");
  EXPECT_EQ(errorOfNorm(intAttr("spatial", 0), 7, {2, 3}), "imported");
  EXPECT_EQ(errorOfNorm("", 15, {}),
            "input 0 ('x') is float<>; accepted: rank 1 or more");
  // Rank 1 has one channel.
  EXPECT_EQ(fold("BatchNormalization", {"v", "s", "b", "m", "w"}, "", 15,
                 floats("v", {2}, {0, 2}) + floats("s", {1}, {3}) +
                     floats("b", {1}, {1}) + floats("m", {1}, {-6}) +
                     floats("w", {1}, {4})),
            "float<2>: 10 13");
}

TEST(ImporterOps, DropoutIsItsInput) {
  TextModel model;
  model.opset = 7;
  model.body = "node { op_type: \"Dropout\" input: \"x\" output: \"y\" output: "
               "\"mask\" " +
               floatAttr("ratio", 0.5) + "} ";
  EXPECT_TRUE(model.importOutput().getNodeAs<Placeholder>());
}
