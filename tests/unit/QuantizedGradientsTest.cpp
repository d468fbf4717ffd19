//===- QuantizedGradientsTest.cpp - Gradients through rounding ------------===//
//
// Of graphs as the importer makes them: values computed by hand on the
// interpreter, and compiled code against that.
//
//===----------------------------------------------------------------------===//

#include "GradientCheck.h"
#include "GraphTexts.h"
#include "OnnxText.h"
#include "gmock/gmock.h"

using namespace glowish;

static constexpr int uint8 = 2, int8 = 3;

/// The model as a case whose inputs have the values \p values, seeds behind
/// them.
static GradientCase makeCase(TextModel model, std::vector<InputValues> values) {
  auto module = model.import();
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return GradientCase("");
  }
  return {print(**module), std::move(values)};
}

static std::vector<double> getElements(const Tensor &tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    values.push_back(tensor.getAsDouble(i));
  return values;
}

/// The gradient with respect to \p input, on the interpreter; compiled code
/// agrees.
static std::vector<double> getGradient(const GradientCase &tested,
                                       const std::string &input) {
  checkCompiled(tested);
  NamedTensors outputs = runGradients(tested, 1);
  auto found = outputs.find("gradient1." + input);
  return found == outputs.end() ? std::vector<double>()
                                : getElements(found->second);
}

/// x as int8 and back, with scale 0.5 and zero point -28: x from -50 to 77.5
/// fits.
static TextModel makePair(int64_t count) {
  TextModel model;
  model.inputs = {{"x", {count}}};
  model.body = onnxNode("QuantizeLinear", {"x", "s", "z"}, "", "q") +
               onnxNode("DequantizeLinear", {"q", "s", "z"}) +
               floats("s", {}, {0.5f}) + integers("z", int8, {}, {-28});
  return model;
}

TEST(QuantizedGradients, FlowWhereNothingSaturates) {
  // The bounds and what is rounded to them are inside.
  GradientCase tested =
      makeCase(makePair(7), {at({0, 3.3, -50, -50.2, -51, 77.6, 78}),
                             held({1, 2, 3, 4, 5, 6, 7})});
  EXPECT_EQ(getGradient(tested, "x"),
            std::vector<double>({1, 2, 3, 4, 0, 6, 0}));
}

TEST(QuantizedGradients, OfOddShapes) {
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{3, 17}, std::vector<int64_t>{1},
        std::vector<int64_t>{0, 3}}) {
    TextModel model = makePair(1);
    model.inputs = {{"x", shape}};
    checkCompiled(makeCase(std::move(model), {between(-80, 80)}));
  }
}

/// Learned step size quantization, Esser et al., arXiv 1902.08153: a scale gets
/// round(x / s) - x / s, or the bound less the zero point where x saturates.
TEST(QuantizedGradients, ReachScales) {
  TextModel model;
  model.inputs = {{"x", {2, 3}}, {"s", {2}}};
  std::string axis = intAttr("axis", 0);
  model.body = onnxNode("QuantizeLinear", {"x", "s", "z"}, axis, "q") +
               onnxNode("DequantizeLinear", {"q", "s", "z"}, axis) +
               integers("z", int8, {2}, {0, 28});
  GradientCase tested =
      makeCase(std::move(model), {at({0.25, 0.75, 200, -2.5, 1.25, -400}),
                                  at({1, 2}), held({1, 2, 4, 8, 16, 32})});
  EXPECT_EQ(getGradient(tested, "x"), std::vector<double>({1, 2, 0, 8, 16, 0}));
  EXPECT_EQ(getGradient(tested, "s"),
            std::vector<double>({-0.25 + 2 * 0.25 + 4 * 127,
                                 8 * 0.25 + 16 * 0.375 + 32 * (-128 - 28)}));
}

/// The range follows the elements and counts as constant.
TEST(QuantizedGradients, OfDynamicRanges) {
  TextModel model;
  model.inputs = {{"x", {5}}};
  model.body = "node { op_type: \"DynamicQuantizeLinear\" input: \"x\" "
               "output: \"q\" output: \"s\" output: \"z\" } " +
               onnxNode("DequantizeLinear", {"q", "s", "z"});
  GradientCase tested = makeCase(
      std::move(model), {at({-3, 0.1, 2, 7.3, 1}), held({1, 2, 3, 4, 5})});
  EXPECT_EQ(getGradient(tested, "x"), std::vector<double>({1, 2, 3, 4, 5}));
}

