//===- VectorMathTest.cpp - Errors of functions in compiled code ----------===//
//
// Floats of all exponents and signs, denormal, infinite and NaN, go through
// compiled kernels of every level of this machine. The results are compared
// with those of the C library in a wider type. docs/performance.md has the
// bounds.
//
//===----------------------------------------------------------------------===//

#include "CPULevels.h"
#include "glowish/Autodiff/Gradients.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include "glowish/Support/Random.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace glowish;

namespace {

using BuildFn = std::function<NodeValue(Function &, NodeValue)>;

/// A compiled function of one operand, or of two that have the same shape.
class Program {
public:
  static constexpr int64_t length = (1 << 15) + 13;

  Program(const TargetOptions &target, ElemKind kind, const BuildFn &build)
      : Program(llvm::cantFail(CPUBackend::create(target)), kind, build) {}
  Program(std::unique_ptr<Backend> given, ElemKind kind, const BuildFn &build)
      : backend(std::move(given)) {
    auto module = std::make_unique<Module>("test");
    Function *function = module->createFunction("main");
    Type type(kind, {length});
    NodeValue x(module->createPlaceholder("x", type, true, false));
    NodeValue value = build(*function, x);
    NodeValue y(module->createPlaceholder("y", value.getType(), false, true));
    function->create<SaveNode>("save", value, y);
    Compilation compilation(*backend, CompilationOptions());
    program = llvm::cantFail(compilation.compile(std::move(module)));
    session = llvm::cantFail(Session::create(*program));
  }

  /// Any number of values; the last ones are repeated to fill the kernel.
  template <typename From, typename To>
  std::vector<To> run(llvm::ArrayRef<From> values) {
    const Buffer *x = llvm::cantFail(session->findPlaceholder("x"));
    const Buffer *y = llvm::cantFail(session->findPlaceholder("y"));
    Tensor input(x->getType());
    std::vector<To> results;
    results.reserve(values.size());
    for (size_t at = 0; at < values.size(); at += length) {
      auto part = values.slice(at).take_front(length);
      std::memcpy(input.getBytes(), part.data(), part.size() * sizeof(From));
      llvm::cantFail(session->setInput(x, input));
      llvm::cantFail(session->run());
      auto *bytes = static_cast<const To *>(session->getTensor(y).getBytes());
      results.insert(results.end(), bytes, bytes + part.size());
    }
    return results;
  }

private:
  std::unique_ptr<Backend> backend;
  std::optional<PlannedProgram> program;
  std::unique_ptr<Session> session;
};

/// A value of every \p stride bit patterns, then the values where something
/// may begin or end.
template <typename T, typename Bits> std::vector<T> makeSweep(Bits stride) {
  std::vector<T> values;
  for (Bits bits = 0;; bits += stride) {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    values.push_back(value);
    if (bits > std::numeric_limits<Bits>::max() - stride)
      break;
  }
  using Limits = std::numeric_limits<T>;
  for (T value : {T(0), T(1), T(0.5), T(2), Limits::min(), Limits::max(),
                  Limits::denorm_min(), Limits::infinity(), Limits::quiet_NaN(),
                  T(88.72284), T(-103.97208), T(9.02), T(3.92), T(6),
                  T(0.70710677), T(1.4142135)}) {
    for (T next : {std::nextafter(value, T(-1e30)), value,
                   std::nextafter(value, T(1e30))})
      values.insert(values.end(), {next, T(-next)});
  }
  return values;
}

std::vector<float> makeFloats(uint32_t stride) {
  return makeSweep<float, uint32_t>(stride);
}
std::vector<double> makeDoubles() {
  std::vector<double> values =
      makeSweep<double, uint64_t>((uint64_t(1) << 46) - 3);
  Random random(5);
  for (unsigned i = 0; i < 200000; ++i)
    values.push_back(random.uniform(-12, 12) * (1 + i * 1e-9));
  return values;
}

/// |actual - expected| in units in the last place of \p scale, of which a
/// denormal has the same as the smallest normal number.
template <typename T, typename Wide>
double getUlps(T actual, Wide expected, Wide scale) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) == std::isnan(actual) ? 0 : INFINITY;
  // Zeros have their signs.
  if (expected == 0 || std::isinf(expected))
    return T(expected) == actual &&
                   std::signbit(expected) == std::signbit(actual)
               ? 0
               : INFINITY;
  if (std::isinf(actual)) // counts as what would come after the largest
    actual = actual > 0 ? Limits::max() : -Limits::max();
  if (std::abs(expected) > Wide(Limits::max()))
    expected = expected > 0 ? Limits::max() : Limits::lowest();
  int exponent = std::max(std::ilogb(scale), Limits::min_exponent - 1);
  return double(std::abs(Wide(actual) - expected) /
                std::ldexp(Wide(1), exponent + 1 - Limits::digits));
}

