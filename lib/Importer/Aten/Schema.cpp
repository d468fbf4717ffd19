//===- Schema.cpp - Schemas of ATen's operators ---------------------------===//

#include "Aten/Schema.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace glowish;
using namespace glowish::aten;
using Base = AtenType::Base;

//===- Values -------------------------------------------------------------===//

AtenValue::List aten::makeAtenList(llvm::ArrayRef<NodeValue> values) {
  return AtenValue::List(values.begin(), values.end());
}

std::string AtenValue::describe() const {
  struct Visitor : ScalarDescriber {
    using ScalarDescriber::operator();
    std::string operator()(NodeValue tensor) const {
      return tensor.getType().str();
    }
    std::string operator()(ElemKind kind) const {
      return "the type " + getElemKindName(kind).str();
    }
    std::string operator()(const AtenComplex &tensor) const {
      return "complex, of parts " + tensor.real.getType().str();
    }
    std::string operator()(AtenComplexKind kind) const {
      return "the type of complex numbers of " +
             getElemKindName(kind.part).str();
    }
    std::string operator()(const AtenQuantized &tensor) const {
      return "quantized, " + tensor.values.getType().str() +
             (tensor.axis ? ", with a scale for each index of a dimension"
                          : "");
    }
    std::string operator()(AtenQuantizedKind kind) const {
      return "the type of quantized " + getElemKindName(kind.values).str();
    }
    std::string operator()(const List &list) const {
      return llvm::formatv("a list of {0}", list.size());
    }
  };
  return std::visit(Visitor(), value);
}

//===- Types --------------------------------------------------------------===//

/// Whether \p value, no list, is of type \p base.
static bool acceptsElement(Base base, const AtenValue &value) {
  switch (base) {
  case Base::Tensor:
    return value.isTensor();
  case Base::Int:
    return value.is<int64_t>();
  case Base::Float:
    return value.is<double>() || value.is<int64_t>();
  case Base::Bool:
    return value.is<bool>();
  case Base::Number:
    return value.isNumber() ||
           (value.isTensor() && value.get<NodeValue>().getShape().empty());
  case Base::String:
    return value.is<std::string>();
  case Base::Kind:
    return value.is<ElemKind>();
  case Base::Object:
    return value.is<AtenValue::List>();
  case Base::Ignored:
    return true;
  }
  llvm_unreachable("not a type");
}

bool AtenType::accepts(const AtenValue &value) const {
  if (base == Base::Ignored || (isOptional && value.isNone()))
    return true;
  auto acceptsOne = [&](const AtenValue &own) {
    return acceptsElement(base, own) || (isSymbolic && own.is<Extent>());
  };
  if (!isList)
    return acceptsOne(value);
  // A number stands for a list of any length.
  if (!value.is<AtenValue::List>())
    return base != Base::Tensor && acceptsOne(value);
  // Of tensors that index others some may be absent.
  return llvm::all_of(value.get<AtenValue::List>(), [&](const AtenValue &x) {
    return acceptsOne(x) || (base == Base::Tensor && x.isNone());
  });
}

std::string AtenType::str() const {
  static constexpr llvm::StringLiteral names[] = {
      "Tensor",           "int", "float", "bool", "Scalar", "str", "ScalarType",
      "an object of C++", "any"};
  return names[unsigned(base)].str() + (isList ? "[]" : "") +
         (isOptional ? "?" : "");
}

//===- Schemas ------------------------------------------------------------===//

std::optional<unsigned>
AtenSchema::findArgument(llvm::StringRef argument) const {
  for (auto [i, own] : llvm::enumerate(arguments))
    if (own.name == argument)
      return unsigned(i);
  return std::nullopt;
}

namespace {

/// Reads the notation of schemas from left to right.
class SchemaParser {
public:
  explicit SchemaParser(llvm::StringRef text) : text(text), rest(text) {}
  llvm::Expected<AtenSchema> parse();

private:
  llvm::Error refuse(llvm::StringRef accepted) const {
    return makeError("the schema '{0}' has '{1}'; accepted: {2}", text,
                     rest.take_front(20), accepted);
  }
  bool take(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  llvm::StringRef takeWord() {
    rest = rest.ltrim();
    llvm::StringRef word = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == ':'; });
    rest = rest.drop_front(word.size());
    return word;
  }
  llvm::Expected<AtenArgument> parseTyped();
  llvm::Expected<AtenValue> parseLiteral();
  llvm::Error parseArguments(std::vector<AtenArgument> &arguments);
  llvm::Error parseResults(std::vector<AtenArgument> &results);

  llvm::StringRef text, rest;
};

} // namespace

