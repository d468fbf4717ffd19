//===- FusedRows.h - Row-wise quantized embedding tables --------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_FUSEDROWS_H
#define GLOWISH_IMPORTER_FUSEDROWS_H

#include "glowish/Base/ElemKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace glowish {

/// A format of row-wise quantized embedding tables, one of Glow's element
/// types: bytes [rows, columns], where each row ends with a scale and a bias,
/// so that an integer q stands for scale * q + bias. In the graph such tables
/// are uint8; operators on them are decomposed.
struct FusedRows {
  /// The name in Glow's API, such as "UInt8FusedQ", and in its text form, such
  /// as "ui8fused".
  llvm::StringLiteral name, shortName;
  /// Bits per integer: 8, or 4 with the first of two in the lower bits of a
  /// byte.
  unsigned numBits;
  /// Element kind of scale and bias: Float or Float16.
  ElemKind paramKind;

  /// Returns the size of scale and bias in bytes.
  int64_t getParamSize() const { return 2 * int64_t(getElemSize(paramKind)); }
};

/// Returns all formats: 8-bit ones first, and for each size first the format of
/// Caffe2's own operators.
llvm::ArrayRef<FusedRows> getFusedRows();

/// Returns the format with the name or short name \p name, or null.
const FusedRows *findFusedRows(llvm::StringRef name);

} // namespace glowish

#endif // GLOWISH_IMPORTER_FUSEDROWS_H
