//===- CodeSizes.h - The code of an object by instruction -------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_CODESIZES_H
#define GLOWISH_BACKENDS_CODESIZES_H

#include "glowish/IR/IR.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace glowish {

/// The functions that compute each instruction: one for each level of the
/// processor, and with threads what calls it for a range of tasks.
/// Instructions with the same shapes and attributes share theirs.
using KernelNames =
    llvm::DenseMap<const Instruction *, llvm::SmallVector<std::string, 1>>;

/// The size of an object, and those of its functions.
struct CodeSizes {
  KernelNames kernels;
  /// Bytes of the functions in the object, by name. Those that were inlined
  /// have none.
  std::map<std::string, uint64_t> functions;
  /// Bytes of the whole file.
  uint64_t objectBytes = 0;
};

} // namespace glowish

#endif // GLOWISH_BACKENDS_CODESIZES_H
