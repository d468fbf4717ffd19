//===- Folding.h - Constant folding during import ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_FOLDING_H
#define GLOWISH_LIB_IMPORTER_COMMON_FOLDING_H

#include "glowish/Graph/Evaluator.h"

namespace glowish {

/// Limits the bytes of constants read and written by folding: a malicious graph
/// could fold a large constant again and again. Small constants are not
/// counted.
class FoldingBudget {
public:
  /// Extends the limit for weights of \p bytes, which are transposed, cast and
  /// scaled a few times each.
  void grow(int64_t bytes) { left += 16 * bytes; }
  bool take(int64_t bytes);
  /// Returns an error if the importer must not create a constant of \p bytes
  /// that is not in the file. Call it before allocating the constant.
  llvm::Error check(int64_t bytes);

private:
  /// What a file without weights may ask for.
  int64_t left = int64_t(1) << 26;
};

/// Returns the most bytes that a tensor may have of which a file has \p stored,
/// the others being zeros or the same ones again: a few bytes could otherwise
/// ask for all memory.
int64_t getMostExpanded(int64_t stored);

/// Creates a node in \p function. If its operands are constants and \p budget
/// allows it, it is replaced by its value, computed by \p evaluate unless that
/// is null.
llvm::Expected<NodeValue> createFolded(Function &function, llvm::StringRef name,
                                       NodeDraft draft,
                                       const NodeEvaluator &evaluate,
                                       FoldingBudget &budget);

/// Deletes constants of \p module that are unused after folding.
void eraseUnusedConstants(Module &module);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_FOLDING_H
