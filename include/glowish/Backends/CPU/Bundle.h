//===- Bundle.h - What an application links ---------------------*- C++ -*-===//
//
// A bundle is an object file with one entry function, a header and the
// weights. docs/bundle.md is its contract.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_BACKENDS_CPU_BUNDLE_H
#define GLOWISH_BACKENDS_CPU_BUNDLE_H

#include "glowish/Backends/CPU/CPUBackend.h"
#include <map>

namespace glowish {

enum class BundleApi { Static, Dynamic };
enum class BundleWeights { File, Embed };

/// The version of the contract between a header and its object.
constexpr unsigned bundleAbiVersion = 4;

struct BundleOptions {
  std::string folder;
  /// Names the files and prefixes all symbols. A C identifier.
  std::string networkName;
  std::string entryName;
  BundleApi api = BundleApi::Static;
  BundleWeights weights = BundleWeights::File;
  /// List the constants in the header's first comment, too.
  bool listsConstants = false;
  /// Write the assembly, NAME.s, too.
  bool savesAssembly = false;
  /// checksum64 of the model file.
  uint64_t modelHash = 0;
  /// Filled with what the object has in it, unless it is null; without
  /// kernels where the bundle learns.
  CodeSizes *codeSizes = nullptr;
};

/// Whether \p name can name a C function: letters, digits and underscores, no
/// digit first, no keyword of C or C++.
bool isCIdentifier(llvm::StringRef name);

/// \p name with letters, digits and underscores only, by Glow's rule: other
/// characters become '_', a digit in front gets an 'A'. May be a keyword.
std::string legalizeName(llvm::StringRef name);

/// Writes NAME.o, NAME.h, NAME.s if that is asked for, and the weights:
/// NAME.weights.bin (and for the static API NAME.weights.txt, for #include in
/// an array), or nothing where they are embedded. All files appear, or none.
llvm::Error writeBundle(CPUBackend &backend, const IRFunction &function,
                        const MemoryPlan &plan, const BundleOptions &options);

/// The same of several programs, which have their constant region in common.
llvm::Error writeBundle(CPUBackend &backend, const Variants &variants,
                        const BundleOptions &options);

/// A network that learns where it is used: two programs on the same variables.
struct TrainingPrograms {
  /// What infers, and what makes one step.
  Variant inference, step;
  /// First values of the variables, by their names in the model. Placeholders
  /// of the step; those of the model are in both programs.
  const std::map<std::string, std::shared_ptr<const Tensor>> &variables;
};

/// Writes a bundle with the entries NAME_infer and NAME_train_step and with
/// functions that save and restore the variables; NAME.state.bin has their
/// first values (embedded as NAME_state with the weights). The programs have
/// their constant region in common. The static API only.
llvm::Error writeTrainingBundle(CPUBackend &backend,
                                const TrainingPrograms &programs,
                                const BundleOptions &options);

} // namespace glowish

#endif // GLOWISH_BACKENDS_CPU_BUNDLE_H
