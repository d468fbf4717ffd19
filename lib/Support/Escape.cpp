//===- Escape.cpp - Texts of files in messages ----------------------------===//

#include "glowish/Support/Escape.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

std::string glowish::quoteEscaped(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  constexpr size_t longest = 40;
  llvm::printEscapedString(text.take_front(longest), os);
  return "'" + result + (text.size() > longest ? "...'" : "'");
}
