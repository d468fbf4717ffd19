//===- TextForm.cpp - Types, attributes and programs as text --------------===//

#include "glowish/Ops/TextForm.h"
#include "glowish/Base/ElemRange.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

//===- Printing -----------------------------------------------------------===//

/// `body (float<2>, bool<>) -> (float<2>)`.
static void printSignature(llvm::raw_ostream &os, const Body &body) {
  os << "body (";
  llvm::interleaveComma(body.getParameterTypes(), os);
  os << ") -> (";
  llvm::interleaveComma(body.getResultTypes(), os);
  os << ')';
}

/// `{alpha = 0.5, axes = [1, 2], "a-b" = "x"}`.
static void printNamedValues(llvm::raw_ostream &os, const NamedValues &values) {
  auto printOne = [&](const auto &element) {
    using T = std::decay_t<decltype(element)>;
    if constexpr (std::is_same_v<T, double>)
      printDouble(os, element);
    else if constexpr (std::is_same_v<T, std::string>)
      printQuoted(os, element);
    else
      os << element;
  };
  auto printOneNamed = [&](const NamedValue &value) {
    if (isIdentifier(value.name))
      os << value.name;
    else
      printQuoted(os, value.name);
    os << " = ";
    visitElements(value.content, [&](auto elements, bool isList) {
      os << (isList ? "[" : "");
      llvm::interleave(elements, os, printOne, ", ");
      os << (isList ? "]" : "");
    });
  };
  os << '{';
  llvm::interleave(values, os, printOneNamed, ", ");
  os << '}';
}

static void
printAttrValue(llvm::raw_ostream &os, const AttrValue &value,
               unsigned numInputs,
               llvm::function_ref<void(const Body &body)> printBody) {
  switch (AttrKind(value.index())) {
  case AttrKind::Int:
    os << std::get<int64_t>(value);
    return;
  case AttrKind::Ints:
    os << '[';
    llvm::interleave(std::get<std::vector<int64_t>>(value), os, ", ");
    os << ']';
    return;
  case AttrKind::Float:
    printDouble(os, std::get<double>(value));
    return;
  case AttrKind::Bool:
    os << (std::get<bool>(value) ? "true" : "false");
    return;
  case AttrKind::String:
    printQuoted(os, std::get<std::string>(value));
    return;
  case AttrKind::Kind:
    os << getElemKindName(std::get<ElemKind>(value));
    return;
  case AttrKind::Program:
    std::get<ScalarProgram>(value).print(os, numInputs);
    return;
  case AttrKind::Body: {
    const Body &body = *std::get<std::shared_ptr<Body>>(value);
    if (printBody)
      printBody(body);
    else
      printSignature(os, body);
    return;
  }
  case AttrKind::Types:
    os << '[';
    llvm::interleaveComma(std::get<std::vector<Type>>(value), os);
    os << ']';
    return;
  case AttrKind::Values:
    printNamedValues(os, std::get<NamedValues>(value));
    return;
  case AttrKind::Custom:
    printQuoted(os, std::get<CustomAttr>(value).str());
    return;
  }
  llvm_unreachable("not an attribute kind");
}

void glowish::printAttrs(llvm::raw_ostream &os, const OpInfo &info,
                         llvm::ArrayRef<AttrValue> attrs, unsigned numInputs,
                         llvm::function_ref<void(const Body &)> printBody) {
  bool isFirst = true;
  for (const auto &[attr, value] : llvm::zip_equal(info.attrs, attrs)) {
    if (attr.getDefault && isIdentical(value, attr.getDefault()))
      continue;
    os << (isFirst ? " {" : ", ") << attr.name << " = ";
    printAttrValue(os, value, numInputs, printBody);
    isFirst = false;
  }
  if (!isFirst)
    os << '}';
}

//===- Lists --------------------------------------------------------------===//

