//===- Shape.cpp - Shapes, and where elements lie -------------------------===//

#include "Common/Positions.h"
#include "TFLite/Quantized.h"
#include "glowish/Base/CheckedInt.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

//===- Constants of attributes --------------------------------------------===//

/// A shape with at most one -1, for what \p elements leave.
static llvm::Expected<Dims> completeShape(std::vector<int64_t> shape,
                                          int64_t elements) {
  int64_t known = 1, *open = nullptr;
  for (int64_t &extent : shape) {
    if (extent == -1 && !open) {
      open = &extent;
      continue;
    }
    if (extent < 0 || (extent > 0 && known > maxTensorBytes / extent))
      return makeError("the new shape has the extent {0}", extent);
    known *= extent;
  }
  if (open)
    *open = known > 0 ? elements / known : 0;
  return Dims(shape.begin(), shape.end());
}

/// The shape is input 1, or an option of old models.
static llvm::Error importReshape(TFLiteOp &op) {
  std::vector<int64_t> shape;
  auto *stated = op.options<schema::ReshapeOptions>().get<"new_shape">();
  if (op.hasInput(1)) {
    GLOWISH_ASSIGN_OR_RETURN(shape, op.getConstantInts(1));
  } else if (stated) {
    shape.assign(stated->begin(), stated->end());
  } else {
    shape = op.getStatedType().getShape().vec();
  }
  GLOWISH_ASSIGN_OR_RETURN(
      Dims complete,
      completeShape(shape, op.input(0).getType().getNumElements()));
  return op.setOutput(0, op.reshape(op.input(0), complete));
}

static llvm::Error importSqueeze(TFLiteOp &op) {
  DimsRef shape = op.getShape(0);
  auto *stated = op.options<schema::SqueezeOptions>().get<"squeeze_dims">();
  std::vector<int64_t> axes;
  if (stated)
    axes.assign(stated->begin(), stated->end());
  GLOWISH_ASSIGN_OR_RETURN(axes, normalizeAxes(axes, shape.size()));
  Dims result;
  for (size_t d = 0; d < shape.size(); ++d) {
    bool isNamed = llvm::is_contained(axes, int64_t(d));
    if (isNamed && shape[d] != 1)
      return makeError("dimension {0} of {1} is squeezed; accepted: those of "
                       "extent 1",
                       d, op.input(0).getType().str());
    if (!isNamed && (!axes.empty() || shape[d] != 1))
      result.push_back(shape[d]);
  }
  return op.setOutput(0, op.reshape(op.input(0), result));
}

static llvm::Error importExpandDims(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getConstantAxis(1, op.getShape(0).size() + 1));
  return op.setOutput(0, op.unsqueeze(op.input(0), axis));
}

static llvm::Error importTranspose(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> order, op.getConstantInts(1));
  for (int64_t &axis : order) {
    GLOWISH_ASSIGN_OR_RETURN(axis, normalizeAxis(axis, op.getShape(0).size()));
  }
  return op.setOutput(0, op.transpose(op.input(0), order));
}

//===- Parts --------------------------------------------------------------===//

/// Input \p index in the steps of output 0.
static llvm::Expected<NodeValue> inOutputSteps(TFLiteOp &op, unsigned index) {
  if (!op.isQuantized(index) ||
      op.getTensor(index).quantization == op.getOutputQuantization())
    return op.input(index);
  GLOWISH_RETURN_IF_ERROR(op.checkQuantized(index));
  GLOWISH_RETURN_IF_ERROR(op.checkOutputQuantized());
  // As TensorFlow Lite does it: in float, halves away from zero.
  float factor = op.getScale(index) / op.getOutputScale();
  float offset = -float(op.getZeroPoint(index)) * factor;
  NodeValue x = op.cast(op.input(index), ElemKind::Float);
  NodeValue steps = op.add(op.mul(x, double(factor)), double(offset));
  NodeValue away =
      op.select(op.less(steps, 0), op.sub(steps, 0.5), op.add(steps, 0.5));
  return quantizeSteps(op, op.cast(away, ElemKind::Int32),
                       schema::ActivationFunctionType::NONE);
}

