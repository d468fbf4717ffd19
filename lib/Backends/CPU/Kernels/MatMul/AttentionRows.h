//===- AttentionRows.h - Attention of few queries ---------------*- C++ -*-===//
//
// Of few queries, blocks that have a query in each lane (AttentionBlocks.h)
// would be mostly empty. Here the lanes of a vector are neighbours of a row. A
// task has the queries of all heads that share their keys and values, and reads
// these once for as many rows as a pass has:
//
//   queries [rows, depth]    times the scale
//   scores  [rows, keys]     queries * keys^T + mask, then e^(score - largest)
//   sums    [rows, columns]  scores * values
//
// All three are on the stack, and stay in the cache.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_ATTENTIONROWS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_ATTENTIONROWS_H

#include "Kernels/MatMul/AttentionBlocks.h"

namespace glowish {

/// All have the rank of the result, and elements of one kind.
struct AttentionOperands {
  StridedOperand result, query, key, value;
};

class AttentionRows {
public:
  /// More queries of a head are faster in blocks.
  static constexpr int64_t mostQueries = 8;

  /// Whether there are vectors, and elements of a key and of a value lie side
  /// by side.
  static bool accepts(KernelBuilder &b, const AttentionShape &shape,
                      const AttentionOperands &operands);

  /// Of the operands of a kernel that \p b makes. What a run needs of the
  /// queries is at most mostQueries.
  AttentionRows(KernelBuilder &b, const AttentionShape &shape,
                AttentionOperands operands, StridedOperand mask,
                AttentionBounds bounds);

  /// How many leading dimensions have keys of their own: the queries of the
  /// others are computed together, whichever are needed.
  size_t getNumOuter() const { return numOuter; }
  /// Emits all of a kernel.
  void emit();
  /// Emits what is there once a kernel, in front of its tasks.
  void allocate();
  /// Emits what task \p task of \p count computes, which are a multiple of the
  /// heads.
  void emitTask(llvm::Value *task, int64_t count);

private:
  /// Rows that are computed together: `count` from number `first` on of those
  /// of a group of heads, numbered query by query.
  struct Pass {
    /// The indices that its heads have in common.
    Values group;
    llvm::Value *first, *count;
    /// The keys that any of them attends to.
    llvm::Value *keys;
  };

  void emitPart(llvm::ArrayRef<llvm::Value *> group, llvm::Value *part);
  void emitPass(const Pass &pass);
  llvm::Value *getQuery(const Pass &pass, llvm::Value *row);
  Values getIndex(const Pass &pass, llvm::Value *row);
  /// The first key, or value, of the heads of \p pass.
  llvm::Value *getFirst(const Pass &pass, const StridedOperand &operand);
  void forRows(const Pass &pass, KernelBuilder::LoopBody body) {
    b.forLoop(pass.count, body);
  }
  void packRow(const Pass &pass, llvm::Value *row);
  void emitScores(const Pass &pass);
  void emitTileScores(const Pass &pass, llvm::Value *keys, llvm::Value *row,
                      llvm::Value *first, int64_t numKeys);
  Values multiplyKeys(llvm::Value *row, llvm::Value *keys, int64_t numKeys);
  llvm::Value *maskScores(const Pass &pass, llvm::Value *scores,
                          llvm::Value *row, llvm::Value *key);
  void emitSoftmax(const Pass &pass, llvm::Value *row);
  void emitSums(const Pass &pass);
  void addValues(llvm::Value *row, llvm::Value *key, llvm::Value *count,
                 llvm::Value *values);
  void storeRow(const Pass &pass, llvm::Value *row);
  /// The vectors of columns whose sums are in registers together.
  unsigned getColumnVectors() const;
  /// Element \p column of row \p row of \p base, whose rows have \p width.
  llvm::Value *getElement(llvm::Value *base, llvm::Value *row, int64_t width,
                          llvm::Value *column) {
    return b.getElement(base, kind,
                        b.CreateNSWAdd(b.scaleIndex(row, width), column));
  }
  /// Where \p row has the address of its mask.
  llvm::Value *getMaskPlace(llvm::Value *row) {
    return b.CreateInBoundsGEP(b.getPtrTy(), maskRows, row);
  }
  bool hidesKeys() const { return shape.causal || bounds.keys; }

  KernelBuilder &b;
  AttentionShape shape;
  AttentionOperands operands;
  StridedOperand mask;
  AttentionBounds bounds;
  ElemKind elementKind;
  /// Of scores and sums.
  ElemKind kind;
  /// Of vectors that are added up at the end, and of those of columns.
  unsigned lanes, columnLanes;
  /// Leading dimensions that have keys of their own, and the heads that share
  /// each.
  size_t numOuter;
  int64_t numShared = 1;
  /// Into how many tasks the rows of these are divided.
  int64_t numParts = 1;
  /// Of a pass, at most.
  int64_t mostRows;
  /// Of a row on the stack.
  int64_t depthWidth, scoreWidth, columnWidth;
  llvm::Value *queries = nullptr, *scores = nullptr, *sums = nullptr;
  /// For each row: what its sums are multiplied with, and where its mask is.
  llvm::Value *factors = nullptr, *maskRows = nullptr;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_ATTENTIONROWS_H
