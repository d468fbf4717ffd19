//===- Scalars.cpp - Numbers of Python ------------------------------------===//
//
// Operators on ints, floats and bools. Those that are known are computed as
// Python does; of others nodes are made, and a float is a double then.
//
//===----------------------------------------------------------------------===//

#include "Aten/AtenOp.h"
#include "glowish/Base/CheckedInt.h"
#include <cmath>
#include <functional>
#include <numeric>

using namespace glowish;
using namespace glowish::aten;

//===- Arguments ----------------------------------------------------------===//

static bool isKnown(AtenOp &op, llvm::StringRef argument) {
  return op.get(argument).isNumber();
}

static bool isFloat(AtenOp &op, llvm::StringRef argument) {
  const AtenValue &value = op.get(argument);
  return value.isTensor() ? isFloatKind(value.get<NodeValue>().getElemKind())
                          : value.is<double>();
}

/// An int or a bool that is known.
static int64_t getInt(AtenOp &op, llvm::StringRef argument) {
  const AtenValue &value = op.get(argument);
  return value.is<bool>() ? value.get<bool>() : value.get<int64_t>();
}

static double getFloat(AtenOp &op, llvm::StringRef argument) {
  return op.get(argument).getNumber();
}

/// Refuses the first of two numbers that is not known.
static llvm::Error refuseComputed(AtenOp &op, llvm::StringRef accepted) {
  return op.refuse(isKnown(op, "a") ? "b" : "a", accepted);
}

//===- Functions of two numbers -------------------------------------------===//

/// Returns |x|, which int64_t lacks for INT64_MIN.
static uint64_t getMagnitude(int64_t x) {
  return x < 0 ? -uint64_t(x) : uint64_t(x);
}

/// Computes ints; they wrap as PyTorch's do.
template <typename F> static std::optional<int64_t> wrap(int64_t x, int64_t y) {
  return int64_t(F()(uint64_t(x), uint64_t(y)));
}
/// Computes ints; none if there is no result of 64 bits.
template <CheckedInt (*F)(CheckedInt, CheckedInt)>
static std::optional<int64_t> check(int64_t x, int64_t y) {
  return F(x, y).get();
}
static CheckedInt divideTowardsZero(CheckedInt x, CheckedInt y) {
  return x / y;
}
static std::optional<int64_t> raise(int64_t x, int64_t exponent) {
  if (exponent < 0)
    return std::nullopt;
  uint64_t power = 1;
  for (uint64_t base = uint64_t(x); exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2)
      power *= base;
  return int64_t(power);
}
static std::optional<int64_t> getCommonDivisor(int64_t x, int64_t y) {
  return int64_t(std::gcd(getMagnitude(x), getMagnitude(y)));
}

