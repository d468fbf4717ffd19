//===- Bisection.h - Bisects for the first divergence -----------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_NETWORK_DEBUGGER_BISECTION_H
#define GLOWISH_TOOLS_NETWORK_DEBUGGER_BISECTION_H

#include "network-debugger/LayerResult.h"

namespace glowish {

/// The values that are computed by the nodes up to one and used after it.
struct Cut {
  /// The last node before the cut, and its operator.
  std::string node, kind;
  /// Of the values.
  std::vector<LayerResult> results;

  bool isBad() const {
    return llvm::any_of(results, [](const LayerResult &r) { return r.isBad; });
  }
};

/// Computes the network up to a cut both ways, and bisects the cuts. Each cut
/// is a compilation of its own, in which only the values there are outputs:
/// what would be fused is, and there is memory for them alone. \p onCut is
/// called with each cut that is compared, the whole network first.
///
/// Returns the first value that is bad at the first bad cut: that of a node
/// whose operands agree. Empty where the outputs agree: a difference that
/// reaches none of them is not found. An error if the models have no node in
/// common.
llvm::Expected<std::optional<LayerResult>>
bisectLayers(const Side &reference, const Side &tested,
             const ComparisonOptions &options,
             llvm::function_ref<void(const Cut &)> onCut);

} // namespace glowish

#endif // GLOWISH_TOOLS_NETWORK_DEBUGGER_BISECTION_H
