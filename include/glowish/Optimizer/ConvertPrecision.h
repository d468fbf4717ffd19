//===- ConvertPrecision.h - From float to a half precision ------*- C++ -*-===//
//
// Rewrites a graph of floats so that its values, weights and operators are of
// float16 or bfloat16. Sums of convolutions, matmuls and normalizations are
// still computed in float; what a node gives is rounded.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPTIMIZER_CONVERTPRECISION_H
#define GLOWISH_OPTIMIZER_CONVERTPRECISION_H

#include "glowish/Graph/Module.h"
#include <set>

namespace glowish {

/// The options of convertPrecision().
struct PrecisionConfig {
  /// Float16 or BFloat16.
  ElemKind kind = ElemKind::Float16;
  /// Inputs, outputs and states get the kind, too. Otherwise they are converted
  /// where they are read or written.
  bool convertsPlaceholders = false;
  /// What stays float.
  std::set<NodeKind> keptKinds = {};
};

/// Converts the floats of \p function, which has gone through
/// getQuantizationPipeline() and is the only one of its module: activations and
/// normalizations should be one node each, so that their steps are not rounded.
///
/// Float stay: what is computed of integers alone (positions, masks, what
/// quantized values stand for), the element-wise nodes in front of a conversion
/// to integers, nodes with bodies, nodes that take no half precision, and kept
/// kinds. Finite numbers that are too large for the half precision become the
/// largest it has, in constants and attributes and wherever values of float are
/// converted.
void convertPrecision(Function &function, const PrecisionConfig &config);

} // namespace glowish

#endif // GLOWISH_OPTIMIZER_CONVERTPRECISION_H
