//===- GradientsTest.cpp - Gradients on the interpreter -------------------===//

#include "GradientCases.h"
#include "glowish/Graph/Module.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Error.h"
#include "gmock/gmock.h"
#include <cmath>
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

TEST(GradientKinks, OfMoreActivations) {
  expectAt("PRelu(double<3>, double<3>)", {{0, -1, 2}, {0.25, 0.25, 0.25}},
           {{0.25, 0.25, 1}, {0, -1, 0}});
  expectAt("Elu(double<3>) {alpha = 0.5}", {{0, 2, -1e300}}, {{0.5, 1, 0}});
  expectAt("Selu(double<2>) {alpha = 0.5, gamma = 2.0}", {{0, 2}}, {{1, 2}});
  expectAt("HardSigmoid(double<4>) {alpha = 0.25, beta = 0.5}", {{-2, 2, 0, 3}},
           {{0, 0, 0.25, 0}});
  expectAt("HardSwish(double<3>)", {{-3, 3, -4}}, {{-0.5, 1.5, 0}});
  expectAt("Mish(double<3>)", {{0, 800, -800}}, {{0.6, 1, 0}});
  expectAt("Softplus(double<3>)", {{0, 800, -800}}, {{0.5, 1, 0}});
  expectAt("Sqrt(double<2>)", {{0, 4}}, {{INFINITY, 0.25}});
  expectAt("Log(double<2>)", {{0, 4}}, {{INFINITY, 0.25}});
}

/// A module of the root of \p x's powers, added up along rows of three.
static std::string makeNorm(const std::string &power, const std::string &sum,
                            const std::string &root) {
  return R"(
module "m"
placeholder %x : double<2x3> input "x0"
placeholder %y : double<2> output "y0"
function "main" {
  %three = Splat() {elemKind = double, shape = [], value = 3.0} : double<>
  %third = Splat() {elemKind = double, shape = [], value = 0.333} : double<>
  %half = Splat() {elemKind = double, shape = [], value = 0.5} : double<>
  %magnitude = Abs(%x) : double<2x3>
  %power = )" +
         power + " : double<2x3>\n  %sum = Reduce(%power) {mode = \"" + sum +
         "\", axes = [1], keepDims = false} : double<2>\n  %scaled = Mul(%sum, "
         "%half) : double<2>\n  %root = " +
         root + " : double<2>\n  Save(%root, %y)\n}\n";
}

/// At 0 the root of a sum of powers has the subgradient 0, not infinity times
/// the 0 of the powers, in higher derivatives either.
TEST(GradientKinks, OfNormsAtZero) {
  const std::vector<std::vector<double>> zeros = {{0, 0, 0, 0, 0, 0}};
  for (const char *sum : {"sum", "mean"}) {
    expectAt(makeNorm("Mul(%x, %x)", sum, "Sqrt(%sum)"), zeros, zeros);
    expectAt(makeNorm("Pow(%magnitude, %three)", sum, "Pow(%sum, %third)"),
             zeros, zeros);
    expectAt(makeNorm("Pow(%magnitude, %half)", sum, "Pow(%sum, %three)"),
             zeros, zeros);
    // A standard deviation is the root of such a sum times a constant.
    expectAt(makeNorm("Mul(%x, %x)", sum, "Sqrt(%scaled)"), zeros, zeros);
  }
  // One row is not 0.
  expectAt(makeNorm("Mul(%x, %x)", "sum", "Sqrt(%sum)"), {{0, 0, 0, 0, -4, 0}},
           {{0, 0, 0, 0, -1, 0}});
}

/// A query that is left no key has no part in any gradient.
TEST(GradientKinks, OfMaskedQueries) {
  const double none = -INFINITY;
  GradientCase tested(
      "Attention(double<2x2>, double<2x2>, double<2x1>, double<2x2>) {scale = "
      "1.0, causal = false}");
  tested.values = {at({1, 2, 3, 4}), at({1, 0, 0, 1}), at({5, 7}),
                   held({none, none, 0, 0}), at({1})};
  for (unsigned order : {1, 2})
    for (auto &[name, tensor] : runGradients(tested, order))
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        EXPECT_TRUE(std::isfinite(tensor.getAsDouble(i))) << name;
  NamedTensors outputs = runGradients(tested, 1);
  EXPECT_EQ(outputs.at("y0").getAsDouble(0), 0);
  EXPECT_EQ(outputs.at("gradient1.x0").getAsDouble(0), 0);
  EXPECT_EQ(outputs.at("gradient1.x0").getAsDouble(1), 0);
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
