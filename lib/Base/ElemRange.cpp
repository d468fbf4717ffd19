//===- ElemRange.cpp - The numbers that element kinds have ----------------===//

#include "glowish/Base/ElemRange.h"
#include <limits>

using namespace glowish;

/// The range of a format that has a number's opposite, too.
static ElemRange makeSymmetric(double largest) { return {-largest, largest}; }

ElemRange glowish::getFiniteRange(ElemKind kind) {
  return dispatchElemKind(kind, [](auto zero) -> ElemRange {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Float16>)
      return makeSymmetric(0x1.ffcp15);
    else if constexpr (std::is_same_v<T, BFloat16>)
      return makeSymmetric(0x1.fep127);
    else if constexpr (isLowFloat<T>) {
      double largest =
          lowfloat::decodeFloat(uint8_t(T::format.largest), T::format);
      double least = lowfloat::decodeFloat(0, T::format);
      return T::format.hasSign ? makeSymmetric(largest)
                               : ElemRange{least, largest};
    } else if constexpr (isLowInt<T>)
      return {double(T::lowest), double(T::highest)};
    else
      return {double(std::numeric_limits<T>::lowest()),
              double(std::numeric_limits<T>::max())};
  });
}

double glowish::getLowest(ElemKind kind) {
  return isFloatKind(kind) ? -std::numeric_limits<double>::infinity()
                           : getFiniteRange(kind).low;
}
