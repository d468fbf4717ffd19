//===- StatedInputs.cpp - Inputs of a model that is not yet imported ------===//

#include "common/StatedInputs.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Importer/ModelFormat.h"

using namespace glowish;

static llvm::Error refuseQuantized(llvm::StringRef path, llvm::StringRef name,
                                   const Type &type) {
  return makeError("'{0}': the input '{1}' is {2}; accepted: floats and plain "
                   "integers",
                   path, name, type.str());
}

/// Text forms state all types. So do other models without symbolic dimensions
/// once they are imported: types that they leave open are an error then.
static llvm::Expected<std::unique_ptr<Module>>
readTypedModel(llvm::StringRef path, const ImportOptions &options,
               llvm::StringRef function) {
  if (isTextForm(path)) {
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, readModule(path));
    GLOWISH_RETURN_IF_ERROR(
        addContext(selectFunction(*module, function), "'" + path + "': "));
    return module;
  }
  for (const auto &[name, type] : options.inputTypes)
    if (type.isQuantized())
      return refuseQuantized(path, name, type);
  ImportOptions quiet = options;
  quiet.evaluate = evaluateNode;
  // The compilation of the model will print the warnings.
  quiet.isRepeated = true;
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, getModelFormat(path));
  return format->import(path, quiet);
}

llvm::Expected<std::vector<ParsedModel::StatedInput>>
glowish::readStatedInputs(llvm::StringRef path, const ImportOptions &options,
                          llvm::StringRef function) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<ParsedModel> parsed,
                           parseModel(path));
  if (parsed)
    return parsed->getStatedInputs(options);
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                           readTypedModel(path, options, function));
  std::vector<ParsedModel::StatedInput> inputs;
  for (const auto &placeholder : module->getPlaceholders()) {
    if (!placeholder->isInput())
      continue;
    const Type &type = placeholder->getType();
    if (type.isQuantized())
      return refuseQuantized(path, placeholder->getModelName(), type);
    ParsedModel::StatedInput input = {
        placeholder->getModelName().str(), type.getKind(), {}};
    for (int64_t extent : type.getShape())
      input.shape.push_back(extent);
    inputs.push_back(std::move(input));
  }
  return inputs;
}
