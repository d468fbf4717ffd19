//===- DataMovement.cpp - Concat, Split, Pad, DepthToSpace ----------------===//

#include "ONNX/Extents.h"
#include "ONNX/Ops/Concat.h"
#include "ONNX/Ops/WholeNumbers.h"
#include "glowish/Base/CheckedInt.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

llvm::Error onnximport::alignParts(OpContext &op,
                                   llvm::MutableArrayRef<NodeValue> parts,
                                   int64_t axis) {
  unsigned rank = parts.front().getShape().size();
  for (NodeValue part : parts)
    if (part.getShape().size() != rank)
      return llvm::Error::success(); // The node refuses them.
  // The second round propagates the smallest bound to the first parts.
  for (unsigned round = 0; round < 2; ++round)
    for (NodeValue &part : parts.drop_front())
      for (unsigned d = 0; d < rank; ++d)
        if (d != axis)
          GLOWISH_RETURN_IF_ERROR(align(op, parts.front(), d, part, d));
  return op.takeError();
}

static llvm::Error importConcat(OpContext &op) {
  op.keepExtents();
  std::vector<NodeValue> parts;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue part, op.getInput(i));
    parts.push_back(part);
  }
  if (parts.empty())
    return makeError("no inputs");
  if (op.getOpset() >= 4 && !op.hasAttr("axis"))
    return makeError("attribute 'axis' is missing");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getAxis("axis", 1, parts[0].getShape().size()));
  GLOWISH_RETURN_IF_ERROR(alignParts(op, parts, axis));
  return op.setOutput(0, op.create<ConcatNode>(parts, axis));
}

/// Returns the elements [start, start + size) along one dimension.
static llvm::Expected<NodeValue> slicePart(OpContext &op, NodeValue input,
                                           int64_t axis, int64_t start,
                                           int64_t size) {
  std::vector<int64_t> starts(input.getShape().size(), 0);
  std::vector<int64_t> steps(input.getShape().size(), 1);
  std::vector<int64_t> sizes(input.getShape());
  starts[axis] = start;
  sizes[axis] = size;
  return op.create<SliceNode>(input, starts, sizes, steps);
}

/// Reads the extents of the parts, an input in opset 1 and since opset 13;
/// empty if they are equal.
static llvm::Expected<std::vector<int64_t>> readSplit(OpContext &op) {
  if (op.getOpset() == 1 && op.hasInput(1))
    return readWholeNumbers(op, 1);
  return op.getIntsOrInput("split", 1, {});
}

static llvm::Error importSplit(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getAxis("axis", 0, input.getShape().size()));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, readSplit(op));
  if (input.getType().getExtent(axis))
    return makeError("the extent of dimension {0}, which is split, is known "
                     "only when the model runs; accepted: such extents of "
                     "others",
                     axis);
  int64_t extent = input.getShape()[axis], count = op.getNumOutputs();
  int64_t stated = op.getInt("num_outputs", count);
  if (stated != count)
    return makeError("attribute 'num_outputs' is {0}; the node has {1} outputs",
                     stated, count);
  if (sizes.empty() && count) {
    int64_t chunk = (extent + count - 1) / count;
    for (int64_t i = 0; i < count; ++i)
      sizes.push_back(std::clamp<int64_t>(extent - i * chunk, 0, chunk));
  }
  CheckedInt total = 0;
  for (int64_t size : sizes) {
    total += size;
    if (size < 0 || !total.get())
      return makeError("a part has the size {0}", size);
  }
  if (int64_t(sizes.size()) != count || total.get() != extent)
    return makeError("{0} parts of {1} in all; {2} outputs share {3}",
                     sizes.size(), *total.get(), count, extent);
  int64_t start = 0;
  for (int64_t i = 0; i < count; ++i) {
    op.nameAfterOutput(i);
    GLOWISH_RETURN_IF_ERROR(
        op.setOutput(i, slicePart(op, input, axis, start, sizes[i])));
    start += sizes[i];
  }
  return llvm::Error::success();
}

