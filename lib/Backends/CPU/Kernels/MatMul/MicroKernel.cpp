//===- MicroKernel.cpp - The innermost loop of matmuls --------------------===//

#include "Kernels/MatMul/MicroKernel.h"
#include "Kernels/Math/DotInstrs.h"

using namespace glowish;
using llvm::Value;

Values MicroKernel::getZeros(KernelBuilder &b) const {
  return Values(pixels * vectors, b.literal(kind, 0, lanes));
}

/// Where there are just enough registers, LLVM would mix two steps' loads and
/// run out of them; so it would keep what one step's pixels have in common with
/// the next one's, at odd offsets or, for narrower cores, side by side. For
/// these its schedulers mix more, and on 16 registers always too much.
unsigned MicroKernel::getUnrolling(const TargetDescription &target) const {
  if (!pixelOffsets.empty())
    return 1;
  unsigned sums = pixels * vectors;

  unsigned steps = sums > 26 ? 1 : sums > 12 ? 2 : 4;
  bool isShared = pixelStride < steps * stepStride;
  if (!target.issuesWidely && (isShared || target.numVectorRegisters <= 16))
    return 1;
  return steps;
}

Value *MicroKernel::widenElements(KernelBuilder &b, Value *value,
                                  ElemKind from) const {
  // Half precisions are floats once they are loaded.
  return getValueKind(from) == getValueKind(kind) || dot != DotInstr::None
             ? value
             : b.CreateIntCast(
                   value, b.getComputeTy(kind, KernelBuilder::getLanes(value)),
                   isSignedIntegerKind(from));
}

Values MicroKernel::loadColumns(KernelBuilder &b, Value *k,
                                Value *weights) const {
  Values columns;
  Value *row = b.keepOffsets(b.getElement(weights, weightKind, k, rowStride));
  for (unsigned v = 0; v < vectors; ++v) {
    Value *address = b.getElement(row, weightKind, getVectorOffset(v));
    unsigned there = isPadded ? lanes : getLanes(v);
    Value *column = b.loadStrided(weightKind, address, there, columnStride);
    columns.push_back(b.widen(widenElements(b, column, weightKind), lanes));
  }
  return columns;
}

void MicroKernel::multiply(KernelBuilder &b, unsigned pixel, Value *factor,
                           llvm::ArrayRef<Value *> columns, Values &sums,
                           bool fuses) const {
  bool isRounded = !fuses && factor->getType()->isFPOrFPVectorTy();
  for (unsigned v = 0; v < vectors; ++v) {
    Value *&sum = sums[pixel * vectors + v];
    if (dot != DotInstr::None)
      sum = emitDot(b, dot, sum, factor, columns[v]);
    else
      sum = isRounded ? b.CreateFAdd(b.CreateFMul(factor, columns[v]), sum)
                      : b.multiplyAdd(factor, columns[v], sum);
  }
}

Values MicroKernel::accumulateStep(KernelBuilder &b, PixelRange range, Value *k,
                                   Value *x, Value *weights,
                                   llvm::ArrayRef<Value *> sums) const {
  Values current(sums), columns = loadColumns(b, k, weights);
  Value *element = b.keepOffsets(b.getElement(x, inputKind, k, stepStride));
  for (unsigned p = range.first; p < range.end; ++p) {
    Value *one = b.loadElement(inputKind, element, getPixelOffset(p), 1);
    multiply(b, p, b.splat(widenElements(b, one, inputKind), lanes), columns,
             current);
  }
  return current;
}

Values MicroKernel::accumulateLanes(KernelBuilder &b, PixelRange range,
                                    Value *k, Value *x, Value *weights,
                                    llvm::ArrayRef<Value *> sums) const {
  assert(stepStride == 1 && "elements of a pixel are not neighbours");
  Values current(sums), elements(pixels);
  Value *first = b.getElement(x, inputKind, k);
  for (unsigned p = range.first; p < range.end; ++p)
    elements[p] = widenElements(
        b, b.loadElement(inputKind, first, getPixelOffset(p), lanes),
        inputKind);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Values columns = loadColumns(b, b.CreateNSWAdd(k, b.index(lane)), weights);
    for (unsigned p = range.first; p < range.end; ++p)
      multiply(b, p,
               b.CreateShuffleVector(elements[p],
                                     llvm::SmallVector<int, 16>(lanes, lane)),
               columns, current, b.getTarget().fusesMultiplyByLane);
  }
  return current;
}

Values MicroKernel::accumulate(KernelBuilder &b, PixelRange range,
                               int64_t length, Value *x, Value *weights,
                               Values sums, Prefetch prefetch) const {
  auto request = [&](Value *k, int64_t steps) {
    if (!prefetch.bytesPerStep)
      return;
    Value *offset = prefetch.stride ? b.CreateNSWMul(k, prefetch.stride)
                                    : b.scaleIndex(k, prefetch.bytesPerStep);
    Value *address =
        b.CreateInBoundsGEP(b.getInt8Ty(), prefetch.address, offset);
    int64_t blockBytes = blockStride * int64_t(getElemSize(weightKind));
    for (int64_t block = 0; block < getNumBlocks(); ++block)
      for (int64_t byte = 0; byte < steps * prefetch.bytesPerStep; byte += 64)
        b.prefetch(b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), address,
                                                block * blockBytes + byte));
  };
  int64_t together = 0;
  if (takesLanes && lanes > 1) {
    together = length / lanes * lanes;
    sums = b.forLoop(b.index(0), b.index(together), lanes, sums,
                     [&](Value *k, llvm::ArrayRef<Value *> carried) {
                       request(k, lanes);
                       return accumulateLanes(b, range, k, x, weights, carried);
                     });
  }
  return b.forUnrolled(length - together, getUnrolling(b.getTarget()), sums,
                       [&](Value *step, llvm::ArrayRef<Value *> carried) {
                         Value *k = step;
                         if (together)
                           k = b.CreateNSWAdd(step, b.index(together));
                         request(k, 1);
                         return accumulateStep(b, range, k, x, weights,
                                               carried);
                       });
}

Values MicroKernel::accumulate(KernelBuilder &b, Value *length, Value *x,
                               Value *weights, Values sums) const {
  PixelRange all = {0, pixels};
  if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(length))
    return accumulate(b, all, known->getSExtValue(), x, weights,
                      std::move(sums));
  int64_t unroll = getUnrolling(b.getTarget());
  Value *rounded = b.CreateSub(length, b.CreateURem(length, b.index(unroll)));
  auto step = [&](Value *k, llvm::ArrayRef<Value *> carried) {
    return accumulateStep(b, all, k, x, weights, carried);
  };
  sums = b.forLoop(b.index(0), rounded, unroll, sums,
                   [&](Value *k, llvm::ArrayRef<Value *> carried) {
                     Values current(carried);
                     for (int64_t u = 0; u < unroll; ++u)
                       current = step(b.CreateNSWAdd(k, b.index(u)), current);
                     return current;
                   });
  return b.forLoop(rounded, length, 1, sums, step);
}
