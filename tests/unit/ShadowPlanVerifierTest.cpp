//===- ShadowPlanVerifierTest.cpp - Programs in their plans, byte by byte -===//

#include "IRHelpers.h"
#include "Messages.h"
#include "PlanChecks.h"
#include "PlanPrograms.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/IR/MemoryPlan.h"
#include "glowish/IRGen/IRGen.h"
#include "gmock/gmock.h"

using namespace glowish;
using namespace glowish::test;

namespace {

/// a and b are live at the same time: b is made while a still has a reader.
const char *twoReaders = R"(
ir "f" {
  mutable %x : float<7> input "x"
  mutable %y : float<7> output "y"
  activation %a : float<7>
  activation %b : float<7>
  code {
    Alloc(@out %a)
    "a" ElementWiseLoop(@out %a, @in %x) {program = {v1:float = Relu(v0)}}
    Alloc(@out %b)
    "b" ElementWiseLoop(@out %b, @in %x) {program = {v1:float = Neg(v0)}}
    "y" ElementWiseLoop(@out %y, @in %a, @in %b) {program = {v2:float = Add(v0, v1)}}
    Dealloc(@out %a)
    Dealloc(@out %b)
  }
}
)";

TEST(ShadowPlanVerifier, WhatIsOverwrittenIsFoundAtItsReader) {
  auto function = parse(twoReaders);
  ASSERT_TRUE(function);
  MemoryPlan plan = planMemory(*function);
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)), "");
  const Buffer *a = function->findBuffer("a"), *b = function->findBuffer("b");
  plan.offsets[b] = plan.offsets[a] + 24; // over the last element of a
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)),
            "ElementWiseLoop 'y': internal: 'a' is read with bytes that belong "
            "to 'b'");
  plan.offsets[b] = plan.offsets[a] + 28;
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)), "");
}

TEST(ShadowPlanVerifier, WhatIsOutsideOfItsRegionIsFound) {
  auto function = parse(twoReaders);
  ASSERT_TRUE(function);
  MemoryPlan plan = planMemory(*function);
  plan.offsets[function->findBuffer("b")] = plan.activationSize - 27;
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)),
            "ElementWiseLoop 'b': internal: 'b' is written outside of its "
            "region");
  plan = planMemory(*function);
  plan.offsets[function->findBuffer("y")] = plan.mutableSize - 27;
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)),
            "ElementWiseLoop 'y': internal: 'y' is written outside of its "
            "region");
}

TEST(ShadowPlanVerifier, WhatNothingHasWrittenIsFound) {
  auto function = parse(R"(
ir "f" {
  mutable %x : float<3x7> input "x"
  mutable %y : float<3x9> output "y"
  mutable %z : float<3x9> output "z"
  activation %a : float<3x9>
  view %left = %a offset 0 strides [9, 1] : float<3x7>
  view %part = %z offset 9 strides [9, 1] : float<2x9>
  view %rows = %a offset 0 strides [9, 1] : float<2x9>
  code {
    Alloc(@out %a)
    "left" Copy(@out %left, @in %x)
    "part" Copy(@out %part, @in %rows)
    "y" Copy(@out %y, @in %a)
    Dealloc(@out %a)
  }
}
)");
  ASSERT_TRUE(function);
  ASSERT_EQ(getMessage(verify(*function)), "");
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, planMemory(*function))),
            "Copy 'part': internal: 'rows' is read with bytes that nothing has "
            "written");
}

TEST(ShadowPlanVerifier, ViewsOfBillionsOfRunsAreNotFollowedOneByOne) {
  auto function = parse(R"(
ir "f" {
  mutable %x : float<2147483648x1> input "x"
  mutable %z : float<7> input "z"
  mutable %y : float<2147483648x2> output "y"
  activation %a : float<2147483648x2>
  activation %b : float<7>
  view %left = %a offset 0 strides [2, 1] : float<2147483648x1>
  view %right = %a offset 1 strides [2, 1] : float<2147483648x1>
  code {
    Alloc(@out %a)
    "left" Copy(@out %left, @in %x)
    Alloc(@out %b)
    "b" Copy(@out %b, @in %z)
    "right" Copy(@out %right, @in %left)
    Dealloc(@out %b)
    "y" Copy(@out %y, @in %a)
    Dealloc(@out %a)
  }
}
)");
  ASSERT_TRUE(function);
  ASSERT_EQ(getMessage(verify(*function)), "");
  MemoryPlan plan = planMemory(*function);
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)), "");
  const Buffer *a = function->findBuffer("a"), *b = function->findBuffer("b");
  plan.offsets[b] = plan.offsets[a];
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)),
            "Copy 'right': internal: 'left' is read with bytes that belong to "
            "'b'");
  plan.activationSize = 7 * 4;
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)),
            "Copy 'left': internal: 'left' is written outside of its region");
}

