//===- ElemRange.h - The numbers that element kinds have --------*- C++ -*-===//

#ifndef GLOWISH_BASE_ELEMRANGE_H
#define GLOWISH_BASE_ELEMRANGE_H

#include "glowish/Base/ElemKind.h"

namespace glowish {

/// An interval of numbers, its ends included.
struct ElemRange {
  double low, high;

  /// Returns \p number if it is inside, else the end that is nearer; NaN as it
  /// is.
  double clamp(double number) const {
    return number < low ? low : number > high ? high : number;
  }
  /// Whether \p number is inside; NaN is not.
  bool contains(double number) const { return low <= number && number <= high; }
};

/// Returns the least and the largest finite number of \p kind: of a quantized
/// kind those of the integers that it stores, of bool 0 and 1. A double does
/// not have the largest int64 and uint64: `high` is then one more, 2^63 and
/// 2^64.
ElemRange getFiniteRange(ElemKind kind);

/// Returns the number of \p kind to which none compares less: -infinity where
/// the kind is a float with infinities (isFloatKind), else the least one.
double getLowest(ElemKind kind);

} // namespace glowish

#endif // GLOWISH_BASE_ELEMRANGE_H
