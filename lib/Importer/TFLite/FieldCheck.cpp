//===- FieldCheck.cpp - Fields of a file that nothing heeds ---------------===//

#include "TFLite/FieldCheck.h"
#include "TFLite/tflite_bfbs_generated.h"
#include "flatbuffers/reflection_generated.h"
#include "glowish/Ops/TypeRuleHelpers.h"
#include "glowish/Support/Escape.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::tflite;
using reflection::BaseType;

//===- The schema ---------------------------------------------------------===//

static const reflection::Schema &getSchema() {
  // Aligned, unlike the bytes in the code.
  static const std::vector<uint8_t> bytes(
      schema::ModelBinarySchema::data(),
      schema::ModelBinarySchema::data() + schema::ModelBinarySchema::size());
  return *reflection::GetSchema(bytes.data());
}

static bool hasMark(const reflection::Field &field, const char *mark) {
  return field.attributes() && field.attributes()->LookupByKey(mark);
}

/// Returns the enumeration that a number in \p field is of; null for others.
static const reflection::Enum *findEnum(const reflection::Field &field) {
  BaseType type = field.type()->base_type();
  if (field.type()->index() < 0 || type < BaseType::UType ||
      type > BaseType::ULong)
    return nullptr;
  return getSchema().enums()->Get(unsigned(field.type()->index()));
}

static llvm::StringRef getName(const flatbuffers::String *name) {
  return {name->c_str(), name->size()};
}

/// Returns the names of \p kinds, or the first and the last number if these are
/// many.
static std::string listNames(const reflection::Enum &kinds) {
  const auto &values = *kinds.values();
  constexpr unsigned most = 8;
  if (values.size() > most)
    return llvm::formatv("{0} to {1}", values.Get(0)->value(),
                         values.Get(values.size() - 1)->value());
  std::vector<llvm::StringRef> names;
  for (const reflection::EnumVal *value : values)
    names.push_back(getName(value->name()));
  return llvm::join(names, ", ");
}

//===- Values -------------------------------------------------------------===//

static int64_t readInteger(const flatbuffers::Table &table,
                           const reflection::Field &field) {
  auto read = [&]<typename T>(T) {
    return int64_t(
        table.GetField<T>(field.offset(), T(field.default_integer())));
  };
  switch (field.type()->base_type()) {
  case BaseType::UType:
  case BaseType::Bool:
  case BaseType::UByte:
    return read(uint8_t());
  case BaseType::Byte:
    return read(int8_t());
  case BaseType::Short:
    return read(int16_t());
  case BaseType::UShort:
    return read(uint16_t());
  case BaseType::Int:
    return read(int32_t());
  case BaseType::UInt:
    return read(uint32_t());
  case BaseType::Long:
    return read(int64_t());
  case BaseType::ULong:
    return read(uint64_t());
  default:
    llvm_unreachable("the field is no integer");
  }
}

/// Returns \p value, of \p field, in a message.
static std::string describeInteger(const reflection::Field &field,
                                   int64_t value) {
  if (field.type()->base_type() == BaseType::Bool)
    return value ? "true" : "false";
  const reflection::Enum *kinds = findEnum(field);
  const auto *known = kinds ? kinds->values()->LookupByKey(value) : nullptr;
  return known ? known->name()->str() : std::to_string(value);
}

namespace {

/// The value of a field, and its default, in a message.
struct FieldText {
  std::string value, otherwise;
};

} // namespace

static std::optional<FieldText> describeFloat(const reflection::Field &field,
                                              double value) {
  // Also where either is not a number.
  if (value == field.default_real())
    return std::nullopt;
  return FieldText{typerules::formatDouble(value),
                   typerules::formatDouble(field.default_real())};
}

static std::optional<FieldText> describePointer(const void *value,
                                                std::string text) {
  return value ? std::optional(FieldText{std::move(text), "none"})
               : std::nullopt;
}

/// Returns the type that \p union_, a field of \p table, has.
static std::string describeUnion(const flatbuffers::Table &table,
                                 const reflection::Object &object,
                                 const reflection::Field &union_) {
  std::string name = union_.name()->str() + "_type";
  const reflection::Field &type = *object.fields()->LookupByKey(name.c_str());
  return describeInteger(type, readInteger(table, type));
}

/// Returns the value of \p field in \p table; nullopt if that is its default.
static std::optional<FieldText> describe(const flatbuffers::Table &table,
                                         const reflection::Object &object,
                                         const reflection::Field &field) {
  flatbuffers::voffset_t offset = field.offset();
  switch (field.type()->base_type()) {
  case BaseType::Float:
    return describeFloat(field, double(table.GetField<float>(
                                    offset, float(field.default_real()))));
  case BaseType::Double:
    return describeFloat(field,
                         table.GetField<double>(offset, field.default_real()));
  case BaseType::String: {
    auto *text = table.GetPointer<const flatbuffers::String *>(offset);
    return text && text->size() ? describePointer(text, quote(getName(text)))
                                : std::nullopt;
  }
  case BaseType::Vector: {
    auto *list = table.GetPointer<const flatbuffers::Vector<uint8_t> *>(offset);
    return list && list->size()
               ? describePointer(
                     list, std::to_string(list->size()) +
                               (list->size() == 1 ? " element" : " elements"))
               : std::nullopt;
  }
  case BaseType::Obj:
    return describePointer(table.GetPointer<const void *>(offset), "a table");
  case BaseType::Union:
    return describePointer(table.GetPointer<const void *>(offset),
                           describeUnion(table, object, field));
  default:
    int64_t value = readInteger(table, field);
    if (value == field.default_integer())
      return std::nullopt;
    return FieldText{describeInteger(field, value),
                     describeInteger(field, field.default_integer())};
  }
}

