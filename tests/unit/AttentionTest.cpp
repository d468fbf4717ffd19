//===- AttentionTest.cpp - Attention --------------------------------------===//
//
// The interpreter against the definition, compiled code against the
// interpreter, and what becomes of the copies around.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "InferTypes.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Optimizer/Passes.h"
#include "gmock/gmock.h"

using namespace glowish;

namespace {

struct AttentionCase {
  Dims batch;
  int64_t queries, keys, depth, columns;
  /// Empty for none.
  Dims mask;
  bool causal;
};

Dims join(DimsRef batch, int64_t rows, int64_t columns) {
  Dims shape(batch);
  shape.append({rows, columns});
  return shape;
}

NodeValue buildAttention(const AttentionCase &c, ElemKind kind, Function &f,
                         Module &m) {
  NodeValue query = input(m, kind, join(c.batch, c.queries, c.depth));
  NodeValue key = input(m, kind, join(c.batch, c.keys, c.depth));
  NodeValue value = input(m, kind, join(c.batch, c.keys, c.columns));
  NodeValue mask = c.mask.empty() ? NodeValue() : input(m, kind, c.mask);
  return f
      .create<AttentionNode>("attention", query, key, value, mask,
                             /*scale=*/1.5, c.causal)
      ->getResult();
}

const AttentionCase cases[] = {
    {{}, 3, 7, 5, 1, {}, false},
    {{2}, 1, 1, 1, 17, {}, false},
    {{1, 3}, 17, 33, 7, 33, {}, false},
    {{2, 3}, 7, 17, 33, 3, {2, 1, 1, 17}, false},
    {{2, 3}, 33, 5, 16, 16, {33, 5}, false},
    {{2, 3}, 3, 7, 16, 48, {2, 3, 3, 7}, false},
    {{1, 2}, 64, 64, 64, 64, {1, 1, 1, 64}, false},
    {{1, 2}, 33, 33, 17, 33, {}, true},
    {{3}, 65, 70, 8, 65, {1, 70}, true},
    {{2}, 1, 40, 16, 16, {}, true},
    {{2}, 3, 3, 0, 7, {}, false},
    {{2}, 0, 3, 4, 7, {}, false},
    {{0}, 3, 3, 4, 7, {3, 3}, true},
    {{2}, 3, 3, 4, 0, {}, false},
};

/// Element (head, m, e) of the result by the definition.
double getExpected(const AttentionCase &c, llvm::ArrayRef<Tensor> inputs,
                   int64_t head, int64_t m, int64_t e) {
  auto getMask = [&](int64_t n) {
    if (c.mask.empty())
      return 0.0;
    // Numbers of the dimensions, from the last on.
    int64_t offset = 0, stride = 1, rest = head;
    Dims index = {n, m};
    for (int64_t extent : llvm::reverse(c.batch)) {
      index.push_back(rest % extent);
      rest /= extent;
    }
    for (auto [extent, i] : llvm::zip(llvm::reverse(c.mask), index)) {
      offset += extent == 1 ? 0 : i * stride;
      stride *= extent;
    }
    return inputs[3].getAsDouble(offset);
  };
  double total = 0, sum = 0;
  for (int64_t n = 0; n < c.keys; ++n) {
    if (c.causal && n > m + c.keys - c.queries)
      continue;
    double score = 0;
    for (int64_t k = 0; k < c.depth; ++k)
      score += inputs[0].getAsDouble((head * c.queries + m) * c.depth + k) *
               inputs[1].getAsDouble((head * c.keys + n) * c.depth + k);
    double weight = std::exp(score * 1.5 + getMask(n));
    total += weight;
    sum += weight * inputs[2].getAsDouble((head * c.keys + n) * c.columns + e);
  }
  return sum / total;
}

} // namespace

