//===- Lexer.cpp - Tokens of the text forms -------------------------------===//

#include "glowish/Ops/TextForm.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

static bool isNameStart(char c) { return llvm::isAlpha(c) || c == '_'; }
static bool isIdentifierPart(char c) { return llvm::isAlnum(c) || c == '_'; }
static bool isNamePart(char c) { return isIdentifierPart(c) || c == '.'; }

bool glowish::isIdentifier(llvm::StringRef text) {
  return !text.empty() && isNameStart(text[0]) &&
         llvm::all_of(text, isIdentifierPart);
}

//===- Printing -----------------------------------------------------------===//

void glowish::printQuoted(llvm::raw_ostream &os, llvm::StringRef text) {
  os << '"';
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      os << '\\' << c;
    else if (c == '\n')
      os << "\\n";
    else if (llvm::isPrint(c))
      os << c;
    else
      os << '\\' << llvm::hexdigit(c >> 4) << llvm::hexdigit(c & 15);
  }
  os << '"';
}

void glowish::printName(llvm::raw_ostream &os, llvm::StringRef name) {
  os << '%';
  if (!name.empty() && isNameStart(name[0]) && llvm::all_of(name, isNamePart))
    os << name;
  else
    printQuoted(os, name);
}

//===- Lexing -------------------------------------------------------------===//

TextParser::TextParser(llvm::StringRef text, std::string fileName,
                       std::shared_ptr<llvm::MemoryBuffer> sideFile)
    : text(text), fileName(std::move(fileName)), sideFile(std::move(sideFile)) {
  advance();
}

llvm::Error TextParser::error(const llvm::Twine &what) const {
  return makeError("{0}:{1}:{2}: {3}", fileName, token.line, token.column,
                   lexError.empty() ? what.str() : lexError);
}

void TextParser::fail(const llvm::Twine &what) {
  lexError = what.str();
  token.kind = Token::Eof;
  position = text.size();
}

void TextParser::skipBlanks() {
  while (position < text.size()) {
    if (charAt() == '\n') {
      ++line;
      lineStart = ++position;
    } else if (llvm::isSpace(charAt())) {
      ++position;
    } else if (charAt() == '/' && charAt(1) == '/') {
      position = std::min(text.find('\n', position), text.size());
    } else {
      return;
    }
  }
}

void TextParser::lexNumber() {
  size_t start = position;
  token.kind = Token::Integer;
  auto skipDigits = [&] {
    while (llvm::isDigit(charAt()))
      ++position;
  };
  position += charAt() == '-';
  skipDigits();
  if (charAt() == 'x') {
    token.kind = Token::Digits;
    while (llvm::isAlnum(charAt()))
      ++position;
  } else {
    if (charAt() == '.' && llvm::isDigit(charAt(1))) {
      token.kind = Token::Float;
      ++position;
      skipDigits();
    }
    size_t sign = charAt(1) == '+' || charAt(1) == '-';
    if ((charAt() == 'e' || charAt() == 'E') &&
        llvm::isDigit(charAt(1 + sign))) {
      token.kind = Token::Float;
      position += 1 + sign;
      skipDigits();
    }
  }
  if (isNamePart(charAt()))
    return fail("malformed number");
  token.text = text.slice(start, position).str();
}

void TextParser::lexQuoted() {
  ++position;
  token.text.clear();
  while (true) {
    char c = charAt();
    if (position >= text.size() || c == '\n')
      return fail("a string without an end");
    ++position;
    if (c == '"')
      return;
    if (c != '\\') {
      token.text += c;
      continue;
    }
    char escaped = charAt();
    if (escaped == '"' || escaped == '\\') {
      token.text += escaped;
      ++position;
    } else if (escaped == 'n') {
      token.text += '\n';
      ++position;
    } else if (llvm::isHexDigit(escaped) && llvm::isHexDigit(charAt(1))) {
      token.text += char(llvm::hexFromNibbles(escaped, charAt(1)));
      position += 2;
    } else {
      return fail("unknown escape in a string");
    }
  }
}

void TextParser::advance() {
  if (!lexError.empty())
    return;
  skipBlanks();
  token.line = line;
  token.column = position - lineStart + 1;
  token.text.clear();
  if (position >= text.size()) {
    token.kind = Token::Eof;
    return;
  }
  size_t start = position;
  char c = charAt();
  if (isNameStart(c)) {
    token.kind = Token::Identifier;
    while (isIdentifierPart(charAt()))
      ++position;
    token.text = text.slice(start, position).str();
  } else if (llvm::isDigit(c) || (c == '-' && llvm::isDigit(charAt(1)))) {
    lexNumber();
  } else if (text.substr(position).starts_with("-inf")) {
    token.kind = Token::Float;
    token.text = "-inf";
    position += 4;
  } else if (c == '"') {
    token.kind = Token::String;
    lexQuoted();
  } else if (c == '%' && charAt(1) == '"') {
    token.kind = Token::Name;
    ++position;
    lexQuoted();
  } else if (c == '%' && isNameStart(charAt(1))) {
    token.kind = Token::Name;
    ++position;
    while (isNamePart(charAt()))
      ++position;
    token.text = text.slice(start + 1, position).str();
  } else if (c == '-' && charAt(1) == '>') {
    token.kind = Token::Punctuation;
    token.text = "->";
    position += 2;
  } else if (llvm::StringRef("(){}[]<>=,:;@").contains(c)) {
    token.kind = Token::Punctuation;
    token.text = c;
    ++position;
  } else if (llvm::isPrint(c)) {
    fail("unexpected character '" + llvm::Twine(c) + "'");
  } else {
    fail("unexpected byte " + llvm::Twine(unsigned(uint8_t(c))));
  }
}

//===- Single tokens ------------------------------------------------------===//

bool TextParser::consumeIf(llvm::StringRef spelling) {
  if ((token.kind != Token::Punctuation && token.kind != Token::Identifier) ||
      token.text != spelling)
    return false;
  advance();
  return true;
}

llvm::Error TextParser::expect(llvm::StringRef spelling) {
  if (consumeIf(spelling))
    return llvm::Error::success();
  return error("expected '" + spelling + "'");
}

llvm::Expected<std::string> TextParser::parseIdentifier(llvm::StringRef what) {
  if (token.kind != Token::Identifier)
    return error("expected " + what);
  std::string result = std::move(token.text);
  advance();
  return result;
}

llvm::Expected<std::string> TextParser::parseName() {
  if (token.kind != Token::Name)
    return error("expected a name such as %x");
  std::string result = std::move(token.text);
  advance();
  return result;
}

llvm::Expected<std::string> TextParser::parseString() {
  if (token.kind != Token::String)
    return error("expected a string in quotes");
  std::string result = std::move(token.text);
  advance();
  return result;
}

llvm::Expected<Extent> TextParser::parseBracedExtent() {
  assert(token.text == "{" && "an extent in braces");
  // Not in tokens: it has operators, which nothing else has.
  size_t start = position;
  bool isInName = false;
  while (isInName || charAt() != '}') {
    if (position >= text.size() || charAt() == '\n')
      return error("expected '}' behind the extent");
    isInName ^= charAt() == '\'';
    ++position;
  }
  llvm::StringRef expression = text.slice(start, position);
  std::optional<Extent> extent = Extent::parse(expression);
  if (!extent)
    return error("'" + expression +
                 "' is no extent; expected an expression of integers and "
                 "symbols with +, -, * and //");
  ++position;
  advance();
  return *extent;
}
