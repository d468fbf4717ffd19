//===- LoweringTest.cpp - Back ends that lack an operator -----------------===//

#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Optimizer/Passes.h"
#include "gtest/gtest.h"

using namespace glowish;

/// Gates are recognized and lowered in one pipeline: what the back end does
/// not take stays lowered, and the pipeline ends.
TEST(Lowering, GatesThatABackEndLacks) {
  Module module("test");
  Function *function = module.createFunction("main");
  Type type(ElemKind::Float, {3, 7});
  NodeValue x(module.createPlaceholder("x", type, true, false));
  NodeValue y(module.createPlaceholder("y", type, false, true));
  NodeValue value = function->create<SiluNode>("silu", x)->getResult();
  value = function->create<HardSwishNode>("swish", value)->getResult();
  function->create<SaveNode>("save", value, y);
  GraphPassContext context;
  context.evaluate = evaluateNode;
  context.isSupported = [](const Node &node) {
    return !llvm::isa<SiluNode, HardSwishNode>(node);
  };
  unsigned numPasses = 0;
  GraphPassHooks hooks;
  hooks.after = [&](llvm::StringRef, Function &, bool) -> llvm::Error {
    if (++numPasses > 50)
      return makeError("the pipeline does not end");
    return llvm::Error::success();
  };
  llvm::Expected<bool> changed = runPipeline<Function, GraphPassContext>(
      getLowerPipeline(), getGraphPasses(), *function, context, hooks);
  ASSERT_TRUE(bool(changed)) << llvm::toString(changed.takeError());
  unsigned numMuls = 0;
  for (Node &node : function->getNodes()) {
    EXPECT_TRUE(context.isSupported(node)) << node.getKindName().str();
    numMuls += llvm::isa<MulNode>(node);
  }
  EXPECT_EQ(numMuls, 2u);
}
