//===- TreeEnsembles.cpp - Import of trees that classify or regress -------===//
//
// TreeEnsembleClassifier and TreeEnsembleRegressor of ai.onnx.ml 1 to 4. What
// ONNX leaves open about the scores of two classes is as ONNX Runtime has it:
// TreeAggregatorClassifier of its tree_ensemble_aggregator.h.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Ops/TreeEnsembles.h"
#include "ONNX/Ops/Forest.h"
#include "ONNX/Ops/MachineLearning.h"
#include "glowish/Importer/OperatorNotes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Attributes ---------------------------------------------------------===//

/// Returns attribute \p name, floats, or the tensor in `NAME_as_tensor`, whose
/// elements have \p kind.
static llvm::Expected<std::vector<double>>
readNumbers(OpContext &op, const std::string &name, ElemKind kind) {
  std::string tensorName = name + "_as_tensor";
  if (!op.hasAttr(tensorName))
    return op.getFloats(name);
  if (!op.getFloats(name).empty())
    return makeError("attributes '{0}' and '{1}' are given; accepted: one of "
                     "them",
                     name, tensorName);
  GLOWISH_ASSIGN_OR_RETURN(auto tensor, op.getTensor(tensorName));
  if (tensor->getType().getKind() != kind)
    return makeError(
        "attribute '{0}' has elements of {1}; accepted: {2}, which "
        "trees for this input compare",
        tensorName, getElemKindName(tensor->getType().getKind()),
        getElemKindName(kind));
  std::vector<double> values;
  for (int64_t i = 0; i < tensor->getNumElements(); ++i)
    values.push_back(tensor->getAsDouble(i));
  return values;
}

namespace {

/// The attributes about nodes of TreeEnsembleClassifier and
/// TreeEnsembleRegressor.
struct NodeAttrs {
  std::vector<int64_t> trees, ids, features, whenTrue, whenFalse, passesNaN;
  std::vector<std::string> modes;
  std::vector<double> values;

  static llvm::Expected<NodeAttrs> read(OpContext &op, ElemKind kind);
};

/// Attributes about the weights of leaves.
struct WeightAttrs {
  std::vector<int64_t> trees, ids, targets;
  std::vector<double> weights;
  /// "class" or "target", with which their names begin.
  std::string prefix;

  static llvm::Expected<WeightAttrs> read(OpContext &op, ElemKind kind,
                                          llvm::StringRef prefix);
};

/// Tree and node.
using NodeId = std::pair<int64_t, int64_t>;

} // namespace

llvm::Expected<NodeAttrs> NodeAttrs::read(OpContext &op, ElemKind kind) {
  NodeAttrs attrs;
  attrs.trees = op.getInts("nodes_treeids", {});
  attrs.ids = op.getInts("nodes_nodeids", {});
  attrs.features = op.getInts("nodes_featureids", {});
  attrs.whenTrue = op.getInts("nodes_truenodeids", {});
  attrs.whenFalse = op.getInts("nodes_falsenodeids", {});
  attrs.passesNaN = op.getInts("nodes_missing_value_tracks_true", {});
  attrs.modes = op.getStrings("nodes_modes");
  GLOWISH_ASSIGN_OR_RETURN(attrs.values, readNumbers(op, "nodes_values", kind));
  op.ignoreAttrs({"nodes_hitrates", "nodes_hitrates_as_tensor"});
  size_t count = attrs.ids.size();
  if (attrs.passesNaN.empty())
    attrs.passesNaN.assign(count, 0);
  std::pair<llvm::StringRef, size_t> sizes[] = {
      {"nodes_treeids", attrs.trees.size()},
      {"nodes_featureids", attrs.features.size()},
      {"nodes_truenodeids", attrs.whenTrue.size()},
      {"nodes_falsenodeids", attrs.whenFalse.size()},
      {"nodes_missing_value_tracks_true", attrs.passesNaN.size()},
      {"nodes_modes", attrs.modes.size()},
      {"nodes_values", attrs.values.size()}};
  for (auto [name, size] : sizes)
    GLOWISH_RETURN_IF_ERROR(
        checkSize(name, size, count, "element of 'nodes_nodeids'"));
  if (count == 0)
    return makeError("attribute 'nodes_nodeids' has no elements; accepted: one "
                     "for each node");
  return std::move(attrs);
}

