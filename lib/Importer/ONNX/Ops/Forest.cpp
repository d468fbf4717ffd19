//===- Forest.cpp - Decision trees as nodes -------------------------------===//
//
// A TreeEnsemble compares with "at most" alone, and sends NaN to the second
// child. The other tests of ONNX become this one: with the next smaller number
// in the place of "less", with children that change places, and on columns that
// are computed in front of the trees, of features with -infinity in the place
// of NaN, and of whether a feature is one of some values.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Ops/Forest.h"
#include "ONNX/Ops/MachineLearning.h"
#include "llvm/ADT/DenseSet.h"
#include <cmath>
#include <deque>
#include <set>

using namespace glowish;
using namespace glowish::onnximport;

//===- Structure ----------------------------------------------------------===//

namespace {

/// A test of whether a feature is one of some values.
struct Membership {
  int64_t feature;
  /// In ascending order, each once.
  std::vector<double> values;
  bool hasNaN;
  auto operator<=>(const Membership &) const = default;
};

/// A column that is computed in front of the trees.
struct ComputedColumn {
  enum Group : uint8_t { WithoutNaN, OneValue, Set } group;
  /// Among those of its group.
  int64_t index;
};

/// The columns that trees compare: the features, then those that are computed.
class Columns {
public:
  explicit Columns(NodeValue rows)
      : rows(rows), kind(rows.getElemKind()), numFeatures(rows.getShape()[1]) {}

  /// Adds the column of \p feature with -infinity in the place of NaN.
  ComputedColumn addWithoutNaN(int64_t feature) {
    return {ComputedColumn::WithoutNaN, addTo(withoutNaN, feature)};
  }
  /// Adds the column that is 1 where \p test holds, and 0 elsewhere.
  ComputedColumn addMembership(const Membership &test);
  /// Returns the number of \p column once all are added.
  int64_t getNumber(ComputedColumn column) const;
  NodeValue build(OpContext &op) const;

private:
  using FeatureValue = std::pair<int64_t, double>;

  template <typename T>
  static int64_t addTo(std::map<T, int64_t> &map, const T &key) {
    return map.try_emplace(key, int64_t(map.size())).first->second;
  }
  NodeValue gather(OpContext &op, llvm::ArrayRef<int64_t> features) const {
    return op.gather(rows, op.int64s(features), 1);
  }
  NodeValue buildWithoutNaN(OpContext &op) const;
  NodeValue buildOneValue(OpContext &op) const;
  NodeValue buildSets(OpContext &op, NodeValue oneValue) const;

  NodeValue rows;
  ElemKind kind;
  int64_t numFeatures;
  std::map<int64_t, int64_t> withoutNaN;
  std::map<FeatureValue, int64_t> oneValue;
  /// Columns of tests of several values or of NaN, and of features that are
  /// tested for NaN alone.
  std::map<Membership, int64_t> sets;
  std::map<int64_t, int64_t> ofNaN;
};

/// Makes the attributes and operands of a TreeEnsemble of a forest.
class ForestBuilder {
public:
  ForestBuilder(OpContext &op, NodeValue rows, const Forest &forest,
                bool needsReached, bool hasNaN)
      : op(op), forest(forest), columns(rows), rows(rows),
        kind(rows.getElemKind()), needsReached(needsReached), hasNaN(hasNaN) {}

  llvm::Expected<ForestScores> build();

private:
  llvm::Error refuse(size_t node, const llvm::Twine &what) const {
    return makeError("{0}: {1}", forest.describe(node), what.str());
  }
  llvm::Error checkTree(size_t root);
  llvm::Error checkNode(size_t node) const;
  void findReached();
  bool hasOneTarget(size_t root) const;
  void sortTrees();
  void addTree(size_t root);
  void addLeaf(const ModelTreeNode &node);
  void addTest(const ModelTreeNode &node);
  llvm::Expected<ForestScores> finish();