llvm::Error
TextParser::parseList(llvm::StringRef open, llvm::StringRef close,
                      llvm::function_ref<llvm::Error()> parseElement) {
  GLOWISH_RETURN_IF_ERROR(expect(open));
  if (consumeIf(close))
    return llvm::Error::success();
  do {
    GLOWISH_RETURN_IF_ERROR(parseElement());
  } while (consumeIf(","));
  return expect(close);
}

llvm::Expected<std::vector<int64_t>> TextParser::parseInts() {
  std::vector<int64_t> values;
  GLOWISH_RETURN_IF_ERROR(
      parseListInto(values, "[", "]", [&] { return parseInt(); }));
  return values;
}

//===- Names of classes ---------------------------------------------------===//

void glowish::printClassNames(llvm::raw_ostream &os,
                              llvm::ArrayRef<std::string> names) {
  if (names.empty())
    return;
  os << " classes [";
  llvm::interleave(
      names, os, [&](const std::string &name) { printQuoted(os, name); }, ", ");
  os << ']';
}

llvm::Expected<std::vector<std::string>> TextParser::parseClassNames() {
  std::vector<std::string> names;
  if (consumeIf("classes"))
    GLOWISH_RETURN_IF_ERROR(
        parseListInto(names, "[", "]", [&] { return parseString(); }));
  return names;
}

//===- Extents of inputs --------------------------------------------------===//

void glowish::printInputExtents(llvm::raw_ostream &os,
                                const InputExtents &extents) {
  if (const auto &range = extents.range) {
    os << " range ";
    printQuoted(os, range->symbol);
    os << " [" << range->bounds.low << ", " << range->bounds.high << ']';
  }
  if (!extents.required.empty()) {
    os << " requires [";
    llvm::interleave(
        extents.required, os,
        [&](const ExtentRequirement &required) {
          printQuoted(os, required.a.str() + " == " + required.b.str());
        },
        ", ");
    os << ']';
  }
  if (extents.next.empty())
    return;
  os << " next [";
  llvm::interleave(
      extents.next, os,
      [&](const std::optional<Extent> &extent) {
        printQuoted(os, extent ? extent->str() : "");
      },
      ", ");
  os << ']';
}

llvm::Expected<InputExtents> TextParser::parseInputExtents() {
  InputExtents extents;
  if (consumeIf("range")) {
    GLOWISH_ASSIGN_OR_RETURN(std::string symbol, parseString());
    GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> bounds, parseInts());
    if (bounds.size() != 2)
      return error("expected the least and the largest extent of '" + symbol +
                   "'");
    extents.range = {symbol, {bounds[0], bounds[1]}};
  }
  auto parseRequired = [&]() -> llvm::Expected<ExtentRequirement> {
    GLOWISH_ASSIGN_OR_RETURN(std::string text, parseString());
    auto [first, second] = llvm::StringRef(text).split(" == ");
    std::optional<Extent> a = Extent::parse(first), b = Extent::parse(second);
    if (!a || !b)
      return error("'" + text + "' is no equality of extents");
    return ExtentRequirement{*a, *b};
  };
  if (consumeIf("requires"))
    GLOWISH_RETURN_IF_ERROR(
        parseListInto(extents.required, "[", "]", parseRequired));
  auto parseNext = [&]() -> llvm::Expected<std::optional<Extent>> {
    GLOWISH_ASSIGN_OR_RETURN(std::string text, parseString());
    std::optional<Extent> extent = Extent::parse(text);
    if (!extent && !text.empty())
      return error("'" + text + "' is no extent");
    return extent;
  };
  if (consumeIf("next"))
    GLOWISH_RETURN_IF_ERROR(parseListInto(extents.next, "[", "]", parseNext));
  return extents;
}

//===- Types --------------------------------------------------------------===//

