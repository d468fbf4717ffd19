//===- IRGenTest.cpp - From graphs to instructions ------------------------===//

#include "glowish/IRGen/IRGen.h"
#include "IRHelpers.h"
#include "glowish/Graph/GraphText.h"
#include "llvm/ADT/DenseSet.h"
#include "gmock/gmock.h"

using namespace glowish;
using namespace glowish::test;
using ::testing::HasSubstr;

namespace {

std::unique_ptr<IRFunction> generate(Function &graph) {
  auto ir = generateIR(graph, scheduleNodes(graph));
  if (!ir) {
    ADD_FAILURE() << llvm::toString(ir.takeError());
    return nullptr;
  }
  if (llvm::Error error = verify(**ir))
    ADD_FAILURE() << llvm::toString(std::move(error)) << print(**ir);
  return std::move(*ir);
}

/// Runs \p ir, the mutable region filled as \p fill says; returns the contents
/// of the buffer of model name \p output.
Tensor run(const IRFunction &ir, llvm::StringRef output,
           llvm::function_ref<void(const Buffer &, Tensor &)> fill) {
  MemoryPlan plan = planMemory(ir);
  llvm::cantFail(provePlan(ir, plan));
  Tensor constants = makeConstantRegion(ir, plan);
  Tensor mutables(Type(ElemKind::UInt8, {int64_t(plan.mutableSize)}));
  Tensor arena(Type(ElemKind::UInt8, {int64_t(plan.activationSize)}));
  auto view = [&](const Buffer &buffer) {
    return Tensor::borrow(buffer.getType(),
                          static_cast<uint8_t *>(mutables.getBytes()) +
                              plan.getOffset(&buffer));
  };
  const Buffer *result = nullptr;
  for (const auto &buffer : ir.getBuffers()) {
    if (buffer->getKind() != Buffer::Kind::Mutable)
      continue;
    Tensor tensor = view(*buffer);
    fill(*buffer, tensor);
    if (buffer->getModelName() == output)
      result = buffer.get();
  }
  auto executable = llvm::cantFail(createInterpreter()->compile(ir, plan));
  llvm::cantFail(
      executable->run(static_cast<const uint8_t *>(constants.getBytes()),
                      static_cast<uint8_t *>(mutables.getBytes()),
                      static_cast<uint8_t *>(arena.getBytes())));
  return view(*result).clone();
}

void fillWithNumbers(const Buffer &, Tensor &tensor) {
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, double(i + 1));
}

/// The index of element \p number of a dense tensor of \p shape.
Dims getIndex(DimsRef shape, int64_t number) {
  Dims index(shape.size());
  for (unsigned d = shape.size(); d-- > 0;) {
    index[d] = number % shape[d];
    number /= shape[d];
  }
  return index;
}

/// Checks that the node moves elements as \p from says: the index in the input
/// of each index of the result, or null for \p otherwise. Before and after the
/// IR passes.
void expectMoves(DimsRef shape, NodeDraft (*makeDraft)(NodeValue),
                 std::optional<Dims> (*from)(DimsRef index),
                 double otherwise = 0) {
  Module module;
  Function *graph = module.createFunction("main");
  Placeholder *input =
      module.createPlaceholder("in", Type(ElemKind::Float, shape), true, false);
  Node *moved = graph->create("move", makeDraft(NodeValue(input)));
  // Behind something that computes, so that the passes have something to do.
  Node *computed = graph->create<ReluNode>("relu", moved->getResult());
  Placeholder *output =
      module.createPlaceholder("out", computed->getType(), false, true);
  graph->create<SaveNode>("save", computed->getResult(), NodeValue(output));
  std::unique_ptr<IRFunction> ir = generate(*graph);
  ASSERT_TRUE(ir);
  Dims strides = getDenseStrides(shape);
  for (bool optimized : {false, true}) {
    if (optimized)
      llvm::cantFail(runPipeline<IRFunction, IRPassContext>(
          getIRPipeline(), getIRPasses(), *ir, IRPassContext()));
    Tensor result = run(*ir, "out", fillWithNumbers);
    for (int64_t i = 0; i < result.getNumElements(); ++i) {
      Dims index = getIndex(result.getType().getShape(), i);
      std::optional<Dims> source = from(index);
      double wanted = otherwise;
      if (source) {
        int64_t number = 0;
        for (unsigned d = 0; d < strides.size(); ++d)
          number += (*source)[d] * strides[d];
        wanted = double(number + 1);
      }
      ASSERT_EQ(result.getAsDouble(i), wanted)
          << "element " << i << (optimized ? " after the passes" : "");
    }
  }
}

