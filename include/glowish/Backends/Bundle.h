//===- Bundle.h - Interface for writing bundles -----------------*- C++ -*-===//
//
// A bundle is an object file with an entry for each function of the network,
// mostly one, a header and the weights. docs/bundle.md is its contract.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_BACKENDS_BUNDLE_H
#define GLOWISH_BACKENDS_BUNDLE_H

#include "glowish/Backends/CodeSizes.h"
#include "glowish/Backends/Variants.h"

namespace glowish {

enum class BundleApi { Static, Dynamic };
/// Where the weights go: a file, with text for #include beside it where they
/// are small; the same with text of any size; the object.
enum class BundleWeights { File, Text, Embed };

/// Most bytes of weights that BundleWeights::File writes as text, too: text is
/// four times as large, and compilers need a hundred times as much memory.
constexpr uint64_t maxTextWeights = 1 << 20;

struct BundleOptions {
  std::string folder;
  /// Names the files and prefixes all symbols. A C identifier.
  std::string networkName;
  /// The prefix of entries' names, where programs have entries of their own.
  std::string entryName;
  BundleApi api = BundleApi::Static;
  BundleWeights weights = BundleWeights::File;
  /// List the constants in the header's first comment, too.
  bool listsConstants = false;
  /// Write the assembly, NAME.s, too.
  bool savesAssembly = false;
  /// XXH3 of the contents of the model's files.
  uint64_t modelHash = 0;
  /// Filled with the sizes of the object's contents, unless null; without
  /// kernels where the bundle learns.
  CodeSizes *codeSizes = nullptr;
};

/// A network that learns where it is used: programs on the same variables.
struct TrainingPrograms {
  Variant inference;
  /// The one for a training step; or the one that computes gradients and the
  /// one that updates, which have all placeholders in common (StepPart).
  std::vector<Variant> steps;
  /// First values of the variables, by their names in the model. Placeholders
  /// of the step; those of the model are in both programs.
  const std::map<std::string, std::shared_ptr<const Tensor>> &variables;
  /// The trained variables, and where the gradient of each begins among those
  /// that the programs exchange, if there are two.
  const std::vector<std::string> &trained;
  const std::vector<int64_t> &gradientStarts;
};

/// Writes the programs that a back end has prepared as bundles.
class BundleWriter {
public:
  virtual ~BundleWriter() = default;

  /// Returns a line about bundles of this back end, for users; empty for none.
  virtual std::string getWarning() const { return {}; }
  /// Writes NAME.o, NAME.h, NAME.s if requested, and the weights, for programs
  /// that share their constant region. Writes all files, or none.
  virtual llvm::Error write(const Variants &variants,
                            const BundleOptions &options) = 0;
  /// The same of programs that learn.
  virtual llvm::Error writeTraining(const TrainingPrograms &programs,
                                    const BundleOptions &options) = 0;
  /// Generates the code of \p programs and writes nothing: for what the back
  /// end prints of it.
  virtual llvm::Error printCode(const Variants &programs,
                                llvm::StringRef entryName) = 0;
};

} // namespace glowish

#endif // GLOWISH_BACKENDS_BUNDLE_H
