//===- PythonOperators.cpp - Operators of Python on numbers ---------------===//

#include "TorchExport/GraphImporter.h"
#include "glowish/Base/CheckedInt.h"
#include <cmath>

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchexport;

namespace {

/// Of one or two numbers; both are given as ints if they are, else as doubles.
struct PythonOperator {
  llvm::StringLiteral name;
  unsigned numArguments;
  /// Nothing where ints overflow or are divided by 0.
  std::optional<AtenValue> (*ofInts)(int64_t, int64_t);
  AtenValue (*ofDoubles)(double, double);
};

} // namespace

template <CheckedInt (*Compute)(CheckedInt, CheckedInt)>
static std::optional<AtenValue> computeInts(int64_t x, int64_t y) {
  std::optional<int64_t> result = Compute(x, y).get();
  return result ? std::optional(AtenValue(*result)) : std::nullopt;
}

static CheckedInt add(CheckedInt x, CheckedInt y) { return x + y; }
static CheckedInt subtract(CheckedInt x, CheckedInt y) { return x - y; }
static CheckedInt multiply(CheckedInt x, CheckedInt y) { return x * y; }

using OfInts = std::optional<AtenValue>;
static constexpr PythonOperator operators[] = {
    {"_operator.add", 2, computeInts<add>,
     [](double x, double y) { return AtenValue(x + y); }},
    {"_operator.sub", 2, computeInts<subtract>,
     [](double x, double y) { return AtenValue(x - y); }},
    {"_operator.mul", 2, computeInts<multiply>,
     [](double x, double y) { return AtenValue(x * y); }},
    {"_operator.floordiv", 2, computeInts<divideDown>,
     [](double x, double y) { return AtenValue(std::floor(x / y)); }},
    {"_operator.mod", 2, computeInts<getRestDown>,
     [](double x, double y) { return AtenValue(x - std::floor(x / y) * y); }},
    {"_operator.truediv", 2,
     [](int64_t x, int64_t y) -> OfInts {
       return AtenValue(double(x) / double(y));
     },
     [](double x, double y) { return AtenValue(x / y); }},
    {"_operator.pow", 2,
     [](int64_t x, int64_t y) -> OfInts {
       double power = std::pow(double(x), double(y));
       if (y < 0 || std::fabs(power) > 0x1p53)
         return std::nullopt;
       return AtenValue(int64_t(power));
     },
     [](double x, double y) { return AtenValue(std::pow(x, y)); }},
    {"_operator.neg", 1,
     [](int64_t x, int64_t) -> OfInts {
       return AtenValue(int64_t(0 - uint64_t(x)));
     },
     [](double x, double) { return AtenValue(-x); }},
    {"_operator.eq", 2,
     [](int64_t x, int64_t y) -> OfInts { return AtenValue(x == y); },
     [](double x, double y) { return AtenValue(x == y); }},
    {"_operator.ne", 2,
     [](int64_t x, int64_t y) -> OfInts { return AtenValue(x != y); },
     [](double x, double y) { return AtenValue(x != y); }},
    {"_operator.lt", 2,
     [](int64_t x, int64_t y) -> OfInts { return AtenValue(x < y); },
     [](double x, double y) { return AtenValue(x < y); }},
    {"_operator.le", 2,
     [](int64_t x, int64_t y) -> OfInts { return AtenValue(x <= y); },
     [](double x, double y) { return AtenValue(x <= y); }},
    {"_operator.gt", 2,
     [](int64_t x, int64_t y) -> OfInts { return AtenValue(x > y); },
     [](double x, double y) { return AtenValue(x > y); }},
    {"_operator.ge", 2,
     [](int64_t x, int64_t y) -> OfInts { return AtenValue(x >= y); },
     [](double x, double y) { return AtenValue(x >= y); }},
    {"_operator.and_", 2,
     [](int64_t x, int64_t y) -> OfInts { return AtenValue(x && y); },
     [](double x, double y) { return AtenValue(x != 0 && y != 0); }},
    {"_operator.or_", 2,
     [](int64_t x, int64_t y) -> OfInts { return AtenValue(x || y); },
     [](double x, double y) { return AtenValue(x != 0 || y != 0); }},
    {"torch.sym_not", 1,
     [](int64_t x, int64_t) -> OfInts { return AtenValue(!x); },
     [](double x, double) { return AtenValue(x == 0); }},
    {"torch.sym_max", 2,
     [](int64_t x, int64_t y) -> OfInts { return AtenValue(std::max(x, y)); },
     [](double x, double y) { return AtenValue(std::max(x, y)); }},
    {"torch.sym_min", 2,
     [](int64_t x, int64_t y) -> OfInts { return AtenValue(std::min(x, y)); },
     [](double x, double y) { return AtenValue(std::min(x, y)); }},
    {"torch.sym_int", 1,
     [](int64_t x, int64_t) -> OfInts { return AtenValue(x); },
     [](double x, double) { return AtenValue(int64_t(x)); }},
    {"torch.sym_float", 1,
     [](int64_t x, int64_t) -> OfInts { return AtenValue(double(x)); },
     [](double x, double) { return AtenValue(x); }},
    {"math.floor", 1, [](int64_t x, int64_t) -> OfInts { return AtenValue(x); },
     [](double x, double) { return AtenValue(int64_t(std::floor(x))); }},
    {"math.ceil", 1, [](int64_t x, int64_t) -> OfInts { return AtenValue(x); },
     [](double x, double) { return AtenValue(int64_t(std::ceil(x))); }},
    {"math.trunc", 1, [](int64_t x, int64_t) -> OfInts { return AtenValue(x); },
     [](double x, double) { return AtenValue(int64_t(x)); }},
};

static const PythonOperator *findOperator(llvm::StringRef target) {
  for (const PythonOperator &op : operators)
    if (op.name == target)
      return &op;
  return nullptr;
}

bool torchexport::isPythonOperator(llvm::StringRef target) {
  return findOperator(target);
}

llvm::Expected<AtenValue>
torchexport::runPythonOperator(llvm::StringRef target,
                               const AtenValue::List &arguments) {
  const PythonOperator &op = *findOperator(target);
  if (arguments.size() != op.numArguments)
    return makeError("it has {0} arguments; accepted: {1}", arguments.size(),
                     op.numArguments);
  for (const AtenValue &argument : arguments)
    if (!argument.isNumber())
      return makeError("an argument is {0}; accepted: numbers that are known "
                       "when the model is compiled",
                       argument.describe());
  const AtenValue &x = arguments.front(), &y = arguments.back();
  auto isInt = [](const AtenValue &value) { return !value.is<double>(); };
  if (!isInt(x) || !isInt(y)) {
    double own = x.getNumber();
    // Conversions to ints of what none is are refused.
    if (op.numArguments == 1 && !(std::fabs(own) < 0x1p62))
      return makeError("an argument is {0}; accepted: numbers that ints hold",
                       x.describe());
    return op.ofDoubles(own, y.getNumber());
  }
  auto toInt = [](const AtenValue &value) {
    return value.is<bool>() ? int64_t(value.get<bool>()) : value.get<int64_t>();
  };
  std::optional<AtenValue> result = op.ofInts(toInt(x), toInt(y));
  if (!result)
    return makeError("{0} and {1} have no such result of 64 bits", x.describe(),
                     y.describe());
  return *result;
}
