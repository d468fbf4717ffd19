//===- TensorData.cpp - Parsing of tensors --------------------------------===//

#include "ONNX/ModelFile.h"
#include "glowish/Base/Packing.h"
#include "glowish/Importer/ONNX.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Task.h"

using namespace glowish;
using namespace glowish::onnximport;
using onnx::TensorProto;

std::optional<int> glowish::getOnnxDataType(ElemKind kind) {
  switch (kind) {
  case ElemKind::Float:
    return TensorProto::FLOAT;
  case ElemKind::Float16:
    return TensorProto::FLOAT16;
  case ElemKind::BFloat16:
    return TensorProto::BFLOAT16;
  case ElemKind::Double:
    return TensorProto::DOUBLE;
  case ElemKind::Int8:
    return TensorProto::INT8;
  case ElemKind::UInt8:
    return TensorProto::UINT8;
  case ElemKind::Int16:
    return TensorProto::INT16;
  case ElemKind::UInt16:
    return TensorProto::UINT16;
  case ElemKind::Int32:
    return TensorProto::INT32;
  case ElemKind::UInt32:
    return TensorProto::UINT32;
  case ElemKind::Int64:
    return TensorProto::INT64;
  case ElemKind::UInt64:
    return TensorProto::UINT64;
  case ElemKind::Bool:
    return TensorProto::BOOL;
  case ElemKind::Int8Q:
  case ElemKind::UInt8Q:
  case ElemKind::Int16Q:
  case ElemKind::Int32Q:
    return std::nullopt;
  // As numbers: the library may be older than these.
  case ElemKind::Float8E4M3FN:
    return 17;
  case ElemKind::Float8E4M3FNUZ:
    return 18;
  case ElemKind::Float8E5M2:
    return 19;
  case ElemKind::Float8E5M2FNUZ:
    return 20;
  case ElemKind::UInt4:
    return 21;
  case ElemKind::Int4:
    return 22;
  case ElemKind::Float4E2M1:
    return 23;
  case ElemKind::Float8E8M0:
    return 24;
  case ElemKind::UInt2:
    return 25;
  case ElemKind::Int2:
    return 26;
  }
  llvm_unreachable("not an element kind");
}

llvm::Expected<ElemKind> onnximport::getElemKind(int64_t dataType) {
  for (ElemKind kind : allElemKinds)
    if (getOnnxDataType(kind) == dataType)
      return kind;
  return makeError(
      "element type {0} is not supported; accepted: floats, "
      "integers and bool",
      dataType == int(dataType) && TensorProto::DataType_IsValid(int(dataType))
          ? TensorProto::DataType_Name(TensorProto::DataType(dataType))
          : std::to_string(dataType));
}

static llvm::Expected<Type> readType(const TensorProto &proto) {
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, getElemKind(proto.data_type()));
  Dims dims(proto.dims().begin(), proto.dims().end());
  GLOWISH_RETURN_IF_ERROR(checkShape(kind, dims));
  return Type(kind, dims);
}

llvm::Expected<Tensor> onnximport::readRawTensor(const Type &type,
                                                 llvm::ArrayRef<uint8_t> raw) {
  if (int64_t(raw.size()) != getPackedSize(type))
    return makeError("{0} needs {1} bytes of data, got {2}", type.str(),
                     getPackedSize(type), raw.size());
  Tensor tensor = unpackElements(type, raw);
  GLOWISH_RETURN_IF_ERROR(checkCancelled());
  return tensor;
}

/// Reads \p field, the typed field for elements of T. Floats under 32 bits are
/// bit patterns in int32_data, and of elements under 8 bits each number there
/// has a byte.
template <typename T, typename Field>
static llvm::Expected<Tensor> fromField(const Type &type, const Field &field) {
  if (isPacked(type.getKind()))
    return readRawTensor(type,
                         std::vector<uint8_t>(field.begin(), field.end()));
  if (field.size() != type.getNumElements())
    return makeError("{0} needs {1} elements, got {2}", type.str(),
                     type.getNumElements(), field.size());
  Tensor tensor(type);
  auto out = tensor.data<T>();
  for (int i = 0; i < field.size(); ++i) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16> ||
                  isLowFloat<T>)
      out[i].bits = decltype(out[i].bits)(field.Get(i));
    else
      out[i] = T(field.Get(i));
  }
  return tensor;
}

llvm::Expected<Tensor> onnximport::readOwnTensor(const TensorProto &proto) {
  GLOWISH_ASSIGN_OR_RETURN(Type type, readType(proto));
  if (proto.has_segment())
    return makeError("a part of a tensor (a segment) is not supported");
  if (proto.data_location() == TensorProto::EXTERNAL)
    return makeError("external data are accepted in models only");
  if (proto.has_raw_data()) {
    llvm::StringRef raw = proto.raw_data();
    return readRawTensor(
        type, llvm::ArrayRef<uint8_t>(raw.bytes_begin(), raw.bytes_end()));
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

llvm::Expected<std::shared_ptr<const Tensor>>
onnximport::readTensor(const TensorProto &proto, ExternalData &external) {
  if (proto.data_location() == TensorProto::EXTERNAL && !proto.has_segment()) {
    GLOWISH_ASSIGN_OR_RETURN(Type type, readType(proto));
    return external.read(proto, type);
  }
  GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, readOwnTensor(proto));
  return std::make_shared<const Tensor>(std::move(tensor));
}
