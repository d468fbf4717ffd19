//===- TensorData.cpp - Contents of TensorProtos --------------------------===//

#include "ONNX/ModelFile.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;
using onnx::TensorProto;

llvm::Expected<ElemKind> glowish::getElemKind(int64_t dataType) {
  switch (dataType) {
  case TensorProto::FLOAT:
    return ElemKind::Float;
  case TensorProto::FLOAT16:
    return ElemKind::Float16;
  case TensorProto::BFLOAT16:
    return ElemKind::BFloat16;
  case TensorProto::DOUBLE:
    return ElemKind::Double;
  case TensorProto::INT8:
    return ElemKind::Int8;
  case TensorProto::UINT8:
    return ElemKind::UInt8;
  case TensorProto::INT16:
    return ElemKind::Int16;
  case TensorProto::UINT16:
    return ElemKind::UInt16;
  case TensorProto::INT32:
    return ElemKind::Int32;
  case TensorProto::UINT32:
    return ElemKind::UInt32;
  case TensorProto::INT64:
    return ElemKind::Int64;
  case TensorProto::UINT64:
    return ElemKind::UInt64;
  case TensorProto::BOOL:
    return ElemKind::Bool;
  default:
    return makeError(
        "element type {0} is not supported; accepted: floats, "
        "integers and bool",
        dataType == int(dataType) &&
                TensorProto::DataType_IsValid(int(dataType))
            ? TensorProto::DataType_Name(TensorProto::DataType(dataType))
            : std::to_string(dataType));
  }
}

static llvm::Expected<Type> readType(const TensorProto &proto) {
  GLOWISH_TRY(ElemKind kind, getElemKind(proto.data_type()));
  Dims dims(proto.dims().begin(), proto.dims().end());
  GLOWISH_CHECK(checkShape(kind, dims));
  return Type(kind, dims);
}

/// Raw bytes are little-endian, as the hosts that the compiler runs on are.
static llvm::Expected<Tensor> fromRaw(const Type &type,
                                      llvm::ArrayRef<uint8_t> raw) {
  if (int64_t(raw.size()) != type.getSizeInBytes())
    return makeError("{0} needs {1} bytes of data, {2} are there", type.str(),
                     type.getSizeInBytes(), raw.size());
  Tensor tensor(type);
  auto *bytes = static_cast<uint8_t *>(tensor.getBytes());
  llvm::copy(raw, bytes);
  // A bool byte other than 0 and 1 would be undefined behaviour later on.
  if (type.getKind() == ElemKind::Bool)
    for (uint8_t &byte : llvm::MutableArrayRef<uint8_t>(bytes, raw.size()))
      byte = byte != 0;
  return tensor;
}

/// \p field: the typed field that holds elements of T; half precisions are bit
/// patterns in int32_data.
template <typename T, typename Field>
static llvm::Expected<Tensor> fromField(const Type &type, const Field &field) {
  if (field.size() != type.getNumElements())
    return makeError("{0} needs {1} elements, {2} are there", type.str(),
                     type.getNumElements(), field.size());
  Tensor tensor(type);
  auto out = tensor.data<T>();
  for (int i = 0; i < field.size(); ++i) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
      out[i].bits = uint16_t(field.Get(i));
    else
      out[i] = T(field.Get(i));
  }
  return tensor;
}

/// Whether \p path, both being real paths, is in \p folder or below.
static bool isInside(llvm::StringRef path, llvm::StringRef folder) {
  return path.consume_front(folder) &&
         (folder.ends_with("/") || path.starts_with("/"));
}

/// External data: offset and length are checked, the file is beside the model.
static llvm::Expected<Tensor> fromExternal(const TensorProto &proto,
                                           const Type &type,
                                           llvm::StringRef folder) {
  llvm::StringRef location;
  uint64_t offset = 0, length = type.getSizeInBytes();
  for (const auto &entry : proto.external_data()) {
    llvm::StringRef value = entry.value();
    if (entry.key() == "location")
      location = value;
    else if ((entry.key() == "offset" && value.getAsInteger(10, offset)) ||
             (entry.key() == "length" && value.getAsInteger(10, length)))
      return makeError("external data have a malformed {0}: '{1}'", entry.key(),
                       value);
  }
  if (folder.empty())
    return makeError("external data '{0}' need the model to be a file",
                     location);
  if (location.empty() || llvm::sys::path::is_absolute(location) ||
      llvm::is_contained(llvm::make_range(llvm::sys::path::begin(location),
                                          llvm::sys::path::end(location)),
                         ".."))
    return makeError("external data must be in the model's folder");
  llvm::SmallString<128> path(folder), real, realFolder;
  llvm::sys::path::append(path, location);
  // A link must not lead out of the folder either.
  if (llvm::sys::fs::real_path(path, real) ||
      llvm::sys::fs::real_path(folder, realFolder) ||
      !isInside(real, realFolder))
    return makeError("external data '{0}' cannot be found in the model's "
                     "folder",
                     location);
  GLOWISH_TRY(auto buffer, readFile(real));
  llvm::StringRef bytes = buffer->getBuffer();
  if (offset > bytes.size() || length > bytes.size() - offset)
    return makeError("external data '{0}' have {1} bytes; {2} at {3} are "
                     "needed",
                     location, bytes.size(), length, offset);
  bytes = bytes.substr(offset, length);
  return fromRaw(
      type, llvm::ArrayRef<uint8_t>(bytes.bytes_begin(), bytes.bytes_end()));
}

llvm::Expected<Tensor> glowish::readTensor(const TensorProto &proto,
                                           llvm::StringRef folder) {
  GLOWISH_TRY(Type type, readType(proto));
  if (proto.has_segment())
    return makeError("a part of a tensor (a segment) is not supported");
  if (proto.data_location() == TensorProto::EXTERNAL)
    return fromExternal(proto, type, folder);
  if (proto.has_raw_data()) {
    llvm::StringRef raw = proto.raw_data();
    return fromRaw(type,
                   llvm::ArrayRef<uint8_t>(raw.bytes_begin(), raw.bytes_end()));
  }
  return dispatchElemKind(type.getKind(),
                          [&](auto zero) -> llvm::Expected<Tensor> {
                            using T = decltype(zero);
                            if constexpr (std::is_same_v<T, float>)
                              return fromField<T>(type, proto.float_data());
                            else if constexpr (std::is_same_v<T, double>)
                              return fromField<T>(type, proto.double_data());
                            else if constexpr (std::is_same_v<T, int64_t>)
                              return fromField<T>(type, proto.int64_data());
                            else if constexpr (std::is_same_v<T, uint64_t> ||
                                               std::is_same_v<T, uint32_t>)
                              return fromField<T>(type, proto.uint64_data());
                            else
                              return fromField<T>(type, proto.int32_data());
                          });
}
