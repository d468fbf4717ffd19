//===- ImportFlags.cpp - Flags that describe the model --------------------===//

#include "common/ImportFlags.h"
#include "common/SettingOptions.h"
#include "glowish/Compiler/ModelCompiler.h"
#include "glowish/Support/SettingNames.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::modelCategory("Model options");

static SettingOptions options(getSettings().model, modelCategory);

llvm::StringRef glowish::getFunctionName() {
  return getSettings().model.getFunctionName();
}

llvm::Expected<ImportOptions>
glowish::getImportFlags(llvm::StringRef path, const ModelFormat *format) {
  std::vector<SymbolValues> several;
  GLOWISH_ASSIGN_OR_RETURN(
      ImportOptions options,
      getSettings().model.getImportOptions(path, format, several));
  GLOWISH_RETURN_IF_ERROR(
      checkSymbols(several, options, SymbolForm::ValueOrRange));
  options.warn = printWarning;
  return options;
}

void glowish::printWarning(llvm::StringRef line) {
  llvm::errs() << "warning: " << spellSettings(line, spellAsFlag) << "\n";
}
