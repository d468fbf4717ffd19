//===- AttentionBlocks.h - Attention, block by block ------------*- C++ -*-===//
//
// What the kernels of attention have in common. A task is one or more blocks of
// queries of one head. Each lane of a vector has a query, so that its softmax
// needs no operations across lanes:
//
//   panel   [depth, queries]  the queries, transposed
//   scores  [keys, queries]   keys * panel * scale + mask, then
//                             e^(score - largest)
//   result  [queries, columns] scores^T * values / sum of the scores' column
//
// Panel and scores are on the stack, and stay in the cache.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_ATTENTIONBLOCKS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_ATTENTIONBLOCKS_H

#include "Kernels/StridedOperand.h"

namespace glowish {

/// For each index of the leading dimensions `batch`: queries [queries, depth],
/// keys [keys, depth], values [keys, columns], result [queries, columns].
struct AttentionShape {
  Dims batch;
  int64_t queries, keys, depth, columns;
  /// The factor of the scores.
  double scale;
  /// Query m attends to keys up to m + keys - queries only.
  bool causal;
  /// Whether a query may be without a key, and the result is 0 then, not NaN.
  bool clearsMasked;

  /// That of \p instr, an attention of any kinds.
  template <typename InstrT> static AttentionShape of(const InstrT &instr) {
    DimsRef result = instr.getResult()->getShape();
    DimsRef key = instr.getKey()->getShape();
    size_t leading = result.size() - 2;
    return {.batch = Dims(result.take_front(leading)),
            .queries = result[leading],
            .keys = key[leading],
            .depth = key.back(),
            .columns = result.back(),
            .scale = instr.getScale(),
            .causal = instr.getCausal(),
            .clearsMasked = clears(instr)};
  }

private:
  /// The integers that NaN becomes in integer attention are 0 anyway.
  template <typename InstrT> static bool clears(const InstrT &instr) {
    if constexpr (requires { instr.getNanIfMasked(); })
      return instr.getMask() && !instr.getNanIfMasked();
    else
      return false;
  }
};

/// How many queries of each head a run needs, and keys; null for all.
struct AttentionBounds {
  llvm::Value *queries = nullptr, *keys = nullptr;
  /// The leading dimensions.
  LoopExtents batch;

  /// Returns those of the operands of an attention of any kinds.
  template <typename InstrT, typename Operands>
  static AttentionBounds of(const InstrT &instr, const Operands &operands) {
    unsigned dim = instr.getResult()->getType().getRank() - 2;
    return {.queries = operands.getBound(InstrT::resultIdx, dim),
            .keys = operands.getBound(InstrT::keyIdx, dim),
            .batch = operands.getExtents(InstrT::resultIdx, 0, dim)};
  }
};

/// Emits \p largest, the largest score of a query, or of several: 0 for
/// -infinity where masked queries are cleared, so that their powers are 0.
llvm::Value *clearMasked(KernelBuilder &b, ElemKind kind,
                         const AttentionShape &shape, llvm::Value *largest);
/// Emits \p one divided by \p sum, that of a query's weights, or of several: 0
/// where it may have none, because a run needs no keys or all are masked.
llvm::Value *divideBySum(KernelBuilder &b, ElemKind kind, double one,
                         llvm::Value *sum, const AttentionShape &shape,
                         const AttentionBounds &bounds);

/// The score of a key that a query does not attend to.
inline constexpr double hiddenScore = -std::numeric_limits<double>::infinity();

/// Calls \p emitFrom(first column, vectors, lanes of the last) for tiles of
/// \p vectors vectors of \p lanes columns, and what is left of \p columns.
void forColumnTiles(
    KernelBuilder &b, int64_t columns, unsigned vectors, unsigned lanes,
    llvm::function_ref<void(llvm::Value *, unsigned, unsigned)> emitFrom);

/// \p mask at \p base with the strides of a tensor of \p rank, to which it
/// broadcasts. Both may be null.
StridedOperand broadcastMask(const Buffer *mask, llvm::Value *base,
                             size_t rank);

class AttentionBlocks {
public:
  /// Vectors of queries in a block, and of columns in a tile of the result.
  static constexpr unsigned maxVectors = 2;

  virtual ~AttentionBlocks() = default;
  void emit();

protected:
  /// Queries that are computed together: `count` from number `first` on, in
  /// `vectors` vectors.
  struct Block {
    /// The indices of its head.
    Values head;
    llvm::Value *first;
    int64_t count;
    unsigned vectors;
    /// The keys that they attend to: all that a run needs, unless causal.
    llvm::Value *keys;
    /// Lanes of `vectors` vectors: the length of a row of panel and scores.
    int64_t width;
    /// How many of the queries are needed, an index; null for all.
    llvm::Value *needed = nullptr;

