//===- VectorMathTest.cpp - Errors of functions in compiled code ----------===//
//
// Floats of all exponents and signs, denormal, infinite and NaN, go through
// compiled kernels of every level of this machine. The results are compared
// with those of the C library in a wider type. docs/performance.md has the
// bounds.
//
//===----------------------------------------------------------------------===//

#include "CPULevels.h"
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
      : backend(llvm::cantFail(CPUBackend::create(target))) {
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
  std::unique_ptr<CPUBackend> backend;
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
  /// Beyond it the result need only be in [-1, 1].
  Wide range = INFINITY;
  /// Units are those of the operand, not of the result.
  bool isRelativeToOperand = false;
  /// A result below the normal numbers may be 0.
  bool mayFlush = false;
};

template <typename T, typename Wide>
void check(const Case<T, Wide> &test, const std::vector<T> &values) {
  std::vector<Wide> expected;
  expected.reserve(values.size());
  for (T x : values)
    expected.push_back(test.reference(Wide(x)));
  ElemKind kind = std::is_same_v<T, float> ? ElemKind::Float : ElemKind::Double;
  for (const TargetOptions &target : getLevels(/*sharesWeights=*/false)) {
    Program program(target, kind, test.build);
    std::vector<T> actual = program.run<T, T>(values);
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::abs(Wide(values[i])) > test.range) {
        bool isBounded = std::isinf(values[i]) ? std::isnan(actual[i])
                                               : std::abs(actual[i]) <= 1;
        ASSERT_TRUE(isBounded) << test.name << "(" << values[i] << ") on '"
                               << target.cpu << "': " << actual[i];
        continue;
      }
      if (test.mayFlush && actual[i] == 0 &&
          std::abs(expected[i]) < std::numeric_limits<T>::min())
        continue;
      Wide scale = test.isRelativeToOperand ? Wide(values[i]) : expected[i];
      double ulps = getUlps(actual[i], expected[i], scale);
      if (ulps > worst) {
        worst = ulps;
        where = i;
      }
    }
    std::printf("%-8s %-10s %.3f ulp at %.9g\n", test.name.c_str(),
                target.cpu.empty() ? "native" : target.cpu.c_str(), worst,
                double(values[where]));
    EXPECT_LE(worst, test.ulps)
        << test.name << "(" << values[where] << ") on '" << target.cpu
        << "' is " << actual[where] << ", not " << double(expected[where]);
  }
}

template <typename NodeT> BuildFn unary() {
  return [](Function &f, NodeValue x) {
    return f.create<NodeT>("f", x)->getResult();
  };
}

NodeValue buildSwish(Function &f, NodeValue x) {
  return f.create<SwishNode>("f", x, 1.702)->getResult();
}

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
template <typename Wide> Wide geluTanh(Wide x) {
  Wide slope = std::sqrt(8 / Wide(M_PIl));
  return x / (1 + std::exp(-slope * x * (1 + Wide(0.044715) * x * x)));
}

} // namespace

TEST(VectorMath, Float) {
  const std::vector<float> values = makeFloats(1021);
  const Case<float, double> cases[] = {
      {"exp", unary<ExpNode>(), std::exp, 1.25},
      {"log", unary<LogNode>(), std::log, 1},
      {"tanh", unary<TanhNode>(), std::tanh, 5},
      {"erf", unary<ErfNode>(), std::erf, 6},
      {"sigmoid", unary<SigmoidNode>(), sigmoid, 2.5, INFINITY, false, true},
      {"sin", unary<SinNode>(), std::sin, 2, 1.6e6},
      {"cos", unary<CosNode>(), std::cos, 2, 1.6e6},
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
      {"gelu", unary<GeluNode>(), gelu, 3.5, INFINITY, true},
      {"geluTanh", unary<GeluTanhNode>(), geluTanh, 2, INFINITY, true},
      {"swish", buildSwish, swish, 2, INFINITY, true},
  };
  for (const auto &test : cases)
    check(test, values);
}

TEST(VectorMath, Double) {
  const std::vector<double> values = makeDoubles();
  using Wide = long double;
  const Case<double, Wide> cases[] = {
      {"exp", unary<ExpNode>(), std::exp, 1.25},
      {"log", unary<LogNode>(), std::log, 1},
      {"tanh", unary<TanhNode>(), std::tanh, 4.5},
      {"erf", unary<ErfNode>(), std::erf, 2},
      {"sigmoid", unary<SigmoidNode>(), sigmoid, 2.5, INFINITY, false, true},
      {"sin", unary<SinNode>(), std::sin, 2, 1.6e6},
      {"cos", unary<CosNode>(), std::cos, 2, 1.6e6},
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
      {"geluTanh", unary<GeluTanhNode>(), geluTanh, 2, INFINITY, true},
      {"swish", buildSwish, swish, 2, INFINITY, true},
  };
  for (const auto &test : cases)
    check(test, values);
}

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
