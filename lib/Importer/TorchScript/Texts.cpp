//===- Texts.cpp - Strings ------------------------------------------------===//

#include "TorchScript/Interpreter.h"
#include <cstdio>

using namespace glowish;
using namespace glowish::torchscript;

//===- Printing -----------------------------------------------------------===//

/// As Python prints it, for messages of the program.
static std::string print(const ScriptValue &value) {
  if (value.is<std::string>())
    return value.get<std::string>();
  if (value.isInt())
    return std::to_string(value.getInt());
  if (value.is<double>())
    return llvm::formatv("{0:g}", value.get<double>());
  if (!value.isList())
    return value.describe();
  std::string text;
  for (const ScriptValue &element : value.getList().elements)
    text += (text.empty() ? "" : ", ") + print(element);
  return value.getList().isTuple ? "(" + text + ")" : "[" + text + "]";
}

static llvm::Expected<bool> importFormat(ScriptCall &call) {
  if (!call.inputs[0].is<std::string>())
    return call.refuse(0, "a string");
  std::string text;
  llvm::StringRef rest = call.inputs[0].get<std::string>();
  for (size_t next = 1;; ++next) {
    auto [front, back] = rest.split("{}");
    text += front;
    if (front.size() == rest.size() || next >= call.inputs.size())
      break;
    text += print(call.inputs[next]);
    rest = back;
  }
  return call.done(text);
}
static const ScriptOperators formats(importFormat, {"aten::format"});

static llvm::Expected<bool> importText(ScriptCall &call) {
  return call.done(print(call.inputs[0]));
}
static const ScriptOperators texts(importText, {"aten::str"});

static llvm::Expected<double> getNumber(ScriptCall &call,
                                        const ScriptValue &value) {
  if (value.isInt())
    return double(value.getInt());
  if (value.is<double>())
    return value.get<double>();
  return call.refuse(1, "numbers that are known when the model is compiled");
}

/// \p value as the letter of a format with % has it.
static llvm::Expected<std::string>
printAs(ScriptCall &call, const ScriptValue &value, char letter) {
  if (letter == 's' || value.is<Extent>())
    return print(value);
  if (llvm::StringRef("di").contains(letter) && value.isInt())
    return std::to_string(value.getInt());
  if (!llvm::StringRef("difFeEgG").contains(letter))
    return makeError("the format %{0} is not supported; accepted: %s, %d, %i, "
                     "%f, %e, %g",
                     llvm::StringRef(&letter, 1));
  GLOWISH_ASSIGN_OR_RETURN(double number, getNumber(call, value));
  if (letter == 'd' || letter == 'i')
    return std::to_string(int64_t(number));
  // A double has at most 309 digits in front of the point.
  char text[400];
  const char format[] = {'%', letter, 0};
  snprintf(text, sizeof(text), format, number);
  return std::string(text);
}

/// "%s of %d" % (name, count).
static llvm::Expected<bool> importPercent(ScriptCall &call) {
  if (!call.inputs[0].is<std::string>())
    return call.refuse(0, "a string");
  ScriptValues values(call.inputs.begin() + 1, call.inputs.end());
  if (values.size() == 1 && values[0].isList() && values[0].getList().isTuple) {
    ScriptValues elements = values[0].getList().elements;
    values = std::move(elements);
  }
  const std::string &format = call.inputs[0].get<std::string>();
  std::string text;
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      text += format[i];
    } else if (format[++i] == '%') {
      text += '%';
    } else if (next == values.size()) {
      return makeError("the format has more than {0} places", next);
    } else {
      GLOWISH_ASSIGN_OR_RETURN(std::string own,
                               printAs(call, values[next++], format[i]));
      text += own;
    }
  }
  return call.done(text);
}
static const ScriptOperators percents(importPercent, {"aten::percentFormat"});

//===- Parts of strings ---------------------------------------------------===//

static llvm::Expected<bool> importJoin(ScriptCall &call) {
  if (!call.inputs[0].is<std::string>() || !call.inputs[1].isList())
    return false;
  std::string text;
  for (auto [i, part] : llvm::enumerate(call.inputs[1].getList().elements)) {
    if (!part.is<std::string>())
      return call.refuse(1, "strings");
    text += (i > 0 ? call.inputs[0].get<std::string>() : "") +
            part.get<std::string>();
  }
  return call.done(text);
}
static const ScriptOperators joins(importJoin, {"aten::join"});

