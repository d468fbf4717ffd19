//===- TensorData.cpp - Parsing of tensors --------------------------------===//

#include "ONNX/ModelFile.h"
#include "glowish/Support/Error.h"

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
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, getElemKind(proto.data_type()));
  Dims dims(proto.dims().begin(), proto.dims().end());
  GLOWISH_RETURN_IF_ERROR(checkShape(kind, dims));
  return Type(kind, dims);
}

/// Raw data is little-endian, as are all supported hosts.
llvm::Expected<Tensor> glowish::readRawTensor(const Type &type,
                                              llvm::ArrayRef<uint8_t> raw) {
  if (int64_t(raw.size()) != type.getSizeInBytes())
    return makeError("{0} needs {1} bytes of data, got {2}", type.str(),
                     type.getSizeInBytes(), raw.size());
  Tensor tensor(type);
  auto *bytes = static_cast<uint8_t *>(tensor.getBytes());
  llvm::copy(raw, bytes);
  // A bool with a value other than 0 and 1 has undefined behaviour.
  if (type.getKind() == ElemKind::Bool)
    for (uint8_t &byte : llvm::MutableArrayRef<uint8_t>(bytes, raw.size()))
      byte = byte != 0;
  return tensor;
}

/// Reads \p field, the typed field for elements of T. Half-precision floats are
/// bit patterns in int32_data.
template <typename T, typename Field>
static llvm::Expected<Tensor> fromField(const Type &type, const Field &field) {
  if (field.size() != type.getNumElements())
    return makeError("{0} needs {1} elements, got {2}", type.str(),
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

llvm::Expected<Tensor> glowish::readOwnTensor(const TensorProto &proto) {
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
glowish::readTensor(const TensorProto &proto, ExternalData &external) {
  if (proto.data_location() == TensorProto::EXTERNAL && !proto.has_segment()) {
    GLOWISH_ASSIGN_OR_RETURN(Type type, readType(proto));
    return external.read(proto, type);
  }
  GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, readOwnTensor(proto));
  return std::make_shared<const Tensor>(std::move(tensor));
}
