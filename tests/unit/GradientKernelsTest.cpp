//===- GradientKernelsTest.cpp - Kernels of gradients ---------------------===//
//
// The interpreter against central differences of the forward operators in
// double, and compiled code for levels of this machine against the
// interpreter.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"

using namespace glowish;

namespace {

struct WindowCase {
  int64_t batch, height, width, channels, outChannels;
  std::vector<int64_t> kernels, strides, pads, dilations;
  int64_t group;
};

/// Overlapping and gapped windows, pads of all sides, taps and windows that lie
/// in the padding as a whole, tails of channels.
const WindowCase cases[] = {
    {2, 7, 5, 3, 17, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1},
    {1, 5, 9, 17, 7, {3, 2}, {2, 3}, {0, 1, 2, 0}, {1, 1}, 1},
    {3, 8, 6, 33, 33, {2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 1},
    {1, 9, 11, 1, 1, {5, 5}, {1, 1}, {2, 2, 2, 2}, {1, 1}, 1},
    {2, 7, 7, 1, 6, {5, 5}, {1, 1}, {2, 2, 2, 2}, {1, 1}, 1},
    {2, 3, 3, 17, 7, {1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1},
    {2, 9, 1, 33, 65, {1, 1}, {3, 1}, {0, 0, 0, 0}, {1, 1}, 1},
    {1, 9, 9, 4, 6, {3, 3}, {1, 2}, {1, 0, 1, 0}, {2, 1}, 2},
    {2, 6, 7, 33, 33, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 2}, 33},
    {1, 9, 7, 17, 17, {5, 3}, {2, 2}, {2, 2, 1, 1}, {1, 1}, 17},
    {1, 6, 6, 7, 14, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 7},
    {1, 1, 1, 5, 3, {3, 3}, {1, 1}, {2, 2, 2, 2}, {1, 1}, 1},
    {1, 2, 3, 3, 3, {2, 2}, {3, 3}, {3, 4, 4, 3}, {1, 1}, 3},
    {2, 7, 8, 5, 5, {2, 3}, {4, 5}, {0, 0, 1, 1}, {1, 1}, 1},
    {2, 1, 1, 3, 3, {1, 3}, {16, 1}, {1, 1, 0, 1}, {1, 1}, 1},
    {0, 4, 4, 3, 3, {3, 3}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1},
};

NodeValue convolve(Function &f, const WindowCase &c, NodeValue x,
                   NodeValue filter) {
  return f
      .create<ConvolutionNode>("forward", x, filter, NodeValue(), c.strides,
                               c.pads, c.dilations, c.group)
      ->getResult();
}

NodeValue makeMaxPool(Function &f, const WindowCase &c, NodeValue x) {
  return f
      .create<MaxPoolNode>("forward", x, c.kernels, c.strides, c.pads,
                           c.dilations)
      ->getResult();
}

NodeValue makeAvgPool(Function &f, const WindowCase &c, NodeValue x,
                      bool countIncludePads) {
  return f
      .create<AvgPoolNode>("forward", x, c.kernels, c.strides, c.pads,
                           c.dilations, countIncludePads)
      ->getResult();
}

NodeValue makeFilterGradient(Function &f, const WindowCase &c, NodeValue x,
                             NodeValue gradient) {
  return f
      .create<ConvolutionFilterGradientNode>("gradient", x, gradient, c.kernels,
                                             c.strides, c.pads, c.dilations,
                                             c.group)
      ->getResult();
}

NodeValue makeMaxPoolGradient(Function &f, const WindowCase &c, NodeValue x,
                              NodeValue gradient) {
  return f
      .create<MaxPoolGradientNode>("gradient", x, gradient, c.kernels,
                                   c.strides, c.pads, c.dilations)
      ->getResult();
}

NodeValue makeAvgPoolGradient(Function &f, const WindowCase &c,
                              NodeValue gradient, bool countIncludePads) {
  return f
      .create<AvgPoolGradientNode>(
          "gradient", gradient, std::vector<int64_t>{c.height, c.width},
          c.kernels, c.strides, c.pads, c.dilations, countIncludePads)
      ->getResult();
}

Dims getInputShape(const WindowCase &c) {
  return {c.batch, c.height, c.width, c.channels};
}

Dims getFilterShape(const WindowCase &c) {
  return {c.outChannels, c.kernels[0], c.kernels[1], c.channels / c.group};
}

/// The shape of a convolution's result, and of a pooling's.
Dims getOutShape(const WindowCase &c, bool isConvolution) {
  Module m("shape");
  Function *f = m.createFunction("main");
  NodeValue x = input(m, ElemKind::Float, getInputShape(c));
  if (!isConvolution)
    return Dims(makeMaxPool(*f, c, x).getShape());
  NodeValue w = input(m, ElemKind::Float, getFilterShape(c));
  return Dims(convolve(*f, c, x, w).getShape());
}

//===- The interpreter ----------------------------------------------------===//

using MakeFn = llvm::function_ref<NodeValue(Function &, Module &)>;

/// The result of a node of constants.
Tensor interpret(MakeFn make) {
  Module m("node");
  Function *f = m.createFunction("main");
  return std::move(llvm::cantFail(evaluateNode(*make(*f, m).node))[0]);
}

NodeValue use(Module &m, const Tensor &tensor) {
  return NodeValue(m.createConstant("c", tensor.clone()));
}

Tensor makeDouble(DimsRef shape, uint64_t seed) {
  return makeRandom(Type(ElemKind::Double, shape), seed);
}

/// Expects \p actual to be the derivative at \p x of the sum of \p gradient
/// times forward(x), an operator that is linear near x.
void expectDerivative(
    const Tensor &actual, Tensor x, const Tensor &gradient,
    llvm::function_ref<NodeValue(Function &, NodeValue)> forward) {
  constexpr double step = 1e-6;
  auto getLoss = [&] {
    Tensor result = interpret(
        [&](Function &f, Module &m) { return forward(f, use(m, x)); });
    double loss = 0;
    for (int64_t i = 0; i < result.getNumElements(); ++i)
      if (std::isfinite(result.getAsDouble(i)))
        loss += result.getAsDouble(i) * gradient.getAsDouble(i);
    return loss;
  };
  ASSERT_EQ(actual.getType(), x.getType());
  // Some of the elements, with a step that visits all in time.
  for (int64_t i = 0; i < x.getNumElements();
       i += 1 + x.getNumElements() / 97) {
    double value = x.getAsDouble(i);
    x.setFromDouble(i, value + step);
    double above = getLoss();
    x.setFromDouble(i, value - step);
    double below = getLoss();
    x.setFromDouble(i, value);
    ASSERT_NEAR(actual.getAsDouble(i), (above - below) / (2 * step), 1e-7)
        << "at " << i;
  }
}

} // namespace

TEST(GradientKernels, InterpretedFilterGradient) {
  for (auto [number, c] : llvm::enumerate(cases)) {
    SCOPED_TRACE("case " + std::to_string(number));
    Tensor x = makeDouble(getInputShape(c), 7);
    Tensor gradient = makeDouble(getOutShape(c, true), 8);
    Tensor actual = interpret([&, &c = c](Function &f, Module &m) {
      return makeFilterGradient(f, c, use(m, x), use(m, gradient));
    });
    expectDerivative(actual, makeDouble(getFilterShape(c), 9), gradient,
                     [&, &c = c](Function &f, NodeValue filter) {
                       Module &m = f.getModule();
                       return convolve(f, c, use(m, x), filter);
                     });
  }
}

TEST(GradientKernels, InterpretedMaxPoolGradient) {
  for (auto [number, c] : llvm::enumerate(cases)) {
    SCOPED_TRACE("case " + std::to_string(number));
    Tensor x = makeDouble(getInputShape(c), 7);
    Tensor gradient = makeDouble(getOutShape(c, false), 8);
    Tensor actual = interpret([&, &c = c](Function &f, Module &m) {
      return makeMaxPoolGradient(f, c, use(m, x), use(m, gradient));
    });
    expectDerivative(actual, x.clone(), gradient,
                     [&, &c = c](Function &f, NodeValue value) {
                       return makeMaxPool(f, c, value);
                     });
  }
}

TEST(GradientKernels, InterpretedAvgPoolGradient) {
  for (auto [number, c] : llvm::enumerate(cases))
    for (bool countIncludePads : {false, true}) {
      SCOPED_TRACE("case " + std::to_string(number));
      Tensor gradient = makeDouble(getOutShape(c, false), 8);
      Tensor actual = interpret([&, &c = c](Function &f, Module &m) {
        return makeAvgPoolGradient(f, c, use(m, gradient), countIncludePads);
      });
      expectDerivative(actual, makeDouble(getInputShape(c), 7), gradient,
                       [&, &c = c](Function &f, NodeValue value) {
                         return makeAvgPool(f, c, value, countIncludePads);
                       });
    }
}

//===- Which of equals, and what is not a number --------------------------===//

namespace {

/// One row of pixels of one channel, in windows of three with stride 2.
std::vector<double> spread(llvm::ArrayRef<double> x,
                           llvm::ArrayRef<double> gradient, Backend &backend) {
  auto toTensor = [](llvm::ArrayRef<double> values) {
    Tensor tensor(Type(ElemKind::Float, {1, 1, int64_t(values.size()), 1}));
    for (auto [i, value] : llvm::enumerate(values))
      tensor.setFromDouble(int64_t(i), value);
    return tensor;
  };
  auto result = run(backend, [&](Function &f, Module &m) {
    // 0, but not before the code runs.
    NodeValue number = input(m, ElemKind::Float, {1});
    NodeValue zero =
        f.create<MinNode>("zero", f.create<AbsNode>("abs", number)->getResult(),
                          use(m, toTensor({0})))
            ->getResult();
    auto compute = [&](llvm::ArrayRef<double> values) {
      return f.create<AddNode>("add", zero, use(m, toTensor(values)))
          ->getResult();
    };
    return f
        .create<MaxPoolGradientNode>(
            "gradient", compute(x), compute(gradient),
            std::vector<int64_t>{1, 3}, std::vector<int64_t>{1, 2},
            std::vector<int64_t>{0, 0, 0, 0}, std::vector<int64_t>{1, 1})
        ->getResult();
  });
  std::vector<double> values;
  Tensor tensor = llvm::cantFail(std::move(result));
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    values.push_back(tensor.getAsDouble(i));
  return values;
}

} // namespace

TEST(GradientKernels, FirstOfEquals) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(createInterpreter());
  for (const TargetOptions &options : getLevels())
    backends.push_back(llvm::cantFail(CPUBackend::create(options)));
  using Row = std::vector<double>;
  for (auto &backend : backends) {
    EXPECT_EQ(spread({2, 2, 2, 1, 2}, {3, 5}, *backend), (Row{3, 0, 5, 0, 0}));
    EXPECT_EQ(spread({0, -0.0, 7, 7, 7}, {3, 5}, *backend),
              (Row{0, 0, 8, 0, 0}));
    EXPECT_EQ(spread({-inf, -inf, -inf, 1, nan}, {3, 5}, *backend),
              (Row{3, 0, 0, 0, 5}));
    EXPECT_EQ(spread({inf, nan, nan, nan, inf}, {3, 5}, *backend),
              (Row{0, 3, 5, 0, 0}));
    EXPECT_EQ(spread({1, 2, 3, 2, 1}, {inf, nan}, *backend)[1], 0);
  }
}