    /// The indices of query \p number of the block.
    Values getRow(KernelBuilder &b, llvm::Value *number) const;
  };
  /// `count` tiles of `size` out of an extent; the last ones may overlap.
  struct Tiling {
    int64_t extent, size, count;
    llvm::Value *getFirst(KernelBuilder &b, llvm::Value *tile) const;
    /// How many tiles have one of the first \p needed; null for all.
    llvm::Value *countNeeded(KernelBuilder &b, llvm::Value *needed) const;
  };

  /// \p kind: of the scores; those of the panel, \p panelKind, are as large.
  /// The \p mask [batch..., queries, keys] may repeat and may have a null base.
  AttentionBlocks(KernelBuilder &b, const AttentionShape &shape,
                  StridedOperand mask, AttentionBounds bounds, ElemKind kind,
                  ElemKind panelKind)
      : b(b), shape(shape), mask(std::move(mask)), bounds(std::move(bounds)),
        kind(kind), panelKind(panelKind), lanes(b.getRegisterLanes(kind)),
        maxPixels(b.getTarget().numVectorRegisters / 4) {}

  //===- Parts of a kernel ------------------------------------------------===//

  /// How many of \p blocks blocks of each of \p heads heads a task has.
  virtual int64_t countBlocksPerTask(int64_t heads, int64_t blocks) const;
  /// Allocates what is kept on the stack beside panel and scores.
  virtual void allocateMore() {}
  /// Where a run may need few queries of each head: emits how task \p task of
  /// \p count computes them without blocks. Returns whether the run does that;
  /// null for never.
  virtual llvm::Value *emitFew(llvm::Value * /*task*/, int64_t /*count*/) {
    return nullptr;
  }
  /// Prepares what the blocks of \p head share.
  virtual void beginTask(llvm::ArrayRef<llvm::Value *> /*head*/) {}
  virtual void packQueries(const Block &block) = 0;
  /// The scores, without a mask, of the queries and \p tiling.size keys from
  /// \p first on: number p * block.vectors + v, of \p kind.
  virtual Values multiplyKeys(const Block &block, const Tiling &tiling,
                              llvm::Value *first) = 0;
  /// Makes the result of the scores, e^(score - largest), and the factors.
  virtual void emitSums(const Block &block) = 0;
  /// What the sum of the scores of a query is divided out of.
  virtual double getWeightOfOne() const { return 1; }
  virtual int64_t getPanelRows() const { return shape.depth; }
  /// Whether keys that no query of a block attends to may be left out.
  virtual bool skipsUnseenKeys() const { return true; }
  /// Keys are taken in groups of so many.
  virtual int64_t getKeyGroup() const { return 1; }

  //===- Their steps ------------------------------------------------------===//

  static Tiling splitEvenly(int64_t extent, int64_t most);
  /// Stores \p active rows of the panel, from \p step on. \p load(lane) has
  /// these elements of a query, and perhaps more; lanes without a query repeat
  /// the last one.
  void storePanel(
      const Block &block, llvm::Value *step, unsigned active,
      llvm::function_ref<llvm::Value *(unsigned vector, unsigned lane)> load);
  llvm::Value *getScore(const Block &block, llvm::Value *key, int64_t query) {
    return b.getElement(
        scores, kind,
        b.CreateNSWAdd(b.scaleIndex(key, block.width), b.index(query)));
  }
  unsigned getLanes(const Block &block, unsigned vector) const {
    return unsigned(std::min<int64_t>(lanes, block.count - vector * lanes));
  }
  int64_t getScoreRows() const {
    return (shape.keys + getKeyGroup() - 1) / getKeyGroup() * getKeyGroup();
  }

  KernelBuilder &b;
  AttentionShape shape;
  StridedOperand mask;
  AttentionBounds bounds;
  ElemKind kind, panelKind;
  unsigned lanes;
  /// Of a tile of keys or queries: with two vectors each, half the registers
  /// are sums.
  int64_t maxPixels;
  llvm::Value *panel = nullptr, *scores = nullptr;
  /// [queries]: what the sums of a query are multiplied with.
  llvm::Value *factors = nullptr;

private:
  void emitBlock(Block block);
  void emitBlocks(llvm::ArrayRef<llvm::Value *> head, llvm::Value *number);
  void emitTask(llvm::Value *task, int64_t parts, int64_t perTask);
  Values emitScores(const Block &block);
  llvm::Value *maskScore(const Block &block, llvm::Value *score,
                         llvm::Value *maskRow, llvm::Value *key,
                         unsigned vector);
  void emitSoftmax(const Block &block, llvm::ArrayRef<llvm::Value *> largest);
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_ATTENTIONBLOCKS_H