template <typename F> static double apply(double x, double y) {
  return F()(x, y);
}
static double floorQuotient(double x, double y) { return std::floor(x / y); }
static double floorRest(double x, double y) {
  double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
static double getLogarithm(double x, double base) {
  return std::log(x) / std::log(base);
}

template <typename ResultT, typename T> static ResultT getSmaller(T x, T y) {
  return std::min(x, y);
}
template <typename ResultT, typename T> static ResultT getLarger(T x, T y) {
  return std::max(x, y);
}

template <typename T>
static NodeValue make(AtenOp &op, NodeValue x, NodeValue y) {
  return op.make<T>(x, y);
}
static NodeValue makeFloorQuotient(AtenOp &op, NodeValue x, NodeValue y) {
  NodeValue quotient = op.div(x, y);
  if (isFloatKind(x.getElemKind()))
    return op.unary<FloorNode>(quotient);
  // Integers are cut.
  NodeValue rest = op.sub(x, op.mul(quotient, y));
  NodeValue isNegative = op.less(op.mul(rest, y), 0);
  return op.select(isNegative, op.sub(quotient, 1), quotient);
}
static NodeValue makeFloorRest(AtenOp &op, NodeValue x, NodeValue y) {
  return op.sub(x, op.mul(makeFloorQuotient(op, x, y), y));
}
static NodeValue makeUnequal(AtenOp &op, NodeValue x, NodeValue y) {
  return op.unary<NotNode>(op.equal(x, y));
}

//===- Two numbers --------------------------------------------------------===//

using IntFunction = std::optional<int64_t> (*)(int64_t, int64_t);
using FloatFunction = double (*)(double, double);
using NodeFunction = NodeValue (*)(AtenOp &, NodeValue, NodeValue);

/// Imports an operator by the functions that it has; null ones it lacks. Ints
/// become floats without \p OfInts. A division is not defined for floats if
/// the second one is 0.
template <IntFunction OfInts, FloatFunction OfFloats,
          NodeFunction OfNodes = nullptr, bool IsDivision = false>
static llvm::Error importArithmetic(AtenOp &op) {
  bool isReal = isFloat(op, "a") || isFloat(op, "b") || OfInts == nullptr;
  if (!isKnown(op, "a") || !isKnown(op, "b")) {
    if (OfNodes == nullptr)
      return refuseComputed(
          op, "a number that is known when the model is compiled");
    ElemKind kind = isReal ? ElemKind::Double : ElemKind::Int64;
    return op.setResult(
        OfNodes(op, op.operand("a", kind), op.operand("b", kind)));
  }
  if (!isReal) {
    if (auto result = OfInts(getInt(op, "a"), getInt(op, "b")))
      return op.setResult(AtenValue(*result));
  } else if (OfFloats != nullptr && !(IsDivision && getFloat(op, "b") == 0)) {
    return op.setResult(
        AtenValue(OfFloats(getFloat(op, "a"), getFloat(op, "b"))));
  }
  return makeError("it is not defined for {0} and {1}", op.get("a").describe(),
                   op.get("b").describe());
}

/// Also imports comparisons of bools.
template <typename Compare, NodeFunction OfNodes>
static llvm::Error importComparison(AtenOp &op) {
  bool isReal = isFloat(op, "a") || isFloat(op, "b");
  if (!isKnown(op, "a") || !isKnown(op, "b")) {
    ElemKind kind = isReal ? ElemKind::Double : ElemKind::Int64;
    return op.setResult(
        OfNodes(op, op.operand("a", kind), op.operand("b", kind)));
  }
  return op.setResult(
      AtenValue(isReal ? Compare()(getFloat(op, "a"), getFloat(op, "b"))
                       : Compare()(getInt(op, "a"), getInt(op, "b"))));
}

static constexpr IntFunction noInts = nullptr;
static constexpr FloatFunction noFloats = nullptr;

static AtenOperators anyNumbers(
    {".int(Scalar a, Scalar b) -> Scalar",
     ".float(Scalar a, Scalar b) -> Scalar",
     ".int_float(Scalar a, Scalar b) -> Scalar",
     ".float_int(Scalar a, Scalar b) -> Scalar",
     "(Scalar a, Scalar b) -> Scalar"},
    {{importArithmetic<wrap<std::plus<>>, apply<std::plus<>>, make<AddNode>>,
      {"add"}},
     {importArithmetic<wrap<std::minus<>>, apply<std::minus<>>, make<SubNode>>,
      {"sub"}},
     {importArithmetic<wrap<std::multiplies<>>, apply<std::multiplies<>>,
                       make<MulNode>>,
      {"mul"}},
     {importArithmetic<check<divideDown>, floorQuotient, makeFloorQuotient,
                       /*IsDivision=*/true>,
      {"floordiv"}},
     {importArithmetic<check<getRestDown>, floorRest, makeFloorRest,
                       /*IsDivision=*/true>,
      {"remainder"}},
     {importArithmetic<noInts, std::fmod>, {"fmod"}},
     {importArithmetic<getSmaller, getSmaller, make<MinNode>>, {"prim::min"}},
     {importArithmetic<getLarger, getLarger, make<MaxNode>>, {"prim::max"}},
     {importArithmetic<noInts, std::copysign>, {"copysign"}},
     {importComparison<std::equal_to<>, make<EqualNode>>, {"eq"}},
     {importComparison<std::not_equal_to<>, makeUnequal>, {"ne"}},
     {importComparison<std::less<>, make<LessNode>>, {"lt"}},
     {importComparison<std::less_equal<>, make<LessOrEqualNode>>, {"le"}},
     {importComparison<std::greater<>, make<GreaterNode>>, {"gt"}},
     {importComparison<std::greater_equal<>, make<GreaterOrEqualNode>>,
      {"ge"}}});
static AtenOperators
    mixedNumbers({".int(Scalar a, Scalar b) -> Scalar",
                  ".float(Scalar a, Scalar b) -> Scalar",
                  ".int_float(Scalar a, Scalar b) -> Scalar",
                  ".float_int(Scalar a, Scalar b) -> Scalar",
                  ".Scalar_Scalar(Scalar a, Scalar b) -> Scalar"},
                 {{importArithmetic<noInts, std::pow, make<PowNode>>, {"pow"}},
                  {importArithmetic<noInts, std::atan2>, {"atan2"}}});
static AtenOperators certainNumbers(
    {"(Scalar a, Scalar b) -> Scalar"},
    {{importArithmetic<noInts, apply<std::divides<>>, make<DivNode>,
                       /*IsDivision=*/true>,
      {"div", "div.int", "div.float"}},
     {importArithmetic<raise, std::pow, make<PowNode>>, {"pow.int_to_int"}},
     {importArithmetic<noInts, getLogarithm>,
      {"log.int_int", "log.float_float", "log.int_float", "log.float_int",
       "log.Scalar_Scalar"}},
     {importArithmetic<getCommonDivisor, noFloats>, {"gcd.int"}},
     {importArithmetic<check<divideTowardsZero>, noFloats, make<DivNode>>,
      {"__round_to_zero_floordiv.int"}},
     {importComparison<std::equal_to<>, make<EqualNode>>, {"eq.bool"}},
     {importComparison<std::not_equal_to<>, makeUnequal>, {"ne.bool"}}});

//===- Bits ---------------------------------------------------------------===//

static constexpr llvm::StringLiteral knownInt =
    "an int that is known when the model is compiled";

template <typename F, NodeFunction OfBools>
static llvm::Error importBits(AtenOp &op) {
  bool isBool = op.getSchema().overload == "bool";
  if (isKnown(op, "a") && isKnown(op, "b")) {
    int64_t result = F()(getInt(op, "a"), getInt(op, "b"));
    return op.setResult(isBool ? AtenValue(result != 0) : AtenValue(result));
  }
  if (!isBool)
    return refuseComputed(op, knownInt);
  return op.setResult(OfBools(op, op.operand("a", ElemKind::Bool),
                              op.operand("b", ElemKind::Bool)));
}

template <bool IsLeft> static llvm::Error importShift(AtenOp &op) {
  if (!isKnown(op, "a") || !isKnown(op, "b"))
    return refuseComputed(op, knownInt);
  int64_t x = getInt(op, "a"), y = getInt(op, "b");
  if (y < 0 || y > 63)
    return op.refuse("b", "0 to 63");
  return op.setResult(AtenValue(IsLeft ? int64_t(uint64_t(x) << y) : x >> y));
}

static llvm::Error importNot(AtenOp &op) {
  if (isKnown(op, "self"))
    return op.setResult(AtenValue(getFloat(op, "self") == 0));
  return op.setResult(op.unary<NotNode>(op.operand("self", ElemKind::Bool)));
}

static AtenOperators
    bits({".bool(Scalar a, Scalar b) -> Scalar",
          ".int(Scalar a, Scalar b) -> Scalar"},
         {{importBits<std::bit_and<>, make<AndNode>>, {"__and__"}},
          {importBits<std::bit_or<>, make<OrNode>>, {"__or__"}},
          {importBits<std::bit_xor<>, makeUnequal>, {"__xor__"}}});
static AtenOperators shifts({".int(Scalar a, Scalar b) -> Scalar"},
                            {{importShift<true>, {"__lshift__"}},
                             {importShift<false>, {"__rshift__"}}});
static AtenOperators
    notOperator({{importNot, {"__not__(Scalar self) -> Scalar"}}});

//===- One number ---------------------------------------------------------===//

static double toDegrees(double x) { return x * (180 / M_PI); }
static double toRadians(double x) { return x * (M_PI / 180); }

template <typename T> static NodeValue make(AtenOp &op, NodeValue x) {
  return op.unary<T>(x);
}
static NodeValue makeNegative(AtenOp &op, NodeValue x) {
  return op.sub(0.0, x);
}
static NodeValue makeMagnitude(AtenOp &op, NodeValue x) {
  return op.max(x, makeNegative(op, x));
}
static NodeValue makeCeiling(AtenOp &op, NodeValue x) {
  return makeNegative(op, op.unary<FloorNode>(makeNegative(op, x)));
}

using FloatFunctionOfOne = double (*)(double);
using NodeFunctionOfOne = NodeValue (*)(AtenOp &, NodeValue);

/// Imports a function whose result is a float.
template <FloatFunctionOfOne OfFloat, NodeFunctionOfOne OfNode = nullptr>
static llvm::Error importFunction(AtenOp &op) {
  // What may be an int or a float has the result of a float of C.
  bool isRounded = op.getSchema().overload == "Scalar";
  if (isKnown(op, "a")) {
    double result = OfFloat(getFloat(op, "a"));
    return op.setResult(AtenValue(isRounded ? float(result) : result));
  }
  if (OfNode == nullptr)
    return op.refuse("a", "a number that is known when the model is compiled");
  NodeValue result = OfNode(op, op.operand("a", ElemKind::Double));
  if (isRounded)
    result = op.cast(op.cast(result, ElemKind::Float), ElemKind::Double);
  return op.setResult(result);
}

/// Imports -x, or |x|, which are of the kind of x.
template <bool IsMagnitude> static llvm::Error importSigned(AtenOp &op) {
  if (!isKnown(op, "a")) {
    NodeValue x =
        op.operand("a", isFloat(op, "a") ? ElemKind::Double : ElemKind::Int64);
    return op.setResult(IsMagnitude ? makeMagnitude(op, x)
                                    : makeNegative(op, x));
  }
  if (isFloat(op, "a")) {
    double x = getFloat(op, "a");
    return op.setResult(AtenValue(IsMagnitude ? std::fabs(x) : -x));
  }
  // INT64_MIN wraps, as in PyTorch.
  int64_t x = getInt(op, "a");
  return op.setResult(
      AtenValue(int64_t(IsMagnitude ? getMagnitude(x) : -uint64_t(x))));
}

/// Imports a function whose result is an int.
template <FloatFunctionOfOne OfFloat, NodeFunctionOfOne OfNode>
static llvm::Error importRounding(AtenOp &op) {
  if (isKnown(op, "a")) {
    if (!isFloat(op, "a"))
      return op.setResult(AtenValue(getInt(op, "a")));
    if (auto result = toInt64(OfFloat(getFloat(op, "a"))))
      return op.setResult(AtenValue(*result));
    return op.refuse("a", "a number whose integer fits 64 bits");
  }
  if (!isFloat(op, "a"))
    return op.setResult(op.operand("a", ElemKind::Int64));
  return op.setResult(
      op.cast(OfNode(op, op.operand("a", ElemKind::Double)), ElemKind::Int64));
}

static AtenOperators
    functions({".int(Scalar a) -> Scalar", ".float(Scalar a) -> Scalar",
               ".Scalar(Scalar a) -> Scalar"},
              {{importSigned<false>, {"neg"}},
               {importSigned<true>, {"prim::abs"}},
               {importRounding<std::floor, make<FloorNode>>, {"floor"}},
               {importRounding<std::ceil, makeCeiling>, {"ceil"}},
               {importFunction<std::fabs, makeMagnitude>, {"fabs"}},
               // Halves go to even integers.
               {importFunction<std::nearbyint>, {"round"}},
               {importFunction<std::sqrt, make<SqrtNode>>, {"sqrt"}},
               {importFunction<std::exp, make<ExpNode>>, {"exp"}},
               {importFunction<std::log, make<LogNode>>, {"log"}},
               {importFunction<std::log10>, {"log10"}},
               {importFunction<std::log1p>, {"log1p"}},
               {importFunction<std::sin>, {"sin"}},
               {importFunction<std::cos>, {"cos"}},
               {importFunction<std::tan>, {"tan"}},
               {importFunction<std::tanh>, {"tanh"}},
               {importFunction<std::atan>, {"atan"}},
               {importFunction<toDegrees>, {"degrees"}},
               {importFunction<toRadians>, {"radians"}}});

template <bool (*Test)(double)> static llvm::Error importClass(AtenOp &op) {
  if (!isKnown(op, "a"))
    return op.refuse("a", "a number that is known when the model is compiled");
  return op.setResult(AtenValue(Test(getFloat(op, "a"))));
}

static AtenOperators classes({".float(Scalar a) -> Scalar"},
                             {{importClass<std::isnan>, {"isnan"}},
                              {importClass<std::isinf>, {"isinf"}},
                              {importClass<std::isfinite>, {"isfinite"}}});

//===- Ranges -------------------------------------------------------------===//

/// len(range(lo, hi, step)).
static llvm::Error importRangeLength(AtenOp &op) {
  for (llvm::StringRef name : {"lo", "hi", "step"})
    if (!op.get(name).is<int64_t>())
      return op.refuse(name, "an int that is known when the model is compiled");
  int64_t low = op.get("lo").get<int64_t>(), high = op.get("hi").get<int64_t>(),
          step = op.get("step").get<int64_t>();
  if (step == 0)
    return op.refuse("step", "another number");
  if (step < 0)
    std::swap(low, high);
  // Of all int64_t there may be more than int64_t can count.
  uint64_t span = low < high ? uint64_t(high) - uint64_t(low) : 0;
  CheckedInt length = span ? (span - 1) / getMagnitude(step) + 1 : 0;
  if (!length.get())
    return op.refuse("hi", "a range whose length fits 64 bits");
  return op.setResult(AtenValue(*length.get()));
}

/// Element `index` of a range.
static llvm::Error importDeriveIndex(AtenOp &op) {
  auto isInt = [&](llvm::StringRef name) { return op.get(name).is<int64_t>(); };
  if (isInt("index") && isInt("start") && isInt("step")) {
    CheckedInt element = CheckedInt(op.integer("index")) * op.integer("step") +
                         op.integer("start");
    if (!element.get())
      return op.refuse("index", "an element that fits 64 bits");
    return op.setResult(AtenValue(*element.get()));
  }
  constexpr ElemKind kind = ElemKind::Int64;
  return op.setResult(
      op.add(op.operand("start", kind),
             op.mul(op.operand("index", kind), op.operand("step", kind))));
}

static AtenOperators ranges(
    {{importRangeLength,
      {"__range_length(Scalar lo, Scalar hi, Scalar step) -> Scalar"}},
     {importDeriveIndex,
      {"__derive_index(Scalar index, Scalar start, Scalar step) -> Scalar"}}});