/// A test of a function of T; the reference computes in Wide.
template <typename T, typename Wide> struct Case {
  std::string name;
  BuildFn build;
  Wide (*reference)(Wide x);
  double ulps;
  /// Returns the number in whose last place units are; null: the result.
  Wide (*scale)(Wide x) = nullptr;
  /// A result below the normal numbers may be 0.
  bool mayFlush = false;
  /// Where e^x is not a normal number: there the result is not checked.
  Wide low = -INFINITY;
  /// Units are those of this number for results that are less.
  Wide least = 0;
};

/// The largest error of \p actual, and where it is.
template <typename T> struct Worst {
  double ulps = 0;
  size_t where = 0;
};

template <typename T, typename Wide>
Worst<T> findWorst(const Case<T, Wide> &test, llvm::ArrayRef<T> values,
                   llvm::ArrayRef<T> actual, const std::string &where) {
  Worst<T> worst;
  for (size_t i = 0; i < values.size(); ++i) {
    Wide x = Wide(values[i]), expected = test.reference(x);
    if (x < test.low)
      continue;
    if (test.mayFlush && actual[i] == 0 &&
        std::abs(expected) < std::numeric_limits<T>::min())
      continue;
    Wide scale = test.scale ? test.scale(x) : expected;
    if (std::abs(scale) < test.least)
      scale = test.least;
    // A zero of the other sign is as good there.
    double ulps = test.least > 0 && expected == 0 && actual[i] == 0
                      ? 0
                      : getUlps(actual[i], expected, scale);
    if (ulps > worst.ulps)
      worst = {ulps, i};
  }
  return worst;
}

template <typename T, typename Wide>
void check(const Case<T, Wide> &test, llvm::ArrayRef<T> values, Program program,
           const std::string &where) {
  std::vector<T> actual = program.run<T, T>(values);
  Worst<T> worst = findWorst<T, Wide>(test, values, actual, where);
  T x = values[worst.where];
  std::printf("%-8s %-11s %.3f ulp at %.9g\n", test.name.c_str(), where.c_str(),
              worst.ulps, double(x));
  EXPECT_LE(worst.ulps, test.ulps)
      << test.name << "(" << x << ") on " << where << " is "
      << actual[worst.where] << ", not " << double(test.reference(Wide(x)));
}

/// All values on each level of this machine, and some on the interpreter, which
/// calls the C library.
template <typename T, typename Wide>
void check(const Case<T, Wide> &test, const std::vector<T> &values) {
  ElemKind kind = std::is_same_v<T, float> ? ElemKind::Float : ElemKind::Double;
  for (const TargetOptions &target : getLevels(/*sharesWeights=*/false))
    check(test, llvm::ArrayRef(values), Program(target, kind, test.build),
          target.cpu.empty() ? "native" : target.cpu);
  constexpr size_t share = 16;
  std::vector<T> some;
  for (size_t i = 0; i < values.size(); ++i)
    if (i % share == 0 || i + share > values.size())
      some.push_back(values[i]);
  Case<T, Wide> ofLibrary = test;
  ofLibrary.ulps = std::max(test.ulps, 3.0);
  check(ofLibrary, llvm::ArrayRef(some),
        Program(createInterpreter(), kind, test.build), "interpreter");
}

template <typename NodeT> BuildFn unary() {
  return [](Function &f, NodeValue x) {
    return f.create<NodeT>("f", x)->getResult();
  };
}

template <typename NodeT, double... Params> BuildFn withParams() {
  return [](Function &f, NodeValue x) {
    return f.create<NodeT>("f", x, Params...)->getResult();
  };
}

