//===- ScalarRange.h - Range arithmetic over scalar formulas ----*- C++ -*-===//
//
// The formulas of the element-wise records, instantiated on ranges: the range
// of a result follows from the ranges of the operands.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_SCALARRANGE_H
#define GLOWISH_LIB_IMPORTER_COMMON_SCALARRANGE_H

#include "glowish/Base/Extent.h"
#include "llvm/ADT/ArrayRef.h"
#include <cmath>

namespace glowish {

enum class ElemKind : uint8_t;
enum class ScalarOp : uint16_t;

/// A number that runs decide: from `low` to `high`, inclusive, and in each run
/// the extent, where it is an integer for which an expression is known.
struct ScalarRange {
  double low = -HUGE_VAL, high = HUGE_VAL;
  std::optional<Extent> extent = {};
};

/// Returns the range of \p extent, of which \p symbols are the symbols.
ScalarRange getScalarRange(const Extent &extent, const SymbolRanges &symbols);

/// Returns a range with all values of \p op for operands in \p operands, of
/// \p kinds. \p params: the operator's Float attributes; \p result: the element
/// kind of the result, in which overflow is not considered.
ScalarRange evaluateRange(ScalarOp op, llvm::ArrayRef<ScalarRange> operands,
                          llvm::ArrayRef<ElemKind> kinds,
                          llvm::ArrayRef<double> params, ElemKind result,
                          const SymbolRanges &symbols);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_SCALARRANGE_H