static llvm::Error importConcatenation(TFLiteOp &op) {
  auto options = op.options<schema::ConcatenationOptions>();
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, normalizeAxis(options.get<"axis">(),
                                                       op.getShape(0).size()));
  std::vector<NodeValue> parts;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    if (!op.hasInput(i))
      return op.refuseInput(i, "a tensor");
    GLOWISH_ASSIGN_OR_RETURN(NodeValue part, inOutputSteps(op, i));
    parts.push_back(part);
  }
  NodeValue result = op.concat(parts, axis);
  auto activation = options.get<"fused_activation_function">();
  if (activation != schema::ActivationFunctionType::NONE) {
    GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
    result = activate(op, result, activation);
  }
  return op.setOutput(0, result);
}

static llvm::Error importPack(TFLiteOp &op) {
  auto options = op.options<schema::PackOptions>();
  GLOWISH_ASSIGN_OR_RETURN(
      int64_t axis,
      normalizeAxis(options.get<"axis">(), op.getShape(0).size() + 1));
  GLOWISH_RETURN_IF_ERROR(op.checkCount(
      "values_count", options.get<"values_count">(), op.getNumInputs()));
  std::vector<NodeValue> parts;
  for (unsigned i = 0; i < op.getNumInputs(); ++i)
    parts.push_back(op.unsqueeze(op.input(i), axis));
  return op.setOutput(0, op.concat(parts, axis));
}

static llvm::Error importUnpack(TFLiteOp &op) {
  DimsRef shape = op.getShape(0);
  auto options = op.options<schema::UnpackOptions>();
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           normalizeAxis(options.get<"axis">(), shape.size()));
  GLOWISH_RETURN_IF_ERROR(
      op.checkCount("num", options.get<"num">(), op.getNumOutputs()));
  if (int64_t(op.getNumOutputs()) != shape[axis])
    return makeError("it has {0} outputs and unpacks {1} elements",
                     op.getNumOutputs(), shape[axis]);
  Dims rest(shape);
  rest.erase(rest.begin() + axis);
  for (unsigned i = 0; i < op.getNumOutputs(); ++i)
    GLOWISH_RETURN_IF_ERROR(
        op.setOutput(i, op.reshape(op.slice(op.input(0), axis, i, 1), rest)));
  return llvm::Error::success();
}

/// Sets the outputs to parts of input \p index along \p axis.
static llvm::Error setParts(TFLiteOp &op, unsigned index, int64_t axis,
                            llvm::ArrayRef<int64_t> sizes) {
  int64_t start = 0;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    GLOWISH_RETURN_IF_ERROR(op.setOutput(
        unsigned(i), op.slice(op.input(index), axis, start, size)));
    start += size;
  }
  return llvm::Error::success();
}

/// The axis is input 0.
static llvm::Error importSplit(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getConstantAxis(0, op.getShape(1).size()));
  int64_t extent = op.getShape(1)[axis], count = op.getNumOutputs();
  GLOWISH_RETURN_IF_ERROR(op.checkCount(
      "num_splits", op.options<schema::SplitOptions>().get<"num_splits">(),
      count));
  if (count == 0 || extent % count != 0)
    return makeError("{0} elements are split in {1} parts", extent, count);
  return setParts(op, 1, axis,
                  std::vector<int64_t>(size_t(count), extent / count));
}

/// The sizes are input 1, one may be -1; the axis is input 2.
static llvm::Error importSplitV(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, op.getConstantInts(1));
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getConstantAxis(2, op.getShape(0).size()));
  GLOWISH_RETURN_IF_ERROR(op.checkCount(
      "num_splits", op.options<schema::SplitVOptions>().get<"num_splits">(),
      op.getNumOutputs()));
  CheckedInt left = op.getShape(0)[axis];
  for (int64_t size : sizes)
    left -= std::max<int64_t>(size, 0);
  auto open = llvm::find(sizes, -1);
  if (open != sizes.end() && left.get())
    *open = *std::exchange(left, 0).get();
  if (left.get() != 0 || sizes.size() != op.getNumOutputs())
    return op.refuseInput(1, "a size for each output, of all elements");
  return setParts(op, 0, axis, sizes);
}

