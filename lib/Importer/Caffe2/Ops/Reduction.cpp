//===- Reduction.cpp - Reductions, sorting and losses ---------------------===//

#include "Caffe2/NetOp.h"
#include "Common/ElementWise.h"
#include "Common/Positions.h"

using namespace glowish;
using namespace glowish::caffe2;

/// Returns the mode of a Reduce for \p op, which is called PREFIXMode.
static std::string getMode(const NetOp &op, llvm::StringRef prefix) {
  return op.getType().drop_front(prefix.size()).lower();
}

static llvm::Error importReduction(NetOp &op) {
  NodeValue x = op.input(0);
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<int64_t> axes,
      normalizeAxes(op.getInts("axes"), x.getShape().size()));
  if (axes.empty())
    axes = getAllDims(x.getShape().size());
  bool keepDims = op.getInt("keepdims", 1) != 0;
  return op.setOutput(0, op.reduce(x, getMode(op, "Reduce"), axes, keepDims));
}

/// Reduces the last `num_reduce_dim` dimensions.
static llvm::Error importReduceBack(NetOp &op) {
  NodeValue x = op.input(0);
  int64_t rank = int64_t(x.getShape().size());
  int64_t count = op.getInt("num_reduce_dim", 1);
  if (count < 0 || count > rank)
    return makeError("argument 'num_reduce_dim' is {0}; accepted: 0 to {1}",
                     count, rank);
  return op.setOutput(0, op.reduce(x, getMode(op, "ReduceBack"),
                                   getDimsFrom(rank - count, unsigned(rank)),
                                   false));
}

static llvm::Error importAveragedLoss(NetOp &op) {
  NodeValue x = op.input(0);
  return op.setOutput(
      0, op.reduce(x, "mean", getAllDims(x.getShape().size()), false));
}

/// The sum or mean of magnitudes (p = 1) or squares (p = 2), without the root.
static llvm::Error importLpNorm(NetOp &op) {
  NodeValue x = op.input(0);
  int64_t p = op.getInt("p", 2);
  bool isMean = op.getInt("average", 0) != 0;
  if (p != 1 && p != 2)
    return makeError("argument 'p' is {0}; accepted: 1 and 2", p);
  NodeValue terms = p == 1 ? op.unary<AbsNode>(x) : op.mul(x, x);
  NodeValue sum = op.reduce(terms, isMean ? "mean" : "sum",
                            getAllDims(x.getShape().size()), false);
  return op.setOutput(0, op.reshape(sum, {1}));
}

template <bool isMin> static llvm::Error importArgMax(NetOp &op) {
  NodeValue x = op.input(0);
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getAxis("axis", -1, x.getShape().size()));
  bool keepDims = op.getInt("keepdims", 1) != 0;
  if (isMin)
    x = turnOrder(op, x);
  return op.setOutput(0, op.make<ArgMaxNode>(x, axis, keepDims,
                                             /*selectLast=*/false));
}

/// Outputs values, indices along the axis and, optionally, positions in the
/// flattened tensor.
static llvm::Error importTopK(NetOp &op) {
  NodeValue x = op.input(0);
  DimsRef shape = x.getShape();
  int64_t rank = int64_t(shape.size());
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getAxis("axis", -1, shape.size()));
  if (axis != rank - 1)
    return makeError("argument 'axis' is {0}; accepted: the last dimension",
                     axis);
  int64_t k = op.getInt("k", 0), extent = shape[axis];
  if (k < 1 || k > extent)
    return makeError("argument 'k' is {0}; accepted: 1 to {1}", k, extent);
  // Positions are those of the bounds, and the last dimension changes them all.
  for (unsigned d = 1; d <= axis; ++d)
    GLOWISH_RETURN_IF_ERROR(op.checkKnown(
        0, d, "elements behind it are selected by their positions"));
  TopElements top = takeTop(op, x, axis, k, /*largest=*/true);
  GLOWISH_RETURN_IF_ERROR(op.setOutput(1, top.indices));
  int64_t count = countElements(shape.drop_back()) * k;
  GLOWISH_RETURN_IF_ERROR(op.setOutput(2, op.reshape(top.positions, {count})));
  return op.setOutput(0, top.values);
}

/// The mean of -x * t + log(1 + e^x) along the last dimension.
static llvm::Error importSigmoidCrossEntropy(NetOp &op) {
  NodeValue x = op.input(0), target = op.input(1);
  DimsRef shape = x.getShape();
  if (target.getShape() != shape || shape.empty())
    return op.refuseInput(1, "the shape of input 0, of rank 1 or more");
  if (op.getInt("log_D_trick", 0) || op.getInt("unjoined_lr_loss", 0))
    return makeError("arguments 'log_D_trick' and 'unjoined_lr_loss' are not "
                     "supported; accepted: 0");
  NodeValue magnitude = op.unary<AbsNode>(x);
  NodeValue tail =
      op.unary<Log1pNode>(op.unary<ExpNode>(op.unary<NegNode>(magnitude)));
  NodeValue loss = op.add(op.sub(op.max(x, 0), op.mul(x, target)), tail);
  return op.setOutput(
      0, op.reduce(loss, "mean", {int64_t(shape.size()) - 1}, false));
}

static const Caffe2Operators operators = {
    {"ReduceSum", importReduction},
    {"ReduceMean", importReduction},
    {"ReduceMax", importReduction},
    {"ReduceMin", importReduction},
    {"ReduceProd", importReduction},
    {"ReduceBackSum", importReduceBack, {.limit = "no lengths"}},
    {"ReduceBackMean", importReduceBack, {.limit = "no lengths"}},
    {"AveragedLoss", importAveragedLoss},
    {"LpNorm", importLpNorm},
    {"ArgMin", importArgMax<true>},
    {"ArgMax", importArgMax<false>},
    {"TopK", importTopK, {.limit = "along the last dimension"}},
    {"SigmoidCrossEntropyWithLogits",
     importSigmoidCrossEntropy,
     {.inputs = 2}}};
