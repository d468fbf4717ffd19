//===- NumericHazards.h - Results that operands do not determine -*- C++
//-*-===//

#ifndef GLOWISH_TESTS_FUZZ_NUMERICHAZARDS_H
#define GLOWISH_TESTS_FUZZ_NUMERICHAZARDS_H

#include "glowish/Base/Tensor.h"
#include "glowish/Graph/Nodes.h"

namespace glowish::fuzz {

/// Whether the results of \p node depend on more than the values of its
/// \p operands: on the payloads of NaN, the range of intermediate values, or
/// roundings that perturbing operands and results does not show.
bool isUndetermined(const Node &node, llvm::ArrayRef<Tensor> operands,
                    llvm::ArrayRef<Tensor> results);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_NUMERICHAZARDS_H