llvm::Expected<WeightAttrs> WeightAttrs::read(OpContext &op, ElemKind kind,
                                              llvm::StringRef prefix) {
  WeightAttrs attrs;
  attrs.prefix = prefix.str();
  attrs.trees = op.getInts(attrs.prefix + "_treeids", {});
  attrs.ids = op.getInts(attrs.prefix + "_nodeids", {});
  attrs.targets = op.getInts(attrs.prefix + "_ids", {});
  GLOWISH_ASSIGN_OR_RETURN(attrs.weights,
                           readNumbers(op, attrs.prefix + "_weights", kind));
  std::pair<llvm::StringRef, size_t> sizes[] = {
      {"_treeids", attrs.trees.size()},
      {"_ids", attrs.targets.size()},
      {"_weights", attrs.weights.size()}};
  for (auto [name, size] : sizes)
    GLOWISH_RETURN_IF_ERROR(
        checkSize(attrs.prefix + name.str(), size, attrs.ids.size(),
                  "element of '" + attrs.prefix + "_nodeids'"));
  return std::move(attrs);
}

//===- Trees of versions 1 to 3 -------------------------------------------===//

static llvm::Expected<TreeTest> parseMode(llvm::StringRef mode) {
  auto test = llvm::StringSwitch<std::optional<TreeTest>>(mode)
                  .Case("BRANCH_LEQ", TreeTest::AtMost)
                  .Case("BRANCH_LT", TreeTest::Less)
                  .Case("BRANCH_GTE", TreeTest::AtLeast)
                  .Case("BRANCH_GT", TreeTest::Greater)
                  .Case("BRANCH_EQ", TreeTest::Equal)
                  .Case("BRANCH_NEQ", TreeTest::NotEqual)
                  .Case("LEAF", TreeTest::Leaf)
                  .Default(std::nullopt);
  if (test)
    return *test;
  return makeError("the mode is '{0}'; accepted: BRANCH_LEQ, BRANCH_LT, "
                   "BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ, LEAF",
                   mode);
}

static std::string describeNodeId(const NodeId &id) {
  return llvm::formatv("node {0} of tree {1}", id.second, id.first);
}

/// Makes the nodes of \p attrs, in their order, and the roots, the first nodes
/// of the trees.
static llvm::Expected<Forest> makeNodes(const NodeAttrs &attrs,
                                        std::map<NodeId, size_t> &places) {
  Forest forest;
  llvm::DenseSet<int64_t> trees;
  for (size_t i = 0; i < attrs.ids.size(); ++i) {
    NodeId id(attrs.trees[i], attrs.ids[i]);
    if (!places.emplace(id, i).second)
      return makeError("{0} is given twice", describeNodeId(id));
    if (i == 0 || attrs.trees[i - 1] != attrs.trees[i]) {
      if (!trees.insert(attrs.trees[i]).second)
        return makeError("{0} comes after those of another tree; accepted: the "
                         "nodes of a tree one after the other",
                         describeNodeId(id));
      forest.roots.push_back(i);
    }
  }
  for (size_t i = 0; i < attrs.ids.size(); ++i) {
    NodeId id(attrs.trees[i], attrs.ids[i]);
    ModelTreeNode node;
    llvm::Expected<TreeTest> test = parseMode(attrs.modes[i]);
    if (!test)
      return addContext(test.takeError(), describeNodeId(id) + ": ");
    node.test = *test;
    node.feature = attrs.features[i];
    node.values = {attrs.values[i]};
    node.passesNaN = attrs.passesNaN[i] != 0;
    std::pair<int64_t, size_t *> children[] = {
        {attrs.whenTrue[i], &node.whenTrue},
        {attrs.whenFalse[i], &node.whenFalse}};
    for (auto [child, place] : children) {
      auto found = places.find({id.first, child});
      if (node.test != TreeTest::Leaf && found == places.end())
        return makeError("{0}: its child {1} does not exist; accepted: a node "
                         "of the same tree",
                         describeNodeId(id), child);
      if (node.test != TreeTest::Leaf)
        *place = found->second;
    }
    forest.nodes.push_back(std::move(node));
  }
  return std::move(forest);
}

