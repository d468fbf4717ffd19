//===- Arguments.cpp - Values that nodes of exported programs have --------===//

#include "TorchExport/Arguments.h"
#include "Common/Messages.h"
#include "TorchExport/Weights.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringSwitch.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchexport;
namespace json = llvm::json;

llvm::Expected<AtenValue> ExportedValues::get(llvm::StringRef name) const {
  auto found = values.find(name);
  if (found != values.end())
    return found->second;
  if (auto known = missing.find(name); known != missing.end())
    return makeError("nothing computes {0}, {1}; accepted: results that "
                     "inference computes",
                     quote(name), known->second);
  return makeError("nothing computes {0}", quote(name));
}

namespace {

/// What a member of the union Argument holds.
enum class Form {
  None,
  /// An object with a name.
  Named,
  /// A union of a name and a number.
  Symbolic,
  Int,
  Float,
  Bool,
  String,
  Kind,
  /// A list of the form before it.
  List,
  Unknown,
};

struct MemberForm {
  Form form, element;
};

} // namespace

static MemberForm getForm(llvm::StringRef name) {
  auto list = [](Form element) { return MemberForm{Form::List, element}; };
  auto one = [](Form form) { return MemberForm{form, Form::Unknown}; };
  return llvm::StringSwitch<MemberForm>(name)
      .Cases("as_none", "as_memory_format", "as_layout", "as_device",
             one(Form::None))
      .Case("as_tensor", one(Form::Named))
      .Case("as_int", one(Form::Int))
      .Case("as_float", one(Form::Float))
      .Case("as_bool", one(Form::Bool))
      .Case("as_string", one(Form::String))
      .Case("as_scalar_type", one(Form::Kind))
      .Cases("as_sym_int", "as_sym_bool", "as_sym_float", "as_optional_tensor",
             one(Form::Symbolic))
      .Case("as_tensors", list(Form::Named))
      .Case("as_ints", list(Form::Int))
      .Case("as_floats", list(Form::Float))
      .Case("as_bools", list(Form::Bool))
      .Case("as_strings", list(Form::String))
      .Cases("as_sym_ints", "as_sym_bools", "as_sym_floats",
             "as_optional_tensors", list(Form::Symbolic))
      .Default(one(Form::Unknown));
}

/// Floats beyond JSON's are strings.
static std::optional<double> readFloat(const json::Value &value) {
  if (auto number = value.getAsNumber())
    return *number;
  auto text = value.getAsString();
  if (!text)
    return std::nullopt;
  return llvm::StringSwitch<std::optional<double>>(*text)
      .Cases("Infinity", "inf", HUGE_VAL)
      .Cases("-Infinity", "-inf", -HUGE_VAL)
      .Cases("NaN", "nan", std::numeric_limits<double>::quiet_NaN())
      .Default(std::nullopt);
}

static llvm::Expected<AtenValue>
readElement(const ExportedValues &values, Form form, const json::Value &value) {
  switch (form) {
  case Form::None:
    return AtenValue();
  case Form::Named:
    if (const json::Object *object = value.getAsObject()) {
      GLOWISH_ASSIGN_OR_RETURN(llvm::StringRef name,
                               getString(*object, "name"));
      return values.get(name);
    }
    break;
  case Form::Symbolic: {
    GLOWISH_ASSIGN_OR_RETURN(JsonMember member, getMember(value));
    if (member.name == "as_name")
      if (auto name = member.value->getAsString())
        return values.get(*name);
    return values.read(member);
  }
  case Form::Int:
    if (auto number = value.getAsInteger())
      return AtenValue(int64_t(*number));
    break;
  case Form::Float:
    if (auto number = readFloat(value))
      return AtenValue(*number);
    break;
  case Form::Bool:
    if (auto flag = value.getAsBoolean())
      return AtenValue(*flag);
    break;
  case Form::String:
    if (auto text = value.getAsString())
      return AtenValue(text->str());
    break;
  case Form::Kind:
    if (auto number = value.getAsInteger()) {
      if (std::optional<ElemKind> part = getExportedPartKind(*number))
        return AtenValue(AtenComplexKind{*part});
      GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, getExportedKind(*number));
      return AtenValue(kind);
    }
    break;
  case Form::List:
  case Form::Unknown:
    break;
  }
  return makeError("an argument's value is of another form than its name says");
}

llvm::Expected<AtenValue> ExportedValues::read(const JsonMember &member) const {
  auto [form, element] = getForm(member.name);
  if (form == Form::Unknown)
    return makeError("an argument is {0}; accepted: tensors, numbers, strings, "
                     "and lists of them",
                     quote(member.name));
  if (form != Form::List)
    return readElement(*this, form, *member.value);
  const json::Array *array = member.value->getAsArray();
  if (!array)
    return makeError("an argument {0} is no list", quote(member.name));
  AtenValue::List list;
  for (const json::Value &value : *array) {
    GLOWISH_ASSIGN_OR_RETURN(AtenValue own, readElement(*this, element, value));
    list.push_back(std::move(own));
  }
  return list;
}

llvm::Expected<AtenValue>
ExportedValues::read(const json::Value &argument) const {
  GLOWISH_ASSIGN_OR_RETURN(JsonMember member, getMember(argument));
  return read(member);
}

llvm::Expected<std::vector<std::string>>
torchexport::readResultNames(const json::Value &argument) {
  GLOWISH_ASSIGN_OR_RETURN(JsonMember member, getMember(argument));
  std::vector<std::string> names;
  auto add = [&](const json::Value &value) -> llvm::Error {
    const json::Object *object = value.getAsObject();
    for (llvm::StringRef key : {"name", "as_name"})
      if (object && object->getString(key)) {
        names.push_back(object->getString(key)->str());
        return llvm::Error::success();
      }
    return makeError("a result has no name");
  };
  auto [form, element] = getForm(member.name);
  if (form == Form::None)
    return names;
  if (form == Form::Named || form == Form::Symbolic) {
    GLOWISH_RETURN_IF_ERROR(add(*member.value));
    return names;
  }
  const json::Array *array = member.value->getAsArray();
  if (form != Form::List || !array)
    return makeError(
        "a result is {0}; accepted: tensors, numbers, and lists of "
        "them",
        quote(member.name));
  for (const json::Value &value : *array)
    GLOWISH_RETURN_IF_ERROR(add(value));
  return names;
}
