//===- PlaceholderLiveness.cpp - When the arena has a placeholder ---------===//

#include "glowish/IR/PlaceholderLiveness.h"

using namespace glowish;

PlaceholderLiveness::PlaceholderLiveness(const IRFunction &function) {
  struct Users {
    const Instruction *first, *last;
  };
  // Buffers that a body accesses are operands of the instruction that has it.
  llvm::DenseMap<const Buffer *, Users> users;
  for (const Instruction &instr : function.getInstrs())
    for (const Buffer *operand : instr.getOperands())
      if (operand)
        users.try_emplace(operand->getRoot(), Users{&instr, &instr})
            .first->second.last = &instr;
  for (const auto &buffer : function.getBuffers()) {
    if (!hasLifetime(*buffer))
      continue;
    auto found = users.find(buffer.get());
    bool isUsed = found != users.end();
    if (buffer->isInput()) {
      inputs.push_back(buffer.get());
      (isUsed ? ending[found->second.last] : unusedInputs)
          .push_back(buffer.get());
    } else {
      (isUsed ? beginning[found->second.first] : untouchedOutputs)
          .push_back(buffer.get());
    }
  }
}

const PlaceholderLiveness::Buffers &
PlaceholderLiveness::get(const Table &table, const Instruction &instr) {
  static const Buffers none;
  auto found = table.find(&instr);
  return found == table.end() ? none : found->second;
}
