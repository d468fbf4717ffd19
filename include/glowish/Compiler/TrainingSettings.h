//===- TrainingSettings.h - How a model is trained --------------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_TRAININGSETTINGS_H
#define GLOWISH_COMPILER_TRAININGSETTINGS_H

#include "glowish/Autodiff/Training.h"
#include "glowish/IRGen/Rematerialization.h"
#include "glowish/Support/Setting.h"

namespace glowish {

/// What a training step does.
class TrainingSettings : public SettingGroup {
public:
  /// Kind and shape of the label are not stated. An error names the setting,
  /// what it was given and what it takes.
  llvm::Expected<TrainingConfig> getConfig() const;
  /// What a step computes again.
  RematerializationConfig getRematerialization() const;

private:
  TextSetting lossName{*this, "loss", "kind",
                       "softmax-cross-entropy (default), binary-cross-entropy, "
                       "mean-squared-error, l1 or huber",
                       "softmax-cross-entropy"};
  TextSetting outputName{
      *this, "output", "name",
      "The output that the labels are compared with (default: the first)"};
  TextSetting labelName{*this, "label", "name",
                        "Name of the label (default label)", "label"};
  TextSetting solverName{*this, "solver", "kind",
                         "sgd (default), adam, adamw, rmsprop or adagrad",
                         "sgd"};
  NumberSetting<double> momentum{*this, "momentum",
                                 "M",   "Of sgd and rmsprop (default 0)",
                                 0,     atLeastAndBelow(0, 1)};
  SwitchSetting nesterov{*this, "nesterov", "Nesterov's form of the momentum"};
  NumberSetting<double> l1{*this, "l1",        "D", "L1 decay (default 0)",
                           0,     atLeast(0.0)};
  NumberSetting<double> l2{
      *this, "l2",
      "D",   "L2 decay; of adamw, its weight decay (default 0)",
      0,     atLeast(0.0)};
  NumberSetting<double> beta1{*this, "beta1",
                              "B",   "Of adam and adamw (default 0.9)",
                              0.9,   atLeastAndBelow(0, 1)};
  NumberSetting<double> beta2{*this, "beta2",
                              "B",   "Of adam and adamw (default 0.999)",
                              0.999, atLeastAndBelow(0, 1)};
  NumberSetting<double> decayRate{*this, "decay-rate",
                                  "D",   "Of rmsprop (default 0.99)",
                                  0.99,  atLeastAndBelow(0, 1)};
  NumberSetting<double> epsilon{
      *this, "epsilon",
      "E",   "Of all solvers but sgd (default 1e-8; of adagrad, 1e-10)",
      0,     above(0)};
  NumberSetting<double> clipNorm{
      *this, "clip-norm",
      "N",   "Scale gradients down to this norm of all of them",
      0,     atLeast(0.0)};
  NumberSetting<uint64_t> seed{*this, "seed", "N",
                               "Of all that is random (default 0)", 0};
  SwitchSetting rematerialize{
      *this, "rematerialize",
      "Need less memory: compute again in the backward pass what takes little "
      "time, instead of keeping it"};
  NumberSetting<unsigned> rematerializeSegments{
      *this,
      "rematerialize-segments",
      "N",
      "Need still less: «rematerialize», and keep only what goes from one of N "
      "parts of the forward pass to the next",
      0,
      atLeast(2u)};
  TextSetting frozen{*this, "frozen", "regex",
                     "Weights whose names have a match of this are kept"};
};

} // namespace glowish

#endif // GLOWISH_COMPILER_TRAININGSETTINGS_H
