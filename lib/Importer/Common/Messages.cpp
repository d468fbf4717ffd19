//===- Messages.cpp - What importers say alike ----------------------------===//

#include "Common/Messages.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;

std::string glowish::cleanMessage(llvm::StringRef message) {
  constexpr size_t maxLineLength = 1000;
  std::vector<std::string> lines;
  for (llvm::StringRef line : llvm::split(message, '\n')) {
    std::string text = escapeControls(line.take_front(maxLineLength));
    if (line.size() > maxLineLength)
      text += "...";
    if (lines.empty() || line.starts_with("node "))
      lines.push_back(std::move(text));
    else if (lines.back().size() < maxLineLength)
      lines.back() += "\\x0A" + text;
  }
  return llvm::join(lines, "\n");
}

std::string glowish::describeNode(llvm::StringRef name, llvm::StringRef type) {
  std::string quoted = quote(type);
  return "node " + quote(name) + " (" + quoted.substr(1, quoted.size() - 2) +
         ")";
}

llvm::Error glowish::refuseOperators(llvm::ArrayRef<std::string> nodes) {
  if (nodes.empty())
    return llvm::Error::success();
  return makeError("{0} {1} that {2} not supported:\n{3}", nodes.size(),
                   nodes.size() == 1 ? "node has an operator"
                                     : "nodes have operators",
                   nodes.size() == 1 ? "is" : "are", llvm::join(nodes, "\n"));
}

llvm::Error glowish::checkStatedInputs(const ImportOptions &options,
                                       llvm::ArrayRef<std::string> inputs,
                                       llvm::ArrayRef<std::string> others) {
  auto check = [&](llvm::StringRef origin,
                   const std::string &name) -> llvm::Error {
    if (llvm::is_contained(inputs, name) || llvm::is_contained(others, name))
      return llvm::Error::success();
    std::vector<std::string> quoted;
    for (const std::string &input : inputs)
      quoted.push_back(quote(input));
    return makeError("{0}: the model has no input {1}; it has {2}", origin,
                     quote(name),
                     quoted.empty() ? "none" : llvm::join(quoted, ", "));
  };
  for (const auto &[name, type] : options.inputTypes)
    GLOWISH_RETURN_IF_ERROR(check("«model-input»", name));
  for (const auto &[name, tensor] : options.constantInputs)
    GLOWISH_RETURN_IF_ERROR(check("a constant input", name));
  for (const auto &[name, text] : options.constantTexts)
    GLOWISH_RETURN_IF_ERROR(check("a constant input", name));
  return llvm::Error::success();
}

llvm::Error glowish::checkStatedSymbols(const ImportOptions &options,
                                        std::set<std::string> named) {
  named.insert(options.typeSymbols.begin(), options.typeSymbols.end());
  auto check = [&](const std::string &symbol,
                   const std::string &value) -> llvm::Error {
    if (named.contains(symbol))
      return llvm::Error::success();
    std::vector<std::string> quoted;
    for (const std::string &name : named)
      quoted.push_back(quote(name));
    return makeError("no dimension of an input is {0}, for which "
                     "«define-symbol» (or «train-define-symbol») gives {1}; "
                     "accepted: {2}symbols in the types that "
                     "«model-input=NAME,TYPE,[{3},...]» states",
                     quote(symbol), value,
                     quoted.empty() ? "" : llvm::join(quoted, ", ") + ", and ",
                     symbol);
  };
  for (const auto &[name, value] : options.symbols)
    GLOWISH_RETURN_IF_ERROR(check(name, std::to_string(value)));
  for (const auto &[name, range] : options.symbolRanges)
    GLOWISH_RETURN_IF_ERROR(
        check(name, llvm::formatv("{0}..{1}", range.low, range.high)));
  return llvm::Error::success();
}
