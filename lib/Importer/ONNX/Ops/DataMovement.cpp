//===- DataMovement.cpp - Reshapes, slices, concatenations ----------------===//

#include "ONNX/OpContext.h"

using namespace glowish;

static llvm::Error importReshape(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(std::vector<int64_t> shape, op.getRequiredInts("shape", 1));
  GLOWISH_TRY(int64_t allowZero, op.getInt("allowzero", 0));
  int64_t known = 1;
  std::optional<unsigned> unknown;
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !allowZero) {
      if (d >= input.getShape().size())
        return makeError("the shape copies dimension {0}, which {1} lacks", d,
                         input.getType().str());
      shape[d] = input.getShape()[d];
    }
    if (shape[d] == -1 && !unknown) {
      unknown = d;
    } else if (shape[d] < 0 ||
               __builtin_mul_overflow(known, shape[d], &known)) {
      return makeError("{0} is no shape", formatShape(shape));
    }
  }
  int64_t count = input.getType().getNumElements();
  if (unknown) {
    if (known == 0 || count % known)
      return makeError("{0} elements cannot get the shape {1}", count,
                       formatShape(shape));
    shape[*unknown] = count / known;
  }
  return op.setOutput(0, op.reshape(input, shape));
}

static llvm::Error importFlatten(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  DimsRef shape = input.getShape();
  GLOWISH_TRY(int64_t axis, op.getInt("axis", 1));
  int64_t rank = shape.size();
  if (axis < -rank || axis > rank)
    return makeError("attribute 'axis' is {0}; accepted: {1} to {2}", axis,
                     -rank, rank);
  if (axis < 0)
    axis += rank;
  int64_t rows = 1, columns = 1;
  for (int64_t d = 0; d < rank; ++d)
    (d < axis ? rows : columns) *= shape[d];
  return op.setOutput(0, op.reshape(input, {rows, columns}));
}

/// Squeeze without axes removes all dimensions of extent 1.
static llvm::Error importSqueeze(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(std::vector<int64_t> axes, op.getIntsOrInput("axes", 1, {}));
  DimsRef shape = input.getShape();
  int64_t rank = shape.size();
  llvm::SmallVector<bool> removed(rank, false);
  GLOWISH_TRY(axes, normalizeAxes(axes, rank));
  for (int64_t axis : axes) {
    if (shape[axis] != 1)
      return makeError("dimension {0} of {1} cannot be removed; accepted: "
                       "extent 1",
                       axis, input.getType().str());
    removed[axis] = true;
  }
  Dims result;
  for (int64_t d = 0; d < rank; ++d)
    if (axes.empty() ? shape[d] != 1 : !removed[d])
      result.push_back(shape[d]);
  return op.setOutput(0, op.reshape(input, result));
}

static llvm::Error importUnsqueeze(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(std::vector<int64_t> axes, op.getRequiredInts("axes", 1));
  int64_t rank = input.getShape().size() + axes.size();
  llvm::SmallVector<bool> added(rank, false);
  GLOWISH_TRY(std::vector<int64_t> distinct, normalizeAxes(axes, rank));
  if (distinct.size() != axes.size())
    return makeError("an axis comes twice");
  for (int64_t axis : distinct)
    added[axis] = true;
  Dims result;
  const int64_t *next = input.getShape().begin();
  for (int64_t d = 0; d < rank; ++d)
    result.push_back(added[d] ? 1 : *next++);
  return op.setOutput(0, op.reshape(input, result));
}

static llvm::Error importTranspose(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  std::vector<int64_t> reversed;
  for (int64_t d = input.getShape().size(); d-- > 0;)
    reversed.push_back(d);
  GLOWISH_TRY(std::vector<int64_t> permutation, op.getInts("perm", reversed));
  return op.setOutput(0, op.transpose(input, permutation));
}

static llvm::Error importConcat(OpContext &op) {
  std::vector<NodeValue> inputs;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    GLOWISH_TRY(NodeValue input, op.getInput(i));
    inputs.push_back(input);
  }
  if (inputs.empty())
    return makeError("no inputs");
  if (op.getOpset() >= 4 && !op.hasAttr("axis"))
    return makeError("attribute 'axis' is missing");
  GLOWISH_TRY(int64_t axis, op.getAxis("axis", 1, inputs[0].getShape().size()));
  return op.setOutput(0, op.create<ConcatNode>(inputs, axis));
}

/// The part [start, start + size) of one dimension.
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

