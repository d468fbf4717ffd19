//===- Fields.cpp - Fields of exported programs ---------------------------===//

#include "TorchExport/Fields.h"
#include "Common/Messages.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringMap.h"

using namespace glowish;
using namespace glowish::torchexport;
namespace json = llvm::json;

//===- The schema ---------------------------------------------------------===//

namespace {

/// How the type of a field follows from the name that is stated for it.
enum class Shape { One, List, Map };

struct Field {
  llvm::StringLiteral name;
  /// A type of the schema; empty of numbers, strings, and what is not looked
  /// into.
  llvm::StringLiteral type = "";
  Shape shape = Shape::One;
  /// The only value that is accepted, where another one would change what is
  /// computed.
  std::optional<int64_t> only = {};
};

struct ObjectType {
  llvm::StringLiteral name;
  llvm::ArrayRef<Field> fields;
  /// Whether one field is set of all.
  bool isUnion = false;
};

} // namespace

/// Tensors that are not sparse.
static constexpr int64_t stridedLayout = 7;

static const Field programFields[] = {
    {"graph_module", "GraphModule"},
    {"opset_version"},
    {"range_constraints", "RangeConstraint", Shape::Map},
    {"schema_version", "SchemaVersion"},
    // How the program was made, and what was checked of its example.
    {"verifiers"},
    {"torch_version"},
    {"guards_code"}};
static const Field moduleFields[] = {
    {"graph", "Graph"},
    {"signature", "GraphSignature"},
    // How values come from, and go to, structures of Python.
    {"module_call_graph"},
    {"metadata"},
    {"treespec_namedtuple_fields"}};
static const Field graphFields[] = {
    {"inputs", "Argument", Shape::List},
    {"outputs", "Argument", Shape::List},
    {"nodes", "Node", Shape::List},
    {"tensor_values", "TensorMeta", Shape::Map},
    {"sym_int_values", "SymValue", Shape::Map},
    {"sym_bool_values", "SymValue", Shape::Map},
    {"sym_float_values", "SymValue", Shape::Map},
    {"custom_obj_values", "CustomObjArgument", Shape::Map},
    {"is_single_tensor_return"}};
static const Field nodeFields[] = {{"target"},
                                   {"inputs", "NamedArgument", Shape::List},
                                   {"outputs", "Argument", Shape::List},
                                   // Where the node is in Python.
                                   {"metadata"},
                                   {"is_hop_single_tensor_return"},
                                   {"name"}};
static const Field namedArgumentFields[] = {
    {"name"}, {"arg", "Argument"}, {"kind"}};
static const Field argumentFields[] = {
    {"as_none"},
    {"as_tensor", "NamedValue"},
    {"as_tensors", "NamedValue", Shape::List},
    {"as_int"},
    {"as_ints"},
    {"as_float"},
    {"as_floats"},
    {"as_string"},
    {"as_strings"},
    {"as_sym_int", "SymArgument"},
    {"as_sym_ints", "SymArgument", Shape::List},
    {"as_scalar_type"},
    {"as_memory_format"},
    {"as_layout", "", Shape::One, stridedLayout},
    {"as_device", "Device"},
    {"as_bool"},
    {"as_bools"},
    {"as_sym_bool", "SymArgument"},
    {"as_sym_bools", "SymArgument", Shape::List},
    {"as_graph", "GraphArgument"},
    {"as_optional_tensors", "OptionalTensor", Shape::List},
    {"as_custom_obj", "CustomObjArgument"},
    {"as_operator"},
    {"as_sym_float", "SymArgument"},
    {"as_sym_floats", "SymArgument", Shape::List},
    {"as_optional_tensor", "OptionalTensor"},
    {"as_complex"},
    {"as_nested_tensors"},
    {"as_int_lists"},
    {"as_string_to_argument"},
    {"as_float_lists"}};
