//===- SettingGroups.h - The library's groups of settings -------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_SETTINGGROUPS_H
#define GLOWISH_PYTHON_CORE_SETTINGGROUPS_H

#include "core/Settings.h"
#include "glowish/Compiler/CompilerSettings.h"

namespace glowish::python {

struct SettingGroups : CompilerSettings {};

/// A group, its name, and which uses have it.
struct NamedGroup {
  llvm::StringLiteral name;
  SettingGroup &group;
  bool isForCompile, isForLoad, isForTrain;

  bool isFor(SettingUse use) const {
    return use == SettingUse::Compile ? isForCompile
           : use == SettingUse::Load  ? isForLoad
                                      : isForTrain;
  }
};

std::vector<NamedGroup> listGroups(SettingGroups &groups);

/// readCompilation() of the settings; throws what does not go with the model.
/// The warnings of the importer go to \p warnings. \p takesFunctions: as there.
StatedCompilation readRequest(Settings &settings, const std::string &path,
                              std::vector<std::string> &warnings,
                              bool takesFunctions = false);

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_SETTINGGROUPS_H