static llvm::Error importSplit(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(int64_t axis, op.getAxis("axis", 0, input.getShape().size()));
  GLOWISH_TRY(std::vector<int64_t> sizes, op.getIntsOrInput("split", 1, {}));
  int64_t extent = input.getShape()[axis], count = op.getNumOutputs();
  GLOWISH_TRY(int64_t stated, op.getInt("num_outputs", count));
  if (stated != count)
    return makeError("attribute 'num_outputs' is {0}; the node has {1} outputs",
                     stated, count);
  if (sizes.empty() && count) {
    int64_t chunk = (extent + count - 1) / count;
    for (int64_t i = 0; i < count; ++i)
      sizes.push_back(std::clamp<int64_t>(extent - i * chunk, 0, chunk));
  }
  int64_t total = 0;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_add_overflow(total, size, &total))
      return makeError("a part has the size {0}", size);
  if (int64_t(sizes.size()) != count || total != extent)
    return makeError("{0} parts of {1} in all; {2} outputs share {3}",
                     sizes.size(), total, count, extent);
  int64_t start = 0;
  for (int64_t i = 0; i < count; ++i) {
    op.nameAfterOutput(i);
    GLOWISH_CHECK(op.setOutput(i, slicePart(op, input, axis, start, sizes[i])));
    start += sizes[i];
  }
  return llvm::Error::success();
}

namespace {
/// Elements first, first + step, ... of one dimension, `size` of them.
struct SlicedDim {
  int64_t first = 0, step = 1, size = 0;
};
} // namespace

/// Start and end as ONNX has them: negative ones count from the end, and what
/// is outside is clamped. \p step is neither 0 nor INT64_MIN.
static SlicedDim sliceDim(int64_t extent, int64_t start, int64_t end,
                          int64_t step) {
  auto clamp = [&](int64_t index, int64_t least, int64_t most) {
    if (index < 0)
      index = std::max(index, -extent - 1) + extent;
    return std::clamp(index, least, most);
  };
  if (extent == 0)
    return {};
  bool isBackward = step < 0;
  start = clamp(start, 0, isBackward ? extent - 1 : extent);
  end = clamp(end, isBackward ? -1 : 0, isBackward ? extent - 1 : extent);
  int64_t distance = isBackward ? start - end : end - start;
  if (distance <= 0)
    return {};
  return {start, step, (distance - 1) / (isBackward ? -step : step) + 1};
}

static llvm::Error importSlice(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  unsigned rank = input.getShape().size();
  GLOWISH_TRY(std::vector<int64_t> starts, op.getRequiredInts("starts", 1));
  GLOWISH_TRY(std::vector<int64_t> ends, op.getRequiredInts("ends", 2));
  std::vector<int64_t> all;
  for (unsigned i = 0; i < starts.size(); ++i)
    all.push_back(i);
  GLOWISH_TRY(std::vector<int64_t> axes, op.getIntsOrInput("axes", 3, all));
  GLOWISH_TRY(
      std::vector<int64_t> steps,
      op.getIntsOrInput("steps", 4, std::vector<int64_t>(starts.size(), 1)));
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return makeError("{0} starts, {1} ends, {2} axes, {3} steps; accepted: as "
                     "many of each",
                     starts.size(), ends.size(), axes.size(), steps.size());
  std::vector<int64_t> first(rank, 0), stride(rank, 1);
  std::vector<int64_t> sizes(input.getShape());
  llvm::SmallVector<bool> isSliced(rank, false);
  for (unsigned i = 0; i < axes.size(); ++i) {
    llvm::Expected<int64_t> axis = normalizeAxis(axes[i], rank);
    if (!axis)
      return addContext(axis.takeError(), "an axis is ");
    if (isSliced[*axis])
      return makeError("axis {0} comes twice", *axis);
    isSliced[*axis] = true;
    if (steps[i] == 0 || steps[i] == INT64_MIN)
      return makeError("a step is {0}; accepted: any but 0", steps[i]);
    SlicedDim dim = sliceDim(sizes[*axis], starts[i], ends[i], steps[i]);
    first[*axis] = dim.first;
    stride[*axis] = dim.step;
    sizes[*axis] = dim.size;
  }
  return op.setOutput(0, op.create<SliceNode>(input, first, sizes, stride));
}

/// An index outside is an error where it is known.
static llvm::Error checkIndices(const Tensor &indices, int64_t extent) {
  for (int64_t i = 0; i < indices.getNumElements(); ++i) {
    int64_t index = indices.getAsInt(i);
    if (index < -extent || index >= extent)
      return makeError("index {0} is outside; accepted for extent {1}: {2} to "
                       "{3}",
                       index, extent, -extent, extent - 1);
  }
  return llvm::Error::success();
}

