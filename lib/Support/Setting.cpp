//===- Setting.cpp - What a user states by name and text ------------------===//

#include "glowish/Support/Setting.h"

using namespace glowish;

Setting::Setting(SettingGroup &group, Form form, llvm::StringRef name,
                 llvm::StringRef description, llvm::StringRef valueName)
    : form(form), name(name), description(description), valueName(valueName) {
  group.settings.push_back(this);
}

llvm::Error Setting::set(llvm::StringRef text) {
  if (std::optional<std::string> accepted = parse(text))
    return makeError("«{0}={1}»: accepted: {2}", name, text, *accepted);
  given = true;
  return llvm::Error::success();
}

std::optional<std::string> ListSetting::parse(llvm::StringRef text) {
  if (getForm() == Form::List) {
    values.push_back(text.str());
    return std::nullopt;
  }
  for (llvm::StringRef part : llvm::split(text, ','))
    values.push_back(part.str());
  return std::nullopt;
}

SettingAlias::SettingAlias(SettingGroup &group, llvm::StringRef name,
                           Setting &setting)
    : name(name), setting(setting) {
  group.aliases.push_back(this);
}

Setting *SettingGroup::find(llvm::StringRef name) const {
  for (Setting *setting : settings)
    if (setting->getName() == name)
      return setting;
  for (const SettingAlias *alias : aliases)
    if (alias->getName() == name)
      return &alias->getSetting();
  return nullptr;
}
