//===- Deprecated.cpp - Operators removed from ONNX -----------------------===//
//
// Experimental operators of ONNX 1.0 to 1.4, which trained models still
// contain. ScaledTanh and ParametricSoftplus are in Activations.cpp,
// DynamicSlice is in Slice.cpp. ATen is not imported: its operators are
// those of PyTorch.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Extents.h"
#include "ONNX/ModelFile.h"
#include "ONNX/Ops/WholeNumbers.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

/// Scales images [N, C, H, W] and adds a bias per channel.
static llvm::Error importImageScaler(OpContext &op, NodeValue image) {
  double scale = op.getFloat("scale", 1);
  std::vector<double> bias = op.getFloats("bias");
  DimsRef shape = image.getShape();
  if (shape.size() != 4 || int64_t(bias.size()) != shape[1])
    return makeError("input 0 is {0}, and 'bias' has {1} elements; accepted: "
                     "[N, C, H, W], and C elements",
                     image.getType().str(), bias.size());
  NodeValue offsets = op.table(image.getElemKind(), {1, shape[1], 1, 1},
                               [&](DimsRef index) { return bias[index[1]]; });
  return op.setOutput(0, op.add(op.mul(image, scale), offsets));
}

/// Crops images by 'border' [left, top, right, bottom], or to the size 'scale'
/// [height, width] at its left and top.
static llvm::Error importCrop(OpContext &op) {
  op.keepExtents();
  GLOWISH_ASSIGN_OR_RETURN(NodeValue image, op.getInput(0));
  std::vector<int64_t> border = op.getInts("border", {});
  std::vector<int64_t> size = op.getInts("scale", {});
  DimsRef shape = image.getShape();
  if (shape.size() != 4 || border.size() != 4 ||
      (!size.empty() && size.size() != 2))
    return makeError("input 0 is {0}, 'border' has {1} elements and 'scale' "
                     "{2}; accepted: [N, C, H, W], 4, and none or 2",
                     image.getType().str(), border.size(), size.size());
  for (unsigned k = 0; k < 2; ++k) {
    int64_t extent = shape[2 + k], before = border[1 - k];
    int64_t after = border[3 - k];
    if (size.empty() && after != 0)
      GLOWISH_RETURN_IF_ERROR(refuseExtents(
          image, 0, {2 + k}, "its end is cropped; accepted: a border of 0"));
    bool fits = before >= 0 && before <= extent && after >= 0 &&
                after <= extent - before;
    int64_t kept = fits ? extent - before - after : 0;
    if (!size.empty()) {
      kept = size[k];
      fits = before >= 0 && before <= extent && kept >= 0 &&
             kept <= extent - before;
    }
    if (!fits)
      return makeError("the crop of dimension {0} is not inside the image "
                       "{1}",
                       2 + k, image.getType().str());
    image = op.slice(image, 2 + k, before, kept);
  }
  return op.setOutput(0, image);
}

/// alpha * x + beta.
static llvm::Error importAffine(OpContext &op, NodeValue x) {
  double alpha = op.getFloat("alpha", 1);
  double beta = op.getFloat("beta", 0);
  return op.setOutput(0, op.add(op.mul(x, alpha), beta));
}

static llvm::Error importScale(OpContext &op, NodeValue x) {
  double scale = op.getFloat("scale", 1);
  return op.setOutput(0, op.mul(x, scale));
}

/// Reads the shape of a fill: 'shape', or the elements of the input with
/// 'input_as_shape', or the shape of the input, with 'extra_shape' appended.
static llvm::Expected<Dims> readFillShape(OpContext &op, ElemKind kind) {
  std::vector<int64_t> shape = op.getInts("shape", {});
  std::vector<int64_t> more = op.getInts("extra_shape", {});
  int64_t isInputShape = op.getInt("input_as_shape", 0);
  if (op.hasInput(0) && isInputShape) {
    GLOWISH_ASSIGN_OR_RETURN(shape, op.getConstantInts(0));
  } else if (op.hasInput(0)) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue like, op.getInput(0));
    shape = like.getShape().vec();
  }
  llvm::append_range(shape, more);
  GLOWISH_RETURN_IF_ERROR(checkShape(kind, shape));
  return Dims(shape.begin(), shape.end());
}

/// A constant with 'values'.
static llvm::Error importGivenTensorFill(OpContext &op) {
  std::vector<double> values = op.getFloats("values");
  GLOWISH_ASSIGN_OR_RETURN(Dims shape, readFillShape(op, ElemKind::Float));
  if (countElements(shape) != int64_t(values.size()))
    return makeError("attribute 'values' has {0} elements; accepted: those of "
                     "the shape {1}",
                     values.size(), formatShape(shape));
  Tensor tensor(Type(ElemKind::Float, shape));
  llvm::copy(values, tensor.data<float>().begin());
  return op.setOutput(0, op.createConstant(std::move(tensor)));
}

