//===- Rematerialization.h - Computing again to save memory -----*- C++ -*-===//

#ifndef GLOWISH_IRGEN_REMATERIALIZATION_H
#define GLOWISH_IRGEN_REMATERIALIZATION_H

#include "glowish/Graph/Module.h"

namespace glowish {

/// Values that the backward pass recomputes instead of keeping them in memory.
struct RematerializationConfig {
  /// Rematerialize results of cheap nodes: element-wise functions, data
  /// movement, normalizations.
  bool cheapNodes = false;
  /// Checkpointing: the forward pass is divided into this many segments of
  /// about the same memory; values inside all but the last are recomputed. 0:
  /// none.
  unsigned numSegments = 0;

  bool isEnabled() const { return cheapNodes || numSegments; }
};

/// An order of the nodes of \p function, a training step, that needs little
/// memory: as scheduleNodes, but values of the forward pass that the backward
/// pass reads may be computed again right before they are read, by copies of
/// nodes, which are added to the function and the order. The backward pass
/// begins after the last value that \p loss, an output, depends on and that
/// something else reads as well. Of all orders, with and without the copies
/// that \p config says, the one with the least peak is taken. Nothing may merge
/// equal nodes or change the order afterwards.
///
/// Of nodes that take little time, copies are made so that the fewest bytes are
/// kept: a minimum cut, as PyTorch's AOTAutograd makes. Segments are those of
/// Chen et al., "Training Deep Nets with Sublinear Memory Cost", arXiv
/// 1604.06174.
std::vector<Node *>
scheduleWithRematerialization(Function &function, const Placeholder &loss,
                              const RematerializationConfig &config);

} // namespace glowish

#endif // GLOWISH_IRGEN_REMATERIALIZATION_H
