//===- ReductionConvolution.cpp - Sums over lanes -------------------------===//

#include "Kernels/Reduction/ReductionConvolution.h"
#include "Kernels/Epilogue.h"
#include "Kernels/Math/DotInstrs.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using llvm::Value;

static constexpr ElemKind sumKind = ElemKind::Int32;
static constexpr int64_t lanes = ReductionWeights::lanes;
static constexpr int64_t blockChannels = ReductionWeights::blockChannels;

//===- Sizes --------------------------------------------------------------===//

ReductionWeights::ReductionWeights(const ConvolutionShape &shape)
    : RowWeights(shape, blockChannels) {
  int64_t length = shape.getGroupChannels() * shape.kernelW / segments;
  vectors = length / lanes;
  int64_t left = length % lanes;
  lastLanes = left == 0 ? 0 : left <= 4 ? 4 : left <= 8 ? 8 : 16;
  segmentBytes = channels * (vectors * lanes + lastLanes);
}

int64_t ReductionWeights::getPlace(int64_t group, int64_t n, int64_t kh,
                                   int64_t segment, int64_t element) const {
  int64_t vector = element / lanes;
  int64_t own = vector < vectors ? lanes : lastLanes;
  return (group * blocks + n / channels) * getBlockBytes() +
         (kh * segments + segment) * segmentBytes + vector * channels * lanes +
         n % channels * own + element % lanes;
}

/// Eight sums are as many as there are registers for: those with even numbers.
int64_t glowish::chooseReductionPixels(const ConvolutionShape &shape) {
  int64_t width = shape.outWidth;
  // The pixels of 1x1 kernels mostly are one row.
  if (shape.kernelH == 1 && shape.kernelW == 1)
    width *= shape.outHeight;
  return width > 1 ? 2 : 1;
}

double glowish::estimateReductionInstructions(const ConvolutionShape &shape,
                                              int64_t pixels) {
  ReductionWeights weights(shape);
  double vectors = double(shape.kernelH * weights.segments *
                          (weights.vectors + (weights.lastLanes ? 1 : 0)));
  double tiles = double(shape.group * weights.blocks) *
                 double(shape.batch * shape.outHeight * shape.outWidth) /
                 double(pixels);
  // The last term is for what makes a vector of the sums.
  return tiles *
         (vectors * double(pixels + blockChannels + pixels * blockChannels) +
          3 * double(pixels));
}

/// Vectors may reach behind the last element.
static RowsLayout getLayout(const ConvolutionShape &shape, int64_t columns) {
  return RowsLayout(shape, ElemKind::Int8, shape.getGroupChannels(), columns,
                    /*reach=*/lanes - 1);
}

int64_t glowish::chooseReductionColumns(const ConvolutionShape &shape,
                                        int64_t pixels,
                                        const TargetDescription &target) {
  constexpr int64_t usualBytes = 4 << 10;
  return chooseRowColumns(
      shape, pixels, usualBytes, target,
      [&](int64_t columns) { return getLayout(shape, columns); });
}

//===- The rows -----------------------------------------------------------===//

namespace {

/// Rows of 8-bit integers as int8. Those of uint8 are less by 128, which is
/// another bit of the sign.
class SignedRows final : public WindowRows {
public:
  SignedRows(KernelBuilder &b, const ConvolutionShape &shape,
             const StridedOperand &input, Value *zeroPoint,
             const RowsLayout &layout)
      : WindowRows(b, shape, input, layout),
        flips(!isSignedIntegerKind(input.kind)) {
    filling = zeroPoint ? b.load(input.kind, zeroPoint, 1)
                        : b.literal(input.kind, 0, 1);
    filling = flip(filling);
  }

private:
  Value *flip(Value *value) {
    return flips ? b.CreateXor(value,
                               llvm::ConstantInt::get(value->getType(), 0x80))
                 : value;
  }
  void copyRun(Value *from, Value *to, Value *count) override;
  void fillColumn(Value *address) override;

  bool flips;
  Value *filling;
};

} // namespace

void SignedRows::copyRun(Value *from, Value *to, Value *count) {
  auto copy = [&](Value *i, unsigned number) {
    Value *bytes =
        b.load(input.kind, b.getElement(from, input.kind, i), number);
    b.store(ElemKind::Int8, flip(bytes), b.getElement(to, ElemKind::Int8, i));
  };
  Value *whole = b.CreateAnd(count, b.index(-lanes));
  b.forLoop(b.index(0), whole, lanes, [&](Value *i) { copy(i, lanes); });
  b.forLoop(whole, count, 1, [&](Value *i) { copy(i, 1); });
}

