//===- Netpbm.h - PPM and PGM files -----------------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_NETPBM_H
#define GLOWISH_TOOLS_COMMON_NETPBM_H

#include "common/Image.h"
#include "llvm/ADT/StringRef.h"

namespace glowish {

/// Whether \p bytes begin as a Netpbm file of any kind does.
bool isNetpbm(llvm::StringRef bytes);

/// Reads the first image of a PPM or PGM file (P2, P3, P5, P6) with the
/// channels that \p image has; samples are scaled to 8 bits.
llvm::Error readNetpbm(llvm::StringRef bytes, Image &image);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_NETPBM_H
