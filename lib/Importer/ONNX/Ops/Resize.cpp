//===- Resize.cpp - Resize and Upsample -----------------------------------===//

#include "ONNX/OpContext.h"
#include <cmath>

using namespace glowish;

/// The factors of all dimensions: an attribute of Upsample-7, input 1 of
/// Upsample-9 and Resize-10, input 2 since Resize-11; empty where sizes are
/// given.
static llvm::Expected<std::vector<double>> readScales(OpContext &op) {
  std::vector<double> scales;
  if (const auto *attr = op.findAttr("scales")) {
    scales.assign(attr->floats().begin(), attr->floats().end());
    return scales;
  }
  unsigned index = op.getOpType() == "Upsample" || op.getOpset() < 11 ? 1 : 2;
  if (!op.hasInput(index))
    return scales;
  GLOWISH_TRY(const Tensor *tensor, op.getConstant(index));
  for (int64_t i = 0; i < tensor->getNumElements(); ++i)
    scales.push_back(tensor->getAsDouble(i));
  return scales;
}

namespace {
struct Coordinates {
  std::string transformation, rounding;
};
} // namespace

/// Upsample and Resize-10 compute source = target / scale, rounded down.
static llvm::Expected<Coordinates> readCoordinates(OpContext &op) {
  if (op.getOpType() == "Upsample" || op.getOpset() < 11)
    return Coordinates{"asymmetric", "floor"};
  Coordinates result;
  GLOWISH_TRY(result.transformation,
              op.getString("coordinate_transformation_mode", "half_pixel"));
  GLOWISH_TRY(result.rounding,
              op.getString("nearest_mode", "round_prefer_floor"));
  return result;
}

static llvm::Error importResize(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  DimsRef shape = input.getShape();
  if (shape.size() != 4)
    return makeError("input 0 is {0}; accepted: rank 4", input.getType().str());
  GLOWISH_TRY(std::vector<double> scales, readScales(op));
  GLOWISH_TRY(Coordinates coordinates, readCoordinates(op));
  GLOWISH_TRY(std::string mode, op.getString("mode", "nearest"));
  if (mode == "bilinear")
    mode = "linear";
  std::vector<int64_t> sizes;
  if (scales.empty()) {
    GLOWISH_TRY(sizes, op.getConstantInts(3));
    if (sizes.size() != 4)
      return makeError("{0} sizes; accepted: 4", sizes.size());
    for (unsigned d = 0; d < 4; ++d)
      scales.push_back(double(sizes[d]) / double(std::max<int64_t>(shape[d], 1)));
  } else if (scales.size() == 4) {
    for (unsigned d = 0; d < 4; ++d) {
      if (!(scales[d] > 0 && scales[d] < 65536))
        return makeError("a scale is {0}; accepted: above 0", scales[d]);
      sizes.push_back(int64_t(std::floor(double(shape[d]) * scales[d])));
    }
  } else {
    return makeError("{0} scales; accepted: 4", scales.size());
  }
  if (sizes[0] != shape[0] || sizes[1] != shape[1])
    return makeError("only height and width can be resized");
  for (llvm::StringRef unsupported : {"antialias", "exclude_outside"}) {
    GLOWISH_TRY(int64_t value, op.getInt(unsupported, 0));
    if (value)
      return makeError("attribute '{0}' is not supported", unsupported);
  }
  if (op.hasAttr("axes") || op.hasAttr("keep_aspect_ratio_policy"))
    return makeError("attributes 'axes' and 'keep_aspect_ratio_policy' are not "
                     "supported");
  GLOWISH_TRY(NodeValue image, op.toNHWC(input));
  GLOWISH_TRY(NodeValue result,
              op.create<ResizeNode>(image, llvm::ArrayRef(sizes).drop_front(2),
                                    scales[2], scales[3], mode,
                                    coordinates.transformation,
                                    coordinates.rounding));
  return op.setOutput(0, op.toNCHW(result));
}

static OnnxOperator resizeOp("Resize", 10, importResize);
static OnnxOperator upsampleOp("Upsample", 7, importResize);
