//===- SlicedWeights.cpp - Slicing of weights at run time -----------------===//
//
// A task is a stripe of some blocks of output channels: it computes their
// largest magnitudes, and then their slices, for one step of the reduction
// after the other. If output channels are contiguous in memory, a vector of
// weights is a row of a step, and the blocks of a stripe share pages. Otherwise
// vectors of input channels are sliced, which gives columns, and the slices of
// a step are transposed.
//
//===----------------------------------------------------------------------===//

#include "Kernels/AMX/SlicedImage.h"

using namespace glowish;
using llvm::Value;

namespace {

class WeightSlicer {
public:
  /// \p shape: [KH, KW, C, OC].
  WeightSlicer(KernelBuilder &b, DimsRef shape, Value *slices, Value *scales,
               const StridedOperand &weights)
      : b(b), shape(shape), slices(slices), scales(scales), weights(weights),
        hasColumns(weights.strides[2] == 1 && weights.strides[3] != 1) {}
  void emit();

private:
  struct Stripe {
    Value *firstBlock, *firstChannel;
    /// Output channels of each block.
    llvm::SmallVector<int64_t, 4> counts;
  };
  /// `channels` input channels of a group under one tap, and the address of
  /// their slices, both for the first block of the stripe.
  struct ReductionStep {
    Value *source, *slices;
    int64_t channels;
  };

  int64_t getSteps() const {
    return (shape[2] + matrixDepth - 1) / matrixDepth * shape[0] * shape[1];
  }
  void emitStripe(const Stripe &stripe);
  void forSteps(const Stripe &stripe,
                llvm::function_ref<void(const ReductionStep &)>);
  void joinLargest(Value *cell, Value *bits);
  void findLargestOfRows(const Stripe &stripe, const ReductionStep &step);
  void findLargestOfColumns(const Stripe &stripe, const ReductionStep &step);
  void findScales(const Stripe &stripe);
  void sliceRows(const Stripe &stripe, const ReductionStep &step);
  void sliceColumns(const Stripe &stripe, const ReductionStep &step);
  Value *getColumn(const ReductionStep &step, Value *n) {
    return b.CreateGEP(b.getFloatTy(), step.source,
                       b.scaleIndex(n, weights.strides[3]));
  }
  Value *getBlock(Value *source, size_t block) {
    return b.CreateGEP(
        b.getFloatTy(), source,
        b.index(int64_t(block) * tileChannels * weights.strides[3]));
  }
  Value *getCell(Value *base, Value *index, int64_t bytes) {
    return b.getElement(base, ElemKind::Int8, index, bytes);
  }
  Value *allocate(int64_t vectors) {
    return b.allocate(getZeroRow(b)->getType(), vectors);
  }

  KernelBuilder &b;
  DimsRef shape;
  Value *slices, *scales;
  const StridedOperand &weights;
  /// Whether input channels, and not output channels, are contiguous.
  bool hasColumns;
  /// On the stack: the bits of the largest magnitudes, a vector for each block
  /// or, if columns are sliced, for each channel, which the factors of the
  /// channels replace afterwards; and the columns of the slices of a step.
  Value *largest = nullptr, *columns = nullptr;
};

} // namespace

/// Visits steps in the order of the kernel: group of input channels, tap.
void WeightSlicer::forSteps(
    const Stripe &stripe,
    llvm::function_ref<void(const ReductionStep &)> body) {
  int64_t taps = shape[0] * shape[1];
  Value *source = b.getElement(weights.base, ElemKind::Float,
                               stripe.firstChannel, weights.strides[3]);
  Value *firstStep = b.scaleIndex(stripe.firstBlock, getSteps());
  b.forGroups(shape[2], matrixDepth, [&](Value *group, int64_t channels) {
    b.forLoop(shape[0], [&](Value *kh) {
      b.forLoop(shape[1], [&](Value *kw) {
        Value *tap = b.addScaled(kw, kh, shape[1]);
        Value *step = b.CreateNSWAdd(b.addScaled(firstStep, group, taps), tap);
        Value *offset = b.scaleIndex(kh, weights.strides[0]);
        offset = b.addScaled(offset, kw, weights.strides[1]);
        offset = b.addScaled(offset, group, matrixDepth * weights.strides[2]);
        body({b.CreateGEP(b.getFloatTy(), source, offset),
              getCell(slices, step, numSlices * sliceStepBytes), channels});
      });
    });
  });
}

