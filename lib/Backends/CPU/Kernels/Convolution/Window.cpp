//===- Window.cpp - Sliding windows with borders known statically ---------===//

#include "Kernels/Convolution/Window.h"

using namespace glowish;
using llvm::Value;

bool TileRun::isInterior() const {
  return llvm::all_of(
      taps, [&](const PixelRange &range) { return range.isWhole(pixels); });
}

bool TileRun::isUniform() const {
  return llvm::all_of(taps, [&](const PixelRange &range) {
    return range.empty() || range.isWhole(pixels);
  });
}

static std::vector<PixelRange> getTaps(const ConvolutionShape &shape,
                                       int64_t column, unsigned pixels) {
  std::vector<PixelRange> taps;
  for (int64_t kw = 0; kw < shape.kernelW; ++kw) {
    PixelRange range{pixels, 0};
    for (unsigned p = 0; p < pixels; ++p) {
      int64_t source =
          (column + p) * shape.strideW - shape.padLeft + kw * shape.dilationW;
      if (source < 0 || source >= shape.width)
        continue;
      range.first = std::min(range.first, p);
      range.end = p + 1;
    }
    taps.push_back(range);
  }
  return taps;
}

/// Returns how many tiles like \p tile, which is uniform, are behind one
/// another from it on. Rows and paddings may be long: the tiles are not checked
/// one by one.
static int64_t countLike(const TileRun &tile, const ConvolutionShape &shape) {
  // The first column from which on some tap is inside that was not, or is not
  // that was.
  int64_t end = shape.outWidth;
  for (auto [kw, range] : llvm::enumerate(tile.taps)) {
    int64_t offset = int64_t(kw) * shape.dilationW - shape.padLeft;
    int64_t firstOutside =
        std::max<int64_t>(shape.width - offset + shape.strideW - 1, 0) /
        shape.strideW;
    int64_t firstInside =
        std::max<int64_t>(shape.strideW - 1 - offset, 0) / shape.strideW;
    if (!range.empty())
      end = std::min(end, firstOutside);
    else if (firstInside >= tile.column && firstInside < firstOutside)
      end = std::min(end, firstInside);
  }
  return (end - tile.column) / tile.pixels;
}

Value *glowish::getEndColumn(KernelBuilder &b, const TileRun &run,
                             Value *needed) {
  Value *end = b.index(run.column + run.count * run.pixels);
  return needed ? b.minIndex(end, needed) : end;
}

std::vector<TileRun> glowish::splitRow(const ConvolutionShape &shape,
                                       unsigned pixels) {
  std::vector<TileRun> runs;
  for (int64_t column = 0; column < shape.outWidth;) {
    unsigned size =
        unsigned(std::min<int64_t>(pixels, shape.outWidth - column));
    TileRun run{column, size, 1, getTaps(shape, column, size)};
    if (run.isUniform())
      run.count = countLike(run, shape);
    assert(run.count > 0 && "a tile is like itself");
    column += run.count * size;
    runs.push_back(std::move(run));
  }
  return runs;
}

//===- Ranges of taps -----------------------------------------------------===//

namespace {
/// One side of windows.
struct WindowSide {
  int64_t extent, outExtent, kernel, stride, pad, dilation;
};
} // namespace

static TapRanges::Range getRange(const WindowSide &side, int64_t position) {
  auto isInside = [&](int64_t tap) {
    int64_t source = position * side.stride - side.pad + tap * side.dilation;
    return source >= 0 && source < side.extent;
  };
  TapRanges::Range range = {0, side.kernel};
  while (range.first < range.end && !isInside(range.first))
    ++range.first;
  while (range.end > range.first && !isInside(range.end - 1))
    --range.end;
  return range;
}

/// Appends to \p ranges those that occur besides that of all taps. Returns the
/// number of each position's.
static std::vector<int64_t>
numberRanges(const WindowSide &side, std::vector<TapRanges::Range> &ranges) {
  ranges.front() = {0, side.kernel};
  std::vector<int64_t> numbers;
  for (int64_t position = 0; position < side.outExtent; ++position) {
    TapRanges::Range range = getRange(side, position);
    auto found = llvm::find(ranges, range);
    numbers.push_back(found - ranges.begin());
    if (found == ranges.end())
      ranges.push_back(range);
  }
  return numbers;
}

TapRanges::TapRanges(const ConvolutionShape &shape)
    : rowNumbers(numberRanges({shape.height, shape.outHeight, shape.kernelH,
                               shape.strideH, shape.padTop, shape.dilationH},
                              rows)),
      columnNumbers(
          numberRanges({shape.width, shape.outWidth, shape.kernelW,
                        shape.strideW, shape.padLeft, shape.dilationW},
                       columns)) {}

Value *TapRanges::getRow(KernelBuilder &b, Value *row) const {
  return rows.size() == 1 ? b.index(0) : b.lookUp<int64_t>(rowNumbers, row);
}

Value *TapRanges::getPair(KernelBuilder &b, Value *row, const TileRun &run,
                          unsigned pixel) const {
  // Tiles that are repeated have the same taps.
  int64_t column = columns.size() == 1 || run.isInterior()
                       ? 0
                       : columnNumbers[run.column + pixel];
  return b.addScaled(b.index(column), row, int64_t(columns.size()));
}

Value *TapRanges::getPairAt(KernelBuilder &b, Value *row, Value *column) const {
  Value *number = columns.size() == 1
                      ? b.index(0)
                      : b.lookUp<int64_t>(columnNumbers, column);
  return b.addScaled(number, getRow(b, row), int64_t(columns.size()));
}

//===- Rows of the kernel -------------------------------------------------===//

KernelRows glowish::getKernelRows(KernelBuilder &b,
                                  const ConvolutionShape &shape,
                                  Value *outRow) {
  KernelRows rows;
  rows.firstRow = b.CreateNSWSub(b.scaleIndex(outRow, shape.strideH),
                                 b.index(shape.padTop));
  rows.low = b.index(0);
  rows.high = b.index(shape.kernelH);
  int64_t dilation = shape.dilationH;
  // Rounded up: the first kernel row at or below the image's edge.
  auto divideUp = [&](Value *distance) {
    if (dilation == 1)
      return distance;
    return b.CreateSDiv(b.CreateNSWAdd(distance, b.index(dilation - 1)),
                        b.index(dilation));
  };
  if (shape.padTop > 0) {
    Value *above = b.maxIndex(b.CreateNSWNeg(rows.firstRow), b.index(0));
    rows.low = b.minIndex(divideUp(above), rows.high);
  }
  int64_t lastRow = (shape.outHeight - 1) * shape.strideH - shape.padTop +
                    (shape.kernelH - 1) * dilation;
  if (lastRow >= shape.height) {
    Value *last = b.maxIndex(
        b.CreateNSWSub(b.index(shape.height), rows.firstRow), b.index(0));
    rows.high = b.maxIndex(b.minIndex(divideUp(last), rows.high), rows.low);
  }
  return rows;
}