/// Reads the trees of an operator with \p numTargets targets.
static llvm::Expected<Forest> readForest(OpContext &op, ElemKind kind,
                                         llvm::StringRef prefix,
                                         int64_t numTargets) {
  GLOWISH_ASSIGN_OR_RETURN(NodeAttrs attrs, NodeAttrs::read(op, kind));
  GLOWISH_ASSIGN_OR_RETURN(WeightAttrs weights,
                           WeightAttrs::read(op, kind, prefix));
  std::map<NodeId, size_t> places;
  GLOWISH_ASSIGN_OR_RETURN(Forest forest, makeNodes(attrs, places));
  forest.numTargets = numTargets;
  for (size_t i = 0; i < weights.ids.size(); ++i) {
    NodeId id(weights.trees[i], weights.ids[i]);
    auto found = places.find(id);
    if (found == places.end())
      return makeError("attribute '{0}_nodeids' has {1}, which does not exist",
                       prefix, describeNodeId(id));
    // Old converters gave inner nodes weights, which are of no use.
    ModelTreeNode &node = forest.nodes[found->second];
    if (node.test == TreeTest::Leaf)
      node.weights.push_back({weights.targets[i], weights.weights[i]});
  }
  forest.describe = [attrs](size_t node) {
    return describeNodeId({attrs.trees[node], attrs.ids[node]});
  };
  return std::move(forest);
}

//===- TreeEnsembleRegressor ----------------------------------------------===//

NodeValue onnximport::finishTargets(OpContext &op, NodeValue x, size_t numTrees,
                                    const Aggregation &how) {
  if (!x)
    return x;
  int64_t numTargets = x.getShape()[1];
  if (how.function == "AVERAGE")
    x = op.div(x, double(numTrees));
  if (!how.base.empty())
    x = op.add(x, makeNumbers(op, x.getElemKind(), {1, numTargets}, how.base));
  return transformTargets(op, x, how.transform);
}

llvm::Error onnximport::checkNumTargets(int64_t numTargets) {
  if (numTargets >= 1 && numTargets <= INT32_MAX)
    return llvm::Error::success();
  return makeError("attribute 'n_targets' is {0}; accepted: 1 or more",
                   numTargets);
}

static llvm::Error importTreeEnsembleRegressor(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, readRows(op, input));
  ElemKind kind = rows.getElemKind();
  int64_t numTargets = op.getInt("n_targets", 0);
  Aggregation how;
  how.function = op.getString("aggregate_function", "SUM");
  GLOWISH_ASSIGN_OR_RETURN(how.transform, readTransform(op));
  GLOWISH_ASSIGN_OR_RETURN(how.base, readNumbers(op, "base_values", kind));
  GLOWISH_RETURN_IF_ERROR(checkNumTargets(numTargets));
  if (how.getMode().empty())
    return makeError("attribute 'aggregate_function' is '{0}'; accepted: SUM, "
                     "AVERAGE, MIN, MAX",
                     how.function);
  if (!how.base.empty())
    GLOWISH_RETURN_IF_ERROR(checkSize("base_values", how.base.size(),
                                      size_t(numTargets), "target"));
  GLOWISH_ASSIGN_OR_RETURN(Forest forest,
                           readForest(op, kind, "target", numTargets));
  forest.mode = how.getMode();
  GLOWISH_ASSIGN_OR_RETURN(ForestScores scores,
                           makeForest(op, rows, forest, /*needsReached=*/false,
                                      isFloatKind(input.getElemKind())));
  NodeValue targets =
      finishTargets(op, scores.scores, forest.roots.size(), how);
  return op.setOutput(0, op.cast(targets, ElemKind::Float));
}