/// Integers that are moved, compared and multiplied in between.
TEST(QuantizedGradients, FlowThroughIntegers) {
  TextModel model;
  model.opset = 21;
  model.inputs = {{"x", {2, 2}}};
  model.body = onnxNode("QuantizeLinear", {"x", "s", "z"}, "", "q") +
               onnxNode("Transpose", {"q"}, "", "t") +
               onnxNode("MatMulInteger", {"t", "w", "z"}, "", "p") +
               onnxNode("Cast", {"p"}, intAttr("to", 1), "f") +
               onnxNode("Mul", {"f", "s"}) + floats("s", {}, {0.5f}) +
               integers("z", uint8, {}, {10}) +
               integers("w", int8, {2, 1}, {3, -4});
  // y = (transpose of x) w where nothing saturates; -6 does.
  GradientCase tested =
      makeCase(std::move(model), {at({1, 2.25, -6, 4}), held({1, 2})});
  EXPECT_EQ(getGradient(tested, "x"), std::vector<double>({3, 6, 0, -8}));
}

/// Limits and shifts that are nodes of their own, on floats.
TEST(QuantizedGradients, OfComposedQuantizers) {
  TextModel model;
  model.inputs = {{"x", {4}}};
  model.body = onnxNode("Round", {"x"}, "", "r") +
               onnxNode("Clip", {"r", "low", "high"}, "", "c") +
               onnxNode("Cast", {"c"}, intAttr("to", int8), "q") +
               onnxNode("Cast", {"q"}, intAttr("to", 1)) +
               floats("low", {}, {-8}) + floats("high", {}, {7});
  GradientCase tested =
      makeCase(std::move(model), {at({-9, 0.4, 6.6, 5}), held({1, 2, 3, 4})});
  // Clip has 0 at its bounds.
  EXPECT_EQ(getGradient(tested, "x"), std::vector<double>({0, 2, 0, 4}));
}

/// What is rounded for other ends: an index, a float.
TEST(QuantizedGradients, AreNotOfOtherRounding) {
  for (auto [kind, expected] : {std::pair<int, double>{1, 0}, {7, 0}}) {
    TextModel model;
    model.inputs = {{"x", {2}}};
    model.body = onnxNode("Round", {"x"}, "", "r") +
                 onnxNode("Cast", {"r"}, intAttr("to", kind), "q") +
                 onnxNode("Cast", {"q"}, intAttr("to", 1), "f") +
                 onnxNode("Add", {"f", "x"});
    GradientCase tested =
        makeCase(std::move(model), {at({1.2, 2.7}), held({3, 5})});
    EXPECT_EQ(getGradient(tested, "x"), std::vector<double>({3, 5})) << kind;
  }
}

static std::string fail(std::string between) {
  TextModel model;
  model.inputs = {{"x", {2}}};
  model.body = onnxNode("QuantizeLinear", {"x", "s", "z"}, "", "q") +
               std::move(between) + onnxNode("Cast", {"r"}, intAttr("to", 1)) +
               floats("s", {}, {0.5f}) + integers("z", uint8, {}, {10});
  auto module = makeGradientModule(makeCase(std::move(model), {}), 1);
  return module ? "no error" : llvm::toString(module.takeError());
}

TEST(QuantizedGradients, StopAtWhatHasNone) {
  EXPECT_EQ(fail(onnxNode("Cast", {"q"}, intAttr("to", int8), "r")),
            "Cast 'r': it has no gradient: quantized values become int8, "
            "which does not hold all of uint8<2>");
  EXPECT_EQ(fail(onnxNode("Div", {"q", "z"}, "", "r")),
            "Div 'r': it has no gradient: a quotient of integers is truncated");
  // Comparisons are constant between steps, as those of floats.
  EXPECT_EQ(fail(onnxNode("Greater", {"q", "z"}, "", "r")), "no error");
}
