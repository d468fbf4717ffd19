//===- ReservedNames.cpp - Names not allowed in a bundle ------------------===//

#include "glowish/Backends/CPU/Bundle.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"

using namespace glowish;

/// Of C up to C23 and C++ up to C++20, and macros that compilers predefine.
static constexpr llvm::StringLiteral keywords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch "
    "char char16_t char32_t char8_t class co_await co_return co_yield compl "
    "concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast else enum explicit export extern "
    "false float for friend goto i386 if inline int linux long main mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private "
    "protected public register reinterpret_cast requires restrict return short "
    "signed sizeof static static_assert static_cast struct switch template "
    "this thread_local throw true try typedef typeid typename typeof "
    "typeof_unqual union unix unsigned using virtual void volatile wchar_t "
    "while xor xor_eq";

/// The names that no header may declare behind the standard ones, and these,
/// without ".h".
#define STANDARD_NAMES(TEXT)                                                   \
  static constexpr llvm::StringLiteral standardNames = TEXT;
#define STANDARD_HEADERS(TEXT)                                                 \
  static constexpr llvm::StringLiteral standardHeaders = TEXT;
#include "StandardNames.def"
#undef STANDARD_NAMES
#undef STANDARD_HEADERS

/// Whether \p word is one of \p words, which are in order, with a space between
/// them. (A set of them would take longer to make than a small network.)
static bool hasWord(llvm::StringRef words, llvm::StringRef word) {
  while (!words.empty()) {
    size_t begin = words.rfind(' ', words.size() / 2) + 1;
    llvm::StringRef middle = words.substr(begin).split(' ').first;
    int order = word.compare(middle);
    if (order == 0)
      return true;
    words = order < 0 ? words.take_front(begin).drop_back(begin ? 1 : 0)
                      : words.substr(begin).drop_front(middle.size()).ltrim();
  }
  return false;
}

bool glowish::isCIdentifier(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; }) &&
         !hasWord(keywords, name);
}

std::string glowish::legalizeName(llvm::StringRef name) {
  std::string text = name.empty() ? "A" : name.str();
  for (char &c : text)
    if (!llvm::isAlnum(c))
      c = '_';
  return llvm::isDigit(text[0]) ? "A" + text : text;
}

std::string glowish::getEntryName(llvm::StringRef name,
                                  llvm::StringRef function) {
  return name.str() + "_" + legalizeName(function);
}

/// C leaves such names to compilers and their libraries, which code may call
/// (__divdi3).
static bool isCompilersName(llvm::StringRef name) {
  return name.starts_with("__") ||
         (name.size() > 1 && name[0] == '_' && llvm::isUpper(name[1])) ||
         name == "_start" || name == "_init" || name == "_fini" ||
         name == "_end";
}

/// Whether a standard header has the name, or code that LLVM makes may call it:
/// the linker would give a program that calls memcpy the bundle's function.
static bool isLibraryName(llvm::StringRef name) {
  static const llvm::TargetLibraryInfoImpl library;
  llvm::LibFunc function;
  return hasWord(standardNames, name) || library.getLibFunc(name, function);
}

std::string glowish::explainReservedName(llvm::StringRef name) {
  if (isLibraryName(name))
    return "is a name of the library of C or C++";
  if (isCompilersName(name))
    return "is reserved for compilers and their libraries";
  return "";
}

std::string glowish::explainReservedNetwork(llvm::StringRef name) {
  if (hasWord(standardHeaders, name))
    return ("has the header " + name + ".h, as the library of C has").str();
  return "";
}

llvm::Error glowish::checkBundleNames(const BundleOptions &options) {
  const std::string &network = options.networkName, &entry = options.entryName;
  if (!isCIdentifier(network))
    return makeError("«network-name='{0}'» is not a C identifier; state one",
                     network);
  if (!isCIdentifier(entry))
    return makeError("«main-entry-name='{0}'» is not a C identifier", entry);
  std::string reason = explainReservedNetwork(network);
  if (!reason.empty())
    return makeError("«network-name='{0}'» {1}; state another one", network,
                     reason);
  reason = explainReservedName(entry);
  if (reason.empty())
    return llvm::Error::success();
  if (entry == network)
    return makeError("«network-name='{0}'», which names the entry, {1}; state "
                     "another one, or the entry's with «main-entry-name»",
                     network, reason);
  return makeError("«main-entry-name='{0}'» {1}; state another one", entry,
                   reason);
}
