//===- LossCurve.h - An image of a training ---------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_TRAINER_LOSSCURVE_H
#define GLOWISH_TOOLS_MODEL_TRAINER_LOSSCURVE_H

#include "model-trainer/Metrics.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace glowish {

/// Draws, as SVG, the loss of each epoch of \p history in training and
/// validation and, where there is one, the accuracy beside it.
std::string drawLossCurve(llvm::ArrayRef<EpochResult> history,
                          llvm::StringRef title);

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_TRAINER_LOSSCURVE_H
