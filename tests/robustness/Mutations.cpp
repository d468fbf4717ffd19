//===- Mutations.cpp - Mutations of models --------------------------------===//

#include "Mutations.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <limits>
#include <memory>
#include <vector>

using namespace glowish;
using namespace glowish::robustness;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// Small, or at the edges of what numbers can be.
static int64_t makeInt(Random &random) {
  static constexpr int64_t extremes[] = {INT64_MIN,
                                         INT64_MAX,
                                         INT32_MIN,
                                         INT32_MAX,
                                         int64_t(1) << 31,
                                         int64_t(1) << 32,
                                         int64_t(1) << 20,
                                         int64_t(1) << 40,
                                         int64_t(1) << 62,
                                         1000,
                                         -1000,
                                         65536,
                                         -(int64_t(1) << 33)};
  if (random.below(2))
    return int64_t(random.below(20)) - 3;
  return extremes[random.below(std::size(extremes))];
}

static double makeDouble(Random &random) {
  using Limits = std::numeric_limits<double>;
  const double extremes[] = {0.0,
                             -1.0,
                             1e300,
                             -1e-300,
                             0x1p127,
                             Limits::infinity(),
                             Limits::quiet_NaN(),
                             3.5};
  return extremes[random.below(std::size(extremes))];
}

//===- Bytes --------------------------------------------------------------===//

void glowish::robustness::mutateBytes(std::string &bytes, Random &random) {
  if (bytes.empty())
    return;
  size_t at = random.below(bytes.size());
  size_t size = 1 + random.below(std::min<size_t>(bytes.size() - at, 40));
  switch (random.below(6)) {
  case 0:
    bytes.resize(at);
    return;
  case 1:
    bytes.erase(at, size);
    return;
  case 2:
    bytes.insert(at, bytes.substr(at, size));
    return;
  case 3:
    bytes.replace(random.below(bytes.size()), size, bytes.substr(at, size));
    return;
  case 4: {
    // Lengths and numbers are variable-length integers.
    static constexpr char large[] = "\xff\xff\xff\xff\xff\xff\xff\xff\x7f";
    size_t length = 1 + random.below(9);
    bytes.replace(at, std::min(length, bytes.size() - at), large + 9 - length,
                  length);
    return;
  }
  default:
    bytes[at] = char(uint8_t(bytes[at]) ^ (1u << random.below(8)));
  }
}

//===- Structure ----------------------------------------------------------===//

namespace {

/// A field that is set, in one of the messages of a model.
struct Place {
  Message *message;
  const FieldDescriptor *field;
};

class MessageMutator {
public:
  MessageMutator(Message &root, Random &random) : random(random) {
    collect(root);
  }
  void mutate();

private:
  void collect(Message &message);
  void mutateRepeated(const Place &place);
  void alter(const Place &place);
  void alterMessage(const Place &place, int index);
  std::string makeString(const std::string &old);

  Random &random;
  std::vector<Place> places;
  std::vector<std::string> strings;
  std::vector<const Message *> messages;
};

} // namespace

void MessageMutator::collect(Message &message) {
  messages.push_back(&message);
  const Reflection &reflection = *message.GetReflection();
  std::vector<const FieldDescriptor *> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor *field : fields) {
    places.push_back({&message, field});
    int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
        strings.push_back(field->is_repeated()
                              ? reflection.GetRepeatedString(message, field, i)
                              : reflection.GetString(message, field));
      else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
        collect(*(field->is_repeated()
                      ? reflection.MutableRepeatedMessage(&message, field, i)
                      : reflection.MutableMessage(&message, field)));
    }
  }
}

void MessageMutator::mutate() {
  if (places.empty())
    return;
  const Place &place = places[random.below(places.size())];
  if (place.field->is_repeated() && random.below(2))
    return mutateRepeated(place);
  // Most fields that are dropped make the same error: something is missing.
  if (random.below(5) == 0)
    return place.message->GetReflection()->ClearField(place.message,
                                                      place.field);
  alter(place);
}

/// One element goes, is repeated, or changes places with another.
void MessageMutator::mutateRepeated(const Place &place) {
  const Reflection &reflection = *place.message->GetReflection();
  int count = reflection.FieldSize(*place.message, place.field);
  int one = int(random.below(count)), other = int(random.below(count));
  switch (random.below(3)) {
  case 0:
    reflection.SwapElements(place.message, place.field, one, count - 1);
    reflection.RemoveLast(place.message, place.field);
    return;
  case 1:
    reflection.SwapElements(place.message, place.field, one, other);
    return;
  default:
    if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      Message *added = reflection.AddMessage(place.message, place.field);
      added->CopyFrom(
          reflection.GetRepeatedMessage(*place.message, place.field, one));
      return;
    }
    if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
      return reflection.AddString(
          place.message, place.field,
          reflection.GetRepeatedString(*place.message, place.field, one));
    if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_INT64)
      reflection.AddInt64(place.message, place.field, makeInt(random));
  }
}

std::string MessageMutator::makeString(const std::string &old) {
  switch (random.below(5)) {
  case 0:
    return "";
  case 1:
    return std::string(5000, 'n');
  case 2: {
    std::string mutated = old;
    mutateBytes(mutated, random);
    return mutated;
  }
  default:
    return strings.empty() ? old : strings[random.below(strings.size())];
  }
}