/// Expands pads of the dimensions \p axes to pads of all dimensions, all starts
/// before all ends.
static llvm::Expected<std::vector<int64_t>>
expandPads(llvm::ArrayRef<int64_t> pads, llvm::ArrayRef<int64_t> axes,
           unsigned rank) {
  if (pads.size() != 2 * axes.size())
    return makeError("{0} pads; accepted: 2 for each of {1} axes", pads.size(),
                     axes.size());
  std::vector<int64_t> all(2 * rank, 0);
  for (unsigned i = 0; i < axes.size(); ++i) {
    llvm::Expected<int64_t> axis = normalizeAxis(axes[i], rank);
    if (!axis)
      return addContext(axis.takeError(), "an axis is ");
    all[*axis] = pads[i];
    all[rank + *axis] = pads[axes.size() + i];
  }
  return all;
}

/// Crops \p value where \p pads are negative, and makes these 0: modes other
/// than constant pad with what is left.
static llvm::Expected<NodeValue> cropFirst(OpContext &op, NodeValue value,
                                           std::vector<int64_t> &pads) {
  unsigned rank = value.getShape().size();
  for (unsigned d = 0; d < rank; ++d) {
    int64_t before = std::min<int64_t>(pads[d], 0);
    int64_t after = std::min<int64_t>(pads[rank + d], 0);
    int64_t extent = value.getShape()[d];
    if (before == 0 && after == 0)
      continue;
    if (after < 0 && value.getType().getExtent(d))
      return makeError("a run decides the extent of dimension {0} of input 0, "
                       "whose end is cropped; accepted: pads of at least 0 "
                       "there, or mode constant",
                       d);
    if (before < -extent || after < -extent - before)
      return makeError("pads {0} and {1} of dimension {2}; accepted: crops of "
                       "up to {3} elements",
                       pads[d], pads[rank + d], d, extent);
    GLOWISH_ASSIGN_OR_RETURN(
        value, slicePart(op, value, d, -before, extent + before + after));
    pads[d] = std::max<int64_t>(pads[d], 0);
    pads[rank + d] = std::max<int64_t>(pads[rank + d], 0);
  }
  return value;
}

/// Pads dimension \p d with elements from its other end, or reflections of
/// reflections: index i beyond the dimension is that of i modulo a period.
static llvm::Expected<NodeValue> repeat(OpContext &op, NodeValue value,
                                        unsigned d, int64_t before,
                                        int64_t after, bool isReflected) {
  int64_t extent = value.getShape()[d];
  if (extent == 0 || std::max(before, after) > INT32_MAX)
    return makeError("pads {0} and {1} of dimension {2}, which has {3} "
                     "elements; accepted: up to 2^31 - 1 beside elements",
                     before, after, d, extent);
  // There, and where it is reflected back again.
  int64_t period =
      isReflected ? std::max<int64_t>(2 * (extent - 1), 1) : extent;
  NodeValue source =
      op.table(ElemKind::Int64, {before + extent + after}, [&](DimsRef index) {
        int64_t i = (index[0] - before % period + period) % period;
        return double(isReflected ? std::min(i, period - i) : i);
      });
  return op.finish(op.gather(value, source, d));
}

/// Pads the dimensions whose extents a run decides by elements at places that
/// are computed of these, and makes their \p pads 0. \p mode: not constant.
static llvm::Expected<NodeValue> padOpenDims(OpContext &op, NodeValue value,
                                             std::vector<int64_t> &pads,
                                             llvm::StringRef mode) {
  unsigned rank = value.getShape().size();
  for (unsigned d = 0; d < rank; ++d) {
    int64_t &before = pads[d], &after = pads[rank + d];
    const Extent *own = value.getType().getExtent(d);
    if (!own || (before == 0 && after == 0))
      continue;
    std::optional<Extent> extent = add(*own, before + after);
    if (!extent || std::max(before, after) > INT32_MAX)
      return makeError("pads {0} and {1} of dimension {2}; accepted: up to "
                       "2^31 - 1",
                       before, after, d);
    NodeValue last = op.sub(op.getLength(value, d), 1);
    NodeValue place = op.sub(
        op.iota(ElemKind::Int64, 1, 0, before + value.getShape()[d] + after),
        double(before));
    if (mode == "edge") {
      place = op.max(op.min(place, last), 0);
    } else {
      // Places repeat, reflected ones back from the end.
      bool isReflected = mode == "reflect";
      NodeValue period =
          op.max(isReflected ? op.mul(last, 2) : op.add(last, 1), 1);
      NodeValue rest = op.sub(place, op.mul(op.div(place, period), period));
      place = op.select(op.less(rest, 0), op.add(rest, period), rest);
      if (isReflected)
        place = op.min(place, op.sub(period, place));
    }
    value = op.gather(value, place, d);
    GLOWISH_ASSIGN_OR_RETURN(value, op.finish(value));
    ExtentList extents(value.getType().getExtents());
    extents.resize(rank);
    extents[d] = std::move(extent);
    value = op.declareExtents(value, value.getType().withExtents(extents));
    before = after = 0;
  }
  return op.finish(value);
}

