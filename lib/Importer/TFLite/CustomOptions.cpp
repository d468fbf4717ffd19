//===- CustomOptions.cpp - Options of custom operators --------------------===//

#include "TFLite/CustomOptions.h"

using namespace glowish;
using namespace glowish::tflite;

/// Returns the map that \p bytes are; nullopt if they are something else.
static std::optional<flexbuffers::Map> findMap(llvm::ArrayRef<uint8_t> bytes) {
  if (bytes.size() < 3 ||
      !flexbuffers::VerifyBuffer(bytes.data(), bytes.size(), nullptr))
    return std::nullopt;
  flexbuffers::Reference root =
      flexbuffers::GetRoot(bytes.data(), bytes.size());
  return root.IsMap() ? std::optional(root.AsMap()) : std::nullopt;
}

llvm::Expected<CustomOptions> CustomOptions::read(const TFLiteOp &op) {
  if (auto map = findMap(op.getCustomOptions()))
    return CustomOptions(op, *map);
  return makeError("its options are malformed; accepted: a FlexBuffers map");
}

llvm::Expected<int64_t> CustomOptions::getInt(const char *name, int64_t least,
                                              int64_t most) const {
  int64_t value = get(name).AsInt64();
  if (value < least || value > most)
    return makeError("option {0} is {1}; accepted: {2} to {3}", name, value,
                     least, most);
  return value;
}

static std::vector<std::string> getKeys(const flexbuffers::Map &map) {
  std::vector<std::string> names;
  flexbuffers::TypedVector keys = map.Keys();
  for (size_t i = 0; i < keys.size(); ++i)
    names.emplace_back(keys[i].AsKey());
  return names;
}

std::vector<std::string> CustomOptions::getNames() const {
  return getKeys(map);
}

/// Whether \p value is what an absent option reads as.
static bool isDefault(flexbuffers::Reference value) {
  if (value.IsNull())
    return true;
  if (value.IsNumeric() || value.IsBool())
    return value.AsDouble() == 0;
  return value.IsString() && value.AsString().length() == 0;
}

llvm::Error tflite::checkCustomOptions(const TFLiteOp &op, FieldReads isRead) {
  if (op.getCustomOptions().empty())
    return llvm::Error::success();
  auto map = findMap(op.getCustomOptions());
  if (!map)
    return makeError("its custom options, {0} bytes, are no FlexBuffers map; "
                     "accepted: none",
                     op.getCustomOptions().size());
  for (const std::string &name : getKeys(*map)) {
    // A name that begins with an underscore is a note of the converter.
    if (isRead(name) || llvm::StringRef(name).starts_with("_"))
      continue;
    flexbuffers::Reference value = (*map)[name.c_str()];
    if (!isDefault(value))
      return makeError("option {0} is {1}; accepted: none of that name",
                       quote(name), quote(value.ToString()));
  }
  return llvm::Error::success();
}
