//===- ConstantText.cpp - Numbers and tensors as text ---------------------===//

#include "glowish/Ops/TextForm.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <charconv>
#include <cmath>
#include <cstring>

using namespace glowish;

namespace {

/// The storage type of a float kind, and the type that its decimals are parsed
/// as.
template <typename T> struct FloatText {
  using Bits = std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;
  using Decimal = float;
};
template <> struct FloatText<float> {
  using Bits = uint32_t;
  using Decimal = float;
};
template <> struct FloatText<double> {
  using Bits = uint64_t;
  using Decimal = double;
};

} // namespace

template <typename T> static typename FloatText<T>::Bits getBits(T value) {
  return llvm::bit_cast<typename FloatText<T>::Bits>(value);
}

template <typename T> static T getCanonicalNaN() {
  return T(std::numeric_limits<typename FloatText<T>::Decimal>::quiet_NaN());
}

//===- Printing -----------------------------------------------------------===//

template <typename T> static void printFloat(llvm::raw_ostream &os, T value) {
  auto decimal = typename FloatText<T>::Decimal(value);
  if (std::isnan(decimal)) {
    auto bits = getBits(value);
    if (bits == getBits(getCanonicalNaN<T>()))
      os << "nan";
    else
      os << "0x"
         << llvm::utohexstr(bits, /*LowerCase=*/false, 2 * sizeof(bits));
    return;
  }
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), decimal).ptr;
  llvm::StringRef digits(buffer, end - buffer);
  os << digits;
  // Decimals that read like an integer get a point.
  if (digits.find_first_of(".en") == llvm::StringRef::npos)
    os << ".0";
}

void glowish::printDouble(llvm::raw_ostream &os, double value) {
  printFloat(os, value);
}

template <typename T>
static void printElements(llvm::raw_ostream &os, llvm::ArrayRef<T> values) {
  os << '[';
  const char *separator = "";
  for (T value : values) {
    os << separator;
    separator = ", ";
    if constexpr (std::is_same_v<T, bool>)
      os << (value ? "true" : "false");
    else if constexpr (std::is_integral_v<T> || isLowInt<T>)
      os << +value;
    else
      printFloat(os, value);
  }
  os << ']';
}

void ConstantWriter::print(llvm::raw_ostream &os, const Tensor &tensor) {
  const Type &type = tensor.getType();
  if (type.getNumElements() <= inlineLimit) {
    dispatchElemKind(type.getKind(), [&](auto zero) {
      printElements(os, tensor.data<decltype(zero)>());
    });
    return;
  }
  if (!sideFile) {
    os << "elided";
    return;
  }
  uint64_t begin = llvm::alignTo(offset, Tensor::alignment);
  sideFile->write_zeros(begin - offset);
  llvm::ArrayRef<uint8_t> bytes = tensor.getByteRange();
  sideFile->write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  offset = begin + bytes.size();
  os << "external " << begin;
}

//===- Numbers ------------------------------------------------------------===//

/// Reads all of \p text as a \p T. Out of range is an error, too.
template <typename T, typename... Base>
static bool readNumber(llvm::StringRef text, T &value, Base... base) {
  auto [end, failure] =
      std::from_chars(text.begin(), text.end(), value, base...);
  return failure == std::errc() && end == text.end();
}

/// The float spelled by \p token, as readNumber.
template <typename T> static bool readFloat(const Token &token, T &value) {
  llvm::StringRef text = token.text;
  typename FloatText<T>::Bits bits;
  static_assert(sizeof(bits) == sizeof(value));
  typename FloatText<T>::Decimal decimal;
  switch (token.kind) {
  case Token::Digits:
    if (!text.consume_front("0x") || !readNumber(text, bits, 16))
      return false;
    if constexpr (isLowFloat<T>)
      if (bits >> (T::width - 1) > 1)
        return false;
    std::memcpy(&value, &bits, sizeof(value));
    return true;
  case Token::Identifier:
    if (text == "nan")
      value = getCanonicalNaN<T>();
    else if (text == "inf")
      value = T(std::numeric_limits<decltype(decimal)>::infinity());
    else
      return false;
    return true;
  case Token::Integer:
  case Token::Float:
    if (!readNumber(text, decimal))
      return false;
    value = T(decimal);
    // Half precisions have a smaller range than the decimal, and float8 has NaN
    // where there is no infinity.
    return std::isinf(decimal) ||
           std::isfinite(typename FloatText<T>::Decimal(value));
  default:
    return false;
  }
}

