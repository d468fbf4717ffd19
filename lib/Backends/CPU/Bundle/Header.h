//===- Header.h - The C header of a bundle --------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_HEADER_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_HEADER_H

#include "Symbols.h"
#include "glowish/Backends/CPU/Bundle.h"

namespace glowish {

/// Everything that a header states.
struct BundleFacts {
  const BundleOptions &options;
  const MemoryPlan &plan;
  std::vector<BundleSymbol> symbols;
  uint64_t weightsChecksum;
  /// Whether the object has code for several levels of processors.
  bool hasLevels;
};

/// Prints the header: C99 and C++11, without warnings.
void printBundleHeader(llvm::raw_ostream &os, const BundleFacts &facts);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_HEADER_H
