//===- ScalarOperands.h - Operands of element-wise operators ----*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_SCALAROPERANDS_H
#define GLOWISH_TESTS_UNIT_SCALAROPERANDS_H

#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Ops/ScalarProgram.h"
#include <cmath>
#include <optional>

namespace glowish {

struct OperandRange {
  double low, high;
};

/// Where the results and the gradients of \p op are finite, and of a size at
/// which floats can be compared: inside its domain and away from its poles.
inline OperandRange getOperandRange(const ScalarOpInfo &op) {
  bool isBounded = std::isfinite(op.domainLow) || std::isfinite(op.domainHigh);
  // 1 / x has its pole at 0, and the tangent at the multiples of pi / 2.
  if (op.hasPole && !isBounded)
    return {-1.2, -0.4};
  return {std::max(op.domainLow + 0.2, -4.0),
          std::min(op.domainHigh - 0.2, 4.0)};
}

/// Floats of [-1, 1] moved into the range of operands of \p op.
inline NodeValue moveIntoRange(NodeBuilder &b, const ScalarOpInfo &op,
                               NodeValue x) {
  OperandRange range = getOperandRange(op);
  x = b.mul(x, (range.high - range.low) / 2);
  return b.add(x, (range.low + range.high) / 2);
}

/// A permutation of the numbers of \p kind, int8 or uint8, for Lookup.
inline std::vector<int64_t> makeTable(ElemKind kind) {
  std::vector<int64_t> table;
  for (int64_t i = 0; i < 256; ++i)
    table.push_back((i * 167 + 13) % 256 - (kind == ElemKind::Int8 ? 128 : 0));
  return table;
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_SCALAROPERANDS_H