static const Field namedValueFields[] = {{"name"}};
static const Field optionalTensorFields[] = {{"as_tensor", "NamedValue"},
                                             {"as_none"}};
static const Field graphArgumentFields[] = {{"name"}, {"graph", "Graph"}};
static const Field customObjectFields[] = {{"name"}, {"class_fqn"}};
static const Field symArgumentFields[] = {
    {"as_name"}, {"as_int"}, {"as_float"}, {"as_bool"}};
static const Field symValueFields[] = {
    {"as_expr", "SymExpr"}, {"as_int"}, {"as_float"}, {"as_bool"}};
// The hint: the value in the example.
static const Field symExprFields[] = {{"expr_str"}, {"hint"}};
static const Field deviceFields[] = {{"type"}, {"index"}};
static const Field tensorMetaFields[] = {
    {"dtype"},
    {"sizes", "SymValue", Shape::List},
    {"requires_grad"},
    {"device", "Device"},
    {"strides", "SymValue", Shape::List},
    {"storage_offset", "SymValue"},
    {"layout", "", Shape::One, stridedLayout}};
static const Field signatureFields[] = {{"input_specs", "Spec", Shape::List},
                                        {"output_specs", "Spec", Shape::List}};
static const Field specFields[] = {{"user_input", "UserSpec"},
                                   {"parameter", "TensorSpec"},
                                   {"buffer", "TensorSpec"},
                                   {"tensor_constant", "TensorSpec"},
                                   {"custom_obj"},
                                   {"token"},
                                   {"constant_input", "ConstantSpec"},
                                   {"user_output", "UserSpec"},
                                   {"loss_output", "TensorSpec"},
                                   {"buffer_mutation", "TensorSpec"},
                                   {"gradient_to_parameter", "TensorSpec"},
                                   {"gradient_to_user_input", "TensorSpec"},
                                   {"user_input_mutation", "TensorSpec"},
                                   {"parameter_mutation", "TensorSpec"}};
static const Field userSpecFields[] = {{"arg", "Argument"}};
static const Field tensorSpecFields[] = {{"arg", "NamedValue"},
                                         {"parameter_name"},
                                         {"buffer_name"},
                                         {"tensor_constant_name"},
                                         {"user_input_name"},
                                         // Whether it is in the state_dict.
                                         {"persistent"}};
static const Field constantSpecFields[] = {{"name"}, {"value"}};
static const Field rangeFields[] = {{"min_val"}, {"max_val"}};
static const Field versionFields[] = {{"major"}, {"minor"}};
static const Field payloadConfigFields[] = {
    {"config", "PayloadMeta", Shape::Map}};
static const Field payloadFields[] = {
    {"path_name"}, {"is_param"}, {"use_pickle"}, {"tensor_meta", "TensorMeta"}};

/// Types that differ in what is not looked at are one here.
static const ObjectType objectTypes[] = {
    {"ExportedProgram", programFields},
    {"GraphModule", moduleFields},
    {"Graph", graphFields},
    {"Node", nodeFields},
    {"NamedArgument", namedArgumentFields},
    {"Argument", argumentFields, /*isUnion=*/true},
    {"NamedValue", namedValueFields},
    {"OptionalTensor", optionalTensorFields, /*isUnion=*/true},
    {"GraphArgument", graphArgumentFields},
    {"CustomObjArgument", customObjectFields},
    {"SymArgument", symArgumentFields, /*isUnion=*/true},
    {"SymValue", symValueFields, /*isUnion=*/true},
    {"SymExpr", symExprFields},
    {"Device", deviceFields},
    {"TensorMeta", tensorMetaFields},
    {"GraphSignature", signatureFields},
    {"Spec", specFields, /*isUnion=*/true},
    {"UserSpec", userSpecFields},
    {"TensorSpec", tensorSpecFields},
    {"ConstantSpec", constantSpecFields},
    {"RangeConstraint", rangeFields},
    {"SchemaVersion", versionFields},
    {"PayloadConfig", payloadConfigFields},
    {"PayloadMeta", payloadFields}};

