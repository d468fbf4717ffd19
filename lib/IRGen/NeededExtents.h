//===- NeededExtents.h - What is needed of each value -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IRGEN_NEEDEDEXTENTS_H
#define GLOWISH_LIB_IRGEN_NEEDEDEXTENTS_H

#include "glowish/Graph/StatedSums.h"
#include "glowish/IR/IR.h"
#include "llvm/ADT/DenseMap.h"

namespace glowish {

/// How much of each dimension of a value its readers need, where that is an
/// extent that each run states: what is masked, and what nodes compute of it
/// (by their axis rules). A value of the graph has the largest extents, and
/// elements beyond the actual ones are masked before they matter.
class NeededExtents {
public:
  /// \p order: the nodes of \p graph.
  NeededExtents(Function &graph, llvm::ArrayRef<Node *> order);

  /// The bounds of an instruction that computes \p node, of which the operands
  /// are the node's results and then its operands.
  std::vector<LoopBound> getBounds(Node &node) const;

  /// The bounds of operand \p number of an instruction, which is of the shape
  /// of operand \p index of \p node: what the node needs of that.
  std::vector<LoopBound> getOperandBounds(const Node &node, unsigned index,
                                          unsigned number) const;

  /// Whether some run needs elements of the result of \p node at index \p first
  /// of dimension \p dim or behind it.
  bool isNeededFrom(const Node &node, unsigned dim, int64_t first) const;

  /// Whether all that is needed of \p select is the operand that it takes where
  /// its condition is true.
  bool isAlwaysTrue(const SelectNode &select) const;

private:
  /// One for each dimension; null where all of it is needed.
  using Extents = llvm::SmallVector<std::optional<Extent>, 4>;

  /// What \p node needs of operand \p index.
  Extents findNeeded(const Node &node, unsigned index) const;
  /// The same by its axis rule alone.
  Extents follow(const Node &node, unsigned index) const;
  /// How much is needed of dimension \p dim of the result of \p node; null if
  /// all of it.
  std::optional<Extent> getNeeded(const Node &node, unsigned dim) const;
  /// How many of the keys of an Attention are not masked; null if all, or if
  /// \p node is something else.
  std::optional<Extent> countKeys(const Node &node) const;
  /// How many of the elements that \p node sums over, along the rows of a
  /// Softmax or the depth of a MatMul, are not masked, where nothing reads what
  /// becomes of the others; null if all, or if \p node is something else.
  std::optional<Extent> countSummed(const Node &node) const;
  /// The extent along dimension \p dim of \p value behind which a Select makes
  /// all elements what \p isMasked accepts; null if there is none.
  std::optional<Extent>
  findMask(NodeValue value, unsigned dim,
           llvm::function_ref<bool(NodeValue)> isMasked) const;
  /// Limits what is read of the operand that \p select takes where its
  /// condition is true.
  void limitSelected(const SelectNode &select, Extents &extents) const;
  /// Limits operand \p index of \p attention, which may be any node.
  void limitKeys(const Node &attention, unsigned index, Extents &extents) const;
  /// Limits operand \p index of a Softmax or MatMul \p node to what is summed.
  void limitSummed(const Node &node, unsigned index, Extents &extents) const;
  /// Limits operand \p index of \p update along its axis, where the slice has
  /// what is needed of the result behind the start.
  void limitUpdated(const DynamicUpdateSliceNode &update, unsigned index,
                    Extents &extents) const;
  /// Limits the operand of \p reshape along the first of dimensions that become
  /// one.
  void limitJoined(const ReshapeNode &reshape, Extents &extents) const;
  /// Returns an extent that \p index, an integer of a tensor, never exceeds;
  /// null if none is known.
  std::optional<Extent> findMost(NodeValue index) const;
  /// Limits the input of \p gather along its axis to the largest index.
  void limitGathered(const GatherNode &gather, Extents &extents) const;
  /// Limits operand \p index of a slice, or of what replaces one, of a reshape
  /// or a gather.
  void limitMoved(const Node &node, unsigned index, Extents &extents) const;
  /// Limits what \p save saves to what a run leaves in the output.
  void limitSaved(const SaveNode &save, Extents &extents) const;
  void need(NodeValue value, const Extents &extents);

  StatedSums sums;
  llvm::DenseMap<NodeValue, Extents> needed;
};

} // namespace glowish

#endif // GLOWISH_LIB_IRGEN_NEEDEDEXTENTS_H
