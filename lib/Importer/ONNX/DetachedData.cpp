//===- DetachedData.cpp - Weights that stay in a model's file -------------===//
//
// Protobuf copies all bytes fields of a message. A model is nearly all raw data
// of initializers, so these are taken out of the message before it is parsed.
//
//===----------------------------------------------------------------------===//

#include "ONNX/DetachedData.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <onnx/onnx_pb.h>

using namespace glowish;
using namespace glowish::onnximport;
namespace pb = google::protobuf;

namespace {

/// A field of a message, as it is encoded.
struct Field {
  int number;
  /// The payload, of a field of bytes or of a message.
  llvm::StringRef payload;
  bool hasPayload;
  /// The field with its tag and length.
  llvm::StringRef whole;
};

/// Takes the large initializers out of a model.
class Detacher {
public:
  explicit Detacher(llvm::StringRef bytes) : bytes(bytes) {}

  std::optional<std::string> run();

private:
  /// Calls \p take with each field of \p message; false if it is malformed.
  template <typename Take>
  static bool forEachField(llvm::StringRef message, Take take);
  static void append(std::string &to, int number, llvm::StringRef payload);

  bool copyGraph(llvm::StringRef graph, std::string &to);
  /// Adds the initializer \p field to \p to; false if it is malformed.
  bool copyInitializer(const Field &field, std::string &to);
  void addPlace(std::string &tensor, llvm::StringRef key, std::string value);

  /// The whole model.
  llvm::StringRef bytes;
  size_t detached = 0;
};

} // namespace

template <typename Take>
bool Detacher::forEachField(llvm::StringRef message, Take take) {
  using pb::internal::WireFormatLite;
  pb::io::CodedInputStream stream(
      reinterpret_cast<const uint8_t *>(message.data()), int(message.size()));
  stream.SetTotalBytesLimit(INT_MAX);
  while (true) {
    size_t start = size_t(stream.CurrentPosition());
    uint32_t tag = stream.ReadTag();
    if (tag == 0)
      return start == message.size();
    Field field = {.number = WireFormatLite::GetTagFieldNumber(tag),
                   .payload = {},
                   .hasPayload = WireFormatLite::GetTagWireType(tag) ==
                                 WireFormatLite::WIRETYPE_LENGTH_DELIMITED,
                   .whole = {}};
    uint32_t length = 0;
    if (field.hasPayload) {
      if (!stream.ReadVarint32(&length))
        return false;
      size_t begin = size_t(stream.CurrentPosition());
      if (length > message.size() - begin || !stream.Skip(int(length)))
        return false;
      field.payload = message.substr(begin, length);
    } else if (!WireFormatLite::SkipField(&stream, tag)) {
      return false;
    }
    field.whole = message.slice(start, size_t(stream.CurrentPosition()));
    if (!take(field))
      return false;
  }
}

void Detacher::append(std::string &to, int number, llvm::StringRef payload) {
  using pb::internal::WireFormatLite;
  pb::io::StringOutputStream output(&to);
  pb::io::CodedOutputStream stream(&output);
  stream.WriteTag(WireFormatLite::MakeTag(
      number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  stream.WriteVarint32(uint32_t(payload.size()));
  stream.WriteRaw(payload.data(), int(payload.size()));
}

void Detacher::addPlace(std::string &tensor, llvm::StringRef key,
                        std::string value) {
  onnx::StringStringEntryProto entry;
  entry.set_key(key.str());
  entry.set_value(std::move(value));
  append(tensor, onnx::TensorProto::kExternalDataFieldNumber,
         entry.SerializeAsString());
}

bool Detacher::copyInitializer(const Field &field, std::string &to) {
  // Smaller ones are not worth it.
  constexpr size_t least = 4096;
  std::optional<llvm::StringRef> raw;
  std::string rest;
  bool isPlain = true;
  bool isValid = forEachField(field.payload, [&](const Field &own) {
    switch (own.number) {
    case onnx::TensorProto::kRawDataFieldNumber:
      isPlain &= own.hasPayload && !raw;
      raw = own.payload;
      return true;
    case onnx::TensorProto::kDataLocationFieldNumber:
    case onnx::TensorProto::kExternalDataFieldNumber:
    case onnx::TensorProto::kSegmentFieldNumber:
      isPlain = false;
      return true;
    default:
      // Elements in other fields are not copied in vain.
      isPlain &= own.whole.size() < least;
      if (isPlain)
        rest += own.whole;
      return true;
    }
  });
  if (!isValid)
    return false;
  if (!isPlain || !raw || raw->size() < least) {
    to += field.whole;
    return true;
  }
  addPlace(rest, "location", ownFileLocation.str());
  addPlace(rest, "offset", std::to_string(raw->data() - bytes.data()));
  addPlace(rest, "length", std::to_string(raw->size()));
  onnx::TensorProto location;
  location.set_data_location(onnx::TensorProto::EXTERNAL);
  rest += location.SerializeAsString();
  append(to, field.number, rest);
  detached += raw->size();
  return true;
}

bool Detacher::copyGraph(llvm::StringRef graph, std::string &to) {
  return forEachField(graph, [&](const Field &field) {
    if (field.number == onnx::GraphProto::kInitializerFieldNumber &&
        field.hasPayload)
      return copyInitializer(field, to);
    to += field.whole;
    return true;
  });
}

std::optional<std::string> Detacher::run() {
  std::string model;
  // The message is not copied for little.
  constexpr size_t least = 1 << 20;
  if (bytes.size() < least || bytes.size() > size_t(INT_MAX))
    return std::nullopt;
  bool isValid = forEachField(bytes, [&](const Field &field) {
    if (field.number != onnx::ModelProto::kGraphFieldNumber ||
        !field.hasPayload) {
      model += field.whole;
      return true;
    }
    std::string graph;
    if (!copyGraph(field.payload, graph))
      return false;
    append(model, field.number, graph);
    return true;
  });
  if (!isValid || detached < bytes.size() / 2)
    return std::nullopt;
  return model;
}

std::optional<std::string> onnximport::detachRawData(llvm::StringRef bytes) {
  return Detacher(bytes).run();
}
