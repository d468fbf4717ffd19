//===- Attention.cpp - Scores, softmax and weighted sum in one ------------===//
//
// A task is a block of queries of one head. Each lane of a vector has a query,
// so that its softmax needs no operations across lanes:
//
//   panel   [depth, queries]  the queries, transposed and scaled
//   scores  [keys, queries]   keys * panel + mask, then e^(score - largest)
//   result  [queries, columns] scores^T * values / sum of the scores' column
//
// Panel and scores are on the stack, and stay in the cache.
//
//===----------------------------------------------------------------------===//

#include "Kernels/MatMul/Attention.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/MatMul/MicroKernel.h"
#include "Kernels/Math/EmittedScalar.h"
#include "Kernels/Memory/Transpose.h"

using namespace glowish;
using llvm::Value;

/// Vectors of queries in a block, and of columns in a tile of the result.
static constexpr unsigned maxVectors = 2;

bool glowish::fitsAttention(int64_t keys, int64_t depth, ElemKind kind,
                            const TargetDescription &own) {
  // What is computed in steps adds in another order.
  const TargetDescription &target = own.getSumTarget();
  int64_t size = getElemSize(getValueKind(kind));
  int64_t block = maxVectors * target.getLanes(unsigned(size));
  return keys <= target.maxStackBytes / 2 / size / block - depth - 1;
}

namespace {

/// For each index of the leading dimensions `batch`: queries [queries, depth],
/// keys [keys, depth], values [keys, columns], result [queries, columns].
struct AttentionShape {
  Dims batch;
  int64_t queries, keys, depth, columns;
  /// The factor of the scores.
  double scale;
  /// Query m attends to keys up to m + keys - queries only.
  bool causal;
};

/// All have the rank of the result. The mask [batch..., queries, keys], which
/// may repeat and may have a null base, is added to the scores.
struct AttentionOperands {
  StridedOperand result, query, key, value, mask;
};

class AttentionEmitter {
public:
  AttentionEmitter(KernelBuilder &b, const AttentionShape &shape,
                   AttentionOperands operands)
      : b(b), shape(shape), operands(std::move(operands)),
        elementKind(this->operands.query.kind), kind(getValueKind(elementKind)),
        lanes(b.getRegisterLanes(kind)),
        maxPixels(b.getTarget().numVectorRegisters / 4) {}

  void emit();

private:
  /// Queries that are computed together: `count` from number `first` on, in
  /// `vectors` vectors.
  struct Block {
    Value *first;
    int64_t count;
    unsigned vectors;
    /// The keys that they attend to; the number of keys unless causal.
    Value *keys;
    /// Lanes of `vectors` vectors: the length of a row of panel and scores.
    int64_t width;
  };
  /// `count` tiles of `size` out of an extent; the last ones may overlap.
  struct Tiling {
    int64_t extent, size, count;
    Value *getFirst(KernelBuilder &b, Value *tile) const;
  };

  static Tiling splitEvenly(int64_t extent, int64_t most);
  void emitTask(llvm::ArrayRef<Value *> batch, Value *number);
  void emitBlock(llvm::ArrayRef<Value *> batch, Block block);
  void packQueries(const Block &block, Value *query);
  Values emitScores(const Block &block, Value *key, Value *mask);
  Value *maskScore(const Block &block, Value *score, Value *mask, Value *key,
                   unsigned vector);
  void emitSoftmax(const Block &block, llvm::ArrayRef<Value *> largest);
  void emitSums(const Block &block, Value *value, Value *result);
  void emitColumns(const Block &block, Value *value, Value *result,
                   unsigned vectors, unsigned lastLanes);
  Value *allocate(int64_t elements);
  Value *getScore(const Block &block, Value *key, int64_t query) {
    return b.getElement(
        scores, kind,
        b.CreateNSWAdd(b.addScaled(b.index(0), key, block.width),
                       b.index(query)));
  }
  unsigned getLanes(const Block &block, unsigned vector) const {
    return unsigned(std::min<int64_t>(lanes, block.count - vector * lanes));
  }

  KernelBuilder &b;
  AttentionShape shape;
  AttentionOperands operands;
  /// Of the operands, and what is computed in.
  ElemKind elementKind, kind;
  unsigned lanes;
  /// Of a tile of keys or queries: with two vectors each, half the registers
  /// are sums.
  int64_t maxPixels;
  Value *panel = nullptr, *scores = nullptr, *factors = nullptr;
};

} // namespace

