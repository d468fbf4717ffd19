//===- InferenceHeader.h - Header of an inference bundle --------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_INFERENCEHEADER_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_INFERENCEHEADER_H

#include "Header.h"

namespace glowish {

/// Prints the header: C99 and C++11, without warnings.
void printBundleHeader(llvm::raw_ostream &os, const BundleFacts &facts);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_INFERENCEHEADER_H
