//===- ReproducibleTest.cpp - The same bits on every level ----------------===//
//
// With TargetOptions::isReproducible every level of x86-64, with one thread and
// three, and with algorithms that are not the fastest, makes the same floats.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"

using namespace glowish;

namespace {

/// What \p build's graph makes on a target.
Tensor runOn(TargetOptions options, const BuildFn &build, bool isReproducible,
             unsigned numThreads = 1, unsigned rank = 0) {
  options.isReproducible = isReproducible;
  options.numThreads = numThreads;
  options.testing.choiceRank = rank;
  // LLVM's own passes change no bit either.
  options.testing.compilesQuickly = numThreads > 1;
  auto backend = llvm::cantFail(CPUBackend::create(options));
  return llvm::cantFail(run(*backend, build));
}

/// Compares all targets with the first, and that with the interpreter: every
/// other one of them in turn with three threads and an algorithm that is not
/// the fastest, and the others with one thread.
void compareBits(const std::string &name, const BuildFn &build,
                 double bound = 1e-5) {
  std::vector<TargetOptions> targets = getLevels();
  Tensor expected = runOn(targets[0], build, /*isReproducible=*/true);
  Tensor interpreted = llvm::cantFail(run(*createInterpreter(), build));
  double largest = 1e-3;
  for (int64_t i = 0; i < expected.getNumElements(); ++i)
    largest = std::max(largest, std::abs(interpreted.getAsDouble(i)));
  for (int64_t i = 0; i < expected.getNumElements(); ++i)
    ASSERT_LE(std::abs(expected.getAsDouble(i) - interpreted.getAsDouble(i)),
              bound * largest)
        << name << " at " << i;
  size_t turn = Random(countCallsInTest()).below(2);
  for (auto [i, target] : llvm::enumerate(targets)) {
    bool isOther = targets.size() == 1 || (i + turn) % 2 == 0;
    if (!isOther && i == 0)
      continue;
    auto [numThreads, rank] =
        isOther ? std::pair(3u, 1 + unsigned(i)) : std::pair(1u, 0u);
    Tensor actual =
        runOn(target, build, /*isReproducible=*/true, numThreads, rank);
    EXPECT_EQ(actual.getByteRange(), expected.getByteRange())
        << name << " on '" << target.cpu << "' " << target.testing.onlyLevel
        << ", " << numThreads << " threads, rank " << rank;
  }
}

struct ConvolutionCase {
  int64_t size, channels, outChannels, kernel, stride, group;
};

NodeValue buildConvolution(Function &f, Module &m, const ConvolutionCase &c,
                           ElemKind kind, bool isConstant) {
  NodeValue x = input(m, kind, {2, c.size, c.size, c.channels});
  Dims shape = {c.outChannels, c.kernel, c.kernel, c.channels / c.group};
  NodeValue filter =
      isConstant ? constant(m, kind, shape) : input(m, kind, shape);
  NodeValue bias = constant(m, kind, {c.outChannels});
  NodeValue y = f.create<ConvolutionNode>("conv", x, filter, bias,
                                          std::vector<int64_t>(2, c.stride),
                                          std::vector<int64_t>(4, c.kernel / 2),
                                          std::vector<int64_t>(2, 1), c.group)
                    ->getResult();
  return f.create<SigmoidNode>("sigmoid", y)->getResult();
}

NodeValue buildMatMul(Function &f, NodeValue x, NodeValue weights) {
  NodeValue y = f.create<MatMulNode>("matmul", x, weights)->getResult();
  return f.create<TanhNode>("tanh", y)->getResult();
}

/// Steps of a recurrent cell with gates.
NodeValue buildSteps(Function &f, Module &m) {
  using enum ElemKind;
  constexpr int64_t width = 33;
  NodeValue state = input(m, Float, {1, width}), x = input(m, Float, {1, 17});
  NodeValue ofInput = constant(m, Float, {17, width});
  NodeValue ofState = constant(m, Float, {width, width});
  for (int step = 0; step < 3; ++step) {
    NodeValue a = f.create<MatMulNode>("a", x, ofInput)->getResult();
    NodeValue b = f.create<MatMulNode>("b", state, ofState)->getResult();
    NodeValue sum = f.create<AddNode>("sum", a, b)->getResult();
    NodeValue gate = f.create<SigmoidNode>("gate", sum)->getResult();
    NodeValue next = f.create<TanhNode>("next", sum)->getResult();
    next = f.create<MulNode>("gated", gate, next)->getResult();
    state = f.create<AddNode>("state", state, next)->getResult();
  }
  return state;
}

} // namespace

