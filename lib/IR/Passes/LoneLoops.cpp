//===- LoneLoops.cpp - Why a loop has not been fused ----------------------===//

#include "glowish/IR/LoneLoops.h"
#include "FusionObstacles.h"

using namespace glowish;

std::vector<LoneLoop> glowish::findLoneLoops(IRFunction &function) {
  std::vector<LoneLoop> loops;
  for (const Instruction &instr : function.getInstrs())
    if (auto *loop = llvm::dyn_cast<ElementWiseLoopInstr>(&instr))
      loops.push_back({loop, {}});
  addEpilogueObstacles(function, loops);
  addLoopObstacles(function, loops);
  return loops;
}
