//===- Pooling.cpp - Pooling operators ------------------------------------===//

#include "Common/SlidingWindows.h"
#include "ONNX/Extents.h"
#include "ONNX/Images.h"
#include "ONNX/Ops/NdPooling.h"

using namespace glowish;
using namespace glowish::onnximport;

static llvm::Error importMaxPool(OpContext &op, NodeValue value) {
  if (value.getShape().size() > 4 || op.wantsOutput(1))
    return importWindowMax(op);
  // The layout of the indices, which are not used.
  op.ignoreAttrs({"storage_order"});
  GLOWISH_ASSIGN_OR_RETURN(Images input, readImages(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(ImageWindow window, readWindow(op, input, nullptr));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result,
                           op.create<MaxPoolNode>(input.value, window.kernels,
                                                  window.strides, window.pads,
                                                  window.dilations));
  return setImages(op, result, input.isOneDimensional);
}

llvm::Expected<Images> onnximport::averageImages(OpContext &op, Images images) {
  GLOWISH_ASSIGN_OR_RETURN(ImageWindow window, readWindow(op, images, nullptr));
  int64_t countPads = op.getInt("count_include_pad", 0);
  int64_t bottom = window.beyondPads[0], right = window.beyondPads[1];
  if (countPads && (bottom || right)) {
    GLOWISH_ASSIGN_OR_RETURN(
        images.value,
        op.finish(padCounted(op, images.value, window.pads, bottom, right)));
    countPads = false;
  }
  GLOWISH_ASSIGN_OR_RETURN(
      images.value,
      op.create<AvgPoolNode>(images.value, window.kernels, window.strides,
                             window.pads, window.dilations, countPads != 0));
  return images;
}

static llvm::Error importAveragePool(OpContext &op, NodeValue value) {
  if (value.getShape().size() > 4)
    return importWindowMean(op);
  GLOWISH_ASSIGN_OR_RETURN(Images images, readImages(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(images, averageImages(op, images));
  return setImages(op, images.value, images.isOneDimensional);
}

/// Other than for 2-D images, reduces in the model's layout.
template <typename T>
static llvm::Error importGlobalPool(OpContext &op, NodeValue value) {
  unsigned rank = value.getShape().size();
  if (rank == 4) {
    GLOWISH_ASSIGN_OR_RETURN(Images input, readImages(op, 0));
    GLOWISH_ASSIGN_OR_RETURN(NodeValue result, op.create<T>(input.value));
    return setImages(op, result, input.isOneDimensional);
  }
  if (rank < 3)
    return op.refuseInput(0, "rank 3 or more");
  constexpr bool isMax = std::is_same_v<T, GlobalMaxPoolNode>;
  return op.setOutput(0, op.create<ReduceNode>(value, isMax ? "max" : "mean",
                                               getDimsFrom(2, rank),
                                               /*keepDims=*/true));
}

static OnnxOperator maxPoolOp("MaxPool", 1, withExtents<importMaxPool>);
static OnnxOperator averagePoolOp("AveragePool", 1,
                                  withExtents<importAveragePool>);
static OnnxOperator
    globalAveragePoolOp("GlobalAveragePool", 1,
                        withExtents<importGlobalPool<GlobalAvgPoolNode>>);
static OnnxOperator
    globalMaxPoolOp("GlobalMaxPool", 1,
                    withExtents<importGlobalPool<GlobalMaxPoolNode>>);