//===- Checks -------------------------------------------------------------===//

/// Returns the name of a table's type without its namespace.
static llvm::StringRef getShortName(const reflection::Object &object) {
  return getName(object.name()).rsplit('.').second;
}

/// Returns an error if \p field has a number that its enumeration lacks.
static llvm::Error checkEnum(const flatbuffers::Table &table,
                             const reflection::Object &object,
                             const reflection::Field &field) {
  const reflection::Enum *kinds = findEnum(field);
  if (!kinds)
    return llvm::Error::success();
  int64_t value = readInteger(table, field);
  if (kinds->values()->LookupByKey(value))
    return llvm::Error::success();
  return makeError("field {0} of {1} is {2}; accepted: {3}",
                   quote(getName(field.name())), getShortName(object), value,
                   listNames(*kinds));
}

/// Whether the bytes of what \p table has at \p slot of its vtable are 0. They
/// end where the next field begins, or the table ends.
static bool isZero(const flatbuffers::Table &table, flatbuffers::voffset_t slot,
                   llvm::ArrayRef<uint8_t> bytes) {
  using flatbuffers::ReadScalar;
  using flatbuffers::voffset_t;
  const uint8_t *vtable = table.GetVTable();
  auto size = ReadScalar<voffset_t>(vtable);
  auto begin = ReadScalar<voffset_t>(vtable + slot);
  auto end = ReadScalar<voffset_t>(vtable + sizeof(voffset_t));
  for (unsigned other = 4; other + 2 <= size; other += 2) {
    auto next = ReadScalar<voffset_t>(vtable + other);
    if (next > begin)
      end = std::min(end, next);
  }
  auto *base = reinterpret_cast<const uint8_t *>(&table);
  if (end < begin || end > bytes.end() - base)
    return false;
  return std::all_of(base + begin, base + end,
                     [](uint8_t byte) { return byte == 0; });
}

/// Returns an error if \p table has set a field that \p object, its type, does
/// not have: one of a later schema.
static llvm::Error checkUnknown(const flatbuffers::Table &table,
                                const reflection::Object &object,
                                llvm::ArrayRef<uint8_t> bytes) {
  auto size =
      flatbuffers::ReadScalar<flatbuffers::voffset_t>(table.GetVTable());
  for (unsigned slot = 4; slot + 2 <= size; slot += 2) {
    auto offset = flatbuffers::voffset_t(slot);
    bool isKnown =
        llvm::any_of(*object.fields(), [&](const reflection::Field *field) {
          return field->offset() == offset;
        });
    if (!isKnown && table.CheckField(offset) && !isZero(table, offset, bytes))
      return makeError("field {0} of {1} is set, which is none of the known "
                       "schema; accepted: the first {2}",
                       (slot - 4) / 2, getShortName(object),
                       object.fields()->size());
  }
  return llvm::Error::success();
}

llvm::Error tflite::checkFields(const void *table, const char *typeName,
                                FieldReads isRead,
                                llvm::ArrayRef<uint8_t> bytes) {
  const auto &stored = *static_cast<const flatbuffers::Table *>(table);
  const reflection::Object &object =
      *getSchema().objects()->LookupByKey(typeName);
  for (const reflection::Field *field : *object.fields()) {
    // Replaced by others.
    if (field->deprecated())
      continue;
    GLOWISH_RETURN_IF_ERROR(checkEnum(stored, object, *field));
    llvm::StringRef name = getName(field->name());
    bool isHeeded = hasMark(*field, "ignored") ||
                    (!hasMark(*field, "refused") && isRead(name));
    if (isHeeded || field->type()->base_type() == BaseType::UType)
      continue;
    if (auto text = describe(stored, object, *field))
      return makeError("field {0} of {1} is {2}; accepted: {3}", quote(name),
                       getShortName(object), text->value, text->otherwise);
  }
  return checkUnknown(stored, object, bytes);
}

/// Does that for \p table, which member \p type of the union \p unionName is; a
/// null table has nothing set.
static llvm::Error checkUnion(const void *table, int64_t type,
                              const char *unionName, FieldReads isRead,
                              llvm::ArrayRef<uint8_t> bytes) {
  constexpr int64_t none = 0;
  if (!table || type == none)
    return llvm::Error::success();
  const auto &types = *getSchema().enums()->LookupByKey(unionName);
  const auto *member = types.values()->LookupByKey(type);
  const auto &object =
      *getSchema().objects()->Get(unsigned(member->union_type()->index()));
  return checkFields(table, object.name()->c_str(), isRead, bytes);
}

llvm::Error tflite::checkOptions(const schema::Operator &op, FieldReads isRead,
                                 llvm::ArrayRef<uint8_t> bytes) {
  GLOWISH_RETURN_IF_ERROR(
      checkUnion(op.builtin_options(), int64_t(op.builtin_options_type()),
                 "glowish.tflite.schema.BuiltinOptions", isRead, bytes));
  return checkUnion(op.builtin_options_2(),
                    int64_t(op.builtin_options_2_type()),
                    "glowish.tflite.schema.BuiltinOptions2", isRead, bytes);
}
