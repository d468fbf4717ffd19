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
