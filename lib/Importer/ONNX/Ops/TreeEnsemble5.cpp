//===- TreeEnsemble5.cpp - Import of TreeEnsemble -------------------------===//
//
// TreeEnsemble of ai.onnx.ml 5, whose inner nodes and leaves have attributes of
// their own.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Ops/Forest.h"
#include "ONNX/Ops/MachineLearning.h"
#include "ONNX/Ops/TreeEnsembles.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

namespace {

/// The attributes of a TreeEnsemble.
struct TreeAttrs {
  std::vector<int64_t> roots, features, whenTrue, whenFalse, isTrueLeaf,
      isFalseLeaf, passesNaN, targets;
  std::vector<double> modes, values, members, weights;

  static llvm::Expected<TreeAttrs> read(OpContext &op, ElemKind kind);
  llvm::Error checkSizes() const;
};

/// Makes the trees of the attributes.
class TreeReader {
public:
  explicit TreeReader(const TreeAttrs &attrs) : attrs(attrs) {}

  llvm::Expected<Forest> read();

private:
  llvm::Error readMembers();
  llvm::Expected<ModelTreeNode> readNode(size_t index);
  llvm::Expected<size_t> findChild(size_t node, int64_t child, bool isLeaf);
  llvm::Expected<size_t> addLeaf(size_t node, int64_t leaf);

  const TreeAttrs &attrs;
  Forest forest;
  /// The values of each node that compares with several.
  std::vector<std::vector<double>> members;
};

} // namespace

/// Returns the elements of tensor attribute \p name, of \p kind; none if it is
/// absent.
static llvm::Expected<std::vector<double>>
readElements(OpContext &op, llvm::StringRef name, ElemKind kind) {
  std::vector<double> values;
  if (!op.hasAttr(name))
    return values;
  GLOWISH_ASSIGN_OR_RETURN(auto tensor, op.getTensor(name));
  if (tensor->getType().getKind() != kind)
    return makeError("attribute '{0}' has elements of {1}; accepted: {2}", name,
                     getElemKindName(tensor->getType().getKind()),
                     getElemKindName(kind));
  for (int64_t i = 0; i < tensor->getNumElements(); ++i)
    values.push_back(tensor->getAsDouble(i));
  return values;
}

llvm::Expected<TreeAttrs> TreeAttrs::read(OpContext &op, ElemKind kind) {
  TreeAttrs attrs;
  attrs.roots = op.getInts("tree_roots", {});
  attrs.features = op.getInts("nodes_featureids", {});
  attrs.whenTrue = op.getInts("nodes_truenodeids", {});
  attrs.whenFalse = op.getInts("nodes_falsenodeids", {});
  attrs.isTrueLeaf = op.getInts("nodes_trueleafs", {});
  attrs.isFalseLeaf = op.getInts("nodes_falseleafs", {});
  attrs.passesNaN = op.getInts("nodes_missing_value_tracks_true", {});
  attrs.targets = op.getInts("leaf_targetids", {});
  op.ignoreAttrs({"nodes_hitrates"});
  GLOWISH_ASSIGN_OR_RETURN(attrs.modes,
                           readElements(op, "nodes_modes", ElemKind::UInt8));
  GLOWISH_ASSIGN_OR_RETURN(attrs.values,
                           readElements(op, "nodes_splits", kind));
  GLOWISH_ASSIGN_OR_RETURN(attrs.members,
                           readElements(op, "membership_values", kind));
  GLOWISH_ASSIGN_OR_RETURN(attrs.weights,
                           readElements(op, "leaf_weights", kind));
  if (attrs.passesNaN.empty())
    attrs.passesNaN.assign(attrs.features.size(), 0);
  GLOWISH_RETURN_IF_ERROR(attrs.checkSizes());
  return std::move(attrs);
}

llvm::Error TreeAttrs::checkSizes() const {
  std::pair<llvm::StringRef, size_t> sizes[] = {
      {"nodes_truenodeids", whenTrue.size()},
      {"nodes_falsenodeids", whenFalse.size()},
      {"nodes_trueleafs", isTrueLeaf.size()},
      {"nodes_falseleafs", isFalseLeaf.size()},
      {"nodes_missing_value_tracks_true", passesNaN.size()},
      {"nodes_modes", modes.size()},
      {"nodes_splits", values.size()}};
  for (auto [name, size] : sizes)
    GLOWISH_RETURN_IF_ERROR(checkSize(name, size, features.size(),
                                      "element of 'nodes_featureids'"));
  return checkSize("leaf_targetids", targets.size(), weights.size(),
                   "element of 'leaf_weights'");
}

/// Divides `membership_values` at its NaN among the nodes of mode
/// BRANCH_MEMBER.
llvm::Error TreeReader::readMembers() {
  members.resize(attrs.features.size());
  size_t next = 0;
  for (auto [node, mode] : llvm::enumerate(attrs.modes)) {
    if (mode != 6)
      continue;
    if (next >= attrs.members.size())
      return makeError("node {0} is a BRANCH_MEMBER, and attribute "
                       "'membership_values' has no values left for it",
                       node);
    while (next < attrs.members.size() && !std::isnan(attrs.members[next]))
      members[node].push_back(attrs.members[next++]);
    ++next;
  }
  if (next < attrs.members.size())
    return makeError("attribute 'membership_values' has values for more than "
                     "the nodes of mode BRANCH_MEMBER");
  return llvm::Error::success();
}