/// Appends the extents in \p text, `1x512`.
static bool appendExtents(llvm::StringRef text, Dims &shape) {
  while (true) {
    auto [digits, rest] = text.split('x');
    int64_t extent;
    if (!llvm::all_of(digits, llvm::isDigit) || digits.getAsInteger(10, extent))
      return false;
    shape.push_back(extent);
    if (digits.size() == text.size())
      return true;
    text = rest;
  }
}

llvm::Error TextParser::parseShape(ElemKind kind, Dims &shape,
                                   ExtentList &extents) {
  bool hasMore = token.kind == Token::Integer || token.kind == Token::Digits;
  while (hasMore) {
    // Behind an extent in braces it begins with an x.
    llvm::StringRef text = token.text;
    if (!shape.empty())
      text = text.drop_front();
    if (!appendExtents(text, shape))
      return error("'" + text + "' is not a list of extents");
    if (llvm::Error refused = checkShape(kind, shape))
      return error(llvm::toString(std::move(refused)));
    advance();
    extents.resize(shape.size());
    if (token.kind != Token::Punctuation || token.text != "{")
      break;
    GLOWISH_ASSIGN_OR_RETURN(extents.back(), parseBracedExtent());
    hasMore = token.kind == Token::Identifier && token.text.front() == 'x';
  }
  return llvm::Error::success();
}

llvm::Expected<QuantParams> TextParser::parseQuantParams(DimsRef shape) {
  QuantParams params;
  auto parseScale = [&]() -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(float scale, parseElement<float>());
    if (!(scale > 0) || !getFiniteRange(ElemKind::Float).contains(scale))
      return error("a scale must be positive and finite");
    params.scales.push_back(scale);
    return llvm::Error::success();
  };
  auto parseOffset = [&]() -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(int32_t offset, parseElement<int32_t>());
    params.offsets.push_back(offset);
    return llvm::Error::success();
  };
  GLOWISH_RETURN_IF_ERROR(expect(","));
  if (!consumeIf("axis")) {
    GLOWISH_RETURN_IF_ERROR(expect("scale"));
    GLOWISH_RETURN_IF_ERROR(parseScale());
    GLOWISH_RETURN_IF_ERROR(expect("offset"));
    GLOWISH_RETURN_IF_ERROR(parseOffset());
    return params;
  }
  GLOWISH_ASSIGN_OR_RETURN(params.axis, parseElement<int32_t>());
  if (params.axis < 0 || size_t(params.axis) >= shape.size())
    return error("axis " + llvm::Twine(params.axis) +
                 " is not a dimension of " + formatShape(shape));
  GLOWISH_RETURN_IF_ERROR(expect("scale"));
  GLOWISH_RETURN_IF_ERROR(parseList("[", "]", parseScale));
  GLOWISH_RETURN_IF_ERROR(expect("offset"));
  GLOWISH_RETURN_IF_ERROR(parseList("[", "]", parseOffset));
  if (params.scales.size() != size_t(shape[params.axis]) ||
      params.offsets.size() != params.scales.size())
    return error("expected " + llvm::Twine(shape[params.axis]) +
                 " scales and offsets, one an index of axis " +
                 llvm::Twine(params.axis));
  return params;
}

llvm::Expected<ElemKind> TextParser::parseKind() {
  std::optional<ElemKind> kind = parseElemKind(token.text);
  if (token.kind != Token::Identifier || !kind)
    return error("expected an element kind");
  advance();
  return *kind;
}

llvm::Expected<Type> TextParser::parseColonType() {
  GLOWISH_RETURN_IF_ERROR(expect(":"));
  return parseType();
}

