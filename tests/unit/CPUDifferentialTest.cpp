//===- CPUDifferentialTest.cpp - Compiled code against the interpreter ----===//
//
// Small graphs of unusual shapes, run by the interpreter and by the CPU back
// end for levels of this machine.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "Instrs.h"
#include "ScalarOperands.h"
#include "glowish/IR/Instrs.h"

using namespace glowish;

namespace {

struct ConvolutionCase {
  int64_t batch, height, width, channels, outChannels, kernel, stride, group;
  std::vector<int64_t> pads;
  int64_t dilation;
};

NodeValue buildConvolution(const ConvolutionCase &c, ElemKind kind,
                           bool isConstant, Function &f, Module &m) {
  NodeValue x = input(m, kind, {c.batch, c.height, c.width, c.channels});
  Dims shape = {c.outChannels, c.kernel, c.kernel, c.channels / c.group};
  NodeValue w = isConstant ? constant(m, kind, shape) : input(m, kind, shape);
  NodeValue bias =
      c.group % 2 ? constant(m, kind, {c.outChannels}) : NodeValue();
  std::vector<int64_t> strides(2, c.stride), dilations(2, c.dilation);
  return f
      .create<ConvolutionNode>("conv", x, w, bias, strides, c.pads, dilations,
                               c.group)
      ->getResult();
}

} // namespace

TEST(CPUDifferential, Convolution) {
  const ConvolutionCase cases[] = {
      {1, 7, 7, 3, 17, 3, 1, 1, {1, 1, 1, 1}, 1},
      {2, 5, 33, 7, 33, 3, 2, 1, {0, 1, 2, 0}, 1},
      {1, 9, 17, 1, 1, 5, 1, 1, {2, 2, 2, 2}, 1},
      {1, 3, 3, 17, 7, 1, 1, 1, {0, 0, 0, 0}, 1},
      {2, 17, 1, 33, 65, 1, 3, 1, {0, 0, 0, 0}, 1},
      {1, 11, 13, 3, 8, 7, 2, 1, {3, 3, 3, 3}, 1},
      {1, 9, 9, 4, 6, 3, 1, 2, {1, 0, 1, 0}, 2},
      {1, 8, 8, 33, 33, 3, 1, 33, {1, 1, 1, 1}, 1},
      {1, 9, 15, 17, 17, 5, 2, 17, {2, 2, 1, 1}, 1},
      {1, 6, 6, 7, 14, 3, 1, 7, {1, 1, 1, 1}, 1},
      {1, 1, 1, 5, 3, 3, 1, 1, {2, 2, 2, 2}, 1},
      {0, 4, 4, 3, 3, 3, 1, 1, {0, 0, 0, 0}, 1},
      // Taps so far apart that many tiles behind one another have some of them,
      // the same ones, or none.
      {1, 3, 65, 3, 17, 3, 1, 1, {45, 90, 45, 90}, 45},
      {1, 1, 7, 3, 17, 2, 1, 1, {50, 50, 0, 50}, 50},
      {2, 4, 40, 5, 9, 3, 2, 1, {60, 61, 60, 59}, 60},
  };
  unsigned number = 0;
  for (const ConvolutionCase &c : cases) {
    std::string name = "case " + std::to_string(number++);
    for (bool isConstant : {true, false})
      compare(name, [&](Function &f, Module &m) {
        return buildConvolution(c, ElemKind::Float, isConstant, f, m);
      });
    compare(
        name + " double",
        [&](Function &f, Module &m) {
          return buildConvolution(c, ElemKind::Double, true, f, m);
        },
        1e-12);
  }
}