  OpContext &op;
  const Forest &forest;
  Columns columns;
  NodeValue rows;
  ElemKind kind;
  bool needsReached, hasNaN;

  std::vector<bool> isVisited;
  ForestScores result;
  /// Whether each tree has weights of a single target, so that the trees of
  /// each target are a group; else leaves have a row of weights.
  bool isGrouped = true;
  /// The trees in the order of their groups.
  std::vector<size_t> order;
  std::vector<int64_t> features, children, roots, groups;
  /// The nodes that compare a computed column. Its number is known when all
  /// columns are.
  std::vector<std::pair<size_t, ComputedColumn>> computed;
  std::vector<double> values, weights;
};

} // namespace

/// Returns whether the elements of \p forest's tests are a number each.
static bool hasSingleValue(TreeTest test) {
  return test != TreeTest::Leaf && test != TreeTest::Member;
}

llvm::Error ForestBuilder::checkNode(size_t index) const {
  const ModelTreeNode &node = forest.nodes[index];
  if (node.test == TreeTest::Leaf) {
    if (node.weights.empty())
      return refuse(index, "the leaf has no weight; accepted: one at least");
    for (const LeafWeight &weight : node.weights)
      if (weight.target < 0 || weight.target >= forest.numTargets)
        return refuse(index, "the leaf has a weight for target " +
                                 llvm::Twine(weight.target) +
                                 "; accepted: less than " +
                                 llvm::Twine(forest.numTargets));
    return llvm::Error::success();
  }
  int64_t numFeatures = rows.getShape()[1];
  if (node.feature < 0 || node.feature >= numFeatures)
    return refuse(index, "it compares feature " + llvm::Twine(node.feature) +
                             "; accepted: less than " +
                             llvm::Twine(numFeatures) +
                             ", as many as input 0 has");
  if (hasSingleValue(node.test) && std::isnan(node.values[0]))
    return refuse(index, "it compares with NaN; accepted: a number");
  if (node.test == TreeTest::Less || node.test == TreeTest::AtLeast)
    if (std::isinf(node.values[0]) && node.values[0] < 0)
      return refuse(index, "it compares with minus infinity by BRANCH_LT or "
                           "BRANCH_GTE; accepted: a number above it");
  return llvm::Error::success();
}

/// Checks the nodes of the tree that begins at \p root, each of which may be
/// the child of one other.
llvm::Error ForestBuilder::checkTree(size_t root) {
  std::vector<size_t> open = {root};
  while (!open.empty()) {
    size_t index = open.back();
    open.pop_back();
    const ModelTreeNode &node = forest.nodes[index];
    if (isVisited[index])
      return refuse(index, "several ways lead to it; accepted: one, from the "
                           "root of its tree");
    isVisited[index] = true;
    GLOWISH_RETURN_IF_ERROR(checkNode(index));
    if (node.test != TreeTest::Leaf)
      open.insert(open.end(), {node.whenFalse, node.whenTrue});
  }
  return llvm::Error::success();
}

//===- Targets ------------------------------------------------------------===//

/// Returns the leaves of the tree of \p forest that begins at \p root.
static std::vector<const ModelTreeNode *> findLeaves(const Forest &forest,
                                                     size_t root) {
  std::vector<const ModelTreeNode *> leaves;
  std::vector<size_t> open = {root};
  while (!open.empty()) {
    const ModelTreeNode &node = forest.nodes[open.back()];
    open.pop_back();
    if (node.test == TreeTest::Leaf)
      leaves.push_back(&node);
    else
      open.insert(open.end(), {node.whenFalse, node.whenTrue});
  }
  return leaves;
}

