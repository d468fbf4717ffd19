//===- TreeEnsembles.h - Scores of decision trees ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_TREEENSEMBLES_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_TREEENSEMBLES_H

#include "ONNX/OpContext.h"
#include "llvm/ADT/StringSwitch.h"

namespace glowish::onnximport {

/// How the weights of trees become targets.
struct Aggregation {
  /// SUM, AVERAGE, MIN or MAX.
  std::string function;
  /// The function of the sums of a row, such as SOFTMAX.
  std::string transform;
  /// Numbers that the targets begin with; empty for none.
  std::vector<double> base;

  /// Returns the mode of the trees; empty if the function is none of these.
  std::string getMode() const {
    return llvm::StringSwitch<std::string>(function)
        .Cases("SUM", "AVERAGE", "sum")
        .Case("MIN", "min")
        .Case("MAX", "max")
        .Default("");
  }
};

/// Returns an error unless attribute `n_targets` can be \p numTargets.
llvm::Error checkNumTargets(int64_t numTargets);
/// Builds the targets of the scores \p x of \p numTrees trees.
NodeValue finishTargets(OpContext &op, NodeValue x, size_t numTrees,
                        const Aggregation &how);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_TREEENSEMBLES_H