/// Convolutions large enough for the matrix units, where there are some:
/// unusual channels and sizes, strides, dilations, chunks of the reduction that
/// don't fill up, many and few tiles.
static const ConvolutionCase largeCases[] = {
    {1, 33, 17, 48, 40, 3, 1, 1, {1, 1, 1, 1}, 1},
    {2, 17, 33, 95, 65, 3, 2, 1, {0, 1, 2, 0}, 1},
    {1, 19, 23, 64, 17, 3, 1, 1, {2, 2, 2, 2}, 2},
    {1, 7, 7, 320, 61, 1, 1, 1, {0, 0, 0, 0}, 1},
    {3, 9, 11, 96, 96, 1, 1, 1, {0, 0, 0, 0}, 1},
    {1, 31, 31, 127, 100, 1, 2, 1, {0, 0, 0, 0}, 1},
    {1, 35, 35, 60, 64, 5, 3, 1, {2, 2, 2, 2}, 1},
    {1, 8, 8, 640, 72, 1, 1, 1, {0, 0, 0, 0}, 1},
    {1, 5, 7, 608, 96, 1, 1, 1, {0, 0, 0, 0}, 1},
    {2, 40, 40, 64, 48, 1, 1, 1, {0, 0, 0, 0}, 1},
    {1, 13, 11, 256, 96, 3, 1, 1, {1, 0, 0, 1}, 1},
};

TEST(CPUDifferential, LargeConvolution) {
  auto backend = llvm::cantFail(CPUBackend::create({}));
  bool hasMatrixUnits = backend->getTarget().hasMatrixInt8;
  unsigned number = 0;
  for (const ConvolutionCase &c : largeCases) {
    auto build = [&](Function &f, Module &m) {
      return buildConvolution(c, ElemKind::Float, true, f, m);
    };
    compare("case " + std::to_string(number), build, 3e-6);
    if (hasMatrixUnits) {
      PlannedProgram program = llvm::cantFail(compileFor(*backend, build));
      EXPECT_TRUE(llvm::any_of(
          program.getIR().getInstrs(),
          [](const Instruction &instr) {
            auto *convolution = llvm::dyn_cast<CPUConvolutionInstr>(&instr);
            return convolution &&
                   convolution->getAlgorithm().str() == "int8-slices";
          }))
          << "case " << number;
    }
    ++number;
  }
}

/// Random shapes, on several numbers of threads.
TEST(CPUDifferential, RandomConvolution) {
  Random random(12);
  auto pick = [&](int64_t low, int64_t high) {
    return low + int64_t(random.below(uint64_t(high - low + 1)));
  };
  for (unsigned number = 0; number < 24; ++number) {
    ConvolutionCase c;
    c.kernel = number % 3 == 0 ? 1 : pick(2, 5);
    c.stride = pick(1, 3);
    c.dilation = pick(1, 2);
    c.batch = pick(1, 3);
    c.channels = pick(20, 200);
    c.outChannels = pick(3, 150);
    c.group = 1;
    int64_t reach = (c.kernel - 1) * c.dilation + 1;
    c.height = reach + pick(0, 30);
    c.width = reach + pick(0, 30);
    for (unsigned i = 0; i < 4; ++i)
      c.pads.push_back(pick(0, reach - 1));
    auto build = [&](Function &f, Module &m) {
      return buildConvolution(c, ElemKind::Float, true, f, m);
    };
    Tensor expected = llvm::cantFail(run(*createInterpreter(), build));
    double largest = 0;
    for (int64_t i = 0; i < expected.getNumElements(); ++i)
      largest = std::max(largest, std::abs(expected.getAsDouble(i)));
    for (unsigned threads : {1u, 2u, 5u}) {
      TargetOptions options;
      options.numThreads = threads;
      auto backend = llvm::cantFail(CPUBackend::create(options));
      Tensor actual = llvm::cantFail(run(*backend, build));
      for (int64_t i = 0; i < expected.getNumElements(); ++i)
        ASSERT_LE(std::abs(actual.getAsDouble(i) - expected.getAsDouble(i)),
                  3e-6 * largest)
            << "case " << number << ", " << threads << " threads, at " << i;
    }
  }
}