static llvm::Error importReverse(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes, op.getConstantInts(1));
  GLOWISH_ASSIGN_OR_RETURN(axes, normalizeAxes(axes, op.getShape(0).size()));
  return op.setOutput(0, op.reverse(op.input(0), axes));
}

//===- Padding and repetition ---------------------------------------------===//

/// Input 1, [rank, 2], as a Pad has its attribute: all before, then all after.
static llvm::Expected<std::vector<int64_t>> readPads(const TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> pairs, op.getConstantInts(1));
  size_t rank = op.getShape(0).size();
  if (pairs.size() != 2 * rank ||
      llvm::any_of(pairs, [](int64_t pad) { return pad < 0; }))
    return op.refuseInput(1, "two numbers, at least 0, for each dimension");
  std::vector<int64_t> pads(2 * rank);
  for (size_t d = 0; d < rank; ++d) {
    pads[d] = pairs[2 * d];
    pads[d + rank] = pairs[2 * d + 1];
  }
  return pads;
}

/// Quantized tensors are padded by their zero point.
static llvm::Error importPad(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> pads, readPads(op));
  double value = 0;
  if (op.hasInput(2)) {
    GLOWISH_ASSIGN_OR_RETURN(const Tensor *stated, op.getConstant(2));
    if (stated->getNumElements() != 1)
      return op.refuseInput(2, "one number");
    value = stated->getAsDouble(0);
    if (isIntegerKind(stated->getType().getKind()) && std::abs(value) >= 0x1p53)
      return op.setOutput(
          0, padByInteger(op, op.input(0), pads,
                          op.ints(op.getKind(0), {}, {stated->getAsInt(0)})));
  } else if (op.isQuantized(0)) {
    GLOWISH_RETURN_IF_ERROR(op.checkQuantized(0));
    value = double(op.getZeroPoint(0));
  }
  return op.setOutput(0, op.pad(op.input(0), pads, value));
}

/// What lies at the border is repeated with "symmetric", which is one dimension
/// after the other: its mirror image in front of it and behind it.
static NodeValue padSymmetric(TFLiteOp &op, NodeValue x,
                              llvm::ArrayRef<int64_t> pads) {
  size_t rank = pads.size() / 2;
  for (size_t d = 0; d < rank && x; ++d) {
    auto mirror = [&](int64_t start, int64_t size) {
      Dims starts(rank, 0), sizes(x.getShape()), steps(rank, 1);
      starts[d] = start + size - 1;
      sizes[d] = size;
      steps[d] = -1;
      return op.make<SliceNode>(x, starts, sizes, steps);
    };
    std::vector<NodeValue> parts;
    if (pads[d])
      parts.push_back(mirror(0, pads[d]));
    parts.push_back(x);
    if (pads[d + rank])
      parts.push_back(mirror(x.getShape()[d] - pads[d + rank], pads[d + rank]));
    x = op.concat(parts, int64_t(d));
  }
  return x;
}

static llvm::Error importMirrorPad(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> pads, readPads(op));
  bool isReflected = op.options<schema::MirrorPadOptions>().get<"mode">() ==
                     schema::MirrorPadMode::REFLECT;
  DimsRef shape = op.getShape(0);
  for (size_t d = 0; d < shape.size(); ++d)
    if (std::max(pads[d], pads[d + shape.size()]) > shape[d] - isReflected)
      return op.refuseInput(1, "no more than the elements there are to mirror");
  if (isReflected)
    return op.setOutput(0, op.make<PadNode>(op.input(0), pads, "reflect", 0.0));
  return op.setOutput(0, padSymmetric(op, op.input(0), pads));
}

static llvm::Error importTile(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> repeats, op.getConstantInts(1));
  return op.setOutput(0, op.make<TileNode>(op.input(0), repeats));
}

