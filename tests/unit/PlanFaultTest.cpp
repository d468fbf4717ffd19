//===- PlanFaultTest.cpp - A wrong memory plan is found -------------------===//
//
// This program has a planner of its own, with a planted fault (CMakeLists.txt):
// a buffer's lifetime is over before its last reader has run.
//
//===----------------------------------------------------------------------===//

#include "IRHelpers.h"
#include "Messages.h"
#include "PlanChecks.h"
#include "glowish/IR/MemoryPlan.h"

using namespace glowish;
using namespace glowish::test;

namespace {

/// x -> a -> b -> y: b is written while a is read.
const char *chain = R"(
ir "f" {
  mutable %x : float<33> input "x"
  mutable %y : float<33> output "y"
  activation %a : float<33>
  activation %b : float<33>
  code {
    Alloc(@out %a)
    "a" ElementWiseLoop(@out %a, @in %x) {program = {v1:float = Relu(v0)}}
    Alloc(@out %b)
    "b" Softmax(@out %b, @in %a) {axis = 0}
    Dealloc(@out %a)
    "y" ElementWiseLoop(@out %y, @in %b) {program = {v1:float = Relu(v0)}}
    Dealloc(@out %b)
  }
}
)";

TEST(PlanFault, AllChecksFindIt) {
  auto function = parse(chain);
  ASSERT_TRUE(function);
  MemoryPlan plan = planMemory(*function);
  EXPECT_EQ(plan.getOffset(function->findBuffer("a")),
            plan.getOffset(function->findBuffer("b")))
      << "the planner of this test has its fault";
  EXPECT_EQ(getMessage(provePlan(*function, plan)),
            "internal: 384 bytes of the memory plan are live in an arena of "
            "192");
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)),
            "Softmax 'b': internal: 'a' is used with bytes that belong to 'b'");
  EXPECT_EQ(getMessage(verifyPlan(*function, plan)),
            "internal: activation 'b' overlaps another in the memory plan");
}

/// x and y of the same size, and y is written while x is read.
TEST(PlanFault, AllChecksFindItOfInputsAndOutputs) {
  auto function = parse(R"(
ir "f" {
  mutable %x : float<33> input "x"
  mutable %y : float<33> output "y"
  code {
    "y" Softmax(@out %y, @in %x) {axis = 0}
  }
}
)");
  ASSERT_TRUE(function);
  MemoryPlan plan = planInArena(*function);
  EXPECT_EQ(plan.getOffset(function->findBuffer("x")),
            plan.getOffset(function->findBuffer("y")))
      << "the planner of this test has its fault";
  EXPECT_EQ(getMessage(provePlan(*function, plan)),
            "internal: 384 bytes of the memory plan are live in an arena of "
            "192");
  EXPECT_EQ(getMessage(verifyPlanWithShadow(*function, plan)),
            "Softmax 'y': internal: 'x' is used with bytes that belong to 'y'");
  EXPECT_EQ(getMessage(verifyPlan(*function, plan)),
            "internal: placeholder 'y' overlaps another in the memory plan");
}

} // namespace
