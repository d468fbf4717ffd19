//===- NamedValues.cpp - Attributes of external operators -----------------===//

#include "glowish/Ops/NamedValues.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace glowish;

static bool isSame(double a, double b) {
  return llvm::bit_cast<uint64_t>(a) == llvm::bit_cast<uint64_t>(b);
}

bool NamedValue::operator==(const NamedValue &other) const {
  if (name != other.name || content.index() != other.content.index())
    return false;
  return std::visit(
      [&](const auto &own) {
        using T = std::decay_t<decltype(own)>;
        const T &others = std::get<T>(other.content);
        if constexpr (std::is_same_v<T, double>)
          return isSame(own, others);
        else if constexpr (std::is_same_v<T, std::vector<double>>)
          return llvm::equal(own, others, isSame);
        else
          return own == others;
      },
      content);
}

llvm::hash_code glowish::hash_value(const NamedValue &value) {
  auto hashOne = [](const auto &element) -> llvm::hash_code {
    if constexpr (std::is_same_v<std::decay_t<decltype(element)>, double>)
      return llvm::hash_value(llvm::bit_cast<uint64_t>(element));
    else
      return llvm::hash_value(element);
  };
  llvm::hash_code hash = llvm::hash_combine(value.name, value.content.index());
  visitElements(value.content, [&](auto elements, bool /*isList*/) {
    for (const auto &element : elements)
      hash = llvm::hash_combine(hash, hashOne(element));
  });
  return hash;
}
