//===- InitializersTest.cpp - Weights to begin training with --------------===//

#include "glowish/Autodiff/Initializers.h"
#include "Messages.h"
#include "OnnxText.h"
#include <cmath>

using namespace glowish;

namespace {

/// A convolution of two groups, a matmul with factors and a scaled sum.
struct Example {
  std::unique_ptr<Module> module;
  VariableValues values;

  Example() {
    TextModel model;
    model.inputs = {{"x", {2, 16, 9, 9}}};
    model.body =
        "node { op_type: \"Conv\" input: \"x\" input: \"filter\" input: "
        "\"bias\" output: \"c\" attribute { name: \"group\" type: INT i: 2 } } "
        "node { op_type: \"GlobalAveragePool\" input: \"c\" output: \"p\" } "
        "node { op_type: \"Flatten\" input: \"p\" output: \"f\" } "
        "node { op_type: \"Gemm\" input: \"f\" input: \"matrix\" input: "
        "\"scaled\" output: \"g\" attribute { name: \"transB\" type: INT i: 1 "
        "} "
        "attribute { name: \"alpha\" type: FLOAT f: 0.5 } "
        "attribute { name: \"beta\" type: FLOAT f: 2 } } "
        "node { op_type: \"Add\" input: \"g\" input: \"added\" output: \"a\" } "
        "node { op_type: \"Mul\" input: \"a\" input: \"scale\" output: \"y\" "
        "} ";
    model.body += initializer("filter", {64, 8, 3, 3}) +
                  initializer("bias", {64}) + initializer("matrix", {50, 64}) +
                  initializer("scaled", {50}) + initializer("added", {50}) +
                  initializer("scale", {50});
    ImportOptions options;
    options.variables = &values;
    auto imported = model.import(options);
    if (!imported) {
      ADD_FAILURE() << getMessage(imported.takeError());
      return;
    }
    module = std::move(*imported);
  }

  /// All elements are 3.
  static std::string initializer(llvm::StringRef name,
                                 std::vector<int64_t> dims) {
    std::string text =
        "initializer { name: \"" + name.str() + "\" data_type: 1 ";
    for (int64_t dim : dims)
      text += "dims: " + std::to_string(dim) + " ";
    for (int64_t i = countElements(dims); i > 0; --i)
      text += "float_data: 3 ";
    return text + "} ";
  }

  void initialize(InitializerKind kind, TrainingConfig config = {}) {
    initializeVariables(*module, kind, config, values);
  }
  /// Mean, variance and largest magnitude.
  std::array<double, 3> measure(const std::string &name) {
    const Tensor &tensor = *values.at(name);
    double sum = 0, squares = 0, largest = 0;
    for (float x : tensor.data<float>()) {
      sum += x;
      squares += double(x) * x;
      largest = std::max(largest, std::abs(double(x)));
    }
    double n = double(tensor.getNumElements());
    return {sum / n, squares / n - sum / n * (sum / n), largest};
  }
};

} // namespace

TEST(Initializers, Kaiming) {
  Example example;
  example.initialize(InitializerKind::Kaiming);
  // 8 channels and 9 taps for each output; 64 features.
  auto [mean, variance, largest] = example.measure("filter");
  EXPECT_NEAR(mean, 0, 0.01);
  EXPECT_NEAR(variance, 2.0 / 72, 0.0015);
  auto [mean2, variance2, largest2] = example.measure("matrix");
  EXPECT_NEAR(mean2, 0, 0.012);
  EXPECT_NEAR(variance2, 2.0 / 64, 0.0025);
  EXPECT_EQ(example.measure("bias")[2], 0);
  EXPECT_EQ(example.measure("scaled")[2], 0);
  EXPECT_EQ(example.measure("added")[2], 0);
  EXPECT_EQ(example.measure("scale")[0], 3);
}

TEST(Initializers, Xavier) {
  Example example;
  example.initialize(InitializerKind::Xavier);
  // Each input goes to the 32 outputs of its group, by 9 taps.
  double limit = std::sqrt(6.0 / (72 + 288)), limit2 = std::sqrt(6.0 / 114);
  auto [mean, variance, largest] = example.measure("filter");
  EXPECT_NEAR(mean, 0, 0.005);
  EXPECT_NEAR(variance, limit * limit / 3, 0.0003);
  EXPECT_LE(largest, limit);
  EXPECT_GT(largest, 0.99 * limit);
  auto [mean2, variance2, largest2] = example.measure("matrix");
  EXPECT_NEAR(mean2, 0, 0.01);
  EXPECT_NEAR(variance2, limit2 * limit2 / 3, 0.001);
  EXPECT_LE(largest2, limit2);
}

TEST(Initializers, DependOnSeedAndName) {
  Example a, b, c, d;
  TrainingConfig config;
  a.initialize(InitializerKind::Xavier, config);
  b.initialize(InitializerKind::Xavier, config);
  config.seed = 1;
  c.initialize(InitializerKind::Xavier, config);
  EXPECT_TRUE(a.values["filter"]->isBitwiseEqual(*b.values["filter"]));
  EXPECT_FALSE(a.values["filter"]->isBitwiseEqual(*c.values["filter"]));
  config.isTrained = [](llvm::StringRef name) { return name != "filter"; };
  d.initialize(InitializerKind::Xavier, config);
  EXPECT_EQ(d.measure("filter")[0], 3);
  EXPECT_TRUE(c.values["matrix"]->isBitwiseEqual(*d.values["matrix"]));
  d.initialize(InitializerKind::Keep);
  EXPECT_TRUE(c.values["matrix"]->isBitwiseEqual(*d.values["matrix"]));
}
