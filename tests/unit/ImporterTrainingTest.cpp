//===- ImporterTrainingTest.cpp - Steps of optimizers ---------------------===//
//
// Against the formulas of ai.onnx.preview.training, computed in double.
//
//===----------------------------------------------------------------------===//

#include "RunText.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

/// A node with R = 0.5 and T, and what \p tensors says; y is output \p index of
/// \p numOutputs.
TextModel step(llvm::StringRef type, int64_t iteration,
               std::vector<std::pair<std::string, std::vector<float>>> tensors,
               std::string attributes, unsigned index, unsigned numOutputs) {
  TextModel model;
  model.inputs = {{"unused", {1}}};
  model.header = "opset_import { domain: \"ai.onnx.preview.training\" "
                 "version: 1 } ";
  model.body = "node { op_type: \"" + type.str() +
               "\" domain: \"ai.onnx.preview.training\" input: \"R\" input: "
               "\"T\" ";
  std::string values = floats("R", {}, {0.5f}) +
                       "initializer { name: \"T\" data_type: 7 int64_data: " +
                       std::to_string(iteration) + " } ";
  for (const auto &[name, elements] : tensors) {
    model.body += "input: \"" + name + "\" ";
    values += floats(name, {int64_t(elements.size())}, elements);
  }
  for (unsigned i = 0; i < numOutputs; ++i)
    model.body += "output: \"" +
                  (i == index ? std::string("y") : "o" + std::to_string(i)) +
                  "\" ";
  model.body += attributes + "} " + values;
  return model;
}

/// The one element of \p text, "float<1>: 2.50".
double number(const std::string &text) {
  double value = NAN;
  if (!llvm::StringRef(text).starts_with("float<1>: ") ||
      llvm::StringRef(text).drop_front(10).getAsDouble(value))
    ADD_FAILURE() << text;
  return value;
}

} // namespace

TEST(ImporterTraining, Adagrad) {
  std::string attributes = floatAttr("decay_factor", 0.5) +
                           floatAttr("epsilon", 1) +
                           floatAttr("norm_coefficient", 0.25);
  auto run = [&](unsigned output) {
    return number(
        runText(step("Adagrad", 2, {{"x", {4}}, {"g", {2}}, {"h", {7}}},
                     attributes, output, 2)));
  };
  // The gradient with norm is 3, squares 16, the rate 0.25.
  EXPECT_EQ(run(0), 3.85); // 4 - 0.25 * 3 / (4 + 1)
  EXPECT_EQ(run(1), 16);
}

TEST(ImporterTraining, AdamOfTwoTensors) {
  std::string attributes = floatAttr("alpha", 0.5) + floatAttr("beta", 0.75) +
                           floatAttr("epsilon", 1) +
                           floatAttr("norm_coefficient_post", 0.5);
  for (int64_t iteration : {0, 2}) {
    auto run = [&](unsigned output) {
      return number(runText(step("Adam", iteration,
                                 {{"x1", {8}},
                                  {"x2", {6}},
                                  {"g1", {4}},
                                  {"g2", {-8}},
                                  {"v1", {2}},
                                  {"v2", {0}},
                                  {"h1", {16}},
                                  {"h2", {0}}},
                                 attributes, output, 6)));
    };
    double v[] = {2 * 0.5 + 4 * 0.5, -8 * 0.5};
    double h[] = {16 * 0.75 + 16 * 0.25, 64 * 0.25};
    double rate = 0.5;
    if (iteration)
      rate *= std::sqrt(1 - 0.75 * 0.75) / (1 - 0.5 * 0.5);
    double x[] = {8, 6};
    for (unsigned i = 0; i < 2; ++i) {
      // toText writes two decimals.
      EXPECT_NEAR(run(i), (x[i] - rate * v[i] / (std::sqrt(h[i]) + 1)) / 2,
                  0.006);
      EXPECT_EQ(run(2 + i), v[i]);
      EXPECT_EQ(run(4 + i), h[i]);
    }
  }
}

TEST(ImporterTraining, Momentum) {
  auto run = [&](llvm::StringRef mode, int64_t iteration, unsigned output) {
    std::string attributes = floatAttr("alpha", 0.5) + floatAttr("beta", 0.25) +
                             floatAttr("norm_coefficient", 0) +
                             stringAttr("mode", mode);
    return number(runText(step("Momentum", iteration,
                               {{"x", {10}}, {"g", {4}}, {"v", {6}}},
                               attributes, output, 2)));
  };
  EXPECT_EQ(run("standard", 0, 1), 7); // 0.5 * 6 + 4
  EXPECT_EQ(run("standard", 0, 0), 6.5);
  EXPECT_EQ(run("standard", 3, 1), 4); // 0.5 * 6 + 0.25 * 4
  EXPECT_EQ(run("standard", 3, 0), 8);
  EXPECT_EQ(run("nesterov", 3, 0), 7); // 10 - 0.5 * (4 + 0.5 * 4)
}

TEST(ImporterTraining, Errors) {
  EXPECT_THAT(step("Adam", 0, {{"x", {1}}, {"g", {1}}, {"v", {1}}}, "", 0, 3)
                  .importError(),
              HasSubstr("there are 5 inputs; accepted: 2, followed by 4 for "
                        "each optimized tensor"));
  EXPECT_THAT(
      step("Adagrad", 0, {{"x", {1}}, {"g", {1, 2}}, {"h", {1}}}, "", 0, 2)
          .importError(),
      HasSubstr("inputs 2 and 3 are float<1> and float<2>; accepted: "
                "the same type"));
  EXPECT_THAT(step("Momentum", 0, {{"x", {1}}, {"g", {1}}, {"v", {1}}},
                   floatAttr("alpha", 1) + floatAttr("beta", 1) +
                       floatAttr("norm_coefficient", 0) +
                       stringAttr("mode", "fast"),
                   0, 2)
                  .importError(),
              HasSubstr("attribute 'mode' is 'fast'; accepted: standard, "
                        "nesterov"));
  EXPECT_THAT(step("Gradient", 0, {{"x", {1}}}, "", 0, 1).importError(),
              HasSubstr("Gradient"));
}
