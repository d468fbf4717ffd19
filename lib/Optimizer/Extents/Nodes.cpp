//===- Nodes.cpp - Lowering of nodes with extents -------------------------===//

#include "Extents/ExtentLowering.h"
#include <cmath>

using namespace glowish;

static constexpr double inf = HUGE_VAL;

//===- Storage ------------------------------------------------------------===//

NodeValue glowish::lowerExtentsOfDeclareExtents(DeclareExtentsNode &node,
                                                ExtentLowering &b) {
  for (auto [count, dim] : llvm::zip_equal(node.getCounts(), node.getDims()))
    b.define(node.getType().getExtent(dim)->getSymbol(), count);
  // The symbols have their numbers: the node need not be kept for its counts.
  return node.getCounts().empty()
             ? NodeValue()
             : b.make<DeclareExtentsNode>(node.getInput(), node.getType());
}

NodeValue glowish::lowerExtentsOfSave(SaveNode &node, ExtentLowering &) {
  auto *output = node.getOutput().getNodeAs<Placeholder>();
  // Extents that nodes compute are in the output of the extents, if there is
  // one.
  ExtentList extents(node.getInput().getType().getExtents());
  for (std::optional<Extent> &extent : extents)
    if (extent && !node.getParent()->getModule().isStated(*extent))
      extent.reset();
  bool isAny = llvm::any_of(extents, [](auto &extent) { return bool(extent); });
  if (isAny && output->getInputExtents().next.empty())
    output->setNextExtents(std::move(extents));
  return {};
}

//===- Reductions ---------------------------------------------------------===//

/// Returns \p value in a kind in which its sums do not overflow.
static NodeValue widen(ExtentLowering &b, NodeValue value) {
  bool isHalf = value && isFloatKind(value.getElemKind()) &&
                getElemSize(value.getElemKind()) < 4;
  return isHalf ? b.cast(value, ElemKind::Float) : value;
}

/// Returns the mean of \p value along \p axes, some of which are open.
static NodeValue makeMean(ExtentLowering &b, NodeValue value,
                          llvm::ArrayRef<int64_t> axes, bool keepDims) {
  ElemKind kind = value.getElemKind();
  NodeValue x = widen(b, b.fillOutside(value, axes, 0));
  NodeValue sum = b.reduce(x, "sum", axes, keepDims);
  NodeValue count = b.countAlong(value, axes);
  // Integers are not divided by zero.
  if (isIntegerKind(kind))
    count = b.max(count, 1);
  return b.cast(b.div(sum, b.cast(count, sum.getElemKind())), kind);
}

NodeValue glowish::lowerExtentsOfReduce(ReduceNode &node, ExtentLowering &b) {
  NodeValue input = node.getInput();
  bool isMean = node.getMode() == "mean";
  return isMean && b.isAnyOpen(input, node.getAxes())
             ? makeMean(b, input, node.getAxes(), node.getKeepDims())
             : NodeValue();
}

NodeValue glowish::lowerExtentsOfGlobalAvgPool(GlobalAvgPoolNode &node,
                                               ExtentLowering &b) {
  if (!b.isAnyOpen(node.getInput(), {1, 2}))
    return {};
  return makeMean(b, node.getInput(), {1, 2}, /*keepDims=*/true);
}

NodeValue glowish::lowerExtentsOfArgMax(ArgMaxNode &node, ExtentLowering &b) {
  NodeValue input = node.getInput();
  int64_t axis = node.getAxis();
  if (!b.isOpen(input, axis))
    return {};
  NodeValue index =
      b.make<ArgMaxNode>(b.fillOutside(input, {axis}, -inf), axis,
                         node.getKeepDims(), node.getSelectLast());
  // Where all are as small as the filler, the last one is before it.
  return node.getSelectLast() ? b.min(index, b.sub(b.getLength(input, axis), 1))
                              : index;
}

//===- Normalizations -----------------------------------------------------===//