NodeValue buildSwish(Function &f, NodeValue x) {
  return f.create<SwishNode>("f", x, 1.702)->getResult();
}

template <typename Wide> Wide itself(Wide x) { return x; }
template <typename Wide> Wide sinh(Wide x) { return std::sinh(x); }
template <typename Wide> Wide cosh(Wide x) { return std::cosh(x); }
template <typename Wide> Wide sigmoid(Wide x) { return 1 / (1 + std::exp(-x)); }
// As the formulas have them: -infinity * 0 and -infinity / infinity.
double gelu(double x) {
  return x == -INFINITY ? NAN : x / 2 * std::erfc(-x * std::sqrt(0.5));
}
template <typename Wide> Wide swish(Wide x) {
  return x / (1 + std::exp(Wide(-1.702) * x));
}
template <typename Wide> Wide softplus(Wide x) {
  return std::max(x, Wide(0)) + std::log1p(std::exp(-std::abs(x)));
}
template <typename Wide> Wide mish(Wide x) {
  return x * std::tanh(softplus(x));
}
template <typename Wide> Wide elu(Wide x) {
  return x < 0 ? std::expm1(x) * Wide(1.5) : x;
}
template <typename Wide> Wide selu(Wide x) {
  return (x > 0 ? x : std::expm1(x) * Wide(1.67326324)) * Wide(1.05070099);
}
template <typename Wide> Wide geluTanh(Wide x) {
  Wide slope = std::sqrt(8 / Wide(M_PIl));
  return x / (1 + std::exp(-slope * x * (1 + Wide(0.044715) * x * x)));
}

} // namespace

TEST(VectorMath, Float) {
  const std::vector<float> values = makeFloats(1021);
  const Case<float, double> cases[] = {
      {"exp", unary<ExpNode>(), std::exp, 1.25},
      {"expm1", unary<Expm1Node>(), std::expm1, 2},
      {"log", unary<LogNode>(), std::log, 1},
      {"log1p", unary<Log1pNode>(), std::log1p, 1.25},
      {"tanh", unary<TanhNode>(), std::tanh, 5},
      {"erf", unary<ErfNode>(), std::erf, 6},
      {"erfc", unary<ErfcNode>(), std::erfc, 0.51},
      {.name = "sigmoid",
       .build = unary<SigmoidNode>(),
       .reference = sigmoid,
       .ulps = 2.5,
       .mayFlush = true},
      {.name = "softplus",
       .build = unary<SoftplusNode>(),
       .reference = softplus,
       .ulps = 2,
       .low = -87.3},
      {.name = "mish",
       .build = unary<MishNode>(),
       .reference = mish,
       .ulps = 4,
       .low = -87.3},
      {"elu", withParams<EluNode, 1.5>(), elu, 3},
      {"selu", withParams<SeluNode, 1.67326324, 1.05070099>(), selu, 4},
      {"sin", unary<SinNode>(), std::sin, 2},
      {"cos", unary<CosNode>(), std::cos, 2},
      {"tan", unary<TanNode>(), std::tan, 4},
      {"atan", unary<AtanNode>(), std::atan, 5},
      {"asin", unary<AsinNode>(), std::asin, 6},
      {"acos", unary<AcosNode>(), std::acos, 6},
      {"sinh", unary<SinhNode>(), sinh, 12},
      {"cosh", unary<CoshNode>(), cosh, 5},
      {"asinh", unary<AsinhNode>(), std::asinh, 6},
      {"acosh", unary<AcoshNode>(), std::acosh, 6},
      {"atanh", unary<AtanhNode>(), std::atanh, 6},
      {"sqrt", unary<SqrtNode>(), std::sqrt, 0.5},
      {"round", unary<RoundNode>(), std::nearbyint, 0},
      {"floor", unary<FloorNode>(), std::floor, 0},
      {"ceil", unary<CeilNode>(), std::ceil, 0},
      {.name = "gelu",
       .build = unary<GeluNode>(),
       .reference = gelu,
       .ulps = 3.5,
       .scale = itself},
      {.name = "geluTanh",
       .build = unary<GeluTanhNode>(),
       .reference = geluTanh,
       .ulps = 2,
       .scale = itself},
      {.name = "swish",
       .build = buildSwish,
       .reference = swish,
       .ulps = 2,
       .scale = itself},
  };
  for (const auto &test : cases)
    check(test, values);
}

