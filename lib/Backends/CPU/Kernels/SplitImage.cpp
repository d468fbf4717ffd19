//===- SplitImage.cpp - Floats as sums of bfloat16 numbers ----------------===//

#include "SplitImage.h"
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
          shape.channels};
}

SplitReduction SplitReduction::forShape(const ConvolutionShape &shape) {
  if (shape.strideW == 1 && shape.dilationW == 1)
    return {shape.kernelW * shape.channels, 1};
  return {shape.channels, shape.kernelW};
}

int64_t glowish::getSplitWeightSize(const ConvolutionShape &shape) {
  int64_t registers = (shape.outChannels + matrixColumns - 1) / matrixColumns;
  return SplitReduction::forShape(shape).getSteps(shape) *
         getSplitStepSize(registers);
}

int64_t glowish::getSplitWeightIndex(const ConvolutionShape &shape, int64_t kh,
                                     int64_t kw, int64_t c, int64_t n,
                                     int64_t *partDistance) {
  SplitReduction reduction = SplitReduction::forShape(shape);
  int64_t run = reduction.runsPerRow == 1 ? 0 : kw;
  int64_t inRun = reduction.runsPerRow == 1 ? kw * shape.channels + c : c;
  int64_t step =
      (kh * reduction.runsPerRow + run) * reduction.getStepsPerRun() +
      inRun / matrixDepth;
  int64_t row = inRun % matrixDepth;
  int64_t block = n / splitChannels;
  int64_t left = shape.outChannels - block * splitChannels;
  int64_t registers = left > matrixColumns ? 2 : 1;
  int64_t registerSize = matrixDepth * matrixColumns;
  *partDistance = registers * registerSize;
  // Within a register, rows 2i and 2i + 1 alternate.
  return block * reduction.getSteps(shape) * getSplitStepSize(2) +
         step * getSplitStepSize(registers) +
         n % splitChannels / matrixColumns * registerSize +
         (row / 2 * matrixColumns + n % matrixColumns) * 2 + row % 2;
}

/// In cycles: a step of two registers takes 6 products of 16 cycles; the way
/// through the epilogue and the splitting of an element are measured.
bool glowish::isSplitFaster(const ConvolutionShape &shape,
                            const TargetDescription &target) {
  if (!target.hasMatrixBFloat16 || shape.group != 1)
    return false;
  SplitImage image = SplitImage::forInput(shape);
  double rows = double(image.batch) *
                ((shape.outHeight - 1) * image.columns + shape.outWidth);
  double halves = std::ceil(rows / matrixRows);
  double registers = std::ceil(double(shape.outChannels) / matrixColumns);
  double steps = double(SplitReduction::forShape(shape).getSteps(shape));
  double split = halves * registers * (steps * 6 * 16 + 70) +
                 0.4 * double(image.getPart()) + 500;
  double operations = 2.0 * shape.kernelH * shape.kernelW *
                      shape.getGroupChannels() * shape.outChannels *
                      shape.batch * shape.outHeight * shape.outWidth;
  double vectors = operations / (target.vectorBits / 32 * 4 * 0.8);
  return split < vectors;
}

//===- Splitting ---------------------------------------------------------===//

/// The upper halves of the 32-bit lanes of one or two vectors.
static Value *takeUpperHalves(KernelBuilder &b, Value *bits) {
  unsigned lanes = KernelBuilder::getLanes(bits);
  if (lanes == 1)
    return b.CreateTrunc(b.CreateLShr(bits, 16), b.getInt16Ty());
  Value *halves = b.CreateBitCast(
      bits, llvm::FixedVectorType::get(b.getInt16Ty(), 2 * lanes));
  llvm::SmallVector<int, 32> odd;
  for (unsigned i = 0; i < lanes; ++i)
    odd.push_back(int(2 * i + 1));
  return b.CreateShuffleVector(halves, odd);
}

std::array<Value *, numParts> glowish::splitFloats(KernelBuilder &b,
                                                   Value *value) {
  unsigned lanes = KernelBuilder::getLanes(value);
  llvm::Type *intTy = KernelBuilder::getVectorTy(b.getInt32Ty(), lanes);
  Value *half = llvm::ConstantInt::get(intTy, 0x8000);
  Value *upper = llvm::ConstantInt::get(intTy, 0xffff0000u);
  std::array<Value *, numParts> parts;
  for (int64_t i = 0; i < numParts; ++i) {
    // Half of the last place that is kept is added, and the rest cut off. At
    // last nothing is left beyond it.
    Value *bits = b.CreateBitCast(value, intTy);
    Value *rounded = i + 1 < numParts ? b.CreateAdd(bits, half) : bits;
    parts[i] = takeUpperHalves(b, rounded);
    Value *kept =
        b.CreateBitCast(b.CreateAnd(rounded, upper), value->getType());
    value = b.CreateFSub(value, kept);
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
  Value *getTarget(Value *element, int64_t part) {
    return b.getElement(
        result, ElemKind::BFloat16,
        b.CreateNSWAdd(element, b.index(part * image.getPart())));
  }
  void clear(Value *element, int64_t count);
  void clearSlack();
  void emitDense();
  void split(Value *element, Value *source, int64_t count);
  void emitRow(Value *task);
  void emitColumns(Value *element, Value *source, int64_t phase);

  KernelBuilder &b;
  ConvolutionShape shape;
  SplitImage image;
  Value *result;
  StridedOperand input;
};

} // namespace

