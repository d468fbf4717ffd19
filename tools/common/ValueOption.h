//===- ValueOption.h - Options that say what they accept --------*- C++ -*-===//
//
// LLVM's parsers print a line of their own about a bad value, which does not
// say what would be accepted, and lists no names. These leave it to runTool.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TOOLS_COMMON_VALUEOPTION_H
#define GLOWISH_TOOLS_COMMON_VALUEOPTION_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>
#include <type_traits>

namespace glowish {

/// Keeps the error that -\p option does not take \p value, for runTool; the
/// first one counts. Returns true, as the parsers of options do for an error.
bool refuseValue(llvm::StringRef option, llvm::StringRef value,
                 const llvm::Twine &accepted);

/// Parses one of the names of cl::values.
template <typename T> class ValueParser : public llvm::cl::parser<T> {
public:
  using llvm::cl::parser<T>::parser;

  bool parse(llvm::cl::Option &option, llvm::StringRef name,
             llvm::StringRef text, T &value) {
    std::vector<llvm::StringRef> names;
    for (const auto &known : this->Values) {
      names.push_back(known.Name);
      if (known.Name == (option.hasArgStr() ? text : name)) {
        value = known.V.getValue();
        return false;
      }
    }
    return refuseValue(name, text, llvm::join(names, ", "));
  }
};

/// The numbers that an option accepts; all by default.
template <typename T> struct NumberRange {
  T low = std::numeric_limits<T>::lowest(),
    high = std::numeric_limits<T>::max();
  bool excludesLow = false, excludesHigh = false;

  bool has(T value) const {
    return (excludesLow ? low < value : low <= value) &&
           (excludesHigh ? value < high : value <= high);
  }
  std::string describe() const;
};

/// "an integer from 1 to 256", "a number of at least 0 and below 1".
template <typename T> std::string NumberRange<T>::describe() const {
  if constexpr (!std::is_floating_point_v<T>)
    return llvm::formatv("an integer from {0} to {1}", low, high);
  std::string text = "a number";
  llvm::raw_string_ostream os(text);
  bool hasLow = low != std::numeric_limits<T>::lowest();
  if (hasLow)
    os << (excludesLow ? " above " : " of at least ")
       << llvm::format("%g", double(low));
  if (high != std::numeric_limits<T>::max())
    os << (hasLow ? " and" : "") << (excludesHigh ? " below " : " of at most ")
       << llvm::format("%g", double(high));
  return text;
}

/// Parses numbers, and true and false.
template <typename T>
  requires std::is_arithmetic_v<T>
class ValueParser<T> : public llvm::cl::basic_parser<T> {
public:
  explicit ValueParser(llvm::cl::Option &option)
      : llvm::cl::basic_parser<T>(option), plain(option) {}

  bool parse(llvm::cl::Option &, llvm::StringRef name, llvm::StringRef text,
             T &value) {
    if (parseText(text, value) && range.has(value))
      return false;
    return refuseValue(
        name, text, std::is_same_v<T, bool> ? "true, false" : range.describe());
  }

  llvm::cl::ValueExpected getValueExpectedFlagDefault() const {
    return plain.getValueExpectedFlagDefault();
  }
  llvm::StringRef getValueName() const override { return plain.getValueName(); }
  /// For LLVM's printer of options with their values.
  operator const llvm::cl::parser<T> &() const { return plain; }

  void setRange(const NumberRange<T> &newRange) { range = newRange; }

private:
  static bool parseText(llvm::StringRef text, T &value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = text.empty() || text.equals_insensitive("true") || text == "1";
      return value || text.equals_insensitive("false") || text == "0";
    } else if constexpr (std::is_floating_point_v<T>) {
      return llvm::to_float(text, value);
    } else {
      return !text.getAsInteger(0, value);
    }
  }

  llvm::cl::parser<T> plain;
  NumberRange<T> range;
};

template <typename T>
using ValueOption = llvm::cl::opt<T, false, ValueParser<T>>;
template <typename T>
using ValueListOption = llvm::cl::list<T, bool, ValueParser<T>>;

/// A modifier of options: the numbers that are accepted.
template <typename T> struct Accepts {
  NumberRange<T> range;
  template <typename Option> void apply(Option &option) const {
    option.getParser().setRange(range);
  }
};
template <typename T> Accepts<T> inRange(T low, T high) {
  return {{.low = low, .high = high}};
}
template <typename T> Accepts<T> atLeast(T low) { return {{.low = low}}; }
inline Accepts<double> above(double low) {
  return {{.low = low, .excludesLow = true}};
}
/// From \p low on, and below \p high.
inline Accepts<double> atLeastAndBelow(double low, double high) {
  return {{.low = low, .high = high, .excludesHigh = true}};
}

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_VALUEOPTION_H