/// Finds the targets that each row has weights for: those that all leaves of a
/// tree have.
void ForestBuilder::findReached() {
  result.reached.assign(size_t(forest.numTargets), Reached::Never);
  for (size_t root : forest.roots) {
    std::vector<size_t> counts(size_t(forest.numTargets), 0);
    auto leaves = findLeaves(forest, root);
    for (const ModelTreeNode *leaf : leaves) {
      llvm::SmallDenseSet<int64_t, 4> own;
      for (const LeafWeight &weight : leaf->weights)
        counts[size_t(weight.target)] += own.insert(weight.target).second;
    }
    for (auto [reached, count] : llvm::zip_equal(result.reached, counts))
      if (count == leaves.size())
        reached = Reached::Always;
      else if (count && reached == Reached::Never)
        reached = Reached::Sometimes;
  }
}

/// Whether all leaves of the tree that begins at \p root have one weight, for
/// the same target.
bool ForestBuilder::hasOneTarget(size_t root) const {
  auto leaves = findLeaves(forest, root);
  return llvm::all_of(leaves, [&](const ModelTreeNode *leaf) {
    return leaf->weights.size() == 1 &&
           leaf->weights[0].target == leaves[0]->weights[0].target;
  });
}

/// Finds the order and the groups of the trees.
void ForestBuilder::sortTrees() {
  isGrouped = llvm::all_of(forest.roots,
                           [&](size_t root) { return hasOneTarget(root); });
  order = forest.roots;
  if (!isGrouped) {
    groups = {int64_t(order.size())};
    return;
  }
  groups.assign(size_t(forest.numTargets), 0);
  llvm::DenseMap<size_t, int64_t> targets;
  for (size_t root : order) {
    targets[root] = findLeaves(forest, root)[0]->weights[0].target;
    ++groups[size_t(targets[root])];
  }
  llvm::stable_sort(
      order, [&](size_t a, size_t b) { return targets[a] < targets[b]; });
}

//===- Nodes --------------------------------------------------------------===//

/// Returns the largest number below \p x, not -infinity, in elements of
/// \p kind.
static double getBelow(double x, ElemKind kind) {
  double infinity = std::numeric_limits<double>::infinity();
  return kind == ElemKind::Double ? std::nextafter(x, -infinity)
                                  : std::nextafter(float(x), float(-infinity));
}

void ForestBuilder::addTest(const ModelTreeNode &node) {
  switch (node.test) {
  case TreeTest::AtMost:
  case TreeTest::Greater:
  case TreeTest::Less:
  case TreeTest::AtLeast: {
    bool isExclusive =
        node.test == TreeTest::Less || node.test == TreeTest::AtLeast;
    bool isFirst = node.test == TreeTest::AtMost || node.test == TreeTest::Less;
    // NaN goes on to the second child.
    bool staysNaN = !hasNaN || node.passesNaN != isFirst;
    if (!staysNaN)
      computed.push_back(
          {features.size(), columns.addWithoutNaN(node.feature)});
    features.push_back(node.feature);
    values.push_back(isExclusive ? getBelow(node.values[0], kind)
                                 : node.values[0]);
    return;
  }
  case TreeTest::Equal:
  case TreeTest::NotEqual:
  case TreeTest::Member: {
    std::vector<double> own = node.values;
    llvm::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
    // NaN is not equal to anything.
    bool isMember = hasNaN && node.passesNaN && node.test != TreeTest::NotEqual;
    computed.push_back(
        {features.size(),
         columns.addMembership({node.feature, std::move(own), isMember})});
    features.push_back(node.feature);
    values.push_back(0.5);
    return;
  }
  case TreeTest::Leaf:
    break;
  }
  llvm_unreachable("a leaf has no test");
}

/// Whether the second of the children is where a row goes that passes the test.
static bool isSecondWhenTrue(TreeTest test) {
  return test == TreeTest::Greater || test == TreeTest::AtLeast ||
         test == TreeTest::Equal || test == TreeTest::Member;
}

