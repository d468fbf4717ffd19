//===- AttentionBlocks.cpp - Attention, block by block --------------------===//

#include "Kernels/MatMul/AttentionBlocks.h"
#include "Kernels/Math/EmittedScalar.h"
#include "Kernels/Memory/Transpose.h"

using namespace glowish;
using llvm::Value;

StridedOperand glowish::broadcastMask(const Buffer *mask, Value *base,
                                      size_t rank) {
  if (!mask)
    return {};
  StridedOperand operand(base, *mask);
  Dims repeated(rank - mask->getShape().size(), 0);
  for (auto [extent, stride] :
       llvm::zip_equal(mask->getShape(), operand.strides))
    repeated.push_back(extent == 1 ? 0 : stride);
  operand.strides = repeated;
  return operand;
}

void glowish::forColumnTiles(
    KernelBuilder &b, int64_t columns, unsigned vectors, unsigned lanes,
    llvm::function_ref<void(Value *, unsigned, unsigned)> emitFrom) {
  int64_t size = int64_t(vectors) * lanes;
  b.forGroups(columns, size, [&](Value *i, int64_t used) {
    emitFrom(b.scaleIndex(i, size), (unsigned(used) + lanes - 1) / lanes,
             (unsigned(used) - 1) % lanes + 1);
  });
}

Value *AttentionBlocks::Tiling::getFirst(KernelBuilder &b, Value *tile) const {
  return b.minIndex(b.scaleIndex(tile, size), b.index(extent - size));
}

Value *AttentionBlocks::Tiling::countNeeded(KernelBuilder &b,
                                            Value *needed) const {
  return needed ? b.divideUp(needed, size) : b.index(count);
}

AttentionBlocks::Tiling AttentionBlocks::splitEvenly(int64_t extent,
                                                     int64_t most) {
  int64_t count = (extent + most - 1) / most;
  return {extent, (extent + count - 1) / count, count};
}

Values AttentionBlocks::Block::getRow(KernelBuilder &b, Value *number) const {
  Values row(head);
  row.push_back(b.CreateNSWAdd(first, number));
  return row;
}

//===- The panel ----------------------------------------------------------===//

void AttentionBlocks::storePanel(
    const Block &block, Value *step, unsigned active,
    llvm::function_ref<Value *(unsigned, unsigned)> load) {
  for (unsigned v = 0; v < block.vectors; ++v) {
    Values rows;
    for (unsigned lane = 0; lane < getLanes(block, v); ++lane)
      rows.push_back(b.widen(load(v, lane), lanes));
    rows.resize(lanes, rows.back());
    rows = transposeSquare(b, std::move(rows));
    Value *target = b.getElement(panel, panelKind, step, block.width);
    for (unsigned column = 0; column < active; ++column)
      b.storeElement(panelKind, rows[column], target,
                     column * block.width + v * lanes);
  }
}

//===- Scores -------------------------------------------------------------===//

/// \p score of key number \p key with the queries of vector \p vector.
Value *AttentionBlocks::maskScore(const Block &block, Value *score,
                                  Value *maskRow, Value *key, unsigned vector) {
  if (maskRow) {
    unsigned rank = mask.strides.size();
    int64_t queryStride = mask.strides[rank - 2];
    Value *address =
        b.getElement(maskRow, mask.kind,
                     b.addScaled(b.index(int64_t(vector) * lanes * queryStride),
                                 key, mask.strides[rank - 1]));
    Value *added =
        b.loadStrided(mask.kind, address, getLanes(block, vector), queryStride);
    score = b.CreateFAdd(score, b.widen(added, lanes));
  }
  // A tile may have keys beyond those that are needed.
  if (bounds.keys)
    score = b.CreateSelect(b.CreateICmpSLT(key, bounds.keys), score,
                           b.literal(kind, hiddenScore, lanes));
  if (!shape.causal)
    return score;
  // Query m attends to keys up to m + keys - queries.
  Value *last = b.CreateNSWAdd(
      block.first, b.index(vector * lanes + shape.keys - shape.queries));
  Value *isSeen = b.CreateICmpSLE(
      b.splat(key, lanes),
      b.CreateAdd(b.splat(last, lanes), b.numberLanes(b.getIndexTy(), lanes)));
  return b.CreateSelect(isSeen, score, b.literal(kind, hiddenScore, lanes));
}

