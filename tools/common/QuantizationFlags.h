//===- QuantizationFlags.h - Flags of the quantizer -------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_QUANTIZATIONFLAGS_H
#define GLOWISH_TOOLS_COMMON_QUANTIZATIONFLAGS_H

#include "glowish/Driver/Compilation.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory quantizationCategory;

/// -load-profile, -quantize-dynamic, -quantize-weights and the flags that say
/// how models are quantized; null where none of them is given. An error names
/// the profile, or a flag that has no effect.
llvm::Expected<std::shared_ptr<const QuantizationOptions>>
getQuantizationOptions();

/// -convert-to-fp16 and -fp16-format; nullopt where floats stay float.
llvm::Expected<std::optional<PrecisionConfig>> getPrecisionConfig();

/// -activations=int8.
bool quantizesActivations();

/// The first of these flags that \p options are of; empty where floats stay
/// float.
llvm::StringRef getPrecisionFlag(const CompilationOptions &options);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_QUANTIZATIONFLAGS_H
