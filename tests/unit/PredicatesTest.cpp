//===- PredicatesTest.cpp - Rows that need not be computed ----------------===//

#include "Differential.h"
#include "glowish/Autodiff/Gradients.h"
#include "glowish/Driver/InnerOutputs.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/NodeBuilder.h"

using namespace glowish;

namespace {

/// A program with inputs x, float, and p, bool, which has the predicate of the
/// instructions that compute the output y.
struct PredicateCase {
  const char *name;
  /// The shapes of x and y, and the text of the nodes before `Save(%r, %y)`.
  Dims input, output;
  int64_t rows;
  std::string nodes;
  /// Constants w and v.
  Dims weights = {}, others = {};
};

} // namespace

static std::unique_ptr<Module> makeModule(const PredicateCase &test) {
  std::string rows = test.rows ? std::to_string(test.rows) : "";
  std::string text = "module \"m\"\n"
                     "placeholder %x : " +
                     Type(ElemKind::Float, test.input).str() +
                     " input \"x\"\nplaceholder %p : bool<" + rows +
                     "> input \"p\"\nplaceholder %w : " +
                     Type(ElemKind::Float, test.weights).str() +
                     " input \"w\"\nplaceholder %v : " +
                     Type(ElemKind::Float, test.others).str() +
                     " input \"v\"\nplaceholder %y : " +
                     Type(ElemKind::Float, test.output).str() +
                     " output \"y\"\nfunction \"main\" {\n" + test.nodes +
                     "Save(%r, %y)\n}\n";
  auto module = llvm::cantFail(parseModule(text, "test.graph", nullptr));
  // Weights that are known are packed.
  for (llvm::StringRef name : {"w", "v"}) {
    Placeholder *given = module->findPlaceholder(name);
    Constant *constant =
        module->createConstant(name, makeRandom(given->getType(), name[0]));
    NodeValue(given).replaceAllUsesWith(NodeValue(constant));
    module->erasePlaceholder(given);
  }
  return module;
}

/// What y holds before a run.
static constexpr float untouched = 1234;

/// Runs \p test with \p flags as the predicate.
static Tensor run(Backend &backend, const PredicateCase &test,
                  llvm::ArrayRef<bool> flags) {
  CompilationOptions options;
  options.verifyEach = true;
  PlannedProgram program =
      llvm::cantFail(Compilation(backend, options).compile(makeModule(test)));
  auto session = llvm::cantFail(Session::create(program));
  for (const Buffer *placeholder : session->getPlaceholders()) {
    Tensor tensor = makeRandom(placeholder->getType(), 5);
    if (placeholder->getModelName() == "p")
      llvm::copy(flags, tensor.data<bool>().begin());
    if (placeholder->getModelName() != "y")
      llvm::cantFail(session->setInput(placeholder, tensor));
  }
  const Buffer *y = llvm::cantFail(session->findPlaceholder("y"));
  Tensor result = session->getTensor(y);
  for (float &value : result.data<float>())
    value = untouched;
  llvm::cantFail(session->run());
  return session->getTensor(y).clone();
}