/// Returns (x - mean) / sqrt(variance + epsilon) over \p axes of \p input, of
/// which some are open, in the kind that widen() gives; without the mean if
/// \p subtractMean is false.
static NodeValue normalize(ExtentLowering &b, NodeValue input,
                           llvm::ArrayRef<int64_t> axes, double epsilon,
                           bool subtractMean) {
  auto mean = [&](NodeValue value) {
    NodeValue sum = b.reduce(value, "sum", axes, /*keepDims=*/true);
    return b.div(sum, b.cast(b.countAlong(input, axes), value.getElemKind()));
  };
  NodeValue x = widen(b, b.fillOutside(input, axes, 0));
  if (subtractMean) {
    x = b.sub(x, mean(x));
    x = b.select(b.isInside(input, axes), x, b.number(x, 0));
  }
  NodeValue variance = mean(b.mul(x, x));
  return b.div(x, b.unary<SqrtNode>(b.add(variance, epsilon)));
}

/// Returns value * scale + bias, which may be null, in \p kind.
static NodeValue scaleAndShift(ExtentLowering &b, NodeValue value,
                               NodeValue scale, NodeValue bias, ElemKind kind) {
  if (scale)
    value = b.mul(value, widen(b, scale));
  if (bias)
    value = b.add(value, widen(b, bias));
  return b.cast(value, kind);
}

NodeValue
glowish::lowerExtentsOfLayerNormalization(LayerNormalizationNode &node,
                                          ExtentLowering &b) {
  NodeValue input = node.getInput();
  std::vector<int64_t> axes;
  for (int64_t d = node.getAxis(); d < int64_t(input.getShape().size()); ++d)
    axes.push_back(d);
  if (!b.isAnyOpen(input, axes))
    return {};
  NodeValue x =
      normalize(b, input, axes, node.getEpsilon(), node.getSubtractMean());
  return scaleAndShift(b, x, node.getScale(), node.getBias(),
                       input.getElemKind());
}

NodeValue
glowish::lowerExtentsOfGroupNormalization(GroupNormalizationNode &node,
                                          ExtentLowering &b) {
  NodeValue input = node.getInput();
  int64_t rank = input.getShape().size(), axis = node.getAxis();
  std::vector<int64_t> axes;
  for (int64_t d = 1; d < rank; ++d)
    if (d != axis)
      axes.push_back(d);
  if (!b.isAnyOpen(input, axes))
    return {};
  // The channels of a group are a dimension behind those of the groups.
  Dims shape(input.getShape());
  int64_t channels = shape[axis];
  shape[axis] = node.getGroups();
  shape.insert(shape.begin() + axis + 1, channels / node.getGroups());
  ExtentList extents(input.getType().getExtents());
  extents.insert(extents.begin() + axis + 1, std::nullopt);
  for (int64_t &d : axes)
    d += d > axis;
  axes.push_back(axis + 1);
  llvm::sort(axes);
  NodeValue grouped =
      b.reshapeTo(input, input.getType().withShape(shape).withExtents(extents));
  NodeValue x = normalize(b, grouped, axes, node.getEpsilon(),
                          /*subtractMean=*/true);
  Dims perChannel(rank - axis, 1);
  perChannel[0] = channels;
  return scaleAndShift(b, b.reshapeTo(x, input.getType()),
                       b.reshape(node.getScale(), perChannel),
                       b.reshape(node.getBias(), perChannel),
                       input.getElemKind());
}

//===- Parts of dimensions ------------------------------------------------===//

/// Returns \p value with \p extent along \p axis; with its bound if there is
/// none.
static NodeValue declareAlong(ExtentLowering &b, NodeValue value, int64_t axis,
                              const std::optional<Extent> &extent) {
  if (!value)
    return value;
  ExtentList extents(value.getType().getExtents());
  extents.resize(value.getShape().size());
  extents[axis] = extent;
  return b.declareExtents(value, value.getType().withExtents(extents));
}

