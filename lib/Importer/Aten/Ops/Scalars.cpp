//===- Scalars.cpp - Numbers of Python ------------------------------------===//
//
// Operators on ints, floats and bools. Those that are known are computed as
// Python does; of others nodes are made, and a float is a double then.
//
//===----------------------------------------------------------------------===//

#include "Aten/AtenOp.h"
#include "glowish/Base/CheckedInt.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
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

//===- Known numbers ------------------------------------------------------===//

/// Returns |x|, which int64_t lacks for INT64_MIN.
static uint64_t getMagnitude(int64_t x) {
  return x < 0 ? -uint64_t(x) : uint64_t(x);
}

static int64_t raise(int64_t x, int64_t exponent) {
  uint64_t power = 1;
  for (uint64_t base = uint64_t(x); exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2)
      power *= base;
  return int64_t(power);
}

/// x NAME y, of ints; none if it is no int or not defined. Sums and products
/// wrap as PyTorch's do.
static std::optional<int64_t> computeInts(llvm::StringRef name, int64_t x,
                                          int64_t y) {
  auto wrap = [](uint64_t value) { return int64_t(value); };
  if (name == "add")
    return wrap(uint64_t(x) + uint64_t(y));
  if (name == "sub")
    return wrap(uint64_t(x) - uint64_t(y));
  if (name == "mul")
    return wrap(uint64_t(x) * uint64_t(y));
  if (name == "prim::min")
    return std::min(x, y);
  if (name == "prim::max")
    return std::max(x, y);
  if (name == "gcd")
    return wrap(std::gcd(getMagnitude(x), getMagnitude(y)));
  if (name == "pow" && y >= 0)
    return raise(x, y);
  if (name == "floordiv")
    return divideDown(x, y).get();
  if (name == "remainder")
    return getRestDown(x, y).get();
  if (name == "__round_to_zero_floordiv")
    return (CheckedInt(x) / y).get();
  return std::nullopt;
}

/// x NAME y, of floats; none if it is not defined.
static std::optional<double> computeFloats(llvm::StringRef name, double x,
                                           double y) {
  if (y == 0 && (name == "div" || name == "floordiv" || name == "remainder"))
    return std::nullopt;
  double rest = std::fmod(x, y);
  return llvm::StringSwitch<std::optional<double>>(name)
      .Case("add", x + y)
      .Case("sub", x - y)
      .Case("mul", x * y)
      .Case("div", x / y)
      .Case("floordiv", std::floor(x / y))
      .Case("remainder", rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest)
      .Case("fmod", rest)
      .Case("pow", std::pow(x, y))
      .Case("prim::min", std::min(x, y))
      .Case("prim::max", std::max(x, y))
      .Case("atan2", std::atan2(x, y))
      .Case("copysign", std::copysign(x, y))
      .Case("log", std::log(x) / std::log(y))
      .Default(std::nullopt);
}

//===- Two numbers --------------------------------------------------------===//

/// The same with nodes.
static NodeValue compute(AtenOp &op, llvm::StringRef name, NodeValue x,
                         NodeValue y) {
  auto divide = [&] {
    NodeValue quotient = op.div(x, y);
    if (isFloatKind(x.getElemKind()))
      return op.unary<FloorNode>(quotient);
    // Integers are cut.
    NodeValue rest = op.sub(x, op.mul(quotient, y));
    NodeValue isNegative = op.less(op.mul(rest, y), 0);
    return op.select(isNegative, op.sub(quotient, 1), quotient);
  };
  if (name == "add")
    return op.add(x, y);
  if (name == "sub")
    return op.sub(x, y);
  if (name == "mul")
    return op.mul(x, y);
  if (name == "div" || name == "__round_to_zero_floordiv")
    return op.div(x, y);
  if (name == "floordiv")
    return divide();
  if (name == "remainder")
    return op.sub(x, op.mul(divide(), y));
  if (name == "pow")
    return op.pow(x, y);
  if (name == "prim::min")
    return op.min(x, y);
  return name == "prim::max" ? op.max(x, y) : NodeValue();
}