template <typename T> llvm::Expected<T> TextParser::parseElement() {
  T value = T();
  bool ok = false;
  if constexpr (std::is_same_v<T, bool>) {
    value = token.text == "true";
    ok = token.kind == Token::Identifier && (value || token.text == "false");
    if (!ok)
      return error("expected true or false");
  } else if constexpr (std::is_integral_v<T> || isLowInt<T>) {
    if (token.kind != Token::Integer)
      return error("expected an integer");
    if constexpr (isLowInt<T>) {
      typename T::Value number = 0;
      ok = readNumber(token.text, number);
      value = T(int64_t(number));
      ok = ok && value.value == number;
    } else {
      ok = readNumber(token.text, value);
    }
  } else {
    llvm::StringRef digits = token.text;
    bool isNumber =
        token.kind == Token::Integer || token.kind == Token::Float ||
        (token.kind == Token::Digits && digits.consume_front("0x") &&
         !digits.empty() && llvm::all_of(digits, llvm::isHexDigit));
    ok = readFloat(token, value);
    if (!ok && !isNumber)
      return error("expected a number");
  }
  if (!ok)
    return error("'" + token.text + "' is out of range");
  advance();
  return value;
}

// TextForm.cpp parses quantization parameters and bool attributes.
template llvm::Expected<float> TextParser::parseElement();
template llvm::Expected<int32_t> TextParser::parseElement();
template llvm::Expected<bool> TextParser::parseElement();

llvm::Expected<int64_t> TextParser::parseInt() {
  return parseElement<int64_t>();
}

llvm::Expected<double> TextParser::parseDouble() {
  return parseElement<double>();
}

//===- Constants ----------------------------------------------------------===//

template <typename T>
llvm::Expected<Tensor> TextParser::parseInline(const Type &type) {
  // The memory is taken when the elements are there: the text bounds it.
  llvm::SmallVector<T, 0> values;
  GLOWISH_RETURN_IF_ERROR(
      parseListInto(values, "[", "]", [&] { return parseElement<T>(); }));
  if (int64_t(values.size()) != type.getNumElements())
    return error("a constant of type " + type.str() + " has " +
                 llvm::Twine(type.getNumElements()) + " elements, got " +
                 llvm::Twine(values.size()));
  return Tensor::fromValues<T>(type, values);
}

llvm::Expected<Tensor> TextParser::parseExternal(const Type &type) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t begin, parseInt());
  if (!sideFile)
    return error("there is no side file for an external constant");
  llvm::StringRef file = sideFile->getBuffer();
  uint64_t size = type.getSizeInBytes();
  if (begin < 0 || begin % Tensor::alignment)
    return error("offset " + llvm::Twine(begin) +
                 " of an external constant is not a multiple of 64");
  if (uint64_t(begin) > file.size() || size > file.size() - begin)
    return error("the side file of " + llvm::Twine(file.size()) +
                 " bytes does not hold " + llvm::Twine(size) +
                 " bytes at offset " + llvm::Twine(begin));
  llvm::StringRef bytes = file.substr(begin, size);
  ElemKind kind = type.getKind();
  if (getElemSize(kind) == 1 && !llvm::all_of(bytes, [&](char byte) {
        return isElementByte(kind, uint8_t(byte));
      }))
    return error("an external " + getElemKindName(kind) +
                 " constant has bytes that are no " + getElemKindName(kind));
  Tensor tensor(type);
  llvm::copy(bytes, static_cast<char *>(tensor.getBytes()));
  return tensor;
}

llvm::Expected<Tensor> TextParser::parseConstant(const Type &type) {
  if (consumeIf("external"))
    return parseExternal(type);
  if (consumeIf("elided"))
    return error("the constant was elided when the text was printed");
  return dispatchElemKind(type.getKind(),
                          [&](auto zero) -> llvm::Expected<Tensor> {
                            return parseInline<decltype(zero)>(type);
                          });
}
