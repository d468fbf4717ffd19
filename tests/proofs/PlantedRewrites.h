//===- PlantedRewrites.h - Rewrites that are wrong --------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PROOFS_PLANTEDREWRITES_H
#define GLOWISH_TESTS_PROOFS_PLANTEDREWRITES_H

#include "glowish/Optimizer/Passes.h"

namespace glowish::proofs {

/// A rewrite of the optimizer, as a pass, with a side condition that is too
/// weak.
struct PlantedRewrite {
  /// Of the pass and the rewrite whose cases find it.
  llvm::StringRef pass, rewrite;
  /// What is wrong.
  llvm::StringRef fault;
  llvm::Expected<bool> (*run)(Function &, const GraphPassContext &);
};

llvm::ArrayRef<PlantedRewrite> getPlantedRewrites();

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_PLANTEDREWRITES_H