static llvm::Error importArithmetic(AtenOp &op) {
  llvm::StringRef name = op.getSchema().name;
  bool isReal = isFloat(op, "a") || isFloat(op, "b") || name == "div" ||
                name == "fmod" || name == "atan2" || name == "copysign" ||
                name == "log" ||
                (name == "pow" && op.getSchema().overload != "int_to_int");
  if (!isKnown(op, "a") || !isKnown(op, "b")) {
    ElemKind kind = isReal ? ElemKind::Double : ElemKind::Int64;
    NodeValue result =
        compute(op, name, op.operand("a", kind), op.operand("b", kind));
    if (!result && !op.hasFailed())
      return op.refuse(isKnown(op, "a") ? "b" : "a",
                       "a number that is known when the model is compiled");
    return op.setResult(result);
  }
  if (isReal) {
    if (auto result = computeFloats(name, getFloat(op, "a"), getFloat(op, "b")))
      return op.setResult(AtenValue(*result));
  } else if (auto result =
                 computeInts(name, getInt(op, "a"), getInt(op, "b"))) {
    return op.setResult(AtenValue(*result));
  }
  return makeError("it is not defined for {0} and {1}", op.get("a").describe(),
                   op.get("b").describe());
}

#define FOUR_OVERLOADS(NAME)                                                   \
  NAME ".int(Scalar a, Scalar b) -> Scalar",                                   \
      NAME ".float(Scalar a, Scalar b) -> Scalar",                             \
      NAME ".int_float(Scalar a, Scalar b) -> Scalar",                         \
      NAME ".float_int(Scalar a, Scalar b) -> Scalar"
#define FIVE_OVERLOADS(NAME)                                                   \
  FOUR_OVERLOADS(NAME), NAME "(Scalar a, Scalar b) -> Scalar"

static AtenOperators arithmetic(
    {{importArithmetic,
      {FIVE_OVERLOADS("add"),
       FIVE_OVERLOADS("sub"),
       FIVE_OVERLOADS("mul"),
       "div.int(Scalar a, Scalar b) -> Scalar",
       "div.float(Scalar a, Scalar b) -> Scalar",
       "div(Scalar a, Scalar b) -> Scalar",
       FIVE_OVERLOADS("floordiv"),
       FIVE_OVERLOADS("remainder"),
       FIVE_OVERLOADS("fmod"),
       FOUR_OVERLOADS("pow"),
       "pow.Scalar_Scalar(Scalar a, Scalar b) -> Scalar",
       "pow.int_to_int(Scalar a, Scalar b) -> Scalar",
       FIVE_OVERLOADS("prim::min"),
       FIVE_OVERLOADS("prim::max"),
       FOUR_OVERLOADS("atan2"),
       "atan2.Scalar_Scalar(Scalar a, Scalar b) -> Scalar",
       FIVE_OVERLOADS("copysign"),
       "log.int_int(Scalar a, Scalar b) -> Scalar",
       "log.float_float(Scalar a, Scalar b) -> Scalar",
       "log.int_float(Scalar a, Scalar b) -> Scalar",
       "log.float_int(Scalar a, Scalar b) -> Scalar",
       "log.Scalar_Scalar(Scalar a, Scalar b) -> Scalar",
       "gcd.int(Scalar a, Scalar b) -> Scalar",
       "__round_to_zero_floordiv.int(Scalar a, Scalar b) -> Scalar"}}});

//===- Comparisons --------------------------------------------------------===//

/// Whether x NAME y, for an order of -1, 0 or 1.
static bool holds(llvm::StringRef name, int order) {
  return name == "eq"   ? order == 0
         : name == "ne" ? order != 0
         : name == "lt" ? order < 0
         : name == "le" ? order <= 0
         : name == "gt" ? order > 0
                        : order >= 0;
}

static llvm::Error importComparison(AtenOp &op) {
  llvm::StringRef name = op.getSchema().name;
  bool isReal = isFloat(op, "a") || isFloat(op, "b");
  if (isKnown(op, "a") && isKnown(op, "b")) {
    if (!isReal) {
      int64_t x = getInt(op, "a"), y = getInt(op, "b");
      return op.setResult(AtenValue(holds(name, (x > y) - (x < y))));
    }
    double x = getFloat(op, "a"), y = getFloat(op, "b");
    if (std::isnan(x) || std::isnan(y))
      return op.setResult(AtenValue(name == "ne"));
    return op.setResult(AtenValue(holds(name, (x > y) - (x < y))));
  }
  ElemKind kind = isReal ? ElemKind::Double : ElemKind::Int64;
  NodeValue x = op.operand("a", kind), y = op.operand("b", kind);
  NodeValue result = name == "lt"   ? op.less(x, y)
                     : name == "le" ? op.lessOrEqual(x, y)
                     : name == "gt" ? op.greater(x, y)
                     : name == "ge" ? op.greaterOrEqual(x, y)
                                    : op.equal(x, y);
  return op.setResult(name == "ne" ? op.unary<NotNode>(result) : result);
}
static AtenOperators comparisons(
    {{importComparison,
      {FIVE_OVERLOADS("eq"), "eq.bool(Scalar a, Scalar b) -> Scalar",
       FIVE_OVERLOADS("ne"), "ne.bool(Scalar a, Scalar b) -> Scalar",
       FIVE_OVERLOADS("lt"), FIVE_OVERLOADS("le"), FIVE_OVERLOADS("gt"),
       FIVE_OVERLOADS("ge")}}});

