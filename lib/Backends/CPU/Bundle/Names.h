//===- Names.h - The names that a bundle declares ---------------*- C++ -*-===//
//
// The names of macros and functions in a header are composed of the network's
// name and those of its inputs, outputs and dimensions, which may be any. No
// two of them may be equal, nor equal to what the header declares for all
// bundles.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_NAMES_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_NAMES_H

#include "Header.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

namespace glowish {

/// Names that are in use.
class NameTable {
public:
  using Names = std::vector<std::string>;
  /// The names that are declared for an identifier.
  using NamesFn = llvm::function_ref<Names(llvm::StringRef identifier)>;

  /// Adds \p name. Returns whether it was unused.
  bool add(llvm::StringRef name) { return names.insert(name).second; }
  /// Returns \p name as a C identifier for which all names that \p getNames
  /// returns are unused, and adds these. A number is appended to \p name where
  /// its own are in use: NAME__1.
  std::string addIdentifier(llvm::StringRef name, NamesFn getNames);

private:
  llvm::StringSet<> names;
};

/// The dimension \p symbol of a model with \p values; \p names: those that the
/// dimensions before it declare.
BundleDim makeBundleDim(llvm::StringRef symbol, std::vector<int64_t> values,
                        NameTable &names);

/// Sets the identifiers of all symbols of \p facts. An error says that the
/// names in the options don't go together with each other or with those that
/// all headers declare.
llvm::Error chooseIdentifiers(BundleFacts &facts);
/// Chooses identifiers of a bundle whose functions have entries of their own.
llvm::Error chooseFunctionIdentifiers(BundleFacts &facts);
/// The same for a bundle that learns.
llvm::Error chooseTrainingIdentifiers(BundleFacts &facts,
                                      llvm::ArrayRef<const char *> entries);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_NAMES_H