/// A constant whose elements are all 'value', of the kind 'dtype'.
static llvm::Error importConstantFill(OpContext &op) {
  int64_t dataType = op.getInt("dtype", onnx::TensorProto::FLOAT);
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, getElemKind(dataType));
  double value = op.getFloat("value", 0);
  GLOWISH_ASSIGN_OR_RETURN(Dims shape, readFillShape(op, kind));
  return op.setOutput(0, op.splat(kind, shape, value));
}

/// One step of a GRU: the previous state [1, N, D], the gates [1, N, 3D]
/// (reset, update, output) before their activations, the lengths of the N
/// sequences, and the number of the step.
static llvm::Error importGRUUnit(OpContext &op) {
  op.keepExtents();
  NodeValue inputs[4];
  for (unsigned i = 0; i < 4; ++i) {
    GLOWISH_ASSIGN_OR_RETURN(inputs[i], op.getInput(i));
  }
  auto &[previous, gates, lengths, number] = inputs;
  int64_t dropsStates = op.getInt("drop_states", 0);
  if (previous.getShape().size() == 3 && gates.getShape().size() == 3 &&
      lengths.getShape().size() == 1) {
    GLOWISH_RETURN_IF_ERROR(align(op, previous, 1, gates, 1));
    GLOWISH_RETURN_IF_ERROR(align(op, previous, 1, lengths, 0));
    GLOWISH_RETURN_IF_ERROR(align(op, previous, 1, gates, 1));
    GLOWISH_RETURN_IF_ERROR(op.takeError());
  }
  GLOWISH_RETURN_IF_ERROR(refuseExtents(
      previous, 0, {2}, "gates have three times as much; accepted: others"));
  GLOWISH_RETURN_IF_ERROR(refuseExtents(
      gates, 1, {2}, "it is divided into three; accepted: others"));
  DimsRef shape = previous.getShape();
  Dims gateShape(shape);
  if (shape.size() == 3)
    gateShape[2] *= 3;
  if (shape.size() != 3 || shape[0] != 1 ||
      gates.getShape() != DimsRef(gateShape) ||
      lengths.getType().getNumElements() != shape[1] ||
      number.getType().getNumElements() != 1)
    return makeError("inputs are {0}, {1}, {2} and {3}; accepted: the state "
                     "[1, N, D], gates [1, N, 3 * D], N lengths and a number",
                     previous.getType().str(), gates.getType().str(),
                     lengths.getType().str(), number.getType().str());
  int64_t size = shape[2];
  NodeValue update = op.unary<SigmoidNode>(op.slice(gates, 2, size, size));
  NodeValue output = op.unary<TanhNode>(op.slice(gates, 2, 2 * size, size));
  NodeValue state =
      op.add(op.mul(previous, update), op.mul(output, op.sub(1, update)));
  NodeValue isInside = op.less(
      op.reshape(number, {1, 1, 1}),
      op.reshape(op.cast(lengths, number.getElemKind()), {1, shape[1], 1}));
  NodeValue rest = dropsStates ? op.number(previous, 0) : previous;
  return op.setOutput(0, op.select(isInside, state, rest));
}

llvm::Expected<std::vector<int64_t>>
onnximport::readWholeNumbers(const OpContext &op, unsigned index) {
  GLOWISH_ASSIGN_OR_RETURN(const Tensor *tensor, op.getConstant(index));
  if (!isFloatKind(tensor->getType().getKind()))
    return op.getConstantInts(index);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor->getNumElements(); ++i) {
    double value = tensor->getAsDouble(i);
    if (std::abs(value) > double(INT32_MAX) || value != std::floor(value))
      return makeError("element {0} of input {1} is {2}; accepted: integers", i,
                       index, value);
    values.push_back(int64_t(value));
  }
  return values;
}

static OnnxOperator imageScalerOp("ImageScaler", 1,
                                  withExtents<importImageScaler>);
static OnnxOperator cropOp("Crop", 1, importCrop);
static OnnxOperator affineOp("Affine", 1, withExtents<importAffine>);
static OnnxOperator scaleOp("Scale", 1, withExtents<importScale>);
static OnnxOperator givenTensorFillOp("GivenTensorFill", 1,
                                      importGivenTensorFill);
static OnnxOperator constantFillOp("ConstantFill", 1, importConstantFill);
static OnnxOperator gruUnitOp("GRUUnit", 1, importGRUUnit);