Value *glowish::clearMasked(KernelBuilder &b, ElemKind kind,
                            const AttentionShape &shape, Value *largest) {
  if (!shape.clearsMasked)
    return largest;
  unsigned lanes = KernelBuilder::getLanes(largest);
  Value *isMasked =
      b.CreateFCmpOEQ(largest, b.literal(kind, hiddenScore, lanes));
  return b.CreateSelect(isMasked, b.literal(kind, 0, lanes), largest);
}

Value *glowish::divideBySum(KernelBuilder &b, ElemKind kind, double one,
                            Value *sum, const AttentionShape &shape,
                            const AttentionBounds &bounds) {
  unsigned lanes = KernelBuilder::getLanes(sum);
  Value *factor = b.CreateFDiv(b.literal(kind, one, lanes), sum);
  if (!bounds.keys && !shape.clearsMasked)
    return factor;
  Value *zero = b.literal(kind, 0, lanes);
  return b.CreateSelect(b.CreateFCmpOEQ(sum, zero), zero, factor);
}

/// Returns the largest score of each query.
Values AttentionBlocks::emitScores(const Block &block) {
  Tiling tiling = splitEvenly(shape.keys, maxPixels);
  Value *tiles = b.index(tiling.count);
  if (shape.causal || bounds.keys)
    tiles = b.divideUp(block.keys, tiling.size);
  Value *maskRow =
      mask.base ? mask.getAddress(b, block.getRow(b, b.index(0))) : nullptr;
  Values start(block.vectors, b.literal(kind, hiddenScore, lanes));
  return b.forLoop(
      tiles, start, [&](Value *tile, llvm::ArrayRef<Value *> carried) {
        Values largest(carried);
        Value *first = tiling.getFirst(b, tile);
        Values sums = multiplyKeys(block, tiling, first);
        for (unsigned p = 0; p < tiling.size; ++p)
          for (unsigned v = 0; v < block.vectors; ++v) {
            Value *number = b.CreateNSWAdd(first, b.index(p));
            Value *score = maskScore(block, sums[p * block.vectors + v],
                                     maskRow, number, v);
            b.store(kind, score, getScore(block, number, v * lanes));
            // NaN is in the sum of the powers in any case.
            largest[v] = b.CreateSelect(b.CreateFCmpOLT(largest[v], score),
                                        score, largest[v]);
          }
        return largest;
      });
}

/// e^(score - largest) in the place of the scores, and what they are multiplied
/// with in `factors`.
void AttentionBlocks::emitSoftmax(const Block &block,
                                  llvm::ArrayRef<Value *> largest) {
  Values subtracted;
  for (Value *value : largest)
    subtracted.push_back(clearMasked(b, kind, shape, value));
  Values sums =
      b.forLoop(block.keys, Values(block.vectors, b.literal(kind, 0, lanes)),
                [&](Value *key, llvm::ArrayRef<Value *> carried) {
                  Values next;
                  for (unsigned v = 0; v < block.vectors; ++v) {
                    Value *address = getScore(block, key, v * lanes);
                    Value *x = b.load(kind, address, lanes);
                    Value *e =
                        vectormath::exp(b, b.CreateFSub(x, subtracted[v]));
                    b.store(kind, e, address);
                    next.push_back(b.CreateFAdd(carried[v], e));
                  }
                  return next;
                });
  for (unsigned v = 0; v < block.vectors; ++v)
    b.storeElement(
        kind, divideBySum(b, kind, getWeightOfOne(), sums[v], shape, bounds),
        factors, int64_t(v) * lanes);
}