TEST(ShadowPlanVerifier, OutputsAreWrittenToTheLastByte) {
  auto function = parse(R"(
ir "f" {
  mutable %x : float<3x7> input "x"
  mutable %state : float<3x7> input output "s"
  mutable %y : float<3x9> output "y"
  view %left = %y offset 0 strides [9, 1] : float<3x7>
  code {
    "left" Copy(@out %left, @in %x)
  }
}
)");
  ASSERT_TRUE(function);
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, planMemory(*function))),
            "internal: 'y' is left with bytes that nothing has written");
}

TEST(ShadowPlanVerifier, OutputsAreWrittenAsFarAsARunLeavesThem) {
  auto verifyRows = [](llvm::StringRef rows, llvm::StringRef bound) {
    auto function = parse(llvm::formatv(R"(
ir "f" {{
  mutable %N : int64<> input "N" range "N" [1, 3]
  mutable %x : float<4x2> input "x"
  mutable %y : float<4x2> output "y" next ["N", ""]
  activation %a : float<4x2>
  view %from = %x offset 0 strides [2, 1] : float<{0}x2>
  view %to = %a offset 0 strides [2, 1] : float<{0}x2>
  code {{
    Alloc(@out %a)
    "part" Copy(@out %to, @in %from)
    "y" Copy(@out %y, @in %a){1}
    Dealloc(@out %a)
  }
}
)",
                                        rows, bound)
                              .str());
    EXPECT_TRUE(function);
    return getMessage(verifyPlanWithShadow(*function, planMemory(*function)));
  };
  std::string bound = " bounds {result[0] = \"N\"}";
  EXPECT_EQ(verifyRows("3", bound), "");
  EXPECT_EQ(verifyRows("2", bound),
            "Copy 'y': internal: 'a' is read with bytes that nothing has "
            "written");
  EXPECT_EQ(verifyRows("3", ""),
            "Copy 'y': internal: 'a' is read with bytes that nothing has "
            "written");
}

TEST(ShadowPlanVerifier, InputsInTheArenaAreReadBeforeTheyAreOverwritten) {
  auto function = parse(twoReaders);
  ASSERT_TRUE(function);
  MemoryPlan plan = planInArena(*function);
  EXPECT_EQ(plan.mutableSize, 0u);
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)), "");
  const Buffer *x = function->findBuffer("x"), *a = function->findBuffer("a"),
               *b = function->findBuffer("b"), *y = function->findBuffer("y");
  // y is written when x has no reader any more, and b while it has.
  plan.offsets = {{x, 0}, {a, 28}, {b, 56}, {y, 0}};
  plan.activationSize = 84;
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)), "");
  plan.offsets[b] = 24;
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)),
            "ElementWiseLoop 'b': internal: 'x' is used with bytes that belong "
            "to 'b'");
  plan.offsets[b] = 56;
  plan.offsets[y] = 60;
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)),
            "ElementWiseLoop 'y': internal: 'y' is written outside of its "
            "region");
}

TEST(ShadowPlanVerifier, TheApplicationWritesAllInputsAndReadsAllOutputs) {
  auto function = parse(R"(
ir "f" {
  mutable %x : float<7> input "x"
  mutable %unused : float<3> input "unused"
  mutable %y : float<7> output "y"
  mutable %z : float<3> output "z"
  code {
    "z" Fill(@out %z) {value = 1.0}
    "y" Copy(@out %y, @in %x)
  }
}
)");
  ASSERT_TRUE(function);
  MemoryPlan plan = planInArena(*function);
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)), "");
  MemoryPlan wrong = plan;
  wrong.offsets[function->findBuffer("unused")] =
      plan.getOffset(function->findBuffer("x")) + 24;
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, wrong)),
            "internal: 'x' is given with bytes that belong to 'unused'");
  wrong = plan;
  wrong.offsets[function->findBuffer("z")] =
      plan.getOffset(function->findBuffer("y")) + 24;
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, wrong)),
            "internal: 'z' is left with bytes that belong to 'y'");
}

std::unique_ptr<IRFunction> generate(llvm::StringRef text) {
  auto module = llvm::cantFail(parseModule(text, "test.graph", nullptr));
  Function &function = *module->getFunctions().front();
  std::vector<Node *> order;
  for (Node &node : function.getNodes())
    order.push_back(&node);
  auto ir = llvm::cantFail(generateIR(function, order));
  for (llvm::StringRef pass : {"copy-elimination", "insert-lifetimes"})
    for (IRFunction *each : {getNested(*ir).front(), ir.get()})
      runPass(*each, pass);
  return ir;
}

/// The activation that the instruction \p name of \p function writes.
const Buffer *getResult(const IRFunction &function, llvm::StringRef name) {
  for (const Instruction &instr : function.getInstrs())
    if (instr.getName() == name)
      return instr.getOperand(0)->getRoot();
  ADD_FAILURE() << "no instruction '" << name.str() << "'";
  return nullptr;
}

