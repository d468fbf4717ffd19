//===- SettingGroups.h - The library's groups of settings -------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_SETTINGGROUPS_H
#define GLOWISH_PYTHON_CORE_SETTINGGROUPS_H

#include "core/Settings.h"
#include "glowish/Compiler/ModelCompiler.h"

namespace glowish::python {

struct SettingGroups : CompilerSettings {};

/// Returns what compiles the model of the files \p paths as \p settings, which
/// outlive it, state. Warnings go to \p warnings.
ModelCompiler createCompiler(Settings &settings, std::vector<std::string> paths,
                             std::vector<std::string> &warnings,
                             DeveloperOptions developer = {});

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_SETTINGGROUPS_H