//===- Compiled code ------------------------------------------------------===//

namespace {

/// A bound of the error for each kind, in relation to the largest element.
constexpr std::pair<ElemKind, double> kinds[] = {
    {ElemKind::Float, 3e-6},
    {ElemKind::Double, 1e-13},
    {ElemKind::Float16, 4e-3},
    {ElemKind::BFloat16, 3e-2},
};

using BuildCase = std::function<NodeValue(Function &, Module &,
                                          const WindowCase &, ElemKind)>;

NodeValue buildFilterGradient(Function &f, Module &m, const WindowCase &c,
                              ElemKind kind) {
  NodeValue x = input(m, kind, getInputShape(c));
  return makeFilterGradient(f, c, x, input(m, kind, getOutShape(c, true)));
}

/// Of elements many of which are the same.
NodeValue buildMaxPoolGradient(Function &f, Module &m, const WindowCase &c,
                               ElemKind kind) {
  NodeValue x = input(m, kind, getInputShape(c));
  NodeValue twice = f.create<AddNode>("twice", x, x)->getResult();
  NodeValue rounded = f.create<RoundNode>("rounded", twice)->getResult();
  return makeMaxPoolGradient(f, c, rounded,
                             input(m, kind, getOutShape(c, false)));
}

template <bool CountIncludePads>
NodeValue buildAvgPoolGradient(Function &f, Module &m, const WindowCase &c,
                               ElemKind kind) {
  return makeAvgPoolGradient(f, c, input(m, kind, getOutShape(c, false)),
                             CountIncludePads);
}

/// float, and one of the other kinds in turn.
void compareAll(const BuildCase &build) {
  for (auto [number, c] : llvm::enumerate(cases))
    for (auto [kind, bound] : {kinds[0], kinds[1 + number % 3]})
      compare(
          "case " + std::to_string(number) + " " + getElemKindName(kind).str(),
          [&, &c = c, kind = kind](Function &f, Module &m) {
            return build(f, m, c, kind);
          },
          bound);
}

} // namespace

