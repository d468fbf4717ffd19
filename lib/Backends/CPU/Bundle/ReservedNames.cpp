//===- ReservedNames.cpp - Names not allowed in a bundle ------------------===//

#include "glowish/Backends/CPU/Bundle.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"

using namespace glowish;

/// Of C up to C23 and C++ up to C++20, and macros that compilers predefine.
static bool isKeyword(llvm::StringRef name) {
  static const llvm::StringSet<> keywords = {"alignas",     "alignof",
                                             "and",         "and_eq",
                                             "asm",         "auto",
                                             "bitand",      "bitor",
                                             "bool",        "break",
                                             "case",        "catch",
                                             "char",        "char16_t",
                                             "char32_t",    "char8_t",
                                             "class",       "co_await",
                                             "co_return",   "co_yield",
                                             "compl",       "concept",
                                             "const",       "const_cast",
                                             "consteval",   "constexpr",
                                             "constinit",   "continue",
                                             "decltype",    "default",
                                             "delete",      "do",
                                             "double",      "dynamic_cast",
                                             "else",        "enum",
                                             "explicit",    "export",
                                             "extern",      "false",
                                             "float",       "for",
                                             "friend",      "goto",
                                             "i386",        "if",
                                             "inline",      "int",
                                             "linux",       "long",
                                             "main",        "mutable",
                                             "namespace",   "new",
                                             "noexcept",    "not",
                                             "not_eq",      "nullptr",
                                             "operator",    "or",
                                             "or_eq",       "private",
                                             "protected",   "public",
                                             "register",    "reinterpret_cast",
                                             "requires",    "restrict",
                                             "return",      "short",
                                             "signed",      "sizeof",
                                             "static",      "static_assert",
                                             "static_cast", "struct",
                                             "switch",      "template",
                                             "this",        "thread_local",
                                             "throw",       "true",
                                             "try",         "typedef",
                                             "typeid",      "typename",
                                             "typeof",      "typeof_unqual",
                                             "union",       "unix",
                                             "unsigned",    "using",
                                             "virtual",     "void",
                                             "volatile",    "wchar_t",
                                             "while",       "xor",
                                             "xor_eq"};
  return keywords.contains(name);
}

bool glowish::isCIdentifier(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; }) &&
         !isKeyword(name);
}

std::string glowish::legalizeName(llvm::StringRef name) {
  std::string text = name.empty() ? "A" : name.str();
  for (char &c : text)
    if (!llvm::isAlnum(c))
      c = '_';
  return llvm::isDigit(text[0]) ? "A" + text : text;
}