/// Returns \p value with \p count elements of \p filler, a scalar, behind those
/// of dimension \p dim, of which a run decides how many there are: its bound
/// is at least the sum.
static NodeValue appendAlong(ExtentLowering &b, NodeValue value, int64_t dim,
                             int64_t count, NodeValue filler) {
  if (!value)
    return value;
  const Type type = value.getType();
  Dims shape(type.getShape());
  shape[dim] = count;
  ExtentList extents(type.getExtents());
  extents[dim].reset();
  filler = b.broadcast(b.reshape(filler, Dims(shape.size(), 1)), shape);
  if (!filler)
    return {};
  filler = b.declareExtents(filler, filler.getType().withExtents(extents));
  Extent length = type.getLength(dim);
  return declareAlong(
      b,
      b.make<DynamicUpdateSliceNode>(b.closeDims(value, {dim}), filler,
                                     b.getLength(value, unsigned(dim)), dim),
      dim, add(length, count));
}

//===- Windows ------------------------------------------------------------===//

namespace {
/// Images with \c pads of their own behind the extents that runs decide, and
/// what is left of the pads of windows over them, [top, left, bottom, right].
struct PaddedImages {
  NodeValue images;
  std::vector<int64_t> pads;
};
} // namespace

/// Returns \p images, [N, H, W, C], with the pads behind extents that runs
/// decide, of elements \p zeroPoint, a scalar, or \p filler if that is null:
/// windows read these where a run's image ends, and no others. Null where there
/// are none.
static PaddedImages padImages(ExtentLowering &b, NodeValue images,
                              llvm::ArrayRef<int64_t> pads, double filler,
                              NodeValue zeroPoint = {}) {
  Dims wide(images.getShape());
  std::vector<int64_t> dims, left(pads.begin(), pads.end());
  for (int64_t dim : {1, 2})
    if (b.isOpen(images, unsigned(dim)) && pads[size_t(dim) + 1] > 0) {
      dims.push_back(dim);
      wide[dim] += pads[size_t(dim) + 1];
      left[size_t(dim) + 1] = 0;
    }
  if (dims.empty())
    return {};
  const Type &type = images.getType();
  NodeValue padded = b.make<RepackNode>(
      images, TypeList{type.withShape(wide).withExtents(type.getExtents())});
  NodeValue element = zeroPoint ? zeroPoint : b.number(images, filler);
  for (int64_t dim : dims)
    padded = appendAlong(b, padded, dim, pads[size_t(dim) + 1], element);
  return {padded, left};
}

NodeValue glowish::lowerExtentsOfConvolution(ConvolutionNode &node,
                                             ExtentLowering &b) {
  auto [images, pads] =
      padImages(b, node.getInput(), node.getPads(), /*filler=*/0);
  return images
             ? b.make<ConvolutionNode>(images, node.getFilter(), node.getBias(),
                                       node.getStrides(), pads,
                                       node.getDilations(), node.getGroup())
             : NodeValue();
}

NodeValue
glowish::lowerExtentsOfConvolutionInteger(ConvolutionIntegerNode &node,
                                          ExtentLowering &b) {
  // The zero point adds nothing.
  NodeValue zero = node.getZeroPoint();
  auto [images, pads] =
      padImages(b, node.getInput(), node.getPads(), /*filler=*/0, zero);
  return images ? b.make<ConvolutionIntegerNode>(
                      images, node.getFilter(), zero, node.getFilterZeroPoint(),
                      node.getBias(), node.getStrides(), pads,
                      node.getDilations(), node.getGroup())
                : NodeValue();
}

NodeValue glowish::lowerExtentsOfMaxPool(MaxPoolNode &node, ExtentLowering &b) {
  auto [images, pads] = padImages(b, node.getInput(), node.getPads(), -inf);
  return images
             ? b.make<MaxPoolNode>(images, node.getKernels(), node.getStrides(),
                                   pads, node.getDilations())
             : NodeValue();
}

