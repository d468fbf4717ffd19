//===- ExtentRules.cpp - Extents of the results of nodes ------------------===//

#include "glowish/Ops/ExtentRules.h"
#include "glowish/Support/Error.h"
#include <cmath>

using namespace glowish;
using llvm::Error;

/// Refuses extents of the operands from \p first on, of which the rule makes
/// nothing.
static Error refuseFrom(const ExtentInference &inference, unsigned first,
                        const llvm::Twine &why) {
  const OpView &op = inference.getOp();
  for (unsigned i = first; i < op.getNumInputs(); ++i)
    for (unsigned d = 0; op.hasInput(i) && d < op.getInput(i).getRank(); ++d)
      GLOWISH_RETURN_IF_ERROR(inference.refuse(i, d, why));
  return Error::success();
}

static constexpr llvm::StringLiteral onlyFirst =
    "accepted: such extents of the first operand";

//===- Dimensions that stay -----------------------------------------------===//

/// Sets dimensions \p from ... \p to - 1 to those of operand \p index.
static void setSameDims(ExtentInference &inference, unsigned index,
                        unsigned from, unsigned to) {
  for (unsigned d = from; d < to; ++d)
    inference.setSame(d, index, d);
}

Error glowish::extendSave(ExtentInference &) { return Error::success(); }

Error glowish::extendFirst(ExtentInference &inference) {
  setSameDims(inference, 0, 0, inference.getShape().size());
  return refuseFrom(inference, 1, onlyFirst);
}

Error glowish::extendGroupNormalization(ExtentInference &inference) {
  GroupNormalizationView op(inference.getOp());
  GLOWISH_RETURN_IF_ERROR(
      inference.refuse(op.inputIdx, op.getAxis(),
                       "it is divided into groups; accepted: others"));
  return extendFirst(inference);
}

Error glowish::extendDeclareExtents(ExtentInference &inference) {
  DeclareExtentsView op(inference.getOp());
  const Type &type = op.getResultType().front();
  for (unsigned d = 0; d < type.getRank(); ++d)
    if (const Extent *extent = type.getExtent(d))
      inference.set(d, *extent);
  return Error::success();
}

Error glowish::extendRepack(ExtentInference &inference) {
  RepackView op(inference.getOp());
  const Type &type = op.getResultType().front();
  std::optional<Extent> own = multiplyAll(op.getInput().getLengths()),
                        count = multiplyAll(type.getLengths());
  if (own && count)
    inference.require(*own, *count);
  for (unsigned d = 0; d < type.getRank(); ++d)
    if (const Extent *extent = type.getExtent(d))
      inference.set(d, *extent);
  return Error::success();
}

Error glowish::extendTranspose(ExtentInference &inference) {
  TransposeView op(inference.getOp());
  for (auto [d, own] : llvm::enumerate(op.getPermutation()))
    inference.setSame(d, op.inputIdx, own);
  return Error::success();
}

//===- Broadcasting -------------------------------------------------------===//

/// Dimension \p dim of the result is that of operand \p index, of which the
/// last is \p fromEnd - 1 before the last.
static void setBroadcast(ExtentInference &inference, unsigned index,
                         unsigned dim, unsigned fromEnd) {
  const Type &operand = inference.getOp().getInput(index);
  if (fromEnd > operand.getRank())
    return;
  unsigned own = operand.getRank() - fromEnd;
  // What may be 1 at run time does not broadcast, unless it is never more.
  if (operand.getDim(own) == inference.getShape()[dim])
    inference.setSame(dim, index, own);
  else
    inference.require(inference.get(index, own), 1);
}

Error glowish::extendBroadcast(ExtentInference &inference) {
  unsigned rank = inference.getShape().size();
  for (unsigned i = 0; i < inference.getOp().getNumInputs(); ++i)
    for (unsigned d = 0; inference.hasExtents(i) && d < rank; ++d)
      setBroadcast(inference, i, d, rank - d);
  return Error::success();
}

//===- Matrix multiplication ----------------------------------------------===//

/// Why operands behind the first two are refused.
static constexpr llvm::StringLiteral onlyMatrices =
    "accepted: such extents of the matrices";

