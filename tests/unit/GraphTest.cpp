//===- GraphTest.cpp - Nodes, uses, functions and modules -----------------===//

#include "Messages.h"
#include "glowish/Graph/Module.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Graph/Verifier.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A function with the input x, whose elements are three floats.
class Graph : public testing::Test {
protected:
  Module module{"m"};
  Function &function = *module.createFunction("main");
  Placeholder *x = module.createPlaceholder("x", Type(ElemKind::Float, {3}),
                                            /*isInput=*/true,
                                            /*isOutput=*/false);

  std::vector<std::string> getNames() {
    std::vector<std::string> names;
    for (const Node &node : function.getNodes())
      names.push_back(node.getName().str());
    return names;
  }
};

TEST_F(Graph, UsesFollowOperands) {
  Node *abs = function.create<AbsNode>("abs", NodeValue(x));
  Node *relu = function.create<ReluNode>("relu", NodeValue(x));
  Node *sum = function.create<AddNode>("sum", abs->getResult(), NodeValue(x));
  EXPECT_TRUE(abs->getResult().hasOneUse());
  EXPECT_TRUE(NodeValue(x).hasUses(3));
  const Use &use = *abs->uses().begin();
  EXPECT_EQ(use.getUser(), sum);
  EXPECT_EQ(use.getOperandIndex(), 0u);

  abs->getResult().replaceAllUsesWith(relu->getResult());
  EXPECT_FALSE(abs->hasUses());
  EXPECT_EQ(sum->getOperand(0), relu->getResult());
  sum->setOperand(1, relu->getResult());
  EXPECT_TRUE(relu->getResult().hasUses(2));
  EXPECT_TRUE(NodeValue(x).hasUses(2));
}

TEST_F(Graph, NodesAreInAnOrder) {
  Node *first = function.create<AbsNode>("first", NodeValue(x));
  Node *last = function.create<AbsNode>("last", first->getResult());
  {
    InsertionGuard guard(function, last);
    function.create<ReluNode>("between", first->getResult());
  }
  function.create<NegNode>("end", last->getResult());
  EXPECT_THAT(getNames(), ElementsAre("first", "between", "last", "end"));
  EXPECT_EQ(getMessage(verify(function)), "");

  // A value is computed before it is used.
  function.moveBefore(last, first);
  EXPECT_THAT(getNames(), ElementsAre("last", "first", "between", "end"));
  EXPECT_THAT(getMessage(verify(function)), HasSubstr("'last'"));
  function.sortTopologically();
  EXPECT_EQ(getMessage(verify(function)), "");
  function.erase(&function.getNodes().back());
  EXPECT_EQ(getNames().size(), 3u);
}

TEST_F(Graph, NodesThatDoNotFitAreNotMade) {
  Placeholder *matrix =
      module.createPlaceholder("matrix", Type(ElemKind::Float, {2, 2}),
                               /*isInput=*/true, /*isOutput=*/false);
  EXPECT_THAT(getMessage(function.tryCreate<MatMulNode>("y", NodeValue(x),
                                                        NodeValue(matrix))),
              HasSubstr("MatMul 'y': operand 'lhs'"));
  EXPECT_TRUE(function.getNodes().empty());
  EXPECT_FALSE(x->hasUses());
}

TEST_F(Graph, NumbersBecomeConstants) {
  NodeBuilder b(function, "twice");
  auto *twice =
      llvm::dyn_cast<MulNode>(llvm::cantFail(b.finish(b.mul(x, 2.0))).node);
  ASSERT_TRUE(twice);
  const auto *number = twice->getY().getNodeAs<Constant>();
  ASSERT_TRUE(number);
  EXPECT_EQ(number->getTensor().data<float>().front(), 2.0f);
  EXPECT_EQ(twice->getX(), NodeValue(x));
}

TEST_F(Graph, FunctionsShareTheStorageOfTheirModule) {
  Constant *one =
      module.createConstant("one", Tensor(Type(ElemKind::Float, {3})));
  Node *sum = function.create<AddNode>("sum", NodeValue(x), NodeValue(one));
  Function *copy = function.clone("copy");
  Node &other = copy->getNodes().front();
  EXPECT_EQ(other.getParent(), copy);
  EXPECT_NE(other.getName(), sum->getName());
  EXPECT_TRUE(other.isEquivalent(*sum));
  EXPECT_TRUE(NodeValue(x).hasUses(2));
  EXPECT_TRUE(NodeValue(one).hasUses(2));
  EXPECT_EQ(getMessage(verify(module)), "");

  // A value of another function is none of this one.
  sum->setOperand(0, other.getResult());
  EXPECT_THAT(getMessage(verify(module)), HasSubstr("of another function"));
  sum->setOperand(0, NodeValue(x));
  module.eraseFunction(copy);
  EXPECT_EQ(module.findFunction("copy"), nullptr);
  EXPECT_TRUE(NodeValue(one).hasOneUse());
}

TEST_F(Graph, TypesFollowFromOperands) {
  Node *sum = function.create<AddNode>(
      "sum", NodeValue(x),
      NodeValue(module.createPlaceholder("y", Type(ElemKind::Float, {2, 1}),
                                         /*isInput=*/true,
                                         /*isOutput=*/false)));
  EXPECT_EQ(sum->getType(), Type(ElemKind::Float, {2, 3}));
  sum->setOperand(1, NodeValue(x));
  EXPECT_THAT(getMessage(verify(function)),
              HasSubstr("result 0 is float<2x3>; its operands make it "
                        "float<3>"));
}

} // namespace
