//===- QuantizationSettings.cpp - What replaces floats --------------------===//

#include "glowish/Compiler/QuantizationSettings.h"
#include "glowish/Support/File.h"
#include "glowish/Support/SettingNames.h"

using namespace glowish;

std::vector<ChoiceSetting<ElemKind>::Named>
QuantizationSettings::getWeightKinds() {
  return {{ElemKind::Int8, "int8", "Symmetric around 0"},
          {ElemKind::UInt8, "uint8", "With zero points"},
          {ElemKind::Int4, "int4", "Symmetric around 0"},
          {ElemKind::UInt4, "uint4", "With zero points"}};
}

/// An error if one of the settings is given that need -load-profile. Switches
/// that are off ask for nothing.
llvm::Error QuantizationSettings::checkNoProfile() const {
  const Setting *settings[] = {&schema, &calibration, &precision,
                               &biasPrecision};
  std::vector<const SwitchSetting *> switches = {
      &calibrateConstants, &channelwise, &equalizesChannels, &correctsBiases,
      &assertsAll};
  if (!isDynamic)
    switches.push_back(&rowwise);
  auto refuse = [](const Setting &setting) {
    return makeError("«{0}» has no effect without a profile; accepted: with "
                     "«load-profile=FILE»",
                     setting.getName());
  };
  for (const Setting *setting : settings)
    if (setting->isGiven())
      return refuse(*setting);
  for (const SwitchSetting *setting : switches)
    if (setting->isGiven() && *setting)
      return refuse(*setting);
  return llvm::Error::success();
}

llvm::Error
QuantizationSettings::readKeptKinds(std::set<NodeKind> &kinds) const {
  for (const std::string &name : keptKinds) {
    std::optional<NodeKind> kind = findNodeKind(name);
    if (!kind) {
      std::vector<llvm::StringRef> names;
      for (NodeKind each : getQuantizableKinds())
        names.push_back(getNodeInfo(each).name);
      llvm::sort(names);
      return makeError("«keep-original-precision-for-nodes={0}»: there is no "
                       "such kind of nodes; those that are quantized are {1}",
                       name, llvm::join(names, ", "));
    }
    kinds.insert(*kind);
  }
  return llvm::Error::success();
}

/// An error if settings contradict each other, or have no effect.
llvm::Error QuantizationSettings::check() const {
  bool hasWeights = weightKind.isGiven();
  bool hasEmbeddings = embeddingKind.isGiven();
  if (precision.getValue() != "Int8")
    return makeError("«quantization-precision={0}»: convolutions and matmuls "
                     "of such integers are not supported; accepted: Int8",
                     precision.getValue());
  if (biasPrecision.getValue() != "Int32")
    return makeError("«quantization-precision-bias={0}»: biases start sums of "
                     "int32; accepted: Int32",
                     biasPrecision.getValue());
  if (isDynamic && !loadProfile.empty())
    return makeError(
        "«quantize-dynamic» and «load-profile»; state one of them");
  if (hasWeights && convertToHalf)
    return makeError("«quantize-weights» and «convert-to-fp16»; state one of "
                     "them");
  if (hasEmbeddings && convertToHalf)
    return makeError(
        "«quantize-embeddings» and «convert-to-fp16»; state one of "
        "them");
  for (const Setting *setting :
       std::initializer_list<const Setting *>{&weightBlock, &searchesScales})
    if (setting->isGiven() && !hasWeights && !hasEmbeddings)
      return makeError("«{0}» has no effect without «quantize-weights» or "
                       "«quantize-embeddings»; accepted: with one of them",
                       setting->getName());
  if (loadProfile.empty())
    GLOWISH_RETURN_IF_ERROR(checkNoProfile());
  if (keptKinds.isGiven() && loadProfile.empty() && !isDynamic && !hasWeights &&
      !hasEmbeddings && !convertToHalf)
    return makeError(
        "«{0}» has no effect where nothing is converted; accepted: "
        "with «load-profile=FILE», «quantize-dynamic», "
        "«quantize-weights», «quantize-embeddings» or "
        "«convert-to-fp16»",
        keptKinds.getName());
  return llvm::Error::success();
}

/// What \p kind, -weights-block and -weights-search say; nullopt if \p kind is
/// not given.
std::optional<WeightQuantization> QuantizationSettings::getWeightQuantization(
    const ChoiceSetting<ElemKind> &kind) const {
  if (!kind.isGiven())
    return std::nullopt;
  int64_t block = getElemBits(kind) == 4 ? 32 : 0;
  if (weightBlock.isGiven())
    block = weightBlock;
  return WeightQuantization{
      .kind = kind, .block = block, .searches = searchesScales};
}

llvm::Expected<std::shared_ptr<const QuantizationOptions>>
QuantizationSettings::getQuantizationOptions() const {
  GLOWISH_RETURN_IF_ERROR(check());
  auto options = std::make_shared<QuantizationOptions>();
  options->isDynamic = isDynamic;
  options->weights = getWeightQuantization(weightKind);
  options->embeddings = getWeightQuantization(embeddingKind);
  if (loadProfile.empty() && !isDynamic && !options->weights &&
      !options->embeddings)
    return nullptr;
  QuantizationConfig &config = options->config;
  config.schema = schema;
  config.calibration = calibration;
  config.calibratesConstants = calibrateConstants;
  config.isChannelwise = channelwise;
  config.isRowwise = rowwise;
  config.assertsAll = assertsAll;
  config.equalizesChannels = equalizesChannels;
  config.correctsBiases = correctsBiases;
  GLOWISH_RETURN_IF_ERROR(readKeptKinds(config.keptKinds));
  if (loadProfile.empty())
    return options;
  GLOWISH_ASSIGN_OR_RETURN(auto file, readFile(loadProfile.getValue()));
  GLOWISH_ASSIGN_OR_RETURN(
      options->profile,
      addContext(readRangeProfile(file->getBuffer()),
                 nameSetting("load-profile", loadProfile.getValue()) + ": "));
  return options;
}

llvm::Expected<std::optional<PrecisionConfig>>
QuantizationSettings::getPrecisionConfig() const {
  if (!convertToHalf) {
    for (const Setting *setting : std::initializer_list<const Setting *>{
             &halfFormat, &convertPlaceholders})
      if (setting->isGiven())
        return makeError("«{0}» has no effect where floats stay float; "
                         "accepted: with «convert-to-fp16»",
                         setting->getName());
    return std::nullopt;
  }
  PrecisionConfig config;
  config.kind = halfFormat;
  config.convertsPlaceholders = convertPlaceholders;
  GLOWISH_RETURN_IF_ERROR(readKeptKinds(config.keptKinds));
  return config;
}

llvm::Error QuantizationSettings::apply(CompilationOptions &options) const {
  GLOWISH_ASSIGN_OR_RETURN(options.quantization, getQuantizationOptions());
  GLOWISH_ASSIGN_OR_RETURN(options.precision, getPrecisionConfig());
  options.quantizesActivations = activations == ActivationKind::Int8;
  return llvm::Error::success();
}

llvm::StringRef
glowish::getPrecisionSetting(const CompilationOptions &options) {
  if (const auto &quantization = options.quantization)
    return quantization->profile     ? "load-profile"
           : quantization->isDynamic ? "quantize-dynamic"
           : quantization->weights   ? "quantize-weights"
                                     : "quantize-embeddings";
  return options.precision ? "convert-to-fp16" : "";
}