static llvm::Error importGather(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(NodeValue indices, op.getInput(1));
  GLOWISH_TRY(int64_t axis, op.getAxis("axis", 0, input.getShape().size()));
  if (auto *constant = indices.getNodeAs<Constant>())
    GLOWISH_CHECK(checkIndices(constant->getTensor(), input.getShape()[axis]));
  return op.setOutput(0, op.create<GatherNode>(input, indices, axis));
}

static llvm::Error importExpand(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(std::vector<int64_t> shape, op.getConstantInts(1));
  GLOWISH_TRY(Dims result, broadcastShapes({input.getShape(), shape}));
  if (DimsRef(result) == input.getShape())
    return op.setOutput(0, input);
  return op.setOutput(0, op.create<BroadcastNode>(input, result));
}

static llvm::Error importTile(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(std::vector<int64_t> repeats, op.getConstantInts(1));
  if (op.getOpset() < 6) {
    // Tile-1 repeats one axis.
    GLOWISH_TRY(std::vector<int64_t> axis, op.getConstantInts(2));
    std::vector<int64_t> all(input.getShape().size(), 1);
    if (repeats.size() != 1 || axis.size() != 1 || axis[0] < 0 ||
        axis[0] >= int64_t(all.size()))
      return makeError("inputs 1 and 2 have {0} and {1} elements; accepted: "
                       "one count and one dimension",
                       repeats.size(), axis.size());
    all[axis[0]] = repeats[0];
    repeats = all;
  }
  return op.setOutput(0, op.create<TileNode>(input, repeats));
}

