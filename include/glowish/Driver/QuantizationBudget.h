//===- QuantizationBudget.h - Quantization with a limit ---------*- C++ -*-===//
//
// Measures what quantization changes in a model's outputs, and puts the nodes
// that change them most back to float until the change is within a limit.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_DRIVER_QUANTIZATIONBUDGET_H
#define GLOWISH_DRIVER_QUANTIZATIONBUDGET_H

#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include <functional>

namespace glowish {

/// What a model is compiled from, and the samples that it is measured with.
struct BudgetModel {
  /// Outlives what is made of it.
  Backend *backend = nullptr;
  std::string path;
  ImportOptions importOptions;
  /// The function, where the model has several.
  std::string function;
  size_t numSamples = 1;
  /// Sets the inputs to those of a sample.
  std::function<llvm::Error(Session &session, size_t sample)> fillInputs;
  /// The right answers among the outputs of a sample, and of how many; null
  /// where the difference of the outputs is limited instead.
  std::function<size_t(const Session &session, size_t sample)> countRight;
  size_t numAnswers = 0;
};

/// What quantization changes, and what a run takes.
struct QuantizationEffect {
  /// The root of the mean square of the outputs' difference from those of the
  /// float model, as a share of theirs; of the output where it is greatest.
  double error = 0;
  /// The share of the answers that are right; 0 where none are counted.
  double rightShare = 0;
  /// The least time of a run, and the bytes of the constants.
  double milliseconds = 0;
  uint64_t constantBytes = 0;
};

/// Measures a model with different quantizations.
class QuantizationMeter {
public:
  /// Runs the float model.
  static llvm::Expected<QuantizationMeter> create(BudgetModel model);

  const BudgetModel &getModel() const { return model; }
  const QuantizationEffect &getFloat() const { return ofFloat; }
  /// Runs the model quantized by \p options on all samples.
  llvm::Expected<QuantizationEffect>
  measure(std::shared_ptr<const QuantizationOptions> options) const;
  /// What is limited: lost answers as a share of all, or the error.
  double getLoss(const QuantizationEffect &effect) const {
    return model.countRight ? ofFloat.rightShare - effect.rightShare
                            : effect.error;
  }
  /// The nodes that are quantized by \p options.
  llvm::Expected<std::vector<QuantizedNode>>
  listNodes(const QuantizationOptions &options) const;

private:
  explicit QuantizationMeter(BudgetModel model) : model(std::move(model)) {}
  /// Calls \p visit with the session after the run of each sample.
  llvm::Expected<QuantizationEffect>
  run(std::shared_ptr<const QuantizationOptions> options,
      llvm::function_ref<void(const Session &session, size_t sample)> visit)
      const;

  BudgetModel model;
  QuantizationEffect ofFloat;
  /// Of the float model: the outputs of each sample.
  std::vector<std::vector<Tensor>> outputs;
};

/// A node that is quantized, and the error of a model in which it alone is.
struct NodeSensitivity {
  QuantizedNode node;
  double error = 0;
};

/// A quantization within a limit.
struct FittedQuantization {
  std::shared_ptr<const QuantizationOptions> options;
  QuantizationEffect before, after;
  /// The nodes, the most sensitive first, of which the first numFloat are float
  /// now. Empty where the limit held before.
  std::vector<NodeSensitivity> nodes;
  size_t numFloat = 0;
};

/// Puts nodes back to float, the most sensitive first, until the loss is at
/// most \p limit: as few as bisection finds. The names are added to those of
/// the profile (RangeProfile::floatNodes). \p onNode is called before a node is
/// measured.
llvm::Expected<FittedQuantization>
fitQuantization(const QuantizationMeter &meter,
                std::shared_ptr<const QuantizationOptions> options,
                double limit,
                llvm::function_ref<void(size_t node, size_t count)> onNode);

} // namespace glowish

#endif // GLOWISH_DRIVER_QUANTIZATIONBUDGET_H
