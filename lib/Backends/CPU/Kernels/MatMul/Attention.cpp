//===- Attention.cpp - Scores, softmax and weighted sum in one ------------===//
//
// Of floats. The panel is scaled.
//
//===----------------------------------------------------------------------===//

#include "Kernels/MatMul/Attention.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/MatMul/AttentionRows.h"
#include "Kernels/MatMul/MicroKernel.h"

using namespace glowish;
using llvm::Value;

bool glowish::fitsAttention(int64_t keys, int64_t depth, ElemKind kind,
                            const TargetDescription &own) {
  // What is computed in steps adds in another order.
  const TargetDescription &target = own.getSumTarget();
  int64_t size = getElemSize(getValueKind(kind));
  int64_t block = AttentionBlocks::maxVectors * target.getLanes(unsigned(size));
  return keys <= target.maxStackBytes / 2 / size / block - depth - 1;
}

namespace {

class AttentionEmitter final : public AttentionBlocks {
public:
  AttentionEmitter(KernelBuilder &b, const AttentionShape &shape,
                   AttentionOperands operands, StridedOperand mask,
                   AttentionBounds bounds)
      : AttentionBlocks(b, shape, std::move(mask), bounds,
                        getValueKind(operands.query.kind),
                        getValueKind(operands.query.kind)),
        operands(std::move(operands)), elementKind(this->operands.query.kind) {
    if (!bounds.queries || !AttentionRows::accepts(b, shape, this->operands))
      return;
    rows.emplace(b, shape, this->operands, this->mask, bounds);
    for (size_t d = rows->getNumOuter(); d < bounds.batch.size(); ++d)
      this->bounds.batch.needed[d] = nullptr;
  }

private:
  void allocateMore() override {
    if (rows)
      rows->allocate();
  }
  Value *emitFew(Value *task, int64_t count) override;
  void packQueries(const Block &block) override;
  Values multiplyKeys(const Block &block, const Tiling &tiling,
                      Value *first) override;
  void emitSums(const Block &block) override;
  void emitColumns(const Block &block, Value *value, Value *result,
                   unsigned vectors, unsigned lastLanes);

  AttentionOperands operands;
  ElemKind elementKind;
  /// Where a run may need few queries.
  std::optional<AttentionRows> rows;
};

} // namespace

Value *AttentionEmitter::emitFew(Value *task, int64_t count) {
  if (!rows)
    return nullptr;
  Value *isFew =
      b.CreateICmpSLE(bounds.queries, b.index(AttentionRows::mostQueries));
  b.ifThen(isFew, [&] { rows->emitTask(task, count); });
  return isFew;
}

void AttentionEmitter::packQueries(const Block &block) {
  const StridedOperand &query = operands.query;
  int64_t rowStride = query.strides[query.strides.size() - 2];
  int64_t innerStride = query.getInnerStride();
  Value *base = query.getAddress(b, block.getRow(b, b.index(0)));
  b.forVectors(shape.depth, lanes, [&](Value *k, unsigned active) {
    Value *corner = b.getElement(base, elementKind, k, innerStride);
    storePanel(block, k, active, [&](unsigned v, unsigned lane) {
      Value *row =
          b.getElement(corner, elementKind, (v * lanes + lane) * rowStride);
      Value *x = b.loadStrided(elementKind, row, active, innerStride);
      return b.CreateFMul(x, b.literal(kind, shape.scale, active));
    });
  });
}

Values AttentionEmitter::multiplyKeys(const Block &block, const Tiling &tiling,
                                      Value *first) {
  const StridedOperand &key = operands.key;
  int64_t rowStride = key.strides[key.strides.size() - 2];
  MicroKernel microKernel{kind,
                          lanes,
                          lanes,
                          unsigned(tiling.size),
                          block.vectors,
                          rowStride,
                          block.width,
                          /*isPadded=*/true,
                          key.getInnerStride()};
  microKernel.inputKind = elementKind;
  Value *row = b.getElement(key.getAddress(b, block.head), elementKind, first,
                            rowStride);
  return microKernel.accumulate(b, {0, microKernel.pixels}, shape.depth, row,
                                panel, microKernel.getZeros(b));
}

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
  b.forLoop(tiling.countNeeded(b, block.needed), [&](Value *tile) {
    Value *query = tiling.getFirst(b, tile);
    Value *column = b.getElement(scores, kind, query);
    Values sums = microKernel.accumulate(b, block.keys, column, value,
                                         microKernel.getZeros(b));
    for (unsigned p = 0; p < microKernel.pixels; ++p) {
      Value *number = b.CreateNSWAdd(query, b.index(p));
      Value *factor = b.loadElement(kind, factors, number, 1);
      Value *row = b.getElement(result, elementKind, number, resultStride);
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

void AttentionEmitter::emitSums(const Block &block) {
  Value *value = operands.value.getAddress(b, block.head);
  Value *result = operands.result.getAddress(b, block.getRow(b, b.index(0)));
  auto at = [&](Value *base, const StridedOperand &operand, Value *column) {
    return b.getElement(base, elementKind, column, operand.getInnerStride());
  };
  auto emitFrom = [&](Value *column, unsigned vectors, unsigned lastLanes) {
    emitColumns(block, at(value, operands.value, column),
                at(result, operands.result, column), vectors, lastLanes);
  };
  forColumnTiles(b, shape.columns, maxVectors, lanes, emitFrom);
}

void glowish::emitAttention(KernelBuilder &b, const AttentionInstr &instr,
                            const KernelOperands &operands) {
  StridedOperand result = operands.getStrided(AttentionInstr::resultIdx);
  StridedOperand mask = broadcastMask(
      instr.getMask(), operands.getPointer(AttentionInstr::maskIdx),
      result.strides.size());
  AttentionShape shape = AttentionShape::of(instr);
  AttentionOperands own = {
      .result = result,
      .query = operands.getStrided(AttentionInstr::queryIdx),
      .key = operands.getStrided(AttentionInstr::keyIdx),
      .value = operands.getStrided(AttentionInstr::valueIdx)};
  AttentionBounds bounds = AttentionBounds::of(instr, operands);
  if (shape.queries <= AttentionRows::mostQueries &&
      AttentionRows::accepts(b, shape, own))
    return AttentionRows(b, shape, own, mask, bounds).emit();
  AttentionEmitter(b, shape, own, mask, bounds).emit();
}
