//===- FusionRemarks.cpp - Why a loop has not been fused ------------------===//

#include "glowish/IR/FusionRemarks.h"
#include "MissedFusions.h"

using namespace glowish;

std::vector<UnfusedLoop> glowish::findUnfusedLoops(IRFunction &function) {
  std::vector<UnfusedLoop> loops;
  for (const Instruction &instr : function.getInstrs())
    if (auto *loop = llvm::dyn_cast<ElementWiseLoopInstr>(&instr))
      loops.push_back({loop, {}});
  addMissedEpilogueFusions(function, loops);
  addMissedLoopFusions(function, loops);
  return loops;
}
