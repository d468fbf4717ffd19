//===- Settings.h - What Python states by keywords --------------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_SETTINGS_H
#define GLOWISH_PYTHON_CORE_SETTINGS_H

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace glowish::python {

/// What the settings are for. Each has those groups of settings that affect it.
enum class SettingUse { Compile, Load, Train };

/// What is known of a setting.
struct SettingInfo {
  /// As a keyword: '_' in the place of '-'.
  std::string name;
  /// "model", "target", ...
  std::string group;
  std::string description;
  /// "switch", "value", "list" or "comma-list".
  std::string form;
  /// Stands for the value: "N", "file".
  std::string valueName;
  /// Names that are accepted, with their descriptions; none: other text is.
  std::vector<std::pair<std::string, std::string>> choices;
  /// Of "compile", "load" and "train", those that accept it.
  std::vector<std::string> uses;
};

/// All settings, in the order in which the tools list them.
std::vector<SettingInfo> listSettings();

/// The groups of settings of one use, each with its initial values.
struct SettingGroups;

/// The settings of one compilation.
class Settings {
public:
  explicit Settings(SettingUse use);
  Settings(Settings &&);
  ~Settings();

  /// Gives the setting \p name, with '_' or '-', the value that \p text states.
  /// Throws a value failure that names the nearest setting, the use that does
  /// accept it, or what it accepts.
  void set(const std::string &name, const std::string &text);

  SettingUse getUse() const { return use; }
  SettingGroups &getGroups() { return *groups; }

private:
  SettingUse use;
  std::unique_ptr<SettingGroups> groups;
};

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_SETTINGS_H
