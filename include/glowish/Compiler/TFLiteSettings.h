//===- TFLiteSettings.h - How TensorFlow Lite is read -----------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_TFLITESETTINGS_H
#define GLOWISH_COMPILER_TFLITESETTINGS_H

#include "glowish/Compiler/Setting.h"
#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// How the import changes a TensorFlow Lite model.
class TFLiteSettings {
public:
  explicit TFLiteSettings(SettingGroup &group) : group(group) {}

  /// An error if one of them is given and \p path is no TensorFlow Lite model.
  llvm::Expected<TFLiteOptions> getOptions(llvm::StringRef path) const;

private:
  SettingGroup &group;
  SwitchSetting floatInputs{
      group, "tflite-float-inputs",
      "Quantized inputs of a TensorFlow Lite model become floats"};
  SwitchSetting floatOutputs{
      group, "tflite-float-outputs",
      "Quantized outputs of a TensorFlow Lite model become floats"};
  SwitchSetting uint8ToInt8{
      group, "tflite-uint8-to-int8",
      "Inputs and outputs of uint8 of a TensorFlow Lite model become int8: the "
      "numbers less 128"};
  SwitchSetting renameTensors{
      group, "tflite-rename-tensors",
      "Name the tensors of a TensorFlow Lite model tensorN, by their numbers "
      "in the file"};
  SwitchSetting floatSoftmax{
      group, "tflite-float-softmax",
      "Compute a softmax of bytes of a TensorFlow Lite model in float"};
  NumberSetting<double> biasTolerance{
      group, "tflite-bias-scale-check-max-error", "number",
      "The relative error that the scale of a bias of a TensorFlow Lite model "
      "may have: it should be that of the input times that of the weights",
      1e-6};
  SwitchSetting biasErrors{
      group, "tflite-bias-scale-check-throw-error",
      "A larger error of the scale of a bias ends the compilation; otherwise "
      "it is a warning (default: true)",
      true};
};

} // namespace glowish

#endif // GLOWISH_COMPILER_TFLITESETTINGS_H
