//===- ImporterDataMovementTest.cpp - ONNX's operators that move elements -===//
//
// As in ImporterOpsTest.cpp; shapes, slices, gathers, reductions and resizes.
//
//===----------------------------------------------------------------------===//

#include "OneOperator.h"
#include "gmock/gmock.h"

using namespace glowish;

//===- Shapes -------------------------------------------------------------===//

TEST(ImporterDataMovement, Reshape) {
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

TEST(ImporterDataMovement, SqueezeAndUnsqueeze) {
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

TEST(ImporterDataMovement, ShapeAndSize) {
  EXPECT_EQ(fold("Shape", {"x"}), "int64<2>: 2 3");
  EXPECT_EQ(fold("Shape", {"x"}, intAttr("start", -1), 15), "int64<1>: 3");
  EXPECT_EQ(fold("Shape", {"x"}, intAttr("start", 1) + intAttr("end", -1), 15),
            "int64<0>:");
  EXPECT_EQ(fold("Size", {"x"}), "int64<>: 6");
}

TEST(ImporterDataMovement, Constants) {
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
            "value_int, value_ints, value_float, value_floats, value_string "
            "or value_strings");
  EXPECT_EQ(fold("ConstantOfShape", {"s"}, "", 13, int64s("s", {1, 2})),
            "float<1x2>: 0 0");
  EXPECT_EQ(fold("ConstantOfShape", {"s"},
                 "attribute { name: \"value\" type: TENSOR t { data_type: 7 "
                 "dims: 1 int64_data: 1152921504606846977 } } ",
                 13, int64s("s", {2})),
            "int64<2>: 1152921504606846977 1152921504606846977");
  EXPECT_EQ(errorOf("ConstantOfShape", {"s"}, "", 13, int64s("s", {-1}))
                .find("Splat"),
            0u);
}

TEST(ImporterDataMovement, Ranges) {
  auto range = [](int64_t start, int64_t limit, int64_t delta) {
    return fold("Range", {"a", "b", "d"}, "", 13,
                int64s("a", {start}) + int64s("b", {limit}) +
                    int64s("d", {delta}));
  };
  EXPECT_EQ(range(3, 9, 3), "int64<2>: 3 6");
  EXPECT_EQ(range(10, 4, -2), "int64<3>: 10 8 6");
  EXPECT_EQ(range(10, 4, 2), "int64<0>:");
  // As near as no doubles are.
  constexpr int64_t large = int64_t(1) << 60;
  EXPECT_EQ(range(large + 1, large + 6, 2),
            "int64<3>: 1152921504606846977 1152921504606846979 "
            "1152921504606846981");
  EXPECT_EQ(range(INT64_MAX, INT64_MIN, INT64_MIN + 1),
            "int64<3>: 9223372036854775807 0 -9223372036854775807");
  EXPECT_EQ(errorOf("Range", {"a", "b", "a"}, "", 13,
                    int64s("a", {0}) + int64s("b", {9}))
                .find("the range has"),
            0u);
  // The kind that halves are computed in.
  auto ofHalves = [](int64_t type) {
    return errorOf("Range", {"a", "b", "d"}, intAttr("stash_type", type), 27,
                   "initializer { name: \"a\" data_type: 10 int32_data: 0 } "
                   "initializer { name: \"b\" data_type: 10 int32_data: 16896 "
                   "} "
                   "initializer { name: \"d\" data_type: 10 int32_data: 15360 "
                   "} ");
  };
  EXPECT_EQ(ofHalves(1), "imported");
  EXPECT_EQ(ofHalves(11), "imported");
  EXPECT_EQ(ofHalves(10), "attribute 'stash_type' is 10; accepted: 1 (float), "
                          "11 (double)");
}

/// Ranges of halves are computed in another kind, and each element is rounded:
/// float16 has no odd numbers from 2048 on, bfloat16 none from 256 on.
TEST(ImporterDataMovement, RangesOfHalves) {
  auto range = [](int kind, std::vector<int64_t> bits) {
    std::string numbers;
    for (int i = 0; i < 3; ++i)
      numbers += integers(std::string(1, "abd"[i]), kind, {}, {bits[i]});
    return fold("Range", {"a", "b", "d"}, "", 27, numbers);
  };
  // From 2046 to 2054 by 1, and from 254 to 260 by 1.
  EXPECT_EQ(range(10, {0x67fe, 0x6803, 0x3c00}),
            "float16<8>: 2046 2047 2048 2048 2050 2052 2052 2052");
  EXPECT_EQ(range(16, {0x437e, 0x4382, 0x3f80}),
            "bfloat16<6>: 254 255 256 256 258 260");
}

TEST(ImporterDataMovement, NonZeroOfConstants) {
  EXPECT_EQ(fold("NonZero", {"d"}, "", 13, floats("d", {2, 2}, {0, 1, 2, 3})),
            "int64<2x3>: 0 1 1 1 0 1");
}

//===- Data movement ------------------------------------------------------===//

TEST(ImporterDataMovement, SlicesAsAttributesAndAsInputs) {
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

TEST(ImporterDataMovement, SliceRefusesWhatDoesNotFit) {
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

TEST(ImporterDataMovement, SplitsAsAttributesAndAsInputs) {
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

TEST(ImporterDataMovement, PadsAsAttributesAndAsInputs) {
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
  // Reflections of reflections, also of one element, and none.
  std::string reflect = stringAttr("mode", "reflect");
  EXPECT_EQ(fold("Pad", {"c"}, intsAttr("pads", {0, 5, 0, 3}) + reflect, 2),
            "float<2x11>: 2 1 2 3 2 1 2 3 2 1 2 5 4 5 6 5 4 5 6 5 4 5");
  EXPECT_EQ(fold("Pad", {"c"}, intsAttr("pads", {2, 0, 1, 1}) + reflect, 2),
            "float<5x4>: 1 2 3 2 4 5 6 5 1 2 3 2 4 5 6 5 1 2 3 2");
  EXPECT_EQ(fold("Pad", {"v"}, intsAttr("pads", {2, 1}) + reflect, 2,
                 floats("v", {1}, {8})),
            "float<4>: 8 8 8 8");
  EXPECT_EQ(fold("Pad", {"c", "q"}, stringAttr("mode", "wrap"), 19,
                 int64s("q", {0, 1, 0, 2})),
            "float<2x6>: 3 1 2 3 1 2 6 4 5 6 4 5");
  EXPECT_EQ(fold("Pad", {"c", "q"}, stringAttr("mode", "wrap"), 19,
                 int64s("q", {0, 4, 0, 0})),
            "float<2x7>: 3 1 2 3 1 2 3 6 4 5 6 4 5 6");
  EXPECT_EQ(errorOf("Pad", {"c", "p"}, "", 13, more),
            "2 pads; accepted for rank 2: 4");
  // A value that is computed when the model runs.
  TextModel model =
      oneNode("Pad", {"x", "p", "v"}, "", 13, {{"x", {3}}, {"v", {}}});
  model.body += int64s("p", {1, 1});
  EXPECT_TRUE(model.importOutput().getNodeAs<SelectNode>());
}

/// Elements are cropped first, and the rest is padded.
TEST(ImporterDataMovement, PadsThatCrop) {
  auto pad = [](llvm::StringRef mode, std::vector<int64_t> pads) {
    return fold("Pad", {"c", "p"}, stringAttr("mode", mode), 19,
                int64s("p", std::move(pads)));
  };
  EXPECT_EQ(pad("edge", {0, -1, 0, 2}), "float<2x4>: 2 3 3 3 5 6 6 6");
  EXPECT_EQ(pad("edge", {-1, 1, 0, -1}), "float<1x3>: 4 4 5");
  EXPECT_EQ(pad("reflect", {0, -1, 0, 1}), "float<2x3>: 2 3 2 5 6 5");
  EXPECT_EQ(pad("reflect", {0, 1, 0, -1}), "float<2x3>: 2 1 2 5 4 5");
  EXPECT_EQ(pad("wrap", {0, -1, 0, 1}), "float<2x3>: 2 3 2 5 6 5");
  EXPECT_EQ(pad("wrap", {0, 2, 0, -2}), "float<2x3>: 1 1 1 4 4 4");
  for (const char *mode : {"constant", "edge", "reflect", "wrap"})
    EXPECT_EQ(pad(mode, {-1, -1, 0, -1}), "float<1x1>: 5");
  EXPECT_EQ(errorOf("Pad", {"c", "p"}, stringAttr("mode", "edge"), 19,
                    int64s("p", {0, -2, 0, -2})),
            "pads -2 and -2 of dimension 1; accepted: crops of up to 3 "
            "elements");
  EXPECT_EQ(errorOf("Pad", {"c", "p"}, stringAttr("mode", "wrap"), 19,
                    int64s("p", {0, -3, 0, 1})),
            "pads 0 and 1 of dimension 1, which has 0 elements; accepted: up "
            "to 2^31 - 1 beside elements");
}

TEST(ImporterDataMovement, GatherChecksIndices) {
  EXPECT_EQ(
      fold("Gather", {"c", "i"}, intAttr("axis", 1), 13, int64s("i", {-1, 0})),
      "float<2x2>: 3 1 6 4");
  EXPECT_EQ(errorOf("Gather", {"c", "i"}, "", 13, int64s("i", {2})),
            "index 2 is out of range; accepted for extent 2: -2 to 1");
}

TEST(ImporterDataMovement, ConcatNeedsItsAxis) {
  EXPECT_EQ(fold("Concat", {"c", "c"}, intAttr("axis", -2)).substr(0, 11),
            "float<4x3>:");
  EXPECT_EQ(errorOf("Concat", {"c", "c"}), "attribute 'axis' is missing");
  EXPECT_EQ(fold("Concat", {"c", "c"}, "", 1).substr(0, 11), "float<2x6>:");
}

TEST(ImporterDataMovement, BlocksOfChannels) {
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

TEST(ImporterDataMovement, ChoiceByPosition) {
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

TEST(ImporterDataMovement, ReductionAxes) {
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

TEST(ImporterDataMovement, ReductionsOfEmptySets) {
  auto reduce = [](llvm::StringRef mode, int type) {
    std::string input = integers("e", type, {2, 0}, {});
    return fold(("Reduce" + mode).str(), {"e", "a"}, intAttr("keepdims", 0), 20,
                input + int64s("a", {1}));
  };
  EXPECT_EQ(reduce("Max", 1), "float<2>: -INF -INF");
  EXPECT_EQ(reduce("Min", 1), "float<2>: INF INF");
  EXPECT_EQ(reduce("Mean", 1), "float<2>: nan nan");
  EXPECT_EQ(reduce("Prod", 1), "float<2>: 1 1");
  EXPECT_EQ(reduce("LogSumExp", 1), "float<2>: -INF -INF");
  EXPECT_EQ(reduce("L2", 1), "float<2>: 0 0");
  EXPECT_EQ(reduce("Max", 3), "int8<2>: -128 -128");
  EXPECT_EQ(reduce("Min", 6), "int32<2>: 2147483647 2147483647");
  // True is greater than false.
  EXPECT_EQ(reduce("Max", 9), "bool<2>: 0 0");
  EXPECT_EQ(reduce("Min", 9), "bool<2>: 1 1");
  EXPECT_THAT(errorOf("ReduceMean", {"e"}, "", 20, integers("e", 6, {0}, {})),
              testing::HasSubstr("there is no mean of no integers"));
}

//===- Resize -------------------------------------------------------------===//

TEST(ImporterDataMovement, ResizeForms) {
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

TEST(ImporterDataMovement, ResizeOfOtherDimensions) {
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
  EXPECT_EQ(typeOf({2, 3, 4, 4}, {4, 3, 8, 8}), "float<4x3x8x8>");
  EXPECT_EQ(typeOf({2, 3, 4, 4}, {2, 3, 8}),
            "'m': node 'y' (Resize): 3 sizes; accepted: 4");
}
