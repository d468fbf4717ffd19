//===- BundleFiles.h - Files on their way to a bundle -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_BUNDLEFILES_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_BUNDLEFILES_H

#include "Header.h"
#include "Weights.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/Support/File.h"

namespace glowish {

/// The code of a bundle.
struct BundleCode {
  llvm::SmallVector<char, 0> object;
  /// Empty unless requested by the options.
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
  /// Adds the object, and the assembly if the options request it.
  llvm::Error addCode(const BundleCode &code);
  /// Adds the assembly if the options request it.
  llvm::Error addAssembly(const BundleCode &code);
  /// Adds the default threads, if code for \p target calls any. They need a
  /// system: without one the application brings its own.
  llvm::Error addThreads(const TargetDescription &target);
  /// Adds the weights in the forms that the options request, unless they are in
  /// the object.
  llvm::Error addWeights(const Weights &weights);
  /// Adds the bytes of the weights.
  llvm::Error addWeightsFile(const Weights &weights);
  llvm::Error commit();

private:
  llvm::Error addBytes(llvm::StringRef suffix, llvm::ArrayRef<char> bytes);
  std::string getPath(const llvm::Twine &name) const;

  const BundleOptions &options;
  OutputFiles files;
  bool hasText = false;
};

/// Returns the order in which the target of \p backend has the bytes of a
/// number, and the bundle those of its weights.
llvm::endianness getByteOrder(CPUBackend &backend);

/// Whether the target of \p backend can hold a bundle with regions of the sizes
/// in \p facts.
llvm::Error checkTarget(CPUBackend &backend, const BundleFacts &facts);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_BUNDLEFILES_H
