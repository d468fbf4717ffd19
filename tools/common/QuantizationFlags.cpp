//===- QuantizationFlags.cpp - Flags about what replaces floats -----------===//

#include "common/QuantizationFlags.h"
#include "common/SettingOptions.h"
#include "glowish/Compiler/QuantizationSettings.h"

using namespace glowish;

llvm::cl::OptionCategory glowish::quantizationCategory("Quantization options");

static QuantizationSettings settings;
static SettingOptions options(settings, quantizationCategory);

llvm::Error glowish::readQuantizationFlags(CompilationOptions &options) {
  return settings.apply(options);
}