/// text.split(separator, most); without a separator at white space.
static llvm::Expected<bool> importSplit(ScriptCall &call) {
  if (!call.inputs[0].is<std::string>())
    return false;
  llvm::StringRef rest = call.inputs[0].get<std::string>();
  GLOWISH_ASSIGN_OR_RETURN(int64_t most, call.getInt(2));
  ScriptValues parts;
  bool isAtSpace = call.inputs[1].isNone();
  std::string separator = isAtSpace ? "" : call.inputs[1].get<std::string>();
  if (!isAtSpace && separator.empty())
    return call.refuse(1, "a separator that is not empty");
  if (isAtSpace)
    rest = rest.ltrim();
  for (; !isAtSpace || !rest.empty(); --most) {
    size_t at = most == 0   ? llvm::StringRef::npos
                : isAtSpace ? rest.find_first_of(" \t\n\v\f\r")
                            : rest.find(separator);
    parts.push_back(rest.substr(0, at).str());
    if (at == llvm::StringRef::npos)
      break;
    rest = isAtSpace ? rest.substr(at).ltrim()
                     : rest.substr(at + separator.size());
  }
  return call.done(call.in.makeList(std::move(parts)));
}
static const ScriptOperators splits(importSplit, {"aten::split"});

/// Operators on strings that are known, with strings and ints as arguments.
static llvm::Expected<bool> importStringMethod(ScriptCall &call) {
  if (!call.inputs[0].is<std::string>())
    return false;
  llvm::StringRef text = call.inputs[0].get<std::string>();
  auto getText = [&](unsigned index) {
    return call.inputs.size() > index && call.inputs[index].is<std::string>()
               ? llvm::StringRef(call.inputs[index].get<std::string>())
               : llvm::StringRef();
  };
  llvm::StringRef kind = call.node.kind, other = getText(1);
  kind.consume_front("aten::");
  if (kind == "upper")
    return call.done(text.upper());
  if (kind == "lower")
    return call.done(text.lower());
  if (kind.ends_with("strip")) {
    if (kind != "rstrip")
      text = text.ltrim(other);
    if (kind != "lstrip")
      text = text.rtrim(other);
    return call.done(text.str());
  }
  GLOWISH_ASSIGN_OR_RETURN(int64_t second,
                           call.getInt(kind == "replace" ? 3 : 2));
  if (kind == "replace") {
    std::string result;
    llvm::StringRef rest = text;
    for (; second != 0 && !other.empty() && rest.contains(other); --second) {
      auto [front, back] = rest.split(other);
      result += (front + getText(2)).str();
      rest = back;
    }
    return call.done(result + rest.str());
  }
  GLOWISH_ASSIGN_OR_RETURN(int64_t end, call.getInt(3));
  auto size = int64_t(text.size());
  end = std::clamp(end < 0 ? end + size : end, int64_t(0), size);
  if (call.inputs[3].getInt() == -1)
    end = size;
  second = std::clamp(second < 0 ? second + size : second, int64_t(0), end);
  llvm::StringRef part = text.slice(size_t(second), size_t(end));
  if (kind == "startswith")
    return call.done(part.starts_with(other));
  if (kind == "endswith")
    return call.done(part.ends_with(other));
  size_t at = part.find(other);
  return call.done(at == llvm::StringRef::npos ? int64_t(-1)
                                               : int64_t(at) + second);
}
static const ScriptOperators
    methods(importStringMethod,
            {"aten::upper", "aten::lower", "aten::strip", "aten::lstrip",
             "aten::rstrip", "aten::replace", "aten::startswith",
             "aten::endswith", "aten::find"});

/// Returns the kind of a device; all are that which the program is compiled
/// for.
static llvm::Expected<bool> importDeviceType(ScriptCall &call) {
  return call.done(std::string("cpu"));
}
static const ScriptOperators deviceTypes(importDeviceType, {"prim::type"});
