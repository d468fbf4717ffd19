//===- ModelFile.cpp - Bytes to protobufs ---------------------------------===//

#include "ONNX/ModelFile.h"
#include "glowish/Importer/ONNX.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

using namespace glowish;
namespace pb = google::protobuf;

std::string glowish::quote(llvm::StringRef name) {
  constexpr size_t most = 200;
  std::string text = name.take_front(most).str();
  for (char &c : text)
    if (uint8_t(c) < 32 || c == 127)
      c = '?';
  return "'" + text + (name.size() > most ? "...'" : "'");
}

namespace {

/// Protobuf reports what it can't read on stderr; we say it ourselves.
struct SilentProtobuf {
  SilentProtobuf() { pb::SetLogHandler(nullptr); }
};

/// Remembers the first error of the text parser.
class FirstError final : public pb::io::ErrorCollector {
public:
  void AddError(int line, pb::io::ColumnNumber column,
                const std::string &message) override {
    if (text.empty())
      text = llvm::formatv("{0}:{1}: {2}", line + 1, column + 1, message);
  }
  std::string text;
};

} // namespace

/// Deeper messages than any model has: hostile text could else nest until the
/// stack ends. (The binary parser has such a limit of its own.)
static constexpr int maxNesting = 100;

/// A text model begins with a field name, a binary one with the tag of
/// ir_version (8) or another field of a low number.
static bool looksLikeText(llvm::StringRef bytes) {
  llvm::StringRef start = bytes.take_front(256).ltrim();
  return !start.empty() &&
         (llvm::isAlpha(start[0]) || start[0] == '#' || start[0] == '_') &&
         llvm::all_of(start, [](char c) {
           return llvm::isPrint(c) || llvm::isSpace(c);
         });
}

/// Parses \p bytes as a binary \p Message.
template <typename Message>
static bool parseBinary(llvm::StringRef bytes, Message &message) {
  static SilentProtobuf silent;
  pb::io::ArrayInputStream array(bytes.data(), int(bytes.size()));
  pb::io::CodedInputStream coded(&array);
  coded.SetTotalBytesLimit(INT_MAX);
  return message.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

llvm::Expected<onnx::ModelProto>
glowish::parseModelProto(llvm::StringRef bytes) {
  if (bytes.empty())
    return makeError("the file is empty");
  if (bytes.size() > size_t(INT_MAX))
    return makeError("the file has {0} bytes, protobuf's limit is 2 GiB; "
                     "accepted: weights as external data, in files beside it",
                     bytes.size());
  onnx::ModelProto model;
  if (looksLikeText(bytes)) {
    static SilentProtobuf silent;
    pb::TextFormat::Parser parser;
    FirstError errors;
    parser.RecordErrorsTo(&errors);
    parser.SetRecursionLimit(maxNesting);
    pb::io::ArrayInputStream stream(bytes.data(), int(bytes.size()));
    if (!parser.Parse(&stream, &model))
      return makeError("not an ONNX model in protobuf text: {0}", errors.text);
  } else if (!parseBinary(bytes, model)) {
    return makeError("not an ONNX model: the protobuf is truncated or "
                     "damaged");
  }
  if (!model.has_graph())
    return makeError("not an ONNX model: it has no graph");
  return model;
}

llvm::Expected<Tensor> glowish::readTensorProto(llvm::StringRef path) {
  GLOWISH_TRY(auto buffer, readFile(path));
  onnx::TensorProto proto;
  if (buffer->getBufferSize() > size_t(INT_MAX) ||
      !parseBinary(buffer->getBuffer(), proto))
    return makeError("'{0}': not a TensorProto", path);
  llvm::Expected<Tensor> tensor = readOwnTensor(proto);
  if (!tensor)
    return addContext(tensor.takeError(), "'" + path + "': ");
  return tensor;
}
