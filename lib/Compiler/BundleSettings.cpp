//===- BundleSettings.cpp - How a bundle is written -----------------------===//

#include "glowish/Compiler/BundleSettings.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/Compiler/InputTypes.h"
#include "glowish/Compiler/ModelSettings.h"
#include "llvm/Support/Path.h"

using namespace glowish;

/// After the model's file: matmul.fp16.onnx gives matmul_fp16, and for.onnx
/// for_.
static std::string getDefaultName(llvm::StringRef modelPath) {
  std::string name = legalizeName(llvm::sys::path::stem(modelPath));
  for (const std::string &each : {name, name + "_"})
    if (isCIdentifier(each) && explainReservedName(each).empty())
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

llvm::Expected<std::optional<TrainingRequest>>
TrainingBundleSettings::getRequest(TrainingConfig config) const {
  if (!train)
    return std::nullopt;
  TrainingRequest request;
  request.config = std::move(config);
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
  llvm::Expected<Type> type = parseInputType(labelType);
  if (!type)
    return addContext(type.takeError(),
                      "-label-type=" + labelType.getValue() + ": ");
  config.labelKind = type->getKind();
  config.labelShape = Dims(type->getShape());
  return llvm::Error::success();
}
