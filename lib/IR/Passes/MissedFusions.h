//===- MissedFusions.h - Reasons of missed fusions --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IR_PASSES_MISSEDFUSIONS_H
#define GLOWISH_LIB_IR_PASSES_MISSEDFUSIONS_H

#include "glowish/IR/FusionRemarks.h"

namespace glowish {

/// Appends to each of \p loops what keeps it from the anchors that make its
/// inputs.
void addMissedEpilogueFusions(IRFunction &function,
                              std::vector<UnfusedLoop> &loops);
/// The same of the loops that make its inputs.
void addMissedLoopFusions(IRFunction &function,
                          std::vector<UnfusedLoop> &loops);

/// The operators of \p program in their order: "Mul, Add".
std::string listOps(const ScalarProgram &program);

} // namespace glowish

#endif // GLOWISH_LIB_IR_PASSES_MISSEDFUSIONS_H
