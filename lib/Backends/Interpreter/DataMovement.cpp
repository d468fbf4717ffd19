//===- DataMovement.cpp - Copies, fills and gathers -----------------------===//

#include "Run.h"

using namespace glowish;
using namespace glowish::interpreter;

void interpreter::runCopy(const Memory &memory, const CopyInstr &instr) {
  scatterOperand(memory, instr.getResult(),
                 gatherOperand(memory, instr.getInput()));
}

void interpreter::runFill(const Memory &memory, const FillInstr &instr) {
  Tensor result(instr.getResult()->getType());
  for (int64_t i = 0; i < result.getNumElements(); ++i)
    result.setFromDouble(i, instr.getValue());
  scatterOperand(memory, instr.getResult(), result);
}

void interpreter::runGather(const Memory &memory, const GatherInstr &instr) {
  const Type &type = instr.getInput()->getType();
  int64_t length = type.getDim(instr.getAxis());
  int64_t bytes = getDenseStrides(type.getShape())[instr.getAxis()] *
                  getElemSize(type.getKind());
  int64_t outer =
      countElements(type.getShape().take_front(size_t(instr.getAxis())));
  Tensor indices = gatherOperand(memory, instr.getIndices());
  const uint8_t *in = memory.getAddress(instr.getInput());
  uint8_t *out = memory.getAddress(instr.getResult());
  if (instr.getResult()->getType().getNumElements() == 0)
    return;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < indices.getNumElements(); ++i) {
      int64_t index = indices.getAsInt(i);
      if (index < 0)
        index += length;
      index = std::clamp<int64_t>(index, 0, length - 1);
      std::memcpy(out, in + (o * length + index) * bytes, bytes);
      out += bytes;
    }
}
