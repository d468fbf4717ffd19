//===- UlpError.cpp - Errors in units in the last place -------------------===//

#include "UlpError.h"
#include "Tolerances.h"
#include <cmath>

using namespace glowish;

namespace {

struct Format {
  /// Bits of the mantissa, with the first.
  int precision;
  /// Of the smallest normal number.
  int minExponent;
};

} // namespace

static Format getFormat(ElemKind kind) {
  switch (kind) {
  case ElemKind::Double:
    return {53, -1022};
  case ElemKind::Float16:
    return {11, -14};
  case ElemKind::BFloat16:
    return {8, -126};
  default:
    return {24, -126};
  }
}

double glowish::measureUlps(const Tensor &actual, const Tensor &expected) {
  ElemKind kind = expected.getType().getKind();
  if (!isFloatKind(kind))
    return 0;
  Tolerance tolerance = getTolerance(kind);
  Format format = getFormat(kind);
  double most = 0;
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    double a = actual.getAsDouble(i), e = expected.getAsDouble(i);
    if (a == e || (std::isnan(a) && std::isnan(e)))
      continue;
    if (!std::isfinite(a) || !std::isfinite(e))
      return std::numeric_limits<double>::infinity();
    double size =
        std::max(std::fabs(e), tolerance.absolute / tolerance.relative);
    int exponent = std::max(std::ilogb(size), format.minExponent);
    most = std::max(
        most, std::ldexp(std::fabs(a - e), format.precision - 1 - exponent));
  }
  return most;
}
