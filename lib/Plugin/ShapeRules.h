//===- ShapeRules.h - Types of external operators as text -------*- C++ -*-===//
//
//   // Doubles height and width.
//   function my_upsample
//   schema "mylib::upsample(Tensor x, int factor=2) -> Tensor"
//   (float<N, C, H, W>) -> (float<N, C, "factor*H", "factor*W">)
//   (T<[S], 3>, T<>) -> (T<[S]>, int64<>)
//
// The function's name in C and PyTorch's schema may be left out. Each rule has
// the types of the inputs, then those of the results; the first that fits the
// inputs holds. A name in the place of an element kind stands for any one, one
// among the extents for an extent, [NAME] for any number of extents, `none` for
// an absent input, also at the end. A name that stands twice stands for the
// same. Extents of results, and of inputs, may be expressions in quotes
// (Base/DimExpression.h), of names and of the operator's integer attributes.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_PLUGIN_SHAPERULES_H
#define GLOWISH_LIB_PLUGIN_SHAPERULES_H

#include "glowish/Plugin/ExternalOperator.h"

namespace glowish {

/// A type in which names stand for what they are bound to.
struct TypePattern {
  struct Dim {
    enum class Form : uint8_t { Name, List, Expression };
    Form form;
    std::string text;
  };

  bool isAbsent = false;
  /// The name of an element kind, or one that stands for any.
  std::string kind;
  std::vector<Dim> dims;
};

struct ShapeRule {
  std::vector<TypePattern> inputs, results;
};

struct ShapeRules {
  /// For messages.
  std::string path;
  /// Empty if the file does not state it.
  std::string function, schema;
  std::vector<ShapeRule> rules;

  /// Parses \p text, the contents of the file \p path.
  static llvm::Expected<ShapeRules> parse(llvm::StringRef text,
                                          llvm::StringRef path);
  /// Returns the types of the results by the first rule that fits.
  llvm::Expected<TypeList> infer(const ExternalUse &use) const;
};

} // namespace glowish

#endif // GLOWISH_LIB_PLUGIN_SHAPERULES_H