//===- Bits ---------------------------------------------------------------===//

static llvm::Error importBits(AtenOp &op) {
  llvm::StringRef name = op.getSchema().name;
  bool isBool = op.getSchema().overload == "bool";
  if (isKnown(op, "a") && isKnown(op, "b")) {
    int64_t x = getInt(op, "a"), y = getInt(op, "b");
    bool isShift = name == "__lshift__" || name == "__rshift__";
    if (isShift && (y < 0 || y > 63))
      return op.refuse("b", "0 to 63");
    int64_t result = name == "__and__"      ? x & y
                     : name == "__or__"     ? x | y
                     : name == "__xor__"    ? x ^ y
                     : name == "__lshift__" ? int64_t(uint64_t(x) << y)
                                            : x >> y;
    return op.setResult(isBool ? AtenValue(result != 0) : AtenValue(result));
  }
  if (!isBool)
    return op.refuse(isKnown(op, "a") ? "b" : "a",
                     "an int that is known when the model is compiled");
  NodeValue x = op.operand("a", ElemKind::Bool),
            y = op.operand("b", ElemKind::Bool);
  return op.setResult(name == "__and__"  ? op.logicalAnd(x, y)
                      : name == "__or__" ? op.logicalOr(x, y)
                                         : op.unary<NotNode>(op.equal(x, y)));
}
static AtenOperators bits({{importBits,
                            {"__and__.bool(Scalar a, Scalar b) -> Scalar",
                             "__and__.int(Scalar a, Scalar b) -> Scalar",
                             "__or__.bool(Scalar a, Scalar b) -> Scalar",
                             "__or__.int(Scalar a, Scalar b) -> Scalar",
                             "__xor__.bool(Scalar a, Scalar b) -> Scalar",
                             "__xor__.int(Scalar a, Scalar b) -> Scalar",
                             "__lshift__.int(Scalar a, Scalar b) -> Scalar",
                             "__rshift__.int(Scalar a, Scalar b) -> Scalar"}}});

static llvm::Error importNot(AtenOp &op) {
  if (isKnown(op, "self"))
    return op.setResult(AtenValue(getFloat(op, "self") == 0));
  return op.setResult(op.unary<NotNode>(op.operand("self", ElemKind::Bool)));
}
static AtenOperators notOp({{importNot, {"__not__(Scalar self) -> Scalar"}}});

//===- One number ---------------------------------------------------------===//

/// NAME(x), of floats.
static double computeFloat(llvm::StringRef name, double x) {
  return llvm::StringSwitch<double>(name)
      .Case("neg", -x)
      .Cases("prim::abs", "fabs", std::fabs(x))
      .Case("floor", std::floor(x))
      .Case("ceil", std::ceil(x))
      // Halves go to even integers.
      .Case("round", std::nearbyint(x))
      .Case("sqrt", std::sqrt(x))
      .Case("exp", std::exp(x))
      .Case("log", std::log(x))
      .Case("log10", std::log10(x))
      .Case("log1p", std::log1p(x))
      .Case("sin", std::sin(x))
      .Case("cos", std::cos(x))
      .Case("tan", std::tan(x))
      .Case("tanh", std::tanh(x))
      .Case("atan", std::atan(x))
      .Case("degrees", x * (180 / M_PI))
      .Case("radians", x * (M_PI / 180))
      .Default(x);
}

