//===- FusedRows.h - Bytes that are rows with a scale -----------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_FUSEDROWS_H
#define GLOWISH_IMPORTER_FUSEDROWS_H

#include "glowish/Base/ElemKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace glowish {

/// A form of embedding tables that is one of Glow's element types: bytes [rows,
/// columns] of which each row has numbers, then its scale and its bias, which
/// stand for scale * number + bias. In a graph such tables are uint8, and what
/// reads them is written out.
struct FusedRows {
  /// In Glow's programs, as "UInt8FusedQ", and in its text, as "ui8fused".
  llvm::StringLiteral name, shortName;
  /// Of each number: 8, or 4, where the first of two is in the lower bits.
  unsigned numBits;
  /// Of scale and bias: Float or Float16.
  ElemKind paramKind;

  /// The bytes of scale and bias.
  int64_t getParamSize() const { return 2 * int64_t(getElemSize(paramKind)); }
};

/// All forms: those with numbers of 8 bits first, and of either size that of
/// Caffe2's own operators first.
llvm::ArrayRef<FusedRows> getFusedRows();

/// The form that is called \p name or, in short, so; null when there is none.
const FusedRows *findFusedRows(llvm::StringRef name);

} // namespace glowish

#endif // GLOWISH_IMPORTER_FUSEDROWS_H
