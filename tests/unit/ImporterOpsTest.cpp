//===- ImporterOpsTest.cpp - Meaning of ONNX's operators ------------------===//
//
// Operators over constants are folded, so that their results can be read from
// the graph; of the others the nodes that they become are looked at. Numbers
// of whole networks are compared in tests/e2e.
//
//===----------------------------------------------------------------------===//

#include "OnnxText.h"

using namespace glowish;

namespace {

/// The value of one node over the float constant c: [2, 3] = 1 ... 6.
std::string fold(llvm::StringRef type, std::vector<std::string> inputs,
                 std::string attributes = "", int opset = 13,
                 std::string more = "") {
  TextModel model =
      oneNode(type, std::move(inputs), std::move(attributes), opset);
  model.body += floats("c", {2, 3}, {1, 2, 3, 4, 5, 6}) + more;
  return model.importConstant();
}

std::string errorOf(llvm::StringRef type, std::vector<std::string> inputs,
                    std::string attributes = "", int opset = 13,
                    std::string more = "") {
  TextModel model =
      oneNode(type, std::move(inputs), std::move(attributes), opset);
  model.body += floats("c", {2, 3}, {1, 2, 3, 4, 5, 6}) + more;
  std::string message = model.importError();
  std::string prefix = "'m': node 'y' (" + type.str() + "): ";
  return llvm::StringRef(message).consume_front(prefix)
             ? message.substr(prefix.size())
             : message;
}

/// The node under the transpose to the model's layout.
template <typename T> T *imageNode(TextModel &model) {
  auto *transpose = model.importOutput().getNodeAs<TransposeNode>();
  return transpose ? transpose->getInput().getNodeAs<T>() : nullptr;
}

using IntVector = std::vector<int64_t>;

} // namespace

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
  EXPECT_EQ(errorOf("Clip", {"c", "i"}, "", 13, int64s("i", {0})),
            "input 1 is int64<1>; accepted: float");
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
            "attribute 'to' is 'WORD', which is no element type");
  EXPECT_EQ(errorOf("Cast", {"c"}, intAttr("to", 8)),
            "element type STRING is not supported; accepted: floats, integers "
            "and bool");
  EXPECT_EQ(errorOf("Cast", {"c"}, intAttr("to", (int64_t(1) << 32) + 1)),
            "element type 4294967297 is not supported; accepted: floats, "
            "integers and bool");
  EXPECT_EQ(fold("CastLike", {"c", "i"}, "", 15, int64s("i", {1})),
            "int64<2x3>: 1 2 3 4 5 6");
}

//===- Convolution and pooling --------------------------------------------===//

