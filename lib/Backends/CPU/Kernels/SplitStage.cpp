//===- SplitStage.cpp - The pixels of a task, split -----------------------===//

#include "SplitStage.h"

using namespace glowish;
using llvm::Value;

namespace {

class StageEmitter {
public:
  StageEmitter(KernelBuilder &b, const ConvolutionShape &shape,
               const SplitPlan &plan, const SplitStage &stage,
               const StridedOperand &input, const SplitRange &range)
      : b(b), shape(shape), plan(plan), image(plan.image), stage(stage),
        input(input), range(range), joinMagnitudes([&b](Value *x, Value *y) {
          return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, x, y);
        }) {}
  void emitScales();
  void emitDigits();
  void emitScalesAndDigits();

private:
  /// Pixels of the stage that come from one row of the input: \p count from
  /// \p pixel on, of sub-image \p phase, \p stride elements apart.
  struct Run {
    int64_t phase;
    Value *pixel, *count;
    Value *source;
    int64_t stride;
  };
  using RunBody = llvm::function_ref<void(const Run &)>;
  /// Pixels that are padding.
  using PaddingBody =
      llvm::function_ref<void(int64_t phase, Value *pixel, int64_t count)>;

  void forRuns(RunBody body, PaddingBody padding);
  void forRunsOfRow(Value *row, RunBody body, PaddingBody padding);
  void forRunsOfColumns(Value *pixel, Value *source, int64_t phaseH,
                        int64_t phaseW, RunBody body, PaddingBody padding);

  std::array<Value *, 4> loadGroup(Value *source, int64_t channels);
  Value *findLargest(Value *source);
  void storeScale(Value *index, Value *largest);
  void findScales(const Run &run);
  Value *getAddress(int64_t phase, Value *group, Value *pixel);
  void store(Value *address, int64_t digit, Value *bytes);
  void clear(int64_t phase, Value *pixel, int64_t count);
  void split(const Run &run);

  KernelBuilder &b;
  const ConvolutionShape &shape;
  const SplitPlan &plan;
  const SplitImage &image;
  const SplitStage &stage;
  const StridedOperand &input;
  const SplitRange &range;
  /// The larger of magnitudes, given by their bits.
  std::function<Value *(Value *, Value *)> joinMagnitudes;
};

} // namespace

//===- Pixels ------------------------------------------------------------===//

/// Column j of phase p is the input's j * strideW + p - padLeft. \p source: the
/// input's row.
void StageEmitter::forRunsOfColumns(Value *pixel, Value *source, int64_t phaseH,
                                    int64_t phaseW, RunBody body,
                                    PaddingBody padding) {
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
  if (low > 0)
    padding(phase, pixel, low);
  if (high > low)
    body({phase, at(low), b.index(high - low),
          b.CreateGEP(b.getFloatTy(), source,
                      b.index((low * s + shift) * input.strides[2])),
          s * input.strides[2]});
  if (high < image.columns)
    padding(phase, at(high), image.columns - high);
}

/// \p row: counted through all images where they are one.
void StageEmitter::forRunsOfRow(Value *row, RunBody body, PaddingBody padding) {
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
        forRunsOfColumns(pixel, source, ph, pw, body, padding);
    });
    b.ifThen(b.CreateNot(isInside), [&] {
      for (int64_t pw = 0; pw < image.phasesW; ++pw)
        padding(ph * image.phasesW + pw, pixel, image.columns);
    });
  }
}

void StageEmitter::forRuns(RunBody body, PaddingBody padding) {
  if (plan.isInputFlat)
    return body({0, b.index(0), range.numPixels,
                 b.CreateGEP(b.getFloatTy(), input.base,
                             b.addScaled(b.index(0), range.firstPixel,
                                         input.strides[2])),
                 input.strides[2]});
  Value *first = b.CreateUDiv(range.firstPixel, b.index(image.columns));
  Value *end = b.minIndex(b.CreateNSWAdd(first, b.index(plan.stageRows)),
                          b.index(plan.getRows()));
  b.forLoop(first, end, 1,
            [&](Value *row) { forRunsOfRow(row, body, padding); });
}

/// \p channels of a group, which are all or the last ones.
std::array<Value *, 4> StageEmitter::loadGroup(Value *source,
                                               int64_t channels) {
  std::array<Value *, 4> values;
  for (int64_t i = 0; i < 4; ++i) {
    int64_t first = i * matrixColumns;
    Value *zero = b.literal(ElemKind::Float, 0, matrixColumns);
    unsigned lanes = unsigned(
        std::clamp(channels - first, int64_t(0), int64_t(matrixColumns)));
    values[size_t(i)] = zero;
    if (lanes == 0)
      continue;
    Value *loaded = b.load(ElemKind::Float,
                           b.getElement(source, ElemKind::Float, first), lanes);
    llvm::SmallVector<int, 16> mask;
    for (unsigned j = 0; j < matrixColumns; ++j)
      mask.push_back(j < lanes ? int(j) : int(matrixColumns));
    values[size_t(i)] =
        lanes == matrixColumns
            ? loaded
            : b.CreateShuffleVector(b.widen(loaded, matrixColumns), zero, mask);
  }
  return values;
}

