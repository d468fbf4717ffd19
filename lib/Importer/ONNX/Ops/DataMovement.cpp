//===- DataMovement.cpp - Reshapes, slices, concatenations ----------------===//

#include "ONNX/OpContext.h"

using namespace glowish;

static llvm::Error importReshape(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(std::vector<int64_t> shape, op.getIntsOrInput("shape", 1, {}));
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
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank || shape[axis < 0 ? axis + rank : axis] != 1)
      return makeError("axis {0} of {1} is not a dimension of extent 1", axis,
                       input.getType().str());
    removed[axis < 0 ? axis + rank : axis] = true;
  }
  Dims result;
  for (int64_t d = 0; d < rank; ++d)
    if (axes.empty() ? shape[d] != 1 : !removed[d])
      result.push_back(shape[d]);
  return op.setOutput(0, op.reshape(input, result));
}

static llvm::Error importUnsqueeze(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(std::vector<int64_t> axes, op.getIntsOrInput("axes", 1, {}));
  int64_t rank = input.getShape().size() + axes.size();
  llvm::SmallVector<bool> added(rank, false);
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank || added[axis < 0 ? axis + rank : axis])
      return makeError("axis {0} does not exist in rank {1}, or comes twice",
                       axis, rank);
    added[axis < 0 ? axis + rank : axis] = true;
  }
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
  GLOWISH_TRY(int64_t axis,
              op.getAxis("axis", 1, inputs[0].getShape().size()));
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
    GLOWISH_CHECK(
        op.setOutput(i, slicePart(op, input, axis, start, sizes[i])));
    start += sizes[i];
  }
  return llvm::Error::success();
}

/// Starts, ends and steps as numpy has them, clamped to the extent.
static llvm::Error importSlice(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  int64_t rank = input.getShape().size();
  GLOWISH_TRY(std::vector<int64_t> starts, op.getIntsOrInput("starts", 1, {}));
  GLOWISH_TRY(std::vector<int64_t> ends, op.getIntsOrInput("ends", 2, {}));
  std::vector<int64_t> all;
  for (unsigned i = 0; i < starts.size(); ++i)
    all.push_back(i);
  GLOWISH_TRY(std::vector<int64_t> axes, op.getIntsOrInput("axes", 3, all));
  GLOWISH_TRY(std::vector<int64_t> steps,
              op.getIntsOrInput("steps", 4,
                                std::vector<int64_t>(starts.size(), 1)));
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return makeError("starts, ends, axes and steps have different lengths");
  std::vector<int64_t> first(rank, 0), stride(rank, 1);
  std::vector<int64_t> sizes(input.getShape());
  for (unsigned i = 0; i < axes.size(); ++i) {
    int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || steps[i] == 0 || steps[i] == INT64_MIN)
      return makeError("axis {0} with step {1} is not possible in rank {2}",
                       axes[i], steps[i], rank);
    int64_t extent = input.getShape()[axis], step = steps[i];
    auto clamp = [&](int64_t index) {
      int64_t from = index < 0 ? std::max<int64_t>(index, -extent - 1) + extent
                               : index;
      return std::clamp<int64_t>(from, step < 0 ? -1 : 0,
                                 step < 0 ? extent - 1 : extent);
    };
    int64_t start = clamp(starts[i]), end = clamp(ends[i]);
    int64_t distance = step < 0 ? start - end : end - start;
    int64_t size = step < 0 ? -step : step;
    first[axis] = start;
    stride[axis] = step;
    sizes[axis] = distance <= 0 ? 0 : (distance - 1) / size + 1;
    if (sizes[axis] == 0) {
      first[axis] = 0;
      stride[axis] = 1;
    }
  }
  return op.setOutput(0, op.create<SliceNode>(input, first, sizes, stride));
}

static llvm::Error importGather(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(NodeValue indices, op.getInput(1));
  GLOWISH_TRY(int64_t axis, op.getAxis("axis", 0, input.getShape().size()));
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
      return makeError("accepted: one count and one axis");
    all[axis[0]] = repeats[0];
    repeats = all;
  }
  return op.setOutput(0, op.create<TileNode>(input, repeats));
}

static llvm::Error importPad(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  int64_t rank = input.getShape().size();
  llvm::StringRef name = op.hasAttr("paddings") ? "paddings" : "pads";
  GLOWISH_TRY(std::vector<int64_t> pads, op.getIntsOrInput(name, 1, {}));
  GLOWISH_TRY(std::string mode, op.getString("mode", "constant"));
  double value = 0;
  if (op.getOpset() < 11) {
    GLOWISH_TRY(value, op.getFloat("value", 0));
  } else if (op.hasInput(2)) {
    GLOWISH_TRY(const Tensor *tensor, op.getConstant(2));
    if (tensor->getNumElements() != 1)
      return makeError("the value has {0} elements; accepted: 1",
                       tensor->getNumElements());
    value = tensor->getAsDouble(0);
  }
  if (op.hasInput(3)) {
    GLOWISH_TRY(std::vector<int64_t> axes, op.getConstantInts(3));
    std::vector<int64_t> all(2 * rank, 0);
    if (pads.size() != 2 * axes.size())
      return makeError("{0} pads for {1} axes", pads.size(), axes.size());
    for (unsigned i = 0; i < axes.size(); ++i) {
      int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
      if (axis < 0 || axis >= rank)
        return makeError("axis {0} does not exist in rank {1}", axes[i], rank);
      all[axis] = pads[i];
      all[rank + axis] = pads[axes.size() + i];
    }
    pads = all;
  }
  return op.setOutput(0, op.create<PadNode>(input, pads, mode, value));
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