void ForestBuilder::addLeaf(const ModelTreeNode &node) {
  features.push_back(-1);
  if (isGrouped) {
    values.push_back(node.weights[0].weight);
    children.push_back(0);
    return;
  }
  bool counts = needsReached;
  size_t width = size_t(forest.numTargets) * (counts ? 2 : 1);
  double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> own(width, forest.mode == "sum"   ? 0
                                 : forest.mode == "max" ? -infinity
                                                        : infinity);
  for (size_t i = size_t(forest.numTargets); i < width; ++i)
    own[i] = 0;
  for (const LeafWeight &weight : node.weights) {
    double &sum = own[size_t(weight.target)];
    sum = forest.mode == "sum"   ? sum + weight.weight
          : forest.mode == "max" ? std::max(sum, weight.weight)
                                 : std::min(sum, weight.weight);
    if (counts)
      own[size_t(forest.numTargets + weight.target)] = 1;
  }
  values.push_back(0);
  children.push_back(int64_t(weights.size() / width));
  weights.insert(weights.end(), own.begin(), own.end());
}

/// Adds the nodes of a tree level by level, so that the two children of a node
/// are side by side, and nodes that many rows visit, too.
void ForestBuilder::addTree(size_t root) {
  roots.push_back(int64_t(features.size()));
  std::deque<size_t> open = {root};
  int64_t next = roots.back() + 1;
  while (!open.empty()) {
    const ModelTreeNode &node = forest.nodes[open.front()];
    open.pop_front();
    if (node.test == TreeTest::Leaf) {
      addLeaf(node);
      continue;
    }
    addTest(node);
    children.push_back(next);
    next += 2;
    size_t first = node.whenTrue, second = node.whenFalse;
    if (isSecondWhenTrue(node.test))
      std::swap(first, second);
    open.insert(open.end(), {first, second});
  }
}

//===- Columns ------------------------------------------------------------===//

ComputedColumn Columns::addMembership(const Membership &test) {
  for (double value : test.values)
    addTo(oneValue, FeatureValue(test.feature, value));
  if (test.values.size() == 1 && !test.hasNaN)
    return {ComputedColumn::OneValue,
            oneValue.at({test.feature, test.values[0]})};
  if (test.hasNaN)
    addTo(ofNaN, test.feature);
  return {ComputedColumn::Set, addTo(sets, test)};
}

int64_t Columns::getNumber(ComputedColumn column) const {
  int64_t first = numFeatures;
  if (column.group >= ComputedColumn::OneValue)
    first += int64_t(withoutNaN.size());
  if (column.group >= ComputedColumn::Set)
    first += int64_t(oneValue.size());
  return first + column.index;
}

NodeValue Columns::buildWithoutNaN(OpContext &op) const {
  std::vector<int64_t> list(withoutNaN.size());
  for (auto [feature, index] : withoutNaN)
    list[size_t(index)] = feature;
  NodeValue own = gather(op, list);
  return op.select(op.equal(own, own), own,
                   op.scalar(kind, -std::numeric_limits<double>::infinity()));
}

NodeValue Columns::buildOneValue(OpContext &op) const {
  std::vector<int64_t> list(oneValue.size());
  std::vector<double> values(oneValue.size());
  for (auto [key, index] : oneValue) {
    list[size_t(index)] = key.first;
    values[size_t(index)] = key.second;
  }
  NodeValue row = makeNumbers(op, kind, {1, int64_t(values.size())}, values);
  return op.cast(op.equal(gather(op, list), row), kind);
}

