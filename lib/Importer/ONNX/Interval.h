//===- Interval.h - Interval arithmetic over scalar formulas ----*- C++ -*-===//
//
// The formulas of the element-wise records, instantiated on intervals: the
// bounds of a result follow from the bounds of the operands.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_INTERVAL_H
#define GLOWISH_LIB_IMPORTER_ONNX_INTERVAL_H

#include "llvm/ADT/ArrayRef.h"
#include <cmath>

namespace glowish {
enum class ElemKind : uint8_t;
enum class ScalarOp : uint16_t;
} // namespace glowish

namespace glowish::onnximport {

/// The numbers from `low` to `high`, inclusive.
struct Interval {
  double low = -HUGE_VAL, high = HUGE_VAL;
};

/// Returns an interval with all values of \p op for operands in \p operands, of
/// \p kinds. \p params: the operator's Float attributes; \p result: the element
/// kind of the result, in which overflow is not considered.
Interval evaluateInterval(ScalarOp op, llvm::ArrayRef<Interval> operands,
                          llvm::ArrayRef<ElemKind> kinds,
                          llvm::ArrayRef<double> params, ElemKind result);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_INTERVAL_H
