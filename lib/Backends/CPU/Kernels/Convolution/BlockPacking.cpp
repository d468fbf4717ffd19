//===- BlockPacking.cpp - Weights in blocks of output channels ------------===//

#include "Kernels/Convolution/BlockPacking.h"
#include "glowish/Base/TensorSource.h"
#include <cstring>

using namespace glowish;

/// Copies \p count elements of \p Size bytes that are \p stride elements apart.
template <size_t Size>
static void gatherElements(const uint8_t *from, int64_t stride, int64_t count,
                           uint8_t *to) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + size_t(i) * Size, from + i * stride * int64_t(Size), Size);
}

static void gather(size_t size, const uint8_t *from, int64_t stride,
                   int64_t count, uint8_t *to) {
  if (stride == 1)
    std::memcpy(to, from, size_t(count) * size);
  else if (size == 1)
    gatherElements<1>(from, stride, count, to);
  else if (size == 2)
    gatherElements<2>(from, stride, count, to);
  else if (size == 4)
    gatherElements<4>(from, stride, count, to);
  else if (size == 8)
    gatherElements<8>(from, stride, count, to);
  else
    llvm_unreachable("no element has this size");
}

/// Returns \p strides, in elements of a dense tensor of \p shape, as the
/// strides of its elements in a file; none where one is not of a single
/// dimension.
static std::optional<Dims> translate(DimsRef strides, DimsRef shape,
                                     const StoredElements::Layout &layout) {
  unsigned bits = getElemBits(layout.kind);
  if (layout.invertsSign || bits < 8)
    return std::nullopt;
  Dims dense = getDenseStrides(shape);
  Dims result;
  for (int64_t stride : strides) {
    std::optional<int64_t> found;
    for (auto [own, extent, stored] :
         llvm::zip_equal(dense, shape, layout.strides))
      if (own == stride && (extent > 1 || !found))
        found = stored;
    if (!found || *found % bits != 0)
      return std::nullopt;
    result.push_back(*found / bits);
  }
  return result;
}

namespace {

/// Weights in memory, and the strides of element (group, kh, kw, c, n).
struct PlacedWeights {
  /// Keeps a copy.
  Tensor copy;
  const uint8_t *bytes = nullptr;
  Dims strides;

  PlacedWeights(const Tensor &filter, DimsRef strides) : strides(strides) {
    if (auto found = filter.findBytes()) {
      bytes = found->data();
      return;
    }
    auto *stored = llvm::dyn_cast<StoredElements>(filter.getSource());
    if (stored && stored->getLayout().kind == filter.getType().getKind() &&
        DimsRef(stored->getLayout().extents) == filter.getType().getShape())
      if (auto own = translate(strides, filter.getType().getShape(),
                               stored->getLayout())) {
        bytes = stored->getLayout().stored.bytes.data();
        this->strides = *own;
        return;
      }
    copy = filter.clone();
    bytes = static_cast<const uint8_t *>(copy.getBytes());
  }
};

} // namespace

/// Packs \p filter, which may be in a file, row by row of the result, which can
/// be larger than the caches.
static void packConstant(const Tensor &filter, const ConvolutionShape &shape,
                         DimsRef strides, unsigned block, uint8_t *to) {
  ElemKind kind = filter.getType().getKind();
  int64_t size = int64_t(getElemSize(kind));
  WeightLayout layout = getPackedLayout(shape, block);
  PlacedWeights placed(filter, strides);
  const uint8_t *from = placed.bytes;
  int64_t depth = shape.getGroupChannels();
  int64_t outChannels = shape.getGroupOutChannels();
  const Dims &s = placed.strides;
  for (int64_t g = 0; g < shape.group; ++g)
    for (int64_t n = 0; n < outChannels; n += block)
      for (int64_t tap = 0; tap < shape.kernelH * shape.kernelW; ++tap)
        for (int64_t c = 0; c < depth; ++c) {
          int64_t element = g * s[0] + tap / shape.kernelW * s[1] +
                            tap % shape.kernelW * s[2] + c * s[3] + n * s[4];
          int64_t packed = g * layout.groupStride +
                           n / block * layout.blockStride +
                           (tap * depth + c) * layout.rowStride;
          gather(size_t(size), from + element * size, s[4],
                 std::min<int64_t>(block, outChannels - n), to + packed * size);
        }
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
  if (source.isConstant()) {
    std::vector<int64_t> key = source.getKey();
    key.push_back(block);
    return source.createPacked(Type(source.filter->getType().getKind(),
                                    {getPackedSize(source.shape, block)}),
                               "blocks", key,
                               [shape = source.shape, strides = source.strides,
                                block](const Tensor &filter, uint8_t *to) {
                                 packConstant(filter, shape, strides, block,
                                              to);
                               });
  }
  Buffer *result = source.createActivation(
      source.filter->getType().withShape({getPackedSize(source.shape, block)}));
  copyToBlocks(source, block, result);
  return result;
}