/// BROADCAST_TO, and FILL, which has the shape first.
template <unsigned Data, unsigned Shape>
static llvm::Error importBroadcast(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> shape,
                           op.getConstantInts(Shape));
  return op.setOutput(
      0, op.broadcast(op.input(Data), Dims(shape.begin(), shape.end())));
}

static llvm::Error importZerosLike(TFLiteOp &op) {
  return op.setOutput(0, op.splat(op.getKind(0), op.getShape(0), 0));
}

//===- Shapes as values ---------------------------------------------------===//

static llvm::Error importShape(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkOutputType(
      "out_type", op.options<schema::ShapeOptions>().get<"out_type">()));
  DimsRef shape = op.getShape(0);
  return op.setOutput(
      0, op.ints(op.getOutputKind(), {int64_t(shape.size())}, shape));
}

static llvm::Error importRank(TFLiteOp &op) {
  return op.setOutput(
      0, op.scalar(op.getOutputKind(), double(op.getShape(0).size())));
}

/// Of integers, which a double may not have.
static llvm::Error setIntegers(TFLiteOp &op, int64_t start, int64_t limit,
                               int64_t delta) {
  double count = countIntegers(start, limit, delta);
  if (!(count < double(int64_t(1) << 31)))
    return makeError("it has {0} elements", count);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < int64_t(count); ++i)
    values.push_back(int64_t(uint64_t(start) + uint64_t(i) * uint64_t(delta)));
  return op.setOutput(0, op.ints(op.getOutputKind(), {int64_t(count)}, values));
}

static llvm::Error importRange(TFLiteOp &op) {
  double numbers[3];
  int64_t integers[3];
  for (unsigned i = 0; i < 3; ++i) {
    GLOWISH_ASSIGN_OR_RETURN(const Tensor *tensor, op.getConstant(i));
    if (tensor->getNumElements() != 1)
      return op.refuseInput(i, "one number");
    numbers[i] = tensor->getAsDouble(0);
    integers[i] = tensor->getAsInt(0);
  }
  if (isIntegerKind(op.getOutputKind()))
    return setIntegers(op, integers[0], integers[1], integers[2]);
  double count = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
  if (!(count >= 0 && count < double(int64_t(1) << 31)))
    return makeError("it has {0} elements", count);
  return op.setOutput(
      0, op.table(op.getOutputKind(), {int64_t(count)}, [&](DimsRef index) {
        return numbers[0] + double(index[0]) * numbers[2];
      }));
}

static constexpr TFLiteOpTraits constantSecond{.inputs = 2,
                                               .limit = "input 1 a constant"};

static const TFLiteOperators operators = {
    {"RESHAPE",
     importReshape,
     {.inputs = {1, 2}, .limit = "the shape a constant"}},
    {"SQUEEZE", importSqueeze},
    {"EXPAND_DIMS", importExpandDims, constantSecond},
    {"TRANSPOSE", importTranspose, constantSecond},
    {"CONCATENATION", importConcatenation, {.inputs = {1, manyInputs}}},
    {"PACK", importPack, {.inputs = {1, manyInputs}}},
    {"UNPACK", importUnpack},
    {"SPLIT", importSplit, {.inputs = 2}},
    {"SPLIT_V", importSplitV, {.inputs = 3}},
    {"REVERSE_V2", importReverse, constantSecond},
    {"PAD", importPad, constantSecond},
    {"PADV2", importPad, {.inputs = 3, .limit = "inputs 1 and 2 constants"}},
    {"MIRROR_PAD", importMirrorPad, constantSecond},
    {"TILE", importTile, constantSecond},
    {"BROADCAST_TO", importBroadcast<0, 1>, constantSecond},
    {"FILL",
     importBroadcast<1, 0>,
     {.inputs = 2, .limit = "the shape a constant"}},
    {"ZEROS_LIKE", importZerosLike},
    {"SHAPE", importShape},
    {"RANK", importRank},
    {"RANGE", importRange, {.inputs = 3, .limit = "constants"}}};
