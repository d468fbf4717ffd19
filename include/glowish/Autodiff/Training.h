//===- Training.h - Training steps ------------------------------*- C++ -*-===//

#ifndef GLOWISH_AUTODIFF_TRAINING_H
#define GLOWISH_AUTODIFF_TRAINING_H

#include "glowish/Autodiff/Gradients.h"
#include "glowish/Graph/Variables.h"

namespace glowish {

/// Loss functions, those of the node Loss in the order of its record: means
/// over all elements or samples. SoftmaxCrossEntropy and BinaryCrossEntropy
/// contain the softmax or sigmoid; if the model's output is a softmax or
/// sigmoid, they use its operand, the logits.
enum class LossKind {
  /// -log softmax(prediction)[label]. Labels are class indices (int32 or int64,
  /// the shape of the prediction without the class dimension) or probabilities
  /// (the prediction's type). The class dimension is the last; if the indices
  /// have the shape without dimension 1, it is dimension 1.
  SoftmaxCrossEntropy,
  /// -(y log s(x) + (1 - y) log(1 - s(x))) for logits x, where s is the
  /// sigmoid.
  BinaryCrossEntropy,
  MeanSquaredError,
  L1,
  /// d^2 / 2 where |d| is at most delta, else delta * (|d| - delta / 2).
  Huber
};

/// Returns "softmax-cross-entropy", "binary-cross-entropy",
/// "mean-squared-error", "l1", "huber".
std::vector<llvm::StringRef> getLossNames();
llvm::StringRef getLossName(LossKind kind);
std::optional<LossKind> parseLoss(llvm::StringRef name);

/// Update rules for a variable x with gradient g; R is the learning rate.
enum class SolverKind {
  /// v = momentum * v + g; x -= R * v, or with Nesterov momentum R * (g +
  /// momentum * v).
  SGD,
  /// Kingma and Ba, arXiv 1412.6980.
  Adam,
  /// Adam with decoupled weight decay. Loshchilov and Hutter, arXiv 1711.05101.
  AdamW,
  /// s = decayRate * s + (1 - decayRate) * g^2; v = momentum * v +
  /// g / (sqrt(s) + epsilon); x -= R * v. Hinton, Neural Networks for Machine
  /// Learning, lecture 6, 2012.
  RMSProp,
  /// s += g^2; x -= R * g / (sqrt(s) + epsilon). Duchi et al., 2011.
  Adagrad
};

/// Returns "sgd", "adam", "adamw", "rmsprop", "adagrad".
std::vector<llvm::StringRef> getSolverNames();
std::optional<SolverKind> parseSolver(llvm::StringRef name);

struct SolverConfig {
  SolverKind kind = SolverKind::SGD;
  double momentum = 0;
  bool nesterov = false;
  /// Weight decay: l1 * sign(x) + l2 * x is added to g; AdamW subtracts R * l2
  /// * x from x instead.
  double l1 = 0, l2 = 0;
  double beta1 = 0.9, beta2 = 0.999;
  double decayRate = 0.99;
  /// The default is 1e-10 for Adagrad and 1e-8 for all others.
  std::optional<double> epsilon = std::nullopt;
};

/// The processes that train together: each makes the step of its part of a
/// batch, and what depends on all samples (loss, gradients, statistics of the
/// batch) is averaged over them. The parts have equal sizes and are in the
/// order of the ranks.
struct TrainingProcesses {
  unsigned size = 1, rank = 0;
  /// About so many bytes of gradients are averaged at a time.
  uint64_t bucketBytes = 1 << 20;
};

/// What of a step a function does.
enum class StepPart {
  Whole,
  /// Outputs, loss, statistics of the batch, and the gradients, which it saves.
  Gradients,
  /// What the solver makes of saved gradients.
  Update
};

/// Options of makeTrainingStep(). Those about the loss and its label are for
/// functions without Loss nodes.
struct TrainingConfig {
  LossKind loss = LossKind::SoftmaxCrossEntropy;
  double huberDelta = 1;
  /// The output that the loss compares with the label, by its name in the
  /// model; empty for the first one.
  std::string output;
  /// Names of the placeholders that are created: two inputs, the labels and the
  /// learning rate (a float scalar), and one output, the loss before the update
  /// (a scalar of the prediction's kind). Where the step has two parts, these
  /// are placeholders of both, and so are the gradients: a vector of all
  /// elements, the trained variables one after the other, in float or, if all
  /// variables are double, in double.
  std::string label = "label", lossName = "loss", rateName = "learning_rate",
              gradientsName = "gradients";
  ElemKind labelKind = ElemKind::Int64;
  /// Empty: the shape that LossKind describes for class indices.
  std::optional<Dims> labelShape;
  SolverConfig solver;
  /// Upper bound of the global norm of all gradients, which are scaled to
  /// respect it; 0 for no bound.
  double clipNorm = 0;
  /// Weight of the old value in the moving averages of BatchNormalization
  /// statistics.
  double statisticsMomentum = 0.9;
  /// Seed of the Dropout masks.
  uint64_t seed = 0;
  /// Whether a variable is trained; null trains all.
  std::function<bool(llvm::StringRef name)> isTrained;
  /// Adds an output "NAME.gradient" for each trained variable.
  bool outputGradients = false;
  TrainingProcesses processes;
  StepPart part = StepPart::Whole;
};

/// A function that performs one training step.
struct TrainingStep {
  Function *function = nullptr;
  /// The output that the first loss compares, by its name in the model; empty
  /// where the result of a Loss node of the function is no output.
  std::string output;
  /// The trained variables, in the module's order.
  std::vector<std::string> trained;
  /// Where the gradient of each begins among all, in elements.
  std::vector<int64_t> gradientStarts;
};

/// Makes a training step from \p function, which must have been imported with
/// ImportOptions::variables, or made with such placeholders: a copy that
/// computes outputs and loss and then updates those of \p variables that the
/// loss depends on, and running statistics. The state of the solver and the
/// step count become further variables of the module and of \p variables.
/// BatchNormalization and Dropout get their training form. The loss is the sum
/// of those of all Loss nodes; in a function without any, that of a Loss node
/// that compares the output of \p config with a new input, the label. It is an
/// error if the loss depends on a variable through a node that cannot be
/// differentiated, if the output does not exist, if the label's type does not
/// fit, or if there is nothing to train. All parts of a step make the same
/// placeholders in the same order.
llvm::Expected<TrainingStep> makeTrainingStep(Function &function,
                                              VariableValues &variables,
                                              const TrainingConfig &config);

/// Adds the loss of each sample as an output of \p function, which must be as
/// imported, with the loss's name: a vector along the first dimension of the
/// label. Without Loss nodes, which are gone then, adds the label as an input.
/// Returns the errors of makeTrainingStep, and one for a scalar label.
llvm::Error addSampleLosses(Function &function, const TrainingConfig &config);

} // namespace glowish

#endif // GLOWISH_AUTODIFF_TRAINING_H