static const ObjectType &getType(llvm::StringRef name) {
  const auto *found = llvm::find_if(
      objectTypes, [&](const ObjectType &type) { return type.name == name; });
  assert(found != std::end(objectTypes) && "the schema has the type");
  return *found;
}

//===- Checks -------------------------------------------------------------===//

static bool isSet(const json::Value &value) {
  switch (value.kind()) {
  case json::Value::Null:
    return false;
  case json::Value::Boolean:
    return *value.getAsBoolean();
  case json::Value::Number:
    return *value.getAsNumber() != 0;
  case json::Value::String:
    return !value.getAsString()->empty();
  case json::Value::Array:
    return !value.getAsArray()->empty();
  case json::Value::Object:
    return !value.getAsObject()->empty();
  }
  llvm_unreachable("not a kind of value");
}

/// Returns \p value in a message.
static std::string describe(const json::Value &value) {
  if (value.kind() == json::Value::Array)
    return "a list";
  if (value.kind() == json::Value::Object)
    return "an object";
  return llvm::formatv("{0}", value).str();
}

static llvm::Error checkObject(const json::Object &object,
                               const ObjectType &type);

/// Checks what \p value, of \p field, has inside. Values of other forms than
/// the schema's are an error of their reader.
static llvm::Error checkInside(const json::Value &value, const Field &field) {
  if (field.type.empty())
    return llvm::Error::success();
  const ObjectType &type = getType(field.type);
  auto check = [&](const json::Value &inner) -> llvm::Error {
    const json::Object *object = inner.getAsObject();
    return object ? checkObject(*object, type) : llvm::Error::success();
  };
  if (field.shape == Shape::One)
    return check(value);
  if (field.shape == Shape::List) {
    if (const json::Array *list = value.getAsArray())
      for (const json::Value &element : *list)
        GLOWISH_RETURN_IF_ERROR(check(element));
    return llvm::Error::success();
  }
  if (const json::Object *map = value.getAsObject())
    for (const auto &[key, element] : *map)
      if (llvm::Error error = check(element))
        return addContext(std::move(error), quote(key) + ": ");
  return llvm::Error::success();
}

static llvm::Error checkField(llvm::StringRef key, const json::Value &value,
                              const ObjectType &type) {
  const auto *field = llvm::find_if(
      type.fields, [&](const Field &known) { return known.name == key; });
  if (field == type.fields.end())
    return isSet(value)
               ? makeError("field {0} of {1} is {2}, which is none of the "
                           "schema 8.20; accepted: none",
                           quote(key), type.name, describe(value))
               : llvm::Error::success();
  bool isOther = field->only && value.kind() != json::Value::Null &&
                 value.getAsInteger() != field->only;
  if (isOther)
    return makeError("field {0} of {1} is {2}; accepted: {3}", quote(key),
                     type.name, describe(value), *field->only);
  return checkInside(value, *field);
}

static llvm::Error checkObject(const json::Object &object,
                               const ObjectType &type) {
  std::vector<llvm::StringRef> members;
  auto check = [&]() -> llvm::Error {
    for (const auto &[key, value] : object) {
      GLOWISH_RETURN_IF_ERROR(checkField(key, value, type));
      if (value.kind() != json::Value::Null)
        members.push_back(key);
    }
    if (type.isUnion && members.size() > 1)
      return makeError(
          "the union {0} has the members {1} and {2}; accepted: one", type.name,
          quote(members[0]), quote(members[1]));
    return llvm::Error::success();
  };
  llvm::Error error = check();
  if (!error || type.name != "Node")
    return error;
  return addContext(std::move(error),
                    describeNode(object.getString("name").value_or(""),
                                 object.getString("target").value_or("")) +
                        ": ");
}

llvm::Error torchexport::checkFields(const json::Object &object,
                                     llvm::StringRef type) {
  return checkObject(object, getType(type));
}