//===- Scales -------------------------------------------------------------===//

void WeightSlicer::joinLargest(Value *cell, Value *bits) {
  storeRow(b, joinMagnitudes(b, loadRow(b, cell), bits), cell);
}

void WeightSlicer::findLargestOfRows(const Stripe &stripe,
                                     const ReductionStep &step) {
  size_t blocks = stripe.counts.size();
  Values largestOfStep = b.forUnrolled(
      step.channels, blocks > 1 ? 2 : 4, Values(blocks, getZeroRow(b)),
      [&](Value *c, llvm::ArrayRef<Value *> carried) {
        Value *source = b.CreateGEP(b.getFloatTy(), step.source,
                                    b.scaleIndex(c, weights.strides[2]));
        Values joined;
        for (size_t i = 0; i < blocks; ++i) {
          Value *row =
              b.loadStrided(ElemKind::Float, getBlock(source, i),
                            unsigned(stripe.counts[i]), weights.strides[3]);
          joined.push_back(joinMagnitudes(
              b, carried[i], getMagnitudes(b, widenWithZeros(b, row))));
        }
        return joined;
      });
  for (size_t i = 0; i < blocks; ++i)
    joinLargest(getCell(largest, b.index(int64_t(i)), 64), largestOfStep[i]);
}

void WeightSlicer::findLargestOfColumns(const Stripe &stripe,
                                        const ReductionStep &step) {
  b.forLoop(stripe.counts[0], [&](Value *n) {
    Value *bits = findLargestOfGroup(b, getColumn(step, n), step.channels);
    joinLargest(getCell(largest, n, 64), bits);
  });
}

/// Stores the factors in `largest`, and the scales.
void WeightSlicer::findScales(const Stripe &stripe) {
  int64_t blocks = int64_t(stripe.counts.size());
  b.forLoop(hasColumns ? stripe.counts[0] : blocks, [&](Value *i) {
    storeRow(b, getZeroRow(b), getCell(largest, i, 64));
  });
  forSteps(stripe, [&](const ReductionStep &step) {
    if (hasColumns)
      findLargestOfColumns(stripe, step);
    else
      findLargestOfRows(stripe, step);
  });
  if (hasColumns)
    b.forLoop(stripe.counts[0], [&](Value *n) {
      Value *bits = loadRow(b, getCell(largest, n, 64));
      b.CreateStore(reduceMagnitudes(b, bits), getCell(largest, n, 4));
    });
  for (int64_t i = 0; i < blocks; ++i) {
    Value *cell = getCell(largest, b.index(i), 64);
    auto [factor, scale] = getSliceScale(b, loadRow(b, cell));
    storeRow(b, factor, cell);
    // The lowest partial products that are added have weight 2^16.
    scale =
        b.CreateFMul(scale, b.literal(ElemKind::Float, 65536, matrixColumns));
    Value *place = b.getElement(scales, ElemKind::Float, stripe.firstChannel);
    b.storeElement(ElemKind::Float,
                   b.takeLanes(scale, unsigned(stripe.counts[size_t(i)])),
                   place, i * tileChannels);
  }
}

//===- Slices -------------------------------------------------------------===//

