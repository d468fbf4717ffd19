//===- TensorFile.cpp - Tensors in files ----------------------------------===//

#include "common/TensorFile.h"
#include "glowish/Importer/TensorProtoFile.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Npy.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

namespace {
struct NpyKind {
  llvm::StringLiteral element;
  ElemKind kind;
};
} // namespace

static constexpr NpyKind npyKinds[] = {
    {"f2", ElemKind::Float16}, {"f4", ElemKind::Float},
    {"f8", ElemKind::Double},  {"i1", ElemKind::Int8},
    {"i2", ElemKind::Int16},   {"i4", ElemKind::Int32},
    {"i8", ElemKind::Int64},   {"u1", ElemKind::UInt8},
    {"u2", ElemKind::UInt16},  {"u4", ElemKind::UInt32},
    {"u8", ElemKind::UInt64},  {"b1", ElemKind::Bool}};

llvm::Expected<Tensor> glowish::readTensorFile(llvm::StringRef path) {
  if (path.ends_with(".pb"))
    return readTensorProto(path);
  GLOWISH_ASSIGN_OR_RETURN(NpyArray array, readNpy(path));
  for (const NpyKind &known : npyKinds) {
    if (known.element != array.element)
      continue;
    if (llvm::Error error = checkShape(known.kind, array.shape))
      return addContext(std::move(error), "'" + path + "': ");
    Type type(known.kind, array.shape);
    Tensor tensor(type);
    auto *bytes = static_cast<uint8_t *>(tensor.getBytes());
    // A bool byte other than 0 and 1 would be undefined behaviour later on.
    if (known.kind == ElemKind::Bool)
      for (uint8_t &byte : array.bytes)
        byte = byte != 0;
    llvm::copy(array.bytes, bytes);
    return tensor;
  }
  return makeError("'{0}': element type '{1}' is not supported", path,
                   array.element);
}

/// .npy files have no kinds of low precision: their bytes are written.
static ElemKind getNpyKind(ElemKind kind) {
  if (!isLowPrecisionKind(kind))
    return kind;
  return isLowIntegerKind(kind) ? getValueKind(kind) : ElemKind::UInt8;
}

llvm::Expected<std::string> glowish::encodeNpy(llvm::StringRef path,
                                               const Tensor &tensor) {
  const Type &type = tensor.getType();
  for (const NpyKind &known : npyKinds) {
    if (known.kind != getNpyKind(type.getKind()))
      continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    writeNpy(os, known.element, type.getShape(), tensor.getByteRange());
    return text;
  }
  return makeError("'{0}': .npy files have no element type for {1}", path,
                   getElemKindName(type.getKind()));
}

llvm::Error glowish::writeNpyFile(llvm::StringRef path, const Tensor &tensor) {
  GLOWISH_ASSIGN_OR_RETURN(std::string bytes, encodeNpy(path, tensor));
  return writeFile(path, bytes);
}

std::string glowish::getFileName(llvm::StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) || c == '.' || c == '-' || c == '_' ? c : '_';
  return text;
}
