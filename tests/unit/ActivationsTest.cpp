//===- ActivationsTest.cpp - Activations of primitive nodes ---------------===//
//
// What exporters write is recognized by the optimizer; the results, of the
// interpreter and of compiled code, are those of the definitions in double.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "glowish/Optimizer/Passes.h"
#include <cmath>

using namespace glowish;

namespace {

/// Makes primitive nodes over `x`, numbers in [-scale, scale].
struct Builder {
  Function &f;
  Module &m;
  NodeValue x;

  Builder(Function &f, Module &m, ElemKind kind, DimsRef shape, double scale)
      : f(f), m(m), x(input(m, kind, shape)) {
    x = times(x, scale);
  }
  NodeValue number(double value) const {
    Tensor tensor(Type(x.getElemKind(), Dims()));
    tensor.setFromDouble(0, value);
    return NodeValue(m.createConstant("c", std::move(tensor)));
  }
  template <typename T, typename... Args> NodeValue make(Args... args) const {
    return f.create<T>("n", args...)->getResult();
  }
  NodeValue times(NodeValue value, double factor) const {
    return make<MulNode>(value, number(factor));
  }
  NodeValue plus(NodeValue value, double summand) const {
    return make<AddNode>(number(summand), value);
  }
  NodeValue reduce(NodeValue value, const char *mode, int64_t axis) const {
    return make<ReduceNode>(value, mode, std::vector<int64_t>{axis},
                            /*keepDims=*/true);
  }
};

NodeValue makeGelu(const Builder &b) {
  NodeValue argument = b.make<DivNode>(b.x, b.number(std::sqrt(2.0)));
  NodeValue gate = b.plus(b.make<ErfNode>(argument), 1);
  return b.make<MulNode>(b.times(b.x, 0.5), gate);
}
double gelu(double x) { return x / 2 * std::erfc(-x * std::sqrt(0.5)); }

NodeValue makeGeluTanh(const Builder &b) {
  NodeValue cube = b.make<PowNode>(b.x, b.number(3));
  NodeValue sum = b.make<AddNode>(b.x, b.times(cube, 0.044715));
  NodeValue tanh = b.make<TanhNode>(b.times(sum, std::sqrt(2 / M_PI)));
  return b.times(b.make<MulNode>(b.x, b.plus(tanh, 1)), 0.5);
}
double geluTanh(double x) {
  double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * u));
}

NodeValue makeSilu(const Builder &b) {
  return b.make<MulNode>(b.make<SigmoidNode>(b.x), b.x);
}
double silu(double x) { return x / (1 + std::exp(-x)); }

NodeValue makeSwish(const Builder &b) {
  return b.make<MulNode>(b.x, b.make<SigmoidNode>(b.times(b.x, 1.702)));
}
double swish(double x) { return x / (1 + std::exp(-1.702 * x)); }

NodeValue makeHardSwish(const Builder &b) {
  NodeValue gate = b.make<MaxNode>(b.plus(b.x, 3), b.number(0));
  gate = b.make<MinNode>(gate, b.number(6));
  return b.make<DivNode>(b.make<MulNode>(b.x, gate), b.number(6));
}
double hardSwish(double x) {
  return x * std::min(std::max(x + 3, 0.0), 6.0) / 6;
}

struct Activation {
  const char *name;
  NodeKind kind;
  NodeValue (*make)(const Builder &b);
  double (*reference)(double x);
};
const Activation activations[] = {
    {"gelu", NodeKind::Gelu, makeGelu, gelu},
    {"geluTanh", NodeKind::GeluTanh, makeGeluTanh, geluTanh},
    {"silu", NodeKind::Silu, makeSilu, silu},
    {"swish", NodeKind::Swish, makeSwish, swish},
    {"hardSwish", NodeKind::HardSwish, makeHardSwish, hardSwish},
};

template <int64_t Axis, bool Subtract> NodeValue makeSoftmax(const Builder &b) {
  NodeValue x = b.x;
  if (Subtract)
    x = b.make<SubNode>(x, b.reduce(x, "max", Axis));
  NodeValue power = b.make<ExpNode>(x);
  return b.make<DivNode>(power, b.reduce(power, "sum", Axis));
}
template <int64_t Axis> NodeValue makeLogSoftmax(const Builder &b) {
  NodeValue sum = b.reduce(b.make<ExpNode>(b.x), "sum", Axis);
  return b.make<SubNode>(b.x, b.make<LogNode>(sum));
}

struct SoftmaxCase {
  const char *name;
  NodeKind kind;
  NodeValue (*make)(const Builder &b);
  int64_t axis;
};
const SoftmaxCase softmaxes[] = {
    {"last", NodeKind::Softmax, makeSoftmax<2, true>, 2},
    {"middle", NodeKind::Softmax, makeSoftmax<1, true>, 1},
    {"unshifted", NodeKind::Softmax, makeSoftmax<2, false>, 2},
    {"log", NodeKind::LogSoftmax, makeLogSoftmax<2>, 2},
    {"log of the first", NodeKind::LogSoftmax, makeLogSoftmax<0>, 0},
};

