//===- Setting.h - What a user states by name and text ----------*- C++ -*-===//
//
// A setting has one declaration: name, description, value and what it accepts.
// The tools make command-line options of it (tools/common/SettingOptions.h);
// the interfaces for other languages find it by its name.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_SUPPORT_SETTING_H
#define GLOWISH_SUPPORT_SETTING_H

#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace glowish {

class SettingGroup;

/// The numbers that are accepted; all by default.
template <typename T> struct NumberRange {
  T low = std::numeric_limits<T>::lowest(),
    high = std::numeric_limits<T>::max();
  bool excludesLow = false, excludesHigh = false;

  bool has(T value) const {
    return (excludesLow ? low < value : low <= value) &&
           (excludesHigh ? value < high : value <= high);
  }
  std::string describe() const;
};

/// "an integer from 1 to 256", "a number of at least 0 and below 1".
template <typename T> std::string NumberRange<T>::describe() const {
  if constexpr (!std::is_floating_point_v<T>)
    return llvm::formatv("an integer from {0} to {1}", low, high);
  std::string text = "a number";
  llvm::raw_string_ostream os(text);
  bool hasLow = low != std::numeric_limits<T>::lowest();
  if (hasLow)
    os << (excludesLow ? " above " : " of at least ")
       << llvm::format("%g", double(low));
  if (high != std::numeric_limits<T>::max())
    os << (hasLow ? " and" : "") << (excludesHigh ? " below " : " of at most ")
       << llvm::format("%g", double(high));
  return text;
}

template <typename T> NumberRange<T> inRange(T low, T high) {
  return {.low = low, .high = high};
}
template <typename T> NumberRange<T> atLeast(T low) { return {.low = low}; }
inline NumberRange<double> above(double low) {
  return {.low = low, .excludesLow = true};
}
/// From \p low on, and below \p high.
inline NumberRange<double> atLeastAndBelow(double low, double high) {
  return {.low = low, .high = high, .excludesHigh = true};
}

/// Whether \p text is a number, or true or false, which goes to \p value. An
/// empty text is true.
template <typename T> bool parseValue(llvm::StringRef text, T &value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = text.empty() || text.equals_insensitive("true") || text == "1";
    return value || text.equals_insensitive("false") || text == "0";
  } else if constexpr (std::is_floating_point_v<T>) {
    return llvm::to_float(text, value);
  } else {
    return !text.getAsInteger(0, value);
  }
}

/// What values of type \p T are to be, where \p range limits them.
template <typename T> std::string describeValues(const NumberRange<T> &range) {
  if constexpr (std::is_same_v<T, bool>)
    return "true, false";
  else
    return range.describe();
}

/// One setting of a group. Its value is the initial one until text is set.
class Setting {
public:
  /// How often text may be set, and what it is.
  enum class Form {
    /// One value; setting another replaces it.
    Value,
    /// The same; an empty text is a value, too.
    OptionalValue,
    /// One value, true or false; an empty text is true.
    Switch,
    /// One more value each time.
    List,
    /// More values each time, with commas between them.
    CommaList
  };
  /// One of the names that a value may be.
  struct Choice {
    llvm::StringRef name, description;
  };

  Setting(const Setting &) = delete;
  Setting &operator=(const Setting &) = delete;

  llvm::StringRef getName() const { return name; }
  /// A phrase without a full stop, with marks of other settings
  /// (Support/SettingNames.h).
  llvm::StringRef getDescription() const { return description; }
  /// Stands for the value in help: "N", "file".
  llvm::StringRef getValueName() const { return valueName; }
  Form getForm() const { return form; }
  /// The names that are accepted; none where other text is.
  llvm::ArrayRef<Choice> getChoices() const { return choices; }
  bool isGiven() const { return given; }

  /// Takes the value that \p text states. The error says what is accepted.
  llvm::Error set(llvm::StringRef text);

protected:
  Setting(SettingGroup &group, Form form, llvm::StringRef name,
          llvm::StringRef description, llvm::StringRef valueName);
  ~Setting() = default;

  /// Null, or what is accepted instead of \p text.
  virtual std::optional<std::string> parse(llvm::StringRef text) = 0;

  std::vector<Choice> choices;

private:
  Form form;
  bool given = false;
  llvm::StringRef name, description, valueName;
};

