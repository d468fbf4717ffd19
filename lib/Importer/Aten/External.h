//===- External.h - External operators in PyTorch's programs ----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ATEN_EXTERNAL_H
#define GLOWISH_LIB_IMPORTER_ATEN_EXTERNAL_H

#include "Aten/Schema.h"
#include "Common/External.h"

namespace glowish::aten {

/// The external operator \p name, "mylib::foo" or "mylib::foo.overload", that
/// \p options declare, or null. One without an overload stands for all of them.
const ExternalOperator *findExternalAten(const ImportOptions &options,
                                         llvm::StringRef name);

/// An argument of a program by the name that the operator has for it.
struct NamedAtenValue {
  std::string name;
  AtenValue value;
};

/// An argument or a result of an operator's schema.
struct SharedArgument {
  std::string name;
  /// The set of values that share its memory: "a" of Tensor(a!); empty if there
  /// are no others, "*" for any.
  std::string aliasSet;
  bool isWritten = false;
};

/// The effects of an external operator on its arguments. The results of its
/// function are those of the schema that are new tensors, then the new elements
/// of each argument that it writes.
struct ExternalEffects {
  /// For each result of the schema the position of the argument that it is,
  /// which is written; none for a new tensor.
  std::vector<std::optional<unsigned>> results;
  /// The positions of the arguments that are written.
  std::vector<unsigned> written;

  unsigned getNumNew() const {
    return unsigned(llvm::count(results, std::nullopt));
  }
};

/// Returns the effects of an operator with these arguments and results. A
/// result that shares memory otherwise than by being an argument that is
/// written, such as a view, is an error.
llvm::Expected<ExternalEffects>
findExternalEffects(llvm::ArrayRef<SharedArgument> arguments,
                    llvm::ArrayRef<SharedArgument> results);

/// Returns whether the schema of \p op, if it has one, says that it writes an
/// argument.
llvm::Expected<bool> writesArguments(const ExternalOperator &op);

/// Imports a use of \p op: tensors, also those of lists, are inputs in the
/// order of \p arguments, all else are attributes (true and false: 1 and 0).
/// Where the operator has a schema, a tensor that is None is an absent input,
/// and arguments that are not stated have their defaults. Returns at least
/// \p numResults results.
llvm::Expected<AtenValue::List> importExternalAten(
    const ExternalOperator &op, Function &function, llvm::StringRef name,
    llvm::ArrayRef<NamedAtenValue> arguments, unsigned numResults);

} // namespace glowish::aten

#endif // GLOWISH_LIB_IMPORTER_ATEN_EXTERNAL_H
