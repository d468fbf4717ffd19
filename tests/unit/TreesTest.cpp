//===- TreesTest.cpp - Decision trees -------------------------------------===//

#include "Differential.h"
#include "InferTypes.h"
#include "glowish/Optimizer/Passes.h"
#include "gmock/gmock.h"
#include <cmath>
#include <deque>

using namespace glowish;

namespace {

/// The attributes of random trees.
struct RandomTrees {
  std::vector<int64_t> features, children, roots, groups;
  /// Leaves, in the order of their rows of weights.
  int64_t numLeaves = 0;
  /// Whether leaves have rows of weights.
  bool hasWeights = false;

  /// Appends a tree. Below \p least steps are leaves with \p chance in 8, and
  /// all ways end after \p most.
  void addTree(Random &random, int64_t numFeatures, unsigned least,
               unsigned most, unsigned chance);
};

} // namespace

void RandomTrees::addTree(Random &random, int64_t numFeatures, unsigned least,
                          unsigned most, unsigned chance) {
  roots.push_back(int64_t(features.size()));
  std::deque<unsigned> depths = {0};
  int64_t next = roots.back() + 1;
  for (; !depths.empty(); depths.pop_front()) {
    unsigned depth = depths.front();
    bool isLeaf = depth == most || (depth >= least && random.below(8) < chance);
    features.push_back(isLeaf ? -1 : int64_t(random.below(numFeatures)));
    children.push_back(isLeaf ? (hasWeights ? numLeaves : 0) : next);
    if (isLeaf) {
      ++numLeaves;
      continue;
    }
    next += 2;
    depths.insert(depths.end(), {depth + 1, depth + 1});
  }
}

