//===- LaterFields.cpp - Fields that ONNX's library may lack --------------===//

#include "ONNX/LaterFields.h"
#include "Common/ProtobufFile.h"
#include "ONNX/GraphScope.h"
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

llvm::Error onnximport::checkLaterFields(const onnx::ModelProto &model) {
  return checkUnknownFields(
      model, "ONNX 1.23",
      [](llvm::StringRef type, int number) {
        return llvm::any_of(laterFields, [&](const LaterField &field) {
          return field.message == type && field.number == number;
        });
      },
      [](const pb::Message &message) {
        return message.GetDescriptor() == onnx::NodeProto::descriptor()
                   ? describe(static_cast<const onnx::NodeProto &>(message))
                   : std::string();
      });
}
