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

/// How a model at a path is imported, and all else that the settings say of the
/// compilation.
struct CompilationRequest {
  ImportOptions importOptions;
  std::vector<SymbolValues> symbols;
  CompilationOptions options;
};

/// Throws what does not go with the model. The warnings of the importer go to
/// \p warnings.
CompilationRequest readRequest(Settings &settings, const std::string &path,
                               std::vector<std::string> &warnings);

/// The back end of the settings. \p runsHere: one whose programs this process
/// runs. \p compilesQuickly: see TestingOptions.
std::unique_ptr<Backend> createBackend(Settings &settings, bool runsHere,
                                       bool compilesQuickly = false);

/// Null unless the settings ask for it.
std::unique_ptr<KernelTuner> createTuner(Settings &settings, Backend &backend);

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_SETTINGGROUPS_H
