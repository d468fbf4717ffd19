//===- SplitConvolution.cpp - Convolution on bfloat16 matrix units --------===//
//
// Pixels are counted along the padded rows of the split image, so that every
// tap of the kernel reads a tile of pixels at a constant shift; the few pixels
// between two rows are computed and dropped. A tile has two registers of pixels
// by two of output channels. For each step of the reduction, the parts
// are loaded and the products of the parts are added to four sums.
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"
#include "SplitImage.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

using namespace glowish;
using llvm::Value;

namespace {

/// The tile registers and what is in them.
enum : unsigned { SumRegister = 0, PixelRegister = 4, WeightRegister = 6 };

constexpr int64_t registerBytes = matrixRows * matrixColumns * 4;
constexpr int64_t partSize = 2; // bytes of a bfloat16

class SplitConvolutionEmitter {
public:
  SplitConvolutionEmitter(KernelBuilder &b, const ConvolutionShape &shape,
                          const SplitImage &image, StridedOperand result,
                          Value *planes, Value *weights, Value *bias,
                          EpilogueCode epilogue)
      : b(b), shape(shape), image(image), result(std::move(result)),
        planes(planes), weights(weights), bias(bias),
        epilogue(std::move(epilogue)),
        reduction(SplitReduction::forShape(shape)),
        steps(reduction.getSteps(shape)) {}
  void emit();

private:
  /// Output channels that are computed together, and the tiles that are.
  struct Block {
    Value *channel, *weights; // the first ones
    int64_t channels;
    int64_t getRegisters() const {
      return (channels + matrixColumns - 1) / matrixColumns;
    }
  };
  struct Tile {
    Value *image, *pixel; // the first one's number in the image
    Value *number;        // among the block's tiles
    int64_t pixels;
    int64_t getRegisters() const {
      return (pixels + matrixRows - 1) / matrixRows;
    }
  };

  void configure();
  void emitTask(Value *task);
  void emitBlock(const Block &block, Value *image, Value *low, Value *high);
  void emitTile(const Block &block, const Tile &tile);
  void emitReduction(const Block &block, const Tile &tile);
  void emitSteps(const Block &block, const Tile &tile, Value *pixels,
                 Value *step);
  void emitPixel(const Block &block, const Tile &tile, Value *row);
  void emitPixelAt(const Block &block, llvm::ArrayRef<Value *> index,
                   Value *row);
  void call(llvm::Intrinsic::ID id, llvm::ArrayRef<Value *> args) {
    b.CreateIntrinsic(id, {}, args);
  }
  void load(unsigned number, Value *base, int64_t bytes, int64_t stride) {
    call(llvm::Intrinsic::x86_tileloadd64,
         {b.getInt8(number),
          b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, bytes),
          b.getInt64(stride)});
  }

  KernelBuilder &b;
  ConvolutionShape shape;
  SplitImage image;
  StridedOperand result;
  Value *planes, *weights, *bias;
  EpilogueCode epilogue;
  SplitReduction reduction;
  int64_t steps;
  /// Whether all images are one long row of pixels without padding, and whether
  /// the result is one as well.
  bool isFlat = false, isResultFlat = false;
  int64_t images = 0, pixelsPerImage = 0, tiles = 0, chunk = 0, blocks = 0;
  Value *sums = nullptr; // where a tile's sums are stored
};

} // namespace

/// All registers have 16 rows of 64 bytes.
void SplitConvolutionEmitter::configure() {
  llvm::SmallVector<uint8_t, 64> bytes(64, 0);
  bytes[0] = 1;
  for (unsigned i = 0; i < 8; ++i) {
    bytes[16 + 2 * i] = 64;
    bytes[48 + i] = matrixRows;
  }
  llvm::Module *module = b.getFunction().getParent();
  llvm::StringRef name = "tile_configuration";
  llvm::GlobalVariable *global = module->getGlobalVariable(name, true);
  if (!global) {
    auto *data = llvm::ConstantDataArray::get(b.getContext(), bytes);
    global = new llvm::GlobalVariable(
        *module, data->getType(),
        /*isConstant=*/true, llvm::GlobalValue::InternalLinkage, data, name);
    global->setAlignment(llvm::Align(64));
  }
  call(llvm::Intrinsic::x86_ldtilecfg, {global});
}

