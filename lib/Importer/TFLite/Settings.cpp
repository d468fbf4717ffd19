//===- Settings.cpp - How TensorFlow Lite is read -------------------------===//

#include "TFLite/Settings.h"
#include "glowish/Importer/TFLite.h"
#include "glowish/Support/KeyHasher.h"

using namespace glowish;

void TFLiteOptions::addTo(KeyHasher &key) const {
  const auto &[hasFloatIn, hasFloatOut, turnsToInt8, renames, hasSoftmax,
               tolerance, refuses] = *this;
  key.addAll(hasFloatIn, hasFloatOut, turnsToInt8, renames, hasSoftmax,
             tolerance, refuses);
}

namespace {

/// How the import changes a TensorFlow Lite model.
class TFLiteSettings final : public FormatSettings {
public:
  explicit TFLiteSettings(SettingGroup &group) : group(group) {}

  std::shared_ptr<const FormatOptions> getOptions() const override;

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

} // namespace

std::shared_ptr<const FormatOptions> TFLiteSettings::getOptions() const {
  auto options = std::make_shared<TFLiteOptions>();
  options->hasFloatInputs = floatInputs;
  options->hasFloatOutputs = floatOutputs;
  options->turnsUInt8ToInt8 = uint8ToInt8;
  options->renamesTensors = renameTensors;
  options->hasFloatSoftmax = floatSoftmax;
  options->biasScaleTolerance = biasTolerance;
  options->refusesBiasScales = biasErrors;
  return options;
}

std::unique_ptr<FormatSettings> tflite::createSettings(SettingGroup &group) {
  return std::make_unique<TFLiteSettings>(group);
}
