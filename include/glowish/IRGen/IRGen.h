//===- IRGen.h - Generates the IR of a schedule -----------------*- C++ -*-===//

#ifndef GLOWISH_IRGEN_IRGEN_H
#define GLOWISH_IRGEN_IRGEN_H

#include "glowish/Graph/Nodes.h"
#include "glowish/IR/IR.h"

namespace glowish {

/// How nodes are ordered.
enum class ScheduleStrategy {
  /// The best of the next one, greedy ones and the order as written.
  Best,
  /// Depth first; of a node's operands the one whose computation needs most
  /// beyond what it leaves comes first (Sethi and Ullman's rule).
  ChildMemSize,
  /// Depth first, operands in their order.
  PostOrder
};

/// An order of the nodes of \p function, operands first; with the first
/// strategy one with a small peak of live bytes. Takes about linear time.
std::vector<Node *>
scheduleNodes(Function &function,
              ScheduleStrategy strategy = ScheduleStrategy::Best);

/// The orders that scheduleNodes chooses from.
std::vector<std::vector<Node *>>
getCandidateSchedules(Function &function,
                      ScheduleStrategy strategy = ScheduleStrategy::Best);

/// The largest sum of live bytes, where results are live from their node to
/// their last user, and the first node at which it is reached; null of none.
/// Certain effects of IR passes are modelled: views take no memory, operands of
/// a concatenation are stored in its result, and saved values in the output. If
/// \p isFused, element-wise nodes are fused or computed in place.
struct SchedulePeak {
  uint64_t bytes = 0;
  Node *node = nullptr;
};
SchedulePeak findSchedulePeak(llvm::ArrayRef<Node *> order,
                              bool isFused = false);
inline uint64_t getSchedulePeak(llvm::ArrayRef<Node *> order) {
  return findSchedulePeak(order).bytes;
}

/// Makes the instructions of \p order. Placeholders and Constants become
/// weights in the module's order; every other result an activation with an
/// Alloc before its first and a Dealloc after its last use.
llvm::Expected<std::unique_ptr<IRFunction>>
generateIR(Function &function, llvm::ArrayRef<Node *> order);

} // namespace glowish

#endif // GLOWISH_IRGEN_IRGEN_H
