//===- SplitImage.cpp - Floats as sums of bfloat16 numbers ----------------===//

#include "SplitImage.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace glowish;
using llvm::Value;

//===- Geometry ----------------------------------------------------------===//

SplitImage SplitImage::forInput(const ConvolutionShape &shape) {
  int64_t reachH = (shape.kernelH - 1) * shape.dilationH;
  int64_t reachW = (shape.kernelW - 1) * shape.dilationW;
  return {std::min(shape.strideH, reachH + 1),
          std::min(shape.strideW, reachW + 1),
          shape.batch,
          shape.outHeight + reachH / shape.strideH,
          shape.outWidth + reachW / shape.strideW,
          (shape.channels + matrixDepth - 1) / matrixDepth};
}

int64_t glowish::getSplitWeightSize(const ConvolutionShape &shape) {
  int64_t registers = (shape.outChannels + matrixColumns - 1) / matrixColumns;
  return getSplitSteps(shape) * getSplitStepSize(registers);
}

int64_t glowish::getSplitWeightIndex(const ConvolutionShape &shape, int64_t kh,
                                     int64_t kw, int64_t c, int64_t n) {
  int64_t step = (c / matrixDepth * shape.kernelH + kh) * shape.kernelW + kw;
  int64_t half = matrixDepth / 2;
  int64_t row = c % half * 2 + c % matrixDepth / half;
  int64_t block = n / splitChannels;
  int64_t left = shape.outChannels - block * splitChannels;
  int64_t registers = left > matrixColumns ? 2 : 1;
  return block * getSplitSteps(shape) * getSplitStepSize(2) +
         step * getSplitStepSize(registers) +
         n % splitChannels / matrixColumns * matrixDepth * matrixColumns +
         row * matrixColumns + n % matrixColumns;
}

/// In cycles: a step of two registers takes 6 products of 16 cycles, and the
/// way of their sums through memory and the epilogue some 250; splitting an
/// element of the image takes about 0.35 in the cache and 1 from memory, of the
/// weights 0.1, as most of it happens meanwhile.
bool glowish::isSplitFaster(const ConvolutionShape &shape,
                            const TargetDescription &target) {
  if (!target.hasMatrixBFloat16 || shape.group != 1)
    return false;
  SplitImage image = SplitImage::forInput(shape);
  double rows = double(image.batch) *
                double((shape.outHeight - 1) * image.columns + shape.outWidth);
  double halves = std::ceil(rows / matrixRows);
  double registers = std::ceil(double(shape.outChannels) / matrixColumns);
  double steps = double(getSplitSteps(shape));
  bool isCached = image.getSize() * 2 < target.cacheBytes;
  double split = halves * registers * (steps * 6 * 16 + 250) +
                 0.1 * double(getSplitWeightSize(shape)) +
                 (isCached ? 0.35 : 1.0) * double(image.getPart()) + 500;
  double operations = 2.0 * shape.kernelH * shape.kernelW *
                      shape.getGroupChannels() * shape.outChannels *
                      shape.batch * shape.outHeight * shape.outWidth;
  double vectors = operations / (target.vectorBits / 32 * 4 * 0.8);
  return split < vectors;
}

//===- Splitting ---------------------------------------------------------===//

std::array<Value *, numParts> glowish::splitFloats(KernelBuilder &b,
                                                   Value *even, Value *odd) {
  unsigned lanes = KernelBuilder::getLanes(even);
  llvm::Type *intTy = KernelBuilder::getVectorTy(b.getInt32Ty(), lanes);
  Value *half = llvm::ConstantInt::get(intTy, 0x8000);
  Value *upper = llvm::ConstantInt::get(intTy, 0xffff0000u);
  std::array<Value *, numParts> parts;
  std::array<Value *, 2> values = {even, odd};
  for (int64_t i = 0; i < numParts; ++i) {
    std::array<Value *, 2> kept;
    for (Value *&value : values) {
      // Half of the last place that is kept is added, and the rest cut off. At
      // last nothing is left beyond it.
      Value *bits = b.CreateBitCast(value, intTy);
      Value *rounded = i + 1 < numParts ? b.CreateAdd(bits, half) : bits;
      kept[&value - values.data()] = b.CreateAnd(rounded, upper);
    }
    parts[i] = b.CreateOr(b.CreateLShr(kept[0], 16), kept[1]);
    for (int64_t k = 0; k < 2; ++k)
      values[k] = b.CreateFSub(values[k],
                               b.CreateBitCast(kept[k], values[k]->getType()));
  }
  return parts;
}

namespace {

class SplitEmitter {
public:
  SplitEmitter(KernelBuilder &b, const ConvolutionShape &shape,
               const SplitImage &image, Value *result, StridedOperand input)
      : b(b), shape(shape), image(image), result(result),
        input(std::move(input)) {}
  void emit();

private:
  void clear(Value *pixel, int64_t count);
  void split(Value *pixel, int64_t count, Value *source, int64_t stride);
  void splitGroup(Value *element, Value *source, int64_t channels);
  void store(Value *element, int64_t part, Value *pairs);
  void emitRow(Value *task);
  void emitColumns(Value *pixel, Value *source, int64_t phase);

  KernelBuilder &b;
  ConvolutionShape shape;
  SplitImage image;
  Value *result;
  StridedOperand input;
};

} // namespace

void SplitEmitter::store(Value *element, int64_t part, Value *pairs) {
  Value *address =
      b.getElement(result, ElemKind::BFloat16,
                   b.CreateNSWAdd(element, b.index(part * image.getPart())));
  b.CreateAlignedStore(pairs, address, llvm::Align(64));
}

