//===- ValueOption.h - Options that say what they accept --------*- C++ -*-===//
//
// LLVM's parsers print a line of their own about a bad value, which does not
// say what would be accepted, and lists no names. These leave it to runTool.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TOOLS_COMMON_VALUEOPTION_H
#define GLOWISH_TOOLS_COMMON_VALUEOPTION_H

#include "glowish/Support/Setting.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

/// Keeps the error that -\p option does not take \p value, for runTool; the
/// first one counts. Returns true, as the parsers of options do for an error.
bool refuseValue(llvm::StringRef option, llvm::StringRef value,
                 const llvm::Twine &accepted);
/// The same of a whole message.
bool refuseLine(const llvm::Twine &message);

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

/// Parses numbers, and true and false.
template <typename T>
  requires std::is_arithmetic_v<T>
class ValueParser<T> : public llvm::cl::basic_parser<T> {
public:
  explicit ValueParser(llvm::cl::Option &option)
      : llvm::cl::basic_parser<T>(option), plain(option) {}

  bool parse(llvm::cl::Option &, llvm::StringRef name, llvm::StringRef text,
             T &value) {
    if (parseValue(text, value) && range.has(value))
      return false;
    return refuseValue(name, text, describeValues(range));
  }

  llvm::cl::ValueExpected getValueExpectedFlagDefault() const {
    return plain.getValueExpectedFlagDefault();
  }
  llvm::StringRef getValueName() const override { return plain.getValueName(); }
  /// For LLVM's printer of options with their values.
  operator const llvm::cl::parser<T> &() const { return plain; }

  void setRange(const NumberRange<T> &newRange) { range = newRange; }

private:
  llvm::cl::parser<T> plain;
  NumberRange<T> range;
};

template <typename T>
using ValueOption = llvm::cl::opt<T, false, ValueParser<T>>;
template <typename T>
using ValueListOption = llvm::cl::list<T, bool, ValueParser<T>>;

} // namespace glowish

/// A range is a modifier of options: the numbers that they accept.
template <typename T> struct llvm::cl::applicator<glowish::NumberRange<T>> {
  template <typename Option>
  static void opt(const glowish::NumberRange<T> &range, Option &option) {
    option.getParser().setRange(range);
  }
};

#endif // GLOWISH_TOOLS_COMMON_VALUEOPTION_H
