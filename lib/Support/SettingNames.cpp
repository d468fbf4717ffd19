//===- SettingNames.cpp - Settings in messages ----------------------------===//

#include "glowish/Support/SettingNames.h"
#include "glowish/Support/Error.h"

using namespace glowish;

static constexpr llvm::StringLiteral opening = "«", closing = "»";

std::string glowish::nameSetting(const llvm::Twine &name,
                                 const llvm::Twine &value) {
  return (opening + name + "=" + value + closing).str();
}

/// Returns the place of the mark that closes the one which \p text is behind;
/// npos if there is none. A value may have such marks in pairs.
static size_t findClosing(llvm::StringRef text) {
  size_t depth = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text.substr(i).starts_with(opening);
    depth -= text.substr(i).starts_with(closing);
    if (depth == 0)
      return i;
  }
  return llvm::StringRef::npos;
}

std::string glowish::spellSettings(llvm::StringRef message,
                                   SettingSpelling spell) {
  std::string result;
  while (true) {
    auto [front, rest] = message.split(opening);
    result += front;
    size_t end = findClosing(rest);
    if (end == llvm::StringRef::npos)
      return result + message.substr(front.size()).str();
    auto [name, value] = rest.take_front(end).split('=');
    result +=
        spell(name, name.size() < end ? std::optional(value) : std::nullopt);
    message = rest.substr(end + closing.size());
  }
}

llvm::Error glowish::spellSettings(llvm::Error error, SettingSpelling spell) {
  llvm::Error result = llvm::Error::success();
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    result =
        llvm::joinErrors(std::move(result),
                         makeErrorOfText(spellSettings(info.message(), spell)));
  });
  return result;
}

std::string glowish::spellAsFlag(llvm::StringRef name,
                                 std::optional<llvm::StringRef> value) {
  return "-" + spellAsOption(name, value);
}

std::string glowish::spellAsOption(llvm::StringRef name,
                                   std::optional<llvm::StringRef> value) {
  return value ? (name + "=" + *value).str() : name.str();
}
