//===- CompilerSettings.cpp - All that can be stated ----------------------===//

#include "glowish/Compiler/CompilerSettings.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

std::vector<NamedGroup> CompilerSettings::getGroups() {
  using enum CompilationUse;
  return {{"model", model, {Bundle, Program, Training}},
          {"compilation", compilation, {Bundle, Program, Training}},
          {"target", target, {Bundle, Program, Training}},
          {"quantization", quantization, {Bundle, Program}},
          {"bundle", bundle, {Bundle}},
          {"training", training, {Bundle, Training}},
          {"training bundle", trainingBundle, {Bundle}}};
}

std::vector<Setting *> CompilerSettings::getSettings() {
  std::vector<Setting *> settings;
  for (const NamedGroup &each : getGroups())
    llvm::append_range(settings, each.group.getSettings());
  return settings;
}

Setting *CompilerSettings::find(llvm::StringRef name) {
  for (const NamedGroup &each : getGroups())
    if (Setting *setting = each.group.find(name))
      return setting;
  return nullptr;
}

llvm::Expected<Setting *> CompilerSettings::get(llvm::StringRef name) {
  if (Setting *setting = find(name))
    return setting;
  llvm::StringRef nearest;
  unsigned best = unsigned(name.size() + 1) / 2;
  for (const Setting *setting : getSettings()) {
    unsigned distance = setting->getName().edit_distance(name, true, best);
    if (distance < best) {
      best = distance;
      nearest = setting->getName();
    }
  }
  if (nearest.empty())
    return makeError("there is no option '«{0}»'", name);
  return makeError("there is no option '«{0}»'; the nearest is '«{1}»'", name,
                   nearest);
}

llvm::Error CompilerSettings::set(llvm::StringRef name, llvm::StringRef text) {
  GLOWISH_ASSIGN_OR_RETURN(Setting *setting, get(name));
  return setting->set(text);
}

static llvm::StringRef describe(CompilationUse use) {
  switch (use) {
  case CompilationUse::Bundle:
    return "a bundle";
  case CompilationUse::Program:
    return "a program";
  case CompilationUse::Training:
    return "training";
  }
  llvm_unreachable("not a use");
}

llvm::Error CompilerSettings::checkUse(CompilationUse use) {
  for (const NamedGroup &each : getGroups())
    for (const Setting *setting : each.group.getSettings())
      if (setting->isGiven() && !each.isFor(use))
        return makeError(
            "«{0}» has no effect on {1}; accepted: of {2}", setting->getName(),
            describe(use),
            llvm::join(llvm::map_range(each.uses, describe), " or of "));
  return llvm::Error::success();
}