static void extendMatrices(ExtentInference &inference) {
  // The views of all matmuls begin with the same operands.
  const OpView &op = inference.getOp();
  unsigned rank = inference.getShape().size();
  for (unsigned i : {0, 1})
    for (unsigned d = 0; d + 2 < rank; ++d)
      setBroadcast(inference, i, d, rank - d);
  unsigned left = op.getInput(0).getRank(), right = op.getInput(1).getRank();
  inference.setSame(rank - 2, 0, left - 2);
  inference.setSame(rank - 1, 1, right - 1);
  inference.require(inference.get(0, left - 1), inference.get(1, right - 2));
}

Error glowish::extendMatMul(ExtentInference &inference) {
  extendMatrices(inference);
  return refuseFrom(inference, 2, onlyMatrices);
}

Error glowish::extendMatMulNBits(ExtentInference &inference) {
  MatMulNBitsView op(inference.getOp());
  extendMatrices(inference);
  if (inference.hasExtents(op.lhsScalesIdx)) {
    unsigned last = op.getLhsScales().getRank() - 1;
    setSameDims(inference, op.lhsScalesIdx, 0, last);
    GLOWISH_RETURN_IF_ERROR(
        inference.refuse(op.lhsScalesIdx, last, onlyMatrices));
  }
  for (unsigned i : {op.scalesIdx, op.zeroPointsIdx})
    for (unsigned d : {0, 1})
      GLOWISH_RETURN_IF_ERROR(inference.refuse(i, d, onlyMatrices));
  return Error::success();
}

/// The mask has the rows of the result and, as columns, the keys.
static void extendByMask(ExtentInference &inference, const AttentionView &op) {
  unsigned rank = inference.getShape().size();
  if (!inference.hasExtents(op.maskIdx))
    return;
  for (unsigned d = 0; d + 1 < rank; ++d)
    setBroadcast(inference, op.maskIdx, d, rank - d);
  unsigned last = op.getMask().getRank() - 1;
  bool broadcasts = op.getMask().getDim(last) != op.getKey().getDim(rank - 2);
  if (inference.find(op.maskIdx, last))
    inference.require(inference.get(op.maskIdx, last),
                      broadcasts ? Extent(1)
                                 : inference.get(op.keyIdx, rank - 2));
}

Error glowish::extendAttention(ExtentInference &inference) {
  // The views of all attentions begin with the same operands.
  AttentionView op(inference.getOp());
  unsigned rank = inference.getShape().size();
  for (unsigned i : {op.queryIdx, op.keyIdx, op.valueIdx})
    setSameDims(inference, i, 0, rank - 2);
  inference.setSame(rank - 2, op.queryIdx, rank - 2);
  inference.setSame(rank - 1, op.valueIdx, rank - 1);
  inference.require(inference.get(op.keyIdx, rank - 2),
                    inference.get(op.valueIdx, rank - 2));
  for (unsigned i : {op.queryIdx, op.keyIdx})
    GLOWISH_RETURN_IF_ERROR(inference.refuse(
        i, rank - 1, "the scores need all elements of a query"));
  extendByMask(inference, op);
  return Error::success();
}

//===- Windows ------------------------------------------------------------===//

/// Returns how many windows fit \p extent: floor((extent + pads - reach) /
/// stride) + 1, where \p reach is that of a window. None if it doesn't fit.
static std::optional<Extent> countWindows(const Extent &extent, int64_t pads,
                                          int64_t reach, int64_t stride) {
  std::optional<Extent> steps = add(extent, pads - reach);
  steps = steps ? divideDown(*steps, stride) : std::nullopt;
  return steps ? add(*steps, 1) : std::nullopt;
}

/// The images, and their height and width by the windows of \p op.
template <typename View>
static Error extendImages(ExtentInference &inference, const View &op,
                          llvm::ArrayRef<int64_t> kernels) {
  inference.setSame(0, 0, 0);
  for (unsigned d = 0; d < 2; ++d)
    if (const Extent *extent = inference.find(0, d + 1))
      inference.set(d + 1,
                    countWindows(*extent, op.getPads()[d] + op.getPads()[d + 2],
                                 op.getDilations()[d] * (kernels[d] - 1) + 1,
                                 op.getStrides()[d]));
  return Error::success();
}

