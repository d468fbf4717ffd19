//===- OperatorSettings.cpp - What brings operators -----------------------===//

#include "glowish/Compiler/OperatorSettings.h"
#include "glowish/Support/SettingNames.h"

using namespace glowish;

llvm::Expected<std::shared_ptr<const ExternalOperators>>
OperatorSettings::load() {
  if (operators || (libraries.empty() && externals.empty()))
    return operators;
  auto loaded = std::make_shared<ExternalOperators>();
  for (const std::string &path : libraries)
    if (llvm::Error error = loaded->load(path))
      return addContext(std::move(error), "«operators»: ");
  for (llvm::StringRef text : externals) {
    auto [name, path] = text.split(',');
    if (path.empty())
      return makeError("«external={0}»: the form is DOMAIN:NAME,FILE", text);
    if (llvm::Error error = loaded->declare(name, path))
      return addContext(std::move(error), nameSetting("external", text) + ": ");
  }
  operators = std::move(loaded);
  return operators;
}
