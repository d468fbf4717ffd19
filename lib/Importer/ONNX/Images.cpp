//===- Images.cpp - Images and sliding windows ----------------------------===//

#include "ONNX/Images.h"
#include "glowish/Base/CheckedInt.h"

using namespace glowish;
using namespace glowish::onnximport;

llvm::Expected<Images> onnximport::readImages(OpContext &op, unsigned index) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(index));
  DimsRef shape = value.getShape();
  Images images;
  images.isOneDimensional = shape.size() == 3;
  if (shape.size() != 3 && shape.size() != 4)
    return makeError("input {0} is {1}; accepted: rank 3 or 4 (one or two "
                     "spatial dimensions)",
                     index, value.getType().str());
  if (images.isOneDimensional) {
    GLOWISH_ASSIGN_OR_RETURN(
        value, op.reshape(value, {shape[0], shape[1], 1, shape[2]}, ".image"));
  }
  GLOWISH_ASSIGN_OR_RETURN(
      images.value, op.createHelper<TransposeNode>(
                        ".nhwc", value, std::vector<int64_t>{0, 2, 3, 1}));
  return images;
}

llvm::Error onnximport::setImages(OpContext &op, NodeValue value,
                                  bool isOneDimensional) {
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue result, op.createHelper<TransposeNode>(
                            ".nchw", value, std::vector<int64_t>{0, 3, 1, 2}));
  DimsRef shape = result.getShape();
  if (isOneDimensional) {
    GLOWISH_ASSIGN_OR_RETURN(
        result, op.reshape(result, {shape[0], shape[1], shape[3]}, ".line"));
  }
  return op.setOutput(0, result);
}

llvm::Expected<std::vector<int64_t>>
onnximport::readWindowInts(const OpContext &op, llvm::StringRef name,
                           size_t length, int64_t filler, int64_t least) {
  std::vector<int64_t> values =
      op.getInts(name, std::vector<int64_t>(length, filler));
  if (values.size() != length)
    return makeError("attribute '{0}' has {1} values; accepted: {2}", name,
                     values.size(), length);
  for (int64_t value : values)
    if (value < least || value > maxWindowValue)
      return makeError("attribute '{0}' has the value {1}; accepted: {2} to "
                       "{3}",
                       name, value, least, maxWindowValue);
  return values;
}

/// Reads one value per spatial dimension (two for pads). For one-dimensional
/// images \p filler is inserted for the height.
static llvm::Expected<std::vector<int64_t>>
readList(const OpContext &op, llvm::StringRef name, unsigned perDim,
         bool isOneDimensional, int64_t filler, int64_t least) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> values,
                           readWindowInts(op, name,
                                          perDim * (isOneDimensional ? 1 : 2),
                                          filler, least));
  if (!isOneDimensional)
    return values;
  if (perDim == 1)
    return std::vector<int64_t>{filler, values[0]};
  return std::vector<int64_t>{filler, values[0], filler, values[1]};
}

llvm::Error onnximport::checkKernelShape(const OpContext &op, DimsRef kernels) {
  for (int64_t extent : kernels)
    if (extent < 1 || extent > maxWindowValue)
      return makeError("the filter has {0} pixels; accepted: 1 to {1} a "
                       "dimension",
                       formatShape(kernels), maxWindowValue);
  if (!op.hasAttr("kernel_shape"))
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<int64_t> stated,
      readWindowInts(op, "kernel_shape", kernels.size(), 1, 1));
  if (DimsRef(stated) != kernels)
    return makeError("attribute 'kernel_shape' is {0}; the filter has {1}",
                     formatShape(stated), formatShape(kernels));
  return llvm::Error::success();
}

/// Returns the extents of \p images in the model.
static Dims getSpatial(const Images &images) {
  if (images.isOneDimensional)
    return {images.getWidth()};
  return {images.getHeight(), images.getWidth()};
}

/// Returns height and width of the kernel: those of the filter, which the
/// attribute must match if present, or for poolings the required attribute.
static llvm::Expected<std::vector<int64_t>>
readKernels(const OpContext &op, bool isOneDimensional, const Images *filter) {
  if (filter) {
    GLOWISH_RETURN_IF_ERROR(checkKernelShape(op, getSpatial(*filter)));
    return std::vector<int64_t>{filter->getHeight(), filter->getWidth()};
  }
  if (!op.hasAttr("kernel_shape"))
    return makeError("attribute 'kernel_shape' is missing");
  return readList(op, "kernel_shape", 1, isOneDimensional, 1, 1);
}

llvm::Expected<std::string> onnximport::readAutoPad(const OpContext &op) {
  std::string autoPad = op.getString("auto_pad", "NOTSET");
  if (autoPad.empty())
    return "NOTSET";
  if (autoPad != "NOTSET" && autoPad != "SAME_UPPER" &&
      autoPad != "SAME_LOWER" && autoPad != "VALID")
    return makeError("attribute 'auto_pad' is '{0}'; accepted: NOTSET, "
                     "SAME_UPPER, SAME_LOWER, VALID",
                     autoPad);
  return autoPad;
}

