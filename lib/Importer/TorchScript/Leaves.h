//===- Leaves.h - Values that are one of two ones ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_LEAVES_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_LEAVES_H

#include "TorchScript/Exits.h"
#include <set>

namespace glowish::torchscript {

/// Makes the values behind a branch of those of its two sides. A tensor that
/// nothing else shares the memory of gets a new storage; another one is at one
/// of two places.
class LeafMerger {
public:
  /// Adds a result of both values to the node: of what is computed in one case
  /// and in the other. They are null for zeros of the type of the other one.
  using AddResult =
      llvm::function_ref<llvm::Expected<unsigned>(NodeValue, NodeValue)>;

  LeafMerger(ScriptInterpreter &in, BodyExit &then, BodyExit &other,
             AddResult addResult)
      : in(in), sides{Side{then}, Side{other}}, addResult(addResult) {}

  /// Adds the results that are needed for one of \p x and \p y. All must be
  /// added before one is taken.
  llvm::Error add(const ScriptLeaves &x, const ScriptLeaves &y);
  /// Adds results for the places of two tensors, which may be those of one
  /// tensor.
  llvm::Error addTensor(const ScriptLeaves &x, const ScriptLeaves &y);
  /// Adds the results that places outside of the branches need.
  llvm::Error addNeeds();
  /// Hands the results to these. \p condition decides between both sides.
  void finish(Node *node, NodeValue condition);
  /// Returns the value that is \p x or \p y.
  llvm::Expected<ScriptValue> take(const ScriptLeaves &x,
                                   const ScriptLeaves &y);
  /// Returns the place of the tensor that is \p x or \p y.
  llvm::Expected<ScriptPlaceRef> takePlace(const ScriptLeaves &x,
                                           const ScriptLeaves &y);

private:
  using Pair = std::pair<const void *, const void *>;
  struct Side {
    BodyExit &exit;
    /// The pairs that a storage, a list or a dictionary is in.
    std::map<const void *, std::set<Pair>> pairs = {};
    /// The results by what they are on this side.
    llvm::DenseMap<NodeValue, unsigned> results{};
    /// The results that places need.
    std::vector<std::pair<const BodyExit::Need *, unsigned>> needs = {};
  };

  llvm::Error addPair(NodeValue x, NodeValue y);
  llvm::Error addContainer(const ScriptLeaves &x, const ScriptLeaves &y);
  bool isPrivate(const Side &side, const ScriptPlace &place) const;
  bool isPrivate(const Side &side, const ScriptValue &container) const;
  llvm::Expected<ScriptValue> takeContainer(const ScriptLeaves &x,
                                            const ScriptLeaves &y);

  ScriptInterpreter &in;
  Side sides[2];
  AddResult addResult;
  llvm::DenseMap<std::pair<NodeValue, NodeValue>, unsigned> results;
  std::vector<std::pair<const ScriptLeaves *, const ScriptLeaves *>> tensors;
  std::map<Pair, ScriptValue> taken;
  Node *node = nullptr;
  NodeValue condition;
};

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_LEAVES_H
