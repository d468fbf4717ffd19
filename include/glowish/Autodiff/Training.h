//===- Training.h - Functions that learn ------------------------*- C++ -*-===//

#ifndef GLOWISH_AUTODIFF_TRAINING_H
#define GLOWISH_AUTODIFF_TRAINING_H

#include "glowish/Autodiff/Gradients.h"
#include "glowish/Graph/Variables.h"

namespace glowish {

/// What a training step makes smaller: means over all elements or samples.
/// Where an output is the softmax or the sigmoid that the loss has in it
/// itself, the logits before are taken.
enum class LossKind {
  /// -log softmax(prediction)[label]. Labels are class indices (int32 or int64,
  /// the prediction's shape without the classes) or probabilities (the
  /// prediction's type). Classes are the last dimension; with indices of the
  /// shape without dimension 1, they are that.
  SoftmaxCrossEntropy,
  /// Of logits: -(y log s(x) + (1 - y) log(1 - s(x))), s being the sigmoid.
  BinaryCrossEntropy,
  MeanSquaredError,
  L1,
  /// (d^2) / 2 where |d| is at most delta, else delta * (|d| - delta / 2).
  Huber
};

/// "softmax-cross-entropy", "binary-cross-entropy", "mean-squared-error", "l1",
/// "huber".
std::vector<llvm::StringRef> getLossNames();
std::optional<LossKind> parseLoss(llvm::StringRef name);

/// How a step changes a variable x by its gradient g; R is the learning rate.
enum class SolverKind {
  /// v = momentum * v + g; x -= R * v, or with Nesterov's form
  /// R * (g + momentum * v).
  SGD,
  /// Kingma and Ba, arXiv 1412.6980.
  Adam,
  /// Loshchilov and Hutter, arXiv 1711.05101: weight decay apart from g.
  AdamW,
  /// s = decayRate * s + (1 - decayRate) * g^2; v = momentum * v +
  /// g / (sqrt(s) + epsilon); x -= R * v. Hinton, Neural Networks for Machine
  /// Learning, lecture 6, 2012.
  RMSProp,
  /// s += g^2; x -= R * g / (sqrt(s) + epsilon). Duchi et al., 2011.
  Adagrad
};

/// "sgd", "adam", "adamw", "rmsprop", "adagrad".
std::vector<llvm::StringRef> getSolverNames();
std::optional<SolverKind> parseSolver(llvm::StringRef name);

struct SolverConfig {
  SolverKind kind = SolverKind::SGD;
  double momentum = 0;
  bool nesterov = false;
  /// l1 * sign(x) + l2 * x is added to g; AdamW takes R * l2 * x off x.
  double l1 = 0, l2 = 0;
  double beta1 = 0.9, beta2 = 0.999;
  double decayRate = 0.99;
  /// Adam, AdamW and RMSProp: 1e-8; Adagrad: 1e-10, unless it is stated.
  std::optional<double> epsilon = std::nullopt;
};

/// What a step computes again on the way back, to need less memory.
struct RecomputeConfig {
  /// Results of nodes that take little time: element-wise functions, moved
  /// elements, normalizations.
  bool cheapNodes = false;
  /// Into so many parts, of about as much memory, the forward pass is divided;
  /// of all but the last, what is inside is computed again. 0: none.
  unsigned numSegments = 0;
};

/// How a function is made to learn.
struct TrainingConfig {
  LossKind loss = LossKind::SoftmaxCrossEntropy;
  double huberDelta = 1;
  /// The output that is compared with the label, by its name in the model; the
  /// first one where it is empty.
  std::string output;
  /// The placeholders that are made, by their names in the model: two inputs,
  /// the rate being a float scalar, and the loss from before the step, a scalar
  /// output of the prediction's kind.
  std::string label = "label", lossName = "loss", rateName = "learning_rate";
  ElemKind labelKind = ElemKind::Int64;
  /// Empty: as LossKind says, with class indices.
  std::optional<Dims> labelShape;
  SolverConfig solver;
  /// Gradients are scaled so that the norm of all of them is at most this; 0
  /// for no limit.
  double clipNorm = 0;
  /// Share of the old running statistics of BatchNormalization in the new ones.
  double statisticsMomentum = 0.9;
  /// Of Dropout.
  uint64_t seed = 0;
  /// Whether a variable is trained; null for all.
  std::function<bool(llvm::StringRef name)> isTrained;
  /// Taken by what compiles the step.
  RecomputeConfig recompute;
  /// The gradients of trained variables become outputs "NAME.gradient".
  bool outputGradients = false;
};

/// A function that makes one step.
struct TrainingStep {
  Function *function = nullptr;
  /// The output that is compared with the label, by its name in the model.
  std::string output;
  /// The variables that are trained, in the module's order.
  std::vector<std::string> trained;
};

/// Makes from \p function, as an importer made it with
/// ImportOptions::variables, a copy that computes outputs and loss and then
/// updates the variables: those of \p variables that the loss depends on, by
/// their gradients, and running statistics. What the solver keeps (and the
/// number of steps) are variables of their own, added to the module and to \p
/// variables. BatchNormalization and Dropout are those of training. An error
/// names what the loss can't be differentiated through, an output that is not
/// there, a label whose type does not fit, a function in which nothing can be
/// trained.
llvm::Expected<TrainingStep> makeTrainingStep(Function &function,
                                              VariableValues &variables,
                                              const TrainingConfig &config);

/// Adds to \p function, as an importer made it, the label as an input and the
/// loss of each sample as an output under the loss's name: a vector, with an
/// element for each index of the label's first dimension. Errors are those of
/// makeTrainingStep, and a label without dimensions.
llvm::Error addSampleLosses(Function &function, const TrainingConfig &config);

} // namespace glowish

#endif // GLOWISH_AUTODIFF_TRAINING_H
