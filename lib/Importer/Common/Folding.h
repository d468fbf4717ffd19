//===- Folding.h - Nodes computed while a model is imported -----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_FOLDING_H
#define GLOWISH_LIB_IMPORTER_COMMON_FOLDING_H

#include "glowish/Graph/Evaluator.h"

namespace glowish {

/// How many bytes of constants an import may still read and write: a hostile
/// graph could fold a large constant again and again. Small ones are free.
class FoldingBudget {
public:
  /// Weights of \p bytes came in, which are transposed, cast, scaled: a few
  /// times each.
  void grow(int64_t bytes) { left += 16 * bytes; }
  bool take(int64_t bytes);
  /// Whether the importer may make a constant of \p bytes that is not in the
  /// file; to be asked before memory is taken for it.
  llvm::Error check(int64_t bytes);

private:
  int64_t left = int64_t(1) << 28;
};

/// Makes a node in \p function, or the constant that it computes where its
/// operands are constants and \p budget allows it. Without \p evaluate nothing
/// is folded.
llvm::Expected<NodeValue> createFolded(Function &function, llvm::StringRef name,
                                       NodeDraft draft,
                                       const NodeEvaluator &evaluate,
                                       FoldingBudget &budget);

/// Deletes the constants of \p module that folding left over.
void eraseUnusedConstants(Module &module);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_FOLDING_H
