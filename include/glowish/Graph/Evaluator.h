//===- Evaluator.h - Compile-time evaluation of nodes -----------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_EVALUATOR_H
#define GLOWISH_GRAPH_EVALUATOR_H

#include "glowish/Graph/Module.h"
#include <functional>

namespace glowish {

/// Computes the results of a node whose operands are all Constants. It is
/// passed to importers and to constant folding, as its implementation, the
/// interpreter (Backends/Interpreter), is in a layer that they must not
/// include.
using NodeEvaluator =
    std::function<llvm::Expected<std::vector<Tensor>>(const Node &node)>;

/// Whether \p node can be folded: all operands are Constants, and it has
/// results but neither side effects nor bodies, and calls no function.
bool hasConstantOperands(const Node &node);

} // namespace glowish

#endif // GLOWISH_GRAPH_EVALUATOR_H