//===- Scales ------------------------------------------------------------===//

/// Of a pixel's channels: the bits of the largest magnitudes, in 16 lanes. As
/// integers they are in the order of magnitudes, infinity and what is not a
/// number above all.
Value *StageEmitter::findLargest(Value *source) {
  auto *intTy = llvm::FixedVectorType::get(b.getInt32Ty(), matrixColumns);
  auto reduce = [&](Value *from, int64_t channels) {
    Values bits;
    for (Value *value : loadGroup(from, channels))
      bits.push_back(b.CreateAnd(b.CreateBitCast(value, intTy),
                                 llvm::ConstantInt::get(intTy, 0x7fffffff)));
    return joinMagnitudes(joinMagnitudes(bits[0], bits[1]),
                          joinMagnitudes(bits[2], bits[3]));
  };
  int64_t whole = shape.channels / matrixDepth;
  int64_t left = shape.channels % matrixDepth;
  Value *largest = llvm::Constant::getNullValue(intTy);
  if (whole)
    largest = b.forLoop(
        b.index(0), b.index(whole), 1, {largest},
        [&](Value *group, llvm::ArrayRef<Value *> carried) {
          Value *from =
              b.getElement(source, ElemKind::Float,
                           b.addScaled(b.index(0), group, matrixDepth));
          return Values{joinMagnitudes(carried[0], reduce(from, matrixDepth))};
        })[0];
  if (left)
    largest = joinMagnitudes(
        largest,
        reduce(b.getElement(source, ElemKind::Float, whole * matrixDepth),
               left));
  return largest;
}

/// From the bits of the \p largest magnitude.
void StageEmitter::storeScale(Value *index, Value *largest) {
  // Below, the factor would be infinite.
  Value *least = b.literal(ElemKind::Float, 1e-30, 1);
  Value *magnitude = b.CreateBitCast(largest, b.getFloatTy());
  Value *isSmall = b.CreateFCmpOLT(magnitude, least);
  magnitude = b.CreateSelect(isSmall, least, magnitude);
  // A little less than the largest integer, for the rounding of the factor.
  Value *most = b.literal(ElemKind::Float, double(maxSplitInteger - 2), 1);
  b.store(ElemKind::Float, b.CreateFDiv(most, magnitude),
          b.getElement(stage.factors, ElemKind::Float, index));
  b.store(ElemKind::Float, b.CreateFDiv(magnitude, most),
          b.getElement(stage.scales, ElemKind::Float, index));
}

/// Of each pixel.
void StageEmitter::findScales(const Run &run) {
  b.forLoop(b.index(0), run.count, 1, [&](Value *i) {
    Value *source = b.CreateGEP(b.getFloatTy(), run.source,
                                b.addScaled(b.index(0), i, run.stride));
    storeScale(b.CreateNSWAdd(run.pixel, i),
               b.reduceLanes(findLargest(source), joinMagnitudes));
  });
}

void StageEmitter::emitScales() {
  auto ignore = [](int64_t, Value *, int64_t) {};
  if (plan.isFlat)
    return forRuns([&](const Run &run) { findScales(run); }, ignore);
  auto *intTy = llvm::FixedVectorType::get(b.getInt32Ty(), matrixColumns);
  Value *cell = stage.factors;
  auto loadLargest = [&] {
    return b.CreateAlignedLoad(intTy, cell, llvm::Align(64));
  };
  b.CreateAlignedStore(llvm::Constant::getNullValue(intTy), cell,
                       llvm::Align(64));
  forRuns(
      [&](const Run &run) {
        b.forLoop(b.index(0), run.count, 1, [&](Value *i) {
          Value *largest =
              findLargest(b.CreateGEP(b.getFloatTy(), run.source,
                                      b.addScaled(b.index(0), i, run.stride)));
          b.CreateAlignedStore(joinMagnitudes(loadLargest(), largest), cell,
                               llvm::Align(64));
        });
      },
      ignore);
  storeScale(b.index(0), b.reduceLanes(loadLargest(), joinMagnitudes));
}

//===- Digits ------------------------------------------------------------===//

/// Of digit 0.
Value *StageEmitter::getAddress(int64_t phase, Value *group, Value *pixel) {
  Value *inStage = b.CreateNSWSub(group, range.firstGroup);
  Value *plane = b.CreateNSWAdd(b.index(phase * plan.groupsPerChunk), inStage);
  return b.getElement(stage.digits, ElemKind::Int8,
                      b.addScaled(b.addScaled(b.index(0), plane,
                                              plan.stagePixels * matrixDepth),
                                  pixel, matrixDepth));
}

