//===- SettingOptions.h - Settings on the command line ----------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_SETTINGOPTIONS_H
#define GLOWISH_TOOLS_COMMON_SETTINGOPTIONS_H

#include "glowish/Compiler/CompilerSettings.h"
#include "llvm/Support/CommandLine.h"
#include <memory>
#include <vector>

namespace glowish {

/// Returns what the command line states. A tool has options for those groups
/// that it links SettingOptions of.
CompilerSettings &getSettings();

/// A command-line option for each setting of a group, which outlives this.
/// Text that a setting does not accept is an error of the command line.
class SettingOptions {
public:
  SettingOptions(const SettingGroup &group, llvm::cl::OptionCategory &category);
  ~SettingOptions();

  /// The option of the setting \p name, which exists: for an alias.
  llvm::cl::Option &find(llvm::StringRef name) const;

private:
  std::vector<std::unique_ptr<llvm::cl::Option>> options;
};

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_SETTINGOPTIONS_H
