//===- QuantizationBudgetFlags.h - -max-error and -max-drop -----*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_QUANTIZATIONBUDGETFLAGS_H
#define GLOWISH_TOOLS_COMMON_QUANTIZATIONBUDGETFLAGS_H

#include "glowish/Driver/QuantizationBudget.h"

namespace glowish {

/// What -max-error or -max-drop limits, as a share.
struct QuantizationLimit {
  double share = 0;
  /// Lost answers, else the difference of the outputs.
  bool isOfAnswers = false;
};

/// The limit that is given; empty without one. An error names a flag and what
/// it takes, or that it needs -load-profile.
llvm::Expected<std::optional<QuantizationLimit>>
getQuantizationLimit(const CompilationOptions &options);

/// Whether -max-error or -max-drop is given.
bool limitsQuantization();

/// Replaces the quantization of \p options by one within \p limit, prints what
/// that costs, and writes its profile to the file of -dump-profile, if there is
/// one.
llvm::Error applyQuantizationLimit(const QuantizationLimit &limit,
                                   BudgetModel model,
                                   CompilationOptions &options);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_QUANTIZATIONBUDGETFLAGS_H
