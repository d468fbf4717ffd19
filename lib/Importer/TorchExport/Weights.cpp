//===- Weights.cpp - Tensors of exported programs -------------------------===//

#include "TorchExport/Weights.h"
#include "Aten/Complex.h"
#include "Common/Folding.h"
#include "Common/Messages.h"
#include "TorchExport/Fields.h"
#include "glowish/Base/CheckedInt.h"
#include "glowish/Base/TensorSource.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using namespace glowish::torchexport;
namespace json = llvm::json;

llvm::Expected<ElemKind> torchexport::getExportedKind(int64_t number) {
  // But for these the numbers are by 1 above those of c10::ScalarType.
  switch (number) {
  case 13:
    return ElemKind::BFloat16;
  case 28:
    return ElemKind::UInt16;
  case 34:
    return ElemKind::UInt32;
  case 35:
    return ElemKind::UInt64;
  }
  std::optional<ElemKind> kind;
  if (number > 0)
    kind = aten::getAtenKind(number - 1);
  if (kind && kind != ElemKind::BFloat16)
    return *kind;
  return makeError("a tensor has the dtype number {0}; accepted: floats of 16 "
                   "bits and more, integers, bools and complex floats",
                   number);
}

std::optional<ElemKind> torchexport::getExportedPartKind(int64_t number) {
  if (number < 9 || number > 11)
    return std::nullopt;
  return llvm::cantFail(getExportedKind(number - aten::complexKindDistance));
}

bool TorchWeights::isComplex(llvm::StringRef name) const {
  auto found = payloads.find(name);
  if (found == payloads.end())
    return false;
  auto number = found->second.meta.getInteger("dtype");
  return number && getExportedPartKind(*number);
}

llvm::Error TorchWeights::readConfig(llvm::StringRef folder,
                                     llvm::StringRef model) {
  // "data/weights/NAME_weights_config.json", and so of constants.
  llvm::StringRef what = folder.rtrim('/').rsplit('/').second;
  std::string name = (folder + model + "_" + what + "_config.json").str();
  if (!archive.has(name))
    return llvm::Error::success();
  auto read = [&]() -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(std::string text, archive.readText(name));
    GLOWISH_ASSIGN_OR_RETURN(json::Value value, parseJson(text));
    GLOWISH_ASSIGN_OR_RETURN(const json::Object *root, asObject(value));
    GLOWISH_RETURN_IF_ERROR(checkFields(*root, "PayloadConfig"));
    GLOWISH_ASSIGN_OR_RETURN(const json::Object *config,
                             getObject(*root, "config"));
    for (const auto &[key, entry] : *config) {
      GLOWISH_ASSIGN_OR_RETURN(const json::Object *object, asObject(entry));
      GLOWISH_ASSIGN_OR_RETURN(llvm::StringRef path,
                               getString(*object, "path_name"));
      const json::Object *meta = object->getObject("tensor_meta");
      payloads.try_emplace(
          llvm::StringRef(key),
          Payload{(folder + path).str(), meta ? *meta : json::Object(),
                  object->getBoolean("use_pickle").value_or(false), nullptr});
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = read())
    return addContext(std::move(error), quote(name) + ": ");
  return llvm::Error::success();
}

/// A list of sizes or strides, which are known numbers.
static llvm::Expected<Dims> readNumbers(const json::Object &meta,
                                        llvm::StringRef key) {
  GLOWISH_ASSIGN_OR_RETURN(const json::Array *array, getArray(meta, key));
  Dims numbers;
  for (const json::Value &value : *array) {
    GLOWISH_ASSIGN_OR_RETURN(JsonMember member, getMember(value));
    auto number = member.value->getAsInteger();
    if (member.name != "as_int" || !number)
      return makeError("the {0} of a tensor in the archive are no numbers",
                       key);
    numbers.push_back(*number);
  }
  return numbers;
}

namespace {

/// How the elements lie in an entry.
struct Layout {
  Dims shape, strides;
  int64_t offset = 0;

  /// The number of elements from the entry's first to the last one that it
  /// has; nothing if a number is negative or too large.
  std::optional<int64_t> getSpan() const {
    if (offset < 0 || shape.size() != strides.size())
      return std::nullopt;
    CheckedInt span = CheckedInt(offset) + 1;
    for (auto [extent, stride] : llvm::zip_equal(shape, strides)) {
      if (stride < 0 || extent < 1)
        return std::nullopt;
      span += CheckedInt(extent - 1) * stride;
    }
    return span.get();
  }