void WeightSlicer::sliceRows(const Stripe &stripe, const ReductionStep &step) {
  for (auto [block, count] : llvm::enumerate(stripe.counts)) {
    Value *number = b.index(int64_t(block));
    Value *slicesOfBlock =
        getCell(step.slices, number, getSteps() * numSlices * sliceStepBytes);
    SlicedRows rows = {getBlock(step.source, block), step.channels,
                       weights.strides[2], unsigned(count), weights.strides[3]};
    glowish::sliceRows(
        b, rows,
        b.load(ElemKind::Float, getCell(largest, number, 64),
               unsigned(matrixColumns)),
        [&](Value *row, int64_t slice, Value *bytes) {
          Value *cell = getCell(slicesOfBlock, row, matrixDepth);
          storeRow(b, bytes,
                   b.getElement(cell, ElemKind::Int8, slice * sliceStepBytes));
        });
  }
}

void WeightSlicer::sliceColumns(const Stripe &stripe,
                                const ReductionStep &step) {
  b.forLoop(stripe.counts[0], [&](Value *n) {
    Value *source = getColumn(step, n);
    Value *factor = b.splat(b.load(ElemKind::Float, getCell(largest, n, 4), 1),
                            unsigned(matrixColumns));
    std::array<Value *, 4> values = loadSliceGroup(b, source, step.channels);
    for (auto [slice, bytes] : llvm::enumerate(sliceFloats(b, values, factor)))
      storeRow(b, bytes,
               b.getElement(getCell(columns, n, 64), ElemKind::Int8,
                            int64_t(slice) * sliceStepBytes));
  });
  transposeSlices(b, columns, sliceStepBytes, step.slices, sliceStepBytes);
}

//===- Tasks --------------------------------------------------------------===//

void WeightSlicer::emitStripe(const Stripe &stripe) {
  findScales(stripe);
  // Clears the columns that the last block lacks.
  if (hasColumns && stripe.counts[0] < tileChannels)
    b.forLoop(numSlices * matrixColumns, [&](Value *column) {
      storeRow(b, getZeroRow(b), getCell(columns, column, 64));
    });
  forSteps(stripe, [&](const ReductionStep &step) {
    if (hasColumns)
      sliceColumns(stripe, step);
    else
      sliceRows(stripe, step);
  });
}

void WeightSlicer::emit() {
  constexpr int64_t mostBlocks = 4;
  largest = allocate(matrixColumns);
  if (hasColumns)
    columns = allocate(numSlices * matrixRows);
  int64_t blocks = (shape[3] + tileChannels - 1) / tileChannels;
  int64_t perStripe = hasColumns ? 1
                                 : std::clamp(blocks / b.getTarget().numThreads,
                                              int64_t(1), mostBlocks);
  int64_t stripes = (blocks + perStripe - 1) / perStripe;
  // The stripe that begins with block `first`.
  auto getCounts = [&](int64_t first) {
    llvm::SmallVector<int64_t, 4> counts;
    for (int64_t i = first; i < std::min(first + perStripe, blocks); ++i)
      counts.push_back(std::min(tileChannels, shape[3] - i * tileChannels));
    return counts;
  };
  auto whole = getCounts(0), last = getCounts((stripes - 1) * perStripe);
  int64_t operations = 8 * shape[0] * shape[1] * shape[2] * shape[3];
  b.forTasks(stripes, operations, [&](Value *number) {
    Value *block = b.scaleIndex(number, perStripe);
    Value *channel = b.scaleIndex(block, tileChannels);
    if (whole == last)
      return emitStripe({block, channel, whole});
    Value *isLast = b.CreateICmpEQ(number, b.index(stripes - 1));
    b.ifThen(b.CreateNot(isLast), [&] { emitStripe({block, channel, whole}); });
    b.ifThen(isLast, [&] { emitStripe({block, channel, last}); });
  });
}

void glowish::emitSlicedWeights(KernelBuilder &b, DimsRef shape, Value *slices,
                                Value *scales, const StridedOperand &weights) {
  WeightSlicer(b, shape, slices, scales, weights).emit();
}