/// Step \p step of the packed weights against the elements at \p pixels.
void SplitConvolutionEmitter::emitSteps(const Block &block, const Tile &tile,
                                        Value *pixels, Value *step) {
  int64_t stride = image.channels * partSize;
  int64_t columns = block.getRegisters(), rows = tile.getRegisters();
  Value *stepWeights = b.CreateInBoundsGEP(
      b.getInt8Ty(), block.weights,
      b.addScaled(b.index(0), step, getSplitStepSize(columns) * partSize));
  auto loadPixels = [&](int64_t part) {
    for (int64_t r = 0; r < rows; ++r)
      load(PixelRegister + r, pixels,
           part * image.getPart() * partSize + r * matrixRows * stride, stride);
  };
  auto loadWeights = [&](int64_t part) {
    for (int64_t c = 0; c < columns; ++c)
      load(WeightRegister + c, stepWeights,
           (part * columns + c) * registerBytes, 64);
  };
  auto multiply = [&] {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        call(llvm::Intrinsic::x86_tdpbf16ps,
             {b.getInt8(SumRegister + 2 * r + c), b.getInt8(PixelRegister + r),
              b.getInt8(WeightRegister + c)});
  };
  // The pairs of parts in an order in which mostly one of the two changes.
  constexpr std::array<std::array<int64_t, 2>, 6> pairs = {
      {{1, 1}, {1, 0}, {2, 0}, {0, 0}, {0, 1}, {0, 2}}};
  std::array<int64_t, 2> loaded = {-1, -1};
  for (auto [pixelPart, weightPart] : pairs) {
    if (pixelPart != loaded[0])
      loadPixels(pixelPart);
    if (weightPart != loaded[1])
      loadWeights(weightPart);
    loaded = {pixelPart, weightPart};
    multiply();
  }
  // Where weights pass through the cache, each tile asks for a share of the
  // next block's.
  int64_t stepBytes = getSplitStepSize(columns) * partSize;
  if (chunk != tiles ||
      steps * stepBytes * blocks <= b.getTarget().cacheBytes / 2)
    return;
  int64_t lines = (stepBytes / 64 + tiles - 1) / tiles;
  Value *next = b.addScaled(
      b.addScaled(b.index(steps * stepBytes), tile.number, steps * lines * 64),
      step, lines * 64);
  for (int64_t i = 0; i < lines; ++i)
    b.prefetch(b.CreateConstInBoundsGEP1_64(
        b.getInt8Ty(), b.CreateGEP(b.getInt8Ty(), block.weights, next),
        i * 64));
}

void SplitConvolutionEmitter::emitReduction(const Block &block,
                                            const Tile &tile) {
  int64_t rowSize = image.columns * image.channels;
  Value *first =
      b.addScaled(b.addScaled(b.index(0), tile.image, image.rows * rowSize),
                  tile.pixel, image.channels);
  int64_t stepsPerRun = reduction.getStepsPerRun();
  auto emitRun = [&](Value *element, Value *run) {
    b.forLoop(stepsPerRun, [&](Value *i) {
      Value *pixels = b.getElement(planes, ElemKind::BFloat16,
                                   b.addScaled(element, i, matrixDepth));
      emitSteps(block, tile, pixels, b.addScaled(i, run, stepsPerRun));
    });
  };
  if (image.phasesH == 1 && reduction.runsPerRow == 1) {
    int64_t shift = shape.dilationH / shape.strideH * rowSize;
    b.forLoop(shape.kernelH,
              [&](Value *kh) { emitRun(b.addScaled(first, kh, shift), kh); });
    return;
  }
  for (int64_t kh = 0; kh < shape.kernelH; ++kh)
    for (int64_t run = 0; run < reduction.runsPerRow; ++run) {
      int64_t y = kh * shape.dilationH, x = run * shape.dilationW;
      int64_t phase = y % shape.strideH * image.phasesW + x % shape.strideW;
      int64_t shift = phase * image.getSubImage() +
                      y / shape.strideH * rowSize +
                      x / shape.strideW * image.channels;
      emitRun(b.CreateNSWAdd(first, b.index(shift)),
              b.index(kh * reduction.runsPerRow + run));
    }
}