TEST(VectorMath, Double) {
  const std::vector<double> values = makeDoubles();
  using Wide = long double;
  const Case<double, Wide> cases[] = {
      {"exp", unary<ExpNode>(), std::exp, 1.25},
      {"expm1", unary<Expm1Node>(), std::expm1, 1.25},
      {"log", unary<LogNode>(), std::log, 1},
      {"log1p", unary<Log1pNode>(), std::log1p, 1},
      {"tanh", unary<TanhNode>(), std::tanh, 1},
      {"erf", unary<ErfNode>(), std::erf, 2},
      {"erfc", unary<ErfcNode>(), std::erfc, 1.5},
      {.name = "sigmoid",
       .build = unary<SigmoidNode>(),
       .reference = sigmoid,
       .ulps = 2.5,
       .mayFlush = true},
      {.name = "softplus",
       .build = unary<SoftplusNode>(),
       .reference = softplus,
       .ulps = 3,
       .low = -708},
      {.name = "mish",
       .build = unary<MishNode>(),
       .reference = mish,
       .ulps = 5,
       .low = -708},
      {"elu", withParams<EluNode, 1.5>(), elu, 2},
      {"sin", unary<SinNode>(), std::sin, 2},
      {"cos", unary<CosNode>(), std::cos, 2},
      {"tan", unary<TanNode>(), std::tan, 1.25},
      {"atan", unary<AtanNode>(), std::atan, 1},
      {"asin", unary<AsinNode>(), std::asin, 1},
      {"acos", unary<AcosNode>(), std::acos, 1},
      {"sinh", unary<SinhNode>(), sinh, 1},
      {"cosh", unary<CoshNode>(), cosh, 1},
      {"asinh", unary<AsinhNode>(), std::asinh, 1},
      {"acosh", unary<AcoshNode>(), std::acosh, 1},
      {"atanh", unary<AtanhNode>(), std::atanh, 1},
      {"sqrt", unary<SqrtNode>(), std::sqrt, 0.5},
      {"round", unary<RoundNode>(), std::nearbyint, 0},
      {"floor", unary<FloorNode>(), std::floor, 0},
      {"ceil", unary<CeilNode>(), std::ceil, 0},
      {.name = "geluTanh",
       .build = unary<GeluTanhNode>(),
       .reference = geluTanh,
       .ulps = 2,
       .scale = itself},
      {.name = "swish",
       .build = buildSwish,
       .reference = swish,
       .ulps = 2,
       .scale = itself},
  };
  for (const auto &test : cases)
    check(test, values);
}

//===- Gradients ----------------------------------------------------------===//

namespace {

/// The derivative of \p build's function.
BuildFn slope(const BuildFn &build) {
  return [build](Function &f, NodeValue x) {
    NodeValue y = build(f, x);
    NodeValue ones =
        f.create<SplatNode>("one", y.getElemKind(), y.getShape(), 1.0)
            ->getResult();
    return llvm::cantFail(addGradients(f, {{y, ones}}, {x})).front();
  };
}

double sigmoidSlope(double x) {
  double e = std::exp(-std::abs(x));
  return e / ((1 + e) * (1 + e));
}
double tanhSlope(double x) { return 4 * sigmoidSlope(2 * x); }
double siluSlope(double x) { return sigmoid(x) + x * sigmoidSlope(x); }
double mishSlope(double x) {
  double t = std::tanh(softplus(x));
  // 1 - t^2, which cancels for large x.
  double rest = tanhSlope(softplus(x));
  return t + x * rest * sigmoid(x);
}
double geluSlope(double x) {
  return 0.5 * std::erfc(-x * std::sqrt(0.5)) +
         x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}
double eluSlope(double x) { return x > 0 ? 1 : 1.5 * std::exp(x); }
double seluSlope(double x) {
  return (x > 0 ? 1 : 1.67326324 * std::exp(x)) * 1.05070099;
}
double log1pSlope(double x) { return 1 / (1 + x); }
double erfSlope(double x) { return std::exp(-x * x) * 2 / std::sqrt(M_PI); }
double erfcSlope(double x) { return -erfSlope(x); }
double softsignSlope(double x) {
  return 1 / ((1 + std::abs(x)) * (1 + std::abs(x)));
}
double softsignUnit(double x) { return 1 / (1 + std::abs(x)); }
double hardSwishSlope(double x) { return x > 3 ? 1 : x < -3 ? 0 : x / 3 + 0.5; }

NodeValue buildSoftsign(Function &f, NodeValue x) {
  Tensor one(Type(x.getElemKind(), Dims()));
  one.setFromDouble(0, 1);
  NodeValue magnitude = f.create<AbsNode>("a", x)->getResult();
  NodeValue sum =
      f.create<AddNode>(
           "s", magnitude,
           NodeValue(f.getModule().createConstant("one", std::move(one))))
          ->getResult();
  return f.create<DivNode>("d", x, sum)->getResult();
}

} // namespace

