//===- Symbols.cpp - Symbolic extents of exported programs ----------------===//

#include "TorchExport/Symbols.h"
#include "glowish/Base/CheckedInt.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace glowish;
using namespace glowish::torchexport;

namespace {

/// The exact quotient numerator / divisor, before it is rounded.
struct Ratio {
  Extent numerator;
  int64_t divisor = 1;
};
using MaybeRatio = std::optional<Ratio>;

/// Reads expressions of calls and of +, -, *, /, // and ** (a power).
class ExpressionReader {
public:
  explicit ExpressionReader(llvm::StringRef text) : rest(text) {}

  std::optional<Extent> read() {
    MaybeRatio result = readSum();
    bool isWhole = result && result->divisor == 1 && rest.trim().empty();
    return isWhole ? std::optional(result->numerator) : std::nullopt;
  }

private:
  static constexpr unsigned maxDepth = 100;

  bool take(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  MaybeRatio readSum();
  MaybeRatio readMultiple();
  MaybeRatio readPower();
  MaybeRatio readTerm();
  MaybeRatio readNumber(llvm::StringRef word);
  MaybeRatio readSymbol();
  MaybeRatio readCall(llvm::StringRef name);

  llvm::StringRef rest;
  unsigned depth = 0;
};

} // namespace

//===- Arithmetic ---------------------------------------------------------===//

/// Returns \p numerator / \p divisor, as a whole number where the division is
/// exact; none where either is none or the divisor is not positive.
static MaybeRatio makeRatio(std::optional<Extent> numerator,
                            std::optional<int64_t> divisor) {
  if (!numerator || !divisor || *divisor < 1)
    return std::nullopt;
  if (auto whole = divideExactly(*numerator, Extent(*divisor)))
    return Ratio{*whole, 1};
  return Ratio{*numerator, *divisor};
}

static MaybeRatio add(const Ratio &x, const Ratio &y) {
  auto left = multiply(x.numerator, y.divisor);
  auto right = multiply(y.numerator, x.divisor);
  return makeRatio(left && right ? add(*left, *right) : std::nullopt,
                   (CheckedInt(x.divisor) * y.divisor).get());
}

static MaybeRatio multiply(const Ratio &x, const Ratio &y) {
  return makeRatio(multiply(x.numerator, y.numerator),
                   (CheckedInt(x.divisor) * y.divisor).get());
}

static MaybeRatio negate(const Ratio &x) { return multiply(x, {Extent(-1)}); }

/// Returns \p x / \p y, where \p y is a positive number.
static MaybeRatio divide(const Ratio &x, const Ratio &y) {
  std::optional<int64_t> number = y.numerator.getConstant();
  if (!number || *number < 1)
    return std::nullopt;
  return makeRatio(multiply(x.numerator, y.divisor),
                   (CheckedInt(x.divisor) * *number).get());
}

static MaybeRatio floorOf(const MaybeRatio &x) {
  return x ? makeRatio(divideDown(x->numerator, x->divisor), 1) : std::nullopt;
}

static MaybeRatio ceilOf(const MaybeRatio &x) {
  return x ? makeRatio(divideUp(x->numerator, x->divisor), 1) : std::nullopt;
}

/// Rounds towards 0: down, where it can't be negative.
static MaybeRatio truncate(const Ratio &x) {
  auto range = x.numerator.bound([](llvm::StringRef) {
    // Sizes of tensors fit this, and sums of them an int64.
    return std::optional(IntRange{0, int64_t(1) << 40});
  });
  return range && range->low >= 0 ? floorOf(x) : std::nullopt;
}

/// Returns \p x - \p y * floor(\p x / \p y).
static MaybeRatio getRest(const Ratio &x, const Ratio &y) {
  MaybeRatio whole = floorOf(divide(x, y));
  MaybeRatio part = whole ? multiply(*whole, y) : std::nullopt;
  part = part ? negate(*part) : std::nullopt;
  return part ? add(x, *part) : std::nullopt;
}

//===- Text ---------------------------------------------------------------===//

/// A number, also a float, "0.5", which is a ratio.
MaybeRatio ExpressionReader::readNumber(llvm::StringRef word) {
  auto [whole, fraction] = word.split('.');
  fraction = fraction.rtrim('0');
  int64_t number = 0, divisor = 1;
  if (fraction.size() > 15 || (whole + fraction).str().empty() ||
      llvm::StringRef((whole + fraction).str()).getAsInteger(10, number))
    return std::nullopt;
  for (size_t i = 0; i < fraction.size(); ++i)
    divisor *= 10;
  return makeRatio(Extent(number), divisor);
}

/// Its name, without what is assumed of it.
MaybeRatio ExpressionReader::readSymbol() {
  if (!take("'") && !take("\""))
    return std::nullopt;
  llvm::StringRef name =
      rest.take_until([](char c) { return c == '\'' || c == '"'; });
  size_t end = rest.find(')');
  if (name.empty() || end == llvm::StringRef::npos || end < name.size())
    return std::nullopt;
  rest = rest.drop_front(end + 1);
  return Ratio{Extent::symbol(name)};
}

MaybeRatio ExpressionReader::readCall(llvm::StringRef name) {
  if (name == "Symbol")
    return readSymbol();
  // A float has its number as a text, and how many digits it has.
  if (name == "Float") {
    size_t end = rest.find(')');
    llvm::StringRef text = rest.take_front(end).split(',').first;
    rest = rest.drop_front(std::min(end, rest.size()));
    return take(")") ? readNumber(text.trim("'\" ")) : std::nullopt;
  }
  std::vector<Ratio> arguments;
  while (!take(")")) {
    MaybeRatio argument = readSum();
    if (!argument || (!take(",") && !rest.ltrim().starts_with(")")))
      return std::nullopt;
    arguments.push_back(std::move(*argument));
  }
  if (arguments.empty())
    return std::nullopt;
  const Ratio &x = arguments.front();
  if (name == "Add" || name == "Mul") {
    MaybeRatio all = x;
    for (const Ratio &y : llvm::drop_begin(arguments))
      all = !all ? all : name == "Add" ? add(*all, y) : multiply(*all, y);
    return all;
  }
  if (arguments.size() == 1)
    return llvm::StringSwitch<MaybeRatio>(name)
        .Cases("Integer", "ToFloat", x)
        .Cases("FloorToInt", "floor", floorOf(x))
        .Cases("CeilToInt", "ceiling", ceilOf(x))
        .Case("TruncToInt", truncate(x))
        .Default(std::nullopt);
  if (arguments.size() != 2)
    return std::nullopt;
  const Ratio &y = arguments.back();
  return llvm::StringSwitch<MaybeRatio>(name)
      .Cases("FloorDiv", "CleanDiv", floorOf(divide(x, y)))
      .Cases("Mod", "PythonMod", getRest(x, y))
      .Cases("IntTrueDiv", "FloatTrueDiv", "Rational", divide(x, y))
      .Default(std::nullopt);
}

MaybeRatio ExpressionReader::readTerm() {
  if (take("-")) {
    MaybeRatio x = readPower();
    return x ? negate(*x) : x;
  }
  if (take("(")) {
    MaybeRatio x = readSum();
    return take(")") ? x : std::nullopt;
  }
  rest = rest.ltrim();
  llvm::StringRef word = rest.take_while(
      [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  rest = rest.drop_front(word.size());
  if (word.empty() || llvm::isDigit(word.front()))
    return readNumber(word);
  // Functions of PyTorch's own have the module's name before theirs.
  if (take("("))
    return readCall(word.rsplit('.').second.empty() ? word
                                                    : word.rsplit('.').second);
  return Ratio{Extent::symbol(word)};
}

MaybeRatio ExpressionReader::readPower() {
  if (depth == maxDepth)
    return std::nullopt;
  ++depth;
  auto leave = llvm::make_scope_exit([&] { --depth; });
  MaybeRatio x = readTerm();
  if (!x || !take("**"))
    return x;
  MaybeRatio exponent = readTerm();
  std::optional<int64_t> count = exponent && exponent->divisor == 1
                                     ? exponent->numerator.getConstant()
                                     : std::nullopt;
  if (!count || *count < 1 || *count > int64_t(Extent::maxDegree))
    return std::nullopt;
  MaybeRatio power = x;
  for (int64_t i = 1; power && i < *count; ++i)
    power = multiply(*power, *x);
  return power;
}

MaybeRatio ExpressionReader::readMultiple() {
  MaybeRatio x = readPower();
  while (x) {
    bool isFloor = take("//"), isQuotient = !isFloor && take("/");
    if (!isFloor && !isQuotient && !take("*"))
      return x;
    MaybeRatio y = readPower();
    if (!y)
      return y;
    x = isFloor      ? floorOf(divide(*x, *y))
        : isQuotient ? divide(*x, *y)
                     : multiply(*x, *y);
  }
  return x;
}

MaybeRatio ExpressionReader::readSum() {
  MaybeRatio x = readMultiple();
  while (x) {
    bool isMinus = take("-");
    if (!isMinus && !take("+"))
      return x;
    MaybeRatio y = readMultiple();
    y = y && isMinus ? negate(*y) : y;
    x = y ? add(*x, *y) : y;
  }
  return x;
}

std::optional<Extent> torchexport::readSymbolicExtent(llvm::StringRef text) {
  return ExpressionReader(text).read();
}
