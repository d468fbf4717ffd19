//===- Extremes.cpp - Integers at the borders in models -------------------===//

#include "Extremes.h"
#include "TFLite/tflite_generated.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <cstring>
#include <set>

using namespace glowish;
using namespace glowish::robustness;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

llvm::ArrayRef<int64_t> glowish::robustness::getExtremes() {
  static constexpr int64_t extremes[] = {INT64_MIN,
                                         INT64_MIN + 1,
                                         INT64_MIN + 2,
                                         INT64_MAX,
                                         INT64_MAX - 1,
                                         INT32_MIN,
                                         int64_t(INT32_MIN) - 1,
                                         INT32_MAX,
                                         int64_t(1) << 31,
                                         UINT32_MAX,
                                         int64_t(1) << 32,
                                         -(int64_t(1) << 32),
                                         int64_t(1) << 40,
                                         int64_t(1) << 61,
                                         int64_t(1) << 62,
                                         -(int64_t(1) << 62),
                                         0,
                                         -1};
  return extremes;
}

int64_t glowish::robustness::pickExtreme(Random &random) {
  return getExtremes()[random.below(getExtremes().size())];
}

//===- Protobuf -----------------------------------------------------------===//

namespace {

/// An integer of a message: an element of a field, or of the bytes of one.
struct Integer {
  Message *message;
  const FieldDescriptor *field;
  int index;       // -1 unless the field is repeated
  size_t size = 0; // of one of the field's bytes; 0 if it is no bytes
};

} // namespace

/// The size of the integers in the bytes \p field of \p message; 0 if there are
/// none.
static size_t getStoredSize(const Message &message,
                            const FieldDescriptor &field) {
  const FieldDescriptor *kind =
      message.GetDescriptor()->FindFieldByName("data_type");
  if (field.name() != "raw_data" || !kind ||
      kind->cpp_type() != FieldDescriptor::CPPTYPE_INT32)
    return 0;
  // INT32 and INT64 of onnx.TensorProto.
  int number = message.GetReflection()->GetInt32(message, kind);
  return number == 6 ? 4 : number == 7 ? 8 : 0;
}

static void collect(Message &message, std::vector<Integer> &integers) {
  static const llvm::StringSet<> structural = {
      "data_type",     "dataType", "elem_type",    "ir_version",
      "model_version", "version",  "device_type",  "byte_size",
      "data_location", "i_type",   "num_replicas", "engine"};
  const Reflection &reflection = *message.GetReflection();
  std::vector<const FieldDescriptor *> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor *field : fields) {
    int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      int index = field->is_repeated() ? i : -1;
      switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
      case FieldDescriptor::CPPTYPE_INT64:
      case FieldDescriptor::CPPTYPE_UINT32:
      case FieldDescriptor::CPPTYPE_UINT64:
        if (!structural.contains(field->name()))
          integers.push_back({&message, field, index});
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        if (size_t size = getStoredSize(message, *field); size && index < 0)
          integers.push_back({&message, field, index, size});
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        collect(*(index < 0
                      ? reflection.MutableMessage(&message, field)
                      : reflection.MutableRepeatedMessage(&message, field, i)),
                integers);
        break;
      default:
        break;
      }
    }
  }
}

static void set(const Integer &integer, int64_t value, Random &random) {
  const auto &[message, field, i, size] = integer;
  const Reflection &reflection = *message->GetReflection();
#define GLOWISH_SET(TYPE, VALUE)                                               \
  return i < 0 ? reflection.Set##TYPE(message, field, VALUE)                   \
               : reflection.SetRepeated##TYPE(message, field, i, VALUE)
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    GLOWISH_SET(Int32, int32_t(value));
  case FieldDescriptor::CPPTYPE_INT64:
    GLOWISH_SET(Int64, value);
  case FieldDescriptor::CPPTYPE_UINT32:
    GLOWISH_SET(UInt32, uint32_t(value));
  case FieldDescriptor::CPPTYPE_UINT64:
    GLOWISH_SET(UInt64, uint64_t(value));
  default:
    break;
  }
#undef GLOWISH_SET
  std::string bytes = reflection.GetString(*message, field);
  if (bytes.size() < size)
    return;
  std::memcpy(&bytes[size * random.below(bytes.size() / size)], &value, size);
  reflection.SetString(message, field, std::move(bytes));
}

void glowish::robustness::setExtreme(Message &model, Random &random) {
  std::vector<Integer> integers;
  collect(model, integers);
  if (!integers.empty())
    set(integers[random.below(integers.size())], pickExtreme(random), random);
}

//===- Text ---------------------------------------------------------------===//

/// Replaces an integer of \p text for which \p isWanted, of what is in front of
/// it, by an extreme.
static void replaceInteger(std::string &text, Random &random,
                           llvm::function_ref<bool(llvm::StringRef)> isWanted) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; };
  llvm::StringRef all = text;
  std::vector<std::pair<size_t, size_t>> places;
  for (size_t at = 0; at < all.size(); ++at) {
    if (!isPart(all[at]))
      continue;
    llvm::StringRef word = all.substr(at).take_while(isPart);
    size_t begin = at - (at > 0 && all[at - 1] == '-');
    if (llvm::all_of(word, llvm::isDigit) && isWanted(all.take_front(begin)))
      places.emplace_back(begin, at + word.size() - begin);
    at += word.size() - 1;
  }
  if (places.empty())
    return;
  auto [begin, size] = places[random.below(places.size())];
  text.replace(begin, size, std::to_string(pickExtreme(random)));
}

void glowish::robustness::setExtremeInText(std::string &text, Random &random) {
  replaceInteger(text, random, [](llvm::StringRef) { return true; });
}

