//===- ConvTranspose.cpp - Lowering of transposed convolutions ------------===//
//
// With strides (sh, sw), the pixels of the result whose row has remainder a and
// whose column has remainder b depend on some of the kernel's taps only: an
// ordinary convolution with these taps in reverse order. The sh * sw
// results are put together by concatenations on new dimensions, which write in
// place. Remainders are counted from the first pixel that is left of the
// result, so that nothing is computed of what the padding cuts off before it.
// Those between two that a tap reaches are one part, filled with the bias:
// there are as many nodes as the kernel asks for, however long the strides.
//
//===----------------------------------------------------------------------===//

#include "Lowering/Lowering.h"
#include <numeric>
#include <set>

using namespace glowish;

namespace {

/// The ordinary convolution that computes the positions of one remainder along
/// one dimension: those of the uncropped result from \p first * stride +
/// \p remainder on.
struct OutputPhase {
  int64_t first = 0, remainder = 0;
  /// The taps, in reverse order: the first, how many, and how far apart.
  int64_t lastTap = 0, numTaps = 0, tapStep = 1;
  int64_t dilation = 1;
  /// The input's padding; negative ones crop.
  int64_t padBefore = 0, padAfter = 0;
};

class ConvTransposeLowering {
public:
  ConvTransposeLowering(ConvTransposeNode &root, RewriteContext &context)
      : root(root), context(context) {}
  NodeValue lower();

private:
  int64_t getNumPhases(unsigned d) const;
  int64_t getCount(unsigned d) const;
  std::set<int64_t> findReached(unsigned d) const;
  OutputPhase getPhase(unsigned d, int64_t number) const;
  NodeValue turnFilter();
  NodeValue crop(const OutputPhase &rows, const OutputPhase &columns);
  NodeValue emitPhase(NodeValue filter, const OutputPhase &rows,
                      const OutputPhase &columns);
  NodeValue fillWithBias(DimsRef sizes);
  template <typename Emit, typename Fill>
  NodeValue joinPhases(unsigned d, Emit emit, Fill fill);
  NodeValue emitBand(NodeValue filter, const OutputPhase &rows);

  ConvTransposeNode &root;
  RewriteContext &context;
};

} // namespace

/// The stride, or fewer where the result has not as many positions.
int64_t ConvTransposeLowering::getNumPhases(unsigned d) const {
  return std::min(root.getStrides()[d], root.getType().getShape()[d + 1]);
}

/// Positions of each phase. The last one may lie behind the result.
int64_t ConvTransposeLowering::getCount(unsigned d) const {
  int64_t phases = getNumPhases(d);
  return (root.getType().getShape()[d + 1] + phases - 1) / phases;
}

/// The numbers of the phases that have taps, ascending.
std::set<int64_t> ConvTransposeLowering::findReached(unsigned d) const {
  int64_t stride = root.getStrides()[d], dilation = root.getDilations()[d];
  int64_t skipped = root.getPads()[d] % stride;
  // Those of further taps are the same again.
  int64_t numTaps = std::min(root.getFilter().getShape()[d + 1],
                             stride / std::gcd(stride, dilation));
  std::set<int64_t> reached;
  for (int64_t tap = 0; tap < numTaps; ++tap)
    if (int64_t number = (tap * dilation % stride - skipped + stride) % stride;
        number < getNumPhases(d))
      reached.insert(number);
  return reached;
}

/// Position q * stride + remainder gets input (q - t) by tap k for all k with
/// k * dilation = t * stride + remainder. One of them is a tap of the kernel.
OutputPhase ConvTransposeLowering::getPhase(unsigned d, int64_t number) const {
  int64_t stride = root.getStrides()[d], dilation = root.getDilations()[d];
  int64_t kernel = root.getFilter().getShape()[d + 1];
  int64_t size = root.getInput().getShape()[d + 1];
  int64_t common = std::gcd(stride, dilation);
  int64_t position = root.getPads()[d] + number;
  OutputPhase phase;
  phase.first = position / stride;
  phase.remainder = position % stride;
  phase.tapStep = stride / common;
  phase.dilation = dilation / common;
  int64_t firstTap = 0;
  while (firstTap * dilation % stride != phase.remainder)
    ++firstTap;
  assert(firstTap < kernel && "no tap reaches the phase");
  phase.numTaps = (kernel - 1 - firstTap) / phase.tapStep + 1;
  phase.lastTap = firstTap + (phase.numTaps - 1) * phase.tapStep;
  int64_t firstShift = (firstTap * dilation - phase.remainder) / stride;
  int64_t lastShift = (phase.lastTap * dilation - phase.remainder) / stride;
  phase.padBefore = lastShift - phase.first;
  phase.padAfter = phase.first + getCount(d) - firstShift - size;
  return phase;
}

/// [C, KH, KW, OC / group] as [OC, KH, KW, C / group].
NodeValue ConvTransposeLowering::turnFilter() {
  DimsRef shape = root.getFilter().getShape();
  int64_t group = root.getGroup(), depth = shape[0] / group;
  Dims split = {group, depth, shape[1], shape[2], shape[3]};
  NodeValue filter = context.reshape(root.getFilter(), split);
  filter = context.create<TransposeNode>(filter,
                                         std::vector<int64_t>{0, 4, 2, 3, 1});
  Dims turned = {group * split[4], split[2], split[3], depth};
  return context.reshape(filter, turned);
}

