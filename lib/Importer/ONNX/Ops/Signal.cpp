//===- Signal.cpp - Fourier transforms and window functions ---------------===//

#include "Common/Fourier.h"
#include "ONNX/Extents.h"
#include "ONNX/ModelFile.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

/// Returns the parts of \p value [..., 1 or 2] as rows along \p axis: [rest,
/// extent].
static ComplexParts splitComplex(OpContext &op, NodeValue value, int64_t axis,
                                 int64_t extent) {
  int64_t rank = value.getShape().size();
  std::vector<int64_t> order = {rank - 1};
  for (int64_t d = 0; d + 1 < rank; ++d)
    if (d != axis)
      order.push_back(d);
  order.push_back(axis);
  int64_t parts = value.getShape().back();
  int64_t rows = 1;
  for (int64_t d = 0; d + 1 < rank; ++d)
    rows *= d == axis ? 1 : value.getShape()[d];
  NodeValue transposed = op.transpose(value, order);
  if (transposed && extent != transposed.getShape().back()) {
    std::vector<int64_t> pads(2 * rank, 0);
    pads.back() = extent - transposed.getShape().back();
    transposed = op.pad(transposed, pads, 0);
  }
  NodeValue matrix = op.reshape(transposed, {parts, rows, extent});
  auto take = [&](int64_t part) {
    return op.reshape(op.slice(matrix, 0, part, 1), {rows, extent});
  };
  return {take(0), parts == 2 ? take(1) : NodeValue()};
}

/// The inverse of splitComplex(); \p shape has the result's extent at \p axis.
static NodeValue joinComplex(OpContext &op, ComplexParts value, DimsRef shape,
                             int64_t axis) {
  int64_t rank = shape.size();
  Dims transposed = {value.imaginary ? 2 : 1};
  std::vector<int64_t> order(rank);
  for (int64_t d = 0; d + 1 < rank; ++d)
    if (d != axis) {
      order[d] = transposed.size();
      transposed.push_back(shape[d]);
    }
  order[axis] = rank - 1;
  order[rank - 1] = 0;
  transposed.push_back(shape[axis]);
  NodeValue joined = value.real;
  if (value.imaginary)
    joined = op.concat(
        {op.unsqueeze(value.real, 0), op.unsqueeze(value.imaginary, 0)}, 0);
  return op.transpose(op.reshape(joined, transposed), order);
}

/// Returns an error if a run decides the extent of dimension \p dim, which is
/// transformed.
static llvm::Error checkLength(NodeValue signal, unsigned dim) {
  if (!signal.getType().getExtent(dim))
    return llvm::Error::success();
  return makeError(
      "a run decides the extent of dimension {0} of input 0, which "
      "is transformed; accepted: such extents of others",
      dim);
}

/// The axis is an attribute before opset 20. With `onesided` only half of the
/// spectrum of a real signal is computed or, for the inverse, given.
static llvm::Error importDFT(OpContext &op, NodeValue input) {
  int64_t rank = input.getShape().size();
  int64_t oneSided = op.getInt("onesided", 0);
  int64_t inverse = op.getInt("inverse", 0);
  int64_t stated = -2;
  if (op.hasInput(2)) {
    GLOWISH_ASSIGN_OR_RETURN(stated, op.getConstantInt(2));
  } else if (op.getOpset() < 20)
    stated = op.getInt("axis", 1);
  llvm::Expected<int64_t> axis = normalizeAxis(stated, rank);
  if (!axis)
    return addContext(axis.takeError(), "the axis is ");
  int64_t parts = input.getShape().back();
  if (*axis == rank - 1 || (parts != 1 && parts != 2))
    return makeError("input 0 is {0} and the axis {1}; accepted: one of the "
                     "dimensions before the last, whose extent is 1 or 2",
                     input.getType().str(), *axis);
  GLOWISH_RETURN_IF_ERROR(checkLength(input, unsigned(*axis)));
  bool fromHalf = oneSided && inverse;
  int64_t extent = input.getShape()[*axis];
  int64_t length = fromHalf ? 2 * (extent - 1) : extent;
  if (op.hasInput(1)) {
    GLOWISH_ASSIGN_OR_RETURN(length, op.getConstantInt(1));
  }
  if (length < 1 || length > maxTensorBytes)
    return makeError("the length is {0}; accepted: 1 to {1}", length,
                     maxTensorBytes);
  int64_t half = length / 2 + 1;
  FourierTransform t{.length = length,
                     .inputs = fromHalf ? half : length,
                     .outputs = oneSided && !inverse ? half : length,
                     .isInverse = inverse != 0,
                     .fromHalf = fromHalf,
                     .divisor = inverse ? double(length) : 1};
  ComplexParts result =
      transformFourier(op, splitComplex(op, input, *axis, t.inputs), t);
  if (fromHalf)
    result.imaginary = {};
  Dims shape(input.getShape());
  shape[*axis] = t.outputs;
  return op.setOutput(
      0, op.hasFailed() ? NodeValue() : joinComplex(op, result, shape, *axis));
}

