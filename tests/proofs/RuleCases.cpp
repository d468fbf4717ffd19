//===- RuleCases.cpp - Graphs to which rewrites apply ---------------------===//

#include "RuleCases.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace glowish;
using namespace glowish::proofs;

/// Graphs with more combinations would take minutes.
static constexpr size_t maxCombinations = 32768;

static bool isNameChar(char c) { return llvm::isAlnum(c); }

/// The alternatives in \p text, which begins behind "$NAME": "(A|B)". Empty
/// where it is not that. \p length: of all with the parentheses.
static llvm::SmallVector<llvm::StringRef, 8>
readAlternatives(llvm::StringRef text, size_t &length) {
  llvm::SmallVector<llvm::StringRef, 8> alternatives;
  size_t begin = 1;
  unsigned depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(';
    if (depth == 0)
      return {};
    bool isEnd = text[i] == ')' && --depth == 0;
    if (isEnd || (text[i] == '|' && depth == 1)) {
      alternatives.push_back(text.slice(begin, i));
      begin = i + 1;
    }
    length = i + 1;
    if (isEnd)
      return alternatives;
  }
  return {};
}

/// Replaces the first `$NAME(A|B)` of \p text and all later `$NAME` by each of
/// the alternatives, and so on.
static llvm::Error expand(const RuleCase &pattern,
                          std::vector<RuleCase> &expanded,
                          llvm::StringRef path) {
  auto fail = [&](const llvm::Twine &why) {
    return makeError("{0}:{1}: {2}", path, pattern.line, why.str());
  };
  llvm::StringRef text = pattern.text;
  size_t at = text.find('$');
  if (at == llvm::StringRef::npos) {
    expanded.push_back(pattern);
    if (expanded.size() > maxCombinations)
      return fail("more than " + llvm::Twine(maxCombinations) +
                  " combinations");
    return llvm::Error::success();
  }
  llvm::StringRef name = text.substr(at + 1).take_while(isNameChar);
  llvm::StringRef rest = text.substr(at + 1 + name.size());
  size_t length = 0;
  auto alternatives = readAlternatives(rest, length);
  if (name.empty() || alternatives.empty())
    return fail("expected '$NAME(A|B)' where NAME is first used");
  for (llvm::StringRef alternative : alternatives) {
    RuleCase chosen = pattern;
    std::string later = rest.substr(length).str();
    std::string marker = ("$" + name).str();
    for (size_t i = 0; (i = later.find(marker, i)) != std::string::npos;) {
      size_t after = i + marker.size();
      bool isWhole = after == later.size() || !isNameChar(later[after]);
      if (isWhole)
        later.replace(i, marker.size(), alternative.str());
      i += isWhole ? alternative.size() : marker.size();
    }
    chosen.text = (text.take_front(at) + alternative).str() + later;
    GLOWISH_RETURN_IF_ERROR(expand(chosen, expanded, path));
  }
  return llvm::Error::success();
}

llvm::Expected<RuleCases> proofs::readRuleCases(llvm::StringRef text,
                                                llvm::StringRef path) {
  RuleCases result;
  std::vector<RuleCase> patterns;
  llvm::SmallVector<llvm::StringRef, 0> lines;
  text.split(lines, '\n');
  for (auto [i, line] : llvm::enumerate(lines)) {
    llvm::StringRef rule = line;
    if (rule.consume_front("===")) {
      patterns.push_back({rule.trim().str(), "", unsigned(i + 1)});
      continue;
    }
    if (line.starts_with("#"))
      continue;
    if (line.starts_with("!")) {
      auto [name, reason] = line.drop_front().split(": ");
      result.reasons[name.str()] = reason.str();
      continue;
    }
    if (!patterns.empty())
      patterns.back().text += line.str() + "\n";
    else if (!line.trim().empty())
      return makeError("{0}:{1}: expected '=== RULE'", path, i + 1);
  }
  for (RuleCase &pattern : patterns) {
    pattern.text = "module \"case\"\n" + pattern.text;
    std::vector<RuleCase> expanded;
    GLOWISH_RETURN_IF_ERROR(expand(pattern, expanded, path));
    llvm::append_range(result.cases, expanded);
  }
  return result;
}