void SignedRows::fillColumn(Value *address) {
  b.forVectors(layout.columnStride, lanes, [&](Value *i, unsigned number) {
    b.store(ElemKind::Int8, b.splat(filling, number),
            b.getElement(address, ElemKind::Int8, i));
  });
}

//===- The kernel ---------------------------------------------------------===//

namespace {

class ReductionEmitter final : public RowTiles {
public:
  ReductionEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                   int64_t pixels, int64_t columns, ConvolutionOperands taken)
      : RowTiles(b, shape, pixels, columns, std::move(taken), weights,
                 getLayout(shape, columns)),
        weights(shape),
        rows(b, this->shape, operands.input, operands.zeroPoint, layout) {}

private:
  WindowRows &getRows() override { return rows; }
  void emitTile(const Strip &strip, const Block &block, Value *first,
                int64_t own) override;
  Values addSegment(Value *pixel, Value *segmentWeights, int64_t own,
                    Values sums) override;
  void addVector(Value *pixel, Value *vectorWeights, int64_t own,
                 unsigned number, Values &sums);

  ReductionWeights weights;
  SignedRows rows;
};

} // namespace

/// Adds the products of \p number elements of each of \p own pixels.
void ReductionEmitter::addVector(Value *pixel, Value *vectorWeights,
                                 int64_t own, unsigned number, Values &sums) {
  auto loadBytes = [&](Value *base, int64_t element) {
    return b.load(ElemKind::Int8, b.getElement(base, ElemKind::Int8, element),
                  number);
  };
  Values elements;
  for (int64_t p = 0; p < own; ++p)
    elements.push_back(
        loadBytes(pixel, p * shape.strideW * layout.columnStride));
  for (int64_t c = 0; c < blockChannels; ++c) {
    Value *channelWeights = loadBytes(vectorWeights, c * number);
    for (int64_t p = 0; p < own; ++p) {
      Value *&sum = sums[size_t(p * blockChannels + c)];
      sum = emitDotReduction(b, sum, elements[size_t(p)], channelWeights);
    }
  }
}

Values ReductionEmitter::addSegment(Value *pixel, Value *segmentWeights,
                                    int64_t own, Values sums) {
  sums.append({pixel, segmentWeights});
  sums = b.forLoop(b.index(0), b.index(weights.vectors), 1, sums,
                   [&](Value *, llvm::ArrayRef<Value *> carried) {
                     Values current(carried.drop_back(2));
                     Value *x = carried.drop_back().back(), *w = carried.back();
                     addVector(x, w, own, lanes, current);
                     current.append({b.getElement(x, ElemKind::Int8, lanes),
                                     b.getElement(w, ElemKind::Int8,
                                                  lanes * blockChannels)});
                     return current;
                   });
  segmentWeights = sums.pop_back_val();
  pixel = sums.pop_back_val();
  if (weights.lastLanes)
    addVector(pixel, segmentWeights, own, unsigned(weights.lastLanes), sums);
  return sums;
}

void ReductionEmitter::emitTile(const Strip &strip, const Block &block,
                                Value *first, int64_t own) {
  Values sums(size_t(own * blockChannels), b.literal(sumKind, 0, 1));
  constexpr int64_t fewRows = 3;
  bool isShort =
      weights.vectors <= 1 && weights.segments == 1 && shape.kernelH <= fewRows;
  sums = addRows(block, first, own, isShort, std::move(sums));
  unsigned channels = unsigned(block.channels);
  for (int64_t p = 0; p < own; ++p) {
    Value *vector =
        llvm::PoisonValue::get(b.getComputeTy(sumKind, blockChannels));
    for (int64_t c = 0; c < blockChannels; ++c)
      vector = b.CreateInsertElement(
          vector, sums[size_t(p * blockChannels + c)], uint64_t(c));
    if (operands.bias) {
      Value *bias =
          b.load(sumKind, b.getElement(operands.bias, sumKind, block.channel),
                 channels);
      vector = b.CreateAdd(vector, b.widen(bias, blockChannels));
    }
    Value *column =
        b.CreateNSWAdd(b.CreateNSWAdd(strip.column, first), b.index(p));
    storeResult(b, operands.result, operands.epilogue,
                {strip.batch, strip.row, column, block.channel}, vector,
                channels);
  }
}

void glowish::emitReductionConvolution(KernelBuilder &b, ConvolutionShape shape,
                                       int64_t pixels,
                                       ConvolutionOperands operands) {
  collapsePointwise(shape, operands);
  int64_t columns = chooseReductionColumns(shape, pixels, b.getTarget());
  ReductionEmitter(b, shape, pixels, columns, std::move(operands)).emit();
}