TEST(Attention, Definition) {
  for (const AttentionCase &c : cases) {
    Tensor actual =
        llvm::cantFail(run(*createInterpreter(), [&](Function &f, Module &m) {
          return buildAttention(c, ElemKind::Float, f, m);
        }));
    auto random = [](Dims shape, uint64_t seed) {
      return makeRandom(Type(ElemKind::Float, shape), seed);
    };
    std::vector<Tensor> inputs;
    inputs.push_back(random(join(c.batch, c.queries, c.depth), 7));
    inputs.push_back(random(join(c.batch, c.keys, c.depth), 8));
    inputs.push_back(random(join(c.batch, c.keys, c.columns), 9));
    if (!c.mask.empty())
      inputs.push_back(random(c.mask, 10));
    for (int64_t i = 0; i < actual.getNumElements(); ++i) {
      int64_t row = i / c.columns;
      ASSERT_NEAR(actual.getAsDouble(i),
                  getExpected(c, inputs, row / c.queries, row % c.queries,
                              i % c.columns),
                  1e-6)
          << i;
    }
  }
}

TEST(Attention, CompiledCode) {
  for (auto [kind, bound] :
       {std::pair(ElemKind::Float, 1e-5), std::pair(ElemKind::Double, 1e-5),
        std::pair(ElemKind::Float16, 0x1p-10),
        std::pair(ElemKind::BFloat16, 0x1p-7)}) {
    unsigned number = 0;
    for (const AttentionCase &c : cases)
      compare(
          "case " + std::to_string(number++),
          [&](Function &f, Module &m) { return buildAttention(c, kind, f, m); },
          bound);
  }
}

//===- Masked queries -----------------------------------------------------===//

/// An attention whose mask, a constant, hides all keys from every third query.
static NodeValue buildMasked(const AttentionCase &c, ElemKind kind,
                             bool nanIfMasked, Function &f, Module &m) {
  Tensor hidden(Type(kind, {c.queries, c.keys}));
  for (int64_t i = 0; i < hidden.getNumElements(); ++i)
    hidden.setFromDouble(i,
                         i / c.keys % 3 == 1 || i % 5 == 2 ? -INFINITY : 0.25);
  // Added to an input, so that it is none.
  NodeValue mask(m.createConstant("mask", std::move(hidden)));
  mask = f.create<AddNode>("added", mask, input(m, kind, {1, c.keys}))
             ->getResult();
  return f
      .create<AttentionNode>(
          "attention", input(m, kind, join(c.batch, c.queries, c.depth)),
          input(m, kind, join(c.batch, c.keys, c.depth)),
          input(m, kind, join(c.batch, c.keys, c.columns)), mask,
          /*scale=*/1.5, c.causal, nanIfMasked)
      ->getResult();
}

static void expectMasked(const AttentionCase &c, const Tensor &result,
                         bool nanIfMasked, const std::string &where) {
  for (int64_t i = 0; i < result.getNumElements(); ++i) {
    int64_t query = i / c.columns % c.queries;
    double value = result.getAsDouble(i);
    // A causal query 0 of one key more has key 2 hidden and others left.
    bool isMasked = query % 3 == 1;
    if (isMasked)
      ASSERT_TRUE(nanIfMasked ? std::isnan(value) : value == 0)
          << "query " << query << " on " << where << ": " << value;
    else
      ASSERT_TRUE(std::isfinite(value)) << "query " << query << " on " << where;
  }
}

/// Blocks, and few queries; with and without the mask of the future.
TEST(Attention, QueriesWithoutKeys) {
  const AttentionCase masked[] = {
      {{}, 3, 7, 5, 1, {}, false},         {{1, 3}, 17, 33, 7, 33, {}, false},
      {{2}, 33, 40, 16, 16, {}, true},     {{2, 3}, 5, 17, 8, 3, {}, false},
      {{1, 2}, 64, 64, 64, 64, {}, false}, {{2}, 2, 70, 9, 5, {}, true}};
  for (ElemKind kind : {ElemKind::Float, ElemKind::Double, ElemKind::Float16,
                        ElemKind::BFloat16})
    for (bool nanIfMasked : {false, true})
      for (const AttentionCase &c : masked) {
        BuildFn build = [&](Function &f, Module &m) {
          return buildMasked(c, kind, nanIfMasked, f, m);
        };
        expectMasked(c, llvm::cantFail(run(*createInterpreter(), build)),
                     nanIfMasked, "the interpreter");
        for (const TargetOptions &target : getLevelsInTurn())
          expectMasked(c,
                       llvm::cantFail(run(
                           *llvm::cantFail(CPUBackend::create(target)), build)),
                       nanIfMasked, target.cpu);
      }
}

