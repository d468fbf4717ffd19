//===- Settings.cpp - What Python states by keywords ----------------------===//

#include "core/Expected.h"
#include "core/SettingGroups.h"

using namespace glowish;
using namespace glowish::python;

static constexpr SettingUse allUses[] = {SettingUse::Compile, SettingUse::Load,
                                         SettingUse::Train};

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

std::vector<NamedGroup> glowish::python::listGroups(SettingGroups &groups) {
  return {{"model", groups.model, true, true, true},
          {"compilation", groups.compilation, true, true, true},
          {"target", groups.target, true, true, true},
          {"quantization", groups.quantization, true, true, false},
          {"bundle", groups.bundle, true, false, false},
          {"training bundle", groups.trainingBundle, true, false, false},
          {"training", groups.training, true, false, true}};
}

std::vector<SettingInfo> glowish::python::listSettings() {
  SettingGroups groups;
  std::vector<SettingInfo> infos;
  for (const NamedGroup &each : listGroups(groups))
    for (const Setting *setting : each.group.getSettings()) {
      SettingInfo info;
      info.name = getKeyword(setting->getName());
      info.group = each.name.str();
      info.description = setting->getDescription().str();
      info.form = getFormName(setting->getForm()).str();
      info.valueName = setting->getValueName().str();
      for (const Setting::Choice &choice : setting->getChoices())
        info.choices.emplace_back(choice.name.str(), choice.description.str());
      for (SettingUse use : allUses)
        if (each.isFor(use))
          info.uses.push_back(getUseName(use).str());
      infos.push_back(std::move(info));
    }
  return infos;
}

Settings::Settings(SettingUse use)
    : use(use), groups(std::make_unique<SettingGroups>()) {}
Settings::Settings(Settings &&) = default;
Settings::~Settings() = default;

/// Throws: there is no setting \p name. States the one that \p name may be a
/// misspelling of, unless it has nothing in common with any.
[[noreturn]] static void failUnknown(SettingGroups &groups, SettingUse use,
                                     llvm::StringRef name) {
  std::string nearest;
  unsigned best = unsigned(name.size()) / 2 + 1;
  for (const NamedGroup &each : listGroups(groups))
    for (const Setting *setting : each.group.getSettings()) {
      unsigned distance = name.edit_distance(setting->getName(), true, best);
      if (each.isFor(use) && distance < best) {
        best = distance;
        nearest = getKeyword(setting->getName());
      }
    }
  if (nearest.empty())
    fail(Failure::Kind::Type,
         "there is no option '{0}'; glowish.options() lists all",
         getKeyword(name));
  fail(Failure::Kind::Type, "there is no option '{0}'; the nearest is '{1}'",
       getKeyword(name), nearest);
}

void Settings::set(const std::string &keyword, const std::string &text) {
  std::string name = replaced(keyword, '_', '-');
  for (const NamedGroup &each : listGroups(*groups)) {
    Setting *setting = each.group.find(name);
    if (!setting)
      continue;
    if (!each.isFor(use))
      fail(Failure::Kind::Type,
           "{0}() has no option '{1}', which is one of {2}()", getUseName(use),
           getKeyword(name),
           getUseName(each.isForCompile ? SettingUse::Compile
                                        : SettingUse::Train));
    check(setting->set(text), Failure::Kind::Value);
    return;
  }
  failUnknown(*groups, use, name);
}

StatedCompilation
glowish::python::readRequest(Settings &settings, const std::string &path,
                             std::vector<std::string> &warnings,
                             bool takesFunctions) {
  return take(readCompilation(
      settings.getGroups(), path,
      [&](llvm::StringRef line) { warnings.push_back(line.str()); },
      takesFunctions));
}