Value *AttentionEmitter::Tiling::getFirst(KernelBuilder &b, Value *tile) const {
  return b.minIndex(b.addScaled(b.index(0), tile, size),
                    b.index(extent - size));
}

AttentionEmitter::Tiling AttentionEmitter::splitEvenly(int64_t extent,
                                                       int64_t most) {
  int64_t count = (extent + most - 1) / most;
  return {extent, (extent + count - 1) / count, count};
}

Value *AttentionEmitter::allocate(int64_t elements) {
  auto *buffer = b.CreateAlloca(
      llvm::ArrayType::get(b.getStorageTy(kind), uint64_t(elements)));
  buffer->setAlignment(llvm::Align(64));
  return buffer;
}

//===- The panel ----------------------------------------------------------===//

/// Lanes without a query repeat the last one.
void AttentionEmitter::packQueries(const Block &block, Value *query) {
  unsigned rank = operands.query.strides.size();
  int64_t rowStride = operands.query.strides[rank - 2];
  int64_t innerStride = operands.query.getInnerStride();
  b.forVectors(shape.depth, lanes, [&](Value *k, unsigned active) {
    Value *corner = b.getElement(query, elementKind,
                                 b.addScaled(b.index(0), k, innerStride));
    for (unsigned v = 0; v < block.vectors; ++v) {
      Values rows;
      for (unsigned lane = 0; lane < getLanes(block, v); ++lane) {
        Value *row =
            b.getElement(corner, elementKind, (v * lanes + lane) * rowStride);
        Value *x = b.loadStrided(elementKind, row, active, innerStride);
        x = b.CreateFMul(x, b.literal(kind, shape.scale, active));
        rows.push_back(b.widen(x, lanes));
      }
      rows.resize(lanes, rows.back());
      rows = transposeSquare(b, std::move(rows));
      Value *target =
          b.getElement(panel, kind, b.addScaled(b.index(0), k, block.width));
      for (unsigned column = 0; column < active; ++column)
        b.store(kind, rows[column],
                b.getElement(target, kind, column * block.width + v * lanes));
    }
  });
}

//===- Scores -------------------------------------------------------------===//

/// \p score of key number \p key with the queries of vector \p vector.
Value *AttentionEmitter::maskScore(const Block &block, Value *score,
                                   Value *mask, Value *key, unsigned vector) {
  if (mask) {
    const StridedOperand &operand = operands.mask;
    unsigned rank = operand.strides.size();
    int64_t queryStride = operand.strides[rank - 2];
    Value *address =
        b.getElement(mask, elementKind,
                     b.addScaled(b.index(int64_t(vector) * lanes * queryStride),
                                 key, operand.strides[rank - 1]));
    Value *added = b.loadStrided(elementKind, address, getLanes(block, vector),
                                 queryStride);
    score = b.CreateFAdd(score, b.widen(added, lanes));
  }
  if (!shape.causal)
    return score;
  // Query m attends to keys up to m + keys - queries.
  Value *last = b.CreateNSWAdd(
      block.first, b.index(vector * lanes + shape.keys - shape.queries));
  llvm::SmallVector<llvm::Constant *, 16> steps;
  for (unsigned lane = 0; lane < lanes; ++lane)
    steps.push_back(llvm::ConstantInt::get(b.getIndexTy(), lane));
  Value *lane = lanes == 1 ? steps[0] : llvm::ConstantVector::get(steps);
  Value *isSeen = b.CreateICmpSLE(b.splat(key, lanes),
                                  b.CreateAdd(b.splat(last, lanes), lane));
  double none = -std::numeric_limits<double>::infinity();
  return b.CreateSelect(isSeen, score, b.literal(kind, none, lanes));
}