/// The kinds of the nodes after the optimizer's passes.
std::vector<NodeKind> optimize(NodeValue (*make)(const Builder &b),
                               ElemKind kind) {
  Module module("test");
  Function *function = module.createFunction("main");
  NodeValue value = make(Builder(*function, module, kind, {3, 5, 7}, 12));
  NodeValue y(module.createPlaceholder("y", value.getType(), false, true));
  function->create<SaveNode>("save", value, y);
  GraphPassContext context;
  context.evaluate = evaluateNode;
  llvm::cantFail(runPipeline<Function, GraphPassContext>(
      getOptimizePipeline(), getGraphPasses(), *function, context));
  std::vector<NodeKind> kinds;
  for (Node &node : function->getNodes())
    kinds.push_back(node.getKind());
  return kinds;
}

} // namespace

TEST(Activations, AreRecognized) {
  for (ElemKind kind : {ElemKind::Float, ElemKind::Double, ElemKind::Float16,
                        ElemKind::BFloat16}) {
    for (const Activation &c : activations)
      EXPECT_EQ(optimize(c.make, kind),
                (std::vector{NodeKind::Mul, c.kind, NodeKind::Save}))
          << c.name << " of " << getElemKindName(kind).str();
    for (const SoftmaxCase &c : softmaxes)
      EXPECT_EQ(optimize(c.make, kind),
                (std::vector{NodeKind::Mul, c.kind, NodeKind::Save}))
          << c.name << " of " << getElemKindName(kind).str();
  }
}

/// Errors are at most three times the precision of x.
TEST(Activations, Definition) {
  for (const Activation &c : activations)
    for (auto [kind, unit] : {std::pair(ElemKind::Float, 0x1p-23),
                              std::pair(ElemKind::Double, 0x1p-52),
                              std::pair(ElemKind::Float16, 0x1p-10)}) {
      auto build = [&, kind = kind](Function &f, Module &m) {
        return c.make(Builder(f, m, kind, {7, 1001}, 12));
      };
      Tensor actual = llvm::cantFail(run(*createInterpreter(), build));
      Tensor random = makeRandom(actual.getType(), 7), x(actual.getType());
      for (int64_t i = 0; i < x.getNumElements(); ++i) {
        x.setFromDouble(i, random.getAsDouble(i) * 12);
        double value = x.getAsDouble(i);
        ASSERT_NEAR(actual.getAsDouble(i), c.reference(value),
                    3 * unit * std::abs(value))
            << c.name << "(" << value << ")";
      }
    }
}

/// Of numbers whose exponential is infinite, also where no maximum was
/// subtracted.
TEST(Activations, SoftmaxDefinition) {
  const Dims shape = {3, 5, 7};
  for (const SoftmaxCase &c : softmaxes) {
    auto build = [&](Function &f, Module &m) {
      return c.make(Builder(f, m, ElemKind::Float, shape, 500));
    };
    Tensor actual = llvm::cantFail(run(*createInterpreter(), build));
    Tensor x = makeRandom(actual.getType(), 7);
    int64_t step = getDenseStrides(shape)[c.axis], extent = shape[c.axis];
    for (int64_t i = 0; i < x.getNumElements(); ++i) {
      int64_t first = i - i / step % extent * step;
      double largest = -INFINITY, sum = 0;
      auto get = [&](int64_t at) { return x.getAsDouble(at) * 500; };
      for (int64_t k = 0; k < extent; ++k)
        largest = std::max(largest, get(first + k * step));
      for (int64_t k = 0; k < extent; ++k)
        sum += std::exp(get(first + k * step) - largest);
      double logarithm = get(i) - largest - std::log(sum);
      bool isLog = c.kind == NodeKind::LogSoftmax;
      ASSERT_NEAR(actual.getAsDouble(i),
                  isLog ? logarithm : std::exp(logarithm), isLog ? 2e-4 : 5e-5)
          << c.name << " at " << i;
    }
  }
}

TEST(Activations, CompiledCode) {
  for (const Dims &shape : {Dims{1, 1, 1}, Dims{3, 7, 17}, Dims{2, 33, 1},
                            Dims{0, 3, 5}, Dims{1, 5, 1003}})
    for (ElemKind kind : {ElemKind::Float, ElemKind::Double}) {
      auto check = [&](const char *name, auto make) {
        auto build = [&](Function &f, Module &m) {
          return make(Builder(f, m, kind, shape, 12));
        };
        compare(name, build);
      };
      for (const Activation &c : activations)
        check(c.name, c.make);
      for (const SoftmaxCase &c : softmaxes)
        if (!llvm::is_contained(shape, 0))
          check(c.name, c.make);
    }
}
