//===- Forest.h - Decision trees as nodes -----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_FOREST_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_FOREST_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// How an element is compared with a value of a node.
enum class TreeTest : uint8_t {
  AtMost,
  Less,
  AtLeast,
  Greater,
  Equal,
  NotEqual,
  /// With several values.
  Member,
  /// Not at all.
  Leaf
};

/// A weight that a leaf adds to a target.
struct LeafWeight {
  int64_t target;
  double weight;
};

/// A node of a tree in a model.
struct ModelTreeNode {
  TreeTest test = TreeTest::Leaf;
  int64_t feature = 0;
  /// A single value, but for Member, and none of a leaf.
  std::vector<double> values;
  /// Whether NaN passes the test.
  bool passesNaN = false;
  /// Indices of nodes.
  size_t whenTrue = 0, whenFalse = 0;
  std::vector<LeafWeight> weights;
};

/// The trees of a model.
struct Forest {
  std::vector<ModelTreeNode> nodes;
  std::vector<size_t> roots;
  int64_t numTargets = 0;
  /// "sum", "max" or "min".
  std::string mode = "sum";
  /// Names a node in an error.
  std::function<std::string(size_t node)> describe;
};

/// Whether a row reaches a leaf with a weight for a target.
enum class Reached : uint8_t { Never, Sometimes, Always };

/// The results of the trees for rows.
struct ForestScores {
  /// [rows, targets]; 0 where no leaf that is reached has a weight.
  NodeValue scores;
  /// For each target.
  std::vector<Reached> reached;
  /// [rows, targets], bool: whether a weight was reached; null unless that
  /// depends on the row for some target.
  NodeValue isReached;
};

/// Builds the trees of \p forest for \p rows, [rows, features], float or
/// double. An error names the node that is at fault. \p needsReached: whether
/// isReached is made where it may be needed. \p hasNaN: whether the elements
/// can be NaN.
llvm::Expected<ForestScores> makeForest(OpContext &op, NodeValue rows,
                                        const Forest &forest, bool needsReached,
                                        bool hasNaN);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_FOREST_H
