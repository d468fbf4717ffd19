//===- Cost.cpp - Work of an instruction ----------------------------------===//

#include "glowish/IR/Cost.h"
#include "InstrTypes.h"
#include "glowish/IR/Instrs.h"

using namespace glowish;

/// The elements of the root that \p buffer shows.
static int64_t countShown(const Buffer &buffer) {
  int64_t count = 1;
  for (unsigned d = 0; d < buffer.getType().getRank(); ++d)
    if (buffer.getStrides()[d] != 0 || buffer.getShape()[d] == 0)
      count *= buffer.getShape()[d];
  return count;
}

static double countBytes(const Instruction &instr) {
  double bytes = 0;
  for (unsigned i = 0; i < instr.getNumOperands(); ++i)
    if (const Buffer *buffer = instr.getOperand(i)) {
      unsigned times =
          instr.getOperandInfo(i).role == OperandRole::InOut ? 2 : 1;
      bytes += double(times) * countShown(*buffer) *
               getElemSize(buffer->getType().getKind());
    }
  return bytes;
}

/// The most that the bodies can cost: the dearest one, as often as it may run.
static Cost getBodyCost(const Instruction &instr) {
  Cost most;
  for (const IRFunction *body : getBodies(instr)) {
    Cost cost;
    for (const Instruction &inner : body->getInstrs())
      cost += getCost(inner);
    if (cost.flops + cost.bytes > most.flops + most.bytes)
      most = cost;
  }
  if (auto *loop = llvm::dyn_cast<LoopInstr>(&instr)) {
    most.flops *= double(loop->getMaxTripCount());
    most.bytes *= double(loop->getMaxTripCount());
  }
  return most;
}

Cost glowish::getCost(const Instruction &instr) {
  Cost cost;
  if (instr.isLifetimeMarker())
    return cost;
  if (instr.getInfo().hasBodies())
    return getBodyCost(instr);
  cost.bytes = countBytes(instr);
  // Of an empty result nothing is computed, and the records need not expect
  // zero extents.
  InstrTypes types(instr);
  int64_t elements =
      types.outputs.empty() ? 0 : types.outputs[0]->getNumElements();
  if (instr.getInfo().countMultiplyAdds && elements > 0)
    cost.flops =
        2.0 * elements * instr.getInfo().countMultiplyAdds(types.getView());
  return cost;
}