/// Returns the largest score of each query.
Values AttentionEmitter::emitScores(const Block &block, Value *key,
                                    Value *mask) {
  unsigned rank = operands.key.strides.size();
  int64_t rowStride = operands.key.strides[rank - 2];
  Tiling tiling = splitEvenly(shape.keys, maxPixels);
  MicroKernel microKernel{kind,
                          lanes,
                          lanes,
                          unsigned(tiling.size),
                          block.vectors,
                          rowStride,
                          block.width,
                          /*isPadded=*/true,
                          operands.key.getInnerStride()};
  microKernel.inputKind = elementKind;
  Value *tiles = b.index(tiling.count);
  if (shape.causal)
    tiles = b.CreateUDiv(b.CreateNSWAdd(block.keys, b.index(tiling.size - 1)),
                         b.index(tiling.size));
  double none = -std::numeric_limits<double>::infinity();
  Values start(block.vectors, b.literal(kind, none, lanes));
  return b.forLoop(
      b.index(0), tiles, 1, start,
      [&](Value *tile, llvm::ArrayRef<Value *> carried) {
        Values largest(carried);
        Value *first = tiling.getFirst(b, tile);
        Value *row = b.getElement(key, elementKind,
                                  b.addScaled(b.index(0), first, rowStride));
        Values sums =
            microKernel.accumulate(b, {0, microKernel.pixels}, shape.depth, row,
                                   panel, microKernel.getZeros(b));
        for (unsigned p = 0; p < microKernel.pixels; ++p)
          for (unsigned v = 0; v < block.vectors; ++v) {
            Value *number = b.CreateNSWAdd(first, b.index(p));
            Value *score =
                maskScore(block, sums[p * block.vectors + v], mask, number, v);
            b.store(kind, score, getScore(block, number, v * lanes));
            // NaN is in the sum of the powers in any case.
            largest[v] = b.CreateSelect(b.CreateFCmpOLT(largest[v], score),
                                        score, largest[v]);
          }
        return largest;
      });
}

/// e^(score - largest) in the place of the scores, and 1 / their sum in
/// `factors`.
void AttentionEmitter::emitSoftmax(const Block &block,
                                   llvm::ArrayRef<Value *> largest) {
  Values sums =
      b.forLoop(b.index(0), block.keys, 1,
                Values(block.vectors, b.literal(kind, 0, lanes)),
                [&](Value *key, llvm::ArrayRef<Value *> carried) {
                  Values next;
                  for (unsigned v = 0; v < block.vectors; ++v) {
                    Value *address = getScore(block, key, v * lanes);
                    Value *x = b.load(kind, address, lanes);
                    Value *e = vectormath::exp(b, b.CreateFSub(x, largest[v]));
                    b.store(kind, e, address);
                    next.push_back(b.CreateFAdd(carried[v], e));
                  }
                  return next;
                });
  for (unsigned v = 0; v < block.vectors; ++v)
    b.store(kind, b.CreateFDiv(b.literal(kind, 1, lanes), sums[v]),
            b.getElement(factors, kind, int64_t(v) * lanes));
}

//===- The result ---------------------------------------------------------===//

/// \p value and \p result at the first of the columns.
void AttentionEmitter::emitColumns(const Block &block, Value *value,
                                   Value *result, unsigned vectors,
                                   unsigned lastLanes) {
  unsigned rank = operands.value.strides.size();
  int64_t rowStride = operands.value.strides[rank - 2];
  int64_t resultStride = operands.result.strides[rank - 2];
  int64_t innerStride = operands.result.getInnerStride();
  Tiling tiling = splitEvenly(block.count, maxPixels);
  MicroKernel microKernel{kind,
                          lanes,
                          lastLanes,
                          unsigned(tiling.size),
                          vectors,
                          /*pixelStride=*/1,
                          rowStride,
                          /*isPadded=*/false,
                          /*stepStride=*/block.width,
                          operands.value.getInnerStride()};
  microKernel.weightKind = elementKind;
  b.forLoop(tiling.count, [&](Value *tile) {
    Value *query = tiling.getFirst(b, tile);
    Value *column = b.getElement(scores, kind, query);
    Values sums = microKernel.accumulate(b, block.keys, column, value,
                                         microKernel.getZeros(b));
    for (unsigned p = 0; p < microKernel.pixels; ++p) {
      Value *number = b.CreateNSWAdd(query, b.index(p));
      Value *factor = b.load(kind, b.getElement(factors, kind, number), 1);
      Value *row = b.getElement(result, elementKind,
                                b.addScaled(b.index(0), number, resultStride));
      for (unsigned v = 0; v < vectors; ++v) {
        unsigned active = microKernel.getLanes(v);
        Value *y = b.takeLanes(sums[p * vectors + v], active);
        b.storeStrided(elementKind, b.CreateFMul(y, b.splat(factor, active)),
                       b.getElement(row, elementKind, v * lanes * innerStride),
                       innerStride);
      }
    }
  });
}