NodeValue glowish::lowerExtentsOfAvgPool(AvgPoolNode &node, ExtentLowering &b) {
  NodeValue input = node.getInput();
  auto [images, pads] = padImages(b, input, node.getPads(), /*filler=*/0);
  if (!images)
    return {};
  auto pool = [&](NodeValue images, llvm::ArrayRef<int64_t> pads) {
    return b.make<AvgPoolNode>(images, node.getKernels(), node.getStrides(),
                               pads, node.getDilations(),
                               /*countIncludePads=*/true);
  };
  NodeValue mean = pool(images, pads);
  if (!mean || node.getCountIncludePads())
    return mean;
  // The share of a window that is in the image.
  Dims shape = {1, input.getShape()[1], input.getShape()[2], 1};
  ElemKind kind = input.getElemKind();
  NodeValue ones = b.select(b.isInside(input, {1, 2}), b.splat(kind, shape, 1),
                            b.scalar(kind, 0));
  NodeValue shares = pool(ones, node.getPads());
  if (!shares)
    return {};
  ExtentList extents(mean.getType().getExtents());
  extents[0].reset();
  extents[3].reset();
  return b.div(mean,
               b.declareExtents(shares, shares.getType().withExtents(extents)));
}

NodeValue glowish::lowerExtentsOfResize(ResizeNode &node, ExtentLowering &b) {
  NodeValue input = node.getInput();
  for (unsigned d : {1, 2}) {
    if (!b.isOpen(input, d))
      continue;
    // Pixels beyond the image are those at its edge.
    NodeValue last = b.sub(b.getLength(input, d), 1);
    NodeValue own = b.iota(ElemKind::Int64, 1, 0, input.getShape()[d]);
    node.setOperand(node.inputIdx, b.gather(b.closeDims(node.getInput(), {d}),
                                            b.max(b.min(own, last), 0), d));
  }
  return {};
}

//===- Attention ----------------------------------------------------------===//

/// Returns 0, 1, 2, ... for the indices of dimension \p dim of \p value, along
/// dimension \p axis of two, with the extent of the dimension if
/// \p keepsExtent.
static NodeValue number(ExtentLowering &b, NodeValue value, unsigned dim,
                        int64_t axis, bool keepsExtent) {
  NodeValue numbers = b.iota(ElemKind::Int64, 2, axis, value.getShape()[dim]);
  const Extent *extent = value.getType().getExtent(dim);
  if (!numbers || !extent || !keepsExtent)
    return numbers;
  ExtentList extents(2);
  extents[axis] = *extent;
  return b.declareExtents(numbers, numbers.getType().withExtents(extents));
}

/// Returns which keys the queries of \p node see. \p isBounded: the keys
/// beyond their extent need no mask.
template <typename NodeT>
static NodeValue findSeen(NodeT &node, ExtentLowering &b, bool isBounded) {
  NodeValue query = node.getQuery(), key = node.getKey();
  unsigned dim = unsigned(query.getShape().size()) - 2;
  NodeValue keys = number(b, key, dim, 1, isBounded), seen;
  if (!isBounded)
    seen = b.less(keys, b.getLength(key, dim));
  if (!node.getCausal())
    return seen;
  NodeValue queries = number(b, query, dim, 0, /*keepsExtent=*/true);
  std::optional<Extent> before =
      subtract(key.getType().getLength(dim), query.getType().getLength(dim));
  NodeValue past = before
                       ? b.compute(*before)
                       : b.sub(b.getLength(key, dim), b.getLength(query, dim));
  NodeValue isBefore = b.lessOrEqual(keys, b.add(queries, past));
  return seen ? b.logicalAnd(seen, isBefore) : isBefore;
}

