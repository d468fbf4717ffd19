//===- LaterFields.cpp - Fields that ONNX's library may lack --------------===//

#include "ONNX/LaterFields.h"
#include "ONNX/GraphScope.h"
#include "glowish/Support/Escape.h"
#include <google/protobuf/unknown_field_set.h>

using namespace glowish;
using namespace glowish::onnximport;
namespace pb = google::protobuf;

namespace {

/// Fields of ONNX 1.13 and later, by the names of messages.
namespace later {
constexpr int nodeOverload = 8, functionOverload = 13, functionDefaults = 11;
}

struct LaterField {
  llvm::StringLiteral message;
  int number;
};

} // namespace

static constexpr LaterField laterFields[] = {
    {"NodeProto", later::nodeOverload},
    {"FunctionProto", later::functionOverload},
    {"FunctionProto", later::functionDefaults},
    // What follows is about the model, or where it runs: metadata, types of
    // values, devices.
    {"ValueInfoProto", 4},
    {"NodeProto", 9},
    {"NodeProto", 10},
    {"ModelProto", 26},
    {"GraphProto", 16},
    {"TensorProto", 16},
    {"FunctionProto", 12},
    {"FunctionProto", 14}};

/// Returns the bytes of each string or message in field \p number of
/// \p message, whether the library declares it or not.
static std::vector<std::string> readField(const pb::Message &message,
                                          int number) {
  const pb::Reflection &reflection = *message.GetReflection();
  std::vector<std::string> contents;
  if (const auto *field = message.GetDescriptor()->FindFieldByNumber(number)) {
    if (!field->is_repeated())
      return {reflection.GetString(message, field)};
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      contents.push_back(reflection.GetRepeatedMessage(message, field, i)
                             .SerializePartialAsString());
    return contents;
  }
  const pb::UnknownFieldSet &fields = reflection.GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).number() == number &&
        fields.field(i).type() == pb::UnknownField::TYPE_LENGTH_DELIMITED)
      contents.push_back(fields.field(i).length_delimited());
  return contents;
}

/// Returns a string that a message has at most once: the last one.
static std::string readString(const pb::Message &message, int number) {
  std::vector<std::string> contents = readField(message, number);
  return contents.empty() ? "" : contents.back();
}

std::string onnximport::getOverload(const onnx::NodeProto &node) {
  return readString(node, later::nodeOverload);
}

std::string onnximport::getOverload(const onnx::FunctionProto &function) {
  return readString(function, later::functionOverload);
}

llvm::Expected<std::vector<onnx::AttributeProto>>
onnximport::getDefaultAttributes(const onnx::FunctionProto &function) {
  std::vector<onnx::AttributeProto> attributes;
  for (const std::string &bytes : readField(function, later::functionDefaults))
    if (!attributes.emplace_back().ParsePartialFromString(bytes))
      return makeError("a default of an attribute of function {0} is malformed",
                       quote(function.name()));
  return attributes;
}

//===- Checks -------------------------------------------------------------===//

/// Returns an error for a field of \p message itself that is of no version.
static llvm::Error checkOwnFields(const pb::Message &message) {
  llvm::StringRef name = message.GetDescriptor()->name();
  const pb::UnknownFieldSet &fields =
      message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    int number = fields.field(i).number();
    bool isKnown = llvm::any_of(laterFields, [&](const LaterField &field) {
      return field.message == name && field.number == number;
    });
    if (!isKnown)
      return makeError("field {0} of {1} is set, which is none of ONNX 1.23",
                       number, name);
  }
  return llvm::Error::success();
}

static llvm::Error checkMessage(const pb::Message &message) {
  GLOWISH_RETURN_IF_ERROR(checkOwnFields(message));
  const pb::Reflection &reflection = *message.GetReflection();
  std::vector<const pb::FieldDescriptor *> fields;
  reflection.ListFields(message, &fields);
  for (const auto *field : fields) {
    if (field->cpp_type() != field->CPPTYPE_MESSAGE)
      continue;
    bool isList = field->is_repeated();
    int count = isList ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const pb::Message &inner =
          isList ? reflection.GetRepeatedMessage(message, field, i)
                 : reflection.GetMessage(message, field);
      llvm::Error error = checkMessage(inner);
      if (!error)
        continue;
      if (inner.GetDescriptor() == onnx::NodeProto::descriptor())
        return addContext(
            std::move(error),
            describe(static_cast<const onnx::NodeProto &>(inner)) + ": ");
      return error;
    }
  }
  return llvm::Error::success();
}

llvm::Error onnximport::checkLaterFields(const onnx::ModelProto &model) {
  return checkMessage(model);
}
