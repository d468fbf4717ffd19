//===- Metrics.h - Metrics of training --------------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_TRAINER_METRICS_H
#define GLOWISH_TOOLS_MODEL_TRAINER_METRICS_H

#include "glowish/Base/Tensor.h"
#include <optional>

namespace glowish {

/// Sums over samples.
struct Metrics {
  double loss = 0;
  /// How many losses there are in it, steps or samples.
  int64_t numLosses = 0;
  /// Class labels, and those that the model found.
  int64_t numLabels = 0, numCorrect = 0;

  double getLoss() const { return loss / double(numLosses); }
  /// None where labels are no classes.
  std::optional<double> getAccuracy() const {
    if (!numLabels)
      return std::nullopt;
    return double(numCorrect) / double(numLabels);
  }
};

/// What an epoch, counted from 1, came to.
struct EpochResult {
  uint64_t epoch = 0;
  /// Of the batches, each before its step.
  double loss = 0;
  std::optional<double> accuracy;
  /// After the epoch, on data that are not learned from.
  std::optional<double> validationLoss, validationAccuracy;
  double seconds = 0;
  /// Of one step, its data included; 0 where none was made.
  double secondsPerStep = 0;
};

/// Adds the first \p count labels to \p metrics. \p label has class indices,
/// \p prediction a value for each class, along its last dimension or, where
/// the label's shape says so, along dimension 1; the largest is the answer.
void countCorrect(const Tensor &prediction, const Tensor &label, int64_t count,
                  Metrics &metrics);

/// Which dimension of a prediction of shape \p prediction are the classes of
/// labels of shape \p label.
unsigned getClassAxis(DimsRef prediction, DimsRef label);

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_TRAINER_METRICS_H