/// Runs \p module, whose inputs are random.
static Tensor runModule(std::unique_ptr<Module> module) {
  auto backend = createInterpreter();
  PlannedProgram program = llvm::cantFail(
      Compilation(*backend, CompilationOptions()).compile(std::move(module)));
  auto session = llvm::cantFail(Session::create(program));
  uint64_t seed = 7;
  for (const Buffer *placeholder : session->getPlaceholders())
    if (placeholder->isInput())
      llvm::cantFail(session->setInput(
          placeholder, makeRandom(placeholder->getType(), seed++)));
  llvm::cantFail(session->run());
  return session->getTensor(llvm::cantFail(session->findPlaceholder("y")))
      .clone();
}

/// Decomposed, as for the quantizer and other dialects; and recognized again,
/// unless the weights are an output, too.
TEST(Attention, QueriesWithoutKeysDecomposed) {
  const AttentionCase c = {{2}, 5, 7, 4, 3, {}, false};
  for (bool nanIfMasked : {false, true})
    for (bool savesWeights : {false, true}) {
      auto module = buildModule([&](Function &f, Module &m) {
        return buildMasked(c, ElemKind::Float, nanIfMasked, f, m);
      });
      Function &function = *module->getFunctions().front();
      auto *pass = findPass(getGraphPasses(), "expand-attention");
      ASSERT_TRUE(llvm::cantFail(pass->run(function, GraphPassContext())));
      MatMulNode *last = nullptr;
      for (Node &node : function.getNodes())
        if (auto *matMul = llvm::dyn_cast<MatMulNode>(&node))
          last = matMul;
      ASSERT_TRUE(last);
      if (savesWeights)
        function.create<SaveNode>(
            "save", last->getLhs(),
            NodeValue(module->createPlaceholder("w", last->getLhs().getType(),
                                                false, true)));
      expectMasked(c, runModule(std::move(module)), nanIfMasked,
                   savesWeights ? "nodes" : "a recognized attention");
    }
}

/// Heads that share their keys and values.
struct SharedCase {
  int64_t groups, repeats, queries, keys, depth, columns;
  bool hasMask, causal;
};

static NodeValue buildShared(const SharedCase &c, Function &f, Module &m) {
  Dims heads = {2, c.groups, c.repeats};
  auto repeat = [&](int64_t columns) {
    NodeValue one =
        input(m, ElemKind::Float, join(Dims{2, c.groups, 1}, c.keys, columns));
    return f.create<BroadcastNode>("repeat", one, join(heads, c.keys, columns))
        ->getResult();
  };
  NodeValue query = input(m, ElemKind::Float, join(heads, c.queries, c.depth));
  NodeValue key = repeat(c.depth), value = repeat(c.columns);
  NodeValue mask;
  if (c.hasMask)
    mask = input(m, ElemKind::Float, Dims{2, 1, c.repeats, c.queries, c.keys});
  return f
      .create<AttentionNode>("attention", query, key, value, mask,
                             /*scale=*/0.5, c.causal)
      ->getResult();
}

/// Few queries: more rows than are computed together, and tails on every axis.
TEST(Attention, FewQueriesOfHeadsThatShareKeys) {
  for (const SharedCase &c : {SharedCase{1, 1, 1, 1, 1, 1, false, false},
                              SharedCase{2, 3, 1, 33, 64, 64, true, false},
                              SharedCase{1, 7, 3, 17, 7, 33, true, true},
                              SharedCase{2, 5, 8, 65, 17, 3, false, true},
                              SharedCase{1, 3, 7, 7, 33, 130, false, true},
                              SharedCase{3, 17, 1, 257, 40, 17, true, false},
                              SharedCase{2, 2, 9, 33, 16, 16, true, true}})
    compare(std::to_string(c.keys) + " keys",
            [&](Function &f, Module &m) { return buildShared(c, f, m); });
}

/// More scores than a task has stack for.
TEST(Attention, ManyKeys) {
  AttentionCase c = {{}, 3, 9000, 4, 5, {}, true};
  compare("many", [&](Function &f, Module &m) {
    return buildAttention(c, ElemKind::Float, f, m);
  });
}

