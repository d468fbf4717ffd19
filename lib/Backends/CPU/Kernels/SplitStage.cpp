//===- SplitStage.cpp - The pixels of a task, split -----------------------===//

#include "SplitStage.h"

using namespace glowish;
using llvm::Value;

namespace {

class StageEmitter {
public:
  StageEmitter(KernelBuilder &b, const ConvolutionShape &shape,
               const SplitPlan &plan, Value *stage, const StridedOperand &input,
               const SplitRange &range)
      : b(b), shape(shape), plan(plan), image(plan.image), stage(stage),
        input(input), range(range) {}
  void emitPixels();
  void emitRows();

private:
  Value *getElement(int64_t phase, Value *group, Value *pixel);
  void store(Value *element, int64_t part, Value *pairs);
  void clear(int64_t phase, Value *pixel, int64_t count);
  void split(int64_t phase, Value *pixel, Value *count, Value *source,
             int64_t stride);
  void splitGroup(Value *element, Value *source, int64_t channels);
  void emitRow(Value *row);
  void emitColumns(Value *pixel, Value *source, int64_t phaseH, int64_t phaseW);

  KernelBuilder &b;
  const ConvolutionShape &shape;
  const SplitPlan &plan;
  const SplitImage &image;
  Value *stage;
  const StridedOperand &input;
  const SplitRange &range;
};

} // namespace

/// The number of the first channel's element in part 0.
Value *StageEmitter::getElement(int64_t phase, Value *group, Value *pixel) {
  Value *inStage = b.CreateNSWSub(group, range.firstGroup);
  Value *plane = b.CreateNSWAdd(b.index(phase * plan.groupsPerChunk), inStage);
  return b.addScaled(
      b.addScaled(b.index(0), plane, plan.stagePixels * matrixDepth), pixel,
      matrixDepth);
}

void StageEmitter::store(Value *element, int64_t part, Value *pairs) {
  Value *address = b.getElement(
      stage, ElemKind::BFloat16,
      b.CreateNSWAdd(element, b.index(part * plan.getStagePartSize())));
  b.CreateAlignedStore(pairs, address, llvm::Align(64));
}

/// Pixels \p pixel ... of all groups become 0.
void StageEmitter::clear(int64_t phase, Value *pixel, int64_t count) {
  if (count == 0)
    return;
  Value *zero = llvm::Constant::getNullValue(
      llvm::FixedVectorType::get(b.getInt16Ty(), matrixDepth));
  b.forLoop(range.firstGroup, range.endGroup, 1, [&](Value *group) {
    Value *first = getElement(phase, group, pixel);
    b.forLoop(count, [&](Value *i) {
      for (int64_t part = 0; part < numParts; ++part)
        store(b.addScaled(first, i, matrixDepth), part, zero);
    });
  });
}

/// \p channels of a group, which are all or the last ones.
void StageEmitter::splitGroup(Value *element, Value *source, int64_t channels) {
  constexpr int64_t half = matrixDepth / 2;
  Value *zero = b.literal(ElemKind::Float, 0, half);
  auto loadUpTo = [&](int64_t first, int64_t count) -> Value * {
    if (count <= 0)
      return zero;
    unsigned lanes = unsigned(std::min(count, half));
    Value *loaded = b.load(ElemKind::Float,
                           b.getElement(source, ElemKind::Float, first), lanes);
    if (lanes == half)
      return loaded;
    llvm::SmallVector<int, 16> mask;
    for (unsigned i = 0; i < half; ++i)
      mask.push_back(i < lanes ? int(i) : int(half));
    return b.CreateShuffleVector(b.widen(loaded, half), zero, mask);
  };
  Value *even = loadUpTo(0, channels), *odd = loadUpTo(half, channels - half);
  for (auto [part, pairs] : llvm::enumerate(splitFloats(b, even, odd)))
    store(element, int64_t(part), pairs);
}