llvm::Expected<ImageWindow> onnximport::readWindow(const OpContext &op,
                                                   const Images &input,
                                                   const Images *filter) {
  bool isOneDimensional = input.isOneDimensional;
  Dims spatial = {input.getHeight(), input.getWidth()};
  ImageWindow window;
  GLOWISH_ASSIGN_OR_RETURN(window.kernels,
                           readKernels(op, isOneDimensional, filter));
  GLOWISH_ASSIGN_OR_RETURN(window.strides,
                           readList(op, "strides", 1, isOneDimensional, 1, 1));
  GLOWISH_ASSIGN_OR_RETURN(
      window.dilations, readList(op, "dilations", 1, isOneDimensional, 1, 1));
  GLOWISH_ASSIGN_OR_RETURN(window.pads,
                           readList(op, "pads", 2, isOneDimensional, 0, 0));
  GLOWISH_ASSIGN_OR_RETURN(std::string autoPad, readAutoPad(op));
  bool ceilMode = !filter && op.getInt("ceil_mode", 0) != 0;
  for (unsigned d = 0; d < 2; ++d) {
    Edge edge = window.getEdge(d, spatial[d]);
    GLOWISH_RETURN_IF_ERROR(completePads(
        edge, autoPad, ceilMode, input.value.getType().getExtent(d + 1)));
    window.setPads(d, edge);
  }
  return window;
}

/// Sets the pads so that dimension \p d of the result has \p size pixels, with
/// the larger half at the end or the start. If \p size exceeds \p full, output
/// padding is added.
static void padToSize(TransposedWindow &window, size_t d, int64_t full,
                      int64_t size, bool isUpper) {
  int64_t total = full - size;
  window.outputPads[d] += std::max<int64_t>(-total, 0);
  total = std::max<int64_t>(total, 0);
  int64_t smaller = total / 2, larger = total - smaller;
  window.pads[d] = isUpper ? smaller : larger;
  window.pads[d + window.kernels.size()] = isUpper ? larger : smaller;
}

/// Reads the attribute for \p count dimensions. Files before opset 9 include
/// the batch and channel extents.
static llvm::Expected<std::vector<int64_t>> readOutputShape(const OpContext &op,
                                                            size_t count) {
  std::vector<int64_t> sizes = op.getInts("output_shape", {});
  if (sizes.size() != count + 2)
    return readWindowInts(op, "output_shape", count, 1, 1);
  sizes.erase(sizes.begin(), sizes.begin() + 2);
  for (int64_t size : sizes)
    if (size < 1 || size > maxWindowValue)
      return makeError("attribute 'output_shape' has the value {0}; accepted: "
                       "1 to {1}",
                       size, maxWindowValue);
  return sizes;
}

llvm::Expected<TransposedWindow>
onnximport::readTransposedWindow(const OpContext &op, DimsRef spatial,
                                 DimsRef kernels) {
  size_t count = spatial.size();
  GLOWISH_RETURN_IF_ERROR(checkKernelShape(op, kernels));
  TransposedWindow window;
  window.kernels = kernels.vec();
  GLOWISH_ASSIGN_OR_RETURN(window.strides,
                           readWindowInts(op, "strides", count, 1, 1));
  GLOWISH_ASSIGN_OR_RETURN(window.dilations,
                           readWindowInts(op, "dilations", count, 1, 1));
  GLOWISH_ASSIGN_OR_RETURN(window.pads,
                           readWindowInts(op, "pads", 2 * count, 0, 0));
  GLOWISH_ASSIGN_OR_RETURN(window.outputPads,
                           readWindowInts(op, "output_padding", count, 0, 0));
  GLOWISH_ASSIGN_OR_RETURN(std::string autoPad, readAutoPad(op));
  bool isUpper = autoPad == "SAME_UPPER";
  bool isSame = isUpper || autoPad == "SAME_LOWER";
  if (autoPad == "VALID")
    window.pads.assign(2 * count, 0);
  std::vector<int64_t> sizes;
  if (op.hasAttr("output_shape")) {
    GLOWISH_ASSIGN_OR_RETURN(sizes, readOutputShape(op, count));
  }
  for (unsigned d = 0; d < count; ++d) {
    CheckedInt same = CheckedInt(spatial[d]) * window.strides[d];
    std::optional<int64_t> full =
        (same - window.strides[d] + window.getEdge(d, spatial[d]).getReach() +
         window.outputPads[d])
            .get();
    if (!full)
      return makeError("strides of {0} are too large for {1} pixels",
                       window.strides[d], spatial[d]);
    if (!sizes.empty() && op.peekInput(0).getType().getExtent(d + 2))
      return makeError("a run decides the extent of dimension {0} of input 0, "
                       "and 'output_shape' that of the result; accepted: pads",
                       d + 2);
    if (isSame || !sizes.empty())
      padToSize(window, d, *full, sizes.empty() ? *same.get() : sizes[d],
                isUpper);
  }
  return window;
}

llvm::Expected<TransposedWindow>
onnximport::readTransposedWindow(const OpContext &op, const Images &input,
                                 const Images &filter) {
  GLOWISH_ASSIGN_OR_RETURN(
      TransposedWindow window,
      readTransposedWindow(op, getSpatial(input), getSpatial(filter)));
  if (!input.isOneDimensional)
    return window;
  for (std::vector<int64_t> *values :
       {&window.kernels, &window.strides, &window.dilations})
    values->insert(values->begin(), 1);
  window.outputPads.insert(window.outputPads.begin(), 0);
  window.pads = {0, window.pads[0], 0, window.pads[1]};
  return window;
}
