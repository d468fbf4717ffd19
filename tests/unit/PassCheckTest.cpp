//===- PassCheckTest.cpp - Finds passes that change results ---------------===//

#include "glowish/Driver/PassCheck.h"
#include "GraphTexts.h"
#include "Messages.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/IRGen/IRGen.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

std::unique_ptr<Module> makeModule() {
  return llvm::cantFail(parseModule(R"(
module "m"
placeholder %x : float<3x7> input "x"
placeholder %y : float<3x7> output "y"
constant %w : float<7> = [1, 2, 3, 4, 5, 6, 7]
function "main" {
  %sum = Add(%x, %w) : float<3x7>
  %mul = Mul(%sum, %sum) : float<3x7>
  Save(%mul, %y)
}
)",
                                    "test.graph", nullptr));
}

llvm::Error fill(Session &session) {
  const Buffer *x = llvm::cantFail(session.findPlaceholder("x"));
  Tensor tensor(x->getType());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, 0.25 * double(i));
  return session.setInput(x, tensor);
}

Node &findNode(Module &module, llvm::StringRef name) {
  for (Node &node : module.getFunctions().front()->getNodes())
    if (node.getName() == name)
      return node;
  llvm_unreachable("the test names a node of its module");
}

/// What a wrong pass does: the second operand of the Mul becomes x.
void spoil(Module &module) {
  findNode(module, "mul").setOperand(1, NodeValue(module.findPlaceholder("x")));
}

TEST(PassCheck, NamesThePassAfterWhichAnOutputDiffers) {
  auto module = makeModule();
  PassCheck check(fill);
  ASSERT_EQ(getMessage(check.start(*module)), "");
  EXPECT_EQ(getMessage(check.check("pass one", Exactness::Exact, *module)), "");
  EXPECT_EQ(check.getNumChecks(), 1u);
  spoil(*module);
  std::string message =
      getMessage(check.check("pass two", Exactness::Rounding, *module));
  EXPECT_THAT(message,
              HasSubstr("after pass two: output 'y' changed: element "));
  EXPECT_THAT(message, HasSubstr("accepted: 1.0E-05"));
}

TEST(PassCheck, LeavesTheModuleAsItIs) {
  auto module = makeModule();
  std::string before = print(*module);
  PassCheck check(fill);
  ASSERT_EQ(getMessage(check.start(*module)), "");
  EXPECT_EQ(print(*module), before);
}

TEST(PassCheck, GoesOnFromTheGraphToItsIR) {
  auto module = makeModule();
  PassCheck check(fill);
  ASSERT_EQ(getMessage(check.start(*module)), "");
  spoil(*module);
  Function &function = *module->getFunctions().front();
  auto ir = llvm::cantFail(generateIR(function, scheduleNodes(function)));
  EXPECT_THAT(getMessage(check.check("IRGen", Exactness::Exact, *ir)),
              HasSubstr("after IRGen: output 'y' changed: "));
}

Tensor makeTensor(ElemKind kind, std::initializer_list<double> values) {
  Tensor tensor(Type(kind, {int64_t(values.size())}));
  int64_t i = 0;
  for (double value : values)
    tensor.setFromDouble(i++, value);
  return tensor;
}

/// What describeChange says of one output.
std::string describe(Tensor before, Tensor after, double tolerance) {
  PassCheck::Outputs first, second;
  first["y"] = std::move(before);
  second["y"] = std::move(after);
  return PassCheck::describeChange(first, second, tolerance);
}

TEST(PassCheck, ExactMeansTheSameValues) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  auto one = [](double value) {
    return makeTensor(ElemKind::Float, {value, 100});
  };
  EXPECT_EQ(describe(one(1), one(1), 0), "");
  EXPECT_EQ(describe(one(0.0), one(-0.0), 0), "");
  EXPECT_EQ(describe(one(nan), one(-nan), 0), "");
  EXPECT_EQ(
      describe(one(1), one(1.0000001), 0),
      "output 'y' changed: element 0 by 1.19E-07 (1.19E-09 of the largest "
      "magnitude), 1 of 2 elements; accepted: no change");
  EXPECT_NE(describe(one(1), one(nan), 0), "");
}

TEST(PassCheck, RoundingIsAShareOfTheLargestMagnitude) {
  auto one = [](double value) {
    return makeTensor(ElemKind::Float, {value, 100});
  };
  EXPECT_EQ(describe(one(1), one(1.0009), 1e-5), "");
  EXPECT_NE(describe(one(1), one(1.0011), 1e-5), "");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_NE(describe(one(1), one(infinity), 1e-5), "");
  EXPECT_NE(describe(one(infinity), one(1), 1e-5), "");
  EXPECT_EQ(describe(one(infinity), one(infinity), 1e-5), "");
}

TEST(PassCheck, IntegersDontRound) {
  // 2^60 + 1 and 2^60 are one double.
  Tensor before(Type(ElemKind::Int64, {1})), after(Type(ElemKind::Int64, {1}));
  before.data<int64_t>()[0] = (int64_t(1) << 60) + 1;
  after.data<int64_t>()[0] = int64_t(1) << 60;
  EXPECT_NE(describe(std::move(before), std::move(after), 1e-5), "");
}

TEST(PassCheck, OutputsMayNotVanishOrChangeTheirTypes) {
  PassCheck::Outputs outputs;
  outputs["y"] = makeTensor(ElemKind::Float, {1});
  EXPECT_EQ(PassCheck::describeChange(outputs, {}, 1), "output 'y' is gone");
  EXPECT_EQ(describe(makeTensor(ElemKind::Float, {1}),
                     makeTensor(ElemKind::Double, {1}), 1),
            "output 'y' is double<1> and was float<1>");
}

} // namespace
