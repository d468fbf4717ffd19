//===- Text.cpp - Types and literals of MLIR ------------------------------===//

#include "MLIR/Text.h"
#include "glowish/Ops/Scalar.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace glowish;

TextStyle glowish::getTextStyle(MlirDialect dialect) {
  return dialect == MlirDialect::StableHlo ? TextStyle::StableHlo
                                           : TextStyle::Llvm;
}

/// Whether elements of \p kind are written as integers without a sign.
static bool isWrittenUnsigned(ElemKind kind, TextStyle style) {
  ElemKind value = getValueKind(kind);
  // The bits of floats of 8 bits and fewer.
  bool isLowFloat = isLowPrecisionKind(kind) && isFloatKind(value);
  bool isUnsigned = isUnsignedKind(value) || kind == ElemKind::UInt8Q;
  return style == TextStyle::StableHlo && (isUnsigned || isLowFloat);
}

llvm::StringRef glowish::getElementType(ElemKind kind, TextStyle style) {
  switch (kind) {
  case ElemKind::Float:
    return "f32";
  case ElemKind::Float16:
    return "f16";
  case ElemKind::BFloat16:
    return "bf16";
  case ElemKind::Double:
    return "f64";
  case ElemKind::Bool:
    return "i1";
  default:
    break;
  }
  static constexpr llvm::StringLiteral types[][2] = {
      {"i8", "ui8"}, {"i16", "ui16"}, {"i32", "ui32"}, {"i64", "ui64"}};
  return types[llvm::Log2_32(getElemSize(kind))]
              [isWrittenUnsigned(kind, style)];
}

ElemKind glowish::getOtherSign(ElemKind kind) {
  using enum ElemKind;
  constexpr std::pair<ElemKind, ElemKind> pairs[] = {
      {Int8, UInt8}, {Int16, UInt16}, {Int32, UInt32}, {Int64, UInt64}};
  for (auto [isSigned, isUnsigned] : pairs)
    if (kind == isSigned || kind == isUnsigned)
      return kind == isSigned ? isUnsigned : isSigned;
  llvm_unreachable("not an integer kind");
}

Type glowish::getStoredType(const Type &type) {
  using enum ElemKind;
  constexpr std::pair<ElemKind, ElemKind> pairs[] = {
      {Int8Q, Int8}, {UInt8Q, UInt8}, {Int16Q, Int16}, {Int32Q, Int32}};
  for (auto [quantized, stored] : pairs)
    if (type.getKind() == quantized)
      return Type(stored, type.getShape());
  return type;
}

std::string glowish::getTensorType(const Type &type, TextStyle style) {
  std::string text = "tensor<";
  for (int64_t extent : type.getShape())
    text += std::to_string(extent) + "x";
  return text + getElementType(type.getKind(), style).str() + ">";
}

std::string glowish::getTensorTypes(llvm::ArrayRef<Type> types,
                                    TextStyle style) {
  return llvm::join(llvm::map_range(types,
                                    [style](const Type &type) {
                                      return getTensorType(type, style);
                                    }),
                    ", ");
}

/// The shortest decimal number that is read as \p value again; the bits of one
/// that is infinite or NaN.
template <typename T, typename Bits>
static std::string formatFloat(T value, Bits bits) {
  if (!std::isfinite(value))
    return "0x" + llvm::utohexstr(bits, /*LowerCase=*/false,
                                  /*Width=*/2 * sizeof(Bits));
  char buffer[40];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(buffer, sizeof(buffer), "%.*e", digits, double(value));
    if (T(std::strtod(buffer, nullptr)) == value)
      break;
  }
  return buffer;
}