TEST(Reproducible, DiffersWithout) {
  std::vector<TargetOptions> targets = getLevels();
  auto isCalled = [](const char *cpu) {
    return [cpu](const TargetOptions &target) { return target.cpu == cpu; };
  };
  auto fused = llvm::find_if(targets, isCalled("x86-64-v3"));
  if (fused == targets.end())
    GTEST_SKIP() << "no level with another order of sums";
  auto build = [](Function &f, Module &m) {
    return buildMatMul(f, input(m, ElemKind::Float, {7, 100}),
                       constant(m, ElemKind::Float, {100, 33}));
  };
  auto plain = llvm::find_if(targets, isCalled("x86-64"));
  EXPECT_NE(runOn(*plain, build, false).getByteRange(),
            runOn(*fused, build, false).getByteRange());
}

TEST(Reproducible, Convolutions) {
  using enum ElemKind;
  for (const ConvolutionCase &c :
       std::initializer_list<ConvolutionCase>{{1, 3, 1, 1, 1, 1},
                                              {7, 33, 17, 1, 1, 1},
                                              {17, 7, 33, 3, 2, 1},
                                              {14, 64, 64, 3, 1, 1},
                                              {33, 40, 40, 3, 1, 1},
                                              {9, 32, 16, 5, 1, 1},
                                              {17, 33, 33, 3, 1, 33},
                                              {17, 6, 9, 3, 1, 3}}) {
    std::string name = std::to_string(c.kernel) + "x" +
                       std::to_string(c.channels) + " on " +
                       std::to_string(c.size);
    compareBits(name, [&](Function &f, Module &m) {
      return buildConvolution(f, m, c, Float, /*isConstant=*/true);
    });
    if (c.size != 17)
      continue;
    compareBits(
        name + " of bfloat16",
        [&](Function &f, Module &m) {
          return buildConvolution(f, m, c, BFloat16, /*isConstant=*/true);
        },
        2e-2);
    compareBits(name + " at run time", [&](Function &f, Module &m) {
      return buildConvolution(f, m, c, Float, /*isConstant=*/false);
    });
  }
}

TEST(Reproducible, MatMuls) {
  using enum ElemKind;
  for (int64_t rows : {1, 7, 33})
    for (ElemKind kind : {Float, Double, Float16, BFloat16}) {
      if (kind != Float && rows != 7)
        continue;
      double bound = kind == Float16 ? 1e-2 : kind == BFloat16 ? 5e-2 : 1e-5;
      std::string name = std::to_string(rows) + " rows";
      compareBits(
          name,
          [&](Function &f, Module &m) {
            return buildMatMul(f, input(m, kind, {rows, 100}),
                               constant(m, kind, {100, 35}));
          },
          bound);
      compareBits(
          name + " at run time",
          [&](Function &f, Module &m) {
            return buildMatMul(f, input(m, kind, {2, rows, 17}),
                               input(m, kind, {2, 17, 35}));
          },
          bound);
    }
  compareBits("steps", buildSteps);
}

TEST(Reproducible, MatMulsOfFewBits) {
  using enum ElemKind;
  for (int64_t rows : {1, 2, 3, 7, 33})
    for (ElemKind kind : {Int8, UInt4})
      for (bool hasZeros : {false, true})
        compareBits(
            std::to_string(rows) + " rows", [&](Function &f, Module &m) {
              auto weights = [&](DimsRef shape) {
                return NodeValue(
                    m.createConstant("w", makeRandom(Type(kind, shape), 5)));
              };
              return f
                  .create<MatMulNBitsNode>(
                      "matmul", input(m, Float, {rows, 100}),
                      weights({100, 35}), constant(m, Float, {4, 35}),
                      hasZeros ? weights({4, 35}) : NodeValue(),
                      /*lhsScales=*/NodeValue(), 32)
                  ->getResult();
            });
}

