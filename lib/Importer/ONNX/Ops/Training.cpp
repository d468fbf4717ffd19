//===- Training.cpp - Optimizer steps -------------------------------------===//
//
// Adagrad, Adam and Momentum of the domain ai.onnx.preview.training. The inputs
// are the rate R, the step count T, and groups of one tensor per optimized
// tensor: the tensors, their gradients, and the states of the optimizer.
//
//===----------------------------------------------------------------------===//

#include "ONNX/OpContext.h"

using namespace glowish;
using namespace glowish::onnximport;

static constexpr llvm::StringLiteral training = "ai.onnx.preview.training";

namespace {

/// A tensor, its gradient and the optimizer's states.
struct SolverStep {
  NodeValue rate, x, gradient;
  std::vector<NodeValue> states;
};

/// Returns the new values of x and of the states, in that order.
using StepFn = llvm::function_ref<std::vector<NodeValue>(const SolverStep &,
                                                         NodeValue count)>;

} // namespace

/// Returns the gradient with L2 regularization: \p coefficient / 2 times the
/// sum of squares is added to the loss.
static NodeValue regularize(OpContext &op, const SolverStep &step,
                            double coefficient) {
  return op.add(op.mul(step.x, coefficient), step.gradient);
}

/// Calls \p fn for each tensor and sets the outputs, in groups like the inputs.
static llvm::Error importSteps(OpContext &op, unsigned numStates, StepFn fn) {
  unsigned numGroups = 2 + numStates;
  if (op.getNumInputs() < 2 + numGroups ||
      (op.getNumInputs() - 2) % numGroups != 0)
    return makeError(
        "there are {0} inputs; accepted: 2, followed by {1} for each "
        "optimized tensor",
        op.getNumInputs(), numGroups);
  unsigned count = (op.getNumInputs() - 2) / numGroups;
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rate, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue iteration, op.getInput(1));
  for (NodeValue scalar : {rate, iteration})
    if (scalar.getType().getNumElements() != 1)
      return makeError("R is {0} and T {1}; accepted: one element each",
                       rate.getType().str(), iteration.getType().str());
  for (unsigned i = 0; i < count; ++i) {
    SolverStep step;
    std::vector<NodeValue> group;
    for (unsigned k = 0; k < numGroups; ++k) {
      GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(2 + k * count + i));
      if (!group.empty() && value.getType() != group[0].getType())
        return makeError("inputs {0} and {1} are {2} and {3}; accepted: the "
                         "same type",
                         2 + i, 2 + k * count + i, group[0].getType().str(),
                         value.getType().str());
      group.push_back(value);
    }
    step.x = group[0];
    step.gradient = group[1];
    step.states.assign(group.begin() + 2, group.end());
    ElemKind kind = step.x.getElemKind();
    if (!isFloatKind(kind))
      return op.refuseInput(2 + i, "a float kind");
    step.rate = op.cast(op.reshape(rate, {}), kind);
    NodeValue number = op.cast(op.reshape(iteration, {}), kind);
    std::vector<NodeValue> results = fn(step, number);
    for (unsigned k = 0; k < results.size(); ++k)
      GLOWISH_RETURN_IF_ERROR(op.setOutput(k * count + i, results[k]));
  }
  return llvm::Error::success();
}

/// The step is divided by the root of the sum of all squared gradients.
static llvm::Error importAdagrad(OpContext &op) {
  double decay = op.getFloat("decay_factor", 0);
  double epsilon = op.getFloat("epsilon", 1e-6f);
  double norm = op.getFloat("norm_coefficient", 0);
  return importSteps(op, 1, [&](const SolverStep &step, NodeValue count) {
    NodeValue gradient = regularize(op, step, norm);
    NodeValue rate = op.div(step.rate, op.add(op.mul(count, decay), 1));
    NodeValue squares = op.add(step.states[0], op.mul(gradient, gradient));
    NodeValue divisor = op.add(op.unary<SqrtNode>(squares), epsilon);
    NodeValue x = op.sub(step.x, op.div(op.mul(rate, gradient), divisor));
    return std::vector<NodeValue>{x, squares};
  });
}

/// Bias correction of the moving averages: sqrt(1 - beta^T) / (1 - alpha^T),
/// and 1 before the first step.
static NodeValue correctBias(OpContext &op, NodeValue count, double alpha,
                             double beta) {
  auto rest = [&](double base) { return op.sub(1, op.pow(base, count)); };
  return op.select(op.greater(count, 0),
                   op.div(op.unary<SqrtNode>(rest(beta)), rest(alpha)),
                   op.number(count, 1));
}

/// Steps by moving averages of the gradients and of their squares.
static llvm::Error importAdam(OpContext &op) {
  double alpha = op.getFloat("alpha", 0.9f);
  double beta = op.getFloat("beta", 0.999f);
  double epsilon = op.getFloat("epsilon", 1e-6f);
  double norm = op.getFloat("norm_coefficient", 0);
  double normPost = op.getFloat("norm_coefficient_post", 0);
  return importSteps(op, 2, [&](const SolverStep &step, NodeValue count) {
    NodeValue gradient = regularize(op, step, norm);
    NodeValue average =
        op.add(op.mul(step.states[0], alpha), op.mul(gradient, 1 - alpha));
    NodeValue squares = op.add(op.mul(step.states[1], beta),
                               op.mul(op.mul(gradient, gradient), 1 - beta));
    NodeValue divisor = op.add(op.unary<SqrtNode>(squares), epsilon);
    NodeValue rate = op.mul(step.rate, correctBias(op, count, alpha, beta));
    NodeValue x = op.sub(step.x, op.div(op.mul(rate, average), divisor));
    return std::vector<NodeValue>{op.mul(x, 1 - normPost), average, squares};
  });
}

/// Steps by an exponentially decaying sum of gradients; Nesterov momentum looks
/// one step ahead.
static llvm::Error importMomentum(OpContext &op) {
  for (const char *name : {"alpha", "beta", "mode", "norm_coefficient"})
    if (!op.hasAttr(name))
      return makeError("attribute '{0}' is missing", name);
  double alpha = op.getFloat("alpha", 0);
  double beta = op.getFloat("beta", 0);
  double norm = op.getFloat("norm_coefficient", 0);
  std::string mode = op.getString("mode", "");
  if (mode != "standard" && mode != "nesterov")
    return makeError("attribute 'mode' is '{0}'; accepted: standard, nesterov",
                     mode);
  return importSteps(op, 1, [&](const SolverStep &step, NodeValue count) {
    NodeValue gradient = regularize(op, step, norm);
    NodeValue share = op.select(op.greater(count, 0), op.number(count, beta),
                                op.number(count, 1));
    NodeValue velocity =
        op.add(op.mul(step.states[0], alpha), op.mul(gradient, share));
    NodeValue direction = mode == "standard"
                              ? velocity
                              : op.add(gradient, op.mul(velocity, alpha));
    NodeValue x = op.sub(step.x, op.mul(direction, step.rate));
    return std::vector<NodeValue>{x, velocity};
  });
}

static OnnxOperator adagradOp("Adagrad", 1, importAdagrad, training);
static OnnxOperator adamOp("Adam", 1, importAdam, training);
static OnnxOperator momentumOp("Momentum", 1, importMomentum, training);
