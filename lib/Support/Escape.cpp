//===- Escape.cpp - Texts of files in messages ----------------------------===//

#include "glowish/Support/Escape.h"
#include "llvm/ADT/StringExtras.h"

std::string glowish::escapeControls(llvm::StringRef text) {
  std::string result;
  for (unsigned char c : text)
    if ((c < 0x20 && c != '\n') || c == 0x7f)
      result += {'\\', 'x', llvm::hexdigit(c >> 4), llvm::hexdigit(c & 15)};
    else
      result += char(c);
  return result;
}

std::string glowish::quote(llvm::StringRef text) {
  constexpr size_t longest = 200;
  std::string start = escapeControls(text.take_front(longest));
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(start).split(lines, '\n');
  return "'" + llvm::join(lines, "\\x0A") +
         (text.size() > longest ? "...'" : "'");
}
