//===- Pooling.cpp - Pooling operators ------------------------------------===//

#include "ONNX/Window.h"

using namespace glowish;

/// Back from the graph's image to the model's layout and rank.
static llvm::Error setImage(OpContext &op, NodeValue image,
                            bool isOneDimensional) {
  GLOWISH_TRY(NodeValue result, op.toNCHW(image));
  DimsRef shape = result.getShape();
  if (isOneDimensional) {
    GLOWISH_TRY(result, op.reshape(result, {shape[0], shape[1], shape[3]}));
  }
  return op.setOutput(0, result);
}

static llvm::Error importMaxPool(OpContext &op) {
  if (op.wantsOutput(1))
    return makeError("the output of indices is not supported");
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  bool isOneDimensional = input.getShape().size() == 3;
  GLOWISH_TRY(input, widenToImage(op, input));
  GLOWISH_TRY(Window window,
              readWindow(op, input.getShape().drop_front(2), {}));
  GLOWISH_TRY(NodeValue image, op.toNHWC(input));
  GLOWISH_TRY(NodeValue result,
              op.create<MaxPoolNode>(image, window.kernels, window.strides,
                                     window.pads, window.dilations));
  return setImage(op, result, isOneDimensional);
}

static llvm::Error importAveragePool(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  bool isOneDimensional = input.getShape().size() == 3;
  GLOWISH_TRY(input, widenToImage(op, input));
  GLOWISH_TRY(Window window,
              readWindow(op, input.getShape().drop_front(2), {}));
  GLOWISH_TRY(int64_t countPads, op.getInt("count_include_pad", 0));
  if (countPads && window.reachesBeyondPads)
    return makeError("ceil_mode with count_include_pad is not supported where "
                     "the last window reaches beyond the padding");
  GLOWISH_TRY(NodeValue image, op.toNHWC(input));
  GLOWISH_TRY(NodeValue result,
              op.create<AvgPoolNode>(image, window.kernels, window.strides,
                                     window.pads, window.dilations,
                                     countPads != 0));
  return setImage(op, result, isOneDimensional);
}

template <typename T> static llvm::Error importGlobalPool(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  bool isOneDimensional = input.getShape().size() == 3;
  GLOWISH_TRY(input, widenToImage(op, input));
  GLOWISH_TRY(NodeValue image, op.toNHWC(input));
  GLOWISH_TRY(NodeValue result, op.create<T>(image));
  return setImage(op, result, isOneDimensional);
}

static OnnxOperator maxPoolOp("MaxPool", 1, importMaxPool);
static OnnxOperator averagePoolOp("AveragePool", 1, importAveragePool);
static OnnxOperator globalAveragePoolOp("GlobalAveragePool", 1,
                                        importGlobalPool<GlobalAvgPoolNode>);
static OnnxOperator globalMaxPoolOp("GlobalMaxPool", 1,
                                    importGlobalPool<GlobalMaxPoolNode>);