TEST(Reproducible, Reductions) {
  using enum ElemKind;
  for (ElemKind kind : {Float, Double})
    for (int64_t length : {1, 3, 17, 33, 777})
      for (int64_t axis : {0, 1}) {
        Dims shape = {5, 5};
        shape[axis] = length;
        auto build = [&](auto make) {
          compareBits("length " + std::to_string(length),
                      [&](Function &f, Module &m) {
                        return make(f, input(m, kind, shape));
                      });
        };
        for (const char *mode : {"sum", "mean"})
          build([&](Function &f, NodeValue x) {
            return f
                .create<ReduceNode>("r", x, mode, std::vector<int64_t>{axis},
                                    false)
                ->getResult();
          });
        build([&](Function &f, NodeValue x) {
          return f.create<SoftmaxNode>("s", x, axis)->getResult();
        });
        build([&](Function &f, NodeValue x) {
          return f.create<CumSumNode>("c", x, axis, false, true)->getResult();
        });
      }
  compareBits("means of pixels", [](Function &f, Module &m) {
    return f
        .create<ReduceNode>("r", input(m, ElemKind::Float, {2, 33, 17, 40}),
                            "mean", std::vector<int64_t>{1, 2}, true)
        ->getResult();
  });
}

TEST(Reproducible, Normalizations) {
  using enum ElemKind;
  for (int64_t length : {1, 3, 17, 33, 100})
    compareBits("layer", [&](Function &f, Module &m) {
      return f
          .create<LayerNormalizationNode>(
              "n", input(m, Float, {7, length}), constant(m, Float, {length}),
              constant(m, Float, {length}), 1, 1e-3, true)
          ->getResult();
    });
  // Pixels in one part, and in several.
  for (int64_t size : {3, 17, 40})
    for (int64_t groups : {1, 3, 33})
      compareBits("groups", [&](Function &f, Module &m) {
        return f
            .create<GroupNormalizationNode>(
                "n", input(m, Float, {1, size, size, 33}),
                constant(m, Float, {33}), constant(m, Float, {33}), 3, groups,
                1e-3)
            ->getResult();
      });
  compareBits("neighbours", [&](Function &f, Module &m) {
    return f
        .create<LocalResponseNormalizationNode>(
            "l", input(m, Float, {2, 7, 7, 33}), 5, 0.1, 0.75, 1.0)
        ->getResult();
  });
}

TEST(Reproducible, Attention) {
  using enum ElemKind;
  // The keys of the last fit the stack only where vectors are short.
  for (auto [queries, keys, isCausal] : {std::tuple(1, 17, false),
                                         {33, 33, true},
                                         {70, 65, false},
                                         {3, 6000, false}})
    compareBits("attention", [&, queries = queries, keys = keys,
                              isCausal = isCausal](Function &f, Module &m) {
      return f
          .create<AttentionNode>("a", input(m, Float, {2, queries, 33}),
                                 input(m, Float, {2, keys, 33}),
                                 input(m, Float, {2, keys, 35}), NodeValue(),
                                 0.3, isCausal)
          ->getResult();
    });
}

TEST(Reproducible, AttentionInteger) {
  using enum ElemKind;
  for (auto [queries, keys] : {std::pair(1, 17), {70, 65}, {3, 6000}})
    compareBits(
        "attention",
        [&, queries = queries, keys = keys](Function &f, Module &m) {
          NodeValue sums =
              f.create<AttentionIntegerNode>(
                   "a", input(m, UInt8, {2, queries, 33}),
                   input(m, Int8, {2, keys, 33}),
                   input(m, UInt8, {2, keys, 35}), NodeValue(), 0.01,
                   /*causal=*/false, /*queryZeroPoint=*/3,
                   /*valueZeroPoint=*/130, 1.0 / 255, /*maxWeight=*/255)
                  ->getResult();
          return f.create<CastNode>("c", sums, Float)->getResult();
        },
        0.05);
}