/// Loops, matmuls by packed and by other matrices, several matmuls, and what
/// computes all rows or none.
static std::vector<PredicateCase> getCases() {
  return {
      {.name = "loop",
       .input = {5, 3, 40},
       .output = {5, 3, 40},
       .rows = 5,
       .nodes = "%r = Tanh(%x) predicate(%p) : float<5x3x40>\n"},
      {.name = "loop over two dimensions",
       .input = {5, 3, 40},
       .output = {5, 3, 40},
       .rows = 15,
       .nodes = "%r = Tanh(%x) predicate(%p) : float<5x3x40>\n"},
      {.name = "broadcast loop",
       .input = {40},
       .output = {7, 40},
       .rows = 7,
       .nodes = "%r = Mul(%x, %w) predicate(%p) : float<7x40>\n",
       .weights = {7, 1}},
      {.name = "all of a loop",
       .input = {5, 9},
       .output = {5, 9},
       .rows = 0,
       .nodes = "%r = Tanh(%x) predicate(%p) : float<5x9>\n"},
      {.name = "matmul",
       .input = {21, 33},
       .output = {21, 70},
       .rows = 21,
       .nodes = "%r = MatMul(%x, %w) predicate(%p) : float<21x70>\n",
       .weights = {33, 70}},
      {.name = "matmul of three rows at a time",
       .input = {21, 33},
       .output = {21, 70},
       .rows = 7,
       .nodes = "%a = Reshape(%x) {shape = [7, 3, 33]} : float<7x3x33>\n"
                "%m = MatMul(%a, %w) predicate(%p) : float<7x3x70>\n"
                "%r = Reshape(%m) {shape = [21, 70]} : float<21x70>\n",
       .weights = {33, 70}},
      {.name = "matmul and what joins it",
       .input = {8, 64},
       .output = {8, 32},
       .rows = 8,
       .nodes = "%m = MatMul(%x, %w) predicate(%p) : float<8x32>\n"
                "%a = Add(%m, %v) predicate(%p) : float<8x32>\n"
                "%r = Sigmoid(%a) predicate(%p) : float<8x32>\n",
       .weights = {64, 32},
       .others = {8, 32}},
      {.name = "matmul of activations",
       .input = {12, 20},
       .output = {12, 12},
       .rows = 12,
       .nodes = "%t = Transpose(%x) {permutation = [1, 0]} : float<20x12>\n"
                "%r = MatMul(%x, %t) predicate(%p) : float<12x12>\n"},
      {.name = "matmuls",
       .input = {6, 5, 20},
       .output = {6, 5, 9},
       .rows = 6,
       .nodes = "%r = MatMul(%x, %w) predicate(%p) : float<6x5x9>\n",
       .weights = {6, 20, 9}},
      {.name = "softmax",
       .input = {5, 30},
       .output = {5, 30},
       .rows = 5,
       .nodes = "%r = Softmax(%x) {axis = 1} predicate(%p) : float<5x30>\n"}};
}

/// Flags of \p count rows: none, all, or some.
static std::vector<bool> makeFlags(int64_t count, unsigned pattern) {
  Random random(pattern);
  std::vector<bool> flags;
  for (int64_t i = 0; i < std::max<int64_t>(count, 1); ++i)
    flags.push_back(pattern == 0   ? false
                    : pattern == 1 ? true
                                   : random.below(3) == 0);
  return flags;
}

TEST(Predicates, KernelsComputeRowsThatAreNeeded) {
  std::unique_ptr<Backend> interpreter = createInterpreter();
  for (const PredicateCase &test : getCases())
    for (unsigned pattern = 0; pattern < 6; ++pattern) {
      std::vector<bool> bits = makeFlags(test.rows, pattern);
      llvm::SmallVector<bool> flags(bits.begin(), bits.end());
      Tensor expected = run(*interpreter, test, flags);
      for (unsigned numThreads : {1, 3})
        for (TargetOptions level : getLevelsInTurn()) {
          level.numThreads = numThreads;
          level.testing.dividesSmallKernels = true;
          auto backend = llvm::cantFail(CPUBackend::create(level));
          Tensor actual = run(*backend, test, flags);
          int64_t perRow = expected.getNumElements() / int64_t(flags.size());
          bool isSame = true;
          for (int64_t i = 0; i < expected.getNumElements(); ++i)
            if (flags[size_t(i / perRow)])
              isSame &= std::abs(actual.data<float>()[size_t(i)] -
                                 expected.data<float>()[size_t(i)]) < 1e-4f;
          EXPECT_TRUE(isSame) << test.name << ", pattern " << pattern;
          if (pattern == 0)
            EXPECT_TRUE(
                llvm::all_of(actual.data<float>(),
                             [](float value) { return value == untouched; }))
                << test.name << " computes what nothing needs";
        }
    }
}

/// How many rows of \p test the host's code leaves as they were.
static int64_t countUntouchedRows(const PredicateCase &test,
                                  llvm::ArrayRef<bool> flags) {
  auto backend = llvm::cantFail(CPUBackend::create(TargetOptions()));
  Tensor actual = run(*backend, test, flags);
  int64_t perRow = actual.getNumElements() / int64_t(flags.size()), count = 0;
  for (size_t row = 0; row < flags.size(); ++row)
    count += llvm::all_of(
        llvm::ArrayRef<float>(actual.data<float>()).slice(row * perRow, perRow),
        [](float value) { return value == untouched; });
  return count;
}