/// Functions of C99 that LLVM's list of library functions lacks.
static bool isOtherLibraryFunction(llvm::StringRef name) {
  static const llvm::StringSet<> functions = {
      "abort",
      "asctime",
      "bsearch",
      "btowc",
      "cacos",
      "cacosh",
      "carg",
      "casin",
      "casinh",
      "catan",
      "catanh",
      "ccos",
      "ccosh",
      "cexp",
      "cimag",
      "clock",
      "clog",
      "conj",
      "cpow",
      "cproj",
      "creal",
      "csin",
      "csinh",
      "csqrt",
      "ctan",
      "ctanh",
      "ctime",
      "difftime",
      "div",
      "erfc",
      "exit",
      "fdim",
      "feclearexcept",
      "fegetenv",
      "fegetexceptflag",
      "fegetround",
      "feholdexcept",
      "feraiseexcept",
      "fesetenv",
      "fesetexceptflag",
      "fesetround",
      "fetestexcept",
      "feupdateenv",
      "fgetwc",
      "fgetws",
      "fma",
      "fputwc",
      "fputws",
      "freopen",
      "fwide",
      "fwprintf",
      "fwscanf",
      "getwc",
      "getwchar",
      "gmtime",
      "hypot",
      "ilogb",
      "imaxabs",
      "imaxdiv",
      "isalnum",
      "isalpha",
      "isblank",
      "iscntrl",
      "isgraph",
      "islower",
      "isprint",
      "ispunct",
      "isspace",
      "isupper",
      "iswalnum",
      "iswalpha",
      "iswblank",
      "iswcntrl",
      "iswctype",
      "iswdigit",
      "iswgraph",
      "iswlower",
      "iswprint",
      "iswpunct",
      "iswspace",
      "iswupper",
      "iswxdigit",
      "isxdigit",
      "ldiv",
      "lgamma",
      "lldiv",
      "llrint",
      "llround",
      "localeconv",
      "localtime",
      "longjmp",
      "lrint",
      "lround",
      "mblen",
      "mbrlen",
      "mbrtowc",
      "mbsinit",
      "mbsrtowcs",
      "mbstowcs",
      "mbtowc",
      "nan",
      "nextafter",
      "nexttoward",
      "putwc",
      "putwchar",
      "raise",
      "rand",
      "scalbln",
      "scalbn",
      "setjmp",
      "setlocale",
      "signal",
      "srand",
      "strerror",
      "strftime",
      "strtoimax",
      "strtoumax",
      "swprintf",
      "swscanf",
      "tgamma",
      "time",
      "tmpnam",
      "tolower",
      "toupper",
      "towctrans",
      "towlower",
      "towupper",
      "ungetwc",
      "vfwprintf",
      "vfwscanf",
      "vswprintf",
      "vswscanf",
      "vwprintf",
      "vwscanf",
      "wcrtomb",
      "wcscat",
      "wcschr",
      "wcscmp",
      "wcscoll",
      "wcscpy",
      "wcscspn",
      "wcsftime",
      "wcsncat",
      "wcsncmp",
      "wcsncpy",
      "wcspbrk",
      "wcsrchr",
      "wcsrtombs",
      "wcsspn",
      "wcsstr",
      "wcstod",
      "wcstof",
      "wcstoimax",
      "wcstok",
      "wcstol",
      "wcstold",
      "wcstoll",
      "wcstombs",
      "wcstoul",
      "wcstoull",
      "wcstoumax",
      "wcsxfrm",
      "wctob",
      "wctomb",
      "wctrans",
      "wctype",
      "wmemchr",
      "wmemcmp",
      "wmemcpy",
      "wmemmove",
      "wmemset",
      "wprintf",
      "wscanf",
  };
  return functions.contains(name);
}

/// A bundle's object calls such functions (memcpy), and a program that links
/// the bundle may: the linker would give both the bundle's.
static bool isLibraryFunction(llvm::StringRef name) {
  llvm::LibFunc function;
  return llvm::TargetLibraryInfoImpl().getLibFunc(name, function) ||
         isOtherLibraryFunction(name);
}

/// C leaves such names to compilers and their libraries, which code may call
/// (__divdi3).
static bool isCompilersName(llvm::StringRef name) {
  return name.starts_with("__") ||
         (name.size() > 1 && name[0] == '_' && llvm::isUpper(name[1])) ||
         name == "_start" || name == "_init" || name == "_fini" ||
         name == "_end";
}

std::string glowish::explainReservedName(llvm::StringRef name) {
  if (isLibraryFunction(name))
    return "is a function of the C library";
  if (isCompilersName(name))
    return "is reserved for compilers and their libraries";
  return "";
}

llvm::Error glowish::checkBundleNames(const BundleOptions &options) {
  const std::string &network = options.networkName, &entry = options.entryName;
  if (!isCIdentifier(network))
    return makeError("-network-name='{0}' is not a C identifier; state one",
                     network);
  if (!isCIdentifier(entry))
    return makeError("-main-entry-name='{0}' is not a C identifier", entry);
  std::string reason = explainReservedName(entry);
  if (reason.empty())
    return llvm::Error::success();
  if (entry == network)
    return makeError("-network-name='{0}', which names the entry, {1}; state "
                     "another one, or the entry's with -main-entry-name",
                     network, reason);
  return makeError("-main-entry-name='{0}' {1}; state another one", entry,
                   reason);
}
