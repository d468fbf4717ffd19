//===- CompilerSettings.h - All that can be stated --------------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_COMPILERSETTINGS_H
#define GLOWISH_COMPILER_COMPILERSETTINGS_H

#include "glowish/Compiler/BundleSettings.h"
#include "glowish/Compiler/CompilationSettings.h"
#include "glowish/Compiler/ModelSettings.h"
#include "glowish/Compiler/QuantizationSettings.h"
#include "glowish/Compiler/TargetSettings.h"
#include "glowish/Compiler/TrainingSettings.h"

namespace glowish {

/// A result of a compilation: a bundle, a program that runs in this process, or
/// the training of the model in this process.
enum class CompilationUse { Bundle, Program, Training };

/// A group of settings, with its name and the uses that it has an effect on.
struct NamedGroup {
  llvm::StringLiteral name;
  SettingGroup &group;
  std::vector<CompilationUse> uses;

  bool isFor(CompilationUse use) const { return llvm::is_contained(uses, use); }
};

/// All settings of one compilation, for what finds them by name. They have the
/// names of model-compiler's options. One thread at a time.
class CompilerSettings {
public:
  std::vector<NamedGroup> getGroups();
  /// Returns the settings in the order of their groups.
  std::vector<Setting *> getSettings();
  /// Returns null if no setting is called \p name.
  Setting *find(llvm::StringRef name);
  /// Returns find(\p name). The error names the setting that looks most like a
  /// name which there is not.
  llvm::Expected<Setting *> get(llvm::StringRef name);
  /// Calls Setting::set of the setting \p name.
  llvm::Error set(llvm::StringRef name, llvm::StringRef text);
  /// Refuses a setting that is given and has no effect on \p use.
  llvm::Error checkUse(CompilationUse use);

  ModelSettings model;
  CompilationSettings compilation;
  TargetSettings target;
  QuantizationSettings quantization;
  BundleSettings bundle;
  TrainingSettings training;
  TrainingBundleSettings trainingBundle;
};

} // namespace glowish

#endif // GLOWISH_COMPILER_COMPILERSETTINGS_H
