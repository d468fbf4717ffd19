//===- IRParser.cpp - Parsing the IR's text form --------------------------===//

#include "glowish/IR/IRText.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Ops/TextForm.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/DenseMap.h"

using namespace glowish;

namespace {

class IRParser {
public:
  IRParser(llvm::StringRef text, llvm::StringRef fileName,
           std::shared_ptr<llvm::MemoryBuffer> sideFile)
      : fileName(fileName), parser(text, fileName.str(), std::move(sideFile)) {}

  llvm::Expected<std::unique_ptr<IRFunction>> parse();

private:
  llvm::Error parseBuffer();
  llvm::Error parseBuffer(llvm::StringRef what, llvm::StringRef name,
                          const Token &start);
  llvm::Error parseMutable(llvm::StringRef name);
  llvm::Error parseView(llvm::StringRef name);
  llvm::Error parseInstr();
  llvm::Expected<std::unique_ptr<IRFunction>> parseFunction();
  llvm::Expected<std::shared_ptr<Body>> parseBody();
  llvm::Expected<Extent> parseExtent();
  llvm::Error parseLoopBounds(InstrDraft &draft);
  llvm::Expected<std::string> parseRole(const OpInfo &info, unsigned index);
  llvm::Expected<Buffer *> parseBufferName();
  llvm::Expected<llvm::SmallVector<Buffer *, 4>>
  parseOperands(const OpInfo &info, std::vector<std::string> &roles);
  /// An error about something that began at \p token.
  llvm::Error errorAt(const Token &token, const llvm::Twine &what) const {
    return makeError("{0}:{1}:{2}: {3}", fileName, token.line, token.column,
                     what.str());
  }
  /// Verifies \p parsed; the error begins with the place in the text.
  llvm::Error verifyParsed(const IRFunction &parsed) const;

  std::string fileName;
  TextParser parser;
  std::unique_ptr<IRFunction> function;
  /// Where instructions and buffers begin.
  llvm::DenseMap<const Instruction *, Token> instrStarts;
  llvm::DenseMap<const Buffer *, Token> bufferStarts;
  static constexpr unsigned maxDepth = 64;
  unsigned depth = 0; // of bodies
};

} // namespace

llvm::Expected<Buffer *> IRParser::parseBufferName() {
  Token start = parser.peek();
  GLOWISH_ASSIGN_OR_RETURN(std::string name, parser.parseName());
  if (Buffer *buffer = function->findBuffer(name))
    return buffer;
  return errorAt(start, "there is no buffer '%" + name + "'");
}

llvm::Error IRParser::parseMutable(llvm::StringRef name) {
  GLOWISH_ASSIGN_OR_RETURN(Type type, parser.parseColonType());
  bool input = parser.consumeIf("input");
  bool output = parser.consumeIf("output");
  GLOWISH_ASSIGN_OR_RETURN(std::string modelName, parser.parseString());
  Buffer *buffer = function->createMutable(name, type.withoutExtents(),
                                           modelName, input, output);
  if (parser.consumeIf("extents")) {
    GLOWISH_ASSIGN_OR_RETURN(Buffer *extents, parseBufferName());
    buffer->setExtents(extents);
  }
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> classNames,
                           parser.parseClassNames());
  buffer->setClassNames(classNames);
  GLOWISH_ASSIGN_OR_RETURN(InputExtents own, parser.parseInputExtents());
  own.dims = type.getExtents();
  buffer->setInputExtents(std::move(own));
  return llvm::Error::success();
}

llvm::Error IRParser::parseView(llvm::StringRef name) {
  GLOWISH_RETURN_IF_ERROR(parser.expect("="));
  Token start = parser.peek();
  GLOWISH_ASSIGN_OR_RETURN(Buffer *base, parseBufferName());
  if (base->isView())
    return errorAt(start, "'%" + base->getName() + "' is a view itself");
  GLOWISH_RETURN_IF_ERROR(parser.expect("offset"));
  GLOWISH_ASSIGN_OR_RETURN(int64_t offset, parser.parseInt());
  GLOWISH_RETURN_IF_ERROR(parser.expect("strides"));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> strides, parser.parseInts());
  GLOWISH_ASSIGN_OR_RETURN(Type type, parser.parseColonType());
  if (strides.size() != type.getRank())
    return errorAt(start, "a view has one stride a dimension");
  if (type.getKind() != base->getType().getKind())
    return errorAt(start, "a view has its buffer's element kind");
  function->createView(name, base, type, offset, strides);
  return llvm::Error::success();
}

