//===- Patches.h - The first layers in parts, for less memory ---*- C++ -*-===//
//
// The layers of a convolution network with the largest images need the most
// memory. Computed patch by patch, only a part of these images exists at a
// time; what neighbouring patches both need is computed twice. After Lin, Chen,
// Cai, Gan and Han, MCUNetV2: Memory-Efficient Patch-based Inference for Tiny
// Deep Learning, 2021. Patches are bands of rows here, which are dense in
// memory.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPTIMIZER_PATCHES_H
#define GLOWISH_OPTIMIZER_PATCHES_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// Which part of a function is computed in how many patches.
struct PatchPlan {
  /// Numbers of nodes in the function's order: the patches of the result of
  /// `end` are computed from that of `begin`, or from the function's inputs
  /// where there is none.
  std::optional<unsigned> begin;
  unsigned end = 0;
  unsigned count = 1;
  /// Elements that are computed, weighted with the operations for each, by
  /// those that are computed without patches: mostly more than 1, less where
  /// strides skip rows, which are not read.
  double work = 1;

  /// The argument of the pass compute-in-patches: "begin=1;end=7;count=4".
  std::string getArgument() const;
};

/// All candidates for computing a part of \p function that contains the node
/// \p inside in up to maxPatches patches, those with the least work first.
/// Parts begin and end at values that all paths go through, and have operators
/// that compute rows of images [N, H, W, C] from rows: convolutions, pools,
/// element-wise ones, normalizations along the last dimension, concatenations
/// and slices of other dimensions, transposes. \p function is lowered.
std::vector<PatchPlan> findPatchPlans(Function &function, const Node &inside);
constexpr unsigned maxPatches = 16;

/// Rewrites \p function, in which findPatchPlans found \p plan, or a clone of
/// it. The result of `end` is a concatenation of its patches; what is not
/// needed any more is deleted.
void computeInPatches(Function &function, const PatchPlan &plan);

} // namespace glowish

#endif // GLOWISH_OPTIMIZER_PATCHES_H
