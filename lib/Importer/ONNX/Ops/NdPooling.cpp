//===- NdPooling.cpp - Pooling and convolution in N dimensions ------------===//

#include "ONNX/Ops/NdPooling.h"
#include "Common/Positions.h"
#include "Common/SlidingWindows.h"
#include "ONNX/Extents.h"
#include "glowish/Base/CheckedInt.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

/// Returns an error if a run decides the extent of a dimension of \p input from
/// \p first on.
static llvm::Error refuseOpenFrom(NodeValue input, unsigned first,
                                  llvm::StringRef accepted) {
  for (unsigned d = first; d < input.getShape().size(); ++d)
    if (input.getType().getExtent(d))
      return makeError("a run decides the extent of dimension {0} of input 0; "
                       "accepted: {1}",
                       d, accepted);
  return llvm::Error::success();
}

/// Reads the windows over the dimensions of \p input from 2 on. \p kernel is
/// the extents of a filter; if empty, the attribute is required.
static llvm::Expected<std::vector<Edge>>
readEdges(OpContext &op, NodeValue input, DimsRef kernel = {}) {
  if (input.getShape().size() < 3)
    return op.refuseInput(0, "rank 3 or more");
  GLOWISH_RETURN_IF_ERROR(refuseOpenFrom(input, 2,
                                         "those of the batch and the channels, "
                                         "over three dimensions, for positions "
                                         "of maxima and in LpPool"));
  DimsRef spatial = input.getShape().drop_front(2);
  size_t count = spatial.size();
  std::vector<int64_t> kernels = kernel.vec();
  if (!kernel.empty()) {
    GLOWISH_RETURN_IF_ERROR(checkKernelShape(op, kernel));
  } else if (op.hasAttr("kernel_shape")) {
    GLOWISH_ASSIGN_OR_RETURN(kernels,
                             readWindowInts(op, "kernel_shape", count, 1, 1));
  } else {
    return makeError("attribute 'kernel_shape' is missing");
  }
  for (int64_t extent : kernels)
    if (extent < 1 || extent > maxUnrolledKernel)
      return makeError("the kernel is {0}; accepted: extents of 1 to {1}",
                       formatShape(kernels), maxUnrolledKernel);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> strides,
                           readWindowInts(op, "strides", count, 1, 1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> dilations,
                           readWindowInts(op, "dilations", count, 1, 1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> pads,
                           readWindowInts(op, "pads", 2 * count, 0, 0));
  GLOWISH_ASSIGN_OR_RETURN(std::string autoPad, readAutoPad(op));
  int64_t ceilMode = op.getInt("ceil_mode", 0);
  std::vector<Edge> edges =
      makeEdges(spatial, kernels, strides, dilations, pads);
  for (Edge &edge : edges) {
    GLOWISH_RETURN_IF_ERROR(
        completePads(edge, autoPad, ceilMode != 0, nullptr));
    if (edge.getCount() < 1)
      return makeError("a window of {0} pixels does not fit into {1}",
                       edge.getReach(), input.getType().str());
  }
  return edges;
}

llvm::Error onnximport::importWindowMax(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readEdges(op, input));
  int64_t columnMajor = op.getInt("storage_order", 0);
  IndexedMaxima value{input, {}};
  DimsRef shape = input.getShape();
  if (op.wantsOutput(1)) {
    GLOWISH_RETURN_IF_ERROR(
        refuseOpenFrom(input, 1, "that of the batch, for positions of maxima"));
    Dims strides = getDenseStrides(shape);
    if (columnMajor) {
      int64_t stride = 1;
      for (unsigned d = 2; d < shape.size(); ++d) {
        strides[d] = stride;
        stride *= shape[d];
      }
    }
    NodeValue positions = makePositions(op, shape, strides);
    value.positions =
        op.declareExtents(positions, input.getType().withKind(ElemKind::Int64));
  }
  value = maxWindows(op, value, edges, NaNPosition::First);
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, value.values));
  return op.wantsOutput(1) ? op.setOutput(1, value.positions)
                           : llvm::Error::success();
}

llvm::Error onnximport::importWindowMean(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readEdges(op, input));
  NodeValue result =
      averageWindows(op, input, edges, op.getInt("count_include_pad", 0) != 0);
  return op.setOutput(0, result);
}

/// (sum of |x|^p)^(1/p).
static llvm::Error importLpPool(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readEdges(op, input));
  // A float in opset 1, an integer since opset 2.
  int64_t p = 2;
  if (op.getOpset() >= 2) {
    p = op.getInt("p", 2);
  } else {
    double number = op.getFloat("p", 2);
    if (!toInt64(number))
      return makeError("attribute 'p' is {0}; accepted: a number of 64 bits",
                       number);
    p = *toInt64(number);
  }
  NodeValue power = op.pow(op.unary<AbsNode>(input), double(p));
  return op.setOutput(0, op.pow(sumWindows(op, power, edges), 1.0 / double(p)));
}

