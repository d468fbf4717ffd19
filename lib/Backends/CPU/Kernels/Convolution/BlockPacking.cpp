//===- BlockPacking.cpp - Weights in blocks of output channels ------------===//

#include "Kernels/Convolution/BlockPacking.h"
#include <cstring>

using namespace glowish;

static Tensor packConstant(const FilterSource &source, unsigned block) {
  const Tensor &filter = source.filter->getTensor();
  const ConvolutionShape &shape = source.shape;
  ElemKind kind = filter.getType().getKind();
  size_t size = getElemSize(kind);
  WeightLayout layout = getPackedLayout(shape, block);
  Tensor tensor(Type(kind, {getPackedSize(shape, block)}));
  auto *from = static_cast<const uint8_t *>(filter.getBytes());
  auto *to = static_cast<uint8_t *>(tensor.getBytes());
  int64_t depth = shape.getGroupChannels();
  source.forEachWeight([&](const WeightIndex &at, int64_t element) {
    int64_t packed =
        at.g * layout.groupStride + at.n / block * layout.blockStride +
        ((at.kh * shape.kernelW + at.kw) * depth + at.c) * layout.rowStride +
        at.n % block;
    std::memcpy(to + packed * size, from + element * size, size);
  });
  return tensor;
}

/// The same at run time: one copy for whole blocks and one for the last, which
/// zeros fill up: what lies in memory could be slow to compute with.
static void copyToBlocks(const FilterSource &source, unsigned block,
                         Buffer *result) {
  const ConvolutionShape &shape = source.shape;
  WeightLayout layout = getPackedLayout(shape, block);
  int64_t depth = shape.getGroupChannels();
  auto viewBlocks = [&](DimsRef extents, int64_t offset) {
    Dims to = {layout.groupStride,
               layout.blockStride,
               shape.kernelW * depth * layout.rowStride,
               depth * layout.rowStride,
               layout.rowStride,
               1};
    return source.function.createView(result->getName(), result,
                                      result->getType().withShape(extents),
                                      offset, to);
  };
  auto copy = [&](int64_t first, int64_t blocks, int64_t columns) {
    if (blocks == 0 || columns == 0)
      return;
    Dims extents = {shape.group,   blocks, shape.kernelH,
                    shape.kernelW, depth,  columns};
    const Dims &s = source.strides;
    Dims from = {s[0], int64_t(block) * s[4], s[1], s[2], s[3], s[4]};
    Buffer *to = viewBlocks(extents, first * layout.blockStride);
    Buffer *view = source.createView(extents, first * block * s[4], from);
    source.createInstr(CopyInstr::draft(to, view));
  };
  int64_t whole = shape.getGroupOutChannels() / block;
  int64_t rest = shape.getGroupOutChannels() % block;
  copy(0, whole, block);
  copy(whole, 1, rest);
  if (rest == 0)
    return;
  Buffer *padding = viewBlocks(
      {shape.group, 1, shape.kernelH, shape.kernelW, depth, block - rest},
      whole * layout.blockStride + rest);
  source.createInstr(FillInstr::draft(padding, 0.0));
}

Buffer *glowish::packBlocks(const FilterSource &source, unsigned block) {
  if (source.isConstant())
    return source.createConstant(packConstant(source, block));
  Buffer *result = source.createActivation(
      source.filter->getType().withShape({getPackedSize(source.shape, block)}));
  copyToBlocks(source, block, result);
  return result;
}
