//===- Solvers.h - Update rules of trained variables ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_SOLVERS_H
#define GLOWISH_LIB_AUTODIFF_SOLVERS_H

#include "glowish/Autodiff/Training.h"
#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// A configured update rule: the state that all variables of a step share.
class Solver {
public:
  /// \p rate is a float scalar; \p count, an int64 scalar, is the number of
  /// this step from 1.
  Solver(const SolverConfig &config, NodeBuilder &b, NodeValue rate,
         NodeValue count);

  /// Returns the names of the states of each variable: tensors of its type,
  /// initially zero.
  llvm::ArrayRef<llvm::StringLiteral> getStateNames() const;

  struct Update {
    NodeValue x;
    llvm::SmallVector<NodeValue, 2> states;
  };
  /// Returns the new values of \p x and its states, all of one type.
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
  /// Adam: bias corrections of the moving averages, double scalars.
  NodeValue meanCorrection, rootCorrection;
};

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_SOLVERS_H
