//===- LoweringTest.cpp - Back ends that lack an operator -----------------===//

#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Optimizer/Passes.h"
#include "gtest/gtest.h"

using namespace glowish;

/// A gate of primitive nodes is not recognized where the back end lacks the
/// activation; activations are lowered, and stay so; the pipelines end.
TEST(Lowering, GatesThatABackEndLacks) {
  Module module("test");
  Function *function = module.createFunction("main");
  Type type(ElemKind::Float, {3, 7});
  NodeValue x(module.createPlaceholder("x", type, true, false));
  NodeValue y(module.createPlaceholder("y", type, false, true));
  NodeValue value = function->create<SiluNode>("silu", x)->getResult();
  value = function->create<HardSwishNode>("swish", value)->getResult();
  value = function->create<SwishNode>("scaled", value, 1.5)->getResult();
  value = function->create<GeluNode>("gelu", value)->getResult();
  value = function->create<GeluTanhNode>("tanh", value)->getResult();
  NodeValue gate = function->create<SigmoidNode>("gate", value)->getResult();
  value = function->create<MulNode>("gated", value, gate)->getResult();
  function->create<SaveNode>("save", value, y);
  GraphPassContext context;
  context.evaluate = evaluateNode;
  context.isSupported = [](const Node &node) {
    return !llvm::isa<SiluNode, HardSwishNode, SwishNode, GeluNode,
                      GeluTanhNode>(node);
  };
  unsigned numPasses = 0;
  GraphPassHooks hooks;
  hooks.after = [&](llvm::StringRef, Function &, bool) -> llvm::Error {
    if (++numPasses > 150)
      return makeError("the pipeline does not end");
    return llvm::Error::success();
  };
  for (const Pipeline *pipeline :
       {&getOptimizePipeline(), &getLowerPipeline(), &getOptimizePipeline()}) {
    llvm::Expected<bool> changed = runPipeline<Function, GraphPassContext>(
        *pipeline, getGraphPasses(), *function, context, hooks);
    ASSERT_TRUE(bool(changed)) << llvm::toString(changed.takeError());
  }
  unsigned numGates = 0;
  for (Node &node : function->getNodes()) {
    EXPECT_TRUE(context.isSupported(node)) << node.getKindName().str();
    numGates +=
        llvm::isa<SigmoidNode, HardSigmoidNode, ErfNode, TanhNode>(node);
  }
  EXPECT_EQ(numGates, 6u);
}