namespace {

struct TreesCase {
  int64_t rows, numFeatures, numTrees;
  unsigned least, most;
  int64_t numGroups = 1;
  /// 0: a leaf's weight is its value.
  int64_t width = 0;
  std::string mode = "sum";
  ElemKind kind = ElemKind::Float;
};

RandomTrees makeTrees(const TreesCase &c) {
  Random random(uint64_t(c.rows + 31 * c.numTrees + 7 * c.most));
  RandomTrees trees;
  trees.hasWeights = c.width > 0;
  for (int64_t i = 0; i < c.numTrees; ++i)
    trees.addTree(random, c.numFeatures, c.least, c.most, /*chance=*/2);
  trees.groups.assign(size_t(c.numGroups), c.numTrees / c.numGroups);
  trees.groups.back() += c.numTrees % c.numGroups;
  return trees;
}

/// Makes numbers that are mostly a half or a whole, as some of those that trees
/// compare with are, and NaN in the place of 0.
NodeValue makeRows(Function &f, NodeValue x) {
  ElemKind kind = x.getElemKind();
  auto splat = [&](double value) {
    return f.create<SplatNode>("splat", kind, Dims{1}, value)->getResult();
  };
  NodeValue whole =
      f.create<RoundNode>("round",
                          f.create<MulNode>("mul", x, splat(4))->getResult())
          ->getResult();
  NodeValue one = f.create<DivNode>("one", whole, whole)->getResult();
  NodeValue half = f.create<MulNode>("half", whole, splat(0.5))->getResult();
  return f.create<MulNode>("rows", half, one)->getResult();
}

NodeValue buildTrees(Function &f, Module &m, const TreesCase &c) {
  RandomTrees trees = makeTrees(c);
  Type type(c.kind, {int64_t(trees.features.size())});
  Tensor table = makeRandom(type, 5);
  for (int64_t i = 0; i < table.getNumElements(); i += 3)
    table.setFromDouble(i, std::round(2 * table.getAsDouble(i)));
  NodeValue weights;
  if (c.width)
    weights = m.createConstant(
        "weights",
        makeRandom(
            Type(c.kind, {std::max<int64_t>(trees.numLeaves, 1), c.width}), 6));
  NodeValue x = input(m, c.kind, {c.rows, c.numFeatures});
  if (c.rows % 2)
    x = makeRows(f, x);
  return f
      .create<TreeEnsembleNode>(
          "trees", x, m.createConstant("table", std::move(table)), weights,
          trees.features, trees.children, trees.roots, trees.groups, c.mode)
      ->getResult();
}

void compareTrees(const TreesCase &c) {
  compare(
      "trees", [&](Function &f, Module &m) { return buildTrees(f, m, c); },
      /*bound=*/0);
}

TEST(Trees, Rows) {
  for (int64_t rows : {1, 2, 7, 8, 9, 64, 65, 131})
    compareTrees({rows, 5, 11, 0, 6});
}

TEST(Trees, OfOneDepth) {
  compareTrees({1, 3, 9, 4, 4});
  compareTrees({19, 3, 9, 4, 4});
  compareTrees({8, 1, 1, 1, 1});
}

TEST(Trees, OfDifferentDepths) {
  compareTrees({1, 4, 40, 1, 12});
  compareTrees({23, 4, 17, 2, 11});
}

TEST(Trees, Groups) {
  for (int64_t rows : {1, 9, 16})
    for (int64_t groups : {2, 3, 10})
      compareTrees({rows, 6, 10, 1, 5, groups});
}

TEST(Trees, Weights) {
  for (int64_t rows : {1, 5, 16, 21})
    for (int64_t width : {1, 2, 3, 17})
      compareTrees({rows, 6, 9, 0, 5, 1, width});
  compareTrees({9, 6, 9, 0, 5, 2, 3});
}

/// Returns what the interpreter makes of \p c, whose trees \p lower may
/// replace.
Tensor interpret(const TreesCase &c,
                 llvm::function_ref<void(Function &)> lower) {
  auto module = std::make_unique<Module>("m");
  Function *function = module->createFunction("main");
  NodeValue trees = buildTrees(*function, *module, c);
  NodeValue y(module->createPlaceholder("y", trees.getType(), false, true));
  function->create<SaveNode>("save", trees, y);
  lower(*function);
  std::unique_ptr<Backend> backend = createInterpreter();
  PlannedProgram program = llvm::cantFail(
      Compilation(*backend, CompilationOptions()).compile(std::move(module)));
  auto session = llvm::cantFail(Session::create(program));
  for (const Buffer *placeholder : session->getPlaceholders())
    if (placeholder->isInput())
      llvm::cantFail(session->setInput(placeholder,
                                       makeRandom(placeholder->getType(), 7)));
  llvm::cantFail(session->run());
  return session->getTensor(session->getOutputs().front()).clone();
}

/// Back ends without the instruction take steps of other nodes.
TEST(Trees, Lowered) {
  auto *lower = findPass(getGraphPasses(), "lower");
  GraphPassContext context;
  context.evaluate = evaluateNode;
  context.isSupported = [](const Node &node) {
    return !llvm::isa<TreeEnsembleNode>(node);
  };
  for (const TreesCase &c : {TreesCase{9, 5, 11, 0, 6},
                             {7, 5, 9, 1, 4, 3, 2},
                             {8, 5, 9, 1, 4, 2, 0, "max"},
                             {1, 5, 9, 3, 3, 1, 3, "min"}}) {
    Tensor expected = interpret(c, [](Function &) {});
    Tensor actual = interpret(c, [&](Function &function) {
      EXPECT_TRUE(llvm::cantFail(lower->run(function, context)));
      EXPECT_TRUE(llvm::none_of(function.getNodes(), [](Node &node) {
        return llvm::isa<TreeEnsembleNode>(node);
      }));
    });
    for (int64_t i = 0; i < expected.getNumElements(); ++i)
      EXPECT_NEAR(actual.getAsDouble(i), expected.getAsDouble(i), 1e-5);
  }
}

TEST(Trees, Modes) {
  for (std::string mode : {"min", "max"}) {
    compareTrees({1, 5, 9, 1, 4, 1, 0, mode});
    compareTrees({17, 5, 9, 1, 4, 1, 2, mode});
  }
}

TEST(Trees, Doubles) {
  compareTrees({1, 5, 9, 1, 4, 1, 0, "sum", ElemKind::Double});
  compareTrees({13, 5, 9, 1, 4, 1, 3, "sum", ElemKind::Double});
}

/// A child that is more than 32,767 nodes behind.
TEST(Trees, LongOffsets) { compareTrees({9, 5, 1, 16, 16}); }

/// A column beyond 32,767.
TEST(Trees, ManyColumns) { compareTrees({9, 40000, 3, 2, 6}); }

TEST(Trees, Extremes) {
  compareTrees({3, 2, 5, 0, 0});
  compareTrees({9, 2, 0, 0, 0, 2});
  compareTrees({0, 2, 3, 1, 2});
}

TEST(Trees, Types) {
  std::string tree = "features = [0, -1, -1], children = [1, 0, 0], "
                     "roots = [0], groups = [1], mode = \"sum\"}";
  EXPECT_TYPE("TreeEnsemble(float<7x2>, float<3>, none) {" + tree,
              "float<7x1>");
  EXPECT_TYPE("TreeEnsemble(double<7x2>, double<3>, double<1x4>) {" + tree,
              "double<7x4>");
  EXPECT_TYPE("TreeEnsemble(float16<7x2>, float16<3>, none) {" + tree,
              "operand 'input' (float16<7x2>): expected float or double");
  EXPECT_TYPE("TreeEnsemble(float<7x2>, double<3>, none) {" + tree,
              "operand 'values' (double<3>): expected kind float");
  EXPECT_TYPE("TreeEnsemble(float<7>, float<3>, none) {" + tree,
              "operand 'input' (float<7>): expected rank 2");
  EXPECT_TYPE("TreeEnsemble(float<7x2>, float<4>, none) {" + tree,
              "attribute 'features': expected 4 values, got 3");
  EXPECT_TYPE("TreeEnsemble(float<7x0>, float<3>, none) {" + tree,
              "attribute 'features': node 0 has column 0 of 0");
}

/// Each change would read what is not there, or never end.
TEST(Trees, WrongTables) {
  auto inferWith = [](std::string features, std::string children,
                      std::string roots, std::string groups) {
    return infer("TreeEnsemble(float<7x2>, float<3>, float<2x1>) {features = " +
                 features + ", children = " + children + ", roots = " + roots +
                 ", groups = " + groups + ", mode = \"sum\"}");
  };
  EXPECT_EQ(inferWith("[0, -1, -1]", "[1, 0, 1]", "[0]", "[1]"), "float<7x1>");
  EXPECT_EQ(inferWith("[2, -1, -1]", "[1, 0, 1]", "[0]", "[1]"),
            "attribute 'features': node 0 has column 2 of 2");
  EXPECT_EQ(inferWith("[-2, -1, -1]", "[1, 0, 1]", "[0]", "[1]"),
            "attribute 'features': node 0 has column -2 of 2");
  for (std::string child : {"0", "-1", "2", "3"})
    EXPECT_EQ(inferWith("[0, -1, -1]", "[" + child + ", 0, 1]", "[0]", "[1]"),
              "attribute 'children': those of node 0 are " + child +
                  " and the next one; expected two of 3 nodes behind it");
  EXPECT_EQ(inferWith("[0, -1, -1]", "[1, 0, 2]", "[0]", "[1]"),
            "attribute 'children': leaf 2 has row 2 of 2");
  EXPECT_EQ(inferWith("[0, -1, -1]", "[1, 0, 1]", "[3]", "[1]"),
            "attribute 'roots': 3 is no node of 3");
  EXPECT_EQ(inferWith("[0, -1, -1]", "[1, 0, 1]", "[0]", "[2]"),
            "attribute 'roots': expected 2 values, got 1");
  EXPECT_EQ(inferWith("[0, -1, -1]", "[1, 0, 1]", "[0]", "[-1]"),
            "attribute 'groups': -1 trees");
}

} // namespace