llvm::Expected<Type> TextParser::parseType() {
  if (token.kind != Token::Identifier)
    return error("expected a type such as float<2x3>");
  std::optional<ElemKind> kind = parseElemKind(token.text);
  if (!kind)
    return error("'" + token.text + "' is not an element kind");
  advance();
  GLOWISH_RETURN_IF_ERROR(expect("<"));
  Dims shape;
  ExtentList extents;
  GLOWISH_RETURN_IF_ERROR(parseShape(*kind, shape, extents));
  if (!isQuantizedKind(*kind)) {
    GLOWISH_RETURN_IF_ERROR(expect(">"));
    return Type(*kind, shape).withExtents(extents);
  }
  GLOWISH_ASSIGN_OR_RETURN(QuantParams params, parseQuantParams(shape));
  GLOWISH_RETURN_IF_ERROR(expect(">"));
  return Type(*kind, shape, std::move(params)).withExtents(extents);
}

//===- Programs -----------------------------------------------------------===//

llvm::Expected<unsigned> TextParser::parseValueNumber() {
  llvm::StringRef spelling = token.text;
  unsigned number;
  if (token.kind != Token::Identifier || !spelling.consume_front("v") ||
      spelling.getAsInteger(10, number))
    return error("expected a value such as v0");
  advance();
  return number;
}

/// The rest of `v2:float = Add(v0, v1) <params>`, from the colon on.
llvm::Expected<ScalarStep> TextParser::parseStep() {
  ScalarStep step;
  GLOWISH_RETURN_IF_ERROR(expect(":"));
  GLOWISH_ASSIGN_OR_RETURN(step.kind, parseKind());
  GLOWISH_RETURN_IF_ERROR(expect("="));
  std::optional<ScalarOp> op = findScalarOp(token.text);
  if (token.kind != Token::Identifier || !op)
    return error("expected an element-wise operator");
  step.op = *op;
  advance();
  GLOWISH_RETURN_IF_ERROR(
      parseListInto(step.args, "(", ")", [&] { return parseValueNumber(); }));
  if (token.kind != Token::Punctuation || token.text != "<")
    return step;
  GLOWISH_RETURN_IF_ERROR(
      parseListInto(step.params, "<", ">", [&] { return parseDouble(); }));
  return step;
}

llvm::Expected<ScalarProgram>
TextParser::parseProgram(std::optional<unsigned> numInputs) {
  ScalarProgram program;
  GLOWISH_RETURN_IF_ERROR(expect("{"));
  if (consumeIf("}"))
    return program;
  std::optional<size_t> next;
  if (numInputs)
    next = *numInputs;
  do {
    Token start = token;
    GLOWISH_ASSIGN_OR_RETURN(size_t number, parseValueNumber());
    if (!next)
      next = number;
    if (number != *next) {
      token = std::move(start);
      return error("expected v" + llvm::Twine(*next));
    }
    ++*next;
    GLOWISH_ASSIGN_OR_RETURN(ScalarStep step, parseStep());
    program.steps.push_back(std::move(step));
  } while (consumeIf(";"));
  GLOWISH_RETURN_IF_ERROR(expect("}"));
  return program;
}

//===- Attributes ---------------------------------------------------------===//

llvm::Expected<std::vector<Type>> TextParser::parseTypes() {
  std::vector<Type> types;
  GLOWISH_RETURN_IF_ERROR(
      parseListInto(types, "[", "]", [&] { return parseType(); }));
  return types;
}

/// A number or a string, or what is in a list of them.
llvm::Expected<NamedValue::Content> TextParser::parseNamedContent() {
  if (token.kind == Token::String)
    return parseString();
  if (token.kind == Token::Integer)
    return parseInt();
  return parseDouble();
}

llvm::Expected<NamedValue::Content> TextParser::parseNamedList() {
  std::vector<NamedValue::Content> elements;
  GLOWISH_RETURN_IF_ERROR(parseList("[", "]", [&]() -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(NamedValue::Content element, parseNamedContent());
    if (!elements.empty() && element.index() != elements.front().index())
      return error("a list has elements of one kind: integers, floats or "
                   "strings");
    elements.push_back(std::move(element));
    return llvm::Error::success();
  }));
  auto collect = [&](auto zero) -> NamedValue::Content {
    std::vector<decltype(zero)> list;
    for (NamedValue::Content &element : elements)
      list.push_back(std::move(std::get<decltype(zero)>(element)));
    return list;
  };
  if (elements.empty())
    return std::vector<int64_t>();
  return std::visit(
      [&](const auto &first) -> NamedValue::Content {
        using T = std::decay_t<decltype(first)>;
        if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
          return collect(T());
        llvm_unreachable("lists are not nested");
      },
      elements.front());
}

