//===- Solvers.h - How variables change -------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_SOLVERS_H
#define GLOWISH_LIB_AUTODIFF_SOLVERS_H

#include "glowish/Autodiff/Training.h"
#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// What is the same for all variables of a step.
class Solver {
public:
  /// \p rate: a float scalar; \p count: the number of this step from 1, an
  /// int64 scalar.
  Solver(const SolverConfig &config, NodeBuilder &b, NodeValue rate,
         NodeValue count);

  /// Names of what is kept for each variable: tensors of its type, zeros at
  /// first.
  llvm::ArrayRef<llvm::StringLiteral> getStateNames() const;

  struct Update {
    NodeValue x;
    llvm::SmallVector<NodeValue, 2> states;
  };
  /// New values of \p x and its states, all of one type.
  Update update(NodeValue x, NodeValue gradient,
                llvm::ArrayRef<NodeValue> states);

private:
  NodeValue takeStep(NodeValue x, NodeValue direction);
  NodeValue average(NodeValue old, NodeValue value, double share);
  Update updateSGD(NodeValue x, NodeValue g, llvm::ArrayRef<NodeValue> states);
  Update updateAdam(NodeValue x, NodeValue g, llvm::ArrayRef<NodeValue> states);
  Update updateRMSProp(NodeValue x, NodeValue g,
                       llvm::ArrayRef<NodeValue> states);
  Update updateAdagrad(NodeValue x, NodeValue g,
                       llvm::ArrayRef<NodeValue> states);

  const SolverConfig &config;
  NodeBuilder &b;
  NodeValue rate;
  double epsilon;
  /// Adam: what makes up for averages that begin at 0, double scalars.
  NodeValue meanCorrection, rootCorrection;
};

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_SOLVERS_H