void AttentionEmitter::emitSums(const Block &block, Value *value,
                                Value *result) {
  int64_t size = maxVectors * lanes, whole = shape.columns / size;
  auto at = [&](Value *base, const StridedOperand &operand, Value *column) {
    return b.getElement(
        base, elementKind,
        b.addScaled(b.index(0), column, operand.getInnerStride()));
  };
  auto emitFrom = [&](Value *column, unsigned vectors, unsigned lastLanes) {
    emitColumns(block, at(value, operands.value, column),
                at(result, operands.result, column), vectors, lastLanes);
  };
  b.forLoop(whole, [&](Value *i) {
    emitFrom(b.addScaled(b.index(0), i, size), maxVectors, lanes);
  });
  if (unsigned left = unsigned(shape.columns % size))
    emitFrom(b.index(whole * size), (left + lanes - 1) / lanes,
             (left - 1) % lanes + 1);
}

//===- Blocks -------------------------------------------------------------===//

void AttentionEmitter::emitBlock(llvm::ArrayRef<Value *> batch, Block block) {
  block.vectors = unsigned((block.count + lanes - 1) / lanes);
  block.width = int64_t(block.vectors) * lanes;
  block.keys = b.index(shape.keys);
  if (shape.causal)
    block.keys = b.minIndex(
        block.keys,
        b.CreateNSWAdd(block.first,
                       b.index(block.count + shape.keys - shape.queries)));
  Values rows(batch), heads(batch);
  rows.push_back(block.first);
  packQueries(block, operands.query.getAddress(b, rows));
  Value *mask =
      operands.mask.base ? operands.mask.getAddress(b, rows) : nullptr;
  Values largest = emitScores(block, operands.key.getAddress(b, heads), mask);
  emitSoftmax(block, largest);
  emitSums(block, operands.value.getAddress(b, heads),
           operands.result.getAddress(b, rows));
}

/// Block \p number of the queries of \p batch.
void AttentionEmitter::emitTask(llvm::ArrayRef<Value *> batch, Value *number) {
  int64_t size = maxVectors * lanes;
  int64_t whole = shape.queries / size, left = shape.queries % size;
  Block block = {};
  block.first = b.addScaled(b.index(0), number, size);
  block.count = whole ? size : left;
  if (!whole || !left)
    return emitBlock(batch, block);
  Value *isWhole = b.CreateICmpULT(number, b.index(whole));
  b.ifThen(isWhole, [&] { emitBlock(batch, block); });
  block.count = left;
  b.ifThen(b.CreateNot(isWhole), [&] { emitBlock(batch, block); });
}

void AttentionEmitter::emit() {
  int64_t size = maxVectors * lanes, heads = 1;
  for (int64_t extent : shape.batch)
    heads *= extent;
  int64_t blocks = (shape.queries + size - 1) / size;
  panel = allocate(size * shape.depth);
  scores = allocate(size * shape.keys);
  factors = allocate(size);
  int64_t operations =
      2 * heads * shape.queries * shape.keys * (shape.depth + shape.columns);
  b.forTasks(heads * blocks, operations, [&](Value *task) {
    Value *head = b.CreateUDiv(task, b.index(blocks));
    emitTask(b.splitIndex(head, shape.batch),
             b.CreateURem(task, b.index(blocks)));
  });
}

/// The mask with the strides of a tensor of \p rank, to which it broadcasts.
static StridedOperand getMask(const AttentionInstr &instr,
                              const KernelOperands &operands, size_t rank) {
  const Buffer *mask = instr.getMask();
  if (!mask)
    return {};
  StridedOperand operand = operands.getStrided(AttentionInstr::maskIdx);
  Dims repeated(rank - mask->getShape().size(), 0);
  for (auto [extent, stride] :
       llvm::zip_equal(mask->getShape(), operand.strides))
    repeated.push_back(extent == 1 ? 0 : stride);
  operand.strides = repeated;
  return operand;
}

void glowish::emitAttention(KernelBuilder &b, const AttentionInstr &instr,
                            const KernelOperands &operands) {
  DimsRef result = instr.getResult()->getShape();
  DimsRef key = instr.getKey()->getShape();
  size_t leading = result.size() - 2;
  AttentionShape shape{.batch = Dims(result.take_front(leading)),
                       .queries = result[leading],
                       .keys = key[leading],
                       .depth = key.back(),
                       .columns = result.back(),
                       .scale = instr.getScale(),
                       .causal = instr.getCausal()};
  AttentionEmitter(b, shape,
                   {.result = operands.getStrided(AttentionInstr::resultIdx),
                    .query = operands.getStrided(AttentionInstr::queryIdx),
                    .key = operands.getStrided(AttentionInstr::keyIdx),
                    .value = operands.getStrided(AttentionInstr::valueIdx),
                    .mask = getMask(instr, operands, result.size())})
      .emit();
}