/// The input without what negative padding takes away.
NodeValue ConvTransposeLowering::crop(const OutputPhase &rows,
                                      const OutputPhase &columns) {
  NodeValue input = root.getInput();
  std::vector<int64_t> starts(4, 0), steps(4, 1), sizes(input.getShape());
  const OutputPhase *phases[] = {&rows, &columns};
  for (unsigned d = 0; d < 2; ++d) {
    starts[d + 1] = std::max<int64_t>(-phases[d]->padBefore, 0);
    sizes[d + 1] -= starts[d + 1] + std::max<int64_t>(-phases[d]->padAfter, 0);
    if (sizes[d + 1] <= 0)
      return {};
  }
  if (sizes == std::vector<int64_t>(input.getShape()))
    return input;
  return context.create<SliceNode>(input, starts, sizes, steps);
}

/// Pixels that no tap reaches: the bias, between the batch and the channels
/// \p sizes.
NodeValue ConvTransposeLowering::fillWithBias(DimsRef sizes) {
  Dims shape(sizes), ones(sizes.size() + 2, 1);
  shape.insert(shape.begin(), root.getType().getShape()[0]);
  shape.push_back(root.getType().getShape()[3]);
  NodeValue value = root.getBias();
  if (!value)
    value = context.createScalar(root.getType().getKind(), 0);
  ones.back() = value.getType().getNumElements();
  return context.create<BroadcastNode>(context.reshape(value, ones), shape);
}

NodeValue ConvTransposeLowering::emitPhase(NodeValue filter,
                                           const OutputPhase &rows,
                                           const OutputPhase &columns) {
  NodeValue input = crop(rows, columns);
  if (!input)
    return fillWithBias({getCount(0), getCount(1)});
  std::vector<int64_t> starts = {0, rows.lastTap, columns.lastTap, 0};
  std::vector<int64_t> sizes(filter.getShape());
  sizes[1] = rows.numTaps;
  sizes[2] = columns.numTaps;
  std::vector<int64_t> steps = {1, -rows.tapStep, -columns.tapStep, 1};
  NodeValue taps = context.create<SliceNode>(filter, starts, sizes, steps);
  std::vector<int64_t> pads = {rows.padBefore, columns.padBefore, rows.padAfter,
                               columns.padAfter};
  for (int64_t &pad : pads)
    pad = std::max<int64_t>(pad, 0);
  return context.create<ConvolutionNode>(
      input, taps, root.getBias(), std::vector<int64_t>{1, 1}, pads,
      std::vector<int64_t>{rows.dilation, columns.dilation}, root.getGroup());
}

/// Puts the phases along dimension \p d + 1 together: \p emit makes one that
/// taps reach, of rank 4, and \p fill so many that none reaches, on a dimension
/// of their own behind that.
template <typename Emit, typename Fill>
NodeValue ConvTransposeLowering::joinPhases(unsigned d, Emit emit, Fill fill) {
  int64_t numPhases = getNumPhases(d), next = 0;
  llvm::SmallVector<NodeValue, 4> parts;
  for (int64_t number : findReached(d)) {
    if (number > next)
      parts.push_back(fill(number - next));
    NodeValue part = emit(getPhase(d, number));
    if (numPhases == 1)
      return part;
    Dims shape(part.getShape());
    shape.insert(shape.begin() + d + 2, 1);
    parts.push_back(context.reshape(part, shape));
    next = number + 1;
  }
  if (next < numPhases)
    parts.push_back(fill(numPhases - next));
  NodeValue joined = context.create<ConcatNode>(parts, int64_t(d) + 2);
  Dims result(joined.getShape());
  result[d + 1] *= numPhases;
  result.erase(result.begin() + d + 2);
  return context.reshape(joined, result);
}

/// The rows of one phase, of all columns.
NodeValue ConvTransposeLowering::emitBand(NodeValue filter,
                                          const OutputPhase &rows) {
  return joinPhases(
      1,
      [&](const OutputPhase &columns) {
        return emitPhase(filter, rows, columns);
      },
      [&](int64_t count) {
        return fillWithBias({getCount(0), getCount(1), count});
      });
}

NodeValue ConvTransposeLowering::lower() {
  NodeValue filter = turnFilter();
  int64_t width = getCount(1) * getNumPhases(1);
  NodeValue all = joinPhases(
      0, [&](const OutputPhase &rows) { return emitBand(filter, rows); },
      [&](int64_t count) { return fillWithBias({getCount(0), count, width}); });
  std::vector<int64_t> starts(4, 0), steps(4, 1);
  std::vector<int64_t> sizes(root.getType().getShape());
  if (sizes == std::vector<int64_t>(all.getShape()))
    return all;
  return context.create<SliceNode>(all, starts, sizes, steps);
}

NodeValue glowish::lowerConvTranspose(ConvTransposeNode &root,
                                      RewriteContext &context) {
  return ConvTransposeLowering(root, context).lower();
}