/// Another message of the same type, from anywhere in the model.
void MessageMutator::alterMessage(const Place &place, int index) {
  const Reflection &reflection = *place.message->GetReflection();
  std::vector<const Message *> same;
  for (const Message *message : messages)
    if (message->GetDescriptor() == place.field->message_type())
      same.push_back(message);
  if (same.empty())
    return;
  // A message may be in the one that it takes the place of.
  const Message *source = same[random.below(same.size())];
  std::unique_ptr<Message> copy(source->New());
  copy->CopyFrom(*source);
  Message *target = index < 0
                        ? reflection.MutableMessage(place.message, place.field)
                        : reflection.MutableRepeatedMessage(place.message,
                                                            place.field, index);
  target->CopyFrom(*copy);
}

void MessageMutator::alter(const Place &place) {
  const Reflection &reflection = *place.message->GetReflection();
  const FieldDescriptor *field = place.field;
  Message *m = place.message;
  int i = field->is_repeated()
              ? int(random.below(reflection.FieldSize(*m, field)))
              : -1;
#define GLOWISH_SET(TYPE, VALUE)                                               \
  return i < 0 ? reflection.Set##TYPE(m, field, VALUE)                         \
               : reflection.SetRepeated##TYPE(m, field, i, VALUE)
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    GLOWISH_SET(Int32, int32_t(makeInt(random)));
  case FieldDescriptor::CPPTYPE_INT64:
    GLOWISH_SET(Int64, makeInt(random));
  case FieldDescriptor::CPPTYPE_UINT32:
    GLOWISH_SET(UInt32, uint32_t(makeInt(random)));
  case FieldDescriptor::CPPTYPE_UINT64:
    GLOWISH_SET(UInt64, uint64_t(makeInt(random)));
  case FieldDescriptor::CPPTYPE_FLOAT:
    GLOWISH_SET(Float, float(makeDouble(random)));
  case FieldDescriptor::CPPTYPE_DOUBLE:
    GLOWISH_SET(Double, makeDouble(random));
  case FieldDescriptor::CPPTYPE_BOOL:
    GLOWISH_SET(Bool, random.below(2) == 0);
  case FieldDescriptor::CPPTYPE_ENUM: {
    int count = field->enum_type()->value_count();
    int value = field->enum_type()->value(int(random.below(count)))->number();
    GLOWISH_SET(EnumValue, value);
  }
  case FieldDescriptor::CPPTYPE_STRING: {
    std::string old = i < 0 ? reflection.GetString(*m, field)
                            : reflection.GetRepeatedString(*m, field, i);
    GLOWISH_SET(String, makeString(old));
  }
  case FieldDescriptor::CPPTYPE_MESSAGE:
    return alterMessage(place, i);
  }
#undef GLOWISH_SET
}

void glowish::robustness::mutateMessage(Message &message, Random &random) {
  MessageMutator(message, random).mutate();
}

//===- Text ---------------------------------------------------------------===//

/// The start and the size of a word of \p text: letters and digits, or one
/// other character.
static std::pair<size_t, size_t> pickWord(llvm::StringRef text,
                                          Random &random) {
  auto isWord = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-';
  };
  size_t begin = random.below(text.size());
  if (!isWord(text[begin]))
    return {begin, 1};
  size_t end = begin;
  while (begin > 0 && isWord(text[begin - 1]))
    --begin;
  while (end < text.size() && isWord(text[end]))
    ++end;
  return {begin, end - begin};
}

/// The start and the size of a line, with its end.
static std::pair<size_t, size_t> pickLine(llvm::StringRef text,
                                          Random &random) {
  size_t at = random.below(text.size());
  size_t begin = text.rfind('\n', at);
  begin = begin == llvm::StringRef::npos ? 0 : begin + 1;
  size_t end = text.find('\n', at);
  end = end == llvm::StringRef::npos ? text.size() : end + 1;
  return {std::min(begin, at), end - std::min(begin, at)};
}

/// Another number for one in \p text; whether it found one.
static bool mutateNumber(std::string &text, Random &random) {
  for (unsigned attempt = 0; attempt < 20; ++attempt) {
    auto [at, size] = pickWord(text, random);
    int64_t value;
    if (llvm::StringRef(text).substr(at, size).getAsInteger(10, value))
      continue;
    // Beyond the largest number comes the least.
    value = random.below(3) ? int64_t(uint64_t(value) + random.below(5) - 2)
                            : makeInt(random);
    text.replace(at, size, std::to_string(value));
    return true;
  }
  return false;
}

void glowish::robustness::mutateText(std::string &text, Random &random) {
  if (text.empty() || (random.below(2) && mutateNumber(text, random)))
    return;
  auto [at, size] =
      random.below(4) ? pickWord(text, random) : pickLine(text, random);
  auto [otherAt, otherSize] = size == 1 || random.below(2)
                                  ? pickWord(text, random)
                                  : pickLine(text, random);
  std::string other = text.substr(otherAt, otherSize);
  switch (random.below(5)) {
  case 0:
    text.erase(at, size);
    return;
  case 1:
    text.insert(at, other);
    return;
  case 2:
  case 3:
    text.replace(at, size, other);
    return;
  default:
    mutateBytes(text, random);
  }
}
