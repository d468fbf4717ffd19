//===- OperatorSettings.h - What brings operators ---------------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_OPERATORSETTINGS_H
#define GLOWISH_COMPILER_OPERATORSETTINGS_H

#include "glowish/Plugin/ExternalOperator.h"
#include "glowish/Support/Setting.h"

namespace glowish {

/// Operators that come from outside, for a model's import.
class OperatorSettings {
public:
  explicit OperatorSettings(SettingGroup &group) : group(group) {}

  /// The operators of -operators and -external; null where neither is given.
  /// Loads the libraries at the first call.
  llvm::Expected<std::shared_ptr<const ExternalOperators>> load();

private:
  SettingGroup &group;
  ListSetting libraries{
      group, "operators", "file",
      "Load a shared library that brings operators (may be repeated)"};
  ListSetting externals{
      group, "external", "domain:name,file",
      "An operator of the model is a function of the application, whose types "
      "the file has rules for (may be repeated)"};

  std::shared_ptr<const ExternalOperators> operators;
};

} // namespace glowish

#endif // GLOWISH_COMPILER_OPERATORSETTINGS_H