static constexpr llvm::StringLiteral needsChannels =
    "the filter needs all channels";

Error glowish::extendConvolution(ExtentInference &inference) {
  // The views of both convolutions begin with the same operands and attributes.
  ConvolutionView op(inference.getOp());
  GLOWISH_RETURN_IF_ERROR(inference.refuse(op.inputIdx, 3, needsChannels));
  GLOWISH_RETURN_IF_ERROR(refuseFrom(inference, 1, onlyFirst));
  return extendImages(inference, op, op.getFilter().getShape().slice(1, 2));
}

Error glowish::extendWindows(ExtentInference &inference) {
  // The views of all pools have the same attributes.
  MaxPoolView op(inference.getOp());
  inference.setSame(3, op.inputIdx, 3);
  return extendImages(inference, op, op.getKernels());
}

Error glowish::extendGlobalPool(ExtentInference &inference) {
  inference.setSame(0, 0, 0);
  inference.setSame(3, 0, 3);
  return Error::success();
}

Error glowish::extendConvTranspose(ExtentInference &inference) {
  ConvTransposeView op(inference.getOp());
  GLOWISH_RETURN_IF_ERROR(inference.refuse(op.inputIdx, 3, needsChannels));
  GLOWISH_RETURN_IF_ERROR(refuseFrom(inference, 1, onlyFirst));
  inference.setSame(0, op.inputIdx, 0);
  for (unsigned d = 0; d < 2; ++d) {
    const Extent *extent = inference.find(op.inputIdx, d + 1);
    if (!extent)
      continue;
    // As much as the bound of the result is longer than the bound's steps.
    int64_t stride = op.getStrides()[d];
    int64_t rest =
        inference.getShape()[d + 1] - op.getInput().getDim(d + 1) * stride;
    std::optional<Extent> steps = multiply(*extent, stride);
    inference.set(d + 1, steps ? add(*steps, rest) : std::nullopt);
  }
  return Error::success();
}

/// Returns \p extent times \p scale, a whole number or a power of two; none for
/// others, whose results are rounded.
static std::optional<Extent> scaleExtent(const Extent &extent, double scale) {
  constexpr double most = 1 << 16;
  if (scale >= 1 && scale <= most && scale == std::floor(scale))
    return multiply(extent, int64_t(scale));
  double divisor = 1 / scale;
  bool isExact = divisor >= 1 && divisor <= most &&
                 std::exp2(std::round(std::log2(divisor))) == divisor;
  return isExact ? divideDown(extent, int64_t(divisor)) : std::nullopt;
}

Error glowish::extendResize(ExtentInference &inference) {
  ResizeView op(inference.getOp());
  llvm::StringRef coordinates = op.getCoordinates();
  bool isLocal = coordinates == "half_pixel" || coordinates == "asymmetric";
  for (unsigned d : {1, 2}) {
    const Extent *extent = inference.find(op.inputIdx, d);
    if (!extent)
      continue;
    std::optional<Extent> size =
        scaleExtent(*extent, d == 1 ? op.getScaleH() : op.getScaleW());
    int64_t bound = op.getInput().getDim(d);
    std::optional<Extent> largest =
        scaleExtent(bound, d == 1 ? op.getScaleH() : op.getScaleW());
    if (!isLocal || !size || largest != Extent(inference.getShape()[d]))
      return inference.refuse(
          op.inputIdx, d,
          "it is resized; accepted: coordinates half_pixel and asymmetric, and "
          "scales that are whole numbers or powers of two");
    inference.set(d, std::move(size));
  }
  inference.setSame(0, op.inputIdx, 0);
  inference.setSame(3, op.inputIdx, 3);
  return Error::success();
}

//===- Reductions ---------------------------------------------------------===//

