//===- ShapeRules.cpp - Types of external operators as text ---------------===//

#include "ShapeRules.h"
#include "glowish/Base/DimExpression.h"
#include "glowish/Ops/TextForm.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringMap.h"

using namespace glowish;
using Dim = TypePattern::Dim;

//===- Parser -------------------------------------------------------------===//

/// `N`, `[S]`, `3` or `"2*N"`.
static llvm::Expected<Dim> parseDim(TextParser &parser) {
  if (parser.consumeIf("[")) {
    GLOWISH_ASSIGN_OR_RETURN(std::string name,
                             parser.parseIdentifier("a name"));
    GLOWISH_RETURN_IF_ERROR(parser.expect("]"));
    return Dim{Dim::Form::List, name};
  }
  if (parser.peek().kind == Token::Identifier) {
    GLOWISH_ASSIGN_OR_RETURN(std::string name,
                             parser.parseIdentifier("a name"));
    return Dim{Dim::Form::Name, name};
  }
  if (parser.peek().kind == Token::String) {
    if (!DimExpression::parse(parser.peek().text))
      return parser.error("expected an expression such as \"2*N\"");
    GLOWISH_ASSIGN_OR_RETURN(std::string text, parser.parseString());
    return Dim{Dim::Form::Expression, text};
  }
  GLOWISH_ASSIGN_OR_RETURN(int64_t extent, parser.parseInt());
  return Dim{Dim::Form::Expression, std::to_string(extent)};
}

/// `float<N, [S], 3>` or `none`.
static llvm::Expected<TypePattern> parsePattern(TextParser &parser) {
  TypePattern pattern;
  pattern.isAbsent = parser.consumeIf("none");
  if (pattern.isAbsent)
    return pattern;
  GLOWISH_ASSIGN_OR_RETURN(pattern.kind,
                           parser.parseIdentifier("a type such as float<N>"));
  bool hasList = false;
  GLOWISH_RETURN_IF_ERROR(parser.parseList("<", ">", [&]() -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(Dim dim, parseDim(parser));
    if (dim.form == Dim::Form::List && hasList)
      return parser.error("a type has at most one list of extents");
    hasList |= dim.form == Dim::Form::List;
    pattern.dims.push_back(std::move(dim));
    return llvm::Error::success();
  }));
  return pattern;
}

static llvm::Error parsePatterns(TextParser &parser,
                                 std::vector<TypePattern> &patterns) {
  return parser.parseList("(", ")", [&]() -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(TypePattern pattern, parsePattern(parser));
    patterns.push_back(std::move(pattern));
    return llvm::Error::success();
  });
}

static llvm::Expected<ShapeRule> parseRule(TextParser &parser) {
  ShapeRule rule;
  GLOWISH_RETURN_IF_ERROR(parsePatterns(parser, rule.inputs));
  GLOWISH_RETURN_IF_ERROR(parser.expect("->"));
  GLOWISH_RETURN_IF_ERROR(parsePatterns(parser, rule.results));
  if (rule.results.empty())
    return parser.error("a rule has results");
  for (const TypePattern &result : rule.results)
    if (result.isAbsent)
      return parser.error("a result is not absent");
  return rule;
}

llvm::Expected<ShapeRules> ShapeRules::parse(llvm::StringRef text,
                                             llvm::StringRef path) {
  ShapeRules rules;
  rules.path = path.str();
  TextParser parser(text, rules.path, nullptr);
  if (parser.consumeIf("function")) {
    GLOWISH_ASSIGN_OR_RETURN(rules.function,
                             parser.parseIdentifier("a name in C"));
  }
  if (parser.consumeIf("schema")) {
    GLOWISH_ASSIGN_OR_RETURN(rules.schema, parser.parseString());
  }
  do {
    GLOWISH_ASSIGN_OR_RETURN(ShapeRule rule, parseRule(parser));
    rules.rules.push_back(std::move(rule));
  } while (!parser.atEnd());
  GLOWISH_RETURN_IF_ERROR(parser.expectEnd());
  return rules;
}

//===- Types --------------------------------------------------------------===//

namespace {

/// What the names of one rule stand for.
class Bindings {
public:
  explicit Bindings(const NamedValues &attributes) {
    for (const NamedValue &attribute : attributes)
      if (auto *number = std::get_if<int64_t>(&attribute.content))
        extents[attribute.name] = *number;
  }

  /// Whether \p type fits \p pattern, with what is bound so far. Expressions
  /// are left for checkExpressions().
  bool match(const TypePattern &pattern, const std::optional<Type> &type);
  /// Whether the extents of inputs are what the expressions for them give.
  llvm::Expected<bool> checkExpressions() const;
  llvm::Expected<Type> makeType(const TypePattern &pattern) const;

private:
  bool matchKind(llvm::StringRef name, ElemKind kind);
  bool matchDim(const Dim &dim, int64_t extent);
  llvm::Expected<int64_t> evaluate(const Dim &dim) const;