void glowish::robustness::setExtremeInJson(std::string &text, Random &random) {
  static const llvm::StringSet<> wanted = {
      "as_int", "as_ints", "as_sym_int", "as_sym_ints", "min_val", "max_val"};
  replaceInteger(text, random, [](llvm::StringRef before) {
    llvm::StringRef last = before.rsplit('"').first.rsplit('"').second;
    return before.contains('"') && wanted.contains(last);
  });
}

//===- TensorFlow Lite ----------------------------------------------------===//

namespace {

/// Collects the places of integers in a model's bytes.
class TFLiteIntegers {
public:
  struct Place {
    uint8_t *at;
    size_t size;
  };
  std::vector<Place> places;

  void addModel(const tflite::schema::Model &model);

private:
  void add(const void *at, size_t size) {
    // The bytes are ours; FlatBuffers' accessors are of const tables.
    places.push_back(
        {const_cast<uint8_t *>(static_cast<const uint8_t *>(at)), size});
  }
  void addFields(const flatbuffers::Table &table);
  void addTensor(const tflite::schema::Model &model,
                 const tflite::schema::Tensor &tensor);
};

} // namespace

/// Adds the fields of \p table that have four bytes: numbers, and offsets,
/// which nothing in the file tells apart.
void TFLiteIntegers::addFields(const flatbuffers::Table &table) {
  using flatbuffers::ReadScalar;
  using flatbuffers::voffset_t;
  const uint8_t *fields = table.GetVTable();
  auto numBytes = ReadScalar<voffset_t>(fields);
  auto tableSize = ReadScalar<voffset_t>(fields + sizeof(voffset_t));
  std::set<voffset_t> offsets = {tableSize};
  for (voffset_t i = 2 * sizeof(voffset_t); i < numBytes;
       i = voffset_t(i + sizeof(voffset_t)))
    if (auto offset = ReadScalar<voffset_t>(fields + i))
      offsets.insert(offset);
  auto *start = reinterpret_cast<const uint8_t *>(&table);
  for (auto own = offsets.begin(), next = std::next(own); next != offsets.end();
       ++own, ++next)
    if (*next - *own >= 4)
      add(start + *own, 4);
}

void TFLiteIntegers::addTensor(const tflite::schema::Model &model,
                               const tflite::schema::Tensor &tensor) {
  using tflite::schema::TensorType;
  auto addAll = [&](const auto *list, size_t size) {
    for (size_t i = 0; list && i < list->size(); ++i)
      add(list->Data() + i * size, size);
  };
  addAll(tensor.shape(), 4);
  addAll(tensor.shape_signature(), 4);
  if (const auto *quantization = tensor.quantization())
    addAll(quantization->zero_point(), 8);
  size_t size = tensor.type() == TensorType::INT32   ? 4
                : tensor.type() == TensorType::INT64 ? 8
                                                     : 0;
  if (!size || !model.buffers() || tensor.buffer() >= model.buffers()->size())
    return;
  const auto *data = model.buffers()->Get(tensor.buffer())->data();
  for (size_t i = 0; data && i + size <= data->size(); i += size)
    add(data->Data() + i, size);
}

void TFLiteIntegers::addModel(const tflite::schema::Model &model) {
  for (const auto *graph : *model.subgraphs()) {
    for (size_t i = 0; graph->operators() && i < graph->operators()->size();
         ++i)
      if (const void *options = graph->operators()->Get(i)->builtin_options())
        addFields(*static_cast<const flatbuffers::Table *>(options));
    for (size_t i = 0; graph->tensors() && i < graph->tensors()->size(); ++i)
      addTensor(model, *graph->tensors()->Get(i));
  }
}

void glowish::robustness::setExtremeInTFLite(std::string &bytes,
                                             Random &random) {
  auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size());
  TFLiteIntegers integers;
  // One that was mutated before may be a good one no more.
  if (tflite::schema::VerifyModelBuffer(verifier))
    integers.addModel(*tflite::schema::GetModel(data));
  if (integers.places.empty())
    return;
  auto [at, size] = integers.places[random.below(integers.places.size())];
  int64_t value = pickExtreme(random);
  std::memcpy(at, &value, size);
}

//===- Archives of PyTorch ------------------------------------------------===//

/// Gives a small integer of a pickle, BININT1, 64 bits: LONG1.
static void setExtremeInPickle(std::string &bytes, Random &random) {
  std::vector<size_t> places;
  for (size_t i = 0; i + 1 < bytes.size(); ++i)
    if (bytes[i] == 'K')
      places.push_back(i);
  if (places.empty())
    return;
  int64_t value = pickExtreme(random);
  std::string number = "\x8a\x08";
  number.append(reinterpret_cast<const char *>(&value), sizeof(value));
  bytes.replace(places[random.below(places.size())], 2, number);
}

void glowish::robustness::setExtremeInArchive(ArchiveEntries &entries,
                                              Random &random) {
  // Most of them are in the program.
  bool isOfData = random.below(6) == 0;
  std::vector<std::string *> json, code, pickles;
  for (auto &[name, bytes] : entries) {
    llvm::StringRef end = llvm::StringRef(name).rsplit('.').second;
    if (end == "json")
      json.push_back(&bytes);
    else if (end == "py")
      code.push_back(&bytes);
    else if (end == "pkl")
      pickles.push_back(&bytes);
  }
  auto pick = [&](const std::vector<std::string *> &some) -> std::string & {
    return *some[random.below(some.size())];
  };
  if (!json.empty())
    setExtremeInJson(pick(json), random);
  else if (!pickles.empty() && (isOfData || code.empty()))
    setExtremeInPickle(pick(pickles), random);
  else if (!code.empty())
    setExtremeInText(pick(code), random);
}