/// Each pixel of a 1x1 convolution is as exact as its own magnitude allows,
/// whatever the others are, and only an infinite one has no finite result.
TEST(CPUDifferential, MagnitudesOfPixels) {
  const double magnitudes[] = {1, 1e-20, 1e20, 0, 1e30, 1e-3};
  constexpr int64_t pixels = 12 * 12, channels = 96;
  auto build = [&](Function &f, Module &m) {
    Tensor factors(Type(ElemKind::Float, {1, 12, 12, 1}));
    for (int64_t i = 0; i < pixels; ++i)
      factors.setFromDouble(i, i == 100 ? INFINITY : magnitudes[i % 6]);
    NodeValue x = input(m, ElemKind::Float, {1, 12, 12, 160});
    x = f.create<AbsNode>("abs", x)->getResult();
    x = f.create<MulNode>("mul", x,
                          NodeValue(m.createConstant("f", std::move(factors))))
            ->getResult();
    std::vector<int64_t> ones(2, 1), pads(4, 0);
    return f
        .create<ConvolutionNode>(
            "conv", x, constant(m, ElemKind::Float, {channels, 1, 1, 160}),
            NodeValue(), ones, pads, ones, int64_t(1))
        ->getResult();
  };
  Tensor expected = llvm::cantFail(run(*createInterpreter(), build));
  auto backend = llvm::cantFail(CPUBackend::create({}));
  Tensor actual = llvm::cantFail(run(*backend, build));
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    double largest = 0;
    for (int64_t c = 0; c < channels; ++c)
      largest = std::max(largest,
                         std::abs(expected.getAsDouble(pixel * channels + c)));
    for (int64_t i = pixel * channels; i < (pixel + 1) * channels; ++i) {
      if (pixel == 100)
        EXPECT_FALSE(std::isfinite(actual.getAsDouble(i))) << i;
      else
        ASSERT_LE(std::abs(actual.getAsDouble(i) - expected.getAsDouble(i)),
                  3e-6 * largest)
            << "pixel " << pixel;
    }
  }
}

/// Threads cut the work, not the sums: the results are the same bits.
TEST(CPUDifferential, Threads) {
  unsigned number = 0;
  for (const ConvolutionCase &c : largeCases) {
    auto build = [&](Function &f, Module &m) {
      NodeValue y = buildConvolution(c, ElemKind::Float, true, f, m);
      y = f.create<SigmoidNode>("sigmoid", y)->getResult();
      y = f.create<MaxPoolNode>("pool", y, std::vector<int64_t>{2, 2},
                                std::vector<int64_t>{1, 1},
                                std::vector<int64_t>{1, 0, 0, 1},
                                std::vector<int64_t>{1, 1})
              ->getResult();
      return f.create<SoftmaxNode>("softmax", y, int64_t(3))->getResult();
    };
    std::vector<Tensor> results;
    for (unsigned threads : {1u, 3u}) {
      TargetOptions options;
      options.numThreads = threads;
      auto backend = llvm::cantFail(CPUBackend::create(options));
      auto result = run(*backend, build);
      ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
      results.push_back(std::move(*result));
    }
    EXPECT_EQ(results[0].getByteRange(), results[1].getByteRange())
        << "case " << number++;
  }
}

/// Of few channels, several pixels go through together.
TEST(CPUDifferential, Epilogues) {
  for (int64_t channels : {1, 2, 3, 5, 6, 8, 19}) {
    const ConvolutionCase c = {1, 7, 9, 5, channels, 3, 1, 1, {1, 1, 1, 1}, 1};
    std::string name = std::to_string(channels) + " channels ";
    compare(name + "with residual, gate and activation",
            [&](Function &f, Module &m) {
              NodeValue y = buildConvolution(c, ElemKind::Float, true, f, m);
              NodeValue other = input(m, ElemKind::Float, y.getShape());
              NodeValue gate = input(m, ElemKind::Float, {1, 1, 1, channels});
              NodeValue factor = input(m, ElemKind::Float, {1, 1, 1, 1});
              y = f.create<AddNode>("add", other, y)->getResult();
              y = f.create<SiluNode>("silu", y)->getResult();
              y = f.create<MulNode>("mul", y, gate)->getResult();
              y = f.create<MulNode>("mul", y, factor)->getResult();
              return f.create<ClipNode>("clip", y, -0.5, 6.0)->getResult();
            });
    compare(name + "into a concatenation", [&](Function &f, Module &m) {
      NodeValue y = buildConvolution(c, ElemKind::Float, true, f, m);
      NodeValue other = input(m, ElemKind::Float, {1, 7, 9, 3});
      return f
          .create<ConcatNode>("cat", llvm::ArrayRef<NodeValue>{other, y}, 3)
          ->getResult();
    });
  }
}