TEST(ShadowPlanVerifier, ABranchMayNotWriteOverWhatIsReadAfterIt) {
  auto ir = generate(R"(
module "m"
placeholder %flag : bool<> input "flag"
placeholder %x : float<7> input "x"
placeholder %y : float<7> output "y"
function "main" {
  %kept = Relu(%x) : float<7>
  %if = If(%flag, %x) {thenBody = body "then" (%tx : float<7>) -> (%ty : float<7>) {
    %inner = Neg(%tx) : float<7>
    %twice = Softmax(%inner) {axis = 0} : float<7>
    Save(%twice, %ty)
  }, elseBody = body "else" (%ex : float<7>) -> (%ey : float<7>) {
    Save(%ex, %ey)
  }} : float<7>
  %sum = Add(%kept, %if) : float<7>
  Save(%sum, %y)
}
)");
  MemoryPlan plan = planMemory(*ir);
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*ir, plan)), "");
  const Buffer *inner = getResult(*getNested(*ir).front(), "inner");
  plan.offsets[inner] = plan.getOffset(getResult(*ir, "kept"));
  EXPECT_THAT(getMessage(verifyPlanWithShadow(*ir, plan)),
              testing::HasSubstr("'kept' is read with bytes that"));
}

TEST(ShadowPlanVerifier, ALoopMayNotWriteOverWhatItsNextIterationReads) {
  auto ir = generate(R"(
module "m"
placeholder %x : float<7> input "x"
placeholder %y : float<7> output "y"
function "main" {
  %kept = Relu(%x) : float<7>
  %loop:2 = Loop(none, none, %x, %kept) {body = body "body" (%i : int64<>, %c : bool<>, %s : float<7>, %k : float<7>) -> (%nc : bool<>, %ns : float<7>) {
    %sum = Add(%s, %k) : float<7>
    %soft = Softmax(%sum) {axis = 0} : float<7>
    Save(%soft, %ns)
    Save(%c, %nc)
  }, numStates = 1, maxTripCount = 3} : float<7>, int64<>
  Save(%loop:0, %y)
}
)");
  MemoryPlan plan = planMemory(*ir);
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*ir, plan)), "");
  const Buffer *sum = getResult(*getNested(*ir).front(), "sum");
  plan.offsets[sum] = plan.getOffset(getResult(*ir, "kept"));
  EXPECT_THAT(getMessage(verifyPlanWithShadow(*ir, plan)),
              testing::AllOf(testing::HasSubstr("Loop 'loop': "),
                             testing::HasSubstr("with bytes that belong to")));
}

TEST(ShadowPlanVerifier, ALoopWritesItsStatesAnewAfterEachIteration) {
  auto ir = parseProgram(control);
  ASSERT_TRUE(ir);
  const IRFunction &body = *getNested(*ir).front();
  MemoryPlan plan = planMemory(*ir);
  ASSERT_EQ(getMessage(verifyPlanWithShadow(*ir, plan)), "");
  // In the place of the state, which "sum" has read.
  plan.offsets[getResult(body, "soft")] =
      plan.getOffset(getResult(*ir, "loop"));
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*ir, plan)), "");
  plan = planMemory(*ir);
  plan.offsets[body.findBuffer("c")] = plan.activationSize;
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*ir, plan)),
            "Loop 'loop': internal: 'c' is written outside of its region");
}

TEST(ShadowPlanVerifier, AnInputLivesThroughTheLoopThatReadsIt) {
  auto ir = generate(R"(
module "m"
placeholder %x : float<7> input "x"
placeholder %k : float<7> input "k"
placeholder %y : float<7> output "y"
function "main" {
  %loop:2 = Loop(none, none, %x, %k) {body = body "body" (%i : int64<>, %c : bool<>, %s : float<7>, %kk : float<7>) -> (%nc : bool<>, %ns : float<7>) {
    %sum = Add(%s, %kk) : float<7>
    %soft = Softmax(%sum) {axis = 0} : float<7>
    Save(%soft, %ns)
    Save(%c, %nc)
  }, numStates = 1, maxTripCount = 3} : float<7>, int64<>
  Save(%loop:0, %y)
}
)");
  MemoryPlan plan = planInArena(*ir);
  EXPECT_EQ(getMessage(verifyPlan(*ir, plan)), "");
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*ir, plan)), "");
  const Buffer *sum = getResult(*getNested(*ir).front(), "sum");
  plan.offsets[sum] = plan.getOffset(ir->findBuffer("k"));
  EXPECT_THAT(getMessage(verifyPlanWithShadow(*ir, plan)),
              testing::AllOf(testing::HasSubstr("Loop 'loop': "),
                             testing::HasSubstr("with bytes that belong to")));
}

} // namespace