//===- TreeEnsembleClassifier ---------------------------------------------===//

namespace {

/// Makes the outputs of a TreeEnsembleClassifier of the scores of its trees.
class TreeClassifier {
public:
  TreeClassifier(OpContext &op, ClassLabels labels, std::string transform,
                 std::vector<double> base, const Forest &forest,
                 ForestScores trees)
      : op(op), labels(std::move(labels)), transform(std::move(transform)),
        base(std::move(base)), trees(std::move(trees)) {
    for (const ModelTreeNode &node : forest.nodes)
      for (const LeafWeight &weight : node.weights)
        arePositive &= weight.weight >= 0;
    numWeighed = llvm::count_if(this->trees.reached, [](Reached each) {
      return each != Reached::Never;
    });
  }

  llvm::Error import();

private:
  /// Both outputs.
  struct Outputs {
    NodeValue label, scores;
  };

  NodeValue takeColumn(NodeValue x, int64_t index) {
    return op.slice(x, 1, index, 1);
  }
  /// Whether there are two classes, of which one has weights.
  bool isBinary() const { return labels.size() == 2 && numWeighed == 1; }
  NodeValue showScore(NodeValue score, int64_t index);
  NodeValue pickTwo(NodeValue score);
  Outputs makeClasses();
  llvm::Expected<Outputs> makeTwo();
  llvm::Expected<Outputs> makeOneScore();
  Outputs makeTwoScores();

  OpContext &op;
  ClassLabels labels;
  std::string transform;
  std::vector<double> base;
  ForestScores trees;
  bool arePositive = true;
  int64_t numWeighed;
};

} // namespace

/// The label of more than two classes is that of the largest score among the
/// classes with a weight.
TreeClassifier::Outputs TreeClassifier::makeClasses() {
  NodeValue scores = trees.scores;
  if (!base.empty())
    scores = op.add(scores, makeNumbers(op, scores.getElemKind(),
                                        {1, int64_t(base.size())}, base));
  NodeValue least = op.number(scores, -std::numeric_limits<double>::infinity());
  NodeValue candidates = scores;
  if (base.empty() && trees.isReached)
    candidates = op.select(trees.isReached, scores, least);
  else if (base.empty() && numWeighed != int64_t(labels.size()))
    candidates = op.select(op.table(ElemKind::Bool, {1, int64_t(labels.size())},
                                    [&](DimsRef index) {
                                      return trees.reached[size_t(index[1])] !=
                                             Reached::Never;
                                    }),
                           scores, least);
  return {pickLargest(op, labels, candidates),
          transformScores(op, scores, transform)};
}

/// Builds \p score of class \p index, which is 0 where no weight was reached.
NodeValue TreeClassifier::showScore(NodeValue score, int64_t index) {
  switch (trees.reached[size_t(index)]) {
  case Reached::Always:
    return score;
  case Reached::Never:
    return op.mul(takeColumn(trees.scores, index), 0);
  case Reached::Sometimes:
    return op.select(takeColumn(trees.isReached, index), score,
                     op.number(score, 0));
  }
  llvm_unreachable("not a case");
}

/// Builds the label of two classes. It is one of their labels where one class
/// alone has weights, and 0 or 1 otherwise.
NodeValue TreeClassifier::pickTwo(NodeValue score) {
  NodeValue isSecond = op.greater(score, isBinary() && arePositive ? 0.5 : 0);
  return isBinary() ? pickLabel(op, isSecond, labels[1], labels[0])
                    : pickLabel(op, isSecond, 1, 0);
}