TEST(CPUDifferential, MatMul) {
  for (int64_t rows : {1, 3, 17})
    for (int64_t depth : {1, 7, 33})
      for (int64_t columns : {1, 3, 17, 65})
        for (bool isConstant : {true, false})
          compare("matmul", [&](Function &f, Module &m) {
            NodeValue a = input(m, ElemKind::Float, {rows, depth});
            NodeValue b = isConstant
                              ? constant(m, ElemKind::Float, {depth, columns})
                              : input(m, ElemKind::Float, {depth, columns});
            NodeValue y = f.create<MatMulNode>("mul", a, b)->getResult();
            NodeValue bias = constant(m, ElemKind::Float, {columns});
            return f.create<AddNode>("add", y, bias)->getResult();
          });
  compare("batched", [&](Function &f, Module &m) {
    NodeValue a = input(m, ElemKind::Float, {3, 1, 5, 7});
    NodeValue b = input(m, ElemKind::Float, {2, 7, 9});
    return f.create<MatMulNode>("mul", a, b)->getResult();
  });
}

/// Matrices of one row each are the pixels of one image.
TEST(CPUDifferential, SingleRows) {
  TargetOptions options;
  options.cpu = "x86-64-v3"; // no matrix units
  auto backend = llvm::cantFail(CPUBackend::create(options));
  const std::vector<std::pair<Dims, Dims>> cases = {
      {{33, 1, 17}, {1, 1, 33, 17}},
      {{3, 17, 1, 17}, {1, 3, 17, 17}},
      {{1, 17}, {1, 1, 1, 17}}};
  for (const auto &[shape, image] : cases) {
    auto build = [&shape = shape](Function &f, Module &m) {
      NodeValue a = input(m, ElemKind::Float, shape);
      NodeValue b = constant(m, ElemKind::Float, {17, 65});
      NodeValue y = f.create<MatMulNode>("mul", a, b)->getResult();
      NodeValue bias = constant(m, ElemKind::Float, {65});
      y = f.create<AddNode>("add", y, bias)->getResult();
      NodeValue other = input(m, ElemKind::Float, y.getShape());
      return f.create<AddNode>("sum", y, other)->getResult();
    };
    compare("single rows", build);
    PlannedProgram program = llvm::cantFail(compileFor(*backend, build));
    unsigned found = 0;
    for (const Instruction &instr : program.getIR().getInstrs())
      if (auto *matmul = llvm::dyn_cast<CPUConvolutionInstr>(&instr)) {
        EXPECT_EQ(Dims(matmul->getInput()->getShape()), image);
        ++found;
      }
    EXPECT_EQ(found, 1u);
  }
}

TEST(CPUDifferential, Pools) {
  for (int64_t channels : {1, 7, 33})
    for (int64_t stride : {1, 2, 3}) {
      std::vector<int64_t> kernels = {3, 2}, strides(2, stride);
      std::vector<int64_t> pads = {1, 1, 0, 1}, dilations = {1, 1};
      compare("max", [&](Function &f, Module &m) {
        NodeValue x = input(m, ElemKind::Float, {2, 9, 17, channels});
        return f.create<MaxPoolNode>("p", x, kernels, strides, pads, dilations)
            ->getResult();
      });
      for (bool count : {true, false})
        compare("mean", [&](Function &f, Module &m) {
          NodeValue x = input(m, ElemKind::Float, {2, 9, 17, channels});
          return f
              .create<AvgPoolNode>("p", x, kernels, strides, pads, dilations,
                                   count)
              ->getResult();
        });
    }
}

