//===- StatedInputs.cpp - Inputs of a model that is not yet imported ------===//

#include "common/StatedInputs.h"
#include "glowish/Driver/Compilation.h"

using namespace glowish;

llvm::Expected<std::vector<OnnxModel::StatedInput>>
glowish::readStatedInputs(llvm::StringRef path, const ImportOptions &options) {
  if (!path.ends_with(".graph")) {
    GLOWISH_TRY(OnnxModel model, OnnxModel::read(path));
    return model.getStatedInputs(options);
  }
  GLOWISH_TRY(std::unique_ptr<Module> module, readModule(path));
  std::vector<OnnxModel::StatedInput> inputs;
  for (const auto &placeholder : module->getPlaceholders()) {
    if (!placeholder->isInput())
      continue;
    const Type &type = placeholder->getType();
    if (type.isQuantized())
      return makeError("'{0}': the input '{1}' is {2}; accepted: floats and "
                       "plain integers",
                       path, placeholder->getModelName(), type.str());
    OnnxModel::StatedInput input = {
        placeholder->getModelName().str(), type.getKind(), {}};
    for (int64_t extent : type.getShape())
      input.shape.push_back(extent);
    inputs.push_back(std::move(input));
  }
  return inputs;
}