/// Builds the outputs of two classes where the second one has no weight.
llvm::Expected<TreeClassifier::Outputs> TreeClassifier::makeOneScore() {
  NodeValue first = takeColumn(trees.scores, 0);
  if (!base.empty())
    first = op.add(first, base[0]);
  if (base.size() == 2)
    return Outputs{
        pickTwo(first),
        transformScores(op,
                        op.concat({showScore(first, 0), op.mul(first, 0)}, 1),
                        transform)};
  if (transform == "PROBIT")
    return makeError("attribute 'post_transform' is 'PROBIT' where one of two "
                     "classes has weights; accepted: the others");
  if (!isBinary() && !base.empty())
    return makeError("both of two classes have weights, there is one base "
                     "value, and some leaves have no weight for the second "
                     "class; accepted: a tree of which all leaves have one");
  return Outputs{
      pickTwo(first),
      addSecondClass(op, first, isBinary() && arePositive, transform)};
}

/// Builds the outputs of two classes where the second one has a weight.
TreeClassifier::Outputs TreeClassifier::makeTwoScores() {
  NodeValue first = takeColumn(trees.scores, 0);
  NodeValue second = takeColumn(trees.scores, 1);
  if (base.size() == 2) {
    second = op.add(first, base[1]);
    first = op.sub(0, second);
  } else if (base.size() == 1) {
    first = op.add(first, base[0]);
  }
  NodeValue both = op.concat({showScore(first, 0), second}, 1);
  return {pickTwo(second), transformScores(op, both, transform)};
}

llvm::Expected<TreeClassifier::Outputs> TreeClassifier::makeTwo() {
  if (trees.reached[1] == Reached::Always)
    return makeTwoScores();
  GLOWISH_ASSIGN_OR_RETURN(Outputs one, makeOneScore());
  if (trees.reached[1] == Reached::Never)
    return one;
  Outputs two = makeTwoScores();
  NodeValue hasSecond = takeColumn(trees.isReached, 1);
  if (!hasSecond)
    return Outputs();
  return Outputs{op.select(op.reshape(hasSecond, {hasSecond.getShape()[0]}),
                           two.label, one.label),
                 op.select(hasSecond, two.scores, one.scores)};
}

llvm::Error TreeClassifier::import() {
  if (labels.size() == 1)
    return makeError("there is one class; accepted: two or more");
  Outputs outputs;
  if (labels.size() > 2) {
    outputs = makeClasses();
  } else {
    GLOWISH_ASSIGN_OR_RETURN(outputs, makeTwo());
  }
  if (op.hasFailed())
    return op.takeError();
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, outputs.label));
  return op.setOutput(1, op.cast(outputs.scores, ElemKind::Float));
}

static llvm::Error importTreeEnsembleClassifier(OpContext &op,
                                                NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, readRows(op, input));
  ElemKind kind = rows.getElemKind();
  GLOWISH_ASSIGN_OR_RETURN(ClassLabels labels,
                           readLabels(op, "classlabels_int64s"));
  GLOWISH_ASSIGN_OR_RETURN(std::string transform, readTransform(op));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<double> base,
                           readNumbers(op, "base_values", kind));
  bool hasFewBase = labels.size() <= 2 && base.size() <= 2;
  if (!base.empty() && !hasFewBase)
    GLOWISH_RETURN_IF_ERROR(
        checkSize("base_values", base.size(), labels.size(), "class"));
  GLOWISH_ASSIGN_OR_RETURN(
      Forest forest, readForest(op, kind, "class", int64_t(labels.size())));
  GLOWISH_ASSIGN_OR_RETURN(
      ForestScores scores,
      makeForest(op, rows, forest,
                 /*needsReached=*/labels.size() == 2 || base.empty(),
                 isFloatKind(input.getElemKind())));
  return TreeClassifier(op, std::move(labels), std::move(transform),
                        std::move(base), forest, std::move(scores))
      .import();
}

static OnnxOperator
    treeEnsembleRegressorOp("TreeEnsembleRegressor", 1,
                            withExtents<importTreeEnsembleRegressor>,
                            machineLearningDomain);
static OnnxOperator
    treeEnsembleClassifierOp("TreeEnsembleClassifier", 1,
                             withExtents<importTreeEnsembleClassifier>,
                             machineLearningDomain);

static OnnxOperatorNotes
    treeEnsembleClassifierNotes("TreeEnsembleClassifier",
                                {.limit = stringLabelsLimit},
                                machineLearningDomain);
