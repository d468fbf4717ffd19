//===- ImporterMachineLearningTest.cpp - Import of ai.onnx.ml -------------===//
//
// tests/e2e/machine_learning.py compares all forms with ONNX Runtime; here are
// small models whose outputs can be seen, and files that are refused.
//
//===----------------------------------------------------------------------===//

#include "RunText.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

std::string floatsAttr(llvm::StringRef name, std::vector<double> values) {
  std::string text = "attribute { name: \"" + name.str() + "\" type: FLOATS ";
  for (double value : values)
    text += llvm::formatv("floats: {0} ", value).str();
  return text + "} ";
}

/// A constant x, so that the outputs are constants, too.
std::string constantRows(std::vector<int64_t> shape, std::vector<float> rows) {
  return floats("x", std::move(shape), std::move(rows));
}

/// A model of one node of ai.onnx.ml with the constant x.
TextModel oneModelNode(llvm::StringRef type, std::string attributes,
                       std::string rows, int opset = 3,
                       std::vector<std::string> outputs = {"y"}) {
  TextModel model;
  model.header = "opset_import { domain: \"ai.onnx.ml\" version: " +
                 std::to_string(opset) + " }";
  model.inputs = {};
  model.body = std::move(rows) + "node { domain: \"ai.onnx.ml\" op_type: \"" +
               type.str() + "\" input: \"x\" ";
  for (const std::string &output : outputs)
    model.body += "output: \"" + output + "\" ";
  model.body += attributes + "} ";
  return model;
}

/// The attributes of a regressor of one tree. Node 0 compares feature 1 with
/// 0.5; its children are the leaves 1, of weight 10, and 2, of weight 20.
struct TreeAttrs {
  std::vector<int64_t> trees = {0, 0, 0}, ids = {0, 1, 2}, features = {1, 0, 0},
                       whenTrue = {1, 0, 0}, whenFalse = {2, 0, 0},
                       missing = {};
  std::vector<std::string> modes = {"BRANCH_LEQ", "LEAF", "LEAF"};
  std::vector<double> values = {0.5, 0, 0};
  std::vector<int64_t> leafTrees = {0, 0}, leaves = {1, 2}, targets = {0, 0};
  std::vector<double> weights = {10, 20};
  int64_t numTargets = 1;
  std::string others;

  std::string str() const {
    return intsAttr("nodes_treeids", trees) + intsAttr("nodes_nodeids", ids) +
           intsAttr("nodes_featureids", features) +
           intsAttr("nodes_truenodeids", whenTrue) +
           intsAttr("nodes_falsenodeids", whenFalse) +
           (missing.empty()
                ? ""
                : intsAttr("nodes_missing_value_tracks_true", missing)) +
           stringsAttr("nodes_modes", modes) +
           floatsAttr("nodes_values", values) +
           intsAttr("target_treeids", leafTrees) +
           intsAttr("target_nodeids", leaves) +
           intsAttr("target_ids", targets) +
           floatsAttr("target_weights", weights) +
           intAttr("n_targets", numTargets) + others;
  }
};

std::string rows3x2() {
  return constantRows({3, 2}, {0, 0.25f, 0, 0.5f, 0, 0.75f});
}

std::string importTree(const TreeAttrs &attrs) {
  return runText(oneModelNode("TreeEnsembleRegressor", attrs.str(), rows3x2()));
}
std::string importTreeError(const TreeAttrs &attrs) {
  return oneModelNode("TreeEnsembleRegressor", attrs.str(), rows3x2())
      .importError();
}

TEST(ImporterMachineLearning, Modes) {
  std::pair<const char *, const char *> cases[] = {
      {"BRANCH_LEQ", "10 10 20"}, {"BRANCH_LT", "10 20 20"},
      {"BRANCH_GTE", "20 10 10"}, {"BRANCH_GT", "20 20 10"},
      {"BRANCH_EQ", "20 10 20"},  {"BRANCH_NEQ", "10 20 10"}};
  for (auto [mode, expected] : cases) {
    TreeAttrs attrs;
    attrs.modes[0] = mode;
    EXPECT_EQ(importTree(attrs), std::string("float<3x1>: ") + expected);
  }
}