//===- Data movement ------------------------------------------------------===//

TEST(IRGen, Slice) {
  expectMoves(
      {5, 7, 3},
      [](NodeValue x) {
        return SliceNode::draft(x, {1, 6, 0}, {2, 3, 3}, {2, -2, 1});
      },
      [](DimsRef i) -> std::optional<Dims> {
        return Dims{1 + 2 * i[0], 6 - 2 * i[1], i[2]};
      });
  // Of nothing.
  expectMoves(
      {5, 7},
      [](NodeValue x) { return SliceNode::draft(x, {5, 2}, {0, 3}, {1, 1}); },
      [](DimsRef) -> std::optional<Dims> { return std::nullopt; });
}

TEST(IRGen, Transpose) {
  expectMoves(
      {2, 3, 1, 7},
      [](NodeValue x) { return TransposeNode::draft(x, {3, 0, 2, 1}); },
      [](DimsRef i) -> std::optional<Dims> {
        return Dims{i[1], i[3], i[2], i[0]};
      });
}

TEST(IRGen, Reshape) {
  expectMoves(
      {3, 4}, [](NodeValue x) { return ReshapeNode::draft(x, {2, 1, 6}); },
      [](DimsRef i) -> std::optional<Dims> {
        int64_t number = i[0] * 6 + i[2];
        return Dims{number / 4, number % 4};
      });
}

TEST(IRGen, Broadcast) {
  expectMoves(
      {3, 1}, [](NodeValue x) { return BroadcastNode::draft(x, {2, 3, 5}); },
      [](DimsRef i) -> std::optional<Dims> { return Dims{i[1], 0}; });
}

TEST(IRGen, Tile) {
  expectMoves(
      {2, 3}, [](NodeValue x) { return TileNode::draft(x, {3, 2}); },
      [](DimsRef i) -> std::optional<Dims> {
        return Dims{i[0] % 2, i[1] % 3};
      });
}

TEST(IRGen, ConcatTwiceTheSame) {
  expectMoves(
      {2, 1, 3}, [](NodeValue x) { return ConcatNode::draft({x, x, x}, 1); },
      [](DimsRef i) -> std::optional<Dims> { return Dims{i[0], 0, i[2]}; });
}

TEST(IRGen, PadConstant) {
  expectMoves(
      {3, 4},
      [](NodeValue x) {
        return PadNode::draft(x, {2, -1, 1, 3}, "constant", 0.5);
      },
      [](DimsRef i) -> std::optional<Dims> {
        if (i[0] < 2 || i[0] >= 5 || i[1] >= 3)
          return std::nullopt;
        return Dims{i[0] - 2, i[1] + 1};
      },
      0.5);
}

TEST(IRGen, PadThatLeavesNothing) {
  expectMoves(
      {3, 4},
      [](NodeValue x) {
        return PadNode::draft(x, {0, -4, 0, 2}, "constant", 7);
      },
      [](DimsRef) -> std::optional<Dims> { return std::nullopt; }, 7);
}

std::string generateText(llvm::StringRef graph) {
  auto module = parseModule(graph, "g", nullptr);
  if (!module)
    return llvm::toString(module.takeError());
  Function &function = *(*module)->getFunctions().front();
  auto ir = generateIR(function, scheduleNodes(function));
  if (!ir)
    return llvm::toString(ir.takeError());
  if (llvm::Error error = verify(**ir))
    return llvm::toString(std::move(error));
  return print(**ir);
}