static Error extendReduction(ExtentInference &inference,
                             llvm::ArrayRef<int64_t> axes, bool keepDims) {
  unsigned next = 0, rank = inference.getOp().getInput(0).getRank();
  for (unsigned d = 0; d < rank; ++d) {
    bool isReduced = llvm::is_contained(axes, int64_t(d));
    if (!isReduced)
      inference.setSame(next, 0, d);
    next += !isReduced || keepDims;
  }
  return Error::success();
}

Error glowish::extendReduce(ExtentInference &inference) {
  ReduceView op(inference.getOp());
  return extendReduction(inference, op.getAxes(), op.getKeepDims());
}

Error glowish::extendReduceInteger(ExtentInference &inference) {
  ReduceIntegerView op(inference.getOp());
  return extendReduction(inference, op.getAxes(), op.getKeepDims());
}

Error glowish::extendArgMax(ExtentInference &inference) {
  ArgMaxView op(inference.getOp());
  return extendReduction(inference, {op.getAxis()}, op.getKeepDims());
}

//===- Data movement ------------------------------------------------------===//

Error glowish::extendConcat(ExtentInference &inference) {
  ConcatView op(inference.getOp());
  unsigned axis = op.getAxis();
  std::optional<Extent> sum = Extent(0);
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    for (unsigned d = 0; d < inference.getShape().size(); ++d)
      if (d != axis)
        inference.setSame(d, i, d);
    sum = sum ? add(*sum, inference.get(i, axis)) : std::nullopt;
  }
  inference.set(axis, std::move(sum));
  return Error::success();
}

/// Sets dimension \p dim of a slice of an input with the extent \p extent.
static Error extendSliced(ExtentInference &inference, const SliceView &op,
                          unsigned dim, const Extent &extent) {
  const SymbolRanges &symbols = inference.getSymbols();
  int64_t start = op.getStarts()[dim], size = op.getSizes()[dim];
  int64_t step = op.getSteps()[dim];
  if (size == 0)
    return Error::success();
  // All that it takes is there.
  int64_t last = std::max(start, start + (size - 1) * step);
  if (symbols.isAtMost(last + 1, extent) == Certainty::Yes)
    return Error::success();
  // Or it goes on to the end, from an element that is there or just behind it.
  bool isToEnd =
      step > 0 && symbols.isAtMost(start, extent) == Certainty::Yes &&
      symbols.isAtMost(extent, start + size * step) == Certainty::Yes;
  if (!isToEnd)
    return inference.refuse(op.inputIdx, dim,
                            "not all that the slice takes is always there; "
                            "accepted: a slice to the end, or of what is");
  std::optional<Extent> rest = add(extent, -start);
  inference.set(dim, rest ? divideUp(*rest, step) : std::nullopt);
  return Error::success();
}

Error glowish::extendSlice(ExtentInference &inference) {
  SliceView op(inference.getOp());
  for (unsigned d = 0; d < inference.getShape().size(); ++d)
    if (const Extent *extent = inference.find(op.inputIdx, d))
      GLOWISH_RETURN_IF_ERROR(extendSliced(inference, op, d, *extent));
  return Error::success();
}

Error glowish::extendPad(ExtentInference &inference) {
  PadView op(inference.getOp());
  unsigned rank = inference.getShape().size();
  for (unsigned d = 0; d < rank; ++d) {
    int64_t before = op.getPads()[d], after = op.getPads()[rank + d];
    bool isPadded = before != 0 || after != 0;
    if (isPadded && op.getMode() != "constant")
      GLOWISH_RETURN_IF_ERROR(inference.refuse(
          op.inputIdx, d,
          "it is padded by what is at its ends; accepted: pads of mode "
          "constant"));
    int64_t cropped =
        std::max<int64_t>(-before, 0) + std::max<int64_t>(-after, 0);
    if (after != 0 &&
        inference.getSymbols().isAtMost(
            cropped, inference.get(op.inputIdx, d)) != Certainty::Yes)
      GLOWISH_RETURN_IF_ERROR(inference.refuse(
          op.inputIdx, d,
          "it may be less than what is cropped; accepted: at least " +
              llvm::Twine(cropped)));
    if (const Extent *extent = inference.find(op.inputIdx, d))
      inference.set(d, add(*extent, before + after));
  }
  return Error::success();
}