/// Takes row \p row of the stored sums through the epilogue.
void SplitConvolutionEmitter::emitPixelAt(const Block &block,
                                          llvm::ArrayRef<Value *> index,
                                          Value *row) {
  for (int64_t c = 0; c < block.channels; c += matrixColumns) {
    unsigned lanes =
        unsigned(std::min<int64_t>(matrixColumns, block.channels - c));
    Value *channel = b.CreateNSWAdd(block.channel, b.index(c));
    Value *sum = b.load(
        ElemKind::Float,
        b.getElement(sums, ElemKind::Float,
                     b.CreateNSWAdd(b.addScaled(b.index(0), row, splitChannels),
                                    b.index(c))),
        lanes);
    if (bias)
      sum = b.CreateFAdd(
          sum, b.load(ElemKind::Float,
                      b.getElement(bias, ElemKind::Float, channel), lanes));
    storeResult(b, result, epilogue, {index[0], index[1], index[2], channel},
                sum, lanes);
  }
}

void SplitConvolutionEmitter::emitPixel(const Block &block, const Tile &tile,
                                        Value *row) {
  Value *zero = b.index(0);
  Value *pixel = b.CreateNSWAdd(tile.pixel, row);
  if (isResultFlat)
    return emitPixelAt(block, {zero, zero, pixel}, row);
  Value *columns = b.index(image.columns);
  Value *x = b.CreateURem(pixel, columns), *y = b.CreateUDiv(pixel, columns);
  if (isFlat) {
    Value *rows = b.index(image.rows);
    return emitPixelAt(block, {b.CreateUDiv(y, rows), b.CreateURem(y, rows), x},
                       row);
  }
  if (image.columns == shape.outWidth)
    return emitPixelAt(block, {tile.image, y, x}, row);
  b.ifThen(b.CreateICmpULT(x, b.index(shape.outWidth)),
           [&] { emitPixelAt(block, {tile.image, y, x}, row); });
}

void SplitConvolutionEmitter::emitTile(const Block &block, const Tile &tile) {
  int64_t rows = tile.getRegisters(), columns = block.getRegisters();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      call(llvm::Intrinsic::x86_tilezero, {b.getInt8(SumRegister + 2 * r + c)});
  emitReduction(block, tile);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      call(llvm::Intrinsic::x86_tilestored64,
           {b.getInt8(SumRegister + 2 * r + c),
            b.getElement(sums, ElemKind::Float,
                         r * matrixRows * splitChannels + c * matrixColumns),
            b.getInt64(splitChannels * 4)});
  b.forUnrolled(tile.pixels, isResultFlat ? 4 : 1, {},
                [&](Value *row, llvm::ArrayRef<Value *>) {
                  emitPixel(block, tile, row);
                  return Values();
                });
}

