//===- QuantizationFlags.cpp - Flags about what replaces floats -----------===//

#include "common/QuantizationFlags.h"
#include "common/SettingOptions.h"

using namespace glowish;

llvm::cl::OptionCategory glowish::quantizationCategory("Quantization options");

static SettingOptions options(getSettings().quantization, quantizationCategory);
