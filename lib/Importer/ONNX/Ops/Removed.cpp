//===- Removed.cpp - Operators that ONNX has no more ----------------------===//
//
// They were experimental in ONNX 1.2 to 1.4; trained models still use them.
// ScaledTanh and ParametricSoftplus are in Activations.cpp.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Composer.h"

using namespace glowish;

/// Images [N, C, H, W] times a factor, plus a number for each channel.
static llvm::Error importImageScaler(OpContext &op) {
  GLOWISH_TRY(NodeValue image, op.getInput(0));
  GLOWISH_TRY(double scale, op.getFloat("scale", 1));
  GLOWISH_TRY(std::vector<double> bias, op.getFloats("bias"));
  DimsRef shape = image.getShape();
  if (shape.size() != 4 || int64_t(bias.size()) != shape[1])
    return makeError("input 0 is {0}, and 'bias' has {1} elements; accepted: "
                     "[N, C, H, W], and C elements",
                     image.getType().str(), bias.size());
  Composer c(op);
  NodeValue offsets = c.table(image.getElemKind(), {1, shape[1], 1, 1},
                              [&](DimsRef index) { return bias[index[1]]; });
  return c.setOutput(0, c.add(c.mul(image, scale), offsets));
}

/// Images without borders: 'border' is [left, top, right, bottom], and 'scale'
/// [height, width] replaces the last two.
static llvm::Error importCrop(OpContext &op) {
  GLOWISH_TRY(NodeValue image, op.getInput(0));
  GLOWISH_TRY(std::vector<int64_t> border, op.getInts("border", {}));
  GLOWISH_TRY(std::vector<int64_t> size, op.getInts("scale", {}));
  DimsRef shape = image.getShape();
  if (shape.size() != 4 || border.size() != 4 ||
      (!size.empty() && size.size() != 2))
    return makeError("input 0 is {0}, 'border' has {1} elements and 'scale' "
                     "{2}; accepted: [N, C, H, W], 4, and none or 2",
                     image.getType().str(), border.size(), size.size());
  Composer c(op);
  for (unsigned k = 0; k < 2; ++k) {
    int64_t extent = shape[2 + k], before = border[1 - k];
    int64_t after = border[3 - k];
    bool fits = before >= 0 && before <= extent && after >= 0 &&
                after <= extent - before;
    int64_t kept = fits ? extent - before - after : 0;
    if (!size.empty()) {
      kept = size[k];
      fits = before >= 0 && before <= extent && kept >= 0 &&
             kept <= extent - before;
    }
    if (!fits)
      return makeError("what is kept of dimension {0} is not inside the image "
                       "{1}",
                       2 + k, image.getType().str());
    image = c.slice(image, 2 + k, before, kept);
  }
  return c.setOutput(0, image);
}

/// alpha * x + beta.
static llvm::Error importAffine(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(double alpha, op.getFloat("alpha", 1));
  GLOWISH_TRY(double beta, op.getFloat("beta", 0));
  Composer c(op);
  return c.setOutput(0, c.add(c.mul(x, alpha), beta));
}

static llvm::Error importScale(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(double scale, op.getFloat("scale", 1));
  Composer c(op);
  return c.setOutput(0, c.mul(x, scale));
}

/// A constant of 'values' in the shape that 'shape', or the input with
/// 'input_as_shape', has, or the input's own; 'extra_shape' follows.
static llvm::Error importGivenTensorFill(OpContext &op) {
  GLOWISH_TRY(std::vector<double> values, op.getFloats("values"));
  GLOWISH_TRY(std::vector<int64_t> shape, op.getInts("shape", {}));
  GLOWISH_TRY(std::vector<int64_t> more, op.getInts("extra_shape", {}));
  GLOWISH_TRY(int64_t isInputShape, op.getInt("input_as_shape", 0));
  if (op.hasInput(0) && isInputShape) {
    GLOWISH_TRY(shape, op.getConstantInts(0));
  } else if (op.hasInput(0)) {
    GLOWISH_TRY(NodeValue like, op.getInput(0));
    shape = like.getShape().vec();
  }
  llvm::append_range(shape, more);
  GLOWISH_CHECK(checkShape(ElemKind::Float, shape));
  if (countElements(shape) != int64_t(values.size()))
    return makeError("attribute 'values' has {0} elements; accepted: those of "
                     "the shape {1}",
                     values.size(), formatShape(shape));
  Tensor tensor(Type(ElemKind::Float, shape));
  llvm::copy(values, tensor.data<float>().begin());
  return op.setOutput(0, op.createConstant(std::move(tensor)));
}

static OnnxOperator imageScalerOp("ImageScaler", 1, importImageScaler);
static OnnxOperator cropOp("Crop", 1, importCrop);
static OnnxOperator affineOp("Affine", 1, importAffine);
static OnnxOperator scaleOp("Scale", 1, importScale);
static OnnxOperator givenTensorFillOp("GivenTensorFill", 1,
                                      importGivenTensorFill);
