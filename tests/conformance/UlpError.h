//===- UlpError.h - Errors in units in the last place -----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_ULPERROR_H
#define GLOWISH_TESTS_CONFORMANCE_ULPERROR_H

#include "glowish/Base/Tensor.h"

namespace glowish {

/// The largest |actual - expected| in units in the last place of the expected
/// element, in its own kind; 0 for all kinds but float, float16, bfloat16 and
/// double, whose elements are compared exactly.
///
/// An element under 1e-4 counts as if it were 1e-4: from there on the absolute
/// part of the tolerance is the larger one (Tolerances.h), and next to 0, where
/// what is expected was rounded itself, units become as small as 1e-45.
/// Infinite where only one is infinite or NaN.
double measureUlps(const Tensor &actual, const Tensor &expected);

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_ULPERROR_H
