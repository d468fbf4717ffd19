//===- LoopBounds.cpp - How far the loops of a run go ---------------------===//

#include "glowish/IR/LoopBounds.h"
#include "glowish/Ops/AxisMap.h"

using namespace glowish;

std::vector<LoopBound> glowish::getResultBounds(const Instruction &instr,
                                                DimsRef shape) {
  std::vector<LoopBound> bounds;
  for (const LoopBound &bound : instr.getLoopBounds()) {
    if (bound.operand != 0)
      continue;
    DimsRef own = instr.getOperand(0)->getShape();
    if (std::optional<unsigned> dim = findReshapedDim(own, shape, bound.dim))
      bounds.push_back({0, *dim, bound.extent});
  }
  return bounds;
}
