//===- TrainingForm.cpp - Training form of a function ---------------------===//

#include "TrainingForm.h"
#include "DataParallel.h"
#include "GradientContext.h"
#include "glowish/Graph/RandomValues.h"
#include "glowish/Support/Checksum.h"
#include "glowish/Support/Error.h"

using namespace glowish;

static bool isTrainedVariable(NodeValue value, const TrainingConfig &config) {
  auto *placeholder = value.getNodeAs<Placeholder>();
  return placeholder && placeholder->isInput() && placeholder->isOutput() &&
         (!config.isTrained || config.isTrained(placeholder->getModelName()));
}

/// The mean of \p value over \p axes of the batch of all processes; the axes
/// stay, of extent 1. A sample's own mean is the same wherever the sample is.
/// Those of all samples are added in double, so that the result does not
/// depend on their order, but for the last bit in rare cases. That bit is in
/// each element that is normalized, and can change the sign of one, which
/// changes gradients by more than rounding.
static NodeValue averageOverBatch(NodeBuilder &b, NodeValue value,
                                  llvm::ArrayRef<int64_t> axes,
                                  const TrainingProcesses &processes) {
  ElemKind kind = value.getElemKind();
  bool hasSamples = llvm::is_contained(axes, 0);
  llvm::SmallVector<int64_t, 4> own(axes);
  llvm::erase(own, 0);
  NodeValue mean = value;
  if (!own.empty())
    mean = b.reduce(mean, "mean", own, /*keepDims=*/true);
  mean = b.cast(mean, ElemKind::Double);
  if (hasSamples)
    mean = b.reduce(mean, "mean", {0}, /*keepDims=*/true);
  return b.cast(average(b, mean, processes), kind);
}

/// The moving average is that of the unbiased variance (divisor n - 1).
static llvm::Error useBatchStatistics(BatchNormalizationNode &node,
                                      const TrainingConfig &config) {
  NodeValue input = node.getInput();
  int64_t channels = input.getShape()[node.getAxis()];
  double count = double(input.getType().getNumElements()) /
                 double(std::max<int64_t>(channels, 1)) * config.processes.size;
  if (count < 2)
    return makeError(
        "a channel has {0} elements; accepted: at least 2 for training",
        int64_t(count));
  NodeBuilder b(*node.getParent(), node.getName());
  InsertionGuard guard(b.getFunction(), &node);
  auto axes = getOtherAxes(input.getShape().size(), node.getAxis());
  NodeValue mean = averageOverBatch(b, input, axes, config.processes);
  NodeValue centered = b.sub(input, mean);
  NodeValue variance = b.reshape(
      averageOverBatch(b, b.mul(centered, centered), axes, config.processes),
      {channels});
  mean = b.reshape(mean, {channels});
  GLOWISH_RETURN_IF_ERROR(b.takeError());
  auto keep = [&](NodeValue running, NodeValue value, double factor) {
    double share = config.statisticsMomentum;
    NodeValue updated =
        b.add(b.mul(running, share), b.mul(value, (1 - share) * factor));
    b.getFunction().create<SaveNode>(b.getName(), updated, running);
  };
  keep(node.getMean(), mean, 1);
  keep(node.getVariance(), variance, count / (count - 1));
  node.setOperand(node.meanIdx, mean);
  node.setOperand(node.varianceIdx, variance);
  return b.takeError();
}

/// The mask depends on the seed, the node's name and the step: a process draws
/// what one process would draw for its samples.
static llvm::Error dropElements(DropoutNode &node, NodeValue count,
                                const TrainingConfig &config) {
  if (node.getRatio() == 0) {
    node.getResult().replaceAllUsesWith(node.getInput());
    return llvm::Error::success();
  }
  NodeBuilder b(*node.getParent(), node.getName());
  InsertionGuard guard(b.getFunction(), &node);
  llvm::StringRef name = node.getName();
  uint64_t key =
      config.seed ^
      checksum64(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(name.data()),
                                name.size()));
  ElemKind kind = node.getType().getKind();
  ElemKind drawn = kind == ElemKind::Double ? kind : ElemKind::Float;
  NodeValue step = b.cast(count, ElemKind::UInt64);
  RandomValues random(b, node.getType().getShape(), b.add(step, b.uint64(key)),
                      findPart(node.getInput(), config.processes));
  NodeValue isKept = b.greaterOrEqual(random.uniform(drawn), node.getRatio());
  NodeValue scaled = b.mul(node.getInput(), 1 / (1 - node.getRatio()));
  NodeValue result =
      scaled ? b.select(isKept, scaled, b.number(scaled, 0)) : NodeValue();
  GLOWISH_RETURN_IF_ERROR(b.takeError());
  node.getResult().replaceAllUsesWith(result);
  return llvm::Error::success();
}

llvm::Error glowish::makeTrainingForm(Function &function, NodeValue count,
                                      const TrainingConfig &config) {
  for (auto it = function.getNodes().begin();
       it != function.getNodes().end();) {
    Node &node = *it++;
    llvm::Error error = llvm::Error::success();
    if (auto *norm = llvm::dyn_cast<BatchNormalizationNode>(&node)) {
      if (isTrainedVariable(norm->getMean(), config) &&
          isTrainedVariable(norm->getVariance(), config))
        error = useBatchStatistics(*norm, config);
    } else if (auto *dropout = llvm::dyn_cast<DropoutNode>(&node)) {
      error = dropElements(*dropout, count, config);
      if (!error)
        function.erase(dropout);
    }
    if (error)
      return addContext(std::move(error),
                        node.getKindName() + " '" + node.getName() + "': ");
  }
  return llvm::Error::success();
}
