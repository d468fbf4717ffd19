//===- Tolerances.h - Tolerances of outputs ---------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_TOLERANCES_H
#define GLOWISH_TESTS_CONFORMANCE_TOLERANCES_H

#include "glowish/Base/ElemKind.h"

namespace glowish {

/// |actual - expected| <= absolute + relative * |expected|.
struct Tolerance {
  double relative;
  double absolute;
};

/// Those of ONNX's own runner (onnx/backend/test/runner: rtol=1e-3, atol=1e-7
/// where a test's data.json says nothing else, and no test that comes with its
/// data has one), with these exceptions, all of them narrower:
///
/// | Kinds | Here | Why |
/// |---|---|---|
/// | integers, bool | exact | what is off by one is wrong, however large |
///
/// No test and no kind has a wider one. (bfloat16 has 8 bits: within 1e-3 is
/// the same number, but for those near 0.)
inline Tolerance getTolerance(ElemKind kind) {
  return isFloatKind(kind) ? Tolerance{1e-3, 1e-7} : Tolerance{0, 0};
}

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_TOLERANCES_H
