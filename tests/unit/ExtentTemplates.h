//===- ExtentTemplates.h - Texts with extents and without -------*- C++ -*-===//
//
// In a template `7{N + 1}` is a dimension with an extent, and `7?{N + 1}` one
// that has the bound where others have extents: an output, an attribute.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_UNIT_EXTENTTEMPLATES_H
#define GLOWISH_TESTS_UNIT_EXTENTTEMPLATES_H

#include "glowish/Base/Extent.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "gtest/gtest.h"
#include <map>
#include <string>

namespace glowish {

/// The values of symbols.
using ExtentValues = std::map<std::string, int64_t, std::less<>>;

inline std::optional<int64_t> evaluate(const Extent &extent,
                                       const ExtentValues &values) {
  return extent.evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
    return values.find(symbol)->second;
  });
}

/// Replaces each bound with an extent in \p text, `7{N + 1}`, by what \p
/// replace gives for its two parts. Between them may be a question mark.
inline std::string replaceExtents(
    llvm::StringRef text,
    llvm::function_ref<std::string(llvm::StringRef bound, bool isHidden,
                                   llvm::StringRef extent)>
        replace) {
  std::string result;
  for (;;) {
    size_t open = text.find('{');
    // Braces of attributes are behind a space.
    while (open != llvm::StringRef::npos && text[open - 1] == ' ')
      open = text.find('{', open + 1);
    if (open == llvm::StringRef::npos)
      return result + text.str();
    llvm::StringRef before = text.take_front(open);
    bool isHidden = before.consume_back("?");
    llvm::StringRef rest = before.rtrim("0123456789");
    size_t close = text.find('}', open);
    result += rest.str() + replace(before.drop_front(rest.size()), isHidden,
                                   text.slice(open + 1, close));
    text = text.drop_front(close + 1);
  }
}

/// The text with extents: `7{N}` stays, `7?{N}` becomes 7.
inline std::string makeOpen(llvm::StringRef text) {
  return replaceExtents(
      text, [](llvm::StringRef bound, bool isHidden, llvm::StringRef extent) {
        return isHidden ? bound.str() : (bound + "{" + extent + "}").str();
      });
}

/// The text for \p values: `7{N}` and `7?{N}` become the value of N.
inline std::string makeStatic(llvm::StringRef text,
                              const ExtentValues &values) {
  return replaceExtents(text,
                        [&](llvm::StringRef, bool, llvm::StringRef extent) {
                          std::optional<Extent> parsed = Extent::parse(extent);
                          EXPECT_TRUE(parsed) << extent.str();
                          return std::to_string(*evaluate(*parsed, values));
                        });
}

/// The text with all dimensions as they are at most.
inline std::string makeBounds(llvm::StringRef text) {
  return replaceExtents(text, [](llvm::StringRef bound, bool, llvm::StringRef) {
    return bound.str();
  });
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_EXTENTTEMPLATES_H
