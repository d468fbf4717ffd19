//===- Statistics.cpp - Training form of BatchNormalization ---------------===//

#include "ONNX/Ops/Statistics.h"
#include "Common/Normalization.h"

using namespace glowish;
using namespace glowish::onnximport;

llvm::Error onnximport::importTrainingBatchNormalization(OpContext &op) {
  NodeValue operands[5];
  for (unsigned i = 0; i < 5; ++i) {
    GLOWISH_ASSIGN_OR_RETURN(operands[i], op.getInput(i));
  }
  double epsilon = op.getFloat("epsilon", 1e-5);
  double momentum = op.getFloat("momentum", 0.9);
  NodeValue x = operands[0];
  unsigned rank = x.getShape().size();
  if (rank < 2)
    return op.refuseInput(0, "rank 2 or more");
  std::vector<int64_t> axes = getAllDims(rank);
  axes.erase(axes.begin() + 1);
  int64_t channels = x.getShape()[1];
  Moments moments = getMoments(op, x, axes);
  NodeValue own[] = {op.reshape(moments.mean, {channels}),
                     op.reshape(moments.variance, {channels})};
  if (op.hasFailed())
    return op.setOutput(0, x);
  GLOWISH_RETURN_IF_ERROR(op.setOutput(
      0, op.make<BatchNormalizationNode>(x, operands[1], operands[2], own[0],
                                         own[1], /*axis=*/1, epsilon)));
  for (unsigned i = 0; i < 2; ++i)
    if (op.wantsOutput(i + 1))
      GLOWISH_RETURN_IF_ERROR(
          op.setOutput(i + 1, op.add(op.mul(operands[i + 3], momentum),
                                     op.mul(own[i], 1 - momentum))));
  return llvm::Error::success();
}