llvm::Expected<NamedValues> TextParser::parseNamedValues() {
  NamedValues values;
  GLOWISH_RETURN_IF_ERROR(parseList("{", "}", [&]() -> llvm::Error {
    NamedValue &value = values.emplace_back();
    bool isQuoted = token.kind == Token::String;
    GLOWISH_ASSIGN_OR_RETURN(value.name, isQuoted ? parseString()
                                                  : parseIdentifier("a name"));
    GLOWISH_RETURN_IF_ERROR(expect("="));
    bool isList = token.kind == Token::Punctuation && token.text == "[";
    GLOWISH_ASSIGN_OR_RETURN(value.content,
                             isList ? parseNamedList() : parseNamedContent());
    return llvm::Error::success();
  }));
  return values;
}

llvm::Expected<CustomAttr> TextParser::parseCustom(const AttrInfo &info) {
  std::optional<CustomAttr> value;
  if (token.kind == Token::String)
    value = CustomAttr::parse(*info.customType, token.text);
  if (!value)
    return error("attribute '" + info.name +
                 "': accepted: " + info.customType->listForms());
  advance();
  return std::move(*value);
}

llvm::Expected<AttrValue>
TextParser::parseAttrValue(const AttrInfo &info,
                           std::optional<unsigned> numInputs,
                           ParseBody parseBody) {
  switch (info.kind) {
  case AttrKind::Int:
    return parseInt();
  case AttrKind::Ints:
    return parseInts();
  case AttrKind::Float:
    return parseDouble();
  case AttrKind::Bool: {
    GLOWISH_ASSIGN_OR_RETURN(bool value, parseElement<bool>());
    return value;
  }
  case AttrKind::String:
    return parseString();
  case AttrKind::Kind:
    return parseKind();
  case AttrKind::Program:
    return parseProgram(numInputs);
  case AttrKind::Body:
    if (!parseBody)
      return error("a body is not accepted here");
    return parseBody();
  case AttrKind::Types:
    return parseTypes();
  case AttrKind::Values:
    return parseNamedValues();
  case AttrKind::Custom:
    return parseCustom(info);
  }
  llvm_unreachable("not an attribute kind");
}

llvm::Expected<std::vector<AttrValue>>
TextParser::parseAttrs(const OpInfo &info, std::optional<unsigned> numInputs,
                       ParseBody parseBody) {
  std::vector<AttrValue> attrs = getDefaultAttrs(info);
  std::vector<bool> given(attrs.size(), false);
  auto parseOne = [&]() -> llvm::Error {
    unsigned index = info.findAttr(token.text);
    if (token.kind != Token::Identifier || index == attrs.size())
      return error(info.name + " has no attribute '" + token.text + "'");
    if (given[index])
      return error("attribute '" + token.text + "' is given twice");
    given[index] = true;
    advance();
    GLOWISH_RETURN_IF_ERROR(expect("="));
    GLOWISH_ASSIGN_OR_RETURN(
        attrs[index], parseAttrValue(info.attrs[index], numInputs, parseBody));
    return llvm::Error::success();
  };
  if (token.kind == Token::Punctuation && token.text == "{")
    GLOWISH_RETURN_IF_ERROR(parseList("{", "}", parseOne));
  for (unsigned i = 0; i < attrs.size(); ++i)
    if (!given[i] && !info.attrs[i].getDefault)
      return error("attribute '" + info.attrs[i].name + "' of " + info.name +
                   " is missing");
  return attrs;
}