Error glowish::extendTile(ExtentInference &inference) {
  TileView op(inference.getOp());
  for (auto [d, repeats] : llvm::enumerate(op.getRepeats())) {
    if (repeats != 1)
      GLOWISH_RETURN_IF_ERROR(
          inference.refuse(op.inputIdx, d, "it is repeated; accepted: others"));
    inference.setSame(d, op.inputIdx, d);
  }
  return Error::success();
}

Error glowish::extendGather(ExtentInference &inference) {
  GatherView op(inference.getOp());
  unsigned axis = op.getAxis(), rank = inference.getShape().size();
  unsigned numIndices = op.getIndices().getRank();
  for (unsigned d = 0; d < rank; ++d)
    if (d < axis)
      inference.setSame(d, op.inputIdx, d);
    else if (d < axis + numIndices)
      inference.setSame(d, op.indicesIdx, d - axis);
    else
      inference.setSame(d, op.inputIdx, d - numIndices + 1);
  return Error::success();
}

Error glowish::extendScatter(ExtentInference &inference) {
  ScatterView op(inference.getOp());
  setSameDims(inference, op.inputIdx, 0, 2);
  inference.setSame(1, op.updatesIdx, 1);
  if (inference.hasExtents(op.indicesIdx) && inference.find(op.updatesIdx, 0))
    inference.require(inference.get(op.indicesIdx, 0),
                      inference.get(op.updatesIdx, 0));
  return Error::success();
}

Error glowish::extendTopK(ExtentInference &inference) {
  TopKView op(inference.getOp());
  const SymbolRanges &symbols = inference.getSymbols();
  unsigned last = inference.getShape().size() - 1;
  setSameDims(inference, op.inputIdx, 0, last);
  Extent length = inference.get(op.inputIdx, last);
  if (symbols.isAtMost(op.getCount(), length) == Certainty::Yes)
    return Error::success();
  if (symbols.isAtMost(length, op.getCount()) != Certainty::Yes)
    return inference.refuse(op.inputIdx, last,
                            "there may be fewer or more than " +
                                llvm::Twine(op.getCount()) +
                                " elements; accepted: never fewer, or all");
  inference.setSame(last, op.inputIdx, last);
  return Error::success();
}

Error glowish::extendDynamicUpdateSlice(ExtentInference &inference) {
  DynamicUpdateSliceView op(inference.getOp());
  for (unsigned d = 0; d < inference.getShape().size(); ++d) {
    inference.setSame(d, op.inputIdx, d);
    if (d != op.getAxis())
      inference.setSame(d, op.updateIdx, d);
    else
      GLOWISH_RETURN_IF_ERROR(inference.refuse(
          op.updateIdx, d, "all of the update is written; accepted: others"));
  }
  unsigned axis = op.getAxis();
  if (inference.getSymbols().isAtMost(op.getUpdate().getDim(axis),
                                      inference.get(op.inputIdx, axis)) ==
      Certainty::Yes)
    return Error::success();
  return inference.refuse(op.inputIdx, axis,
                          "it may be less than that of the update; accepted: "
                          "at least as much");
}

Error glowish::extendNonMaxSuppression(ExtentInference &inference) {
  NonMaxSuppressionView op(inference.getOp());
  GLOWISH_RETURN_IF_ERROR(inference.refuse(
      op.boxesIdx, 2, "a box has 4 numbers; accepted: others"));
  inference.setSame(0, op.boxesIdx, 0);
  inference.setSame(0, op.candidatesIdx, 0);
  inference.setSame(1, op.candidatesIdx, 1);
  return Error::success();
}

Error glowish::extendTreeEnsemble(ExtentInference &inference) {
  TreeEnsembleView op(inference.getOp());
  GLOWISH_RETURN_IF_ERROR(inference.refuse(
      op.inputIdx, 1, "trees compare any column; accepted: others"));
  for (unsigned index : {op.valuesIdx, op.weightsIdx})
    for (unsigned d = 0; d < 2; ++d)
      if (index == op.weightsIdx || d == 0)
        GLOWISH_RETURN_IF_ERROR(inference.refuse(
            index, d, "it has an element for each node; accepted: others"));
  inference.setSame(0, op.inputIdx, 0);
  return Error::success();
}

