//===- Functions.h - Functions that a bundle calls --------------*- C++ -*-===//
//
// Those of external operators: in an archive beside the bundle where a plug-in
// has an object for the target, else the application's.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_FUNCTIONS_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_FUNCTIONS_H

#include "glowish/Backends/Variants.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"
#include <optional>
#include <string>
#include <vector>

namespace glowish {

struct BundleFacts;
class BundleFiles;

struct BundleFunction {
  /// The name in C.
  std::string name;
  /// "DOMAIN:NAME".
  std::string operatorName;
  /// Whether a plug-in brings it.
  bool isOfPlugin = false;
  /// The plug-in's object for the target, if it has one.
  std::optional<std::string> object = {};
};

/// The functions that \p programs, compiled for \p target, call; each once, by
/// name.
std::vector<BundleFunction> getBundleFunctions(llvm::ArrayRef<Variant> programs,
                                               const llvm::Triple &target);

/// The include directive, the status code and the prototypes of a header.
void printFunctionPrototypes(llvm::raw_ostream &os, const BundleFacts &facts);
/// The text of glowish_call.h.
llvm::StringRef getCallHeader();

/// Adds glowish_call.h, and the archive of the plug-ins' objects,
/// NAME.operators.a, which is empty where they have none for the target.
llvm::Error addFunctions(BundleFiles &files, const BundleFacts &facts);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_FUNCTIONS_H