TEST(GradientKernels, CompiledFilterGradient) {
  compareAll(buildFilterGradient);
}
TEST(GradientKernels, CompiledMaxPoolGradient) {
  compareAll(buildMaxPoolGradient);
}
TEST(GradientKernels, CompiledAvgPoolGradient) {
  compareAll(buildAvgPoolGradient<false>);
  compareAll(buildAvgPoolGradient<true>);
}

/// What a machine with threads and matrix units computes.
static const WindowCase largeCases[] = {
    {4, 16, 16, 48, 40, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1},
    {8, 4, 4, 96, 65, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1},
    {5, 9, 11, 63, 64, {3, 3}, {2, 2}, {1, 0, 0, 1}, {1, 1}, 1},
    {4, 17, 13, 64, 33, {1, 1}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 1},
    {32, 8, 8, 33, 70, {1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1},
    {6, 20, 18, 3, 64, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1},
    {4, 28, 28, 1, 6, {5, 5}, {1, 1}, {2, 2, 2, 2}, {1, 1}, 1},
    {9, 14, 14, 6, 16, {5, 5}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1},
    {3, 15, 15, 80, 32, {3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}, 2},
    {4, 40, 40, 32, 32, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 32},
    {7, 12, 12, 40, 72, {5, 3}, {3, 2}, {2, 1, 2, 1}, {1, 1}, 1},
};

/// Each case with the gradient of the filter, and with that of one of the
/// pools.
TEST(GradientKernels, Threads) {
  for (auto [number, c] : llvm::enumerate(largeCases))
    for (const BuildCase &build :
         {BuildCase(buildFilterGradient),
          number % 2 ? BuildCase(buildMaxPoolGradient)
                     : BuildCase(buildAvgPoolGradient<false>)}) {
      auto buildFloat = [&, &c = c](Function &f, Module &m) {
        return build(f, m, c, ElemKind::Float);
      };
      compare("large case " + std::to_string(number), buildFloat, 3e-6);
      TargetOptions options;
      Tensor one = llvm::cantFail(
          run(*llvm::cantFail(CPUBackend::create(options)), buildFloat));
      options.numThreads = 2;
      Tensor two = llvm::cantFail(
          run(*llvm::cantFail(CPUBackend::create(options)), buildFloat));
      EXPECT_EQ(std::memcmp(one.getBytes(), two.getBytes(),
                            one.getType().getSizeInBytes()),
                0)
          << "large case " << number;
    }
}
