//===- Escape.cpp - Texts of files in messages ----------------------------===//

#include "glowish/Support/Escape.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include <algorithm>

/// The bytes of the character of UTF-8 that \p text begins with, which may be
/// shown as it is; 0 if there is none.
static size_t getShownBytes(llvm::StringRef text) {
  auto *bytes = reinterpret_cast<const llvm::UTF8 *>(text.data());
  size_t count = llvm::getNumBytesForUTF8(bytes[0]);
  if (count > text.size() || !llvm::isLegalUTF8Sequence(bytes, bytes + count) ||
      bytes[0] == 0x7f || (bytes[0] < 0x20 && bytes[0] != '\n'))
    return 0;
  // U+0080 to U+009F are control characters, too.
  return bytes[0] == 0xc2 && bytes[1] < 0xa0 ? 0 : count;
}

std::string glowish::escapeControls(llvm::StringRef text) {
  std::string result;
  while (!text.empty()) {
    size_t count = getShownBytes(text);
    if (count) {
      result += text.take_front(count);
    } else {
      auto byte = uint8_t(text.front());
      count = 1;
      result +=
          {'\\', 'x', llvm::hexdigit(byte >> 4), llvm::hexdigit(byte & 15)};
    }
    text = text.drop_front(count);
  }
  return result;
}

std::string glowish::quote(llvm::StringRef text) {
  constexpr size_t longest = 200;
  size_t end = std::min(longest, text.size());
  // Not within a character, which has four bytes at most.
  while (end < text.size() && end + 3 > longest &&
         (uint8_t(text[end]) & 0xc0) == 0x80)
    --end;
  std::string start = escapeControls(text.take_front(end));
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(start).split(lines, '\n');
  return "'" + llvm::join(lines, "\\x0A") + (end < text.size() ? "...'" : "'");
}

std::string glowish::joinWords(llvm::ArrayRef<std::string> words,
                               llvm::StringRef last) {
  if (words.size() < 2)
    return words.empty() ? "" : words.front();
  return llvm::join(words.drop_back(), ", ") + " " + last.str() + " " +
         words.back();
}