TEST(CPUDifferential, ReductionsAndSoftmax) {
  const std::vector<std::vector<int64_t>> axes = {{0},    {1},    {2},
                                                  {0, 2}, {1, 2}, {0, 1, 2}};
  for (llvm::StringRef mode : {"sum", "mean", "max", "min", "prod"})
    for (const auto &axis : axes)
      for (ElemKind kind : {ElemKind::Float,
                            mode == "mean" ? ElemKind::Int64 : ElemKind::Int32})
        compare(mode.str(), [&](Function &f, Module &m) {
          NodeValue x = input(m, kind, {3, 7, 17});
          return f.create<ReduceNode>("r", x, mode, axis, false)->getResult();
        });
  for (const auto &axis : axes)
    for (ElemKind kind : {ElemKind::Int8, ElemKind::UInt8})
      for (Dims shape : {Dims{3, 7, 17}, Dims{1, 33, 1}, Dims{3, 0, 1}})
        compare("sum of bytes", [&](Function &f, Module &m) {
          return f
              .create<ReduceIntegerNode>("r", input(m, kind, shape), axis,
                                         /*keepDims=*/true)
              ->getResult();
        });
  for (int64_t length : {1, 3, 17, 33})
    for (int64_t axis : {0, 1})
      compare("softmax", [&](Function &f, Module &m) {
        NodeValue x = input(m, ElemKind::Float, {5, length});
        return f.create<SoftmaxNode>("s", x, axis)->getResult();
      });
  compare("argmax", [&](Function &f, Module &m) {
    NodeValue x = input(m, ElemKind::Int32, {5, 33, 3});
    return f.create<ArgMaxNode>("a", x, 1, false, true)->getResult();
  });
  compare("lrn", [&](Function &f, Module &m) {
    NodeValue x = input(m, ElemKind::Float, {1, 3, 3, 7});
    return f.create<LocalResponseNormalizationNode>("l", x, 5, 0.1, 0.75, 1.0)
        ->getResult();
  });
}

TEST(CPUDifferential, CumulativeSums) {
  using enum ElemKind;
  for (ElemKind kind : {Float, BFloat16, UInt64})
    for (int64_t length : {0, 1, 7, 33})
      for (const auto &[shape, axis] :
           {std::pair(Dims{length}, 0), std::pair(Dims{3, length}, 1),
            std::pair(Dims{length, 3}, 0), std::pair(Dims{3, length, 65}, 1)})
        for (bool exclusive : {false, true})
          for (bool reverse : {false, true})
            compare("cumsum", [&](Function &f, Module &m) {
              return f
                  .create<CumSumNode>("c", input(m, kind, shape), axis,
                                      exclusive, reverse)
                  ->getResult();
            });
}

TEST(CPUDifferential, ReductionsOfEmptySets) {
  struct Case {
    const char *mode;
    ElemKind kind;
    double value;
  };
  const Case cases[] = {{"sum", ElemKind::Float, 0},
                        {"prod", ElemKind::Int32, 1},
                        {"mean", ElemKind::Float, NAN},
                        {"max", ElemKind::Float, -HUGE_VAL},
                        {"max", ElemKind::BFloat16, -HUGE_VAL},
                        {"max", ElemKind::Int8, INT8_MIN},
                        {"max", ElemKind::UInt32, 0},
                        {"min", ElemKind::Double, HUGE_VAL},
                        {"min", ElemKind::Int64, double(INT64_MAX)}};
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(createInterpreter());
  for (const TargetOptions &options : getLevels())
    backends.push_back(llvm::cantFail(CPUBackend::create(options)));
  for (const Case &c : cases)
    for (const std::vector<int64_t> &axes :
         {std::vector<int64_t>{1}, {1, 2}, {0, 1, 2}})
      for (const auto &backend : backends) {
        Tensor result = llvm::cantFail(run(*backend, [&](Function &f,
                                                         Module &m) {
          NodeValue x = input(m, c.kind, {3, 0, 17});
          return f.create<ReduceNode>("r", x, c.mode, axes, false)->getResult();
        }));
        ASSERT_GT(result.getNumElements(), 0);
        for (int64_t i = 0; i < result.getNumElements(); ++i) {
          double value = result.getAsDouble(i);
          EXPECT_TRUE(value == c.value ||
                      (std::isnan(value) && std::isnan(c.value)))
              << c.mode << ": " << value << ", not " << c.value;
        }
      }
}