/// Transforms overlapping frames of signals [batch, length, 1 or 2].
static llvm::Error importSTFT(OpContext &op, NodeValue signal) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t step, op.getConstantInt(1));
  NodeValue window = op.input(2);
  int64_t oneSided = op.getInt("onesided", 1);
  // The dimension of real signals may be absent.
  if (DimsRef shape = signal.getShape(); shape.size() == 2) {
    GLOWISH_ASSIGN_OR_RETURN(
        signal, op.reshape(signal, {shape[0], shape[1], 1}, ".signal"));
  }
  DimsRef shape = signal.getShape();
  int64_t length = window ? window.getType().getNumElements() : 0;
  if (op.hasInput(3)) {
    GLOWISH_ASSIGN_OR_RETURN(length, op.getConstantInt(3));
  }
  if (shape.size() != 3 || (shape[2] != 1 && shape[2] != 2) || length < 1 ||
      length > shape[1] || step < 1 || step > shape[1])
    return makeError("input 0 is {0}, frames of {1} every {2}; accepted: "
                     "[batch, length], [batch, length, 1 or 2], and frames "
                     "that fit",
                     signal.getType().str(), length, step);
  GLOWISH_RETURN_IF_ERROR(checkLength(signal, 1));
  int64_t frames = (shape[1] - length) / step + 1;
  NodeValue positions =
      op.table(ElemKind::Int64, {frames, length}, [&](DimsRef index) {
        return double(index[0] * step + index[1]);
      });
  NodeValue parts = op.gather(signal, positions, 1);
  if (window)
    parts = op.mul(parts, op.reshape(window, {length, 1}));
  FourierTransform t{.length = length,
                     .inputs = length,
                     .outputs = oneSided ? length / 2 + 1 : length};
  if (op.hasFailed())
    return op.setOutput(0, parts);
  ComplexParts result =
      transformFourier(op, splitComplex(op, parts, 2, length), t);
  return op.setOutput(
      0, op.hasFailed()
             ? NodeValue()
             : joinComplex(op, result, {shape[0], frames, t.outputs, 2}, 2));
}

//===- Window functions ---------------------------------------------------===//

static llvm::Error setWindow(OpContext &op, const CosineWindow &window) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t size, op.getConstantInt(0));
  int64_t periodic = op.getInt("periodic", 1);
  int64_t type = op.getInt("output_datatype", 1);
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, getElemKind(type));
  if (size < 0 || size > (int64_t(1) << 30))
    return makeError("the size is {0}; accepted: 0 to 2^30", size);
  return op.setOutput(0, makeWindow(op, kind, size, periodic != 0, window));
}

static llvm::Error importHannWindow(OpContext &op) {
  return setWindow(op, {.mean = 0.5, .first = 0.5});
}
static llvm::Error importHammingWindow(OpContext &op) {
  return setWindow(op, {.mean = 25.0 / 46, .first = 21.0 / 46});
}
static llvm::Error importBlackmanWindow(OpContext &op) {
  return setWindow(op, {.mean = 0.42, .first = 0.5, .second = 0.08});
}

//===- Mel filter banks ---------------------------------------------------===//

/// The mel scale: 2595 log10(1 + hertz / 700), and its inverse.
static double hertzToMel(double hertz) {
  return 2595 * std::log10(1 + hertz / 700);
}
static double melToHertz(double mel) {
  return 700 * (std::pow(10.0, mel / 2595) - 1);
}

/// Returns the weight of spectrum bin \p bin in the triangle that rises from
/// bin \p low to \p middle and falls to \p high.
static double getMelWeight(double bin, double low, double middle, double high) {
  if (bin >= middle && bin < high)
    return (high - bin) / (high - middle);
  if (bin < low || bin > middle)
    return 0;
  return middle == low ? 1 : (bin - low) / (middle - low);
}

/// A matrix [spectrum bins, mel bands] of overlapping triangles whose corners
/// are equidistant on the mel scale.
static llvm::Error importMelWeightMatrix(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t bands, op.getConstantInt(0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t length, op.getConstantInt(1));
  GLOWISH_ASSIGN_OR_RETURN(int64_t rate, op.getConstantInt(2));
  GLOWISH_ASSIGN_OR_RETURN(double lowest, op.getConstantNumber(3));
  GLOWISH_ASSIGN_OR_RETURN(double highest, op.getConstantNumber(4));
  int64_t type = op.getInt("output_datatype", 1);
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, getElemKind(type));
  constexpr int64_t maximum = int64_t(1) << 24;
  // The negation refuses a NaN.
  if (bands < 0 || bands > maximum || length < 0 || length > maximum ||
      rate < 1 ||
      !(lowest >= 0 && highest >= lowest && highest <= double(maximum)))
    return makeError("{0} bands, a length of {1}, a rate of {2}, {3} to {4} "
                     "Hz; accepted: none of them negative, 2^24 at most, and a "
                     "rate of at least 1",
                     bands, length, rate, lowest, highest);
  double low = hertzToMel(lowest);
  double step = (hertzToMel(highest) - low) / double(bands + 2);
  auto getCorner = [&](int64_t i) {
    double hertz = melToHertz(low + double(i) * step);
    return std::floor(double(length + 1) * hertz / double(rate));
  };
  return op.setOutput(
      0, op.table(kind, {length / 2 + 1, bands}, [&](DimsRef index) {
        int64_t band = index[1];
        return getMelWeight(double(index[0]), getCorner(band),
                            getCorner(band + 1), getCorner(band + 2));
      }));
}

static OnnxOperator dftOp("DFT", 17, withExtents<importDFT>);
static OnnxOperator stftOp("STFT", 17, withExtents<importSTFT>);
static OnnxOperator hannWindowOp("HannWindow", 17, importHannWindow);
static OnnxOperator hammingWindowOp("HammingWindow", 17, importHammingWindow);
static OnnxOperator blackmanWindowOp("BlackmanWindow", 17,
                                     importBlackmanWindow);
static OnnxOperator melWeightMatrixOp("MelWeightMatrix", 17,
                                      importMelWeightMatrix);
