//===- NodeBuilderTest.cpp - Expressions after an error -------------------===//

#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Graph/Module.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

TEST(NodeBuilder, AfterAnErrorEverythingIsNull) {
  Module module("m");
  Function &function = *module.createFunction("f");
  NodeValue x = module.createPlaceholder("x", Type(ElemKind::Float, {3}),
                                         /*isInput=*/true, /*isOutput=*/false);
  NodeValue y = module.createPlaceholder("y", Type(ElemKind::Float, {4}),
                                         /*isInput=*/true, /*isOutput=*/false);
  NodeBuilder b(function, "sum");
  NodeValue wrong = b.add(x, y);
  EXPECT_FALSE(wrong);
  EXPECT_TRUE(b.hasFailed());
  EXPECT_FALSE(b.number(wrong, 1));
  EXPECT_FALSE(b.complement(wrong));
  EXPECT_FALSE(b.mul(wrong, 2.0));
  EXPECT_FALSE(b.max(b.number(wrong, 0), x));
  EXPECT_FALSE(b.matMul(x, x));
  // The first error, not that of what came after.
  std::string message = llvm::toString(b.takeError());
  EXPECT_NE(message.find("Add 'sum'"), std::string::npos) << message;
}

} // namespace
