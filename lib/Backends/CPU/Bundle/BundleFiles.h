//===- BundleFiles.h - Files on their way to a bundle -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_BUNDLEFILES_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_BUNDLEFILES_H

#include "Weights.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/Support/File.h"

namespace glowish {

/// The code of a bundle.
struct BundleCode {
  llvm::SmallVector<char, 0> object;
  /// Empty unless the options ask for it.
  llvm::SmallVector<char, 0> assembly;
};

/// Optimises \p module and generates its code.
llvm::Expected<BundleCode> generateCode(CPUBackend &backend,
                                        llvm::Module &module,
                                        const BundleOptions &options);

/// The files of one bundle on their way to its folder: all appear, or none.
class BundleFiles {
public:
  using PrintFn = llvm::function_ref<void(llvm::raw_ostream &)>;

  explicit BundleFiles(const BundleOptions &options) : options(options) {}

  /// Adds NAME + \p suffix and lets \p print write it.
  llvm::Error add(llvm::StringRef suffix, PrintFn print) {
    return addFile(options.networkName + suffix.str(), print);
  }
  /// Adds the file \p name.
  llvm::Error addFile(llvm::StringRef name, PrintFn print);
  /// Adds the object, and the assembly if the options ask for it.
  llvm::Error addCode(const BundleCode &code);
  /// Adds the default threads.
  llvm::Error addThreads();
  /// Adds the weights; \p asText: for an array in C as well.
  llvm::Error addWeights(const Weights &weights, bool asText);
  llvm::Error commit() { return files.commit(); }

private:
  const BundleOptions &options;
  OutputFiles files;
};

/// Whether bundles can be written for the target: weights are little-endian.
llvm::Error checkTarget(CPUBackend &backend);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_BUNDLEFILES_H