TEST(CPUDifferential, Movement) {
  compare("slice backwards, transpose, pad", [&](Function &f, Module &m) {
    NodeValue x = input(m, ElemKind::Float, {3, 7, 5});
    std::vector<int64_t> starts = {0, 6, 1}, sizes = {3, 4, 3};
    std::vector<int64_t> steps = {1, -2, 1}, order = {2, 0, 1};
    std::vector<int64_t> pads = {1, 0, -1, 0, 2, 0};
    NodeValue y =
        f.create<SliceNode>("s", x, starts, sizes, steps)->getResult();
    y = f.create<TransposeNode>("t", y, order)->getResult();
    return f.create<PadNode>("p", y, pads, "constant", 0.5)->getResult();
  });
  compare("gather", [&](Function &f, Module &m) {
    NodeValue x = input(m, ElemKind::Float, {3, 5, 7});
    NodeValue indices = input(m, ElemKind::Int64, {2, 3});
    return f.create<GatherNode>("g", x, indices, 1)->getResult();
  });
  for (const char *mode : {"nearest", "linear"})
    for (const char *coordinates :
         {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"})
      compare("resize", [&](Function &f, Module &m) {
        NodeValue x = input(m, ElemKind::Float, {1, 5, 7, 3});
        std::vector<int64_t> sizes = {10, 21};
        return f
            .create<ResizeNode>("r", x, sizes, 2.0, 3.0, mode, coordinates,
                                "round_prefer_floor")
            ->getResult();
      });
}

/// Every element-wise operator in every element kind that it takes.
TEST(CPUDifferential, ElementWise) {
  for (const OpInfo &info : getNodeTable()) {
    if (!info.scalarOp)
      continue;
    const ScalarOpInfo &scalar = getScalarOpInfo(*info.scalarOp);
    for (unsigned k = 0; k <= unsigned(ElemKind::Bool); ++k) {
      ElemKind kind = ElemKind(k);
      if (!scalar.accepts(kind))
        continue;
      double bound = kind == ElemKind::Float16    ? 2e-3
                     : kind == ElemKind::BFloat16 ? 2e-2
                     : kind == ElemKind::Double   ? 1e-12
                                                  : 1e-6;
      compare((info.name + " " + getElemKindName(kind)).str(),
              [&](Function &f, Module &m) {
                NodeDraft draft{*findNodeKind(info.name), {}, {}};
                for (unsigned i = 0; i < info.operands.size(); ++i)
                  draft.operands.push_back(input(
                      m, i == 0 && scalar.firstIsBool ? ElemKind::Bool : kind,
                      i % 2 ? Dims{37} : Dims{3, 37}));
                for (const AttrInfo &attr : info.attrs) {
                  if (attr.kind == AttrKind::Kind)
                    draft.attrs.push_back(ElemKind::Int32);
                  else if (attr.kind == AttrKind::Ints)
                    draft.attrs.push_back(makeTable(kind));
                  else
                    draft.attrs.push_back(attr.name == "low" ? -0.5 : 0.5);
                }
                NodeBuilder b(f, "operand");
                NodeValue &x = draft.operands[0];
                if (isFloatKind(kind) && !scalar.firstIsBool)
                  x = moveIntoRange(b, scalar, x);
                return f.create(info.name, std::move(draft))->getResult();
              },
              bound);
    }
  }
}
