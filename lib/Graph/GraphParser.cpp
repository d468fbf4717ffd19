//===- GraphParser.cpp - Parse the text form of the graph -----------------===//

#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/Ops/TextForm.h"
#include "glowish/Support/Error.h"

using namespace glowish;

namespace {

class GraphParser {
public:
  GraphParser(llvm::StringRef text, llvm::StringRef fileName,
              std::shared_ptr<llvm::MemoryBuffer> sideFile)
      : parser(text, fileName.str(), std::move(sideFile)) {}

  llvm::Expected<std::unique_ptr<Module>> parse();
  /// See glowish::parseBody.
  llvm::Expected<std::shared_ptr<FunctionBody>> parseBodyOf(Module &given);

private:
  llvm::Error parsePlaceholder();
  llvm::Error parseConstant();
  llvm::Error parseFunction();
  llvm::Error parseNode(Function &function);
  llvm::Expected<NodeValue> parseValue(const Function &function);
  llvm::Expected<NodeDraft> parseDraft(const Function &function);
  llvm::Error parseStorage(
      llvm::function_ref<Placeholder *(llvm::StringRef, const Type &)> add);
  llvm::Expected<std::shared_ptr<FunctionBody>> parseBody();
  /// Records \p node under \p name. Returns an error if the name is in use, as
  /// nodes of a module must keep the names of the text.
  llvm::Error define(llvm::StringRef name, Node *node);

  TextParser parser;
  std::unique_ptr<Module> ownModule;
  Module *module = nullptr;
  llvm::StringMap<Node *> nodes;
  /// Of all placeholders; the module takes them when it has all symbols.
  std::vector<ExtentRequirement> required;
  static constexpr unsigned maxDepth = 64;
  unsigned depth = 0; // of bodies
};

} // namespace

llvm::Error GraphParser::define(llvm::StringRef name, Node *node) {
  if ((ownModule && node->getName() != name) ||
      !nodes.try_emplace(name, node).second)
    return parser.error("the name '" + name + "' is taken");
  return llvm::Error::success();
}

llvm::Error GraphParser::parsePlaceholder() {
  GLOWISH_ASSIGN_OR_RETURN(std::string name, parser.parseName());
  GLOWISH_ASSIGN_OR_RETURN(Type type, parser.parseColonType());
  bool input = parser.consumeIf("input");
  bool output = parser.consumeIf("output");
  GLOWISH_ASSIGN_OR_RETURN(std::string modelName, parser.parseString());
  if (nodes.count(name))
    return parser.error("the name '" + name + "' is taken");
  Placeholder *placeholder =
      module->createPlaceholder(modelName, type, input, output, name);
  GLOWISH_RETURN_IF_ERROR(define(name, placeholder));
  if (parser.consumeIf("extents")) {
    GLOWISH_ASSIGN_OR_RETURN(std::string other, parser.parseName());
    auto *extents = llvm::dyn_cast_or_null<Placeholder>(nodes.lookup(other));
    if (!extents || extents->getOwner())
      return parser.error("no placeholder before this is called '%" + other +
                          "'");
    placeholder->setExtents(extents);
  }
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> classNames,
                           parser.parseClassNames());
  placeholder->setClassNames(std::move(classNames));
  GLOWISH_ASSIGN_OR_RETURN(InputExtents own, parser.parseInputExtents());
  if (own.range)
    module->stateSymbol(*placeholder, *own.range);
  placeholder->setNextExtents(std::move(own.next));
  llvm::append_range(required, own.required);
  return llvm::Error::success();
}

llvm::Error GraphParser::parseConstant() {
  GLOWISH_ASSIGN_OR_RETURN(std::string name, parser.parseName());
  GLOWISH_ASSIGN_OR_RETURN(Type type, parser.parseColonType());
  GLOWISH_RETURN_IF_ERROR(parser.expect("="));
  GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, parser.parseConstant(type));
  return define(name, module->createConstant(name, std::move(tensor)));
}

/// Whether nodes of \p function may use \p node as an operand.
static bool isVisible(const Node &node, const Function &function) {
  if (auto *placeholder = llvm::dyn_cast<Placeholder>(&node))
    return placeholder->getOwner() == (function.isBody() ? &function : nullptr);
  return llvm::isa<Constant>(&node) || node.getParent() == &function;
}

