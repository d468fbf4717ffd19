//===- Shape.cpp - Shapes, and where elements lie -------------------------===//

#include "Common/OpenReshape.h"
#include "Common/Positions.h"
#include "TFLite/Quantized.h"
#include "glowish/Base/CheckedInt.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

//===- Constants of attributes --------------------------------------------===//

/// Whether input 0 has another number of samples than the one that the file is
/// made for, and constants \p shape are the new shape of that one.
static bool isShapeOfOne(const TFLiteOp &op, llvm::ArrayRef<Extent> shape) {
  const Type &type = op.input(0).getType();
  DimsRef own = op.getTensor(0).type.getShape();
  if (shape.empty() || own.empty() || type.getRank() != own.size() ||
      shape[0] != Extent(1) || own[0] != 1 || type.getLength(0) == Extent(1))
    return false;
  // Of a sample nothing is open.
  for (unsigned d = 1; d < type.getRank(); ++d)
    if (type.getExtent(d) || type.getDim(d) != own[d])
      return false;
  CheckedInt count(1);
  for (const Extent &dim : shape)
    count *= dim.getConstant().value_or(-1);
  return count.get() == countElements(own);
}

/// The shape is input 1, or an option of old models.
static llvm::Error importReshape(TFLiteOp &op) {
  std::vector<Extent> shape;
  auto *stated = op.options<schema::ReshapeOptions>().get<"new_shape">();
  DimsRef result = op.getStatedType().getShape();
  if (op.hasInput(1)) {
    GLOWISH_ASSIGN_OR_RETURN(shape, op.getExtents(1));
  } else if (stated) {
    shape.assign(stated->begin(), stated->end());
  } else {
    shape.assign(result.begin(), result.end());
  }
  if (isShapeOfOne(op, shape))
    shape[0] = -1;
  const Type &type = op.input(0).getType();
  std::optional<Extent> count = multiplyAll(shape);
  if (type.hasExtents() && count && count->isConstant() &&
      !llvm::is_contained(shape, Extent(-1)))
    return makeError("its input is {0}, and the new shape has always {1} "
                     "elements; accepted: -1 for one of its dimensions",
                     type.str(), count->str());
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue reshaped,
      reshapeOpen(op, op.input(0), shape, EmptyRest::Ratio));
  return op.setOutput(0, reshaped);
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
    const Extent *extent = op.input(0).getType().getExtent(unsigned(d));
    if (extent && axes.empty() &&
        op.getSymbols().mayBe(*extent, 1) != Certainty::No)
      return op.refuseInput(0, "named dimensions (squeeze_dims), or extents "
                               "that are never 1 in some runs");
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
  GLOWISH_RETURN_IF_ERROR(op.checkKnown(0, axis));
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
  GLOWISH_RETURN_IF_ERROR(op.checkKnown(1, axis));
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
  GLOWISH_RETURN_IF_ERROR(op.checkKnown(0, axis));
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

/// The largest values of \p extents, the extents of a result.
static llvm::Expected<std::vector<int64_t>>
findBounds(const TFLiteOp &op, llvm::ArrayRef<Extent> extents) {
  std::vector<int64_t> bounds;
  for (const Extent &extent : extents) {
    std::optional<IntRange> range = op.getSymbols().getRange(extent);
    if (!range || (range->low < 0 && !extent.isConstant()))
      return makeError("an extent would be {0}; accepted: numbers from 0 on",
                       extent.describe());
    bounds.push_back(range->high);
  }
  return bounds;
}

/// \p x, whose shape is the largest values of \p extents, with these.
static NodeValue withExtents(TFLiteOp &op, NodeValue x,
                             llvm::ArrayRef<Extent> extents) {
  if (!x)
    return x;
  ExtentList open;
  for (const Extent &extent : extents)
    open.push_back(extent.isConstant() ? std::nullopt : std::optional(extent));
  return op.declareExtents(x, x.getType().withExtents(open));
}

