//===- ImporterRecurrentTest.cpp - Activations of recurrent operators -----===//
//
// ONNX's own tests have the default functions.
//
//===----------------------------------------------------------------------===//

#include "OneOperator.h"
#include "RunText.h"

using namespace glowish;

/// One step of RNN on an input that is projected to \p x, without a state.
static std::string stepRNN(float x, const std::string &attributes) {
  TextModel model =
      oneNode("RNN", {"i", "w", "r"}, attributes + intAttr("hidden_size", 1));
  model.inputs = {};
  model.body += floats("i", {1, 1, 1}, {x}) + floats("w", {1, 1, 1}, {1}) +
                floats("r", {1, 1, 1}, {0});
  return runText(std::move(model));
}

static std::string activate(float x, llvm::StringRef name,
                            const std::string &attributes = "") {
  return stepRNN(x, stringsAttr("activations", {name.str()}) + attributes);
}

static std::string floatsAttr(llvm::StringRef name, double value) {
  return llvm::formatv("attribute {{ name: \"{0}\" floats: {1:f6} type: FLOATS "
                       "} ",
                       name, value);
}

TEST(ImporterRecurrent, Activations) {
  auto alpha = [](double value) {
    return floatsAttr("activation_alpha", value);
  };
  auto beta = [](double value) { return floatsAttr("activation_beta", value); };
  std::string prefix = "float<1x1x1x1>: ";
  EXPECT_EQ(activate(3, "Relu"), prefix + "3");
  EXPECT_EQ(activate(-3, "Relu"), prefix + "0");
  EXPECT_EQ(activate(1, "Tanh"), prefix + "0.76");
  EXPECT_EQ(activate(1, "Sigmoid"), prefix + "0.73");
  EXPECT_EQ(activate(3, "Softsign"), prefix + "0.75");
  EXPECT_EQ(activate(1, "Softplus"), prefix + "1.31");
  EXPECT_EQ(activate(100, "Softplus"), prefix + "100");
  EXPECT_EQ(activate(1, "HardSigmoid"), prefix + "0.70");
  EXPECT_EQ(activate(1, "HardSigmoid", alpha(0.5) + beta(0.25)),
            prefix + "0.75");
  EXPECT_EQ(activate(-100, "LeakyRelu"), prefix + "-1");
  EXPECT_EQ(activate(-100, "LeakyRelu", alpha(0.5)), prefix + "-50");
  EXPECT_EQ(activate(-1, "Elu", alpha(2)), prefix + "-1.26");
  EXPECT_EQ(activate(1, "ThresholdedRelu", alpha(2)), prefix + "0");
  EXPECT_EQ(activate(1, "Affine", alpha(2) + beta(5)), prefix + "7");
  EXPECT_EQ(activate(1, "Affine"), prefix + "1");
  EXPECT_EQ(activate(1, "ScaledTanh", alpha(2) + beta(0.5)), prefix + "0.92");
  // A parameter of another function's is not used.
  EXPECT_EQ(activate(3, "Relu", alpha(2) + beta(5)), prefix + "3");
}

/// Old exporters write small letters, and ONNX Runtime reads any.
TEST(ImporterRecurrent, ActivationsInAnyLetters) {
  EXPECT_EQ(activate(-100, "leakyrelu", floatsAttr("activation_alpha", 0.5)),
            "float<1x1x1x1>: -50");
  EXPECT_EQ(activate(1, "TANH"), "float<1x1x1x1>: 0.76");
  std::string operands = floats("i", {1, 1, 1}, {1}) +
                         floats("w", {1, 1, 1}, {1}) +
                         floats("r", {1, 1, 1}, {0});
  EXPECT_EQ(errorOf("RNN", {"i", "w", "r"}, stringsAttr("activations", {"tan"}),
                    7, operands),
            "activation 'tan' is not supported; accepted: Tanh, Sigmoid, Relu, "
            "Softsign, Softplus, HardSigmoid, LeakyRelu, Elu, ThresholdedRelu, "
            "Affine, ScaledTanh");
  // The default of RNN's schema is for two directions.
  EXPECT_EQ(stepRNN(1, stringsAttr("activations", {"Tanh", "Tanh"})),
            "float<1x1x1x1>: 0.76");
  EXPECT_EQ(errorOf("RNN", {"i", "w", "r"},
                    stringsAttr("activations", {"Tanh", "Relu"}), 7, operands),
            "attribute 'activations' has 2 functions; accepted: 1");
}