llvm::Expected<NodeValue> GraphParser::parseValue(const Function &function) {
  if (parser.consumeIf("none"))
    return NodeValue();
  GLOWISH_ASSIGN_OR_RETURN(std::string name, parser.parseName());
  Node *node = nodes.lookup(name);
  if (!node)
    return parser.error("nothing before this is called '%" + name + "'");
  if (!isVisible(*node, function))
    return parser.error("'%" + name + "' belongs to another function");
  int64_t result = 0;
  if (parser.consumeIf(":")) {
    GLOWISH_ASSIGN_OR_RETURN(result, parser.parseInt());
  }
  if (result < 0 || result >= int64_t(node->getNumResults()))
    return parser.error("'%" + name + "' has no result " + llvm::Twine(result));
  return NodeValue(node, unsigned(result));
}

/// `Kind(%a, none, %b:1) {attributes} predicate(%p)`
llvm::Expected<NodeDraft> GraphParser::parseDraft(const Function &function) {
  GLOWISH_ASSIGN_OR_RETURN(std::string kindName,
                           parser.parseIdentifier("a node kind"));
  std::optional<NodeKind> kind = findNodeKind(kindName);
  if (!kind)
    return parser.error("there is no node kind '" + kindName + "'");
  NodeDraft draft{*kind, {}, {}};
  GLOWISH_RETURN_IF_ERROR(parser.expect("("));
  while (!parser.consumeIf(")")) {
    if (!draft.operands.empty())
      GLOWISH_RETURN_IF_ERROR(parser.expect(","));
    GLOWISH_ASSIGN_OR_RETURN(NodeValue value, parseValue(function));
    draft.operands.push_back(value);
  }
  GLOWISH_ASSIGN_OR_RETURN(
      draft.attrs, parser.parseAttrs(
                       getNodeInfo(*kind), std::nullopt,
                       [this]() -> llvm::Expected<std::shared_ptr<Body>> {
                         return parseBody();
                       }));
  if (parser.consumeIf("predicate")) {
    GLOWISH_RETURN_IF_ERROR(parser.expect("("));
    GLOWISH_ASSIGN_OR_RETURN(draft.predicate, parseValue(function));
    GLOWISH_RETURN_IF_ERROR(parser.expect(")"));
  }
  return draft;
}

llvm::Error GraphParser::parseNode(Function &function) {
  std::string name;
  int64_t numResults = 0;
  bool isNamed = parser.peek().kind == Token::Name;
  if (isNamed) {
    GLOWISH_ASSIGN_OR_RETURN(name, parser.parseName());
    numResults = 1;
    if (parser.consumeIf(":")) {
      GLOWISH_ASSIGN_OR_RETURN(numResults, parser.parseInt());
    }
    GLOWISH_RETURN_IF_ERROR(parser.expect("="));
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeDraft draft, parseDraft(function));
  llvm::Expected<Node *> node =
      function.tryCreate(isNamed ? name : "save", std::move(draft));
  if (!node)
    return parser.error(llvm::toString(node.takeError()));
  if (int64_t((*node)->getNumResults()) != numResults)
    return parser.error(llvm::Twine((*node)->getKindName()) + " has " +
                        llvm::Twine((*node)->getNumResults()) + " results");
  if (!isNamed)
    return llvm::Error::success();
  GLOWISH_RETURN_IF_ERROR(define(name, *node));
  if (!parser.consumeIf(":"))
    return llvm::Error::success();
  for (const Type &inferred : (*node)->getTypes()) {
    if (&inferred != &(*node)->getTypes().front())
      GLOWISH_RETURN_IF_ERROR(parser.expect(","));
    GLOWISH_ASSIGN_OR_RETURN(Type stated, parser.parseType());
    if (stated != inferred)
      return parser.error("'%" + name + "' is " + inferred.str() + ", not " +
                          stated.str());
  }
  return llvm::Error::success();
}

/// `(%a : float<2>, %b : bool<>)`
llvm::Error GraphParser::parseStorage(
    llvm::function_ref<Placeholder *(llvm::StringRef, const Type &)> add) {
  return parser.parseList("(", ")", [&]() -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(std::string name, parser.parseName());
    GLOWISH_ASSIGN_OR_RETURN(Type type, parser.parseColonType());
    return define(name, add(name, type));
  });
}

