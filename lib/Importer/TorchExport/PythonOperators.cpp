//===- PythonOperators.cpp - Operators of Python on numbers ---------------===//

#include "Aten/Extents.h"
#include "TorchExport/GraphImporter.h"
#include "glowish/Base/CheckedInt.h"
#include <cmath>
#include <functional>

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

using OfInts = std::optional<AtenValue>;

/// Ints, or none where they have no result of 64 bits.
template <auto Compute> static OfInts checked(int64_t x, int64_t y) {
  std::optional<int64_t> result = Compute(CheckedInt(x), CheckedInt(y)).get();
  return result ? OfInts(*result) : std::nullopt;
}
template <typename F> static OfInts ofInts(int64_t x, int64_t y) {
  return AtenValue(F()(x, y));
}
template <typename F> static AtenValue ofDoubles(double x, double y) {
  return AtenValue(F()(x, y));
}

/// Functions of one number that leave an int as it is.
static OfInts keep(int64_t x, int64_t) { return AtenValue(x); }
template <double (*Round)(double)> static AtenValue toInt(double x, double) {
  return AtenValue(int64_t(Round(x)));
}

static constexpr PythonOperator operators[] = {
    {"_operator.add", 2, checked<std::plus<>{}>, ofDoubles<std::plus<>>},
    {"_operator.sub", 2, checked<std::minus<>{}>, ofDoubles<std::minus<>>},
    {"_operator.mul", 2, checked<std::multiplies<>{}>,
     ofDoubles<std::multiplies<>>},
    {"_operator.floordiv", 2, checked<divideDown>,
     [](double x, double y) { return AtenValue(std::floor(x / y)); }},
    {"_operator.mod", 2, checked<getRestDown>,
     [](double x, double y) { return AtenValue(x - std::floor(x / y) * y); }},
    {"_operator.truediv", 2,
     [](int64_t x, int64_t y) -> OfInts {
       return AtenValue(double(x) / double(y));
     },
     ofDoubles<std::divides<>>},
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
    {"_operator.eq", 2, ofInts<std::equal_to<>>, ofDoubles<std::equal_to<>>},
    {"_operator.ne", 2, ofInts<std::not_equal_to<>>,
     ofDoubles<std::not_equal_to<>>},
    {"_operator.lt", 2, ofInts<std::less<>>, ofDoubles<std::less<>>},
    {"_operator.le", 2, ofInts<std::less_equal<>>,
     ofDoubles<std::less_equal<>>},
    {"_operator.gt", 2, ofInts<std::greater<>>, ofDoubles<std::greater<>>},
    {"_operator.ge", 2, ofInts<std::greater_equal<>>,
     ofDoubles<std::greater_equal<>>},
    {"_operator.and_", 2, ofInts<std::logical_and<>>,
     ofDoubles<std::logical_and<>>},
    {"_operator.or_", 2, ofInts<std::logical_or<>>,
     ofDoubles<std::logical_or<>>},
    {"torch.sym_not", 1,
     [](int64_t x, int64_t) -> OfInts { return AtenValue(!x); },
     [](double x, double) { return AtenValue(x == 0); }},
    {"torch.sym_max", 2,
     [](int64_t x, int64_t y) -> OfInts { return AtenValue(std::max(x, y)); },
     [](double x, double y) { return AtenValue(std::max(x, y)); }},
    {"torch.sym_min", 2,
     [](int64_t x, int64_t y) -> OfInts { return AtenValue(std::min(x, y)); },
     [](double x, double y) { return AtenValue(std::min(x, y)); }},
    {"torch.sym_int", 1, keep, toInt<std::trunc>},
    {"torch.sym_float", 1,
     [](int64_t x, int64_t) -> OfInts { return AtenValue(double(x)); },
     [](double x, double) { return AtenValue(x); }},
    {"math.floor", 1, keep, toInt<std::floor>},
    {"math.ceil", 1, keep, toInt<std::ceil>},
    {"math.trunc", 1, keep, toInt<std::trunc>},
};

//===- Extents that runs decide -------------------------------------------===//

static llvm::Expected<AtenValue> runOnExtents(llvm::StringRef target,
                                              const AtenValue::List &arguments,
                                              const SymbolRanges &symbols) {
  llvm::StringRef name = target.rsplit('.').second;
  const AtenValue &first = arguments.front(), &last = arguments.back();
  std::optional<Extent> x = first.getExtent(), y = last.getExtent();
  if (x && y)
    if (auto result = computeOfExtents(name, *x, *y, symbols))
      return *result;
  return refuseExtents(first.describe(), last.describe());
}

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
                               const AtenValue::List &arguments,
                               const SymbolRanges &symbols) {
  const PythonOperator &op = *findOperator(target);
  if (arguments.size() != op.numArguments)
    return makeError("it has {0} arguments; accepted: {1}", arguments.size(),
                     op.numArguments);
  auto isOpen = [](const AtenValue &value) { return value.is<Extent>(); };
  if (llvm::any_of(arguments, isOpen))
    return runOnExtents(target, arguments, symbols);
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
