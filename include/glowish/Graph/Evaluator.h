//===- Evaluator.h - Computing a node at compile time ---------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_EVALUATOR_H
#define GLOWISH_GRAPH_EVALUATOR_H

#include "glowish/Graph/Module.h"
#include <functional>

namespace glowish {

/// Computes the results of a node whose operands are all Constants. Importers
/// and the constant folding pass are given one; it is the interpreter
/// (Backends/Interpreter), which they may not include.
using NodeEvaluator =
    std::function<llvm::Expected<std::vector<Tensor>>(const Node &node)>;

/// Whether every operand of \p node is a Constant and it has results, no side
/// effects and no bodies.
bool hasConstantOperands(const Node &node);

} // namespace glowish

#endif // GLOWISH_GRAPH_EVALUATOR_H
