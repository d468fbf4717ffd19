//===- AxisMap.h - Axis rules of operands -----------------------*- C++ -*-===//
//
// A pass that computes a part of a result asks which parts of the operands it
// needs. The answer is a function of the operator's record, an axis rule.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPS_AXISMAP_H
#define GLOWISH_OPS_AXISMAP_H

#include "glowish/Base/Type.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace glowish {

/// The dimension of an operand that follows one of the result: index i of the
/// result depends on the indices i * stride - pad ... i * stride - pad + reach
/// of the operand that exist.
struct OperandAxis {
  unsigned dim = 0;
  int64_t stride = 1, reach = 0, pad = 0;

  /// Index i depends on index i alone.
  bool isPointwise() const { return stride == 1 && reach == 0 && pad == 0; }
};

/// For each operand the dimension that follows; none if any part of the result
/// needs all of the operand.
using OperandAxes = llvm::SmallVector<std::optional<OperandAxis>, 4>;

/// The dimension of \p to that is dimension \p dim of \p from after a reshape:
/// it has as many elements behind it; null where there is none.
std::optional<unsigned> findReshapedDim(DimsRef from, DimsRef to, unsigned dim);

} // namespace glowish

#endif // GLOWISH_OPS_AXISMAP_H
