//===- SettingNames.h - Settings in messages --------------------*- C++ -*-===//
//
// A message names a setting, perhaps with a value, between the marks « and »:
// "accepted: «threads=1»". The interface that shows the message spells the
// setting as its users state it: -threads=1 on the command line. A message that
// no interface shows can be read as it is.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_SUPPORT_SETTINGNAMES_H
#define GLOWISH_SUPPORT_SETTINGNAMES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace glowish {

/// Returns the mark of the setting \p name that has the value \p value. Where
/// both are known in the source, the message has the mark itself.
std::string nameSetting(const llvm::Twine &name, const llvm::Twine &value);

/// Spells a setting in a message. There may be no value.
using SettingSpelling = llvm::function_ref<std::string(
    llvm::StringRef name, std::optional<llvm::StringRef> value)>;

/// Returns \p message with each mark replaced by what \p spell returns.
std::string spellSettings(llvm::StringRef message, SettingSpelling spell);
/// The same of the messages of \p error; success is passed through.
llvm::Error spellSettings(llvm::Error error, SettingSpelling spell);

/// \name Spellings
/// @{
/// -name=value
std::string spellAsFlag(llvm::StringRef name,
                        std::optional<llvm::StringRef> value);
/// name=value
std::string spellAsOption(llvm::StringRef name,
                          std::optional<llvm::StringRef> value);
/// @}

} // namespace glowish

#endif // GLOWISH_SUPPORT_SETTINGNAMES_H