TEST(IRGen, PadAtOneEndFillsNothingElse) {
  std::string text = generateText(R"(module "m"
placeholder %x : float<3x4> input "x"
placeholder %y : float<3x6> output "y"
function "main" {
  %pad = Pad(%x) {pads = [0, 0, 0, 2], mode = "constant", value = 7.0} : float<3x6>
  Save(%pad, %y)
}
)");
  EXPECT_EQ(llvm::StringRef(text).count("Fill("), 1u) << text;
}

TEST(IRGen, PadEdge) {
  expectMoves(
      {3, 4},
      [](NodeValue x) { return PadNode::draft(x, {2, 1, 5, 0}, "edge", 0); },
      [](DimsRef i) -> std::optional<Dims> {
        return Dims{std::clamp<int64_t>(i[0] - 2, 0, 2),
                    std::clamp<int64_t>(i[1] - 1, 0, 3)};
      });
}

TEST(IRGen, PadReflect) {
  expectMoves(
      {3, 4},
      [](NodeValue x) { return PadNode::draft(x, {2, 1, 1, 3}, "reflect", 0); },
      [](DimsRef i) -> std::optional<Dims> {
        auto mirror = [](int64_t index, int64_t extent) {
          index = std::abs(index);
          return index < extent ? index : 2 * (extent - 1) - index;
        };
        return Dims{mirror(i[0] - 2, 3), mirror(i[1] - 1, 4)};
      });
}

//===- Instructions -------------------------------------------------------===//