/// Mode wrap: pads with the last elements at the start and the first elements
/// at the end.
static llvm::Expected<NodeValue> wrapPad(OpContext &op, NodeValue value,
                                         llvm::ArrayRef<int64_t> pads) {
  unsigned rank = value.getShape().size();
  for (unsigned d = 0; d < rank; ++d) {
    int64_t before = pads[d], after = pads[rank + d];
    int64_t extent = value.getShape()[d];
    if (std::max(before, after) > extent) {
      GLOWISH_ASSIGN_OR_RETURN(
          value, repeat(op, value, d, before, after, /*isReflected=*/false));
      continue;
    }
    std::vector<NodeValue> parts = {value};
    if (before) {
      GLOWISH_ASSIGN_OR_RETURN(
          NodeValue tail, slicePart(op, value, d, extent - before, before));
      parts.insert(parts.begin(), tail);
    }
    if (after) {
      GLOWISH_ASSIGN_OR_RETURN(NodeValue head,
                               slicePart(op, value, d, 0, after));
      parts.push_back(head);
    }
    if (parts.size() > 1) {
      GLOWISH_ASSIGN_OR_RETURN(value, op.create<ConcatNode>(parts, d));
    }
  }
  return value;
}

/// Mode reflect where the pads of dimensions are longer than what is reflected,
/// their extent less 1: those are padded, and their \p pads become 0.
static llvm::Expected<NodeValue> reflectAgain(OpContext &op, NodeValue value,
                                              std::vector<int64_t> &pads) {
  unsigned rank = value.getShape().size();
  for (unsigned d = 0; d < rank; ++d) {
    int64_t before = pads[d], after = pads[rank + d];
    if (std::max(before, after) < std::max<int64_t>(value.getShape()[d], 1))
      continue;
    GLOWISH_ASSIGN_OR_RETURN(
        value, repeat(op, value, d, before, after, /*isReflected=*/true));
    pads[d] = pads[rank + d] = 0;
  }
  return value;
}

/// Pads with a computed value: pads with 0, then selects the value where an
/// equally padded mask is 0.
static llvm::Expected<NodeValue> padWith(OpContext &op, NodeValue input,
                                         llvm::ArrayRef<int64_t> pads,
                                         NodeValue value) {
  if (value.getType().getNumElements() != 1)
    return makeError("the value is {0}; accepted: one element",
                     value.getType().str());
  value = op.reshape(value, {});
  NodeValue padded = op.pad(input, pads, 0);
  NodeValue all =
      op.declareExtents(op.splat(ElemKind::Bool, input.getShape(), 1),
                        input.getType().withKind(ElemKind::Bool));
  return op.finish(op.select(op.pad(all, pads, 0), padded, value));
}