  /// Takes the parts of complex elements for a last dimension. Returns whether
  /// the numbers are small enough.
  bool takePairs() {
    bool isSmall = true;
    auto twice = [&](int64_t &number) {
      std::optional<int64_t> doubled = (CheckedInt(number) * 2).get();
      isSmall &= doubled.has_value();
      number = doubled.value_or(0);
    };
    twice(offset);
    for (int64_t &stride : strides)
      twice(stride);
    shape.push_back(2);
    strides.push_back(1);
    return isSmall;
  }
};

} // namespace

/// Copies the elements that \p layout selects of \p bytes.
static Tensor gather(const Type &type, const Layout &layout,
                     llvm::ArrayRef<uint8_t> bytes) {
  Tensor tensor(type);
  size_t size = getElemSize(type.getKind());
  auto *target = static_cast<uint8_t *>(tensor.getBytes());
  Dims index(layout.shape.size(), 0);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    int64_t at = layout.offset;
    for (size_t d = 0; d < index.size(); ++d)
      at += index[d] * layout.strides[d];
    std::copy_n(bytes.begin() + size_t(at) * size, size,
                target + size_t(i) * size);
    for (size_t d = index.size();
         d > 0 && ++index[d - 1] == layout.shape[d - 1]; --d)
      index[d - 1] = 0;
  }
  return tensor;
}

llvm::Expected<std::shared_ptr<const Tensor>>
TorchWeights::read(const Payload &payload) const {
  if (payload.isPickled)
    return makeError("it is a Python object; accepted: tensors");
  GLOWISH_ASSIGN_OR_RETURN(int64_t number, getInteger(payload.meta, "dtype"));
  std::optional<ElemKind> part = getExportedPartKind(number);
  ElemKind kind = part.value_or(ElemKind::Float);
  if (!part)
    GLOWISH_ASSIGN_OR_RETURN(kind, getExportedKind(number));
  Layout layout;
  GLOWISH_ASSIGN_OR_RETURN(layout.shape, readNumbers(payload.meta, "sizes"));
  GLOWISH_ASSIGN_OR_RETURN(layout.strides,
                           readNumbers(payload.meta, "strides"));
  if (const json::Object *offset = payload.meta.getObject("storage_offset")) {
    GLOWISH_ASSIGN_OR_RETURN(layout.offset, getInteger(*offset, "as_int"));
  }
  if (part && !layout.takePairs())
    return makeError("the strides of a tensor in the archive are too large");
  GLOWISH_RETURN_IF_ERROR(checkShape(kind, layout.shape));
  Type type(kind, layout.shape);
  if (type.getNumElements() == 0)
    return std::make_shared<const Tensor>(type);
  std::optional<int64_t> span = layout.getSpan();
  GLOWISH_ASSIGN_OR_RETURN(uint64_t size, archive.getSize(payload.path));
  if (!span || uint64_t(*span) > size / getElemSize(kind))
    return makeError("{0} does not lie in the {1} bytes of {2}", type.str(),
                     size, quote(payload.path));
  if (type.getSizeInBytes() > getMostExpanded(int64_t(size)))
    return makeError("{0} is made of {1} bytes, by strides of 0; accepted: up "
                     "to {2} bytes of them",
                     type.str(), size, getMostExpanded(int64_t(size)));
  GLOWISH_ASSIGN_OR_RETURN(SharedBytes entry, archive.readBytes(payload.path));
  const uint8_t *first =
      entry.bytes.data() + size_t(layout.offset) * getElemSize(kind);
  if (layout.strides == getDenseStrides(layout.shape) &&
      uintptr_t(first) % getElemSize(kind) == 0)
    return std::make_shared<const Tensor>(StoredElements::makeTensor(
        type, {{first, size_t(type.getSizeInBytes())}, entry.owner}));
  return std::make_shared<const Tensor>(gather(type, layout, entry.bytes));
}

llvm::Expected<std::shared_ptr<const Tensor>>
TorchWeights::get(llvm::StringRef name) {
  auto found = payloads.find(name);
  if (found == payloads.end())
    return makeError("the archive has no tensor {0}", quote(name));
  Payload &payload = found->second;
  if (!payload.tensor) {
    llvm::Expected<std::shared_ptr<const Tensor>> tensor = read(payload);
    if (!tensor)
      return addContext(tensor.takeError(), "the tensor " + quote(name) + ": ");
    if ((*tensor)->getType().getKind() == ElemKind::Bool)
      for (uint8_t byte : (*tensor)->getByteRange())
        if (!isElementByte(ElemKind::Bool, byte))
          return makeError("the tensor {0} has bools that are neither 0 nor 1",
                           quote(name));
    payload.tensor = std::move(*tensor);
  }
  return payload.tensor;
}