TEST(IRGen, NodesBecomeInstructionsOfTheirName) {
  std::string text = generateText(R"(module "m"
placeholder %x : float<2x3> input "x"
placeholder %out : float<2x4> output "out"
constant %w : float<3x4> = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
constant %b : float<4> = [1, 2, 3, 4]
constant %unused : float<4> = [1, 2, 3, 4]
function "main" {
  %y = MatMul(%x, %w) : float<2x4>
  %z = Add(%y, %b) : float<2x4>
  Save(%z, %out)
}
)");
  EXPECT_THAT(text, HasSubstr(R"(
    Alloc(@out %y)
    "y" MatMul(@out %y, @in %x, @in %w)
    Alloc(@out %z)
    "z" ElementWiseLoop(@out %z, @in %y, @in %b_1) {program = {v2:float = Add(v0, v1)}}
    Dealloc(@out %y)
)")) << text;
  EXPECT_THAT(text, HasSubstr("view %b_1 = %b offset 0 strides [0, 1]"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("unused")));
}

TEST(IRGen, AnOperandThatComesTwiceIsOneInput) {
  std::string text = generateText(R"(module "m"
placeholder %x : float<3> input "x"
placeholder %out : float<3> output "out"
function "main" {
  %y = Mul(%x, %x) : float<3>
  Save(%y, %out)
}
)");
  EXPECT_THAT(text, HasSubstr("ElementWiseLoop(@out %y, @in %x) "
                              "{program = {v1:float = Mul(v0, v0)}}"));
}

TEST(IRGen, WhatIsNotLoweredIsNamed) {
  EXPECT_EQ(generateText(R"(module "m"
placeholder %x : float<1x2x2x3> input "x"
placeholder %out : float<1x1x1x3> output "out"
function "main" {
  %pool = GlobalAvgPool(%x) : float<1x1x1x3>
  Save(%pool, %out)
}
)"),
            "GlobalAvgPool 'pool': there is no instruction for it; it must be "
            "lowered");
}

//===- State --------------------------------------------------------------===//

/// Saves into placeholders that are read: a swap, a counter, a copy of the old
/// value that is read through a reshape after the new one is there.
TEST(IRGen, ReadsGiveWhatPlaceholdersHeldAtTheBeginning) {
  Module module;
  Type type(ElemKind::Float, {3});
  auto state = [&](llvm::StringRef name) {
    return NodeValue(module.createPlaceholder(name, type, true, true));
  };
  NodeValue a = state("a"), b = state("b"), count = state("count"),
            old = state("old");
  Function *graph = module.createFunction("main");
  graph->create<SaveNode>("s1", b, a);
  graph->create<SaveNode>("s2", a, b);
  Node *next = graph->create<AddNode>("next", count, count);
  graph->create<SaveNode>("s3", next->getResult(), count);
  Node *column = graph->create<ReshapeNode>("column", count,
                                            llvm::ArrayRef<int64_t>{3, 1});
  Node *negated = graph->create<NegNode>("neg", column->getResult());
  Node *row = graph->create<ReshapeNode>("row", negated->getResult(),
                                         llvm::ArrayRef<int64_t>{3});
  graph->create<SaveNode>("s4", row->getResult(), old);

  std::vector<Node *> asWritten;
  for (Node &node : graph->getNodes())
    asWritten.push_back(&node);
  auto ir = llvm::cantFail(generateIR(*graph, asWritten));
  llvm::cantFail(verify(*ir));
  auto fill = [](const Buffer &buffer, Tensor &tensor) {
    double value = buffer.getModelName() == "a"   ? 1
                   : buffer.getModelName() == "b" ? 2
                                                  : 5;
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      tensor.setFromDouble(i, value);
  };
  for (bool optimized : {false, true}) {
    if (optimized)
      llvm::cantFail(runPipeline<IRFunction, IRPassContext>(
          getIRPipeline(), getIRPasses(), *ir, IRPassContext()));
    EXPECT_EQ(run(*ir, "a", fill).getAsDouble(2), 2);
    EXPECT_EQ(run(*ir, "b", fill).getAsDouble(2), 1);
    EXPECT_EQ(run(*ir, "count", fill).getAsDouble(0), 10);
    EXPECT_EQ(run(*ir, "old", fill).getAsDouble(1), -5);
  }
}

//===- Scheduler ----------------------------------------------------------===//

bool isOperandsFirst(llvm::ArrayRef<Node *> order) {
  llvm::DenseSet<Node *> seen;
  for (Node *node : order) {
    for (NodeValue value : node->getOperands())
      if (value && value.node->getParent() && !seen.count(value.node))
        return false;
    if (!seen.insert(node).second)
      return false;
  }
  return true;
}

TEST(Scheduler, RandomGraphsGetNoWorse) {
  uint64_t before = 0, after = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Module module;
    Function *graph = module.createFunction("main");
    std::vector<NodeValue> values = {module.createPlaceholder(
        "in", Type(ElemKind::Float, {1}), true, false)};
    for (unsigned i = 0; i < 60; ++i) {
      NodeValue a = values[random.below(values.size())];
      NodeValue b = values[values.size() - 1 -
                           random.below(std::min<size_t>(4, values.size()))];
      Node *joined = graph->create<ConcatNode>(
          "c", llvm::ArrayRef<NodeValue>{a, b}, int64_t(0));
      int64_t size = 1 + random.below(64);
      size = std::min(size, joined->getType().getDim(0));
      values.push_back(graph
                           ->create<SliceNode>("s", joined->getResult(),
                                               llvm::ArrayRef<int64_t>{0},
                                               llvm::ArrayRef<int64_t>{size},
                                               llvm::ArrayRef<int64_t>{1})
                           ->getResult());
    }
    std::vector<Node *> asWritten;
    for (Node &node : graph->getNodes())
      asWritten.push_back(&node);
    std::vector<Node *> order = scheduleNodes(*graph);
    ASSERT_EQ(order.size(), asWritten.size());
    ASSERT_TRUE(isOperandsFirst(order)) << seed;
    ASSERT_LE(getSchedulePeak(order), getSchedulePeak(asWritten)) << seed;
    ASSERT_EQ(order, scheduleNodes(*graph)) << "not deterministic";
    before += getSchedulePeak(asWritten);
    after += getSchedulePeak(order);
  }
  EXPECT_LT(after, before * 95 / 100);
}