/// Lowers an attention of floats or integers. \p takesBounds: keys beyond the
/// extent are not read where inputs state it.
template <typename NodeT>
static NodeValue lowerAttention(NodeT &node, ExtentLowering &b,
                                bool takesBounds) {
  NodeValue query = node.getQuery(), key = node.getKey(),
            value = node.getValue();
  unsigned dim = unsigned(query.getShape().size()) - 2;
  const Extent *extent = key.getType().getExtent(dim);
  bool isOpen = extent || b.isOpen(value, dim);
  bool isBounded =
      takesBounds && extent &&
      key.getType().getLength(dim) == value.getType().getLength(dim) &&
      b.getFunction().canBound(*extent);
  bool isCausal = node.getCausal() && (isOpen || b.isOpen(query, dim));
  if ((!isOpen || isBounded) && !isCausal)
    return {};
  NodeValue seen = findSeen(node, b, isBounded || !isOpen);
  ElemKind kind = ElemKind::Float;
  if (std::is_same_v<NodeT, AttentionNode>)
    kind = query.getElemKind();
  NodeValue mask = node.getMask() ? node.getMask() : b.scalar(kind, 0);
  unsigned rank = mask.getShape().size();
  if (!isBounded && rank > 0)
    mask = b.closeDims(mask, {rank - 1});
  mask = b.select(seen, mask, b.scalar(kind, -inf));
  if (!isBounded) {
    key = b.fillOutside(key, {dim}, 0);
    value = b.fillOutside(value, {dim}, 0);
  }
  if (b.hasFailed())
    return {};
  llvm::SmallVector<NodeValue, 4> operands = {query, key, value, mask};
  auto *lowered = llvm::cast<NodeT>(b.recreate(node, operands));
  lowered->setCausal(false);
  return lowered->getResult();
}

NodeValue glowish::lowerExtentsOfAttention(AttentionNode &node,
                                           ExtentLowering &b) {
  return lowerAttention(node, b, /*takesBounds=*/true);
}

NodeValue glowish::lowerExtentsOfAttentionInteger(AttentionIntegerNode &node,
                                                  ExtentLowering &b) {
  return lowerAttention(node, b, /*takesBounds=*/false);
}

//===- Data movement ------------------------------------------------------===//

NodeValue glowish::lowerExtentsOfConcat(ConcatNode &node, ExtentLowering &b) {
  int64_t axis = node.getAxis();
  llvm::SmallVector<NodeValue, 4> inputs = node.getInputs();
  auto *first = llvm::find_if(
      inputs, [&](NodeValue input) { return b.isOpen(input, axis); });
  if (inputs.end() - first <= 1)
    return {};
  // Inputs before the first open one need not be moved. Each of the others is
  // written directly behind the actual elements of those before it, over the
  // unused ones up to their bound.
  NodeValue joined = b.concat(llvm::ArrayRef(inputs.begin(), first + 1), axis);
  if (!joined)
    return {};
  NodeValue end = b.getLength(joined, axis);
  std::optional<Extent> length = joined.getType().getLength(axis);
  Dims shape(joined.getShape());
  shape[axis] = node.getType().getDim(axis);
  joined = b.repack(joined, joined.getType().withShape(shape).withExtents(
                                joined.getType().getExtents()));
  for (NodeValue input : llvm::make_range(first + 1, inputs.end())) {
    length = length ? add(*length, input.getType().getLength(axis)) : length;
    NodeValue before = b.closeDims(joined, {axis}),
              next = b.closeDims(input, {axis});
    if (!before || !next || !end)
      return {};
    joined =
        declareAlong(b, b.make<DynamicUpdateSliceNode>(before, next, end, axis),
                     axis, length);
    end = b.add(end, b.getLength(input, axis));
  }
  return joined;
}

NodeValue glowish::lowerExtentsOfPad(PadNode &node, ExtentLowering &b) {
  NodeValue input = node.getInput(), padded;
  unsigned rank = input.getShape().size();
  for (unsigned d = 0; d < rank; ++d) {
    int64_t after = node.getPads()[rank + d];
    if (!b.isOpen(input, d) || after <= 0)
      continue;
    if (!padded)
      padded = NodeValue(b.recreate(node, node.getOperands()));
    // The padding begins where the elements end.
    std::optional<Extent> end =
        add(*input.getType().getExtent(d), node.getPads()[d]);
    padded = appendAlong(b, declareAlong(b, padded, d, end), d, after,
                         b.number(input, node.getValue()));
    if (!padded)
      return {};
  }
  return padded;
}