/// What the last step reads behind the image meets weights that are 0, and must
/// be numbers.
void SplitEmitter::clearSlack() {
  for (int64_t i = 0; i < 2 * matrixDepth; i += 32)
    b.CreateAlignedStore(llvm::Constant::getNullValue(
                             llvm::FixedVectorType::get(b.getInt16Ty(), 32)),
                         b.getElement(result, ElemKind::BFloat16,
                                      numParts * image.getPart() + i),
                         llvm::Align(2));
}

/// Elements \p element ... of all parts become 0.
void SplitEmitter::clear(Value *element, int64_t count) {
  b.forVectors(count, 32, [&](Value *i, unsigned lanes) {
    Value *zero = llvm::Constant::getNullValue(
        KernelBuilder::getVectorTy(b.getInt16Ty(), lanes));
    for (int64_t part = 0; part < numParts; ++part)
      b.CreateAlignedStore(zero, getTarget(b.CreateNSWAdd(element, i), part),
                           llvm::Align(2));
  });
}

void SplitEmitter::split(Value *element, Value *source, int64_t count) {
  b.forVectors(count, 32, [&](Value *i, unsigned lanes) {
    Value *value = b.load(ElemKind::Float,
                          b.getElement(source, ElemKind::Float, i), lanes);
    Value *target = b.CreateNSWAdd(element, i);
    for (auto [part, bits] : llvm::enumerate(splitFloats(b, value)))
      b.CreateAlignedStore(bits, getTarget(target, int64_t(part)),
                           llvm::Align(2));
  });
}

/// The columns of one row. \p source: the input's row. Column j of phase p is
/// the input's j * strideW + p - padLeft.
void SplitEmitter::emitColumns(Value *element, Value *source, int64_t phase) {
  int64_t s = shape.strideW, shift = phase - shape.padLeft;
  int64_t low = std::clamp((-shift + s - 1) / s, int64_t(0), image.columns);
  if (shift >= 0)
    low = 0;
  int64_t high =
      shape.width > shift
          ? std::clamp((shape.width - shift + s - 1) / s, low, image.columns)
          : low;
  int64_t channels = image.channels;
  auto at = [&](int64_t column) {
    return b.CreateNSWAdd(element, b.index(column * channels));
  };
  clear(element, low * channels);
  Value *first = b.CreateGEP(b.getFloatTy(), source,
                             b.index((low * s + shift) * input.strides[2]));
  if (s == 1 && input.strides[2] == channels)
    split(at(low), first, (high - low) * channels);
  else
    b.forLoop(high - low, [&](Value *j) {
      split(b.addScaled(at(low), j, channels),
            b.CreateGEP(b.getFloatTy(), first,
                        b.addScaled(b.index(0), j, s * input.strides[2])),
            channels);
    });
  clear(at(high), (image.columns - high) * channels);
}

/// Task: ((phase) * batch + image) * rows + row.
void SplitEmitter::emitRow(Value *task) {
  Value *row = b.CreateURem(task, b.index(image.rows));
  Value *outer = b.CreateUDiv(task, b.index(image.rows));
  Value *batch = b.CreateURem(outer, b.index(image.batch));
  Value *phase = b.CreateUDiv(outer, b.index(image.batch));
  int64_t rowSize = image.columns * image.channels;
  Value *element = b.addScaled(b.index(0), task, rowSize);
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
        b.ifThen(isInside, [&] { emitColumns(element, source, pw); });
        b.ifThen(b.CreateNot(isInside), [&] { clear(element, rowSize); });
      };
      if (image.phasesH * image.phasesW == 1)
        emitPhase();
      else
        b.ifThen(b.CreateICmpEQ(phase, b.index(ph * image.phasesW + pw)),
                 emitPhase);
    }
  int64_t rows = image.phasesH * image.phasesW * image.batch * image.rows;
  b.ifThen(b.CreateICmpEQ(task, b.index(rows - 1)), [&] { clearSlack(); });
}

/// An image without padding in dense memory: a long row of numbers.
void SplitEmitter::emitDense() {
  b.forElementTasks(image.getPart(), [&](Value *element, int64_t count) {
    split(element, b.getElement(input.base, ElemKind::Float, element), count);
    if (count < image.getPart())
      b.ifThen(b.CreateICmpEQ(b.CreateNSWAdd(element, b.index(count)),
                              b.index(image.getPart())),
               [&] { clearSlack(); });
    else
      clearSlack();
  });
}

void SplitEmitter::emit() {
  bool hasPadding = image.rows != shape.height || image.columns != shape.width;
  int64_t inner = image.channels;
  bool isDense = !hasPadding && shape.padTop == 0 && shape.padLeft == 0 &&
                 shape.strideH == 1 && shape.strideW == 1;
  for (int d = 2; d >= 0 && isDense; --d) {
    int64_t extent = d == 2 ? image.columns : d == 1 ? image.rows : image.batch;
    isDense = extent == 1 || input.strides[d] == inner;
    inner *= extent;
  }
  if (isDense)
    return emitDense();
  b.forTasks(image.phasesH * image.phasesW * image.batch * image.rows,
             8 * image.getPart(), [&](Value *task) { emitRow(task); });
}

void glowish::emitSplitImage(KernelBuilder &b, const ConvolutionShape &shape,
                             const SplitImage &image, Value *result,
                             StridedOperand input) {
  SplitEmitter(b, shape, image, result, std::move(input)).emit();
}