/// Branches written side by side are computed one after the other.
TEST(Scheduler, BranchesAreComputedDepthFirst) {
  Module module;
  Function *graph = module.createFunction("main");
  NodeValue in = module.createPlaceholder("in", Type(ElemKind::Float, {1000}),
                                          true, false);
  std::vector<NodeValue> heads, sums;
  for (unsigned i = 0; i < 8; ++i)
    heads.push_back(graph->create<ExpNode>("head", in)->getResult());
  for (NodeValue head : heads)
    sums.push_back(graph
                       ->create<ReduceNode>("sum", head, "sum",
                                            llvm::ArrayRef<int64_t>{0}, true)
                       ->getResult());
  NodeValue all =
      graph->create<ConcatNode>("all", sums, int64_t(0))->getResult();
  NodeValue out = module.createPlaceholder("out", all.getType(), false, true);
  graph->create<SaveNode>("save", all, out);
  std::vector<Node *> asWritten;
  for (Node &node : graph->getNodes())
    asWritten.push_back(&node);
  // The sums are written to the output.
  EXPECT_EQ(getSchedulePeak(asWritten), 8 * 4000u);
  EXPECT_EQ(getSchedulePeak(scheduleNodes(*graph)), 4000u);
}

/// Operands in their order, or the one first that needs more than it leaves.
TEST(Scheduler, PostOrderKeepsTheOrderOfOperands) {
  auto module = llvm::cantFail(parseModule(R"(module "m"
placeholder %x : float<1000> input "x"
placeholder %y : float<2> output "y"
function "main" {
  %small = Splat() {elemKind = float, shape = [1], value = 2.0} : float<1>
  %large = Exp(%x) : float<1000>
  %sum = Reduce(%large) {mode = "sum", axes = [0], keepDims = true} : float<1>
  %both = Add(%small, %sum) : float<1>
  %root = Concat(%both, %small) {axis = 0} : float<2>
  Save(%root, %y)
}
)",
                                           "g", nullptr));
  Function &graph = *module->getFunctions().front();
  auto getFirst = [&](ScheduleStrategy strategy) {
    return scheduleNodes(graph, strategy).front()->getName().str();
  };
  EXPECT_EQ(getFirst(ScheduleStrategy::PostOrder), "small");
  EXPECT_EQ(getFirst(ScheduleStrategy::ChildMemSize), "large");
  EXPECT_EQ(getFirst(ScheduleStrategy::Best), "large");
}

/// The parts of a concatenation are made where it lies: it is there from the
/// first part on, and no part is there twice.
TEST(Scheduler, PartsAreMadeInTheirConcatenation) {
  Module module;
  Function *graph = module.createFunction("main");
  NodeValue in =
      module.createPlaceholder("in", Type(ElemKind::Float, {8}), true, false);
  NodeValue a = graph->create<ExpNode>("a", in)->getResult();
  NodeValue b = graph->create<ExpNode>("b", in)->getResult();
  NodeValue inner =
      graph->create<ConcatNode>("inner", llvm::ArrayRef{a, b}, 0)->getResult();
  NodeValue c = graph->create<ExpNode>("c", in)->getResult();
  NodeValue all = graph->create<ConcatNode>("all", llvm::ArrayRef{inner, c}, 0)
                      ->getResult();
  NodeValue sum = graph
                      ->create<ReduceNode>("sum", all, "sum",
                                           llvm::ArrayRef<int64_t>{0}, true)
                      ->getResult();
  graph->create<ExpNode>("d", sum);
  std::vector<Node *> order;
  for (Node &node : graph->getNodes())
    order.push_back(&node);
  SchedulePeak peak = findSchedulePeak(order);
  EXPECT_EQ(peak.bytes, 3 * 32u + 4);
  EXPECT_EQ(peak.node, sum.node);
  order.resize(1);
  EXPECT_EQ(getSchedulePeak(order), 32u);
}