/// Adds leaf number \p leaf as a child of \p node, and returns its place.
llvm::Expected<size_t> TreeReader::addLeaf(size_t node, int64_t leaf) {
  if (leaf < 0 || leaf >= int64_t(attrs.weights.size()))
    return makeError("node {0}: its leaf {1} does not exist; accepted: less "
                     "than {2}",
                     node, leaf, attrs.weights.size());
  ModelTreeNode own;
  own.weights = {{attrs.targets[size_t(leaf)], attrs.weights[size_t(leaf)]}};
  forest.nodes.push_back(std::move(own));
  return forest.nodes.size() - 1;
}

llvm::Expected<size_t> TreeReader::findChild(size_t node, int64_t child,
                                             bool isLeaf) {
  if (isLeaf)
    return addLeaf(node, child);
  if (child < 0 || child >= int64_t(attrs.features.size()))
    return makeError("node {0}: its child {1} does not exist; accepted: less "
                     "than {2}",
                     node, child, attrs.features.size());
  return size_t(child);
}

llvm::Expected<ModelTreeNode> TreeReader::readNode(size_t i) {
  ModelTreeNode node;
  if (attrs.modes[i] > 6)
    return makeError("node {0}: the mode is {1}; accepted: 0 to 6, from "
                     "BRANCH_LEQ to BRANCH_MEMBER",
                     i, int64_t(attrs.modes[i]));
  // The tests are in the order of ONNX's modes.
  node.test = TreeTest(int(attrs.modes[i]));
  node.feature = attrs.features[i];
  node.values = node.test == TreeTest::Member
                    ? std::move(members[i])
                    : std::vector<double>{attrs.values[i]};
  node.passesNaN = attrs.passesNaN[i] != 0;
  GLOWISH_ASSIGN_OR_RETURN(
      node.whenTrue, findChild(i, attrs.whenTrue[i], attrs.isTrueLeaf[i] != 0));
  GLOWISH_ASSIGN_OR_RETURN(
      node.whenFalse,
      findChild(i, attrs.whenFalse[i], attrs.isFalseLeaf[i] != 0));
  return node;
}

llvm::Expected<Forest> TreeReader::read() {
  size_t numNodes = attrs.features.size();
  GLOWISH_RETURN_IF_ERROR(readMembers());
  forest.nodes.resize(numNodes);
  for (size_t i = 0; i < numNodes; ++i) {
    GLOWISH_ASSIGN_OR_RETURN(ModelTreeNode node, readNode(i));
    forest.nodes[i] = std::move(node);
  }
  for (int64_t root : attrs.roots) {
    if (root < 0 || root >= int64_t(numNodes))
      return makeError("attribute 'tree_roots' has node {0}; accepted: less "
                       "than {1}",
                       root, numNodes);
    size_t i = size_t(root);
    // The root of a tree that is a leaf has it twice.
    bool isLeaf = attrs.isTrueLeaf[i] && attrs.isFalseLeaf[i] &&
                  attrs.whenTrue[i] == attrs.whenFalse[i];
    forest.roots.push_back(isLeaf ? forest.nodes[i].whenTrue : i);
  }
  forest.describe = [numNodes](size_t node) {
    return node < numNodes ? llvm::formatv("node {0}", node).str()
                           : std::string("a leaf");
  };
  return std::move(forest);
}

static llvm::Error importTreeEnsemble(OpContext &op, NodeValue input) {
  ElemKind kind = input.getElemKind();
  if (kind != ElemKind::Float && kind != ElemKind::Double)
    return makeError("input 0 is {0}; accepted: float or double",
                     input.getType().str());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, readRows(op, input));
  int64_t numTargets = op.getInt("n_targets", 0);
  int64_t function = op.getInt("aggregate_function", 1);
  int64_t transform = op.getInt("post_transform", 0);
  GLOWISH_RETURN_IF_ERROR(checkNumTargets(numTargets));
  if (function < 0 || function > 3)
    return makeError("attribute 'aggregate_function' is {0}; accepted: 0 to 3, "
                     "which are AVERAGE, SUM, MIN and MAX",
                     function);
  if (transform < 0 || transform > 4)
    return makeError("attribute 'post_transform' is {0}; accepted: 0 to 4, "
                     "which are NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO and "
                     "PROBIT",
                     transform);
  static const char *const functions[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  static const char *const transforms[] = {"NONE", "SOFTMAX", "LOGISTIC",
                                           "SOFTMAX_ZERO", "PROBIT"};
  Aggregation how;
  how.function = functions[function];
  how.transform = transforms[transform];
  GLOWISH_ASSIGN_OR_RETURN(TreeAttrs attrs, TreeAttrs::read(op, kind));
  GLOWISH_ASSIGN_OR_RETURN(Forest forest, TreeReader(attrs).read());
  forest.numTargets = numTargets;
  forest.mode = how.getMode();
  GLOWISH_ASSIGN_OR_RETURN(ForestScores scores,
                           makeForest(op, rows, forest, /*needsReached=*/false,
                                      /*hasNaN=*/true));
  return op.setOutput(
      0, finishTargets(op, scores.scores, forest.roots.size(), how));
}

static OnnxOperator treeEnsembleOp("TreeEnsemble", 5,
                                   withExtents<importTreeEnsemble>,
                                   machineLearningDomain);
