//===- Leaves.h - Values that branches and loops exchange -------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_LEAVES_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_LEAVES_H

#include "TorchScript/Interpreter.h"

namespace glowish::torchscript {

/// A value at one point of the program, as the tensors and numbers that it has
/// in it: a body of the graph takes and returns these.
struct ScriptLeaves {
  ScriptValue value;
  /// Of a tensor, or of a number that the graph computes; null for what is
  /// known.
  NodeValue leaf = {};
  /// Of lists, tuples and dictionaries.
  std::vector<ScriptLeaves> elements = {};
};

/// The leaves of \p value, read in the current scope.
llvm::Expected<ScriptLeaves> readLeaves(ScriptInterpreter &in,
                                        const ScriptValue &value);

/// Whether two values are the same thing, at all times.
bool areSame(const ScriptValue &x, const ScriptValue &y);

/// Makes values of the same structure as others.
class LeafRebuilder {
public:
  /// \p next returns what stands for a leaf: a tensor or a number of the type
  /// that it is given.
  LeafRebuilder(
      ScriptInterpreter &in,
      llvm::function_ref<llvm::Expected<NodeValue>(const ScriptLeaves &leaf)>
          next)
      : in(in), next(next) {}

  /// A value like \p like with other leaves. Its tensors may share memory with
  /// those of \p like that are not younger than \p birth.
  llvm::Expected<ScriptValue> rebuild(const ScriptLeaves &like, uint64_t birth);

private:
  ScriptInterpreter &in;
  llvm::function_ref<llvm::Expected<NodeValue>(const ScriptLeaves &)> next;
};

/// A known number as a scalar, which is a leaf, too.
NodeValue getLeaf(ScriptInterpreter &in, const ScriptLeaves &leaves);

/// Two values of which one is taken, with the positions of its leaves among the
/// results of a node.
class LeafMerger {
public:
  /// \p addPair adds a result of both leaves to the node: of what is computed
  /// in one case and in the other.
  LeafMerger(ScriptInterpreter &in,
             llvm::function_ref<llvm::Error(NodeValue, NodeValue)> addPair)
      : in(in), addPair(addPair) {}

  /// Adds the results that are needed for one of \p x and \p y.
  llvm::Error add(const ScriptLeaves &x, const ScriptLeaves &y);
  /// The value, of the results from \p next on, in the order of add().
  ScriptValue take(const ScriptLeaves &x, const ScriptLeaves &y, Node *node,
                   unsigned &next, uint64_t birth);

private:
  ScriptInterpreter &in;
  llvm::function_ref<llvm::Error(NodeValue, NodeValue)> addPair;
};

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_LEAVES_H
