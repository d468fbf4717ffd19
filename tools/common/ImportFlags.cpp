//===- ImportFlags.cpp - Flags that describe the model --------------------===//

#include "common/ImportFlags.h"
#include "common/SettingOptions.h"
#include "glowish/Compiler/ModelSettings.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::modelCategory("Model options");

static ModelSettings settings;
static SettingOptions options(settings, modelCategory);
static cl::alias modelInputsAlias("model-input-name",
                                  cl::desc("Alias of -model-input"),
                                  cl::aliasopt(options.find("model-input")));

llvm::StringRef glowish::getFunctionName() {
  return settings.getFunctionName();
}

static void printWarning(llvm::StringRef line) {
  llvm::errs() << "warning: " << line << "\n";
}

llvm::Expected<ImportOptions>
glowish::getImportFlags(llvm::StringRef path, bool isText,
                        std::vector<SymbolValues> &several) {
  GLOWISH_ASSIGN_OR_RETURN(ImportOptions options,
                           settings.getImportOptions(path, isText, several));
  options.warn = printWarning;
  return options;
}

llvm::Expected<std::vector<FunctionSource>>
glowish::getFunctionFlags(llvm::ArrayRef<std::string> paths,
                          std::vector<SymbolValues> &several) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<FunctionSource> functions,
                           settings.getFunctions(paths, several));
  for (FunctionSource &function : functions)
    function.importOptions.warn = printWarning;
  return functions;
}

llvm::Error glowish::refuseSeveral(llvm::ArrayRef<SymbolValues> several) {
  if (several.empty())
    return llvm::Error::success();
  return makeError("-onnx-define-symbol: '{0}' has several values; accepted: "
                   "one",
                   several.front().name);
}
