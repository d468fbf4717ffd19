//===- TextForm.h - Pieces that both text forms share -----------*- C++ -*-===//
//
// Lexer, and printers and parsers of names, types, attributes and constants.
// The graph's form (Graph/GraphText.h) and the IR's (IR/IRText.h) are built
// from them. Printing is canonical: print, parse, print gives the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPS_TEXTFORM_H
#define GLOWISH_OPS_TEXTFORM_H

#include "glowish/Base/Extent.h"
#include "glowish/Base/InputExtents.h"
#include "glowish/Base/Tensor.h"
#include "glowish/Ops/OpInfo.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace glowish {

/// Whether \p text is [A-Za-z_][A-Za-z0-9_]*.
bool isIdentifier(llvm::StringRef text);
/// `%conv1`, or `%"a/b:0"` where the name is not [A-Za-z_][A-Za-z0-9_.]*.
void printName(llvm::raw_ostream &os, llvm::StringRef name);
/// A quoted string. Escapes are \" \\ \n, and \0A for any byte (two
/// hexadecimal digits): all that is not printable ASCII.
void printQuoted(llvm::raw_ostream &os, llvm::StringRef text);
/// The shortest decimal that reads back to the same double: 0.1, 6.0, 1e+20,
/// inf, -inf, nan; the bits in hexadecimal for any other NaN than the positive
/// quiet one without payload.
void printDouble(llvm::raw_ostream &os, double value);
/// ` {strides = [2, 2], group = 1, epilogue = {...}}`: attributes at their
/// defaults are left out, and the braces with them when none is left.
/// \p numInputs: inputs of a Program attribute. \p printBody prints a Body
/// attribute; without it only the body's types are printed, for people.
void printAttrs(llvm::raw_ostream &os, const OpInfo &info,
                llvm::ArrayRef<AttrValue> attrs, unsigned numInputs,
                llvm::function_ref<void(const Body &body)> printBody = nullptr);

/// ` range "S" [1, 512] requires ["S == T"]` and ` next ["", "S"]`, as far as
/// \p extents has them.
void printInputExtents(llvm::raw_ostream &os, const InputExtents &extents);

/// Prints ` classes ["cat", "dog"]`; nothing without names.
void printClassNames(llvm::raw_ostream &os, llvm::ArrayRef<std::string> names);

/// `%x : float<2> input output "x" extents %lengths`, and what printClassNames
/// and printInputExtents print: \p value is a Placeholder of the graph, or a
/// mutable Buffer of the IR.
template <typename Stored>
void printStored(llvm::raw_ostream &os, const Stored &value) {
  printName(os, value.getName());
  os << " : " << value.getType().withExtents(value.getInputExtents().dims)
     << (value.isInput() ? " input" : "") << (value.isOutput() ? " output" : "")
     << ' ';
  printQuoted(os, value.getModelName());
  if (const Stored *extents = value.getExtents()) {
    os << " extents ";
    printName(os, extents->getName());
  }
  printClassNames(os, value.getClassNames());
  printInputExtents(os, value.getInputExtents());
}

/// Where the bytes of large constants go. Constants of at most inlineLimit
/// elements are printed as `[1, 2.5, ...]` (floats so that they read back
/// exactly), larger ones as `external OFFSET` (bytes into the side file, a
/// multiple of 64), or as `elided` where there is no side file; a text with
/// elided constants can be read by people and is refused by the parsers.
class ConstantWriter {
public:
  static constexpr int64_t inlineLimit = 16;
  /// \p sideFile: null for `elided`.
  explicit ConstantWriter(llvm::raw_ostream *sideFile) : sideFile(sideFile) {}
  void print(llvm::raw_ostream &os, const Tensor &tensor);

private:
  llvm::raw_ostream *sideFile;
  uint64_t offset = 0;
};

struct Token {
  enum Kind {
    Eof,
    Identifier, // alloc, Convolution, float
    Name,       // %x: text is the name, unescaped
    String,     // "x": unescaped
    Integer,    // -12
    Float,      // 1.5, 1e-05, -inf
    Digits,     // 1x224x224x3 in a type, 0x7FC00001 (bits) as a float
    Punctuation // one of ( ) { } [ ] < > = , : ; @ or ->
  };
  Kind kind = Eof;
  std::string text;
  unsigned line = 1;
  unsigned column = 1;
};

/// A cursor over the tokens of a text form, which outlives it. `//` begins a
/// comment. The text may be malformed: shapes and sizes are checked before
/// memory is taken for them. All errors are "FILE:LINE:COLUMN: WHAT".
class TextParser {
public:
  using ParseBody = llvm::function_ref<llvm::Expected<std::shared_ptr<Body>>()>;

  /// \p sideFile: the external constants; null when there is none.
  TextParser(llvm::StringRef text, std::string fileName,
             std::shared_ptr<llvm::MemoryBuffer> sideFile);