TEST(ImporterMachineLearning, MissingValues) {
  std::string row = "initializer { name: \"x\" data_type: 1 dims: 1 dims: 2 "
                    "float_data: 0 float_data: nan } ";
  for (bool passes : {false, true})
    for (std::string mode :
         {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ"}) {
      TreeAttrs attrs;
      attrs.modes[0] = mode;
      attrs.missing = {passes, 0, 0};
      EXPECT_EQ(
          runText(oneModelNode("TreeEnsembleRegressor", attrs.str(), row)),
          passes ? "float<1x1>: 10" : "float<1x1>: 20")
          << mode;
    }
}

TEST(ImporterMachineLearning, TargetsAndBase) {
  TreeAttrs attrs;
  attrs.numTargets = 2;
  attrs.targets = {0, 1};
  attrs.others = floatsAttr("base_values", {1, 2});
  EXPECT_EQ(importTree(attrs), "float<3x2>: 11 2 11 2 1 22");
  attrs.others += stringAttr("aggregate_function", "MIN");
  EXPECT_EQ(importTree(attrs), "float<3x2>: 11 2 11 2 1 22");
}

TEST(ImporterMachineLearning, ARowIsAVector) {
  EXPECT_EQ(runText(oneModelNode("TreeEnsembleRegressor", TreeAttrs().str(),
                                 constantRows({2}, {0, 0.75f}))),
            "float<1x1>: 20");
}

/// The labels of strings are indices, and a warning says so.
TEST(ImporterMachineLearning, StringLabels) {
  std::string attrs = floatsAttr("coefficients", {1, -1}) +
                      floatsAttr("intercepts", {0, 0}) +
                      stringsAttr("classlabels_strings", {"no", "yes"});
  TextModel model = oneModelNode("LinearClassifier", attrs,
                                 constantRows({2, 1}, {3, -3}), 1, {"y", "z"});
  std::string warning;
  ImportOptions options;
  options.warn = [&](llvm::StringRef line) { warning += line; };
  auto made = model.import(options);
  ASSERT_TRUE(bool(made)) << llvm::toString(made.takeError());
  EXPECT_THAT(warning, HasSubstr("output 'y' is the index of the class, int64, "
                                 "as there are no strings: 0 is 'no', 1 is "
                                 "'yes'"));
  EXPECT_THAT((*made)->findPlaceholder("y")->getClassNames(),
              testing::ElementsAre("no", "yes"));
  EXPECT_EQ(runText(std::move(model)), "int64<2>: 0 1");
}

//===- Refused trees ------------------------------------------------------===//

/// A change of the tree, and what is said about it.
struct WrongTree {
  std::function<void(TreeAttrs &)> change;
  const char *message;
};

TEST(ImporterMachineLearning, WrongTrees) {
  const WrongTree cases[] = {
      {[](TreeAttrs &a) { a.whenTrue[0] = 0; },
       "node 0 of tree 0: several ways lead to it; accepted: one, from the "
       "root of its tree"},
      {[](TreeAttrs &a) { a.whenTrue[0] = 2; },
       "node 2 of tree 0: several ways lead to it"},
      {[](TreeAttrs &a) { a.whenTrue[0] = 7; },
       "node 0 of tree 0: its child 7 does not exist; accepted: a node of the "
       "same tree"},
      {[](TreeAttrs &a) { a.whenFalse[0] = -1; },
       "node 0 of tree 0: its child -1 does not exist"},
      {[](TreeAttrs &a) { a.modes[0] = "BRANCH_NEAR"; },
       "node 0 of tree 0: the mode is 'BRANCH_NEAR'; accepted: BRANCH_LEQ, "
       "BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ, LEAF"},
      {[](TreeAttrs &a) { a.modes.pop_back(); },
       "attribute 'nodes_modes' has 2 elements; accepted: 3, one for each "
       "element of 'nodes_nodeids'"},
      {[](TreeAttrs &a) { a.values.push_back(1); },
       "attribute 'nodes_values' has 4 elements; accepted: 3"},
      {[](TreeAttrs &a) { a.missing = {1}; },
       "attribute 'nodes_missing_value_tracks_true' has 1 elements; accepted: "
       "3"},
      {[](TreeAttrs &a) { a.targets.pop_back(); },
       "attribute 'target_ids' has 1 elements; accepted: 2, one for each "
       "element of 'target_nodeids'"},
      {[](TreeAttrs &a) { a.features[0] = 2; },
       "node 0 of tree 0: it compares feature 2; accepted: less than 2, as "
       "many as input 0 has"},
      {[](TreeAttrs &a) { a.features[0] = -1; },
       "node 0 of tree 0: it compares feature -1"},
      {[](TreeAttrs &a) { a.ids[2] = 1; }, "node 1 of tree 0 is given twice"},
      {[](TreeAttrs &a) { a.trees = {0, 1, 0}; },
       "node 2 of tree 0 comes after those of another tree; accepted: the "
       "nodes of a tree one after the other"},
      {[](TreeAttrs &a) { a.leaves[1] = 5; },
       "attribute 'target_nodeids' has node 5 of tree 0, which does not exist"},
      {[](TreeAttrs &a) { a.targets[1] = 1; },
       "node 2 of tree 0: the leaf has a weight for target 1; accepted: less "
       "than 1"},
      {[](TreeAttrs &a) { a.targets[0] = -1; },
       "node 1 of tree 0: the leaf has a weight for target -1"},
      {[](TreeAttrs &a) { a.leaves[1] = 1; },
       "node 2 of tree 0: the leaf has no weight; accepted: one at least"},
      {[](TreeAttrs &a) { a.numTargets = 0; },
       "attribute 'n_targets' is 0; accepted: 1 or more"},
      {[](TreeAttrs &a) { a.others = floatsAttr("base_values", {1, 2}); },
       "attribute 'base_values' has 2 elements; accepted: 1, one for each "
       "target"},
      {[](TreeAttrs &a) {
         a.others = stringAttr("aggregate_function", "MEDIAN");
       },
       "attribute 'aggregate_function' is 'MEDIAN'; accepted: SUM, AVERAGE, "
       "MIN, MAX"},
      {[](TreeAttrs &a) { a.others = stringAttr("post_transform", "SQUARE"); },
       "attribute 'post_transform' is 'SQUARE'; accepted: NONE, SOFTMAX, "
       "LOGISTIC, SOFTMAX_ZERO, PROBIT"},
      {[](TreeAttrs &a) { a.values[0] = NAN; },
       "node 0 of tree 0: it compares with NaN; accepted: a number"},
      {[](TreeAttrs &a) {
         a = TreeAttrs();
         for (auto *list : {&a.trees, &a.ids, &a.features, &a.whenTrue,
                            &a.whenFalse, &a.leafTrees, &a.leaves, &a.targets})
           list->clear();
         a.modes.clear();
         a.values.clear();
         a.weights.clear();
       },
       "attribute 'nodes_nodeids' has no elements; accepted: one for each "
       "node"},
  };
  for (const WrongTree &each : cases) {
    TreeAttrs attrs;
    each.change(attrs);
    EXPECT_THAT(importTreeError(attrs), HasSubstr(each.message));
  }
}

/// A cycle that no root leads to is of no use, and does not matter.
TEST(ImporterMachineLearning, UnreachableCycle) {
  TreeAttrs attrs;
  attrs.trees.push_back(0);
  attrs.ids.push_back(3);
  attrs.features.push_back(0);
  attrs.whenTrue.push_back(3);
  attrs.whenFalse.push_back(3);
  attrs.modes.push_back("BRANCH_LEQ");
  attrs.values.push_back(0);
  EXPECT_EQ(importTree(attrs), "float<3x1>: 10 10 20");
}

/// TreeEnsemble of opset 5: a root whose children are two leaves.
std::string importTreeEnsemble(std::string others, int64_t root = 0,
                               int64_t trueChild = 0, int64_t falseChild = 1) {
  std::string attrs =
      intsAttr("tree_roots", {root}) + intsAttr("nodes_featureids", {0}) +
      intsAttr("nodes_truenodeids", {trueChild}) +
      intsAttr("nodes_falsenodeids", {falseChild}) +
      intsAttr("nodes_trueleafs", {1}) + intsAttr("nodes_falseleafs", {1}) +
      intsAttr("leaf_targetids", {0, 0}) + intAttr("n_targets", 1) +
      "attribute { name: \"leaf_weights\" type: TENSOR t { data_type: 1 dims: "
      "2 float_data: 10 float_data: 20 } } "
      "attribute { name: \"nodes_splits\" type: TENSOR t { data_type: 1 dims: "
      "1 float_data: 0 } } " +
      others;
  TextModel model = oneModelNode("TreeEnsemble", attrs,
                                 constantRows({4, 1}, {-1, 2, 2.5f, 7}), 5);
  return runText(std::move(model));
}

std::string modeAttr(int mode) {
  return "attribute { name: \"nodes_modes\" type: TENSOR t { data_type: 2 "
         "dims: 1 int32_data: " +
         std::to_string(mode) + " } } ";
}
std::string membersAttr(std::vector<std::string> values) {
  std::string text = "attribute { name: \"membership_values\" type: TENSOR t { "
                     "data_type: 1 dims: " +
                     std::to_string(values.size()) + " ";
  for (const std::string &value : values)
    text += "float_data: " + value + " ";
  return text + "} } ";
}

TEST(ImporterMachineLearning, Sets) {
  EXPECT_EQ(importTreeEnsemble(modeAttr(6) + membersAttr({"2", "7", "nan"})),
            "float<4x1>: 20 10 20 10");
  EXPECT_EQ(importTreeEnsemble(modeAttr(6) + membersAttr({"-1"})),
            "float<4x1>: 10 20 20 20");
  EXPECT_EQ(importTreeEnsemble(modeAttr(3)), "float<4x1>: 20 10 10 10");
}

TEST(ImporterMachineLearning, WrongTreeEnsembles) {
  EXPECT_THAT(importTreeEnsemble(modeAttr(7)),
              HasSubstr("node 0: the mode is 7; accepted: 0 to 6"));
  EXPECT_THAT(importTreeEnsemble(modeAttr(6)),
              HasSubstr("node 0 is a BRANCH_MEMBER, and attribute "
                        "'membership_values' has no values left for it"));
  EXPECT_THAT(importTreeEnsemble(modeAttr(0) + membersAttr({"2"})),
              HasSubstr("attribute 'membership_values' has values for more "
                        "than the nodes of mode BRANCH_MEMBER"));
  EXPECT_THAT(importTreeEnsemble(modeAttr(0), 1),
              HasSubstr("attribute 'tree_roots' has node 1; accepted: less "
                        "than 1"));
  EXPECT_THAT(importTreeEnsemble(modeAttr(0), 0, 2),
              HasSubstr("node 0: its leaf 2 does not exist; accepted: less "
                        "than 2"));
  EXPECT_THAT(importTreeEnsemble(""),
              HasSubstr("attribute 'nodes_modes' has 0 elements; accepted: 1"));
  EXPECT_THAT(importTreeEnsemble(modeAttr(0) + intAttr("post_transform", 5)),
              HasSubstr("attribute 'post_transform' is 5; accepted: 0 to 4"));
  EXPECT_THAT(
      importTreeEnsemble(modeAttr(0) + intAttr("aggregate_function", -1)),
      HasSubstr("attribute 'aggregate_function' is -1; accepted: 0 to 3"));
}

//===- Other operators ----------------------------------------------------===//

std::string importNode(llvm::StringRef type, std::string attributes,
                       std::string rows) {
  TextModel model = oneModelNode(type, std::move(attributes), std::move(rows));
  return runText(std::move(model));
}

TEST(ImporterMachineLearning, Features) {
  std::string x = constantRows({2, 2}, {3, -4, 0, 0});
  EXPECT_EQ(importNode("Normalizer", stringAttr("norm", "L1"),
                       constantRows({2, 2}, {3, -1, 0, 0})),
            "float<2x2>: 0.75 -0.25 0 0");
  EXPECT_EQ(
      importNode("Scaler",
                 floatsAttr("offset", {1, 0}) + floatsAttr("scale", {2, 0.5}),
                 x),
      "float<2x2>: 4 -2 -2 0");
  EXPECT_EQ(importNode("Binarizer", floatAttr("threshold", -1), x),
            "float<2x2>: 1 0 1 1");
  EXPECT_EQ(importNode("Imputer",
                       floatsAttr("imputed_value_floats", {7, 8}) +
                           floatAttr("replaced_value_float", 0),
                       x),
            "float<2x2>: 3 -4 7 8");
}

TEST(ImporterMachineLearning, WrongAttributes) {
  std::string x = constantRows({2, 2}, {3, -4, 0, 0});
  EXPECT_THAT(
      importNode("Scaler",
                 floatsAttr("offset", {1, 2, 3}) + floatsAttr("scale", {1}), x),
      HasSubstr("attribute 'offset' has 3 elements; accepted: 2, one "
                "for each feature"));
  EXPECT_THAT(importNode("Scaler", "", x),
              HasSubstr("attribute 'offset' has 0 elements; accepted: 2"));
  EXPECT_THAT(importNode("Normalizer", stringAttr("norm", "L3"), x),
              HasSubstr("attribute 'norm' is 'L3'; accepted: MAX, L1, L2"));
  EXPECT_THAT(
      importNode("OneHotEncoder", stringsAttr("cats_strings", {"a", "b"}), x),
      HasSubstr("'cats_strings' is given; accepted: 'cats_int64s'"));
  EXPECT_THAT(importNode("LabelEncoder",
                         stringsAttr("keys_strings", {"a"}) +
                             intsAttr("values_int64s", {1}),
                         x),
              HasSubstr("the keys are strings; accepted: numbers"));
  EXPECT_THAT(importNode("LabelEncoder",
                         floatsAttr("keys_floats", {1, 2}) +
                             intsAttr("values_int64s", {1}),
                         x),
              HasSubstr("there are 2 keys and 1 values; accepted: as many"));
  EXPECT_THAT(
      importNode("LinearRegressor", floatsAttr("coefficients", {1, 2, 3}), x),
      HasSubstr("attribute 'coefficients' has 3 elements; accepted: 1 "
                "for each of the 2 features of input 0"));
  EXPECT_THAT(
      importNode("SVMRegressor",
                 stringAttr("kernel_type", "COSINE") + floatsAttr("rho", {0}),
                 x),
      HasSubstr("attribute 'kernel_type' is 'COSINE'; accepted: "
                "LINEAR, POLY, RBF, SIGMOID"));
  EXPECT_THAT(importNode("SVMClassifier",
                         intsAttr("vectors_per_class", {1, 1, 1}) +
                             intsAttr("classlabels_ints", {0, 1}) +
                             floatsAttr("rho", {0}),
                         x),
              HasSubstr("attribute 'vectors_per_class' has 3 elements; "
                        "accepted: 2, one for each class"));
}

/// Maps do not exist.
TEST(ImporterMachineLearning, Maps) {
  EXPECT_THAT(importNode("DictVectorizer", "", rows3x2()),
              HasSubstr("(DictVectorizer) of domain 'ai.onnx.ml', opset 3"));
  EXPECT_THAT(importNode("CastMap", "", rows3x2()), HasSubstr("(CastMap)"));
}

} // namespace