/// Pixels \p pixel ... of all groups become 0. A pixel's number counts those of
/// the sub-images before it, without groups.
void SplitEmitter::clear(Value *pixel, int64_t count) {
  Value *zero = llvm::Constant::getNullValue(
      llvm::FixedVectorType::get(b.getInt16Ty(), matrixDepth));
  b.forLoop(image.groups, [&](Value *group) {
    Value *first = b.addScaled(b.addScaled(b.index(0), pixel, matrixDepth),
                               group, image.getGroup());
    b.forLoop(count, [&](Value *i) {
      for (int64_t part = 0; part < numParts; ++part)
        store(b.addScaled(first, i, matrixDepth), part, zero);
    });
  });
}

/// \p channels of a group, which are all or the last ones.
void SplitEmitter::splitGroup(Value *element, Value *source, int64_t channels) {
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
void SplitEmitter::split(Value *pixel, int64_t count, Value *source,
                         int64_t stride) {
  auto splitGroups = [&](Value *group, int64_t channels) {
    Value *first = b.addScaled(b.addScaled(b.index(0), pixel, matrixDepth),
                               group, image.getGroup());
    Value *from = b.CreateGEP(b.getFloatTy(), source,
                              b.addScaled(b.index(0), group, matrixDepth));
    b.forUnrolled(count, 2, {}, [&](Value *i, llvm::ArrayRef<Value *>) {
      splitGroup(
          b.addScaled(first, i, matrixDepth),
          b.CreateGEP(b.getFloatTy(), from, b.addScaled(b.index(0), i, stride)),
          channels);
      return Values();
    });
  };
  int64_t whole = shape.channels / matrixDepth;
  b.forLoop(whole, [&](Value *group) { splitGroups(group, matrixDepth); });
  if (shape.channels % matrixDepth)
    splitGroups(b.index(whole), shape.channels % matrixDepth);
}

/// The columns of one row. \p source: the input's row. Column j of phase p is
/// the input's j * strideW + p - padLeft.
void SplitEmitter::emitColumns(Value *pixel, Value *source, int64_t phase) {
  int64_t s = shape.strideW, shift = phase - shape.padLeft;
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
  clear(pixel, low);
  split(at(low), high - low,
        b.CreateGEP(b.getFloatTy(), source,
                    b.index((low * s + shift) * input.strides[2])),
        s * input.strides[2]);
  clear(at(high), image.columns - high);
}

/// Task: (phase * batch + image) * rows + row.
void SplitEmitter::emitRow(Value *task) {
  Value *row = b.CreateURem(task, b.index(image.rows));
  Value *outer = b.CreateUDiv(task, b.index(image.rows));
  Value *batch = b.CreateURem(outer, b.index(image.batch));
  Value *phase = b.CreateUDiv(outer, b.index(image.batch));
  // Groups lie between the sub-images.
  Value *inSubImage = b.addScaled(row, batch, image.rows);
  Value *pixel = b.addScaled(b.addScaled(b.index(0), inSubImage, image.columns),
                             phase, image.groups * image.getPixels());
  for (int64_t ph = 0; ph < image.phasesH; ++ph)
    for (int64_t pw = 0; pw < image.phasesW; ++pw) {
      auto emitPhase = [&] {
        Value *y = b.CreateNSWAdd(b.addScaled(b.index(0), row, shape.strideH),
                                  b.index(ph - shape.padTop));
        Value *source = b.CreateGEP(
            b.getFloatTy(), input.base,
            b.addScaled(b.addScaled(b.index(0), batch, input.strides[0]), y,
                        input.strides[1]));
        // Negative rows are large as unsigned numbers.
        Value *isInside = b.CreateICmpULT(y, b.index(shape.height));
        b.ifThen(isInside, [&] { emitColumns(pixel, source, pw); });
        b.ifThen(b.CreateNot(isInside), [&] { clear(pixel, image.columns); });
      };
      if (image.phasesH * image.phasesW == 1)
        emitPhase();
      else
        b.ifThen(b.CreateICmpEQ(phase, b.index(ph * image.phasesW + pw)),
                 emitPhase);
    }
}

void SplitEmitter::emit() {
  int64_t work = 8 * image.getPart();
  bool isFlat =
      image.rows == shape.height && image.columns == shape.width &&
      shape.padTop == 0 && shape.padLeft == 0 && shape.strideH == 1 &&
      shape.strideW == 1 &&
      (image.rows == 1 ||
       input.strides[1] == input.strides[2] * image.columns) &&
      (image.batch == 1 || input.strides[0] == input.strides[1] * image.rows);
  if (!isFlat) {
    b.forTasks(image.phasesH * image.phasesW * image.batch * image.rows, work,
               [&](Value *task) { emitRow(task); });
    return;
  }
  constexpr int64_t chunk = 32;
  int64_t whole = image.getPixels() / chunk, left = image.getPixels() % chunk;
  auto splitFrom = [&](Value *pixel, int64_t count) {
    split(pixel, count,
          b.CreateGEP(b.getFloatTy(), input.base,
                      b.addScaled(b.index(0), pixel, input.strides[2])),
          input.strides[2]);
  };
  b.forTasks(whole + (left ? 1 : 0), work, [&](Value *task) {
    Value *first = b.addScaled(b.index(0), task, chunk);
    Value *isWhole = b.CreateICmpULT(task, b.index(whole));
    b.ifThen(isWhole, [&] { splitFrom(first, chunk); });
    if (left)
      b.ifThen(b.CreateNot(isWhole), [&] { splitFrom(first, left); });
  });
}

void glowish::emitSplitImage(KernelBuilder &b, const ConvolutionShape &shape,
                             const SplitImage &image, Value *result,
                             StridedOperand input) {
  SplitEmitter(b, shape, image, result, std::move(input)).emit();
}
