//===- BundleSettings.cpp - How a bundle is written -----------------------===//

#include "glowish/Compiler/BundleSettings.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/Compiler/InputTypes.h"
#include "glowish/Compiler/ModelSettings.h"
#include "glowish/Support/SettingNames.h"
#include "llvm/Support/Path.h"

using namespace glowish;

/// After the model's file: matmul.fp16.EXTENSION gives matmul_fp16, and
/// for.EXTENSION for_.
static std::string getDefaultName(llvm::StringRef modelPath) {
  std::string name = legalizeName(llvm::sys::path::stem(modelPath));
  for (const std::string &each : {name, name + "_"})
    if (isCIdentifier(each) && explainReservedName(each).empty() &&
        explainReservedNetwork(each).empty())
      return each;
  return "A" + name;
}

llvm::Expected<BundleOptions>
BundleSettings::getOptions(llvm::StringRef folder,
                           llvm::StringRef modelPath) const {
  BundleOptions options;
  options.folder = folder.str();
  options.api = api;
  options.weights = weights;
  options.listsConstants = listsConstants;
  options.savesAssembly = savesAssembly;
  options.networkName = networkName.isGiven() ? networkName.getValue()
                                              : getDefaultName(modelPath);
  options.entryName =
      entryName.isGiven() ? entryName.getValue() : options.networkName;
  GLOWISH_RETURN_IF_ERROR(checkBundleNames(options));
  return options;
}

llvm::Error
TrainingBundleSettings::checkEffects(const TrainingSettings &training,
                                     const BundleSettings &bundle) const {
  if (train && bundle.hasEntryName())
    return makeError("«main-entry-name» has no effect with «train», whose "
                     "entries are NAME_infer and NAME_train_step; accepted: "
                     "«network-name=NAME»");
  if (train)
    return llvm::Error::success();
  for (const SettingGroup *group :
       std::initializer_list<const SettingGroup *>{this, &training})
    for (const Setting *setting : group->getSettings())
      if (setting->isGiven() && setting != &train)
        return makeError("«{0}» has no effect without «train», which makes a "
                         "bundle that learns; accepted: with «train»",
                         setting->getName());
  return llvm::Error::success();
}

llvm::Expected<std::optional<TrainingRequest>>
TrainingBundleSettings::getRequest(const TrainingSettings &training,
                                   const BundleSettings &bundle) const {
  GLOWISH_RETURN_IF_ERROR(checkEffects(training, bundle));
  if (!train)
    return std::nullopt;
  TrainingRequest request;
  GLOWISH_ASSIGN_OR_RETURN(request.config, training.getConfig());
  GLOWISH_RETURN_IF_ERROR(readLabelType(request.config));
  GLOWISH_RETURN_IF_ERROR(
      readNumbers("train-define-symbol", stepSymbols, request.stepSymbols));
  request.hasExternalGradients = gradients == Gradients::External;
  return request;
}

llvm::Error
TrainingBundleSettings::readLabelType(TrainingConfig &config) const {
  if (labelType.empty())
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(
      Type type,
      addContext(parseInputType(labelType),
                 nameSetting("label-type", labelType.getValue()) + ": "));
  config.labelKind = type.getKind();
  config.labelShape = Dims(type.getShape());
  return llvm::Error::success();
}
