//===- PlantedPasses.h - Passes over the IR that are wrong ------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PROOFS_PLANTEDPASSES_H
#define GLOWISH_TESTS_PROOFS_PLANTEDPASSES_H

#include "glowish/IR/Passes.h"

namespace glowish::proofs {

/// Passes with a side condition that is too weak, each by the name of the pass
/// that it is in place of; `doc` says what is wrong.
llvm::ArrayRef<IRPass> getPlantedPasses();

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_PLANTEDPASSES_H