TEST(Reproducible, Functions) {
  using enum ElemKind;
  for (ElemKind kind : {Float, Double, Float16})
    compareBits(
        "functions",
        [&](Function &f, Module &m) {
          NodeValue x = input(m, kind, {3, 333});
          NodeValue sum = f.create<ExpNode>("exp", x)->getResult();
          auto add = [&](NodeValue y) {
            sum = f.create<AddNode>("sum", sum, y)->getResult();
          };
          add(f.create<SigmoidNode>("sigmoid", x)->getResult());
          add(f.create<TanhNode>("tanh", x)->getResult());
          add(f.create<ErfNode>("erf", x)->getResult());
          add(f.create<GeluNode>("gelu", x)->getResult());
          add(f.create<SinNode>("sin", x)->getResult());
          add(f.create<AtanNode>("atan", x)->getResult());
          add(f.create<ErfcNode>("erfc", x)->getResult());
          add(f.create<Expm1Node>("expm1", x)->getResult());
          add(f.create<SoftplusNode>("softplus", x)->getResult());
          add(f.create<MishNode>("mish", x)->getResult());
          add(f.create<EluNode>("elu", x, 1.0)->getResult());
          add(f.create<TanNode>("tan", x)->getResult());
          add(f.create<AsinNode>("asin", x)->getResult());
          add(f.create<AcosNode>("acos", x)->getResult());
          add(f.create<SinhNode>("sinh", x)->getResult());
          add(f.create<CoshNode>("cosh", x)->getResult());
          add(f.create<AsinhNode>("asinh", x)->getResult());
          NodeValue positive = f.create<ExpNode>("positive", x)->getResult();
          add(f.create<LogNode>("log", positive)->getResult());
          add(f.create<SqrtNode>("sqrt", positive)->getResult());
          add(f.create<PowNode>("pow", positive, x)->getResult());
          add(f.create<Log1pNode>("log1p", positive)->getResult());
          if (kind == Float16) // which has no large angles
            return sum;
          NodeValue large = f.create<ReciprocalNode>("large", x)->getResult();
          for (int i = 0; i < 2; ++i)
            large = f.create<MulNode>("large", large, large)->getResult();
          add(f.create<CosNode>("cos", large)->getResult());
          return sum;
        },
        kind == Float16 ? 1e-2 : 1e-5);
}

TEST(Reproducible, Pools) {
  for (bool isMean : {false, true})
    compareBits("pool", [&](Function &f, Module &m) {
      NodeValue x = input(m, ElemKind::Float, {2, 33, 17, 40});
      std::vector<int64_t> kernels = {3, 3}, strides = {2, 2},
                           pads = {1, 1, 1, 1}, dilations = {1, 1};
      return isMean ? f.create<AvgPoolNode>("p", x, kernels, strides, pads,
                                            dilations, false)
                          ->getResult()
                    : f.create<MaxPoolNode>("p", x, kernels, strides, pads,
                                            dilations)
                          ->getResult();
    });
}

TEST(Reproducible, FilterGradients) {
  using enum ElemKind;
  // Few channels and many, an image in the cache and several that are not.
  for (auto [size, channels, outChannels] :
       {std::tuple(17, 1, 8), {28, 33, 17}, {64, 32, 64}})
    compareBits(
        "gradient",
        [&, size = size, channels = channels,
         outChannels = outChannels](Function &f, Module &m) {
          return f
              .create<ConvolutionFilterGradientNode>(
                  "g", input(m, Float, {3, size, size, channels}),
                  input(m, Float, {3, size, size, outChannels}),
                  std::vector<int64_t>{3, 3}, std::vector<int64_t>{1, 1},
                  std::vector<int64_t>{1, 1, 1, 1}, std::vector<int64_t>{1, 1},
                  1)
              ->getResult();
        },
        1e-4);
}
