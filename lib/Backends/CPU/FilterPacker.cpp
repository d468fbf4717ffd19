//===- FilterPacker.cpp - Weights in the order of their kernels -----------===//

#include "FilterPacker.h"
#include "Instrs.h"
#include "Kernels/SplitImage.h"
#include <cstring>

using namespace glowish;

void FilterPacker::invalidate(const Instruction &instr) {
  for (unsigned i = 0; i < instr.getNumOperands(); ++i)
    if (const Buffer *buffer = instr.getOperand(i); buffer && instr.writes(i))
      packed.erase(buffer->getRoot());
}

Buffer *FilterPacker::getDense(Buffer *buffer, Instruction &user) {
  Buffer *&dense = packed[buffer->getRoot()][buffer].dense;
  if (!dense) {
    dense = function.createActivation(buffer->getName(), buffer->getType());
    function.create(buffer->getName(), CopyInstr::draft(dense, buffer), &user);
  }
  return dense;
}

Buffer *FilterPacker::createConstant(const Anchor &anchor, Tensor tensor) {
  return function.createConstant(
      anchor.filter->getName(),
      std::make_shared<const Tensor>(std::move(tensor)));
}

Buffer *FilterPacker::viewFilter(const Anchor &anchor, DimsRef shape,
                                 int64_t offset, DimsRef strides) {
  return function.createView(anchor.filter->getName(), anchor.filter,
                             anchor.filter->getType().withShape(shape),
                             anchor.filter->getOffset() + offset, strides);
}

/// The filter's digits and scales.
FilterPacker::SplitFilter
FilterPacker::getSplit(const Anchor &anchor, const ConvolutionShape &shape) {
  SplitFilter &result = getPacked(anchor).split;
  if (result.digits)
    return result;
  DimsRef strides = DimsRef(anchor.filterStrides).drop_front();
  if (isConstant(*anchor.filter)) {
    const auto *weights =
        reinterpret_cast<const float *>(anchor.filter->getTensor().getBytes());
    SplitWeights split = splitWeights(shape, weights, strides);
    result.digits = createConstant(anchor, std::move(split.digits));
    result.scales = createConstant(anchor, std::move(split.scales));
    return result;
  }
  Dims weights = {shape.kernelH, shape.kernelW, shape.channels,
                  shape.outChannels};
  llvm::StringRef name = anchor.filter->getName();
  result.digits = function.createActivation(
      name, Type(ElemKind::Int8, {getSplitSize(weights)}));
  result.scales = function.createActivation(
      name, Type(ElemKind::Float, {shape.outChannels}));
  auto draft = CPUSplitWeightsInstr::draft(
      result.digits, result.scales, viewFilter(anchor, weights, 0, strides));
  function.create(name, std::move(draft), &anchor.instr);
  return result;
}

Buffer *FilterPacker::getWinograd(const Anchor &anchor,
                                  const ConvolutionShape &shape,
                                  const ConvolutionChoice &choice) {
  auto [height, width] = choice.size;
  Buffer *&result = getPacked(anchor).winograd[{height, width, choice.block}];
  if (!result) {
    const auto *weights =
        reinterpret_cast<const float *>(anchor.filter->getTensor().getBytes());
    result = createConstant(
        anchor,
        glowish::packWinograd(shape, choice.size, choice.block, weights,
                              DimsRef(anchor.filterStrides).drop_front()));
  }
  return result;
}

//===- Blocks -------------------------------------------------------------===//

Tensor FilterPacker::packConstant(const Anchor &anchor,
                                  const ConvolutionShape &shape,
                                  unsigned block) {
  const Tensor &filter = anchor.filter->getTensor();
  ElemKind kind = filter.getType().getKind();
  size_t size = getElemSize(kind);
  WeightLayout layout = getPackedLayout(shape, block);
  Tensor tensor(Type(kind, {getPackedSize(shape, block)}));
  auto *source = static_cast<const uint8_t *>(filter.getBytes());
  auto *target = static_cast<uint8_t *>(tensor.getBytes());
  int64_t depth = shape.getGroupChannels();
  for (int64_t g = 0; g < shape.group; ++g)
    for (int64_t n = 0; n < shape.getGroupOutChannels(); ++n)
      for (int64_t kh = 0; kh < shape.kernelH; ++kh)
        for (int64_t kw = 0; kw < shape.kernelW; ++kw)
          for (int64_t c = 0; c < depth; ++c) {
            const Dims &s = anchor.filterStrides;
            int64_t from =
                g * s[0] + kh * s[1] + kw * s[2] + c * s[3] + n * s[4];
            int64_t to =
                g * layout.groupStride + n / block * layout.blockStride +
                ((kh * shape.kernelW + kw) * depth + c) * layout.rowStride +
                n % block;
            std::memcpy(target + to * size, source + from * size, size);
          }
  return tensor;
}

/// The same at run time: one copy for whole blocks and one for the last, which
/// zeros fill up: what lies in memory could be slow to compute with.
void FilterPacker::copyToBlocks(const Anchor &anchor,
                                const ConvolutionShape &shape, unsigned block,
                                Buffer *result) {
  WeightLayout layout = getPackedLayout(shape, block);
  int64_t depth = shape.getGroupChannels();
  auto viewBlocks = [&](DimsRef extents, int64_t offset) {
    Dims to = {layout.groupStride,
               layout.blockStride,
               shape.kernelW * depth * layout.rowStride,
               depth * layout.rowStride,
               layout.rowStride,
               1};
    return function.createView(result->getName(), result,
                               result->getType().withShape(extents), offset,
                               to);
  };
  auto copy = [&](int64_t first, int64_t blocks, int64_t columns) {
    if (blocks == 0 || columns == 0)
      return;
    Dims extents = {shape.group,   blocks, shape.kernelH,
                    shape.kernelW, depth,  columns};
    const Dims &s = anchor.filterStrides;
    Dims from = {s[0], int64_t(block) * s[4], s[1], s[2], s[3], s[4]};
    Buffer *target = viewBlocks(extents, first * layout.blockStride);
    Buffer *source = viewFilter(anchor, extents, first * block * s[4], from);
    function.create(anchor.filter->getName(), CopyInstr::draft(target, source),
                    &anchor.instr);
  };
  int64_t whole = shape.getGroupOutChannels() / block;
  int64_t rest = shape.getGroupOutChannels() % block;
  copy(0, whole, block);
  copy(whole, 1, rest);
  if (rest == 0)
    return;
  Buffer *unused = viewBlocks(
      {shape.group, 1, shape.kernelH, shape.kernelW, depth, block - rest},
      whole * layout.blockStride + rest);
  function.create(anchor.filter->getName(), FillInstr::draft(unused, 0.0),
                  &anchor.instr);
}

Buffer *FilterPacker::getBlocks(const Anchor &anchor,
                                const ConvolutionShape &shape, unsigned block) {
  Buffer *&result = getPacked(anchor).blocks[{shape.group, block}];
  if (result)
    return result;
  if (isConstant(*anchor.filter))
    return result = createConstant(anchor, packConstant(anchor, shape, block));
  result = function.createActivation(
      anchor.filter->getName(),
      anchor.filter->getType().withShape({getPackedSize(shape, block)}));
  copyToBlocks(anchor, shape, block, result);
  return result;
}
