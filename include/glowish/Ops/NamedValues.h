//===- NamedValues.h - Attributes of external operators ---------*- C++ -*-===//

#ifndef GLOWISH_OPS_NAMEDVALUES_H
#define GLOWISH_OPS_NAMEDVALUES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace glowish {

/// An attribute that only its operator has a name for: a number, a string, or a
/// list of them. An empty list is one of integers.
struct NamedValue {
  using Content =
      std::variant<int64_t, double, std::string, std::vector<int64_t>,
                   std::vector<double>, std::vector<std::string>>;

  std::string name;
  Content content;

  /// Floats compare by their bits.
  bool operator==(const NamedValue &other) const;
};

using NamedValues = std::vector<NamedValue>;

/// Agrees with operator==.
llvm::hash_code hash_value(const NamedValue &value);

/// Calls \p visit with the elements of \p content, an ArrayRef, and whether it
/// is a list or a single one.
template <typename VisitFn>
auto visitElements(const NamedValue::Content &content, VisitFn visit) {
  return std::visit(
      [&](const auto &own) {
        using T = std::decay_t<decltype(own)>;
        if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
          return visit(llvm::ArrayRef<T>(own), /*isList=*/false);
        else
          return visit(llvm::ArrayRef(own), /*isList=*/true);
      },
      content);
}

} // namespace glowish

#endif // GLOWISH_OPS_NAMEDVALUES_H