static llvm::Error importGlobalLpPool(OpContext &op, NodeValue input) {
  // A float in opset 1.
  double p = 2;
  if (op.getOpset() == 1) {
    p = op.getFloat("p", p);
  } else {
    int64_t power = op.getInt("p", 2);
    p = double(power);
  }
  NodeValue power = op.pow(op.unary<AbsNode>(input), p);
  NodeValue sum =
      op.reduce(power, "sum", getDimsFrom(2, input.getType().getRank()),
                /*keepDims=*/true);
  return op.setOutput(0, op.pow(sum, 1 / p));
}

/// Scatters the elements to the positions that MaxPool took them from; others
/// are zero.
static llvm::Error importMaxUnpool(OpContext &op, NodeValue input,
                                   NodeValue positions) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readEdges(op, input));
  GLOWISH_RETURN_IF_ERROR(
      refuseOpenFrom(input, op.hasInput(2) ? 0 : 1,
                     "that of the batch, if the result's shape is not stated"));
  Dims shape(input.getShape());
  for (unsigned d = 0; d < edges.size(); ++d) {
    const Edge &edge = edges[d];
    CheckedInt extent = (CheckedInt(edge.extent) - 1) * edge.stride +
                        edge.kernel - edge.before - edge.after;
    if (!extent.get())
      return makeError("strides {0} of {1} are too large", edge.stride,
                       input.getType().str());
    shape[d + 2] = *extent.get();
  }
  GLOWISH_RETURN_IF_ERROR(checkShape(input.getElemKind(), shape));
  Dims result = shape;
  if (op.hasInput(2)) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> stated,
                             op.getConstantInts(2));
    if (stated.size() != shape.size())
      return makeError("input 2 has {0} elements; accepted: {1}", stated.size(),
                       shape.size());
    result.assign(stated.begin(), stated.end());
    GLOWISH_RETURN_IF_ERROR(checkShape(input.getElemKind(), result));
  }
  int64_t count = input.getType().getNumElements();
  int64_t size = countElements(shape);
  NodeValue zeros = op.splat(input.getElemKind(), {size, 1}, 0);
  NodeValue rows = op.reshape(positions, {count});
  NodeValue values = op.reshape(input, {count, 1});
  if (op.hasFailed())
    return op.setOutput(0, zeros);
  NodeValue full =
      op.reshape(op.make<ScatterNode>(zeros, rows, values, "replace"), shape);
  if (full)
    full = op.declareExtents(
        full, full.getType().withExtents(input.getType().getExtents()));
  // The positions refer to the extents implied by the window.
  std::vector<int64_t> pads(2 * shape.size(), 0);
  for (unsigned d = 0; d < shape.size(); ++d)
    pads[shape.size() + d] = result[d] - shape[d];
  return op.setOutput(0, op.pad(full, pads, 0));
}

//===- 3-D convolutions ---------------------------------------------------===//

llvm::Expected<NodeValue> onnximport::makeVolumeConv(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue filter, op.getInput(1));
  NodeValue bias = op.input(2);
  int64_t group = op.getInt("group", 1);
  DimsRef kernel = filter.getShape();
  if (kernel.size() != 5)
    return makeError("the filter is {0}; accepted: rank 5",
                     filter.getType().str());
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges,
                           readEdges(op, input, kernel.drop_front(2)));
  return op.finish(
      makeVolumeConvolution(op, input, filter, bias, edges, group));
}

llvm::Error onnximport::importVolumeConvTranspose(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue filter, op.getInput(1));
  NodeValue bias = op.input(2);
  int64_t group = op.getInt("group", 1);
  DimsRef shape = input.getShape(), kernel = filter.getShape();
  if (kernel.size() != 5 || shape[2] < 1 || kernel[2] < 1 ||
      kernel[2] > maxUnrolledKernel || shape[2] > maxWindowValue)
    return makeError("inputs are {0} and {1}; accepted: rank 5, not empty, and "
                     "a kernel of up to {2} layers",
                     input.getType().str(), filter.getType().str(),
                     maxUnrolledKernel);
  GLOWISH_ASSIGN_OR_RETURN(
      TransposedWindow window,
      readTransposedWindow(op, shape.drop_front(2), kernel.drop_front(2)));
  std::vector<Edge> edges;
  for (unsigned d = 0; d < 3; ++d)
    edges.push_back({.extent = shape[d + 2],
                     .kernel = kernel[d + 2],
                     .stride = window.strides[d],
                     .dilation = window.dilations[d],
                     .before = window.pads[d],
                     .after = window.pads[d + 3]});
  return op.setOutput(0, makeVolumeConvTranspose(op, input, filter, bias, edges,
                                                 window.outputPads, group));
}

static OnnxOperator lpPoolOp("LpPool", 1, withExtents<importLpPool>);
static OnnxOperator globalLpPoolOp("GlobalLpPool", 1,
                                   withExtents<importGlobalLpPool>);
static OnnxOperator maxUnpoolOp("MaxUnpool", 9, withExtents<importMaxUnpool>);