/// A number.
template <typename T> class NumberSetting : public Setting {
public:
  NumberSetting(SettingGroup &group, llvm::StringRef name,
                llvm::StringRef valueName, llvm::StringRef description,
                T initial, NumberRange<T> range = {})
      : Setting(group, Form::Value, name, description, valueName),
        value(initial), range(range) {}

  operator T() const { return value; }
  T getValue() const { return value; }

private:
  std::optional<std::string> parse(llvm::StringRef text) override {
    T parsed;
    if (!parseValue(text, parsed) || !range.has(parsed))
      return describeValues(range);
    value = parsed;
    return std::nullopt;
  }

  T value;
  NumberRange<T> range;
};

/// True or false.
class SwitchSetting : public Setting {
public:
  SwitchSetting(SettingGroup &group, llvm::StringRef name,
                llvm::StringRef description, bool initial = false)
      : Setting(group, Form::Switch, name, description, ""), value(initial) {}

  operator bool() const { return value; }

private:
  std::optional<std::string> parse(llvm::StringRef text) override {
    if (parseValue(text, value))
      return std::nullopt;
    return describeValues(NumberRange<bool>());
  }

  bool value;
};

/// Text, which what reads it may still refuse.
class TextSetting : public Setting {
public:
  TextSetting(SettingGroup &group, llvm::StringRef name,
              llvm::StringRef valueName, llvm::StringRef description,
              llvm::StringRef initial = "", Form form = Form::Value)
      : Setting(group, form, name, description, valueName),
        value(initial.str()) {}

  operator const std::string &() const { return value; }
  operator llvm::StringRef() const { return value; }
  const std::string &getValue() const { return value; }
  bool empty() const { return value.empty(); }

private:
  std::optional<std::string> parse(llvm::StringRef text) override {
    value = text.str();
    return std::nullopt;
  }

  std::string value;
};

/// Any number of texts.
class ListSetting : public Setting {
public:
  ListSetting(SettingGroup &group, llvm::StringRef name,
              llvm::StringRef valueName, llvm::StringRef description,
              Form form = Form::List)
      : Setting(group, form, name, description, valueName) {}

  operator llvm::ArrayRef<std::string>() const { return values; }
  const std::vector<std::string> &getValues() const { return values; }
  bool empty() const { return values.empty(); }
  auto begin() const { return values.begin(); }
  auto end() const { return values.end(); }

private:
  std::optional<std::string> parse(llvm::StringRef text) override;

  std::vector<std::string> values;
};

/// One of several names, each of which stands for a value of type \p T.
template <typename T> class ChoiceSetting : public Setting {
public:
  struct Named {
    T value;
    llvm::StringRef name, description;
  };

  ChoiceSetting(SettingGroup &group, llvm::StringRef name,
                llvm::StringRef description, T initial,
                llvm::ArrayRef<Named> named)
      : Setting(group, Form::Value, name, description, ""), value(initial) {
    for (const Named &each : named) {
      values.push_back(each.value);
      choices.push_back({each.name, each.description});
    }
  }

  operator T() const { return value; }
  T getValue() const { return value; }

private:
  std::optional<std::string> parse(llvm::StringRef text) override {
    for (size_t i = 0; i < choices.size(); ++i)
      if (choices[i].name == text) {
        value = values[i];
        return std::nullopt;
      }
    return llvm::join(
        llvm::map_range(choices,
                        [](const Choice &choice) { return choice.name; }),
        ", ");
  }

  T value;
  std::vector<T> values;
};

/// Another name of a setting, a member of the same group: what Glow or an
/// earlier release calls it. Lists of settings and messages have the setting's
/// own name, and its description mentions this one.
class SettingAlias {
public:
  SettingAlias(SettingGroup &group, llvm::StringRef name, Setting &setting);
  SettingAlias(const SettingAlias &) = delete;
  SettingAlias &operator=(const SettingAlias &) = delete;

  llvm::StringRef getName() const { return name; }
  Setting &getSetting() const { return setting; }

private:
  llvm::StringRef name;
  Setting &setting;
};

/// Settings that belong together. They are members of a class of their own,
/// which stays where it is.
class SettingGroup {
public:
  SettingGroup() = default;
  SettingGroup(const SettingGroup &) = delete;
  SettingGroup &operator=(const SettingGroup &) = delete;

  /// In the order of their declarations.
  llvm::ArrayRef<Setting *> getSettings() const { return settings; }
  llvm::ArrayRef<const SettingAlias *> getAliases() const { return aliases; }
  /// Returns the setting that is called \p name, or has it as an alias; null
  /// if none is.
  Setting *find(llvm::StringRef name) const;

private:
  friend class Setting;
  friend class SettingAlias;
  std::vector<Setting *> settings;
  std::vector<const SettingAlias *> aliases;
};

} // namespace glowish

#endif // GLOWISH_SUPPORT_SETTING_H
