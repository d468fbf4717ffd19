//===- Normalization.cpp - Normalizations and softmax ---------------------===//

#include "ONNX/OpContext.h"

using namespace glowish;

static llvm::Error importBatchNormalization(OpContext &op) {
  NodeValue operands[5];
  for (unsigned i = 0; i < 5; ++i) {
    GLOWISH_TRY(operands[i], op.getInput(i));
  }
  GLOWISH_TRY(double epsilon, op.getFloat("epsilon", 1e-5));
  GLOWISH_TRY(int64_t training, op.getInt("training_mode", 0));
  GLOWISH_TRY(int64_t spatial, op.getInt("spatial", 1));
  if (training)
    return makeError("training_mode is not supported");
  if (!spatial)
    return makeError("attribute 'spatial' is 0; accepted: 1");
  // Exporters of networks in training mode list the running statistics as
  // outputs 1 ... 4; in inference nobody reads them.
  return op.setOutput(0, op.create<BatchNormalizationNode>(
                             operands[0], operands[1], operands[2],
                             operands[3], operands[4], /*axis=*/1, epsilon));
}

static llvm::Error importLRN(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  GLOWISH_TRY(int64_t size, op.getInt("size", 0));
  GLOWISH_TRY(double alpha, op.getFloat("alpha", 1e-4));
  GLOWISH_TRY(double beta, op.getFloat("beta", 0.75));
  GLOWISH_TRY(double bias, op.getFloat("bias", 1));
  if (input.getShape().size() != 4)
    return makeError("input 0 is {0}; accepted: rank 4",
                     input.getType().str());
  GLOWISH_TRY(NodeValue image, op.toNHWC(input));
  GLOWISH_TRY(NodeValue result,
              op.create<LocalResponseNormalizationNode>(image, size, alpha,
                                                        beta, bias));
  return op.setOutput(0, op.toNCHW(result));
}

/// Before opset 13 the dimensions from `axis` on are one.
template <typename T> static llvm::Error importSoftmax(OpContext &op) {
  GLOWISH_TRY(NodeValue input, op.getInput(0));
  unsigned rank = input.getShape().size();
  bool isFlat = op.getOpset() < 13;
  if (rank == 0)
    return makeError("input 0 is a scalar; accepted: rank 1 or more");
  GLOWISH_TRY(int64_t axis,
              op.getAxis("axis", isFlat ? std::min(1u, rank - 1) : -1, rank));
  if (!isFlat || axis + 1 == int64_t(rank))
    return op.setOutput(0, op.create<T>(input, axis));
  Dims shape(input.getShape());
  Dims flat(shape.begin(), shape.begin() + axis);
  int64_t rest = 1;
  for (int64_t d = axis; d < int64_t(rank); ++d)
    rest *= shape[d];
  flat.push_back(rest);
  GLOWISH_TRY(NodeValue value, op.reshape(input, flat));
  GLOWISH_TRY(value, op.create<T>(value, axis));
  return op.setOutput(0, op.reshape(value, shape));
}

static OnnxOperator batchNormalizationOp("BatchNormalization", 1,
                                         importBatchNormalization);
static OnnxOperator lrnOp("LRN", 1, importLRN);
static OnnxOperator softmaxOp("Softmax", 1, importSoftmax<SoftmaxNode>);
static OnnxOperator logSoftmaxOp("LogSoftmax", 1,
                                 importSoftmax<LogSoftmaxNode>);