/// `body "then" (%a : float<2>) -> (%r : float<2>) { nodes }`
llvm::Expected<std::shared_ptr<FunctionBody>> GraphParser::parseBody() {
  if (++depth > maxDepth)
    return parser.error("bodies are nested more than " + llvm::Twine(maxDepth) +
                        " deep");
  GLOWISH_RETURN_IF_ERROR(parser.expect("body"));
  GLOWISH_ASSIGN_OR_RETURN(std::string name, parser.parseString());
  std::shared_ptr<FunctionBody> body = FunctionBody::create(*module, name);
  Function &function = body->getFunction();
  GLOWISH_RETURN_IF_ERROR(
      parseStorage([&](llvm::StringRef parameter, const Type &type) {
        return function.addParameter(parameter, type);
      }));
  GLOWISH_RETURN_IF_ERROR(parser.expect("->"));
  GLOWISH_RETURN_IF_ERROR(
      parseStorage([&](llvm::StringRef result, const Type &type) {
        return function.addResult(result, type);
      }));
  GLOWISH_RETURN_IF_ERROR(parser.expect("{"));
  while (!parser.consumeIf("}"))
    GLOWISH_RETURN_IF_ERROR(parseNode(function));
  --depth;
  return body;
}

llvm::Error GraphParser::parseFunction() {
  GLOWISH_ASSIGN_OR_RETURN(std::string name, parser.parseString());
  if (module->findFunction(name))
    return parser.error("a function '" + name + "' is there already");
  Function *function = module->createFunction(name);
  GLOWISH_RETURN_IF_ERROR(parser.expect("{"));
  while (!parser.consumeIf("}"))
    GLOWISH_RETURN_IF_ERROR(parseNode(*function));
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Module>> GraphParser::parse() {
  GLOWISH_RETURN_IF_ERROR(parser.expect("module"));
  GLOWISH_ASSIGN_OR_RETURN(std::string name, parser.parseString());
  ownModule = std::make_unique<Module>(name);
  module = ownModule.get();
  while (!parser.atEnd()) {
    if (parser.consumeIf("placeholder"))
      GLOWISH_RETURN_IF_ERROR(parsePlaceholder());
    else if (parser.consumeIf("constant"))
      GLOWISH_RETURN_IF_ERROR(parseConstant());
    else if (parser.consumeIf("function"))
      GLOWISH_RETURN_IF_ERROR(parseFunction());
    else
      return parser.error("expected 'placeholder', 'constant' or 'function'");
  }
  // The lexer reports a character that starts no token as the end.
  GLOWISH_RETURN_IF_ERROR(parser.expectEnd());
  for (const ExtentRequirement &each : required)
    if (!module->getSymbols().getRange(each.a) ||
        !module->getSymbols().getRange(each.b))
      return makeError("'{0} == {1}' is required; accepted: extents of stated "
                       "symbols",
                       each.a.str(), each.b.str());
  module->addRequirements(required);
  GLOWISH_RETURN_IF_ERROR(verify(*module));
  return std::move(ownModule);
}

/// Whether \p body has one Save for each of its results.
static bool savesEachResult(const Function &body) {
  llvm::DenseMap<const Node *, unsigned> counts;
  for (const Node &node : body.getNodes())
    if (auto *save = llvm::dyn_cast<SaveNode>(&node))
      ++counts[save->getOutput().node];
  return llvm::all_of(body.getResults(), [&](const auto &result) {
    return counts.lookup(result.get()) == 1;
  });
}

llvm::Expected<std::shared_ptr<FunctionBody>>
GraphParser::parseBodyOf(Module &given) {
  module = &given;
  while (parser.consumeIf("constant"))
    GLOWISH_RETURN_IF_ERROR(parseConstant());
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<FunctionBody> body, parseBody());
  GLOWISH_RETURN_IF_ERROR(parser.expectEnd());
  if (!savesEachResult(body->getFunction()))
    return parser.error("each result of the body needs one Save");
  return body;
}

llvm::Expected<std::unique_ptr<Module>>
glowish::parseModule(llvm::StringRef text, llvm::StringRef fileName,
                     std::shared_ptr<llvm::MemoryBuffer> sideFile) {
  return GraphParser(text, fileName, std::move(sideFile)).parse();
}

llvm::Expected<std::shared_ptr<FunctionBody>>
glowish::parseBody(llvm::StringRef text, llvm::StringRef fileName,
                   Module &module) {
  return GraphParser(text, fileName, nullptr).parseBodyOf(module);
}
