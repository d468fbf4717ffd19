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

/// A command-line option for each setting of a group, which outlives this, and
/// a hidden one for each alias. Text that a setting does not accept is an error
/// of the command line.
class SettingOptions {
public:
  SettingOptions(const SettingGroup &group, llvm::cl::OptionCategory &category);
  ~SettingOptions();

private:
  std::vector<std::unique_ptr<llvm::cl::Option>> options;
};

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_SETTINGOPTIONS_H