/// The pads are an attribute before opset 11 (`paddings` in opset 1).
static llvm::Error importPad(OpContext &op, NodeValue input) {
  unsigned rank = input.getShape().size();
  llvm::StringRef name = op.hasAttr("paddings") ? "paddings" : "pads";
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> pads,
                           op.getRequiredInts(name, 1));
  std::string mode = op.getString("mode", "constant");
  double value = 0;
  if (op.getOpset() < 11)
    value = op.getFloat("value", 0);
  NodeValue computedValue;
  if (op.hasInput(2)) {
    GLOWISH_ASSIGN_OR_RETURN(computedValue, op.getInput(2));
    if (computedValue.getNodeAs<Constant>()) {
      GLOWISH_ASSIGN_OR_RETURN(value, op.getConstantNumber(2));
      // The node's value is a double, which does not have all integers.
      if (!isIntegerKind(input.getElemKind()) || std::abs(value) < 0x1p53)
        computedValue = {};
    }
  }
  if (op.hasInput(3)) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes, op.getConstantInts(3));
    GLOWISH_ASSIGN_OR_RETURN(pads, expandPads(pads, axes, rank));
  }
  if (pads.size() != 2 * rank)
    return makeError("{0} pads; accepted for rank {1}: {2}", pads.size(), rank,
                     2 * rank);
  if (mode != "constant") {
    GLOWISH_ASSIGN_OR_RETURN(input, cropFirst(op, input, pads));
    GLOWISH_ASSIGN_OR_RETURN(input, padOpenDims(op, input, pads, mode));
  }
  if (mode == "reflect") {
    GLOWISH_ASSIGN_OR_RETURN(input, reflectAgain(op, input, pads));
  }
  if (mode == "wrap")
    return op.setOutput(0, wrapPad(op, input, pads));
  if (mode == "constant" && computedValue)
    return op.setOutput(0, padWith(op, input, pads, computedValue));
  return op.setOutput(0, op.create<PadNode>(input, pads, mode, value));
}

/// Moves blocks of channels to pixels. Mode DCR interprets the channels as
/// [block, block, C], CRD as [C, block, block].
static llvm::Error importDepthToSpace(OpContext &op, NodeValue input) {
  int64_t block = op.getInt("blocksize", 0);
  std::string mode = op.getString("mode", "DCR");
  DimsRef in = input.getShape();
  CheckedInt height = 0, width = 0;
  if (in.size() == 4) {
    height = CheckedInt(in[2]) * block;
    width = CheckedInt(in[3]) * block;
  }
  if (in.size() != 4 || block < 1 || block > INT32_MAX ||
      in[1] % (block * block) || !height.get() || !width.get())
    return makeError("input 0 is {0} and 'blocksize' {1}; accepted: rank 4 "
                     "and a block that divides the channels",
                     input.getType().str(), block);
  if (mode != "DCR" && mode != "CRD")
    return makeError("attribute 'mode' is '{0}'; accepted: DCR, CRD", mode);
  bool isDCR = mode == "DCR";
  int64_t channels = in[1] / (block * block);
  Dims split = isDCR ? Dims{in[0], block, block, channels, in[2], in[3]}
                     : Dims{in[0], channels, block, block, in[2], in[3]};
  Dims joined = {in[0], channels, *height.get(), *width.get()};
  std::vector<int64_t> order = {0, 1, 4, 2, 5, 3};
  if (isDCR)
    order = {0, 3, 4, 1, 5, 2};
  NodeValue pixels = op.transpose(op.reshape(input, split), order);
  return op.setOutput(0, op.reshape(pixels, joined));
}

static llvm::Error importSpaceToDepth(OpContext &op, NodeValue input) {
  int64_t block = op.getInt("blocksize", 0);
  DimsRef in = input.getShape();
  CheckedInt channels = 0;
  if (in.size() == 4)
    channels = CheckedInt(in[1]) * block * block;
  if (in.size() != 4 || block < 1 || block > INT32_MAX || in[2] % block ||
      in[3] % block || !channels.get())
    return makeError("input 0 is {0} and 'blocksize' {1}; accepted: rank 4 "
                     "and a block that divides height and width",
                     input.getType().str(), block);
  int64_t height = in[2] / block, width = in[3] / block;
  Dims split = {in[0], in[1], height, block, width, block};
  Dims joined = {in[0], *channels.get(), height, width};
  NodeValue blocks = op.transpose(op.reshape(input, split), {0, 3, 5, 1, 2, 4});
  return op.setOutput(0, op.reshape(blocks, joined));
}

static OnnxOperator concatOp("Concat", 1, importConcat);
static OnnxOperator splitOp("Split", 1, withExtents<importSplit>);
static OnnxOperator padOp("Pad", 1, withExtents<importPad>);
static OnnxOperator depthToSpaceOp("DepthToSpace", 1,
                                   withExtents<importDepthToSpace>);
static OnnxOperator spaceToDepthOp("SpaceToDepth", 1,
                                   withExtents<importSpaceToDepth>);