/// Tiles \p low ... \p high - 1 of an image.
void SplitConvolutionEmitter::emitBlock(const Block &block, Value *image,
                                        Value *low, Value *high) {
  int64_t whole = pixelsPerImage / splitPixels;
  int64_t left = pixelsPerImage % splitPixels;
  b.forLoop(low, b.minIndex(high, b.index(whole)), 1, [&](Value *number) {
    emitTile(block, {image, b.addScaled(b.index(0), number, splitPixels),
                     number, splitPixels});
  });
  if (!left)
    return;
  auto emitLast = [&] {
    emitTile(block,
             {image, b.index(whole * splitPixels), b.index(whole), left});
  };
  if (chunk == tiles)
    return emitLast();
  b.ifThen(b.CreateICmpEQ(high, b.index(tiles)), emitLast);
}

/// Task: (image * chunks + chunk) * blocks + block.
void SplitConvolutionEmitter::emitTask(Value *task) {
  auto split = [&](Value *value, int64_t extent) -> std::array<Value *, 2> {
    if (extent == 1)
      return {value, b.index(0)};
    return {b.CreateUDiv(value, b.index(extent)),
            b.CreateURem(value, b.index(extent))};
  };
  int64_t chunks = (tiles + chunk - 1) / chunk;
  auto [outer, number] = split(task, blocks);
  auto [imageNumber, chunkNumber] = split(outer, chunks);
  if (images == 1)
    imageNumber = b.index(0);
  Value *low = b.addScaled(b.index(0), chunkNumber, chunk);
  Value *high = b.minIndex(b.CreateNSWAdd(low, b.index(chunk)), b.index(tiles));
  int64_t blockBytes = steps * getSplitStepSize(2) * partSize;
  Block block = {
      b.addScaled(b.index(0), number, splitChannels),
      b.CreateInBoundsGEP(b.getInt8Ty(), weights,
                          b.addScaled(b.index(0), number, blockBytes)),
      splitChannels};
  int64_t whole = shape.outChannels / splitChannels;
  int64_t left = shape.outChannels % splitChannels;
  if (!left)
    return emitBlock(block, imageNumber, low, high);
  Block last = block;
  last.channels = left;
  if (whole == 0)
    return emitBlock(last, imageNumber, low, high);
  Value *isWhole = b.CreateICmpULT(number, b.index(whole));
  b.ifThen(isWhole, [&] { emitBlock(block, imageNumber, low, high); });
  b.ifThen(b.CreateNot(isWhole),
           [&] { emitBlock(last, imageNumber, low, high); });
}

void SplitConvolutionEmitter::emit() {
  isFlat = shape.kernelH == 1 && shape.kernelW == 1;
  images = isFlat ? 1 : image.batch;
  pixelsPerImage = isFlat
                       ? image.batch * image.rows * image.columns
                       : (shape.outHeight - 1) * image.columns + shape.outWidth;
  if (isFlat) {
    std::vector<StridedOperand *> operands = {&result};
    for (StridedOperand &operand : epilogue.fused)
      operands.push_back(&operand);
    isResultFlat = joinRows(shape, operands);
  }
  tiles = (pixelsPerImage + splitPixels - 1) / splitPixels;
  blocks = (shape.outChannels + splitChannels - 1) / splitChannels;
  chunk = chooseChunk(shape, ElemKind::Float, tiles, blocks, b.getTarget());

  auto *buffer = b.CreateAlloca(
      llvm::ArrayType::get(b.getFloatTy(), splitPixels * splitChannels));
  buffer->setAlignment(llvm::Align(64));
  sums = buffer;
  configure();
  int64_t chunks = (tiles + chunk - 1) / chunk;
  b.forTasks(images * chunks * blocks, getNumOperations(shape),
             [&](Value *task) { emitTask(task); });
  call(llvm::Intrinsic::x86_tilerelease, {});
}

void glowish::emitSplitConvolution(KernelBuilder &b,
                                   const ConvolutionShape &shape,
                                   const SplitImage &image,
                                   StridedOperand result, Value *planes,
                                   Value *weights, Value *bias,
                                   EpilogueCode epilogue) {
  SplitConvolutionEmitter(b, shape, image, std::move(result), planes, weights,
                          bias, std::move(epilogue))
      .emit();
}
