//===- Symbols.cpp - Symbolic extents of exported programs ----------------===//

#include "TorchExport/Symbols.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::torchexport;

namespace {

/// Reads calls: Add(x, y), Symbol('s0', integer=True), Integer(2).
class CallReader {
public:
  explicit CallReader(llvm::StringRef text) : rest(text) {}

  std::optional<std::string> read() {
    std::optional<std::string> result = readTerm(0);
    return rest.trim().empty() ? result : std::nullopt;
  }

private:
  llvm::StringRef takeWord() {
    rest = rest.ltrim();
    llvm::StringRef word = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    rest = rest.drop_front(word.size());
    return word;
  }
  bool take(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  std::optional<std::string> readTerm(unsigned depth);
  std::optional<std::string> readSymbol();
  std::optional<std::vector<std::string>> readArguments(unsigned depth);

  llvm::StringRef rest;
};

} // namespace

/// Its name, without what is assumed of it.
std::optional<std::string> CallReader::readSymbol() {
  if (!take("'") && !take("\""))
    return std::nullopt;
  std::string name = takeWord().str();
  size_t end = rest.find(')');
  if (name.empty() || end == llvm::StringRef::npos)
    return std::nullopt;
  rest = rest.drop_front(end + 1);
  return name;
}

std::optional<std::vector<std::string>>
CallReader::readArguments(unsigned depth) {
  std::vector<std::string> arguments;
  while (!take(")")) {
    std::optional<std::string> argument = readTerm(depth + 1);
    if (!argument)
      return std::nullopt;
    arguments.push_back(std::move(*argument));
    if (!take(",") && !rest.ltrim().starts_with(")"))
      return std::nullopt;
  }
  return arguments;
}

std::optional<std::string> CallReader::readTerm(unsigned depth) {
  if (depth > 100)
    return std::nullopt;
  bool isNegative = take("-");
  llvm::StringRef word = takeWord();
  // Functions of PyTorch's own have the module's name before theirs.
  llvm::StringRef name =
      word.rsplit('.').second.empty() ? word : word.rsplit('.').second;
  if (!take("(")) {
    int64_t number;
    if (word.getAsInteger(10, number))
      return std::nullopt;
    return (isNegative ? "-" : "") + word.str();
  }
  if (name == "Symbol")
    return readSymbol();
  std::optional<std::vector<std::string>> arguments = readArguments(depth);
  if (!arguments || arguments->empty())
    return std::nullopt;
  if (name == "Integer" && arguments->size() == 1)
    return "(" + arguments->front() + ")";
  if (name == "Add")
    return "(" + llvm::join(*arguments, " + ") + ")";
  if (name == "Mul")
    return "(" + llvm::join(*arguments, " * ") + ")";
  if ((name == "FloorDiv" || name == "CleanDiv") && arguments->size() == 2)
    return "(" + llvm::join(*arguments, " // ") + ")";
  return std::nullopt;
}

std::optional<std::string>
torchexport::readSymbolicExtent(llvm::StringRef text) {
  if (DimExpression::parse(text))
    return text.str();
  return CallReader(text).read();
}
