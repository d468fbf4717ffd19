//===- IRGenerator.h - State of one run of IRGen ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IRGEN_IRGENERATOR_H
#define GLOWISH_LIB_IRGEN_IRGENERATOR_H

#include "glowish/Graph/Nodes.h"
#include "glowish/IR/Instrs.h"
#include "glowish/IR/StridedLayout.h"
#include "llvm/ADT/DenseMap.h"

namespace glowish {

/// Turns nodes into instructions. Every value of the graph becomes a contiguous
/// buffer.
class IRGenerator {
public:
  IRGenerator(Function &graph, IRFunction &function,
              llvm::ArrayRef<Node *> order)
      : graph(graph), function(function), order(order) {}

  /// Makes the buffers of the storage that \p graph uses, in the module's
  /// order.
  void createWeights(Function &graph);
  /// Makes the instructions.
  llvm::Error run();

private:
  /// generateNAME for the nodes whose record has IRGeneration.
#define IR_GENERATION(NAME) llvm::Error generate##NAME(NAME##Node &node);
#define GET_IR_GENERATION_LIST
#include "glowish/Graph/NodeFunctions.inc"

  llvm::Error generate(Node &node);
  void createBodyWeights(Function &body);
  /// One activation a result of \p node.
  llvm::SmallVector<Buffer *, 4> createResults(Node &node);
  llvm::SmallVector<Buffer *, 4> getBuffers(llvm::ArrayRef<NodeValue> values);
  Buffer *getBuffer(NodeValue value) const { return buffers.lookup(value); }
  /// The activation of result \p result of \p node.
  Buffer *createResult(Node &node, unsigned result = 0);
  /// \p buffer as a view of \p shape, to which it broadcasts.
  Buffer *broadcast(Buffer *buffer, DimsRef shape);
  /// A view of \p base at \p offset elements from its start.
  Buffer *createView(const Node &node, Buffer *base, DimsRef shape,
                     int64_t offset, DimsRef strides);
  /// Copies a view into the result of \p node.
  llvm::Error copyView(Node &node, Buffer *view);
  void fillBorder(PadNode &node, Buffer *result, unsigned d, bool isFront,
                  const StridedLayout &slab, int64_t low, int64_t high);
  void generateElementWise(Node &node);
  /// The instruction of \p kind, which computes \p node.
  void generateInstr(Node &node, InstrKind kind);
  /// Returns the bounds of an instruction that computes \p node, of which the
  /// operands are the node's results and then its operands.
  std::vector<LoopBound> getBounds(const Node &node) const;
  /// Returns the bounds of operand \p operand of a copy of \p source: elements
  /// beyond its extents are not there.
  std::vector<LoopBound> getCopyBounds(NodeValue source,
                                       unsigned operand) const;
  void addBounds(std::vector<LoopBound> &bounds, unsigned operand,
                 llvm::ArrayRef<std::optional<Extent>> extents) const;
  /// Returns whether elements of the result of \p node at index \p first of
  /// dimension \p dim or behind it are needed: not if all readers save to
  /// outputs that have at most \p first of them after a run.
  bool isNeededFrom(const Node &node, unsigned dim, int64_t first) const;
  void findSavedPlaceholders();
  /// Before \p reader, ends the reductions whose results it reads.
  void finishReductions(const Node &reader);

  const Function &graph;
  IRFunction &function;
  llvm::ArrayRef<Node *> order;
  llvm::DenseMap<NodeValue, Buffer *> buffers;

  /// The position in `order` up to which each placeholder that is saved to is
  /// read, directly or as a view.
  llvm::DenseMap<const Buffer *, unsigned> lastRead;
  /// What a node saves.
  struct Saved {
    SaveNode *node;
    Buffer *source;
  };
  void copySaved(const Saved &save);
  /// Copies into placeholders that are still to be read, by the position that
  /// they come after.
  llvm::DenseMap<unsigned, std::vector<Saved>> delayedSaves;
  unsigned position = 0;

  /// The results of AllReduce nodes that nothing has read so far.
  llvm::DenseMap<const Buffer *, const Node *> unfinished;
};

} // namespace glowish

#endif // GLOWISH_LIB_IRGEN_IRGENERATOR_H