/// Returns whether \p indices are constants from \p low to \p high.
static bool areBetween(NodeValue indices, int64_t low, int64_t high) {
  auto *constant = indices.getNodeAs<Constant>();
  if (!constant)
    return false;
  const Tensor &tensor = constant->getTensor();
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (tensor.getAsInt(i) < low || tensor.getAsInt(i) > high)
      return false;
  return true;
}

NodeValue glowish::lowerExtentsOfGather(GatherNode &node, ExtentLowering &b) {
  NodeValue input = node.getInput(), indices = node.getIndices();
  unsigned axis = unsigned(node.getAxis());
  const Extent *extent = input.getType().getExtent(axis);
  if (!extent)
    return {};
  node.setOperand(node.inputIdx, b.closeDims(input, {axis}));
  // So many elements are there in all runs.
  int64_t least = 0;
  if (auto range = b.getFunction().getModule().getSymbols().getRange(*extent))
    least = range->low;
  if (areBetween(indices, 0, least - 1))
    return {};
  // Negative indices count from the end; those out of range are clamped.
  NodeValue wide = b.cast(indices, ElemKind::Int64);
  NodeValue length = b.getLength(input, axis), fromEnd = b.add(wide, length);
  if (areBetween(indices, -least, -1)) {
    node.setOperand(node.indicesIdx, fromEnd);
    return {};
  }
  wide = b.select(b.less(wide, 0), fromEnd, wide);
  node.setOperand(node.indicesIdx, b.max(b.min(wide, b.sub(length, 1)), 0));
  return {};
}

NodeValue glowish::lowerExtentsOfScatter(ScatterNode &node, ExtentLowering &b) {
  NodeValue input = node.getInput(), indices = node.getIndices();
  NodeValue wide = b.cast(indices, ElemKind::Int64);
  // Updates with an index out of range are ignored.
  NodeValue none = b.number(wide, double(input.getShape()[0]));
  if (b.isOpen(input, 0)) {
    node.setOperand(node.inputIdx, b.closeDims(input, {0}));
    NodeValue fromEnd = b.add(wide, b.getLength(input, 0));
    wide = b.select(b.less(wide, 0),
                    b.select(b.less(fromEnd, 0), none, fromEnd), wide);
  }
  NodeValue rows = b.isOpen(indices, 0) ? indices : node.getUpdates();
  if (b.isOpen(rows, 0)) {
    node.setOperand(node.updatesIdx, b.closeDims(node.getUpdates(), {0}));
    wide = b.closeDims(wide, {0});
    NodeValue number = b.iota(ElemKind::Int64, 1, 0, rows.getShape()[0]);
    wide = b.select(b.less(number, b.getLength(rows, 0)), wide, none);
  }
  node.setOperand(node.indicesIdx, wide);
  return {};
}

NodeValue
glowish::lowerExtentsOfDynamicUpdateSlice(DynamicUpdateSliceNode &node,
                                          ExtentLowering &b) {
  NodeValue input = node.getInput(), start = node.getStart();
  int64_t axis = node.getAxis();
  if (!b.isOpen(input, axis))
    return {};
  node.setOperand(node.inputIdx, b.closeDims(input, {axis}));
  // The update lies in the input. What is less than 0 is clamped by the node.
  NodeValue wide = b.cast(start, ElemKind::Int64);
  int64_t size = node.getUpdate().getShape()[axis];
  node.setOperand(node.startIdx,
                  b.min(wide, b.sub(b.getLength(input, axis), double(size))));
  return {};
}

NodeValue glowish::lowerExtentsOfNonMaxSuppression(NonMaxSuppressionNode &node,
                                                   ExtentLowering &b) {
  // Candidates that are no index are skipped.
  NodeValue boxes = node.getBoxes(), candidates = node.getCandidates();
  NodeValue indices = b.fillOutside(candidates, {2}, -1);
  if (b.isOpen(boxes, 1)) {
    indices = b.select(b.less(indices, b.getLength(boxes, 1)), indices,
                       b.number(indices, -1));
    node.setOperand(node.boxesIdx, b.closeDims(boxes, {1}));
  }
  node.setOperand(node.candidatesIdx, indices);
  return {};
}