/// \p count pixels from \p source on, \p stride elements apart.
void StageEmitter::split(int64_t phase, Value *pixel, Value *count,
                         Value *source, int64_t stride) {
  auto splitPixels = [&](Value *group, int64_t channels) {
    Value *first = getElement(phase, group, pixel);
    Value *from = b.CreateGEP(b.getFloatTy(), source,
                              b.addScaled(b.index(0), group, matrixDepth));
    b.forLoop(b.index(0), count, 1, [&](Value *i) {
      splitGroup(
          b.addScaled(first, i, matrixDepth),
          b.CreateGEP(b.getFloatTy(), from, b.addScaled(b.index(0), i, stride)),
          channels);
    });
  };
  int64_t whole = shape.channels / matrixDepth;
  int64_t left = shape.channels % matrixDepth;
  b.forLoop(range.firstGroup, b.minIndex(range.endGroup, b.index(whole)), 1,
            [&](Value *group) { splitPixels(group, matrixDepth); });
  if (left)
    b.ifThen(b.CreateICmpEQ(range.endGroup, b.index(whole + 1)),
             [&] { splitPixels(b.index(whole), left); });
}

/// The columns of one row. \p source: the input's row. Column j of phase p is
/// the input's j * strideW + p - padLeft.
void StageEmitter::emitColumns(Value *pixel, Value *source, int64_t phaseH,
                               int64_t phaseW) {
  int64_t phase = phaseH * image.phasesW + phaseW;
  int64_t s = shape.strideW, shift = phaseW - shape.padLeft;
  int64_t low = std::clamp((-shift + s - 1) / s, int64_t(0), image.columns);
  if (shift >= 0)
    low = 0;
  int64_t high =
      shape.width > shift
          ? std::clamp((shape.width - shift + s - 1) / s, low, image.columns)
          : low;
  auto at = [&](int64_t column) {
    return b.CreateNSWAdd(pixel, b.index(column));
  };
  clear(phase, pixel, low);
  split(phase, at(low), b.index(high - low),
        b.CreateGEP(b.getFloatTy(), source,
                    b.index((low * s + shift) * input.strides[2])),
        s * input.strides[2]);
  clear(phase, at(high), image.columns - high);
}

/// \p row: counted through all images where they are one.
void StageEmitter::emitRow(Value *row) {
  Value *batch = range.image, *inImage = row;
  if (plan.isFlat && image.batch > 1) {
    batch = b.CreateUDiv(row, b.index(image.rows));
    inImage = b.CreateURem(row, b.index(image.rows));
  }
  Value *pixel = b.CreateNSWSub(b.addScaled(b.index(0), row, image.columns),
                                range.firstPixel);
  for (int64_t ph = 0; ph < image.phasesH; ++ph) {
    Value *y = b.CreateNSWAdd(b.addScaled(b.index(0), inImage, shape.strideH),
                              b.index(ph - shape.padTop));
    Value *source = b.CreateGEP(
        b.getFloatTy(), input.base,
        b.addScaled(b.addScaled(b.index(0), batch, input.strides[0]), y,
                    input.strides[1]));
    // Negative rows are large as unsigned numbers.
    Value *isInside = b.CreateICmpULT(y, b.index(shape.height));
    b.ifThen(isInside, [&] {
      for (int64_t pw = 0; pw < image.phasesW; ++pw)
        emitColumns(pixel, source, ph, pw);
    });
    b.ifThen(b.CreateNot(isInside), [&] {
      for (int64_t pw = 0; pw < image.phasesW; ++pw)
        clear(ph * image.phasesW + pw, pixel, image.columns);
    });
  }
}

void StageEmitter::emitRows() {
  Value *first = b.CreateUDiv(range.firstPixel, b.index(image.columns));
  Value *end = b.minIndex(b.CreateNSWAdd(first, b.index(plan.stageRows)),
                          b.index(plan.getRows()));
  b.forLoop(first, end, 1, [&](Value *row) { emitRow(row); });
}

void StageEmitter::emitPixels() {
  split(
      0, b.index(0), range.numPixels,
      b.CreateGEP(b.getFloatTy(), input.base,
                  b.addScaled(b.index(0), range.firstPixel, input.strides[2])),
      input.strides[2]);
}

void glowish::emitSplitStage(KernelBuilder &b, const ConvolutionShape &shape,
                             const SplitPlan &plan, Value *stage,
                             const StridedOperand &input,
                             const SplitRange &range) {
  StageEmitter emitter(b, shape, plan, stage, input, range);
  if (plan.isInputFlat)
    emitter.emitPixels();
  else
    emitter.emitRows();
}