/// Errors of a difference are in units of its terms. That is what derivatives
/// of a saved result are, as of sigmoid and tanh, and those that pass 0.
TEST(VectorMath, Gradients) {
  std::vector<float> values = makeFloats(16381);
  llvm::erase_if(values, [](float x) { return !std::isfinite(x); });
  const Case<float, double> cases[] = {
      {"exp'", slope(unary<ExpNode>()), std::exp, 1.25},
      {"expm1'", slope(unary<Expm1Node>()), std::exp, 1.25},
      {.name = "log1p'",
       .build = slope(unary<Log1pNode>()),
       .reference = log1pSlope,
       .ulps = 1.5,
       .low = -1},
      {.name = "erf'",
       .build = slope(unary<ErfNode>()),
       .reference = erfSlope,
       .ulps = 64,
       .mayFlush = true},
      {.name = "erfc'",
       .build = slope(unary<ErfcNode>()),
       .reference = erfcSlope,
       .ulps = 64,
       .mayFlush = true},
      {.name = "softplus'",
       .build = slope(unary<SoftplusNode>()),
       .reference = sigmoid,
       .ulps = 2.5,
       .mayFlush = true},
      {.name = "mish'",
       .build = slope(unary<MishNode>()),
       .reference = mishSlope,
       .ulps = 9,
       .mayFlush = true,
       .least = 0.1},
      {"elu'", slope(withParams<EluNode, 1.5>()), eluSlope, 2},
      {"selu'", slope(withParams<SeluNode, 1.67326324, 1.05070099>()),
       seluSlope, 3},
      {.name = "sigmoid'",
       .build = slope(unary<SigmoidNode>()),
       .reference = sigmoidSlope,
       .ulps = 3,
       .mayFlush = true,
       .least = 0.25},
      {.name = "tanh'",
       .build = slope(unary<TanhNode>()),
       .reference = tanhSlope,
       .ulps = 5,
       .mayFlush = true,
       .least = 1},
      {.name = "silu'",
       .build = slope(unary<SiluNode>()),
       .reference = siluSlope,
       .ulps = 9,
       .mayFlush = true,
       .least = 0.5},
      {.name = "gelu'",
       .build = slope(unary<GeluNode>()),
       .reference = geluSlope,
       .ulps = 2.5,
       .mayFlush = true,
       .least = 0.5},
      {.name = "hardswish'",
       .build = slope(unary<HardSwishNode>()),
       .reference = hardSwishSlope,
       .ulps = 1,
       .least = 0.5},
      {.name = "softsign'",
       .build = slope(buildSoftsign),
       .reference = softsignSlope,
       .ulps = 2.5,
       .scale = softsignUnit},
  };
  for (const auto &test : cases)
    check(test, values);
}

//===- Powers -------------------------------------------------------------===//

