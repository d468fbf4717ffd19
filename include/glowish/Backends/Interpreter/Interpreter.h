//===- Interpreter.h - The reference back end -------------------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_INTERPRETER_INTERPRETER_H
#define GLOWISH_BACKENDS_INTERPRETER_INTERPRETER_H

#include "glowish/Backends/Backend.h"
#include "glowish/Graph/Module.h"

namespace glowish {

/// The ways to interpret a program.
struct InterpreterOptions {
  /// Whether rows that a predicate states to be unneeded become NaN, -1 or
  /// true, so that a program that reads them shows it. Otherwise predicates are
  /// ignored.
  bool heedsPredicates = false;
};

/// The back end that the others are checked against: plain loops, sums in
/// double.
std::unique_ptr<Backend> createInterpreter(InterpreterOptions options = {});

/// Replaces the nodes of \p function that the interpreter does not take, and
/// does nothing else: constants are not folded.
llvm::Error lowerForInterpreter(Function &function);

/// A NodeEvaluator: lowers and interprets one node with constant operands.
llvm::Expected<std::vector<Tensor>> evaluateNode(const Node &node);

} // namespace glowish

#endif // GLOWISH_BACKENDS_INTERPRETER_INTERPRETER_H
