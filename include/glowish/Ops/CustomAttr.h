//===- CustomAttr.h - Attributes of types of a back end ---------*- C++ -*-===//

#ifndef GLOWISH_OPS_CUSTOMATTR_H
#define GLOWISH_OPS_CUSTOMATTR_H

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include <cassert>
#include <memory>
#include <optional>
#include <string>

namespace glowish {

/// The functions by which values of one type are compared, printed and parsed
/// where they are attributes.
struct CustomAttrType {
  std::string (*print)(const void *value);
  /// Returns null if \p text is not in the form that print makes.
  std::shared_ptr<const void> (*parse)(llvm::StringRef text);
  /// Returns the forms that are parsed, for messages.
  std::string (*listForms)();
  bool (*areIdentical)(const void *a, const void *b);
  llvm::hash_code (*hash)(const void *value);
};

/// Returns the functions of values of \p T, which has `str`, `==`,
/// `hash_value`, `T::parse`, which returns an optional, and `T::listForms`. The
/// type has the result as its static member `attrType`.
template <typename T> constexpr CustomAttrType makeCustomAttrType() {
  auto get = [](const void *value) -> const T & {
    return *static_cast<const T *>(value);
  };
  using Get = decltype(get);
  return {.print = [](const void *value) { return Get()(value).str(); },
          .parse = [](llvm::StringRef text) -> std::shared_ptr<const void> {
            std::optional<T> value = T::parse(text);
            return value ? std::make_shared<const T>(std::move(*value))
                         : nullptr;
          },
          .listForms = T::listForms,
          .areIdentical = [](const void *a,
                             const void *b) { return Get()(a) == Get()(b); },
          .hash = [](const void *value) { return hash_value(Get()(value)); }};
}

/// A value of a type that only a back end knows, which is an attribute of its
/// instructions (AttrKind::Custom). Copies share it, and nothing changes it. In
/// the text forms it is a string; whatever else reads it gets the value.
class CustomAttr {
public:
  /// No value, which is no attribute's.
  CustomAttr() = default;
  template <typename T>
  explicit CustomAttr(T own)
      : type(&T::attrType), value(std::make_shared<const T>(std::move(own))) {}

  /// Returns the value of \p type that \p text is; none if it is not one.
  static std::optional<CustomAttr> parse(const CustomAttrType &type,
                                         llvm::StringRef text) {
    CustomAttr attr;
    attr.type = &type;
    attr.value = type.parse(text);
    return attr.value ? std::optional(std::move(attr)) : std::nullopt;
  }
  std::string str() const { return type->print(value.get()); }

  /// Null where there is no value.
  const CustomAttrType *getType() const { return type; }
  template <typename T> const T &get() const {
    assert(type == &T::attrType && "not a value of this type");
    return *static_cast<const T *>(value.get());
  }

  friend bool operator==(const CustomAttr &a, const CustomAttr &b) {
    return a.type == b.type &&
           (a.value == b.value ||
            a.type->areIdentical(a.value.get(), b.value.get()));
  }
  friend llvm::hash_code hash_value(const CustomAttr &attr) {
    return attr.type ? attr.type->hash(attr.value.get()) : llvm::hash_code(0);
  }

private:
  const CustomAttrType *type = nullptr;
  std::shared_ptr<const void> value;
};

} // namespace glowish

#endif // GLOWISH_OPS_CUSTOMATTR_H
