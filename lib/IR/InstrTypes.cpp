//===- InstrTypes.cpp - An instruction as its record sees it --------------===//

#include "InstrTypes.h"

using namespace glowish;

InstrTypes::InstrTypes(const Instruction &instr) : instr(instr) {
  for (unsigned i = 0; i < instr.getNumRecordOperands(); ++i) {
    const Buffer *buffer = instr.getOperand(i);
    const Type *type = buffer ? &buffer->getType() : nullptr;
    OperandRole role = instr.getOperandInfo(i).role;
    if (role == OperandRole::Out)
      outputs.push_back(type);
    else if (role != OperandRole::Scratch)
      inputs.push_back(type);
  }
}
