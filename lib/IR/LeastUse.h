//===- LeastUse.h - The memory of a run with least extents ------*- C++ -*-===//

#ifndef GLOWISH_LIB_IR_LEASTUSE_H
#define GLOWISH_LIB_IR_LEASTUSE_H

#include "glowish/IR/IR.h"
#include "llvm/ADT/DenseMap.h"

namespace glowish {

/// How far the buffers of a function are written by a run in which all symbols
/// have their least values: kernels end with the bounds of their loops.
class LeastUse {
public:
  explicit LeastUse(const IRFunction &function);

  /// Returns the bytes of \p root from its start to the last one that such a
  /// run writes; all of them where nothing of the function itself writes it.
  uint64_t getBytes(const Buffer *root) const;

private:
  void visit(const Instruction &instr, const SymbolRanges &symbols);

  /// In elements of the root.
  llvm::DenseMap<const Buffer *, int64_t> ends;
};

} // namespace glowish

#endif // GLOWISH_LIB_IR_LEASTUSE_H
