//===- QuantizationFlags.h - Flags about what replaces floats ---*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_QUANTIZATIONFLAGS_H
#define GLOWISH_TOOLS_COMMON_QUANTIZATIONFLAGS_H

#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory quantizationCategory;

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_QUANTIZATIONFLAGS_H