TEST(Predicates, RowsOfLoopsAndMatMulsAreLeftOut) {
  for (const PredicateCase &test : getCases()) {
    if (llvm::StringRef(test.name) == "softmax" || test.rows == 0)
      continue;
    llvm::SmallVector<bool> flags(size_t(test.rows), false);
    flags[2] = true;
    // The tiles of a matmul may take rows that are not needed.
    int64_t expected = llvm::StringRef(test.name).starts_with("matmul ") ||
                               llvm::StringRef(test.name) == "matmul"
                           ? test.rows / 2
                           : test.rows - 1;
    EXPECT_GE(countUntouchedRows(test, flags), expected) << test.name;
  }
}

TEST(Predicates, TheInterpreterHeedsThemOnRequest) {
  PredicateCase test = getCases().front();
  llvm::SmallVector<bool> flags = {true, false, true, false, false};
  Tensor all = run(*createInterpreter(), test, flags);
  Tensor heeded =
      run(*createInterpreter({.heedsPredicates = true}), test, flags);
  for (int64_t i = 0; i < all.getNumElements(); ++i) {
    float value = heeded.data<float>()[size_t(i)];
    if (flags[size_t(i / 120)])
      EXPECT_EQ(value, all.data<float>()[size_t(i)]);
    else
      EXPECT_TRUE(std::isnan(value));
    EXPECT_FALSE(std::isnan(all.data<float>()[size_t(i)]));
  }
}

/// A gradient of zero for a row that nothing needs does not make NaN of it 0.
TEST(Predicates, GradientsAreOfAllRows) {
  auto module = makeModule(getCases()[6]);
  Function &function = *module->getFunctions().front();
  NodeValue y = function.getNodes().back().getOperand(0);
  NodeBuilder builder(function, "seed");
  NodeValue x(module->findPlaceholder("x"));
  llvm::cantFail(addGradients(function,
                              {{y, builder.splat(ElemKind::Float, {8, 32}, 1)}},
                              {x})
                     .takeError());
  for (const Node &node : function.getNodes())
    EXPECT_FALSE(node.getPredicate());
}

/// What a tool shows of a value is all of it.
TEST(Predicates, InnerOutputsAreOfAllRows) {
  auto module = makeModule(getCases()[6]);
  Function &function = *module->getFunctions().front();
  auto isWanted = [](NodeValue value) {
    return isFloatKind(value.getElemKind());
  };
  EXPECT_EQ(addInnerOutputs(function, isWanted).size(), 3u);
  for (const Node &node : function.getNodes())
    EXPECT_FALSE(node.getPredicate());
}

TEST(Predicates, BuildersCheckThem) {
  Module module;
  Function &function = *module.createFunction("main");
  NodeValue x = input(module, ElemKind::Float, {4, 2});
  NodeDraft draft = ReluNode::draft(x);
  draft.predicate = input(module, ElemKind::Bool, {3});
  auto refused = function.tryCreate("r", draft);
  ASSERT_FALSE(refused);
  EXPECT_EQ(llvm::toString(refused.takeError()),
            "Relu 'r': the predicate of a result float<4x2> is bool<3>; "
            "accepted: bool<>, or bool<N> where N is the product of leading "
            "extents");
  draft.predicate = input(module, ElemKind::Bool, {4});
  Node *node = function.create("r", draft);
  EXPECT_EQ(node->getPredicate(), draft.predicate);
  EXPECT_EQ(node->getNumOperands(), 1u);
  EXPECT_EQ(node->getReads().size(), 2u);
  // A copy has the predicate; a draft, from which another node is made, has
  // not.
  EXPECT_FALSE(node->getDraft().predicate);
  Function *copy = function.clone("copy");
  EXPECT_EQ(copy->getNodes().front().getPredicate(), draft.predicate);
  node->setPredicate({});
  EXPECT_FALSE(draft.predicate.hasUses(2));
}
