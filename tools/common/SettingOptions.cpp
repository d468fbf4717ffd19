//===- SettingOptions.cpp - Settings on the command line ------------------===//

#include "common/SettingOptions.h"
#include "common/ValueOption.h"
#include "glowish/Support/SettingNames.h"

using namespace glowish;
namespace cl = llvm::cl;

CompilerSettings &glowish::getSettings() {
  static CompilerSettings settings;
  return settings;
}

namespace {

/// Prints a value in help, by the name that the setting has for it.
class ValuePrinter final : public cl::basic_parser_impl {
public:
  ValuePrinter(cl::Option &option, const Setting &setting)
      : cl::basic_parser_impl(option), setting(setting) {}

  llvm::StringRef getValueName() const override {
    return setting.getValueName();
  }
  void anchor() override {}

private:
  const Setting &setting;
};

/// Prints the names that a value may be in help.
class ChoicePrinter final : public cl::generic_parser_base {
public:
  ChoicePrinter(cl::Option &option, const Setting &setting)
      : cl::generic_parser_base(option), setting(setting) {}

  unsigned getNumOptions() const override {
    return unsigned(setting.getChoices().size());
  }
  llvm::StringRef getOption(unsigned index) const override {
    return setting.getChoices()[index].name;
  }
  llvm::StringRef getDescription(unsigned index) const override {
    return setting.getChoices()[index].description;
  }
  const cl::GenericOptionValue &getOptionValue(unsigned) const override {
    return noValue;
  }

private:
  const Setting &setting;
  cl::OptionValue<std::string> noValue;
};

/// The option of one setting.
class SettingOption final : public cl::Option {
public:
  SettingOption(Setting &setting, cl::OptionCategory &category)
      : cl::Option(isList(setting) ? cl::ZeroOrMore : cl::Optional,
                   cl::NotHidden),
        setting(setting),
        description(spellSettings(setting.getDescription(), spellAsFlag)),
        choices(*this, setting), value(*this, setting) {
    setArgStr(setting.getName());
    setDescription(description);
    setValueStr(setting.getValueName());
    addCategory(category);
    addArgument();
  }

private:
  static bool isList(const Setting &setting) {
    return setting.getForm() == Setting::Form::List ||
           setting.getForm() == Setting::Form::CommaList;
  }
  bool hasChoices() const { return !setting.getChoices().empty(); }

  bool handleOccurrence(unsigned, llvm::StringRef,
                        llvm::StringRef text) override {
    if (llvm::Error error = setting.set(text))
      return refuseLine(llvm::toString(std::move(error)));
    return false;
  }
  cl::ValueExpected getValueExpectedFlagDefault() const override {
    bool isOptional = setting.getForm() == Setting::Form::Switch ||
                      setting.getForm() == Setting::Form::OptionalValue;
    return isOptional ? cl::ValueOptional : cl::ValueRequired;
  }
  size_t getOptionWidth() const override {
    return hasChoices() ? choices.getOptionWidth(*this)
                        : value.getOptionWidth(*this);
  }
  void printOptionInfo(size_t width) const override {
    if (hasChoices())
      choices.printOptionInfo(*this, width);
    else
      value.printOptionInfo(*this, width);
  }
  /// Only for LLVM's -print-options, which the tools do not have.
  void printOptionValue(size_t, bool) const override {}
  void setDefault() override {}

  Setting &setting;
  std::string description;
  ChoicePrinter choices;
  ValuePrinter value;
};

} // namespace

SettingOptions::SettingOptions(const SettingGroup &group,
                               cl::OptionCategory &category) {
  for (Setting *setting : group.getSettings())
    options.push_back(std::make_unique<SettingOption>(*setting, category));
  for (const SettingAlias *alias : group.getAliases()) {
    auto own = llvm::find_if(options, [&](const auto &option) {
      return option->ArgStr == alias->getSetting().getName();
    });
    options.push_back(std::make_unique<cl::alias>(
        alias->getName(), cl::Hidden, cl::desc("Another name of an option"),
        cl::aliasopt(**own)));
  }
}

SettingOptions::~SettingOptions() = default;