  std::map<std::string, int64_t> extents;
  llvm::StringMap<Dims> lists;
  llvm::StringMap<ElemKind> kinds;
  std::vector<std::pair<const Dim *, int64_t>> expressions;
};

} // namespace

bool Bindings::matchKind(llvm::StringRef name, ElemKind kind) {
  if (std::optional<ElemKind> stated = parseElemKind(name))
    return *stated == kind;
  return kinds.try_emplace(name, kind).first->second == kind;
}

bool Bindings::matchDim(const Dim &dim, int64_t extent) {
  if (dim.form == Dim::Form::Name)
    return extents.try_emplace(dim.text, extent).first->second == extent;
  expressions.push_back({&dim, extent});
  return true;
}

bool Bindings::match(const TypePattern &pattern,
                     const std::optional<Type> &type) {
  if (pattern.isAbsent || !type)
    return pattern.isAbsent && !type;
  if (!matchKind(pattern.kind, type->getKind()))
    return false;
  DimsRef shape = type->getShape();
  bool hasList = llvm::any_of(
      pattern.dims, [](const Dim &dim) { return dim.form == Dim::Form::List; });
  size_t fixed = pattern.dims.size() - hasList;
  if (hasList ? shape.size() < fixed : shape.size() != fixed)
    return false;
  for (const Dim &dim : pattern.dims) {
    size_t count = dim.form == Dim::Form::List ? type->getRank() - fixed : 1;
    Dims own(shape.take_front(count));
    shape = shape.drop_front(count);
    if (dim.form == Dim::Form::List
            ? lists.try_emplace(dim.text, own).first->second != own
            : !matchDim(dim, own.front()))
      return false;
  }
  return true;
}

llvm::Expected<int64_t> Bindings::evaluate(const Dim &dim) const {
  GLOWISH_ASSIGN_OR_RETURN(std::optional<int64_t> value,
                           addContext(evaluateDim(dim.text, extents),
                                      "the extent '" + dim.text + "': "));
  if (!value)
    return makeError("the extent '{0}' has a name that neither the inputs' "
                     "extents nor integer attributes have",
                     dim.text);
  return *value;
}

llvm::Expected<bool> Bindings::checkExpressions() const {
  for (auto [dim, extent] : expressions) {
    GLOWISH_ASSIGN_OR_RETURN(int64_t value, evaluate(*dim));
    if (value != extent)
      return false;
  }
  return true;
}

llvm::Expected<Type> Bindings::makeType(const TypePattern &pattern) const {
  std::optional<ElemKind> kind = parseElemKind(pattern.kind);
  if (auto bound = kinds.find(pattern.kind); !kind && bound != kinds.end())
    kind = bound->second;
  if (!kind)
    return makeError("'{0}' is neither an element kind nor that of an input",
                     pattern.kind);
  if (isQuantizedKind(*kind))
    return makeError("a result is {0}; accepted: kinds that are not quantized",
                     pattern.kind);
  Dims shape;
  for (const Dim &dim : pattern.dims) {
    if (dim.form != Dim::Form::List) {
      GLOWISH_ASSIGN_OR_RETURN(int64_t extent, evaluate(dim));
      shape.push_back(extent);
      continue;
    }
    auto list = lists.find(dim.text);
    if (list == lists.end())
      return makeError("no input has the extents [{0}]", dim.text);
    llvm::append_range(shape, list->second);
  }
  GLOWISH_RETURN_IF_ERROR(checkShape(*kind, shape));
  return Type(*kind, shape);
}

static std::string describeInputs(const ExternalUse &use) {
  std::string text = "(";
  for (const std::optional<Type> &input : use.inputs)
    text += (text.size() > 1 ? ", " : "") + (input ? input->str() : "none");
  return text + ")";
}

llvm::Expected<TypeList> ShapeRules::infer(const ExternalUse &use) const {
  auto run = [&]() -> llvm::Expected<TypeList> {
    for (const ShapeRule &rule : rules) {
      Bindings bindings(use.attributes);
      bool fits = rule.inputs.size() >= use.inputs.size();
      // Inputs that a model leaves out at the end are absent.
      for (auto [i, pattern] : llvm::enumerate(rule.inputs))
        fits = fits &&
               bindings.match(pattern, i < use.inputs.size() ? use.inputs[i]
                                                             : std::nullopt);
      if (!fits)
        continue;
      GLOWISH_ASSIGN_OR_RETURN(bool holds, bindings.checkExpressions());
      if (!holds)
        continue;
      TypeList results;
      for (const TypePattern &pattern : rule.results) {
        GLOWISH_ASSIGN_OR_RETURN(Type type, bindings.makeType(pattern));
        results.push_back(std::move(type));
      }
      return results;
    }
    return makeError("no rule is for {0}", describeInputs(use));
  };
  return addContext(run(), path + ": ");
}
