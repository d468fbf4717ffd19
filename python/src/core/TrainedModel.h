//===- TrainedModel.h - A model that learns in this process -----*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_TRAINEDMODEL_H
#define GLOWISH_PYTHON_CORE_TRAINEDMODEL_H

#include "core/Settings.h"
#include "core/Values.h"
#include <map>
#include <memory>

namespace glowish::python {

struct TrainRequest {
  /// See ModelSource.
  std::vector<std::string> paths;
  /// The types of batches of the inputs, by their names; without elements.
  std::map<std::string, TensorView> batches;
  /// The type of a batch of labels.
  TensorView labels;
  /// "keep", "xavier" or "kaiming".
  std::string initializer = "keep";
};

/// The values of an output after an inference, borrowed.
struct NamedView {
  std::string name;
  TensorView view;
};

/// A model with a training step for batches of one size.
class TrainedModel {
public:
  TrainedModel(Settings settings, const TrainRequest &request);
  ~TrainedModel();

  /// The inputs of a batch with the label as the last one.
  const std::vector<ValueInfo> &getInputs() const;
  /// The output that is compared with the labels.
  const std::string &getOutputName() const;
  /// Copies the elements of one of these inputs.
  void setInput(const std::string &name, const TensorView &view);
  /// One step. Returns the loss from before it.
  double runStep(double learningRate);
  /// What the output that is compared with the labels had in the last step,
  /// borrowed.
  TensorView getPrediction() const;
  /// The node that makes the first value that is not finite in the step with
  /// these inputs; empty where all are.
  std::string findNonFinite();

  /// Infers with the variables as they are: all outputs of the model, and the
  /// loss of each sample as "loss", until the next call. \p inputs has the
  /// label, too.
  std::vector<NamedView> infer(const std::map<std::string, TensorView> &inputs);
  /// The name of the loss among these.
  const std::string &getLossName() const;

  std::vector<ValueInfo> getVariables() const;
  /// Borrowed.
  TensorView getVariable(const std::string &name) const;
  void setVariable(const std::string &name, const TensorView &value);
  /// The model's file with the trained weights.
  void save(const std::string &path) const;

  std::vector<std::string> takeWarnings();

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_TRAINEDMODEL_H