/// Elements of dimensions that a run decides are not repeated; how often others
/// are it may decide.
static llvm::Error importTile(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Extent> repeats, op.getExtents(1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> bounds,
                           findBounds(op, repeats));
  const Type &type = op.input(0).getType();
  NodeValue result = op.make<TileNode>(op.input(0), bounds);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  std::vector<Extent> extents;
  for (auto [d, count] : llvm::enumerate(repeats)) {
    if (!count.isConstant())
      GLOWISH_RETURN_IF_ERROR(op.checkKnown(0, int64_t(d)));
    std::optional<Extent> extent = multiply(type.getLength(unsigned(d)), count);
    if (!extent)
      return makeError("dimension {0} has an extent of too many terms; "
                       "accepted: at most {1}, each of at most {2} factors",
                       d, Extent::maxTerms, Extent::maxDegree);
    extents.push_back(*extent);
  }
  return op.setOutput(0, withExtents(op, result, extents));
}

/// BROADCAST_TO, and FILL, which has the shape first.
template <unsigned Data, unsigned Shape>
static llvm::Error importBroadcast(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Extent> shape, op.getExtents(Shape));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> bounds, findBounds(op, shape));
  const Type &type = op.input(Data).getType();
  for (unsigned d = 0; d < std::min<size_t>(type.getRank(), shape.size());
       ++d) {
    unsigned own = type.getRank() - 1 - d;
    const Extent &extent = shape[shape.size() - 1 - d];
    bool isOpen = type.getLength(own) != Extent(1) &&
                  (type.getExtent(own) || !extent.isConstant());
    if (isOpen &&
        op.getSymbols().areEqual(type.getLength(own), extent) != Certainty::Yes)
      return op.refuseInput(
          Data, llvm::formatv("{0}{1} in dimension {2}", extent.describe(),
                              extent == Extent(1) ? "" : " or 1", own));
  }
  NodeValue result =
      op.broadcast(op.input(Data), Dims(bounds.begin(), bounds.end()));
  return op.setOutput(0, withExtents(op, result, shape));
}

static llvm::Error importZerosLike(TFLiteOp &op) {
  return op.setOutput(
      0, op.declareExtents(op.splat(op.getKind(0), op.getShape(0), 0),
                           op.input(0).getType()));
}

//===- Shapes as values ---------------------------------------------------===//

static llvm::Error importShape(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkOutputType(
      "out_type", op.options<schema::ShapeOptions>().get<"out_type">()));
  return op.setOutput(0, listExtents(op, op.getOutputKind(), op.input(0),
                                     getAllDims(op.getShape(0).size())));
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

/// Returns whether input \p index is one integer that a run decides, and is
/// known to be which extent.
static bool isOpenInteger(const TFLiteOp &op, unsigned index) {
  return !op.input(index).getNodeAs<Constant>() &&
         isIntegerKind(op.getKind(index)) &&
         op.input(index).getType().getNumElements() == 1;
}

/// From a constant on, by a constant step, to an extent.
static llvm::Error importOpenRange(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> start, op.getConstantInts(0));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Extent> limit, op.getExtents(1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> delta, op.getConstantInts(2));
  if (start.size() != 1 || std::abs(start[0]) > INT32_MAX)
    return op.refuseInput(0, "one number of 32 bits");
  if (delta.size() != 1 || delta[0] < 1 || delta[0] > INT32_MAX)
    return op.refuseInput(2, "a positive number of 32 bits");
  std::optional<Extent> count = add(limit[0], -start[0]);
  count = count ? divideUp(*count, delta[0]) : count;
  if (!count)
    return op.refuseInput(1, "an extent of fewer terms");
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> bounds, findBounds(op, *count));
  NodeValue numbers =
      op.table(op.getOutputKind(), {bounds[0]}, [&](DimsRef index) {
        return double(start[0] + index[0] * delta[0]);
      });
  return op.setOutput(0, withExtents(op, numbers, *count));
}

static llvm::Error importRange(TFLiteOp &op) {
  if (isOpenInteger(op, 1))
    return importOpenRange(op);
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