llvm::Error IRParser::parseBuffer() {
  Token start = parser.peek();
  GLOWISH_ASSIGN_OR_RETURN(std::string what,
                           parser.parseIdentifier("a kind of buffer"));
  Token nameStart = parser.peek();
  GLOWISH_ASSIGN_OR_RETURN(std::string name, parser.parseName());
  if (name.empty())
    return errorAt(nameStart, "a buffer has a name");
  if (function->findBuffer(name))
    return errorAt(nameStart, "the name '" + name + "' is taken");
  GLOWISH_RETURN_IF_ERROR(parseBuffer(what, name, start));
  bufferStarts[function->findBuffer(name)] = start;
  return llvm::Error::success();
}

llvm::Error IRParser::parseBuffer(llvm::StringRef what, llvm::StringRef name,
                                  const Token &start) {
  if (what == "constant") {
    GLOWISH_ASSIGN_OR_RETURN(Type type, parser.parseColonType());
    GLOWISH_RETURN_IF_ERROR(parser.expect("="));
    GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, parser.parseConstant(type));
    function->createConstant(name,
                             std::make_shared<const Tensor>(std::move(tensor)));
    return llvm::Error::success();
  }
  if (what == "mutable")
    return parseMutable(name);
  if (what == "activation") {
    GLOWISH_ASSIGN_OR_RETURN(Type type, parser.parseColonType());
    function->createActivation(name, type);
    return llvm::Error::success();
  }
  if (what == "view")
    return parseView(name);
  return errorAt(start, "expected 'constant', 'mutable', 'activation', 'view' "
                        "or 'code'");
}

/// The role that the record states, or, where that depends on the segments, the
/// text's.
llvm::Expected<std::string> IRParser::parseRole(const OpInfo &info,
                                                unsigned index) {
  if (info.hasSegments())
    return parser.parseIdentifier("a role");
  llvm::StringRef role = getRoleName(info.getOperandInfo(index).role);
  GLOWISH_RETURN_IF_ERROR(parser.expect(role));
  return role.str();
}

llvm::Expected<llvm::SmallVector<Buffer *, 4>>
IRParser::parseOperands(const OpInfo &info, std::vector<std::string> &roles) {
  llvm::SmallVector<Buffer *, 4> operands;
  GLOWISH_RETURN_IF_ERROR(parser.parseList("(", ")", [&]() -> llvm::Error {
    roles.emplace_back();
    if (parser.consumeIf("none")) {
      operands.push_back(nullptr);
      return llvm::Error::success();
    }
    if (info.operands.empty())
      return parser.error(info.name + " has no operands");
    GLOWISH_RETURN_IF_ERROR(parser.expect("@"));
    GLOWISH_ASSIGN_OR_RETURN(roles.back(), parseRole(info, operands.size()));
    GLOWISH_ASSIGN_OR_RETURN(auto *operand, parseBufferName());
    operands.push_back(operand);
    return llvm::Error::success();
  }));
  return operands;
}

/// A function inside an instruction.
llvm::Expected<std::shared_ptr<Body>> IRParser::parseBody() {
  if (++depth > maxDepth)
    return parser.error("bodies are nested more than " + llvm::Twine(maxDepth) +
                        " deep");
  std::unique_ptr<IRFunction> outer = std::move(function);
  auto inner = parseFunction();
  function = std::move(outer);
  if (!inner)
    return inner.takeError();
  --depth;
  return std::make_shared<IRBody>(std::move(*inner));
}

llvm::Expected<Extent> IRParser::parseExtent() {
  Token start = parser.peek();
  GLOWISH_ASSIGN_OR_RETURN(std::string text, parser.parseString());
  if (std::optional<Extent> extent = Extent::parse(text))
    return *extent;
  return errorAt(start, "'" + text +
                            "' is no extent; accepted: sums, multiples and "
                            "quotients by positive numbers of symbols, as in "
                            "(2*N + 1)//2");
}

/// As printLoopBounds writes them.
llvm::Error IRParser::parseLoopBounds(InstrDraft &draft) {
  if (!parser.consumeIf("bounds"))
    return llvm::Error::success();
  const OpInfo &info = getInstrInfo(draft.kind);
  return parser.parseList("{", "}", [&]() -> llvm::Error {
    Token start = parser.peek();
    GLOWISH_ASSIGN_OR_RETURN(std::string name,
                             parser.parseIdentifier("an operand"));
    LoopBound bound;
    while (bound.operand < draft.operands.size() &&
           info.getOperandInfo(bound.operand, draft.attrs).name != name)
      ++bound.operand;
    if (bound.operand == draft.operands.size())
      return errorAt(start, info.name + " has no operand '" + name + "'");
    GLOWISH_RETURN_IF_ERROR(parser.expect("["));
    GLOWISH_ASSIGN_OR_RETURN(int64_t dim, parser.parseInt());
    const Buffer *operand = draft.operands[bound.operand];
    if (!operand || dim < 0 || dim >= int64_t(operand->getType().getRank()))
      return errorAt(start, "operand '" + name + "' has no dimension " +
                                llvm::Twine(dim));
    bound.dim = unsigned(dim);
    GLOWISH_RETURN_IF_ERROR(parser.expect("]"));
    GLOWISH_RETURN_IF_ERROR(parser.expect("="));
    GLOWISH_ASSIGN_OR_RETURN(bound.extent, parseExtent());
    draft.bounds.push_back(std::move(bound));
    return llvm::Error::success();
  });
}

