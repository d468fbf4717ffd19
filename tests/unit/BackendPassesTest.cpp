//===- BackendPassesTest.cpp - Graph passes that a back end brings --------===//

#include "GraphTexts.h"
#include "Messages.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Optimizer/Passes.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

/// The interpreter without Gelu, with graph passes of its own.
class TestBackend final : public Backend {
public:
  explicit TestBackend(Pipeline pipeline) : pipeline(std::move(pipeline)) {}

  llvm::StringRef getName() const override { return "test"; }
  bool isSupported(const Node &node) const override {
    return !llvm::isa<GeluNode>(node) && inner->isSupported(node);
  }
  Pipeline getLoweredPipeline() const override { return pipeline; }
  llvm::Expected<std::unique_ptr<Executable>>
  compile(const IRFunction &function, const MemoryPlan &plan,
          InstrClock *clock) override {
    return inner->compile(function, plan, clock);
  }

private:
  std::unique_ptr<Backend> inner = createInterpreter();
  Pipeline pipeline;
};

/// Replaces multiplications of a value with itself by \p T of it.
template <typename T>
llvm::Expected<bool> replaceSquares(Function &function,
                                    const GraphPassContext &) {
  bool changed = false;
  for (Node &node : llvm::make_early_inc_range(function.getNodes())) {
    auto *square = llvm::dyn_cast<MulNode>(&node);
    if (!square || square->getX() != square->getY())
      continue;
    InsertionGuard guard(function, square);
    square->getResult().replaceAllUsesWith(
        function.create<T>("replaced", square->getX())->getResult());
    function.erase(square);
    changed = true;
  }
  return changed;
}

const GraphPassRegistration abs({.name = "abs-of-squares",
                                 .exactness = Exactness::Exact,
                                 .doc = "Of a test",
                                 .run = replaceSquares<AbsNode>}),
    gelu({.name = "gelu-of-squares",
          .exactness = Exactness::Exact,
          .doc = "Of a test",
          .run = replaceSquares<GeluNode>}),
    // The name is taken.
    second({.name = "abs-of-squares",
            .exactness = Exactness::Exact,
            .doc = "Of a test",
            .run = replaceSquares<NegNode>});

constexpr llvm::StringLiteral graph = R"(module "test"
placeholder %x : float<4> input "x"
placeholder %flag : bool<> input "flag"
placeholder %y : float<4> output "y"
placeholder %z : float<4> output "z"
function "main" {
  %square = Mul(%x, %x) : float<4>
  Save(%square, %y)
  %if = If(%flag, %x) {thenBody = body "then" (%tx : float<4>) -> (%ty : float<4>) {
    %inner = Mul(%tx, %tx) : float<4>
    Save(%inner, %ty)
  }, elseBody = body "else" (%ex : float<4>) -> (%ey : float<4>) {
    Save(%ex, %ey)
  }} : float<4>
  Save(%if, %z)
})";

/// Lowers the graph for a back end with \p pipeline: its text, or the error.
std::string lower(Pipeline pipeline, CompilationOptions options = {}) {
  TestBackend backend(std::move(pipeline));
  Compilation compilation(backend, std::move(options));
  auto module = llvm::cantFail(parseModule(graph, "test.graph", nullptr));
  auto lowered = compilation.lower(ModelGraph(std::move(module)));
  if (!lowered)
    return getMessage(lowered.takeError());
  return print(lowered->getModule());
}

} // namespace

TEST(BackendPasses, RunOnTheLoweredGraphAndItsBodies) {
  std::string none = lower({});
  EXPECT_EQ(llvm::StringRef(none).count(" = Mul("), 2u) << none;
  std::string text = lower({{{"abs-of-squares"}, /*toFixedPoint=*/false}});
  EXPECT_EQ(llvm::StringRef(text).count(" = Mul("), 0u) << text;
  EXPECT_EQ(llvm::StringRef(text).count(" = Abs("), 2u) << text;
}

/// What they make is lowered where they say so, and else refused.
TEST(BackendPasses, LeaveNodesThatTheBackEndTakes) {
  EXPECT_EQ(lower({{{"gelu-of-squares"}, /*toFixedPoint=*/false}}),
            "node 'replaced_1' (Gelu): the back end has no instruction for it "
            "with result float<4>");
  std::string text =
      lower({{{"gelu-of-squares"}, /*toFixedPoint=*/false},
             {{"lower", "dce"}, /*toFixedPoint=*/true, {"lower"}}});
  EXPECT_EQ(llvm::StringRef(text).count(" = Gelu("), 0u) << text;
  EXPECT_EQ(llvm::StringRef(text).count(" = Erf("), 2u) << text;
}

TEST(BackendPasses, AreNamed) {
  EXPECT_EQ(lower({{{"none"}, /*toFixedPoint=*/false}}),
            "back end 'test': there is no pass called 'none'");
  CompilationOptions options;
  options.graphPasses.limit = 0;
  std::string text =
      lower({{{"abs-of-squares"}, /*toFixedPoint=*/false}}, options);
  EXPECT_EQ(llvm::StringRef(text).count(" = Abs("), 0u) << text;
  text =
      lower({{{"abs-of-squares"}, /*toFixedPoint=*/false, {"abs-of-squares"}}},
            options);
  EXPECT_EQ(llvm::StringRef(text).count(" = Abs("), 2u) << text;
}

TEST(BackendPasses, AreListedInOrder) {
  llvm::ArrayRef<GraphPass> passes = getGraphPasses();
  EXPECT_TRUE(llvm::is_sorted(passes, [](const auto &left, const auto &right) {
    return left.name < right.name;
  }));
  EXPECT_TRUE(findPass(passes, "gelu-of-squares"));
  EXPECT_EQ(llvm::count_if(passes,
                           [](const GraphPass &pass) {
                             return pass.name == "abs-of-squares";
                           }),
            1);
}
