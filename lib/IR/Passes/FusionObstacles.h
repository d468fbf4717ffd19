//===- FusionObstacles.h - What fusing passes say of a loop -----*- C++ -*-===//

#ifndef GLOWISH_LIB_IR_PASSES_FUSIONOBSTACLES_H
#define GLOWISH_LIB_IR_PASSES_FUSIONOBSTACLES_H

#include "glowish/IR/LoneLoops.h"

namespace glowish {

/// Appends to each of \p loops what keeps it from the anchors that make its
/// inputs.
void addEpilogueObstacles(IRFunction &function, std::vector<LoneLoop> &loops);
/// The same of the loops that make its inputs.
void addLoopObstacles(IRFunction &function, std::vector<LoneLoop> &loops);

} // namespace glowish

#endif // GLOWISH_LIB_IR_PASSES_FUSIONOBSTACLES_H
