//===- Losses.cpp - Classification losses ---------------------------------===//

#include "Common/Positions.h"
#include "ONNX/Extents.h"

using namespace glowish;
using namespace glowish::onnximport;

namespace {
/// Operands of a loss: log-probabilities [N, C, ...] and classes target [N,
/// ...], weighted by class.
struct Loss {
  NodeValue logarithms, target, weights;
};
} // namespace

/// Aligns the dimensions of \p loss.
static llvm::Error alignLoss(OpContext &op, Loss &loss) {
  unsigned rank = loss.target.getShape().size();
  if (loss.logarithms.getShape().size() == rank + 1)
    for (unsigned d = 0; d < rank; ++d)
      GLOWISH_RETURN_IF_ERROR(
          align(op, loss.logarithms, d ? d + 1 : 0, loss.target, d));
  return op.takeError();
}

/// Reduces the loss as given by the attributes. Targets equal to ignore_index,
/// which need not be a class, do not count.
static llvm::Expected<NodeValue> makeLoss(OpContext &op, Loss loss) {
  GLOWISH_RETURN_IF_ERROR(alignLoss(op, loss));
  std::string reduction = op.getString("reduction", "mean");
  DimsRef shape = loss.logarithms.getShape();
  DimsRef targets = loss.target.getShape();
  if (shape.size() < 2 || targets.empty() || targets[0] != shape[0] ||
      targets.drop_front() != shape.drop_front(2))
    return makeError("inputs are {0} and {1}; accepted: scores [N, C, ...] and "
                     "classes [N, ...]",
                     loss.logarithms.getType().str(),
                     loss.target.getType().str());
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return makeError("attribute 'reduction' is '{0}'; accepted: none, sum, "
                     "mean",
                     reduction);
  NodeValue target = op.cast(loss.target, ElemKind::Int64), ignored;
  if (op.hasAttr("ignore_index")) {
    int64_t index = op.getInt("ignore_index", 0);
    ignored = op.equal(target, double(index));
    target = op.select(ignored, op.scalar(ElemKind::Int64, 0), target);
  }
  NodeValue picked =
      gatherElements(op, loss.logarithms, op.unsqueeze(target, 1),
                     /*axis=*/1);
  std::vector<int64_t> dims = getAllDims(shape.size());
  dims.erase(dims.begin() + 1);
  NodeValue result = op.unary<NegNode>(op.rearrange(picked, dims));
  NodeValue weight;
  if (loss.weights)
    weight = op.gather(loss.weights, target, 0);
  else if (ignored)
    weight = op.splat(loss.logarithms.getElemKind(), targets, 1);
  if (ignored && weight)
    weight = op.select(ignored, op.number(weight, 0), weight);
  if (weight)
    result = op.mul(result, weight);
  if (reduction == "none")
    return op.finish(result);
  std::vector<int64_t> all = getAllDims(targets.size());
  if (reduction == "mean" && !weight)
    return op.finish(op.reduce(result, "mean", all, /*keepDims=*/false));
  NodeValue sum = op.reduce(result, "sum", all, /*keepDims=*/false);
  if (reduction == "mean")
    sum = op.div(sum, op.reduce(weight, "sum", all, /*keepDims=*/false));
  return op.finish(sum);
}

static llvm::Error importNegativeLogLikelihoodLoss(OpContext &op) {
  op.keepExtents();
  Loss loss;
  GLOWISH_ASSIGN_OR_RETURN(loss.logarithms, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(loss.target, op.getInput(1));
  loss.weights = op.input(2);
  return op.setOutput(0, makeLoss(op, loss));
}

static llvm::Error importSoftmaxCrossEntropyLoss(OpContext &op) {
  op.keepExtents();
  Loss loss;
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scores, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(loss.target, op.getInput(1));
  loss.weights = op.input(2);
  if (scores.getShape().size() < 2)
    return op.refuseInput(0, "rank 2 or more");
  GLOWISH_ASSIGN_OR_RETURN(loss.logarithms,
                           op.create<LogSoftmaxNode>(scores, 1));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, makeLoss(op, loss)));
  return op.wantsOutput(1) ? op.setOutput(1, loss.logarithms)
                           : llvm::Error::success();
}

static OnnxOperator
    negativeLogLikelihoodLossOp("NegativeLogLikelihoodLoss", 12,
                                importNegativeLogLikelihoodLoss);
static OnnxOperator softmaxCrossEntropyLossOp("SoftmaxCrossEntropyLoss", 12,
                                              importSoftmaxCrossEntropyLoss);
