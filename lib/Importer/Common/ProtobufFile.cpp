//===- ProtobufFile.cpp - Parsing of protobuf files -----------------------===//

#include "Common/ProtobufFile.h"
#include "glowish/Support/Task.h"
#include "llvm/ADT/StringExtras.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>

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

//===- Fields that a message does not declare -----------------------------===//

namespace {

/// The parameters of checkUnknownFields().
struct UnknownFieldCheck {
  llvm::StringRef schema;
  llvm::function_ref<bool(llvm::StringRef, int)> isKnown;
  llvm::function_ref<std::string(const pb::Message &)> describe;

  llvm::Error checkOwn(const pb::Message &message) const;
  llvm::Error check(const pb::Message &message) const;
  llvm::Error checkField(const pb::Message &message,
                         const pb::FieldDescriptor &field) const;
};

} // namespace

llvm::Error UnknownFieldCheck::checkOwn(const pb::Message &message) const {
  const std::string &type = message.GetDescriptor()->name();
  const pb::UnknownFieldSet &fields =
      message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i)
    if (int number = fields.field(i).number(); !isKnown(type, number))
      return makeError("field {0} of {1} is set, which is none of {2}", number,
                       type, schema);
  return llvm::Error::success();
}

llvm::Error
UnknownFieldCheck::checkField(const pb::Message &message,
                              const pb::FieldDescriptor &field) const {
  const pb::Reflection &reflection = *message.GetReflection();
  if (!field.is_repeated())
    return check(reflection.GetMessage(message, &field));
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i)
    GLOWISH_RETURN_IF_ERROR(
        check(reflection.GetRepeatedMessage(message, &field, i)));
  return llvm::Error::success();
}

llvm::Error UnknownFieldCheck::check(const pb::Message &message) const {
  llvm::Error error = checkOwn(message);
  std::vector<const pb::FieldDescriptor *> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const pb::FieldDescriptor *field : fields)
    if (!error && field->cpp_type() == field->CPPTYPE_MESSAGE)
      error = checkField(message, *field);
  if (!error)
    return error;
  std::string context = describe(message);
  return context.empty() ? std::move(error)
                         : addContext(std::move(error), context + ": ");
}

llvm::Error glowish::checkUnknownFields(
    const pb::Message &message, llvm::StringRef schema,
    llvm::function_ref<bool(llvm::StringRef, int)> isKnown,
    llvm::function_ref<std::string(const pb::Message &)> describe) {
  return UnknownFieldCheck{schema, isKnown, describe}.check(message);
}
