//===- NumericHazards.h - Undetermined results ------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_NUMERICHAZARDS_H
#define GLOWISH_TESTS_FUZZ_NUMERICHAZARDS_H

#include "glowish/Base/Tensor.h"
#include "glowish/Graph/Nodes.h"

namespace glowish::fuzz {

/// Whether the results of \p node depend on more than the values of its
/// \p operands: on the payloads of NaN, the range of intermediate values, or
/// roundings that perturbing operands and results does not show. \p areExact:
/// the operands are not rounded themselves.
bool isUndetermined(const Node &node, llvm::ArrayRef<Tensor> operands,
                    llvm::ArrayRef<Tensor> results, bool areExact);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_NUMERICHAZARDS_H