TEST(ImporterOps, ConvIsTurnedToNHWC) {
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
  EXPECT_EQ(errorOfConv("", {1, 3, 8, 8, 8, 8}, {4, 3, 3, 3, 3, 3}),
            "input 0 is float<1x3x8x8x8x8>; accepted: rank 3, 4 or 5 (one to "
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
  EXPECT_EQ(errorOfNorm(intAttr("training_mode", 1), 15),
            "imported");
  EXPECT_EQ(
      errorOfNorm("", 9, {1, 3, 4, 4}, onnxNode("Identity", {"mean"}, "", "z")),
      "output 1, a statistic of training, is read; accepted: inference");
  EXPECT_EQ(errorOfNorm(intAttr("spatial", 0), 7),
            "attribute 'spatial' is 0; accepted for rank 4: 1");
  EXPECT_EQ(errorOfNorm(intAttr("spatial", 0), 7, {2, 3}), "imported");
}

TEST(ImporterOps, DropoutIsItsInput) {
  TextModel model;
  model.opset = 7;
  model.body = "node { op_type: \"Dropout\" input: \"x\" output: \"y\" output: "
               "\"mask\" " +
               floatAttr("ratio", 0.5) + "} ";
  EXPECT_TRUE(model.importOutput().getNodeAs<Placeholder>());
}

//===- Shapes -------------------------------------------------------------===//

TEST(ImporterOps, Reshape) {
  auto reshaped = [](IntVector shape, std::string attributes = "") {
    return fold("Reshape", {"c", "s"}, std::move(attributes), 14,
                int64s("s", std::move(shape)))
        .substr(0, 12);
  };
  EXPECT_EQ(reshaped({3, 2}), "float<3x2>: ");
  EXPECT_EQ(reshaped({0, 3}), "float<2x3>: ");
  EXPECT_EQ(reshaped({-1, 2}), "float<3x2>: ");
  EXPECT_EQ(fold("Reshape", {"c"}, intsAttr("shape", {6}), 4),
            "float<6>: 1 2 3 4 5 6");
  auto errorOfReshape = [](IntVector shape) {
    return errorOf("Reshape", {"c", "s"}, "", 14, int64s("s", shape));
  };
  EXPECT_EQ(errorOfReshape({-1, 4}), "6 elements cannot be divided by 4");
  EXPECT_EQ(errorOfReshape({-1, -1}), "dimension 1 of the shape is -1");
  EXPECT_EQ(errorOfReshape({INT64_MAX, 4}), "the shape has too many elements");
  EXPECT_EQ(errorOfReshape({1, 1, 0}),
            "the shape copies dimension 2, which float<2x3> lacks");
  EXPECT_EQ(errorOf("Reshape", {"c"}),
            "'shape' is given neither as input 1 nor as an attribute");
}

TEST(ImporterOps, SqueezeAndUnsqueeze) {
  std::string one = floats("d", {1, 2, 1}, {7, 8}) + int64s("a", {-1});
  EXPECT_EQ(fold("Squeeze", {"d"}, "", 11, one), "float<2>: 7 8");
  EXPECT_EQ(fold("Squeeze", {"d"}, intsAttr("axes", {0}), 11, one),
            "float<2x1>: 7 8");
  EXPECT_EQ(fold("Squeeze", {"d", "a"}, "", 13, one), "float<1x2>: 7 8");
  EXPECT_EQ(
      errorOf("Squeeze", {"d"}, intsAttr("axes", {1}), 11, one),
      "dimension 1 of float<1x2x1> cannot be removed; accepted: extent 1");
  EXPECT_EQ(fold("Unsqueeze", {"d"}, intsAttr("axes", {0, -1}), 11, one),
            "float<1x1x2x1x1>: 7 8");
  EXPECT_EQ(errorOf("Unsqueeze", {"d"}, intsAttr("axes", {0, -5}), 11, one),
            "an axis comes twice");
  EXPECT_EQ(errorOf("Unsqueeze", {"d"}, intsAttr("axes", {4}), 11, one),
            "an axis is 4; accepted for rank 4: -4 to 3");
  EXPECT_EQ(errorOf("Unsqueeze", {"d"}, "", 13, one),
            "'axes' is given neither as input 1 nor as an attribute");
}

TEST(ImporterOps, ShapeAndSize) {
  EXPECT_EQ(fold("Shape", {"x"}), "int64<2>: 2 3");
  EXPECT_EQ(fold("Shape", {"x"}, intAttr("start", -1), 15), "int64<1>: 3");
  EXPECT_EQ(fold("Shape", {"x"}, intAttr("start", 1) + intAttr("end", -1), 15),
            "int64<0>:");
  EXPECT_EQ(fold("Size", {"x"}), "int64<>: 6");
}

TEST(ImporterOps, Constants) {
  EXPECT_EQ(fold("Constant", {}, intAttr("value_int", -4)), "int64<>: -4");
  EXPECT_EQ(fold("Constant", {}, intsAttr("value_ints", {3, 4})),
            "int64<2>: 3 4");
  EXPECT_EQ(fold("Constant", {}, floatAttr("value_float", 2.5)),
            "float<>: 2.50");
  EXPECT_EQ(fold("Constant", {},
                 "attribute { name: \"value\" type: TENSOR t { data_type: 6 "
                 "dims: 1 int32_data: 8 } } "),
            "int32<1>: 8");
  EXPECT_EQ(errorOf("Constant", {}, intAttr("value", 1)),
            "attribute 'value' is of type INT; accepted: TENSOR");
  EXPECT_EQ(errorOf("Constant", {}),
            "there is no value; accepted: attribute value, sparse_value, "
            "value_int, value_ints, value_float or value_floats");
  EXPECT_EQ(fold("ConstantOfShape", {"s"}, "", 13, int64s("s", {1, 2})),
            "float<1x2>: 0 0");
  EXPECT_EQ(errorOf("ConstantOfShape", {"s"}, "", 13, int64s("s", {-1}))
                .find("Splat"),
            0u);
}

TEST(ImporterOps, Ranges) {
  auto range = [](int64_t start, int64_t limit, int64_t delta) {
    return fold("Range", {"a", "b", "d"}, "", 13,
                int64s("a", {start}) + int64s("b", {limit}) +
                    int64s("d", {delta}));
  };
  EXPECT_EQ(range(3, 9, 3), "int64<2>: 3 6");
  EXPECT_EQ(range(10, 4, -2), "int64<3>: 10 8 6");
  EXPECT_EQ(range(10, 4, 2), "int64<0>:");
  EXPECT_EQ(errorOf("Range", {"a", "b", "a"}, "", 13,
                    int64s("a", {0}) + int64s("b", {9}))
                .find("the range has"),
            0u);
}

TEST(ImporterOps, NonZeroOfConstants) {
  EXPECT_EQ(fold("NonZero", {"d"}, "", 13, floats("d", {2, 2}, {0, 1, 2, 3})),
            "int64<2x3>: 0 1 1 1 0 1");
}

//===- Data movement ------------------------------------------------------===//

TEST(ImporterOps, SlicesAsAttributesAndAsInputs) {
  EXPECT_EQ(fold("Slice", {"c"},
                 intsAttr("starts", {1}) + intsAttr("ends", {-1}) +
                     intsAttr("axes", {1}),
                 9),
            "float<2x1>: 2 5");
  auto sliced = [](int64_t start, int64_t end, int64_t step) {
    return fold("Slice", {"c", "s", "e", "a", "st"}, "", 13,
                int64s("s", {start}) + int64s("e", {end}) + int64s("a", {-1}) +
                    int64s("st", {step}));
  };
  EXPECT_EQ(sliced(-1, INT64_MIN, -2), "float<2x2>: 3 1 6 4");
  EXPECT_EQ(sliced(0, INT64_MAX, 2), "float<2x2>: 1 3 4 6");
  EXPECT_EQ(sliced(INT64_MAX, 0, -1), "float<2x2>: 3 2 6 5");
  EXPECT_EQ(sliced(2, 2, 1), "float<2x0>:");
  EXPECT_EQ(sliced(0, 9, INT64_MAX), "float<2x1>: 1 4");
}

TEST(ImporterOps, SliceRefusesWhatDoesNotFit) {
  auto errorOfSlice = [](IntVector starts, IntVector ends, IntVector axes,
                         IntVector steps) {
    return errorOf("Slice", {"c", "s", "e", "a", "st"}, "", 13,
                   int64s("s", starts) + int64s("e", ends) + int64s("a", axes) +
                       int64s("st", steps));
  };
  EXPECT_EQ(errorOfSlice({0}, {1, 2}, {0}, {1}),
            "1 starts, 2 ends, 1 axes, 1 steps; accepted: as many of each");
  EXPECT_EQ(errorOfSlice({0}, {1}, {2}, {1}),
            "an axis is 2; accepted for rank 2: -2 to 1");
  EXPECT_EQ(errorOfSlice({0, 0}, {1, 1}, {1, -1}, {1, 1}),
            "axis 1 comes twice");
  EXPECT_EQ(errorOfSlice({0}, {1}, {0}, {0}),
            "a step is 0; accepted: any but 0");
  EXPECT_EQ(errorOf("Slice", {"c"}, "", 9),
            "'starts' is given neither as input 1 nor as an attribute");
}

TEST(ImporterOps, SplitsAsAttributesAndAsInputs) {
  auto typesOf = [](std::string attributes, int opset,
                    std::vector<std::string> inputs = {"x"},
                    std::string more = "") {
    TextModel model;
    model.opset = opset;
    model.inputs = {{"x", {2, 7}}};
    model.body = "node { op_type: \"Split\" ";
    for (const std::string &input : inputs)
      model.body += "input: \"" + input + "\" ";
    model.body += "output: \"y\" output: \"z\" " + attributes + "} " + more;
    model.outputs = "output { name: \"y\" } output { name: \"z\" } ";
    auto module = model.import();
    if (!module)
      return llvm::toString(module.takeError());
    return (*module)->findPlaceholder("y")->getType().str() + " " +
           (*module)->findPlaceholder("z")->getType().str();
  };
  std::string axis = intAttr("axis", -1);
  EXPECT_EQ(typesOf("", 2), "float<1x7> float<1x7>");
  EXPECT_EQ(typesOf(axis + intsAttr("split", {3, 4}), 11),
            "float<2x3> float<2x4>");
  EXPECT_EQ(typesOf(axis, 13, {"x", "s"}, int64s("s", {6, 1})),
            "float<2x6> float<2x1>");
  EXPECT_EQ(typesOf(axis + intAttr("num_outputs", 2), 18),
            "float<2x4> float<2x3>");
  EXPECT_EQ(typesOf(axis + intsAttr("split", {3, 3}), 11),
            "'m': node 'y' (Split): 2 parts of 6 in all; 2 outputs share 7");
  EXPECT_EQ(typesOf(axis + intAttr("num_outputs", 3), 18),
            "'m': node 'y' (Split): attribute 'num_outputs' is 3; the node has "
            "2 outputs");
}

TEST(ImporterOps, PadsAsAttributesAndAsInputs) {
  EXPECT_EQ(fold("Pad", {"c"},
                 intsAttr("pads", {0, 1, 0, 0}) + floatAttr("value", 9), 2),
            "float<2x4>: 9 1 2 3 9 4 5 6");
  EXPECT_EQ(fold("Pad", {"c"}, intsAttr("paddings", {0, 0, 0, -1}), 1),
            "float<2x2>: 1 2 4 5");
  std::string more =
      int64s("p", {1, 0}) + floats("v", {}, {8}) + int64s("a", {-1});
  EXPECT_EQ(fold("Pad", {"c", "p", "v", "a"}, "", 18, more),
            "float<2x4>: 8 1 2 3 8 4 5 6");
  EXPECT_EQ(
      fold("Pad", {"c", "p", "", "a"}, stringAttr("mode", "edge"), 18, more),
      "float<2x4>: 1 1 2 3 4 4 5 6");
  EXPECT_EQ(fold("Pad", {"c", "q"}, stringAttr("mode", "wrap"), 19,
                 int64s("q", {0, 1, 0, 2})),
            "float<2x6>: 3 1 2 3 1 2 6 4 5 6 4 5");
  EXPECT_EQ(errorOf("Pad", {"c", "p"}, "", 13, more)
                .find("Pad 'y': attribute 'pads'"),
            0u);
  // A value that is computed when the model runs.
  TextModel model =
      oneNode("Pad", {"x", "p", "v"}, "", 13, {{"x", {3}}, {"v", {}}});
  model.body += int64s("p", {1, 1});
  EXPECT_TRUE(model.importOutput().getNodeAs<SelectNode>());
}

TEST(ImporterOps, GatherChecksIndices) {
  EXPECT_EQ(
      fold("Gather", {"c", "i"}, intAttr("axis", 1), 13, int64s("i", {-1, 0})),
      "float<2x2>: 3 1 6 4");
  EXPECT_EQ(errorOf("Gather", {"c", "i"}, "", 13, int64s("i", {2})),
            "index 2 is outside; accepted for extent 2: -2 to 1");
}

TEST(ImporterOps, ConcatNeedsItsAxis) {
  EXPECT_EQ(fold("Concat", {"c", "c"}, intAttr("axis", -2)).substr(0, 11),
            "float<4x3>:");
  EXPECT_EQ(errorOf("Concat", {"c", "c"}), "attribute 'axis' is missing");
  EXPECT_EQ(fold("Concat", {"c", "c"}, "", 1).substr(0, 11), "float<2x6>:");
}

TEST(ImporterOps, BlocksOfChannels) {
  std::string image = floats("d", {1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7}) +
                      floats("s", {1, 1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(fold("DepthToSpace", {"d"}, intAttr("blocksize", 2), 13, image),
            "float<1x2x2x2>: 0 2 4 6 1 3 5 7");
  EXPECT_EQ(fold("DepthToSpace", {"d"},
                 intAttr("blocksize", 2) + stringAttr("mode", "CRD"), 13,
                 image),
            "float<1x2x2x2>: 0 1 2 3 4 5 6 7");
  EXPECT_EQ(fold("SpaceToDepth", {"s"}, intAttr("blocksize", 2), 13, image),
            "float<1x4x1x2>: 0 2 1 3 4 6 5 7");
}

TEST(ImporterOps, ChoiceByPosition) {
  EXPECT_EQ(fold("Trilu", {"c"}, "", 14), "float<2x3>: 1 2 3 0 5 6");
  EXPECT_EQ(
      fold("Trilu", {"c", "k"}, intAttr("upper", 0), 14, int64s("k", {1})),
      "float<2x3>: 1 2 0 4 5 6");
  EXPECT_EQ(fold("EyeLike", {"x"}, intAttr("dtype", 7) + intAttr("k", 1)),
            "int64<2x3>: 0 1 0 0 0 1");
  EXPECT_EQ(fold("OneHot", {"i", "n", "v"}, intAttr("axis", 0), 13,
                 int64s("i", {1, -1, 7}) + int64s("n", {3}) +
                     floats("v", {2}, {-1, 5})),
            "float<3x3>: -1 -1 -1 5 -1 -1 -1 5 -1");
}

//===- Reduction ----------------------------------------------------------===//

TEST(ImporterOps, ReductionAxes) {
  EXPECT_EQ(fold("ReduceSum", {"c"}, intsAttr("axes", {-1}), 11),
            "float<2x1>: 6 15");
  EXPECT_EQ(fold("ReduceSum", {"c", "a"}, intAttr("keepdims", 0), 13,
                 int64s("a", {0})),
            "float<3>: 5 7 9");
  EXPECT_EQ(fold("ReduceMax", {"c"}, intAttr("keepdims", 0)), "float<>: 6");
  EXPECT_EQ(fold("ReduceSum", {"c"}, intAttr("noop_with_empty_axes", 1)),
            "float<2x3>: 1 2 3 4 5 6");
  EXPECT_EQ(fold("ReduceSumSquare", {"c"}, intAttr("keepdims", 0)),
            "float<>: 91");
  EXPECT_EQ(fold("ReduceLogSumExp", {"d"}, intAttr("keepdims", 0), 13,
                 floats("d", {2}, {1000, -1000})),
            "float<>: 1000");
  EXPECT_EQ(errorOf("ReduceSum", {"c"}, intsAttr("axes", {2}), 11),
            "an axis is 2; accepted for rank 2: -2 to 1");
  EXPECT_EQ(fold("ArgMin", {"c"}, intAttr("axis", 1)), "int64<2x1>: 0 0");
}

//===- Resize -------------------------------------------------------------===//

TEST(ImporterOps, ResizeForms) {
  auto sizesOf = [](llvm::StringRef type, std::vector<std::string> inputs,
                    std::string attributes, int opset) {
    TextModel model = oneNode(type, std::move(inputs), std::move(attributes),
                              opset, {{"x", {1, 2, 10, 4}}});
    model.body += floats("s", {4}, {1, 1, 0.7, 2}) + int64s("n", {1, 2, 5, 8});
    auto *resize = imageNode<ResizeNode>(model);
    if (!resize)
      return std::string("none");
    return formatShape(resize->getSizes()) + " " + resize->getMode().str() +
           " " + resize->getCoordinates().str() + " " +
           resize->getNearestMode().str();
  };
  EXPECT_EQ(sizesOf("Resize", {"x", "s"}, "", 10),
            "7x8 nearest asymmetric floor");
  EXPECT_EQ(sizesOf("Upsample", {"x", "s"}, stringAttr("mode", "bilinear"), 9),
            "7x8 linear asymmetric floor");
  EXPECT_EQ(sizesOf("Upsample", {"x"},
                    "attribute { name: \"scales\" type: FLOATS floats: 1 "
                    "floats: 1 floats: 2 floats: 3 } ",
                    7),
            "20x12 nearest asymmetric floor");
  EXPECT_EQ(sizesOf("Resize", {"x", "", "s"}, "", 13),
            "7x8 nearest half_pixel round_prefer_floor");
  EXPECT_EQ(
      sizesOf("Resize", {"x", "", "", "n"},
              stringAttr("coordinate_transformation_mode", "align_corners") +
                  stringAttr("nearest_mode", "ceil"),
              13),
      "5x8 nearest align_corners ceil");
}

TEST(ImporterOps, ResizeOfOtherDimensions) {
  auto typeOf = [](std::vector<int64_t> shape, std::vector<int64_t> sizes,
                   std::string attributes = "") {
    TextModel model =
        oneNode("Resize", {"x", "", "", "n"}, std::move(attributes), 18,
                {{"x", std::move(shape)}});
    model.body += int64s("n", std::move(sizes));
    auto module = model.import();
    if (!module)
      return llvm::toString(module.takeError());
    return (*module)->findPlaceholder("y")->getType().str();
  };
  EXPECT_EQ(typeOf({1, 5, 7, 3}, {1, 10, 14, 3}), "float<1x10x14x3>");
  EXPECT_EQ(typeOf({5, 7}, {10, 3}), "float<10x3>");
  EXPECT_EQ(typeOf({2, 3, 5}, {2, 3, 9}), "float<2x3x9>");
  EXPECT_EQ(typeOf({1, 3, 4, 4}, {8, 6}, intsAttr("axes", {3, 2})),
            "float<1x3x6x8>");
  EXPECT_EQ(typeOf({1, 3, 4, 4}, {8, 6},
                   intsAttr("axes", {2, 3}) +
                       stringAttr("keep_aspect_ratio_policy", "not_larger")),
            "float<1x3x6x6>");
  EXPECT_EQ(typeOf({2, 3, 4, 4}, {4, 3, 8, 8}),
            "float<4x3x8x8>");
  EXPECT_EQ(typeOf({2, 3, 4, 4}, {2, 3, 8}),
            "'m': node 'y' (Resize): 3 sizes; accepted: 4");
}
