//===- GraphPassContextTest.cpp - What callers give to graph passes -------===//

#include "glowish/Graph/Nodes.h"
#include "glowish/Optimizer/Passes.h"
#include "gtest/gtest.h"
#include <set>

using namespace glowish;

namespace {

/// A function of nodes on small tensors, and a context.
class SmallNet {
public:
  SmallNet() : module("net"), function(*module.createFunction("main")) {
    context.evaluate = [](const Node &) -> llvm::Expected<std::vector<Tensor>> {
      return makeError("no memory");
    };
  }

  NodeValue input(ElemKind kind) {
    return NodeValue(module.createPlaceholder("x", Type(kind, {3}),
                                              /*isInput=*/true,
                                              /*isOutput=*/false));
  }
  NodeValue constant(std::vector<float> values) {
    Type type(ElemKind::Float, {int64_t(values.size())});
    return NodeValue(module.createConstant(
        "c", Tensor::fromValues<float>(type, std::move(values))));
  }
  void output(NodeValue value) {
    auto *y = module.createPlaceholder("y", value.getType(),
                                       /*isInput=*/false, /*isOutput=*/true);
    function.create<SaveNode>("save", value, NodeValue(y));
  }

  Module module;
  Function &function;
  GraphPassContext context;
};

/// Remembers which rewrites there are.
class Listing final : public RewriteObserver {
public:
  void list(llvm::StringRef rewrite) override {
    rewrites.insert(rewrite.str());
  }
  void willTry(Function &) override {}
  void didApply(llvm::StringRef, Function &) override {}

  std::set<std::string> rewrites;
};

} // namespace

/// "changed", "unchanged", or the error.
static std::string describe(llvm::Expected<bool> outcome) {
  if (!outcome)
    return llvm::toString(outcome.takeError());
  return *outcome ? "changed" : "unchanged";
}

/// What an evaluator says is the error of the pass, but for loops.
TEST(GraphPassContext, ErrorsOfTheEvaluator) {
  SmallNet sums;
  sums.output(sums.function
                  .create<AddNode>("sum", sums.constant({1, 2, 3}),
                                   sums.constant({4, 5, 6}))
                  ->getResult());
  EXPECT_EQ(describe(foldConstants(sums.function, sums.context)),
            "folding Add 'sum': no memory");

  SmallNet bytes;
  NodeValue sign =
      bytes.function.create<SignNode>("sign", bytes.input(ElemKind::Int8))
          ->getResult();
  bytes.output(sign);
  EXPECT_EQ(describe(tabulateByteFunctions(bytes.function, bytes.context)),
            "no memory");
}

/// Passes that find nothing say so: those to a fixed point end.
TEST(GraphPassContext, NothingToFold) {
  SmallNet net;
  net.output(net.function.create<ReluNode>("relu", net.input(ElemKind::Float))
                 ->getResult());
  EXPECT_EQ(describe(foldConstants(net.function, net.context)), "unchanged");
  EXPECT_EQ(describe(tabulateByteFunctions(net.function, net.context)),
            "unchanged");
}

TEST(GraphPassContext, ObserversHearOfAllRewrites) {
  SmallNet net;
  net.output(net.function.create<ReluNode>("relu", net.input(ElemKind::Float))
                 ->getResult());
  Listing listing;
  net.context.observer = &listing;
  EXPECT_EQ(describe(recognizeSoftmaxes(net.function, net.context)),
            "unchanged");
  EXPECT_EQ(listing.rewrites,
            (std::set<std::string>{"recognizeLogSoftmax", "recognizeMul",
                                   "recognizeQuotient"}));
}
