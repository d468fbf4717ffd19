//===- QuantizationSettings.h - What replaces floats ------------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_QUANTIZATIONSETTINGS_H
#define GLOWISH_COMPILER_QUANTIZATIONSETTINGS_H

#include "glowish/Driver/Compilation.h"
#include "glowish/Support/Setting.h"

namespace glowish {

/// What replaces the floats of a model: integers, by a profile or without, or a
/// half precision.
class QuantizationSettings : public SettingGroup {
public:
  /// Adds what is stated to \p options. An error names the profile, or a
  /// setting that has no effect.
  llvm::Error apply(CompilationOptions &options) const;

private:
  llvm::Expected<std::shared_ptr<const QuantizationOptions>>
  getQuantizationOptions() const;
  llvm::Expected<std::optional<PrecisionConfig>> getPrecisionConfig() const;
  llvm::Error checkNoProfile() const;
  llvm::Error check() const;
  llvm::Error readKeptKinds(std::set<NodeKind> &kinds) const;
  std::optional<WeightQuantization>
  getWeightQuantization(const ChoiceSetting<ElemKind> &kind) const;

  TextSetting loadProfile{
      *this, "load-profile", "file",
      "Quantize the model by the ranges of this file, which "
      "`model-runner -dump-profile=FILE`, or that of image-classifier, has "
      "written"};
  SwitchSetting isDynamic{
      *this, "quantize-dynamic",
      "Quantize what matmuls with constant weights read by its range in each "
      "run; no profile is needed"};
  ChoiceSetting<QuantizationSchema> schema{
      *this,
      "quantization-schema",
      "How ranges become scales and zero points",
      QuantizationSchema::Asymmetric,
      {{QuantizationSchema::Asymmetric, "asymmetric",
        "All numbers of uint8 (default)"},
       {QuantizationSchema::Symmetric, "symmetric",
        "int8 with the zero point 0"},
       {QuantizationSchema::SymmetricWithUInt8, "symmetric_with_uint8",
        "The zero point is 0, or the least integer where no value is negative"},
       {QuantizationSchema::SymmetricWithPower2Scale,
        "symmetric_with_power2_scale",
        "The zero point is 0, and scales are powers of two"}}};
  ChoiceSetting<QuantizationCalibration> calibration{
      *this,
      "quantization-calibration",
      "How ranges are narrowed",
      QuantizationCalibration::None,
      {{QuantizationCalibration::None, "none", "Not at all (default)"},
       {QuantizationCalibration::KL, "KL",
        "To the least Kullback-Leibler divergence"},
       {QuantizationCalibration::Percentile, "percentile",
        "Without the outermost 0.01% of the values"},
       {QuantizationCalibration::MeanSquare, "mse",
        "To the least mean square error"}}};
  SwitchSetting calibrateConstants{*this, "calibrate-constants",
                                   "Narrow the ranges of weights, too"};
  SwitchSetting channelwise{
      *this, "enable-channelwise",
      "A scale for each output channel of convolutions (default: true)", true};
  SwitchSetting rowwise{*this, "enable-rowwise",
                        "A scale for each output of matmuls and fully "
                        "connected layers (default: true)",
                        true};
  SwitchSetting equalizesChannels{
      *this, "equalize-channels",
      "Divide the channels in front of depthwise convolutions by their ranges, "
      "and multiply the weights by them"};
  SwitchSetting correctsBiases{
      *this, "bias-correction",
      "Biases take back what rounding the weights adds to the mean of the "
      "sums"};
  ListSetting keptKinds{
      *this, "keep-original-precision-for-nodes", "kind,...",
      "Kinds of nodes that stay float, of those that the flags below and "
      "«load-profile» would change",
      Setting::Form::CommaList};
  ListSetting wholeKinds{
      *this, "do-not-lower-nodes-for-profiling", "kind,...",
      "Accepted, as by Glow: profiles are of whole nodes in any case",
      Setting::Form::CommaList};
  SwitchSetting assertsAll{
      *this, "assert-all-nodes-quantized",
      "A node that could be quantized and is not is an error"};
  TextSetting precision{*this, "quantization-precision", "type",
                        "Type of quantized values: Int8", "Int8"};
  TextSetting biasPrecision{*this, "quantization-precision-bias", "type",
                            "Type of quantized biases: Int32", "Int32"};
  SwitchSetting convertToHalf{
      *this, "convert-to-fp16",
      "Compute in a half precision what the model computes in float"};
  ChoiceSetting<ElemKind> halfFormat{
      *this,
      "fp16-format",
      "The half precision of «convert-to-fp16»",
      ElemKind::Float16,
      {{ElemKind::Float16, "fp16", "IEEE 754 binary16, float16 (default)"},
       {ElemKind::BFloat16, "bfloat16", "The upper half of a float"}}};
  SwitchSetting convertPlaceholders{*this, "convert-placeholders",
                                    "With «convert-to-fp16»: inputs, outputs "
                                    "and states of float get the half "
                                    "precision, too"};
  static std::vector<ChoiceSetting<ElemKind>::Named> getWeightKinds();
  ChoiceSetting<ElemKind> weightKind{
      *this, "quantize-weights",
      "Quantize the weights of matmuls, and multiply floats with them; needs "
      "no profile",
      ElemKind::Int8, getWeightKinds()};
  ChoiceSetting<ElemKind> embeddingKind{
      *this, "quantize-embeddings",
      "Quantize the tables whose rows Gather chooses; the chosen rows become "
      "floats in each run",
      ElemKind::Int8, getWeightKinds()};
  enum class ActivationKind { Float, Int8 };
  ChoiceSetting<ActivationKind> activations{
      *this,
      "activations",
      "What is multiplied with quantized weights where activations are float",
      ActivationKind::Float,
      {{ActivationKind::Float, "float",
        "The activations as they are (default)"},
       {ActivationKind::Int8, "int8",
        "Integers; each block of a row has a scale, by its largest magnitude: "
        "faster, and less exact"}}};
  NumberSetting<unsigned> weightBlock{
      *this, "weights-block", "N",
      "Weights of a column that share a scale in «quantize-weights», and of a "
      "row in «quantize-embeddings»; 0 for all of them (default: 32 of 4 bits, "
      "all of 8 bits)",
      0};
  SwitchSetting searchesScales{
      *this, "weights-search",
      "Search the scales of «quantize-weights» and «quantize-embeddings» that "
      "have the least squared error (default: true)",
      true};
};

/// The first of the settings that \p options are of; empty where floats stay
/// float.
llvm::StringRef getPrecisionSetting(const CompilationOptions &options);

} // namespace glowish

#endif // GLOWISH_COMPILER_QUANTIZATIONSETTINGS_H