/// Pads of all dimensions, starts and then ends, from those of some.
static llvm::Expected<std::vector<int64_t>>
spreadPads(llvm::ArrayRef<int64_t> pads, llvm::ArrayRef<int64_t> axes,
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

/// Mode wrap: the last elements in front, the first ones behind.
static llvm::Expected<NodeValue> wrapPad(OpContext &op, NodeValue value,
                                         llvm::ArrayRef<int64_t> pads) {
  unsigned rank = value.getShape().size();
  if (pads.size() != 2 * rank)
    return makeError("{0} pads; accepted for rank {1}: {2}", pads.size(), rank,
                     2 * rank);
  for (unsigned d = 0; d < rank; ++d) {
    int64_t before = pads[d], after = pads[rank + d];
    int64_t extent = value.getShape()[d];
    if (before < 0 || before > extent || after < 0 || after > extent)
      return makeError("pads {0} and {1} of dimension {2}; accepted in mode "
                       "wrap: 0 to {3}",
                       before, after, d, extent);
    std::vector<NodeValue> parts = {value};
    if (before) {
      GLOWISH_TRY(NodeValue tail,
                  slicePart(op, value, d, extent - before, before));
      parts.insert(parts.begin(), tail);
    }
    if (after) {
      GLOWISH_TRY(NodeValue head, slicePart(op, value, d, 0, after));
      parts.push_back(head);
    }
    if (parts.size() > 1) {
      GLOWISH_TRY(value, op.create<ConcatNode>(parts, d));
    }
  }
  return value;
}

/// Padding with a value that is computed when the model runs: 0 first, and
/// then the value where a mask that is padded alike has no element.
static llvm::Expected<NodeValue> padWith(OpContext &op, NodeValue input,
                                         llvm::ArrayRef<int64_t> pads,
                                         NodeValue value) {
  if (value.getType().getNumElements() != 1)
    return makeError("the value is {0}; accepted: one element",
                     value.getType().str());
  GLOWISH_TRY(value, op.reshape(value, {}, ".value"));
  GLOWISH_TRY(NodeValue padded, op.createHelper<PadNode>(".padded", input, pads,
                                                         "constant", 0.0));
  GLOWISH_TRY(NodeValue all, op.createHelper<SplatNode>(".all", ElemKind::Bool,
                                                        input.getShape(), 1.0));
  GLOWISH_TRY(NodeValue mask,
              op.createHelper<PadNode>(".mask", all, pads, "constant", 0.0));
  return op.create<SelectNode>(mask, padded, value);
}

/// The pads are an attribute before opset 11 (`paddings` in opset 1).
static llvm::Error importPad(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  unsigned rank = input.getShape().size();
  llvm::StringRef name = op.hasAttr("paddings") ? "paddings" : "pads";
  GLOWISH_TRY(std::vector<int64_t> pads, op.getRequiredInts(name, 1));
  GLOWISH_TRY(std::string mode, op.getString("mode", "constant"));
  double value = 0;
  if (op.getOpset() < 11) {
    GLOWISH_TRY(value, op.getFloat("value", 0));
  }
  NodeValue computedValue;
  if (op.hasInput(2)) {
    GLOWISH_TRY(computedValue, op.getInput(2));
    if (computedValue.getNodeAs<Constant>()) {
      GLOWISH_TRY(value, op.getConstantNumber(2));
      computedValue = {};
    }
  }
  if (op.hasInput(3)) {
    GLOWISH_TRY(std::vector<int64_t> axes, op.getConstantInts(3));
    GLOWISH_TRY(pads, spreadPads(pads, axes, rank));
  }
  if (mode == "wrap")
    return op.setOutput(0, wrapPad(op, input, pads));
  if (mode == "constant" && computedValue)
    return op.setOutput(0, padWith(op, input, pads, computedValue));
  return op.setOutput(0, op.create<PadNode>(input, pads, mode, value));
}

/// Blocks of the channels become pixels. Mode DCR reads the channels as
/// [block, block, C], CRD as [C, block, block].
static llvm::Error importDepthToSpace(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(int64_t block, op.getInt("blocksize", 0));
  GLOWISH_TRY(std::string mode, op.getString("mode", "DCR"));
  DimsRef in = input.getShape();
  if (in.size() != 4 || block < 1 || block > INT32_MAX ||
      in[1] % (block * block))
    return makeError("input 0 is {0} and 'blocksize' {1}; accepted: rank 4 "
                     "and a block that divides the channels",
                     input.getType().str(), block);
  if (mode != "DCR" && mode != "CRD")
    return makeError("attribute 'mode' is '{0}'; accepted: DCR, CRD", mode);
  bool isDCR = mode == "DCR";
  int64_t channels = in[1] / (block * block);
  Dims split = isDCR ? Dims{in[0], block, block, channels, in[2], in[3]}
                     : Dims{in[0], channels, block, block, in[2], in[3]};
  Dims joined = {in[0], channels, in[2] * block, in[3] * block};
  std::vector<int64_t> order = {0, 1, 4, 2, 5, 3};
  if (isDCR)
    order = {0, 3, 4, 1, 5, 2};
  GLOWISH_TRY(NodeValue value, op.reshape(input, split, ".blocks"));
  GLOWISH_TRY(value, op.transpose(value, order));
  return op.setOutput(0, op.reshape(value, joined, ".pixels"));
}

static llvm::Error importSpaceToDepth(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(int64_t block, op.getInt("blocksize", 0));
  DimsRef in = input.getShape();
  if (in.size() != 4 || block < 1 || block > INT32_MAX || in[2] % block ||
      in[3] % block)
    return makeError("input 0 is {0} and 'blocksize' {1}; accepted: rank 4 "
                     "and a block that divides height and width",
                     input.getType().str(), block);
  int64_t height = in[2] / block, width = in[3] / block;
  Dims split = {in[0], in[1], height, block, width, block};
  Dims joined = {in[0], in[1] * block * block, height, width};
  GLOWISH_TRY(NodeValue value, op.reshape(input, split, ".blocks"));
  GLOWISH_TRY(value, op.transpose(value, {0, 3, 5, 1, 2, 4}));
  return op.setOutput(0, op.reshape(value, joined, ".channels"));
}

static OnnxOperator reshapeOp("Reshape", 1, importReshape);
static OnnxOperator flattenOp("Flatten", 1, importFlatten);
static OnnxOperator squeezeOp("Squeeze", 1, importSqueeze);
static OnnxOperator unsqueezeOp("Unsqueeze", 1, importUnsqueeze);
static OnnxOperator transposeOp("Transpose", 1, importTranspose);
static OnnxOperator concatOp("Concat", 1, importConcat);
static OnnxOperator splitOp("Split", 1, importSplit);
static OnnxOperator sliceOp("Slice", 1, importSlice);
static OnnxOperator gatherOp("Gather", 1, importGather);
static OnnxOperator expandOp("Expand", 8, importExpand);
static OnnxOperator tileOp("Tile", 1, importTile);
static OnnxOperator padOp("Pad", 1, importPad);
static OnnxOperator depthToSpaceOp("DepthToSpace", 1, importDepthToSpace);
static OnnxOperator spaceToDepthOp("SpaceToDepth", 1, importSpaceToDepth);