/// Builds the sums of those of the columns \p oneValue and of the tests of NaN
/// that are in each set, by a matmul.
NodeValue Columns::buildSets(OpContext &op, NodeValue oneValueColumns) const {
  std::vector<NodeValue> parts;
  if (!oneValue.empty())
    parts.push_back(oneValueColumns);
  if (!ofNaN.empty()) {
    std::vector<int64_t> list(ofNaN.size());
    for (auto [feature, index] : ofNaN)
      list[size_t(index)] = feature;
    parts.push_back(op.cast(isNaN(op, gather(op, list)), kind));
  }
  std::set<std::pair<int64_t, int64_t>> ones;
  for (const auto &[test, column] : sets) {
    for (double value : test.values)
      ones.insert({oneValue.at({test.feature, value}), column});
    if (test.hasNaN)
      ones.insert({int64_t(oneValue.size()) + ofNaN.at(test.feature), column});
  }
  NodeValue matrix = op.table(
      kind, {int64_t(oneValue.size() + ofNaN.size()), int64_t(sets.size())},
      [&](DimsRef index) { return double(ones.count({index[0], index[1]})); });
  return op.matMul(parts.size() == 1 ? parts[0] : op.concat(parts, 1), matrix);
}

NodeValue Columns::build(OpContext &op) const {
  std::vector<NodeValue> parts = {rows};
  if (!withoutNaN.empty())
    parts.push_back(buildWithoutNaN(op));
  NodeValue oneValueColumns;
  if (!oneValue.empty())
    parts.push_back(oneValueColumns = buildOneValue(op));
  if (!sets.empty())
    parts.push_back(buildSets(op, oneValueColumns));
  return parts.size() == 1 ? rows : op.concat(parts, 1);
}

//===- Forest -------------------------------------------------------------===//

llvm::Expected<ForestScores> ForestBuilder::finish() {
  for (auto [node, column] : computed)
    features[node] = columns.getNumber(column);
  NodeValue table = makeNumbers(op, kind, {int64_t(values.size())}, values);
  int64_t width = int64_t(forest.numTargets) * (needsReached ? 2 : 1);
  NodeValue leafWeights;
  if (!isGrouped)
    leafWeights = makeNumbers(
        op, kind, {int64_t(weights.size()) / width, width}, weights);
  NodeValue all = columns.build(op);
  if (op.hasFailed())
    return op.takeError();
  NodeValue scores = op.make<TreeEnsembleNode>(
      all, table, leafWeights, features, children, roots, groups, forest.mode);
  if (!isGrouped && needsReached) {
    NodeValue counts =
        op.slice(scores, 1, forest.numTargets, forest.numTargets);
    result.isReached = op.greater(counts, 0);
    scores = op.slice(scores, 1, 0, forest.numTargets);
  }
  // Without a weight, the largest and the smallest one are infinite.
  if (forest.mode != "sum" && !llvm::all_of(result.reached, [](Reached each) {
        return each == Reached::Always;
      })) {
    double infinity = std::numeric_limits<double>::infinity();
    scores =
        op.select(op.equal(scores, forest.mode == "max" ? -infinity : infinity),
                  op.number(scores, 0), scores);
  }
  result.scores = scores;
  if (op.hasFailed())
    return op.takeError();
  return std::move(result);
}

llvm::Expected<ForestScores> ForestBuilder::build() {
  isVisited.resize(forest.nodes.size());
  for (size_t root : forest.roots)
    GLOWISH_RETURN_IF_ERROR(checkTree(root));
  if (forest.nodes.size() > INT32_MAX / 2)
    return makeError("there are {0} nodes; accepted: up to {1}",
                     forest.nodes.size(), INT32_MAX / 2);
  findReached();
  sortTrees();
  needsReached &= llvm::is_contained(result.reached, Reached::Sometimes);
  int64_t numLeaves = int64_t(forest.nodes.size());
  if (!isGrouped)
    GLOWISH_RETURN_IF_ERROR(
        checkShape(ElemKind::Double, {numLeaves, 2 * forest.numTargets}));
  for (size_t root : order)
    addTree(root);
  return finish();
}

llvm::Expected<ForestScores>
onnximport::makeForest(OpContext &op, NodeValue rows, const Forest &forest,
                       bool needsReached, bool hasNaN) {
  return ForestBuilder(op, rows, forest, needsReached, hasNaN).build();
}