llvm::Error IRParser::parseInstr() {
  Token start = parser.peek();
  std::string name;
  if (start.kind == Token::String) {
    GLOWISH_ASSIGN_OR_RETURN(name, parser.parseString());
  }
  Token kindStart = parser.peek();
  GLOWISH_ASSIGN_OR_RETURN(std::string kindName,
                           parser.parseIdentifier("an instruction"));
  std::optional<InstrKind> kind = findInstrKind(kindName);
  if (!kind)
    return errorAt(kindStart, "there is no instruction '" + kindName + "'");
  const OpInfo &info = getInstrInfo(*kind);
  InstrDraft draft{*kind, {}, {}};
  std::vector<std::string> roles;
  GLOWISH_ASSIGN_OR_RETURN(draft.operands, parseOperands(info, roles));
  GLOWISH_ASSIGN_OR_RETURN(
      draft.attrs, parser.parseAttrs(
                       info, info.countProgramInputs(draft.operands.size()),
                       [this] { return parseBody(); }));
  llvm::SmallVector<bool, 4> present;
  for (Buffer *buffer : draft.operands)
    present.push_back(buffer);
  if (llvm::Error error = checkStructure(info, present, draft.attrs))
    return errorAt(start, kindName + ": " + llvm::toString(std::move(error)));
  for (unsigned i = 0; i < roles.size(); ++i) {
    llvm::StringRef role =
        getRoleName(info.getOperandInfo(i, draft.attrs).role);
    if (present[i] && roles[i] != role)
      return errorAt(start, kindName + ": operand " + llvm::Twine(i) + " is @" +
                                role + ", not @" + roles[i]);
  }
  GLOWISH_RETURN_IF_ERROR(parseLoopBounds(draft));
  if (parser.consumeIf("predicate")) {
    GLOWISH_RETURN_IF_ERROR(parser.expect("("));
    GLOWISH_ASSIGN_OR_RETURN(draft.predicate, parseBufferName());
    GLOWISH_RETURN_IF_ERROR(parser.expect(")"));
  }
  instrStarts[function->create(name, std::move(draft))] = start;
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<IRFunction>> IRParser::parseFunction() {
  GLOWISH_RETURN_IF_ERROR(parser.expect("ir"));
  GLOWISH_ASSIGN_OR_RETURN(std::string name, parser.parseString());
  function = std::make_unique<IRFunction>(name);
  GLOWISH_RETURN_IF_ERROR(parser.expect("{"));
  while (!parser.consumeIf("code"))
    GLOWISH_RETURN_IF_ERROR(parseBuffer());
  GLOWISH_RETURN_IF_ERROR(parser.expect("{"));
  while (!parser.consumeIf("}"))
    GLOWISH_RETURN_IF_ERROR(parseInstr());
  GLOWISH_RETURN_IF_ERROR(parser.expect("}"));
  return std::move(function);
}

llvm::Error IRParser::verifyParsed(const IRFunction &parsed) const {
  IRFault fault;
  llvm::Error error = verify(parsed, fault);
  if (!error)
    return error;
  std::string what = llvm::toString(std::move(error));
  if (auto found = bufferStarts.find(fault.buffer); found != bufferStarts.end())
    return errorAt(found->second, what);
  if (auto found = instrStarts.find(fault.instr); found != instrStarts.end())
    return errorAt(found->second, what);
  return makeError("{0}: {1}", fileName, what);
}

llvm::Expected<std::unique_ptr<IRFunction>> IRParser::parse() {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> parsed, parseFunction());
  GLOWISH_RETURN_IF_ERROR(parser.expectEnd());
  GLOWISH_RETURN_IF_ERROR(verifyParsed(*parsed));
  return std::move(parsed);
}

llvm::Expected<std::unique_ptr<IRFunction>>
glowish::parseIR(llvm::StringRef text, llvm::StringRef fileName,
                 std::shared_ptr<llvm::MemoryBuffer> sideFile) {
  return IRParser(text, fileName, std::move(sideFile)).parse();
}