static std::optional<Base> parseBase(llvm::StringRef word) {
  return llvm::StringSwitch<std::optional<Base>>(word)
      .Case("Tensor", Base::Tensor)
      .Cases("int", "SymInt", Base::Int)
      .Case("float", Base::Float)
      .Case("bool", Base::Bool)
      .Case("Scalar", Base::Number)
      .Case("str", Base::String)
      .Case("ScalarType", Base::Kind)
      .Case("__torch__", Base::Object)
      .Cases("Device", "Layout", "MemoryFormat", "Generator", Base::Ignored)
      .Default(std::nullopt);
}

/// A type, and a name if there is one.
llvm::Expected<AtenArgument> SchemaParser::parseTyped() {
  AtenArgument argument;
  llvm::StringRef word = takeWord();
  std::optional<Base> base = parseBase(word);
  // __torch__.torch.classes.xnnpack.LinearOpContext
  while (base == Base::Object && rest.consume_front("."))
    takeWord();
  if (!base)
    return refuse("a type");
  argument.type.base = *base;
  argument.type.isSymbolic = word == "SymInt";
  if (rest.consume_front("(")) {
    llvm::StringRef alias = rest.take_until([](char c) { return c == ')'; });
    rest = rest.drop_front(alias.size());
    if (!rest.consume_front(")"))
      return refuse("')'");
    argument.isWritten = alias.ends_with("!");
    argument.aliasSet = alias.rtrim('!').split(' ').first.str();
  }
  for (;;) {
    if (rest.consume_front("?")) {
      argument.type.isOptional = true;
    } else if (rest.consume_front("[")) {
      argument.type.isList = true;
      // That the elements are optional doesn't make the list so.
      argument.type.isOptional = false;
      rest = rest.drop_while(llvm::isDigit);
      if (!rest.consume_front("]"))
        return refuse("']'");
    } else {
      break;
    }
  }
  argument.name = takeWord().str();
  return argument;
}

llvm::Expected<AtenValue> SchemaParser::parseLiteral() {
  if (take("[")) {
    AtenValue::List list;
    while (!take("]")) {
      GLOWISH_ASSIGN_OR_RETURN(AtenValue element, parseLiteral());
      list.push_back(std::move(element));
      take(",");
    }
    return list;
  }
  if (take("\"") || take("'")) {
    llvm::StringRef word =
        rest.take_until([](char c) { return c == '"' || c == '\''; });
    rest = rest.drop_front(word.size() + 1);
    return word.str();
  }
  rest = rest.ltrim();
  llvm::StringRef word = rest.take_until(
      [](char c) { return c == ',' || c == ')' || c == ']' || c == ' '; });
  rest = rest.drop_front(word.size());
  if (word == "None")
    return AtenValue();
  if (word == "True" || word == "False")
    return AtenValue(word == "True");
  int64_t number = 0;
  if (!word.getAsInteger(10, number))
    return AtenValue(number);
  double real = 0;
  if (!word.getAsDouble(real))
    return AtenValue(real);
  // "mean" and "none" of losses, contiguous_format and the like.
  return word.str();
}

llvm::Error SchemaParser::parseArguments(std::vector<AtenArgument> &arguments) {
  if (!take("("))
    return refuse("'('");
  while (!take(")")) {
    if (rest.empty())
      return refuse("')'");
    if (take("*")) {
      take(",");
      continue;
    }
    GLOWISH_ASSIGN_OR_RETURN(AtenArgument argument, parseTyped());
    if (take("=")) {
      GLOWISH_ASSIGN_OR_RETURN(argument.fallback, parseLiteral());
    } else if (argument.type.base == Base::Ignored) {
      argument.fallback = AtenValue();
    }
    arguments.push_back(std::move(argument));
    take(",");
  }
  return llvm::Error::success();
}

llvm::Error SchemaParser::parseResults(std::vector<AtenArgument> &results) {
  if (!take("->"))
    return refuse("'->'");
  if (take("(")) {
    while (!take(")")) {
      if (rest.empty())
        return refuse("')'");
      GLOWISH_ASSIGN_OR_RETURN(AtenArgument result, parseTyped());
      results.push_back(std::move(result));
      take(",");
    }
    return llvm::Error::success();
  }
  GLOWISH_ASSIGN_OR_RETURN(AtenArgument result, parseTyped());
  results.push_back(std::move(result));
  return llvm::Error::success();
}

llvm::Expected<AtenSchema> SchemaParser::parse() {
  AtenSchema schema;
  llvm::StringRef name = takeWord();
  name.consume_front("aten::");
  schema.name = name.str();
  if (name.empty())
    return refuse("a name");
  if (rest.consume_front("."))
    schema.overload = takeWord().str();
  GLOWISH_RETURN_IF_ERROR(parseArguments(schema.arguments));
  GLOWISH_RETURN_IF_ERROR(parseResults(schema.results));
  if (!rest.trim().empty())
    return refuse("the end");
  return schema;
}

llvm::Expected<AtenSchema> aten::parseAtenSchema(llvm::StringRef text) {
  return SchemaParser(text).parse();
}
