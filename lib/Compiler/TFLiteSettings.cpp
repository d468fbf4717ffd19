//===- TFLiteSettings.cpp - How TensorFlow Lite is read -------------------===//

#include "glowish/Compiler/TFLiteSettings.h"
#include "glowish/Importer/TFLite.h"

using namespace glowish;

llvm::Expected<TFLiteOptions>
TFLiteSettings::getOptions(llvm::StringRef path) const {
  for (const Setting *setting : std::initializer_list<const Setting *>{
           &floatInputs, &floatOutputs, &uint8ToInt8, &renameTensors,
           &floatSoftmax, &biasTolerance, &biasErrors})
    if (setting->isGiven() && !isTFLitePath(path))
      return makeError(
          "«{0}»: '{1}' is no TensorFlow Lite model, which ends in "
          ".tflite",
          setting->getName(), path);
  return TFLiteOptions{.hasFloatInputs = floatInputs,
                       .hasFloatOutputs = floatOutputs,
                       .turnsUInt8ToInt8 = uint8ToInt8,
                       .renamesTensors = renameTensors,
                       .hasFloatSoftmax = floatSoftmax,
                       .biasScaleTolerance = biasTolerance,
                       .refusesBiasScales = biasErrors};
}
