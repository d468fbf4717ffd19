//===- Schema.h - Schemas of ATen's operators -------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ATEN_SCHEMA_H
#define GLOWISH_LIB_IMPORTER_ATEN_SCHEMA_H

#include "Aten/Value.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include <optional>

namespace glowish::aten {

/// Describes values of Python that are no tensors, in messages.
struct ScalarDescriber {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(int64_t number) const {
    return llvm::formatv("the int {0}", number);
  }
  std::string operator()(double number) const {
    return llvm::formatv("the float {0}", number);
  }
  std::string operator()(bool flag) const { return flag ? "True" : "False"; }
  std::string operator()(const std::string &) const { return "a string"; }
  std::string operator()(const Extent &extent) const {
    return "the extent " + extent.describe() + ", which a run decides";
  }
};

/// The type of an argument or a result.
struct AtenType {
  enum class Base {
    Tensor,
    Int,
    Float,
    Bool,
    /// Scalar: an int, a float or a bool.
    Number,
    String,
    /// ScalarType: the element kind of a tensor.
    Kind,
    /// An object of C++, such as packed weights: the list of what it holds.
    Object,
    /// Devices, layouts, memory formats and generators, which don't change any
    /// result.
    Ignored,
  };
  Base base = Base::Tensor;
  bool isList = false, isOptional = false;
  /// Whether ints may be extents that a run decides.
  bool isSymbolic = false;

  /// Returns whether \p value, or each of its elements, is of this type.
  bool accepts(const AtenValue &value) const;
  /// Returns the type as schemas spell it, such as "int[]?".
  std::string str() const;
};

/// An argument or a result of an operator.
struct AtenArgument {
  /// The name, which is empty for most results.
  std::string name;
  AtenType type;
  /// The value of an argument that a program may leave out.
  std::optional<AtenValue> fallback;
  /// The set of values that share its memory; empty if there are no others.
  std::string aliasSet;
  /// Whether the operator writes to its memory.
  bool isWritten = false;
};

/// Name, arguments and results of an operator, as PyTorch's documentation and
/// its programs state them: `add.Tensor(Tensor self, Tensor other, *, Scalar
/// alpha=1) -> Tensor`.
struct AtenSchema {
  /// The name, without "aten::" but with any other namespace.
  std::string name;
  /// The overload, which is empty if there is just one operator of the name.
  std::string overload;
  std::vector<AtenArgument> arguments, results;

  /// Returns the name with the overload, such as "add.Tensor" or "relu".
  std::string getFullName() const {
    return overload.empty() ? name : name + "." + overload;
  }
  /// Returns the position of argument \p argument, if there is one of the name.
  std::optional<unsigned> findArgument(llvm::StringRef argument) const;
};

/// Reads \p text in the notation above. A SymInt may be an extent that a run
/// decides; extents of lists, as in int[2], are accepted and not kept.
llvm::Expected<AtenSchema> parseAtenSchema(llvm::StringRef text);

} // namespace glowish::aten

#endif // GLOWISH_LIB_IMPORTER_ATEN_SCHEMA_H