//===- Reshape ------------------------------------------------------------===//

/// Returns the dimensions from \p begin to \p end of \p shape but for those of
/// extent 1, which change no number of elements.
static llvm::SmallVector<unsigned, 4> takeGroup(DimsRef shape, unsigned begin,
                                                unsigned end) {
  llvm::SmallVector<unsigned, 4> dims;
  for (unsigned d = begin; d < end; ++d)
    if (shape[d] != 1)
      dims.push_back(d);
  return dims;
}

/// Sets the dimensions \p to of a reshape, which have the elements of the
/// dimensions \p from of the operand, and no fewer of them do.
static Error extendGroup(ExtentInference &inference,
                         llvm::ArrayRef<unsigned> from,
                         llvm::ArrayRef<unsigned> to) {
  if (from.empty())
    return Error::success();
  // The elements of an outermost dimension stay together, those of others not.
  for (unsigned own : from.drop_front())
    GLOWISH_RETURN_IF_ERROR(inference.refuse(
        0, own,
        "it is joined with what is before it; accepted: an outermost one"));
  const Extent *extent = inference.find(0, from.front());
  if (!extent)
    return Error::success();
  DimsRef shape = inference.getOp().getInput(0).getShape();
  int64_t inner = 1, outer = 1;
  for (unsigned own : from.drop_front())
    inner *= shape[own];
  for (unsigned dim : to.drop_front())
    outer *= inference.getShape()[dim];
  std::optional<Extent> count = multiply(*extent, inner);
  std::optional<Extent> rows = count ? divideDown(*count, outer) : std::nullopt;
  std::optional<Extent> all = rows ? multiply(*rows, outer) : std::nullopt;
  if (all)
    inference.require(*all, *count);
  inference.set(to.front(), std::move(rows));
  return Error::success();
}

/// Sets the dimensions \p to of a reshape of no elements to the dimensions
/// \p from, as far as both are the same from their ends. The others, among them
/// one of 0, may have any extents.
static void extendEmpty(ExtentInference &inference,
                        llvm::ArrayRef<unsigned> from,
                        llvm::ArrayRef<unsigned> to) {
  const Type &own = inference.getOp().getInput(0);
  auto setIfSame = [&](unsigned x, unsigned y) {
    bool isSame = own.getDim(x) == inference.getShape()[y];
    if (isSame)
      inference.setSame(y, 0, x);
    return isSame;
  };
  while (!from.empty() && !to.empty() && setIfSame(from.front(), to.front())) {
    from = from.drop_front();
    to = to.drop_front();
  }
  while (!from.empty() && !to.empty() && setIfSame(from.back(), to.back())) {
    from = from.drop_back();
    to = to.drop_back();
  }
}

Error glowish::extendReshape(ExtentInference &inference) {
  ReshapeView op(inference.getOp());
  DimsRef from = op.getInput().getShape(), to = inference.getShape();
  for (unsigned d = 0; d < from.size(); ++d)
    if (from[d] <= 1)
      GLOWISH_RETURN_IF_ERROR(inference.refuse(
          op.inputIdx, d, "it is 0 or 1; accepted: larger ones"));
  if (countElements(to) == 0) {
    extendEmpty(inference, takeGroup(from, 0, from.size()),
                takeGroup(to, 0, to.size()));
    return Error::success();
  }
  unsigned i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    // The fewest dimensions of both that have as many elements.
    unsigned firstFrom = i, firstTo = j;
    int64_t own = 1, result = 1;
    do {
      if (i < from.size() && (own <= result || j == to.size()))
        own *= from[i++];
      else
        result *= to[j++];
    } while (own != result);
    GLOWISH_RETURN_IF_ERROR(extendGroup(
        inference, takeGroup(from, firstFrom, i), takeGroup(to, firstTo, j)));
  }
  return Error::success();
}
