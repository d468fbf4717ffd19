//===- Text.h - Types and literals of MLIR ----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_MLIR_TEXT_H
#define GLOWISH_LIB_EXPORTER_MLIR_TEXT_H

#include "glowish/Base/Tensor.h"

namespace glowish {

/// "f32". Integers have no sign there, and those under 8 bits, like floats of 8
/// bits and fewer, are stored in i8.
llvm::StringRef getElementType(ElemKind kind);
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
std::string getTensorType(const Type &type);
/// The extents of each value as types, "tensor<2xf32>, tensor<f32>".
std::string getTensorTypes(llvm::ArrayRef<Type> types);

/// "1.500000e+00", "-3", "true": \p value, saturated for an integer kind, as an
/// attribute of \p kind without its type.
std::string formatLiteral(ElemKind kind, double value);
/// "2, 3".
std::string formatList(llvm::ArrayRef<int64_t> values);

/// What is between the brackets of dense<>: the elements of \p tensor one by
/// one, one for all if they are equal, or, if there are many, their bytes.
std::string formatElements(const Tensor &tensor);
/// Whether all elements of \p tensor, of which there is one at least, have the
/// same bits.
bool isSplat(const Tensor &tensor);
/// Writes \p bytes as pairs of hexadecimal digits.
void writeHex(llvm::raw_ostream &os, llvm::ArrayRef<uint8_t> bytes);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_MLIR_TEXT_H
