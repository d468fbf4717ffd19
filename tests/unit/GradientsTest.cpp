//===- GradientsTest.cpp - Gradients on the interpreter -------------------===//

#include "GradientCases.h"
#include "glowish/Graph/Module.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Error.h"
#include "gmock/gmock.h"
#include <set>

using namespace glowish;

namespace {
class Gradients : public testing::TestWithParam<GradientCase> {};
} // namespace

TEST_P(Gradients, AreDifferences) { checkAgainstDifferences(GetParam()); }

#define GRADIENTS_OF(FAMILY)                                                   \
  INSTANTIATE_TEST_SUITE_P(FAMILY, Gradients,                                  \
                           testing::ValuesIn(get##FAMILY##Cases()));
FOR_EACH_GRADIENT_FAMILY(GRADIENTS_OF)
#undef GRADIENTS_OF

/// A kind of node has a case here, or a reason for having no gradient.
TEST(GradientCases, AreComplete) {
  std::set<NodeKind> covered;
  for (const GradientCase &tested : getAllGradientCases())
    for (NodeKind kind : getKinds(tested))
      covered.insert(kind);
  for (const OpInfo &info : getNodeTable()) {
    std::optional<NodeKind> kind = findNodeKind(info.name);
    if (!kind) // storage
      continue;
    DifferentiabilityInfo gradient = getDifferentiability(*kind);
    if (gradient.kind == Differentiability::Differentiable)
      EXPECT_TRUE(covered.count(*kind)) << info.name.str();
    else
      EXPECT_NE(gradient.reason, "") << info.name.str();
  }
}

//===- Second order -------------------------------------------------------===//

namespace {
class SecondGradients : public testing::TestWithParam<GradientCase> {};
} // namespace

TEST_P(SecondGradients, AreDifferences) {
  checkAgainstDifferences(GetParam(), 2);
}

/// All cases whose gradients have gradients. Those of Reduce and Scatter prod
/// are right for any number of zeros, but not in the neighbourhood of two.
static std::vector<GradientCase> getSecondCases() {
  std::vector<GradientCase> cases = getAllGradientCases();
  llvm::erase_if(cases, [](const GradientCase &tested) {
    return llvm::StringRef(tested.text).starts_with("MaxPool(") ||
           llvm::any_of(tested.values, [](const InputValues &values) {
             return values.isVariable && llvm::is_contained(values.given, 0);
           });
  });
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, SecondGradients,
                         testing::ValuesIn(getSecondCases()));

//===- Kinks --------------------------------------------------------------===//

/// Expects \p gradients, empty where there is none, of the inputs of \p text at
/// \p values, all seeds being 1.
static void expectAt(const std::string &text,
                     const std::vector<std::vector<double>> &values,
                     const std::vector<std::vector<double>> &gradients) {
  GradientCase tested(text);
  for (const std::vector<double> &given : values)
    tested.values.push_back(at(given));
  tested.values.push_back(at({1}));
  NamedTensors outputs = runGradients(tested, 1);
  for (auto [i, expected] : llvm::enumerate(gradients)) {
    if (expected.empty())
      continue;
    auto gradient = outputs.find("gradient1.x" + std::to_string(i));
    ASSERT_NE(gradient, outputs.end()) << text;
    std::vector<double> actual;
    for (int64_t k = 0; k < gradient->second.getNumElements(); ++k)
      actual.push_back(gradient->second.getAsDouble(k));
    EXPECT_EQ(actual, expected) << text << ", x" << i;
  }
}

TEST(GradientKinks, OfActivations) {
  expectAt("Relu(double<3>)", {{0, -1, 2}}, {{0, 0, 1}});
  expectAt("Abs(double<3>)", {{0, -1, 2}}, {{0, -1, 1}});
  expectAt("LeakyRelu(double<3>) {alpha = 0.25}", {{0, -1, 2}},
           {{0.25, 0.25, 1}});
  expectAt("Clip(double<4>) {low = -1.0, high = 2.0}", {{-1, 2, 0, 3}},
           {{0, 0, 1, 0}});
  expectAt("Pow(double<3>, double<3>)", {{0, 0, 0}, {0, 1, 2}},
           {{0, 1, 0}, {0, 0, 0}});
}

TEST(GradientKinks, EqualOperandsShare) {
  for (const char *op : {"Max", "Min"})
    expectAt(op + std::string("(double<2>, double<2>)"), {{3, -1}, {3, -1}},
             {{0.5, 0.5}, {0.5, 0.5}});
}

TEST(GradientKinks, EqualElementsShare) {
  for (const char *mode : {"max", "min"})
    expectAt(std::string("Reduce(double<2x4>) {axes = [1], keepDims = false, "
                         "mode = \"") +
                 mode + "\"}",
             {{3, 3, 3, 3, -1, -1, -1, -1}},
             {{0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25}});
  expectAt("GlobalMaxPool(double<1x2x2x1>)", {{1, 5, 5, 0}},
           {{0, 0.5, 0.5, 0}});
  // The input, two rows of updates; one that is less.
  std::string scatter = "Scatter(double<2x1>, int64<3>, double<3x1>) {mode = ";
  expectAt(scatter + "\"max\"}", {{4, 1}, {0, 0, 1}, {4, 4, 0}},
           {{1.0 / 3, 1}, {}, {1.0 / 3, 1.0 / 3, 0}});
}

TEST(GradientKinks, FirstOfWindowsWins) {
  expectAt("MaxPool(double<1x2x3x1>) {kernels = [2, 2], strides = [1, 1], pads "
           "= [0, 0, 0, 0], dilations = [1, 1]}",
           {{7, 7, 0, 7, 7, 7}}, {{1, 1, 0, 0, 0, 0}});
}

//===- What is asked for --------------------------------------------------===//

namespace {
/// A function with two inputs of three elements.
class AddGradients : public testing::Test {
protected:
  NodeValue input(const char *name, ElemKind kind = ElemKind::Float) {
    return NodeValue(
        module.createPlaceholder(name, Type(kind, {3}), true, false));
  }
  std::string fail(NodeValue value, NodeValue variable) {
    auto gradients =
        addGradients(*function, {{value, NodeValue(value)}}, {variable});
    return gradients ? "no error" : llvm::toString(gradients.takeError());
  }
  Module module{"m"};
  Function *function = module.createFunction("main");
  NodeValue x = input("x"), y = input("y");
};
} // namespace

TEST_F(AddGradients, OfWhatNothingDependsOnAreZeros) {
  NodeValue square = function->create<MulNode>("square", x, x)->getResult();
  auto gradients = addGradients(*function, {{square, x}}, {y});
  ASSERT_TRUE(bool(gradients)) << llvm::toString(gradients.takeError());
  auto *zeros = (*gradients)[0].getNodeAs<SplatNode>();
  ASSERT_TRUE(zeros);
  EXPECT_EQ(zeros->getValue(), 0);
  EXPECT_EQ(zeros->getType().str(), "float<3>");
}

TEST_F(AddGradients, StopAtNodesWithoutThem) {
  NodeValue bits =
      function->create<BitCastNode>("bits", x, ElemKind::Float)->getResult();
  EXPECT_EQ(fail(bits, x), "BitCast 'bits': it has no gradient: "
                           "reinterpreting bits is not differentiable");
  // It is not on the way to y.
  NodeValue sum = function->create<AddNode>("sum", bits, y)->getResult();
  EXPECT_EQ(fail(sum, y), "no error");
}

TEST_F(AddGradients, AreOfFloats) {
  NodeValue number = input("number", ElemKind::Int64);
  EXPECT_EQ(fail(x, number),
            "Placeholder 'number': the variable of differentiation is "
            "int64<3>; accepted: a float kind");
  EXPECT_EQ(fail(number, x),
            "Placeholder 'number': the differentiated value is "
            "int64<3>; accepted: a float kind");
}