/// x^y, with y from a list and with y that comes from x's bits.
TEST(VectorMath, Pow) {
  std::vector<float> values = makeFloats(16381);
  for (float exponent : {-2.f, -1.f, -0.5f, 0.f, 0.5f, 1.f, 2.f, 3.f, 2.5f,
                         -3.f, 17.f, 1e10f, INFINITY, -INFINITY, NAN}) {
    BuildFn build = [exponent](Function &f, NodeValue x) {
      Tensor tensor(Type(ElemKind::Float, Dims()));
      tensor.setFromDouble(0, exponent);
      NodeValue y(f.getModule().createConstant("c", std::move(tensor)));
      return f.create<PowNode>("p", x, y)->getResult();
    };
    // The optimizer makes x * x * x of a cube, which is rounded twice.
    double most = exponent == 3 ? 1.51 : 0.52;
    for (const TargetOptions &target : getLevels(/*sharesWeights=*/false)) {
      Program program(target, ElemKind::Float, build);
      std::vector<float> actual = program.run<float, float>(values);
      for (size_t i = 0; i < values.size(); ++i) {
        double expected = std::pow(double(values[i]), double(exponent));
        ASSERT_LE(getUlps(actual[i], expected, expected), most)
            << values[i] << " to the power " << exponent << " on '"
            << target.cpu << "' is " << actual[i] << ", not " << expected;
      }
    }
  }
}

/// Of double, with the error of one unit; powers that a double has are exact.
TEST(VectorMath, PowOfDoubles) {
  std::vector<double> values =
      makeSweep<double, uint64_t>((uint64_t(1) << 49) - 3);
  for (int i = 0; i < 2000; ++i)
    values.insert(values.end(), {i * 0.5, 1 + (i - 1000) * 1e-6, i * 0.01});
  double worst = 0;
  for (double exponent :
       {-2.,  -1.,  -0.5,   0.,       0.5,       1.,         5.,
        12.,  2.5,  -3.,    17.,      1e10,      1e17,       1 / 3.,
        0.01, 300., -700.5, HUGE_VAL, -HUGE_VAL, double(NAN)}) {
    BuildFn build = [exponent](Function &f, NodeValue x) {
      Tensor tensor(Type(ElemKind::Double, Dims()));
      tensor.setFromDouble(0, exponent);
      NodeValue y(f.getModule().createConstant("c", std::move(tensor)));
      return f.create<PowNode>("p", x, y)->getResult();
    };
    for (const TargetOptions &target : getLevels(/*sharesWeights=*/false)) {
      Program program(target, ElemKind::Double, build);
      std::vector<double> actual = program.run<double, double>(values);
      for (size_t i = 0; i < values.size(); ++i) {
        long double expected =
            std::pow((long double)(values[i]), (long double)(exponent));
        double ulps = getUlps(actual[i], expected, expected);
        worst = std::max(worst, ulps);
        ASSERT_LE(ulps, 1) << values[i] << " to the power " << exponent
                           << " on '" << target.cpu << "' is " << actual[i]
                           << ", not " << double(expected);
        if (double(expected) == expected)
          ASSERT_EQ(ulps, 0) << values[i] << " to the power " << exponent;
      }
    }
  }
  std::printf("pow of double: %.3f ulp\n", worst);
}

/// Every float16 to float, and floats to float16 and back.
TEST(VectorMath, HalfPrecisions) {
  std::vector<uint16_t> halves;
  for (unsigned bits = 0; bits < 0x10000; ++bits)
    halves.push_back(uint16_t(bits));
  std::vector<float> floats = makeFloats(1021);
  for (unsigned i = 0; i < 0x10000; ++i) { // halfway, and beside it
    float value = i * 0x1p-25f, large = 1000 + i;
    floats.insert(floats.end(), {value, std::nextafter(value, 1.f), large});
  }
  auto cast = [](ElemKind to) {
    return [to](Function &f, NodeValue x) {
      return f.create<CastNode>("c", x, to)->getResult();
    };
  };
  for (const TargetOptions &target : getLevels(/*sharesWeights=*/false)) {
    Program widen(target, ElemKind::Float16, cast(ElemKind::Float));
    std::vector<float> wide = widen.run<uint16_t, float>(halves);
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      Float16 half;
      half.bits = uint16_t(bits);
      ASSERT_EQ(getUlps(wide[bits], double(float(half)), 1.0), 0)
          << "float16 " << bits << " on '" << target.cpu << "'";
    }
    Program narrow(target, ElemKind::Float, cast(ElemKind::Float16));
    std::vector<uint16_t> short16 = narrow.run<float, uint16_t>(floats);
    for (size_t i = 0; i < floats.size(); ++i) {
      Float16 half;
      half.bits = short16[i];
      ASSERT_EQ(getUlps(float(half), double(float(Float16(floats[i]))), 1.0), 0)
          << floats[i] << " to float16 on '" << target.cpu << "'";
    }
  }
}