//===- Blocks -------------------------------------------------------------===//

void AttentionBlocks::emitBlock(Block block) {
  block.vectors = unsigned((block.count + lanes - 1) / lanes);
  block.width = int64_t(block.vectors) * lanes;
  auto roundUp = [&](Value *keys) {
    int64_t group = getKeyGroup();
    return group > 1 ? b.scaleIndex(b.divideUp(keys, group), group) : keys;
  };
  block.keys = b.index(shape.keys);
  if (bounds.keys)
    block.keys = b.minIndex(roundUp(bounds.keys), block.keys);
  if (shape.causal && skipsUnseenKeys()) {
    Value *seen = b.CreateNSWAdd(
        block.first, b.index(block.count + shape.keys - shape.queries));
    block.keys = b.minIndex(block.keys, roundUp(seen));
  }
  if (bounds.queries)
    block.needed = b.minIndex(b.CreateNSWSub(bounds.queries, block.first),
                              b.index(block.count));
  packQueries(block);
  emitSoftmax(block, emitScores(block));
  emitSums(block);
}

/// Block \p number of the queries of \p head.
void AttentionBlocks::emitBlocks(llvm::ArrayRef<Value *> head, Value *number) {
  int64_t size = maxVectors * lanes;
  int64_t whole = shape.queries / size, left = shape.queries % size;
  Block block = {};
  block.head = Values(head);
  block.first = b.scaleIndex(number, size);
  auto emit = [&](int64_t count) {
    block.count = count;
    emitBlock(block);
  };
  if (!whole || !left)
    return emit(whole ? size : left);
  b.ifThenElse(
      b.CreateICmpULT(number, b.index(whole)), [&] { emit(size); },
      [&] { emit(left); });
}

int64_t AttentionBlocks::countBlocksPerTask(int64_t, int64_t) const {
  return 1;
}

/// Task \p task, of \p parts tasks that a head has, and \p perTask blocks that
/// each has.
void AttentionBlocks::emitTask(Value *task, int64_t parts, int64_t perTask) {
  Values head = b.splitIndex(b.CreateUDiv(task, b.index(parts)), shape.batch);
  Value *part = b.CreateURem(task, b.index(parts));
  beginTask(head);
  if (perTask == 1 && !bounds.queries)
    return emitBlocks(head, part);
  int64_t size = maxVectors * lanes;
  Value *needed = b.index((shape.queries + size - 1) / size);
  if (bounds.queries)
    needed = b.divideUp(bounds.queries, size);
  Value *first = b.scaleIndex(part, perTask);
  Value *end = b.minIndex(b.CreateNSWAdd(first, b.index(perTask)), needed);
  b.forLoop(first, end, 1, [&](Value *number) { emitBlocks(head, number); });
}

void AttentionBlocks::emit() {
  int64_t size = maxVectors * lanes, heads = countElements(shape.batch);
  int64_t blocks = (shape.queries + size - 1) / size;
  panel = b.allocate(panelKind, size * getPanelRows());
  scores = b.allocate(kind, size * getScoreRows());
  factors = b.allocate(kind, size);
  allocateMore();
  int64_t operations =
      2 * heads * shape.queries * shape.keys * (shape.depth + shape.columns);
  int64_t perTask = countBlocksPerTask(heads, blocks);
  int64_t parts = (blocks + perTask - 1) / perTask;
  LoopExtents tasks = bounds.batch;
  Value *needed = bounds.queries;
  tasks.push_back(parts, needed ? b.divideUp(needed, size * perTask) : nullptr);
  b.forTasks(tasks, operations, [&](Value *task) {
    Value *isFew = emitFew(task, heads * parts);
    if (!isFew)
      return emitTask(task, parts, perTask);
    b.ifThen(b.CreateNot(isFew), [&] { emitTask(task, parts, perTask); });
  });
}