static void compareThreads(const BuildFn &build, int64_t numThreads) {
  TargetOptions options;
  Tensor one =
      llvm::cantFail(run(*llvm::cantFail(CPUBackend::create(options)), build));
  options.numThreads = numThreads;
  Tensor several =
      llvm::cantFail(run(*llvm::cantFail(CPUBackend::create(options)), build));
  for (int64_t i = 0; i < one.getNumElements(); ++i)
    ASSERT_EQ(one.getAsDouble(i), several.getAsDouble(i)) << i;
}

/// Any number of threads computes the same.
TEST(Attention, Threads) {
  for (const AttentionCase &c :
       {AttentionCase{{2, 3}, 70, 65 + 5, 16, 16, {}, true},
        AttentionCase{{2, 5}, 3, 1000, 16, 16, {}, true}})
    compareThreads(
        [&](Function &f, Module &m) {
          return buildAttention(c, ElemKind::Float, f, m);
        },
        3);
  // More threads than groups of heads.
  SharedCase shared = {1, 6, 3, 700, 16, 16, true, false};
  for (int64_t numThreads : {3, 7})
    compareThreads(
        [&](Function &f, Module &m) { return buildShared(shared, f, m); },
        numThreads);
}

/// Heads side by side in one tensor, as a fused projection leaves them.
static NodeValue buildHeads(Function &f, Module &m) {
  constexpr int64_t tokens = 33, heads = 3, depth = 17;
  NodeValue x = input(m, ElemKind::Float, {2, tokens, 3 * heads * depth});
  x = f.create<TanhNode>("projection", x)->getResult();
  std::vector<int64_t> swapped = {0, 2, 1, 3}, ones(3, 1);
  NodeValue parts[3];
  for (int64_t part = 0; part < 3; ++part) {
    std::vector<int64_t> starts = {0, 0, part * heads * depth};
    std::vector<int64_t> sizes = {2, tokens, heads * depth};
    NodeValue own =
        f.create<SliceNode>("slice", x, starts, sizes, ones)->getResult();
    own = f.create<ReshapeNode>("heads", own, Dims{2, tokens, heads, depth})
              ->getResult();
    parts[part] =
        f.create<TransposeNode>("transpose", own, swapped)->getResult();
  }
  NodeValue result =
      f.create<AttentionNode>("attention", parts[0], parts[1], parts[2],
                              NodeValue(), 0.25, /*causal=*/false)
          ->getResult();
  result = f.create<TransposeNode>("back", result, swapped)->getResult();
  return f
      .create<ReshapeNode>("joined", result, Dims{2, tokens, heads * depth})
      ->getResult();
}

TEST(Attention, HeadsAreViews) {
  compare("heads", buildHeads);
  auto backend = llvm::cantFail(CPUBackend::create({}));
  EXPECT_EQ(countInstrs(*backend, buildHeads, "Copy"), 0u);
}

TEST(Attention, Types) {
  const char *attrs = " {scale = 1.0, causal = false}";
  const char *causal = " {scale = 1.0, causal = true}";
  EXPECT_TYPE(llvm::Twine("Attention(float<2x3x4>, float<2x5x4>, float<2x5x7>, "
                          "float<3x1>)") +
                  attrs,
              "float<2x3x7>");
  auto refuses = [](const llvm::Twine &text, const char *message) {
    EXPECT_THAT(infer(text), testing::HasSubstr(message));
  };
  refuses(llvm::Twine("Attention(float<3x4>, float<5x3>, float<5x7>, none)") +
              attrs,
          "as query has");
  refuses(llvm::Twine("Attention(float<3x4>, float<5x4>, float<6x7>, none)") +
              attrs,
          "as key has");
  refuses(llvm::Twine("Attention(float<3x4>, float<0x4>, float<0x7>, none)") +
              attrs,
          "softmax of nothing");
  refuses(llvm::Twine("Attention(float<2x3x4>, float<1x5x4>, float<2x5x7>, "
                      "none)") +
              attrs,
          "leading dimensions");
  refuses(llvm::Twine("Attention(float<3x4>, float<5x4>, float<5x7>, "
                      "float<4x5>)") +
              attrs,
          "broadcast");
  refuses(llvm::Twine("Attention(float<5x4>, float<3x4>, float<3x7>, none)") +
              causal,
          "fewer keys");
}
