//===- Settings.cpp - What Python states by keywords ----------------------===//

#include "core/Expected.h"
#include "core/SettingGroups.h"
#include "glowish/Support/SettingNames.h"

using namespace glowish;
using namespace glowish::python;

static constexpr SettingUse allUses[] = {SettingUse::Compile, SettingUse::Load,
                                         SettingUse::Train};

static CompilationUse getCompilationUse(SettingUse use) {
  switch (use) {
  case SettingUse::Compile:
    return CompilationUse::Bundle;
  case SettingUse::Load:
    return CompilationUse::Program;
  case SettingUse::Train:
    return CompilationUse::Training;
  }
  llvm_unreachable("not a use");
}

static llvm::StringRef getUseName(SettingUse use) {
  switch (use) {
  case SettingUse::Compile:
    return "compile";
  case SettingUse::Load:
    return "load";
  case SettingUse::Train:
    return "train";
  }
  llvm_unreachable("not a use");
}

static llvm::StringRef getFormName(Setting::Form form) {
  switch (form) {
  case Setting::Form::Value:
  case Setting::Form::OptionalValue:
    return "value";
  case Setting::Form::Switch:
    return "switch";
  case Setting::Form::List:
    return "list";
  case Setting::Form::CommaList:
    return "comma-list";
  }
  llvm_unreachable("not a form");
}

static std::string replaced(llvm::StringRef text, char from, char to) {
  std::string result = text.str();
  std::replace(result.begin(), result.end(), from, to);
  return result;
}

/// The name of a setting as a keyword.
static std::string getKeyword(llvm::StringRef name) {
  return replaced(name, '-', '_');
}

std::vector<SettingInfo> glowish::python::listSettings() {
  SettingGroups groups;
  std::vector<SettingInfo> infos;
  for (const NamedGroup &each : groups.getGroups())
    for (const Setting *setting : each.group.getSettings()) {
      SettingInfo info;
      info.name = getKeyword(setting->getName());
      info.group = each.name.str();
      info.description = spellAsKeywords(setting->getDescription());
      info.form = getFormName(setting->getForm()).str();
      info.valueName = setting->getValueName().str();
      for (const Setting::Choice &choice : setting->getChoices())
        info.choices.emplace_back(choice.name.str(), choice.description.str());
      for (SettingUse use : allUses)
        if (each.isFor(getCompilationUse(use)))
          info.uses.push_back(getUseName(use).str());
      infos.push_back(std::move(info));
    }
  return infos;
}

Settings::Settings(SettingUse use)
    : use(use), groups(std::make_unique<SettingGroups>()) {}
Settings::Settings(Settings &&) = default;
Settings::~Settings() = default;

/// Returns \p value of \p setting, which may be null, as Python has it.
static std::string formatValue(const Setting *setting, llvm::StringRef value) {
  bool isSwitch = setting && setting->getForm() == Setting::Form::Switch;
  if (isSwitch && (value == "true" || value == "false"))
    return value == "true" ? "True" : "False";
  double number = 0;
  bool isPlaceholder = setting && value == setting->getValueName().upper();
  if (isPlaceholder || llvm::to_float(value, number))
    return value.str();
  // Some messages have quotes.
  if (value.size() > 1 && value.front() == '\'' && value.back() == '\'')
    return value.str();
  const char *quote = value.contains('\'') ? "\"" : "'";
  return (quote + value + quote).str();
}

std::string glowish::python::spellAsKeywords(llvm::StringRef message) {
  // Created for the first value: a message without settings needs none.
  std::optional<CompilerSettings> settings;
  return spellSettings(
      message, [&](llvm::StringRef name, std::optional<llvm::StringRef> value) {
        std::string text = getKeyword(name);
        if (value) {
          if (!settings)
            settings.emplace();
          text += "=" + formatValue(settings->find(name), *value);
        }
        return text;
      });
}

void Settings::set(const std::string &keyword, const std::string &text) {
  llvm::Expected<Setting *> setting = groups->get(replaced(keyword, '_', '-'));
  if (!setting)
    fail(Failure::Kind::Type, "{0}; glowish.options() lists all",
         spellAsKeywords(llvm::toString(setting.takeError())));
  check((*setting)->set(text), Failure::Kind::Value);
  check(groups->checkUse(getCompilationUse(use)), Failure::Kind::Type);
}

ModelCompiler glowish::python::createCompiler(
    Settings &settings, std::vector<std::string> paths,
    std::vector<std::string> &warnings, DeveloperOptions developer) {
  auto warn = [&](llvm::StringRef line) {
    warnings.push_back(spellAsKeywords(line));
  };
  return ModelCompiler(settings.getGroups(), {std::move(paths), warn},
                       std::move(developer));
}