void StageEmitter::store(Value *address, int64_t digit, Value *bytes) {
  b.CreateAlignedStore(
      bytes,
      b.getElement(address, ElemKind::Int8, digit * plan.getDigitBytes()),
      llvm::Align(64));
}

void StageEmitter::clear(int64_t phase, Value *pixel, int64_t count) {
  Value *zero = llvm::Constant::getNullValue(
      llvm::FixedVectorType::get(b.getInt32Ty(), matrixColumns));
  b.forLoop(range.firstGroup, range.endGroup, 1, [&](Value *group) {
    Value *first = getAddress(phase, group, pixel);
    b.forLoop(count, [&](Value *i) {
      for (int64_t digit = 0; digit < numDigits; ++digit)
        store(b.getElement(first, ElemKind::Int8,
                           b.addScaled(b.index(0), i, matrixDepth)),
              digit, zero);
    });
  });
}

void StageEmitter::split(const Run &run) {
  auto loadFactor = [&](Value *index) {
    return b.splat(b.load(ElemKind::Float,
                          b.getElement(stage.factors, ElemKind::Float, index),
                          1),
                   matrixColumns);
  };
  Value *shared = plan.isFlat ? nullptr : loadFactor(b.index(0));
  auto splitGroup = [&](Value *group, int64_t channels) {
    Value *first = getAddress(run.phase, group, run.pixel);
    Value *from = b.CreateGEP(b.getFloatTy(), run.source,
                              b.addScaled(b.index(0), group, matrixDepth));
    b.forLoop(b.index(0), run.count, 1, [&](Value *i) {
      Value *factor =
          shared ? shared : loadFactor(b.CreateNSWAdd(run.pixel, i));
      Value *source = b.CreateGEP(b.getFloatTy(), from,
                                  b.addScaled(b.index(0), i, run.stride));
      Value *address = b.getElement(first, ElemKind::Int8,
                                    b.addScaled(b.index(0), i, matrixDepth));
      for (auto [digit, bytes] :
           llvm::enumerate(splitFloats(b, loadGroup(source, channels), factor)))
        store(address, int64_t(digit), bytes);
    });
  };
  int64_t whole = shape.channels / matrixDepth;
  int64_t left = shape.channels % matrixDepth;
  b.forLoop(range.firstGroup, b.minIndex(range.endGroup, b.index(whole)), 1,
            [&](Value *group) { splitGroup(group, matrixDepth); });
  if (left)
    b.ifThen(b.CreateICmpEQ(range.endGroup, b.index(whole + 1)),
             [&] { splitGroup(b.index(whole), left); });
}

void StageEmitter::emitDigits() {
  forRuns([&](const Run &run) { split(run); },
          [&](int64_t phase, Value *pixel, int64_t count) {
            clear(phase, pixel, count);
          });
}

/// Some pixels at a time, which are in the first cache when they are read
/// again.
void StageEmitter::emitScalesAndDigits() {
  constexpr int64_t batch = 16;
  forRuns(
      [&](const Run &run) {
        b.forLoop(b.index(0), run.count, batch, [&](Value *first) {
          Run part = run;
          part.pixel = b.CreateNSWAdd(run.pixel, first);
          part.count =
              b.minIndex(b.index(batch), b.CreateNSWSub(run.count, first));
          part.source = b.CreateGEP(b.getFloatTy(), run.source,
                                    b.addScaled(b.index(0), first, run.stride));
          findScales(part);
          split(part);
        });
      },
      [&](int64_t phase, Value *pixel, int64_t count) {
        clear(phase, pixel, count);
      });
}

void glowish::emitSplitStage(KernelBuilder &b, const ConvolutionShape &shape,
                             const SplitPlan &plan, const SplitStage &stage,
                             const StridedOperand &input,
                             const SplitRange &range) {
  StageEmitter emitter(b, shape, plan, stage, input, range);
  if (plan.isFlat)
    return emitter.emitScalesAndDigits();
  emitter.emitScales();
  emitter.emitDigits();
}

void glowish::emitSplitScales(KernelBuilder &b, const ConvolutionShape &shape,
                              const SplitPlan &plan, const SplitStage &stage,
                              const StridedOperand &input,
                              const SplitRange &range) {
  StageEmitter(b, shape, plan, stage, input, range).emitScales();
}

void glowish::emitSplitDigits(KernelBuilder &b, const ConvolutionShape &shape,
                              const SplitPlan &plan, const SplitStage &stage,
                              const StridedOperand &input,
                              const SplitRange &range) {
  StageEmitter(b, shape, plan, stage, input, range).emitDigits();
}