  const Token &peek() const { return token; }
  bool atEnd() const { return token.kind == Token::Eof; }
  llvm::Error error(const llvm::Twine &what) const;
  /// An error when something follows, or could not be read.
  llvm::Error expectEnd() const {
    return atEnd() && lexError.empty() ? llvm::Error::success()
                                       : error("expected the end");
  }

  /// Consumes punctuation or an identifier spelled \p text, if it is next.
  bool consumeIf(llvm::StringRef text);
  llvm::Error expect(llvm::StringRef text);
  llvm::Expected<std::string> parseIdentifier(llvm::StringRef what);
  llvm::Expected<std::string> parseName();
  llvm::Expected<std::string> parseString();
  llvm::Expected<int64_t> parseInt();
  llvm::Expected<double> parseDouble();
  llvm::Expected<std::vector<int64_t>> parseInts();
  llvm::Expected<ElemKind> parseKind();
  llvm::Expected<Type> parseType();
  /// `: float<2x3>`
  llvm::Expected<Type> parseColonType();
  /// `[float<2x3>, int64<>]`
  llvm::Expected<std::vector<Type>> parseTypes();
  /// `{alpha = 0.5, axes = [1, 2]}`
  llvm::Expected<NamedValues> parseNamedValues();
  /// A program of \p numInputs inputs; when that is not known, the number of
  /// the first step's value tells. Whether the steps fit together is for
  /// ScalarProgram::check.
  llvm::Expected<ScalarProgram>
  parseProgram(std::optional<unsigned> numInputs = std::nullopt);
  /// The optional `{name = value, ...}` after an operator of \p info;
  /// attributes that are absent take their defaults or are refused.
  /// \p numInputs: inputs of a Program attribute, if they are known.
  /// \p parseBody parses a Body attribute.
  llvm::Expected<std::vector<AttrValue>>
  parseAttrs(const OpInfo &info,
             std::optional<unsigned> numInputs = std::nullopt,
             ParseBody parseBody = nullptr);
  /// The elements of a list in \p open and \p close, separated by commas.
  llvm::Error parseList(llvm::StringRef open, llvm::StringRef close,
                        llvm::function_ref<llvm::Error()> parseElement);
  /// Parses such a list and appends the elements that \p parseElement returns
  /// to \p elements.
  template <typename List, typename ParseElement>
  llvm::Error parseListInto(List &elements, llvm::StringRef open,
                            llvm::StringRef close, ParseElement parseElement) {
    return parseList(open, close, [&]() -> llvm::Error {
      GLOWISH_ASSIGN_OR_RETURN(auto element, parseElement());
      elements.push_back(std::move(element));
      return llvm::Error::success();
    });
  }
  /// Parses what printClassNames prints, which may be nothing.
  llvm::Expected<std::vector<std::string>> parseClassNames();
  /// What printInputExtents prints.
  llvm::Expected<InputExtents> parseInputExtents();
  /// `[...]`, `external OFFSET`; the tensor of \p type.
  llvm::Expected<Tensor> parseConstant(const Type &type);

private:
  /// Reads the next token; a malformed one is remembered as an Eof token with
  /// a message that error() reports.
  void advance();
  void skipBlanks();
  void lexNumber();
  void lexQuoted();
  void fail(const llvm::Twine &what);
  char charAt(size_t ahead = 0) const {
    return position + ahead < text.size() ? text[position + ahead] : '\0';
  }

  /// A number of T's range, or a bool.
  template <typename T> llvm::Expected<T> parseElement();
  llvm::Error parseShape(ElemKind kind, Dims &shape, ExtentList &extents);
  llvm::Expected<Extent> parseBracedExtent();
  llvm::Expected<QuantParams> parseQuantParams(DimsRef shape);
  llvm::Expected<CustomAttr> parseCustom(const AttrInfo &info);
  llvm::Expected<AttrValue> parseAttrValue(const AttrInfo &info,
                                           std::optional<unsigned> numInputs,
                                           ParseBody parseBody);
  llvm::Expected<NamedValue::Content> parseNamedContent();
  llvm::Expected<NamedValue::Content> parseNamedList();
  llvm::Expected<unsigned> parseValueNumber();
  llvm::Expected<ScalarStep> parseStep();
  template <typename T> llvm::Expected<Tensor> parseInline(const Type &type);
  llvm::Expected<Tensor> parseExternal(const Type &type);

  llvm::StringRef text;
  size_t position = 0;
  unsigned line = 1;
  size_t lineStart = 0;
  std::string fileName;
  std::shared_ptr<llvm::MemoryBuffer> sideFile;
  Token token;
  std::string lexError;
};

} // namespace glowish

#endif // GLOWISH_OPS_TEXTFORM_H