/// Element \p index of \p tensor as an attribute without its type.
static std::string formatElement(const Tensor &tensor, int64_t index,
                                 TextStyle style) {
  ElemKind kind = tensor.getType().getKind();
  switch (kind) {
  case ElemKind::Float: {
    float value = tensor.data<float>()[index];
    return formatFloat(value, llvm::bit_cast<uint32_t>(value));
  }
  case ElemKind::Double: {
    double value = tensor.data<double>()[index];
    return formatFloat(value, llvm::bit_cast<uint64_t>(value));
  }
  case ElemKind::Float16: {
    Float16 value = tensor.data<Float16>()[index];
    return formatFloat(float(value), value.bits);
  }
  case ElemKind::BFloat16: {
    BFloat16 value = tensor.data<BFloat16>()[index];
    return formatFloat(float(value), value.bits);
  }
  case ElemKind::Bool:
    return tensor.getAsInt(index) ? "true" : "false";
  default:
    break;
  }
  bool isUnsigned = isWrittenUnsigned(kind, style);
  if (isLowPrecisionKind(kind)) {
    uint8_t byte = tensor.getByteRange()[index];
    return std::to_string(isUnsigned ? byte : int8_t(byte));
  }
  int64_t value = tensor.getAsInt(index);
  if (isUnsigned)
    return std::to_string(uint64_t(value));
  if (!isUnsignedKind(kind) || getElemSize(kind) == 8)
    return std::to_string(value);
  // Types have no sign, and literals that of the type with the same bits.
  unsigned bits = 8 * getElemSize(kind);
  return std::to_string(llvm::SignExtend64(uint64_t(value), bits));
}

std::string glowish::formatLiteral(ElemKind kind, double value,
                                   TextStyle style) {
  Tensor tensor(Type(kind, {}));
  tensor.setFromDouble(0, value);
  return formatElement(tensor, 0, style);
}

std::string glowish::formatList(llvm::ArrayRef<int64_t> values) {
  return llvm::join(
      llvm::map_range(values,
                      [](int64_t value) { return std::to_string(value); }),
      ", ");
}

std::string glowish::formatArray(llvm::ArrayRef<int64_t> values) {
  return values.empty() ? "array<i64>"
                        : "array<i64: " + formatList(values) + ">";
}

//===- Elements of tensors ------------------------------------------------===//

bool glowish::isSplat(const Tensor &tensor) {
  llvm::ArrayRef<uint8_t> bytes = tensor.getByteRange();
  size_t size = getElemSize(tensor.getType().getKind());
  // Equal to itself shifted by an element.
  return std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) ==
         0;
}

void glowish::writeHex(llvm::raw_ostream &os, llvm::ArrayRef<uint8_t> bytes) {
  constexpr size_t blockSize = 4096;
  char block[2 * blockSize];
  while (!bytes.empty()) {
    llvm::ArrayRef<uint8_t> part = bytes.take_front(blockSize);
    char *next = block;
    for (uint8_t byte : part) {
      *next++ = llvm::hexdigit(byte >> 4);
      *next++ = llvm::hexdigit(byte & 15);
    }
    os.write(block, size_t(next - block));
    bytes = bytes.drop_front(part.size());
  }
}

/// The elements from \p next on as nested lists.
static void appendNested(std::string &text, const Tensor &tensor,
                         unsigned dimension, int64_t &next, TextStyle style) {
  DimsRef shape = tensor.getType().getShape();
  if (dimension == shape.size()) {
    text += formatElement(tensor, next++, style);
    return;
  }
  text += "[";
  for (int64_t i = 0; i < shape[dimension]; ++i) {
    text += i ? ", " : "";
    appendNested(text, tensor, dimension + 1, next, style);
  }
  text += "]";
}

/// Bits of bools, the first in the lowest bit.
static std::vector<uint8_t> packBools(const Tensor &tensor) {
  std::vector<uint8_t> packed((tensor.getNumElements() + 7) / 8);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    packed[i / 8] |= uint8_t((tensor.getAsInt(i) != 0) << i % 8);
  return packed;
}

std::string glowish::formatElements(const Tensor &tensor, TextStyle style) {
  constexpr int64_t mostListed = 32;
  int64_t count = tensor.getNumElements();
  if (count == 0)
    return "";
  if (isSplat(tensor))
    return formatElement(tensor, 0, style);
  std::string text;
  bool isBool = tensor.getType().getKind() == ElemKind::Bool;
  // The bytes of bools are packed by some versions of LLVM alone.
  if (count <= mostListed || (isBool && style == TextStyle::StableHlo)) {
    int64_t next = 0;
    appendNested(text, tensor, 0, next, style);
    return text;
  }
  llvm::raw_string_ostream os(text);
  os << "\"0x";
  if (isBool)
    writeHex(os, packBools(tensor));
  else
    writeHex(os, tensor.getByteRange());
  os << '"';
  return text;
}