/// The same with nodes; null if there are none for it.
static NodeValue computeOne(AtenOp &op, llvm::StringRef name, NodeValue x) {
  if (name == "neg")
    return op.sub(0.0, x);
  if (name == "prim::abs" || name == "fabs")
    return op.max(x, op.sub(0.0, x));
  if (name == "floor")
    return op.unary<FloorNode>(x);
  if (name == "ceil")
    return op.sub(0.0, op.unary<FloorNode>(op.sub(0.0, x)));
  if (name == "sqrt")
    return op.unary<SqrtNode>(x);
  if (name == "exp")
    return op.unary<ExpNode>(x);
  return name == "log" ? op.unary<LogNode>(x) : NodeValue();
}

static llvm::Error importUnary(AtenOp &op) {
  llvm::StringRef name = op.getSchema().name;
  bool keepsKind = name == "neg" || name == "prim::abs",
       toInt = name == "floor" || name == "ceil";
  bool isInt = !isFloat(op, "a");
  if (isKnown(op, "a")) {
    if (isInt && (keepsKind || toInt)) {
      int64_t x = getInt(op, "a");
      bool isNegated = name == "neg" || (keepsKind && x < 0);
      // INT64_MIN wraps, as in PyTorch.
      return op.setResult(AtenValue(isNegated ? int64_t(-uint64_t(x)) : x));
    }
    double result = computeFloat(name, getFloat(op, "a"));
    // What may be an int or a float has the result of a float of C.
    if (op.getSchema().overload == "Scalar" && !keepsKind && !toInt)
      result = float(result);
    if (!toInt)
      return op.setResult(AtenValue(result));
    if (!toInt64(result))
      return op.refuse("a", "a number whose integer fits 64 bits");
    return op.setResult(AtenValue(*toInt64(result)));
  }
  if (isInt && toInt)
    return op.setResult(op.operand("a", ElemKind::Int64));
  ElemKind kind = isInt && keepsKind ? ElemKind::Int64 : ElemKind::Double;
  NodeValue result = computeOne(op, name, op.operand("a", kind));
  if (!result && !op.hasFailed())
    return op.refuse("a", "a number that is known when the model is compiled");
  if (op.getSchema().overload == "Scalar" && !keepsKind && !toInt)
    result = op.cast(op.cast(result, ElemKind::Float), ElemKind::Double);
  return op.setResult(toInt ? op.cast(result, ElemKind::Int64) : result);
}

#define UNARY_OVERLOADS(NAME)                                                  \
  NAME ".int(Scalar a) -> Scalar", NAME ".float(Scalar a) -> Scalar",          \
      NAME ".Scalar(Scalar a) -> Scalar"

static AtenOperators unaries(
    {{importUnary,
      {UNARY_OVERLOADS("neg"), UNARY_OVERLOADS("prim::abs"),
       UNARY_OVERLOADS("fabs"), UNARY_OVERLOADS("floor"),
       UNARY_OVERLOADS("ceil"), UNARY_OVERLOADS("round"),
       UNARY_OVERLOADS("sqrt"), UNARY_OVERLOADS("exp"), UNARY_OVERLOADS("log"),
       UNARY_OVERLOADS("log10"), UNARY_OVERLOADS("log1p"),
       UNARY_OVERLOADS("sin"), UNARY_OVERLOADS("cos"), UNARY_OVERLOADS("tan"),
       UNARY_OVERLOADS("tanh"), UNARY_OVERLOADS("atan"),
       UNARY_OVERLOADS("degrees"), UNARY_OVERLOADS("radians")}}});

static llvm::Error importClass(AtenOp &op) {
  if (!isKnown(op, "a"))
    return op.refuse("a", "a number that is known when the model is compiled");
  double x = getFloat(op, "a");
  llvm::StringRef name = op.getSchema().name;
  return op.setResult(AtenValue(name == "isnan"   ? std::isnan(x)
                                : name == "isinf" ? std::isinf(x)
                                                  : std::isfinite(x)));
}
static AtenOperators classes({{importClass,
                               {"isnan.float(Scalar a) -> Scalar",
                                "isinf.float(Scalar a) -> Scalar",
                                "isfinite.float(Scalar a) -> Scalar"}}});

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
static AtenOperators rangeLength(
    {{importRangeLength,
      {"__range_length(Scalar lo, Scalar hi, Scalar step) -> Scalar"}}});

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
static AtenOperators deriveIndex(
    {{importDeriveIndex,
      {"__derive_index(Scalar index, Scalar start, Scalar step) -> Scalar"}}});
