//===- LayerComparison.h - Compares results by layer ------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_NETWORK_DEBUGGER_LAYERCOMPARISON_H
#define GLOWISH_TOOLS_NETWORK_DEBUGGER_LAYERCOMPARISON_H

#include "network-debugger/LayerResult.h"

namespace glowish {

/// Computes all of the reference, and each node of \p tested from what the
/// reference has computed for its operands, so that differences do not add up.
/// Nodes that one of the models lacks, or that have other types there, and
/// those of constants are left out. The results are in the order of the tested
/// model's nodes. An error if the models have no node in common.
llvm::Expected<std::vector<LayerResult>>
compareLayers(const Side &reference, const Side &tested,
              const ComparisonOptions &options);

} // namespace glowish

#endif // GLOWISH_TOOLS_NETWORK_DEBUGGER_LAYERCOMPARISON_H
