//===- ProtobufFile.cpp - Parsing of protobuf files -----------------------===//

#include "Common/ProtobufFile.h"
#include "glowish/Support/Task.h"
#include "llvm/ADT/StringExtras.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

using namespace glowish;
namespace pb = google::protobuf;

namespace {

/// Suppresses protobuf's own error messages on stderr; errors are returned.
struct SilentProtobuf {
  SilentProtobuf() { pb::SetLogHandler(nullptr); }
};

/// Keeps the first error of the text parser.
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

/// Maximum nesting of text messages, against stack overflow. The binary parser
/// has such a limit itself.
static constexpr int maxNesting = 100;

bool glowish::looksLikeText(llvm::StringRef bytes) {
  llvm::StringRef start = bytes.take_front(256).ltrim();
  return !start.empty() &&
         (llvm::isAlpha(start[0]) || start[0] == '#' || start[0] == '_') &&
         llvm::all_of(start, [](char c) {
           return llvm::isPrint(c) || llvm::isSpace(c);
         });
}

namespace {

/// The bytes of a message in blocks, and no more of them once this thread's
/// task is cancelled.
class CancellableStream final : public pb::io::ZeroCopyInputStream {
public:
  explicit CancellableStream(llvm::StringRef bytes)
      : array(bytes.data(), int(bytes.size()), /*block_size=*/1 << 20) {}

  bool Next(const void **data, int *size) override {
    return !isCancelled() && array.Next(data, size);
  }
  void BackUp(int count) override { array.BackUp(count); }
  bool Skip(int count) override { return array.Skip(count); }
  int64_t ByteCount() const override { return array.ByteCount(); }

private:
  pb::io::ArrayInputStream array;
};

} // namespace

bool glowish::parseBinary(llvm::StringRef bytes, pb::Message &message) {
  static SilentProtobuf silent;
  if (bytes.size() > size_t(INT_MAX))
    return false;
  CancellableStream stream(bytes);
  pb::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(INT_MAX);
  return message.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

llvm::Error glowish::parseProtobuf(llvm::StringRef bytes, pb::Message &message,
                                   llvm::StringRef what,
                                   llvm::StringRef advice) {
  if (bytes.size() > size_t(INT_MAX))
    return makeError("the file has {0} bytes, protobuf's limit is 2 GiB{1}",
                     bytes.size(), advice);
  if (!looksLikeText(bytes)) {
    if (parseBinary(bytes, message))
      return llvm::Error::success();
    return makeError("not {0}: the protobuf is truncated or corrupt", what);
  }
  static SilentProtobuf silent;
  pb::TextFormat::Parser parser;
  FirstError errors;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(maxNesting);
  pb::io::ArrayInputStream stream(bytes.data(), int(bytes.size()));
  if (!parser.Parse(&stream, &message))
    return makeError("not {0} in protobuf text: {1}", what, errors.text);
  return llvm::Error::success();
}
