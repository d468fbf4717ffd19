//===- NamedValues.h - Attributes of external operators ---------*- C++ -*-===//

#ifndef GLOWISH_OPS_NAMEDVALUES_H
#define GLOWISH_OPS_NAMEDVALUES_H

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

} // namespace glowish

#endif // GLOWISH_OPS_NAMEDVALUES_H
