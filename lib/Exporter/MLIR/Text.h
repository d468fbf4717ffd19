//===- Text.h - Types and literals of MLIR ----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_MLIR_TEXT_H
#define GLOWISH_LIB_EXPORTER_MLIR_TEXT_H

#include "glowish/Base/Tensor.h"
#include "glowish/Exporter/MLIR.h"

namespace glowish {

/// How types and elements are written.
enum class TextStyle : uint8_t {
  /// As LLVM's dialects have them: integers have no sign.
  Llvm,
  /// As StableHLO has them: unsigned integers are "ui8". All versions of LLVM
  /// read the elements of bools alike.
  StableHlo
};

TextStyle getTextStyle(MlirDialect dialect);

/// "f32". Those under 8 bits, like floats of 8 bits and fewer, are stored in
/// bytes: "i8", or "ui8" of StableHLO for all that are not signed integers.
llvm::StringRef getElementType(ElemKind kind,
                               TextStyle style = TextStyle::Llvm);
/// Whether elements of \p kind are integers whose bits MLIR's types don't tell
/// from those of signed ones.
inline bool isUnsignedKind(ElemKind kind) {
  return isIntegerKind(kind) && !isSignedIntegerKind(kind);
}
/// The integer kind of the other sign and as many bits as \p kind.
ElemKind getOtherSign(ElemKind kind);
/// The integers of a quantized type: nothing is computed with these types,
/// their elements are only moved.
Type getStoredType(const Type &type);
/// "tensor<2x3xf32>".
std::string getTensorType(const Type &type, TextStyle style = TextStyle::Llvm);
/// The extents of each value as types, "tensor<2xf32>, tensor<f32>".
std::string getTensorTypes(llvm::ArrayRef<Type> types,
                           TextStyle style = TextStyle::Llvm);

/// "1.500000e+00", "-3", "true": \p value, saturated for an integer kind, as an
/// attribute of \p kind without its type.
std::string formatLiteral(ElemKind kind, double value,
                          TextStyle style = TextStyle::Llvm);
/// "2, 3".
std::string formatList(llvm::ArrayRef<int64_t> values);
/// "array<i64: 2, 3>".
std::string formatArray(llvm::ArrayRef<int64_t> values);

/// What is between the brackets of dense<>: the elements of \p tensor one by
/// one, one for all if they are equal, or, if there are many, their bytes.
std::string formatElements(const Tensor &tensor,
                           TextStyle style = TextStyle::Llvm);
/// Whether all elements of \p tensor, of which there is one at least, have the
/// same bits.
bool isSplat(const Tensor &tensor);
/// Writes \p bytes as pairs of hexadecimal digits.
void writeHex(llvm::raw_ostream &os, llvm::ArrayRef<uint8_t> bytes);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_MLIR_TEXT_H
