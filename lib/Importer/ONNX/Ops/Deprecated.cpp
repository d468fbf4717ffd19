//===- Deprecated.cpp - Operators removed from ONNX -----------------------===//
//
// Experimental operators of ONNX 1.2 to 1.4, which trained models still
// contain. ScaledTanh and ParametricSoftplus are in Activations.cpp.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Composer.h"

using namespace glowish;

/// Scales images [N, C, H, W] and adds a bias per channel.
static llvm::Error importImageScaler(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue image, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(double scale, op.getFloat("scale", 1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<double> bias, op.getFloats("bias"));
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

/// Crops images by 'border' [left, top, right, bottom], or to the size 'scale'
/// [height, width] at its left and top.
static llvm::Error importCrop(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue image, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> border,
                           op.getInts("border", {}));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> size, op.getInts("scale", {}));
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
      return makeError("the crop of dimension {0} is not inside the image "
                       "{1}",
                       2 + k, image.getType().str());
    image = c.slice(image, 2 + k, before, kept);
  }
  return c.setOutput(0, image);
}

/// alpha * x + beta.
static llvm::Error importAffine(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(double alpha, op.getFloat("alpha", 1));
  GLOWISH_ASSIGN_OR_RETURN(double beta, op.getFloat("beta", 0));
  Composer c(op);
  return c.setOutput(0, c.add(c.mul(x, alpha), beta));
}

static llvm::Error importScale(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(double scale, op.getFloat("scale", 1));
  Composer c(op);
  return c.setOutput(0, c.mul(x, scale));
}

/// A constant with 'values', of the shape given by 'shape', or by the elements
/// of the input with 'input_as_shape', or by the shape of the input, with
/// 'extra_shape' appended.
static llvm::Error importGivenTensorFill(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<double> values, op.getFloats("values"));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> shape, op.getInts("shape", {}));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> more,
                           op.getInts("extra_shape", {}));
  GLOWISH_ASSIGN_OR_RETURN(int64_t isInputShape,
                           op.getInt("input_as_shape", 0));
  if (op.hasInput(0) && isInputShape) {
    GLOWISH_ASSIGN_OR_RETURN(shape, op.getConstantInts(0));
  } else if (op.hasInput(0)) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue like, op.getInput(0));
    shape = like.getShape().vec();
  }
  llvm::append_range(shape, more);
  GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Float, shape));
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
