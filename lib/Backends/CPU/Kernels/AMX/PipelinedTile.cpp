//===- PipelinedTile.cpp - AMX tiles with a pending result ----------------===//

#include "Kernels/AMX/PipelinedTile.h"

using namespace glowish;
using llvm::Value;

void PipelinedTile::allocateSums(int64_t numTiles) {
  buffer = b.allocate(ElemKind::Int8, numTiles * sumBytes);
  pendingSums = b.allocateSlot(b.getPtrTy());
}

void PipelinedTile::start() {
  pendingCount = b.allocateSlot(b.getIndexTy());
  b.CreateStore(buffer, pendingSums);
  clearPending();
}

Value *PipelinedTile::getSums(Value *number) {
  return b.getElement(buffer, ElemKind::Int8, number, sumBytes);
}

Value *PipelinedTile::getFreeSums() {
  return b.CreateSelect(b.CreateICmpEQ(getPendingSums(), buffer),
                        b.getElement(buffer, ElemKind::Int8, sumBytes), buffer);
}

void PipelinedTile::setPending(Value *sums, Value *count) {
  b.CreateStore(sums, pendingSums);
  b.CreateStore(count, pendingCount);
}

void PipelinedTile::clearPending() { b.CreateStore(b.index(0), pendingCount); }

Value *PipelinedTile::getPendingSums() {
  return b.CreateLoad(b.getPtrTy(), pendingSums);
}

void PipelinedTile::finishRow(Value *row, llvm::function_ref<void()> body) {
  Value *count = b.CreateLoad(b.getIndexTy(), pendingCount);
  b.ifThen(b.CreateICmpSLT(row, count), body);
}

void PipelinedTile::finish(RowBody finishRow) {
  b.forLoop(matrixRows, finishRow);
  clearPending();
}

void PipelinedTile::multiplyAndFinish(Slices rows, Slices columns, Value *step,
                                      int64_t rowsPerStep, RowBody finishRow) {
  multiply(rows, columns, [&](int64_t i) {
    for (int64_t row = rowsPerStep * i / numMultiplications;
         row < rowsPerStep * (i + 1) / numMultiplications; ++row)
      finishRow(b.addScaled(b.index(row), step, rowsPerStep));
  });
}
