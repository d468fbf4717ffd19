//===- PlaceholderLiveness.h - Liveness of inputs and outputs ---*- C++ -*-===//

#ifndef GLOWISH_IR_PLACEHOLDERLIVENESS_H
#define GLOWISH_IR_PLACEHOLDERLIVENESS_H

#include "glowish/IR/IR.h"
#include "llvm/ADT/DenseMap.h"

namespace glowish {

/// The live ranges of inputs and outputs in the arena, which have no Alloc and
/// Dealloc. The application writes all inputs before the first instruction, and
/// each is live until its last user has run. An output is live from its first
/// user to the end. A buffer that is both, or neither, keeps a value between
/// runs: it has no such live range.
struct PlaceholderLiveness {
  using Buffers = llvm::SmallVector<const Buffer *, 2>;

  explicit PlaceholderLiveness(const IRFunction &function);

  /// Whether \p buffer is an input or an output that may lie in the arena.
  static bool hasLifetime(const Buffer &buffer) {
    return buffer.getKind() == Buffer::Kind::Mutable &&
           buffer.isInput() != buffer.isOutput();
  }

  /// All in the order of creation. Unused inputs are among the inputs: they
  /// live until the first instruction. Untouched outputs, which no instruction
  /// uses, begin after the last one.
  Buffers inputs, unusedInputs, untouchedOutputs;

  /// The outputs of which \p instr is the first user.
  const Buffers &getBeginning(const Instruction &instr) const {
    return get(beginning, instr);
  }
  /// The inputs of which \p instr is the last user.
  const Buffers &getEnding(const Instruction &instr) const {
    return get(ending, instr);
  }

private:
  using Table = llvm::DenseMap<const Instruction *, Buffers>;
  static const Buffers &get(const Table &table, const Instruction &instr);
  Table beginning, ending;
};

} // namespace glowish

#endif // GLOWISH_IR_PLACEHOLDERLIVENESS_H