/// A reshaped value is live as long as its last view, and takes no memory
/// twice.
TEST(Scheduler, ViewsShareTheirStorage) {
  Module module;
  Function *graph = module.createFunction("main");
  NodeValue in =
      module.createPlaceholder("in", Type(ElemKind::Float, {8}), true, false);
  NodeValue a = graph->create<ExpNode>("a", in)->getResult();
  NodeValue view =
      graph->create<ReshapeNode>("r", a, llvm::ArrayRef<int64_t>{2, 4})
          ->getResult();
  NodeValue b = graph->create<ExpNode>("b", in)->getResult();
  NodeValue c = graph->create<ExpNode>("c", view)->getResult();
  NodeValue d = graph->create<ExpNode>("d", b)->getResult();
  (void)c;
  (void)d;
  std::vector<Node *> order;
  for (Node &node : graph->getNodes())
    order.push_back(&node);
  EXPECT_EQ(getSchedulePeak(order), 3 * 32u); // a, b and c
}

/// All orders of \p nodes with operands first: the smallest peak of any.
uint64_t findSmallestPeak(llvm::ArrayRef<Node *> nodes,
                          std::vector<Node *> &order) {
  if (order.size() == nodes.size())
    return getSchedulePeak(order);
  uint64_t smallest = std::numeric_limits<uint64_t>::max();
  for (Node *node : nodes) {
    bool isReady = llvm::all_of(node->getOperands(), [&](NodeValue value) {
      return !value.node->getParent() || llvm::is_contained(order, value.node);
    });
    if (!isReady || llvm::is_contained(order, node))
      continue;
    order.push_back(node);
    smallest = std::min(smallest, findSmallestPeak(nodes, order));
    order.pop_back();
  }
  return smallest;
}

/// Of few nodes no order is better.
TEST(Scheduler, SmallGraphsHaveTheBestOrder) {
  unsigned better = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Module module;
    Function *graph = module.createFunction("main");
    std::vector<NodeValue> values;
    for (int64_t extent : {8, 16})
      values.push_back(module.createPlaceholder(
          "in", Type(ElemKind::Float, {extent}), true, false));
    auto pick = [&] { return values[random.below(values.size())]; };
    for (unsigned i = 0; i < 7; ++i) {
      NodeValue a = pick(), b = pick();
      Node *node;
      switch (random.below(4)) {
      case 0:
        node = graph->create<ConcatNode>("n", llvm::ArrayRef{a, b}, 0);
        break;
      case 1:
        node = graph->create<ReduceNode>("n", a, "sum",
                                         llvm::ArrayRef<int64_t>{0}, true);
        break;
      case 2:
        node = graph->create<ReshapeNode>("n", a, a.getShape());
        break;
      default:
        node = graph->create<ExpNode>("n", a);
      }
      values.push_back(node->getResult());
    }
    std::vector<Node *> nodes, order;
    for (Node &node : graph->getNodes())
      nodes.push_back(&node);
    uint64_t smallest = findSmallestPeak(nodes, order);
    EXPECT_EQ(getSchedulePeak(scheduleNodes(*graph)), smallest) << seed;
    uint64_t others = std::numeric_limits<uint64_t>::max();
    for (const std::vector<Node *> &candidate : getCandidateSchedules(*graph))
      others = std::min(others, getSchedulePeak(candidate));
    better += smallest < others;
  }
  EXPECT_GT(better, 0u) << "the candidates alone are worse now and then";
}

/// In time, too: tests/e2e/large_graphs.py.
TEST(Scheduler, LargeGraphsAreScheduled) {
  constexpr unsigned numNodes = 100000;
  for (bool isWide : {false, true}) {
    Module module;
    Function *graph = module.createFunction("main");
    NodeValue in =
        module.createPlaceholder("in", Type(ElemKind::Float, {4}), true, false);
    NodeValue value = in;
    for (unsigned i = 0; i < numNodes; ++i) {
      Node *node = graph->create<AddNode>("n", value, in);
      value = isWide ? in : node->getResult();
    }
    EXPECT_EQ(scheduleNodes(*graph).size(), numNodes);
  }
}

} // namespace
