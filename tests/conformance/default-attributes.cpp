//===- default-attributes.cpp - Attributes with their defaults ------------===//
//
// An attribute that is stated with its default is the same as none. For each
// node of ONNX's tests and each attribute that has a default, the model is
// imported without the attribute and with its default: it must be the same
// graph, or refused both times. Models of one node are imported in each version
// of the operator.
//
// The defaults are those of the schemas of the ONNX library, and of a file for
// later opsets (later-defaults.txt). Those of windows are in the schemas' prose
// alone: strides and dilations of 1, and pads of 0.
//
//===----------------------------------------------------------------------===//

#include "NodeTest.h"
#include "common/Tool.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Importer/ONNX.h"
#include "glowish/Importer/OnnxModel.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"
#include <map>
#include <onnx/defs/parser.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <optional>

using namespace glowish;
namespace cl = llvm::cl;
using onnx::AttributeProto;
using onnx::NodeProto;

static cl::OptionCategory category("Test options");
static cl::opt<std::string> suite("suite", cl::Required,
                                  cl::desc("Folder with ONNX's tests"),
                                  cl::value_desc("folder"), cl::cat(category));
static cl::opt<std::string>
    laterFile("later-defaults", cl::Required,
              cl::desc("Defaults that the library does not know"),
              cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string>
    filter("filter", cl::desc("Run tests whose name this expression matches"),
           cl::value_desc("regex"), cl::cat(category));
static cl::opt<bool> verbose("list-attributes",
                             cl::desc("Print what was tried"),
                             cl::cat(category));

namespace {

using Attributes = std::vector<AttributeProto>;

/// The attributes with a default of the versions of an operator, by the opset
/// that a version is since.
using Versions = std::map<int, Attributes>;
/// By the names that listOnnxOperators() has.
using Operators = std::map<std::string, Versions>;

/// What became of an attribute of an operator: how many models it was tried in,
/// and what was wrong first.
struct Outcome {
  unsigned numModels = 0;
  std::string problem;
};

/// "Conv 11 auto_pad": an operator, its version, and an attribute.
using Outcomes = std::map<std::string, Outcome>;

} // namespace

//===- Defaults -----------------------------------------------------------===//

static llvm::Expected<AttributeProto> makeAttribute(llvm::StringRef name,
                                                    llvm::StringRef type,
                                                    llvm::StringRef value) {
  AttributeProto attribute;
  attribute.set_name(name.str());
  int64_t integer;
  double number;
  if (type == "int" && !value.getAsInteger(10, integer)) {
    attribute.set_type(AttributeProto::INT);
    attribute.set_i(integer);
  } else if (type == "float" && !value.getAsDouble(number)) {
    attribute.set_type(AttributeProto::FLOAT);
    attribute.set_f(float(number));
  } else if (type == "string") {
    attribute.set_type(AttributeProto::STRING);
    attribute.set_s(value.str());
  } else {
    return makeError("'{0}' is no {1}", value, type);
  }
  return attribute;
}

/// Adds the versions of later-defaults.txt to those of the library.
static llvm::Error readLaterDefaults(Operators &operators) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(laterFile));
  for (llvm::StringRef line : llvm::split(buffer->getBuffer(), '\n')) {
    llvm::SmallVector<llvm::StringRef> fields;
    if (line.empty() || line.starts_with("#"))
      continue;
    line.split(fields, ' ');
    int opset;
    if (fields.size() != 5 || fields[1].getAsInteger(10, opset))
      return makeError("'{0}': malformed line: {1}", laterFile, line);
    GLOWISH_ASSIGN_OR_RETURN(AttributeProto attribute,
                             makeAttribute(fields[2], fields[3], fields[4]));
    auto found = operators.find(fields[0].str());
    if (found != operators.end())
      found->second[opset].push_back(std::move(attribute));
  }
  return llvm::Error::success();
}

/// Returns the name that listOnnxOperators() has.
static std::string getFullName(llvm::StringRef domain, llvm::StringRef name) {
  return (domain.empty() || domain == "ai.onnx" ? "" : domain.str() + ".") +
         name.str();
}

/// The versions of all operators that can be imported.
static llvm::Expected<Operators> readOperators() {
  Operators operators;
  std::map<std::string, int> first;
  for (const auto &[name, opsets] : listOnnxOperators()) {
    operators[name];
    first[name] = opsets.empty() ? 1 : opsets.front();
  }
  for (const onnx::OpSchema &schema :
       onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    auto found = operators.find(getFullName(schema.domain(), schema.Name()));
    if (found == operators.end() || schema.deprecated() ||
        schema.since_version() < first[found->first])
      continue;
    Attributes &defaults = found->second[schema.since_version()];
    for (const auto &[name, attribute] : schema.attributes())
      if (attribute.default_value.has_type())
        defaults.push_back(attribute.default_value);
  }
  GLOWISH_RETURN_IF_ERROR(readLaterDefaults(operators));
  return operators;
}

static AttributeProto makeInts(llvm::StringRef name, size_t count,
                               int64_t value) {
  AttributeProto attribute;
  attribute.set_name(name.str());
  attribute.set_type(AttributeProto::INTS);
  for (size_t i = 0; i < count; ++i)
    attribute.add_ints(value);
  return attribute;
}

/// Returns the number of dimensions that the windows of \p node slide along, by
/// the rank of its first input; 0 where that is not known.
static size_t getNumWindowDims(const NodeProto &node, const TestData &data) {
  for (const NamedTensor &input : data.inputs)
    if (node.input_size() && input.name == node.input(0)) {
      unsigned rank = input.tensor->getType().getRank();
      return rank > 2 ? rank - 2 : 0;
    }
  return 0;
}

/// Appends the defaults of windows, which schemas say in their text.
static void addWindowDefaults(const NodeProto &node, int opset,
                              const TestData &data, Attributes &defaults) {
  const onnx::OpSchema *schema =
      onnx::OpSchemaRegistry::Schema(node.op_type(), opset, node.domain());
  size_t count = getNumWindowDims(node, data);
  if (!schema || !count)
    return;
  for (const auto &[name, attribute] : schema->attributes()) {
    if (attribute.type != AttributeProto::INTS || attribute.required)
      continue;
    // Pads are not to be stated beside auto_pad.
    bool isPadded =
        llvm::any_of(node.attribute(), [](const AttributeProto &own) {
          return own.name() == "auto_pad" && own.s() != "NOTSET";
        });
    if (name == "strides" || name == "dilations")
      defaults.push_back(makeInts(name, count, 1));
    else if (name == "pads" && !isPadded)
      defaults.push_back(makeInts(name, 2 * count, 0));
    else if (name == "output_padding")
      defaults.push_back(makeInts(name, count, 0));
  }
}

//===- Graphs -------------------------------------------------------------===//

/// The graph of \p model with all its constants.
static llvm::Expected<std::string> importText(Compilation &compilation,
                                              const onnx::ModelProto &model,
                                              const ImportOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(
      OnnxModel parsed, OnnxModel::parse(model.SerializeAsString(), "m", ""));
  GLOWISH_ASSIGN_OR_RETURN(
      ModelGraph graph, compilation.import(parsed, options, /*isLast=*/true));
  std::string text, constants;
  llvm::raw_string_ostream side(constants), stream(text);
  printModule(stream, graph.getModule(), &side);
  return text + constants;
}

static int getOpset(const onnx::ModelProto &model, const std::string &domain) {
  for (const auto &import : model.opset_import())
    if (getFullName(import.domain(), "") == getFullName(domain, ""))
      return int(import.version());
  return 1;
}

static void setOpset(onnx::ModelProto &model, const std::string &domain,
                     int opset) {
  for (auto &import : *model.mutable_opset_import())
    if (getFullName(import.domain(), "") == getFullName(domain, ""))
      import.set_version(opset);
}

/// Whether \p node has no more inputs and no other attributes than its schema
/// in \p opset, where the library has it.
static bool fitsSchema(const NodeProto &node, int opset) {
  const onnx::OpSchema *schema =
      onnx::OpSchemaRegistry::Schema(node.op_type(), opset, node.domain());
  return !schema ||
         (node.input_size() <= schema->max_input() &&
          llvm::all_of(node.attribute(), [&](const AttributeProto &attribute) {
            return schema->attributes().count(attribute.name());
          }));
}

namespace {

/// Tries the attributes of the nodes of one test's model.
class Trial {
public:
  Trial(Compilation &compilation, const ImportOptions &options,
        const TestData &data, Outcomes &outcomes)
      : compilation(compilation), options(options), data(data),
        outcomes(outcomes) {}

  /// Tries each attribute of node \p index of \p model that has a default in
  /// the version since \p since.
  void tryNode(const onnx::ModelProto &model, int index, int since,
               Attributes defaults);

  std::string name;

private:
  /// Returns the graph of \p model, or the error that refuses it.
  std::pair<bool, std::string> import(const onnx::ModelProto &model);

  Compilation &compilation;
  const ImportOptions &options;
  const TestData &data;
  Outcomes &outcomes;
};

} // namespace

std::pair<bool, std::string> Trial::import(const onnx::ModelProto &model) {
  auto text = importText(compilation, model, options);
  if (text)
    return {true, *text};
  return {false, llvm::toString(text.takeError())};
}

void Trial::tryNode(const onnx::ModelProto &model, int index, int since,
                    Attributes defaults) {
  const NodeProto &node = model.graph().node(index);
  addWindowDefaults(node, getOpset(model, node.domain()), data, defaults);
  std::optional<std::pair<bool, std::string>> own;
  for (const AttributeProto &attribute : defaults) {
    onnx::ModelProto changed = model;
    NodeProto &changedNode = *changed.mutable_graph()->mutable_node(index);
    auto &attributes = *changedNode.mutable_attribute();
    for (int i = attributes.size(); i-- > 0;)
      if (attributes[i].name() == attribute.name())
        attributes.DeleteSubrange(i, 1);
    bool isOwn = attributes.size() == node.attribute_size();
    std::pair<bool, std::string> without;
    if (isOwn && own)
      without = *own;
    else
      without = import(changed);
    if (isOwn)
      own = without;
    *changedNode.add_attribute() = attribute;
    std::pair<bool, std::string> with = import(changed);
    if (!without.first && !with.first)
      continue;
    Outcome &outcome = outcomes[llvm::formatv(
        "{0} {1} {2}", getFullName(node.domain(), node.op_type()), since,
        attribute.name())];
    ++outcome.numModels;
    if (!outcome.problem.empty() || with == without)
      continue;
    outcome.problem = name + ": ";
    if (!with.first)
      outcome.problem += with.second;
    else if (!without.first)
      outcome.problem += "without it: " + without.second;
    else
      outcome.problem += "the graph is another one";
  }
}

/// Whether \p node is the one of \p graph that is no constant.
static bool isOnlyNode(const onnx::GraphProto &graph, const NodeProto &node) {
  return llvm::all_of(graph.node(), [&](const NodeProto &other) {
    return &other == &node || other.op_type() == "Constant";
  });
}

/// Tries all nodes of \p model, in all versions where it is one node.
static void tryModel(Trial &trial, const onnx::ModelProto &model,
                     const Operators &operators) {
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const NodeProto &node = model.graph().node(i);
    auto found = operators.find(getFullName(node.domain(), node.op_type()));
    if (found == operators.end())
      continue;
    const Versions &versions = found->second;
    auto next = versions.upper_bound(getOpset(model, node.domain()));
    int own = next == versions.begin() ? 0 : std::prev(next)->first;
    for (const auto &[since, defaults] : versions) {
      onnx::ModelProto changed = model;
      if (since != own) {
        if (!isOnlyNode(model.graph(), node) || !fitsSchema(node, since))
          continue;
        setOpset(changed, node.domain(), since);
      }
      trial.tryNode(changed, i, since, defaults);
    }
  }
}

static llvm::Error tryTest(Compilation &compilation, const NodeTest &test,
                           const Operators &operators, Outcomes &outcomes) {
  GLOWISH_ASSIGN_OR_RETURN(onnx::ModelProto model, readModelProto(test.model));
  GLOWISH_ASSIGN_OR_RETURN(TestData data, readTestData(test, 0));
  GLOWISH_ASSIGN_OR_RETURN(ImportedTest imported,
                           importForData(compilation, test, data));
  replaceContainers(model, data.containers);
  ImportOptions options = makeImportOptions(data, imported.constants);
  Trial trial(compilation, options, data, outcomes);
  trial.name = test.name;
  tryModel(trial, model, operators);
  return llvm::Error::success();
}

/// A model of what ONNX's tests leave out.
struct OwnModel {
  int opset;
  const char *nodes;
  /// The version of ai.onnx.ml.
  int mlOpset = 1;
};

/// The attributes of a tree of two leaves, in each of its operators.
#define TREE                                                                   \
  "nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], "                     \
  "nodes_featureids = [0, 0, 0], nodes_values = [0.5, 0.0, 0.0], "             \
  "nodes_modes = [\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"], "                       \
  "nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [2, 0, 0], "
#define TREE_CLASSIFIER                                                        \
  "y, z = ai.onnx.ml.TreeEnsembleClassifier <" TREE "class_treeids = [0, 0], " \
  "class_nodeids = [1, 2], class_ids = [0, 1], class_weights = [1.0, 2.0], "   \
  "classlabels_int64s = [0, 1]> (chances)"
#define TREE_REGRESSOR                                                         \
  "y = ai.onnx.ml.TreeEnsembleRegressor <" TREE "target_treeids = [0, 0], "    \
  "target_nodeids = [1, 2], target_ids = [0, 0], "                             \
  "target_weights = [1.0, 2.0], n_targets = 1> (chances)"

static const OwnModel ownModels[] = {
    {1, "y = LpPool <kernel_shape = [2, 2]> (x)"},
    {1, "y = Pad <paddings = [0, 0, 1, 1, 0, 0, 1, 1]> (x)"},
    {1, "y = Upsample <height_scale = 2.0, width_scale = 2.0> (x)"},
    {10, "s = Constant <value = float[4] {1.0, 1.0, 2.0, 2.0}> ()\n"
         "y = Resize (x, s)"},
    {17, "s = Constant <value_int = 8> ()\n"
         "y = BlackmanWindow (s)"},
    {17, "s = Constant <value_int = 8> ()\n"
         "y = HammingWindow (s)"},
    {17, "n = Constant <value_int = 4> ()\n"
         "low = Constant <value_float = 0.0> ()\n"
         "high = Constant <value_float = 3.0> ()\n"
         "y = MelWeightMatrix (n, n, n, low, high)"},
    {22, "y = GlobalLpPool (x)"},
    {22, "y = MaxRoiPool <pooled_shape = [2, 2]> (x, boxes)"},
    {22, "y = Multinomial (chances)"},
    {22, "y = RandomNormal <shape = [2, 3]> ()"},
    {22, "y = RandomNormalLike (x)"},
    {22, "y = RandomUniform <shape = [2, 3]> ()"},
    {22, "y = RandomUniformLike (x)"},
    {28, "y = SwiGLU (x, x)"},
    {22, "y = ai.onnx.ml.Binarizer (x)"},
    {22, "y = ai.onnx.ml.Imputer <imputed_value_floats = [1.0]> (chances)"},
    {22, "i = Cast <to = 7> (chances)\n"
         "y = ai.onnx.ml.Imputer <imputed_value_int64s = [1]> (i)"},
    {22,
     "y = ai.onnx.ml.LabelEncoder <keys_floats = [0.0], values_floats = "
     "[1.0]> (chances)",
     2},
    {22, "y, z = ai.onnx.ml.LinearClassifier <coefficients = [1.0, 1.0, 1.0, "
         "1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0], intercepts = [0.0, 0.0], "
         "classlabels_ints = [0, 1]> (chances)"},
    {22, "y = ai.onnx.ml.LinearRegressor <coefficients = [1.0, 1.0, 1.0, 1.0, "
         "1.0], intercepts = [0.0]> (chances)"},
    {22, "y = ai.onnx.ml.Normalizer (chances)"},
    {22, "i = Cast <to = 7> (chances)\n"
         "y = ai.onnx.ml.OneHotEncoder <cats_int64s = [0, 1]> (i)"},
    {22, "y, z = ai.onnx.ml.SVMClassifier <classlabels_ints = [0, 1], "
         "coefficients = [1.0, -1.0], kernel_params = [0.5, 0.0, 3.0], "
         "rho = [0.1], support_vectors = [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, "
         "2.0, 2.0, 2.0], vectors_per_class = [1, 1]> (chances)"},
    {22, "y = ai.onnx.ml.SVMRegressor <coefficients = [1.0, 1.0, 1.0, 1.0, "
         "1.0], kernel_params = [0.5, 0.0, 3.0], rho = [0.0]> (chances)"},
    {22, TREE_CLASSIFIER},
    {22, TREE_CLASSIFIER, 3},
    {22, TREE_REGRESSOR},
    {22, TREE_REGRESSOR, 3},
};

static llvm::Error tryOwnModel(Compilation &compilation, const OwnModel &own,
                               const Operators &operators, Outcomes &outcomes) {
  std::string text =
      llvm::formatv("<ir_version: 8, opset_import: [\"\" : {0}, "
                    "\"ai.onnx.ml\" : {2}]>\n"
                    "g (float[1, 2, 4, 4] x, float[1, 5] boxes, "
                    "float[1, 5] chances) => (float y) {{\n{1}\n}",
                    own.opset, own.nodes, own.mlOpset);
  onnx::ModelProto model;
  auto status = onnx::OnnxParser::Parse(model, text.c_str());
  if (!status.IsOK())
    return makeError("{0}: {1}", own.nodes, status.ErrorMessage());
  model.mutable_graph()->mutable_output(0)->clear_type();
  NamedTensor x = {
      "x", std::make_shared<Tensor>(Type(ElemKind::Float, {1, 2, 4, 4}))};
  TestData data;
  data.inputs = {x};
  ImportOptions options;
  Trial trial(compilation, options, data, outcomes);
  trial.name = own.nodes;
  GLOWISH_RETURN_IF_ERROR(importText(compilation, model, options).takeError());
  tryModel(trial, model, operators);
  return llvm::Error::success();
}

/// The attributes of \p operators that no model has tried.
static std::vector<std::string> listUntried(const Operators &operators,
                                            const Outcomes &outcomes) {
  std::vector<std::string> untried;
  for (const auto &[name, versions] : operators)
    for (const auto &[since, defaults] : versions)
      for (const AttributeProto &attribute : defaults) {
        std::string key =
            llvm::formatv("{0} {1} {2}", name, since, attribute.name());
        if (!outcomes.count(key))
          untried.push_back(std::move(key));
      }
  return untried;
}

//===- The program --------------------------------------------------------===//

static llvm::Expected<int> run() {
  GLOWISH_ASSIGN_OR_RETURN(Operators operators, readOperators());
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeTest> tests, findNodeTests(suite));
  GLOWISH_ASSIGN_OR_RETURN(auto backend, createTestBackend("Interpreter"));
  Compilation compilation(*backend, {});
  llvm::Regex regex(filter.empty() ? "." : filter.getValue());
  Outcomes outcomes;
  unsigned numTests = 0, numFailed = 0;
  for (const NodeTest &test : tests) {
    if (test.skip || test.hasRampInputs || !regex.match(test.name))
      continue;
    ++numTests;
    // Which tests can't be imported is what `conformance` says.
    llvm::consumeError(tryTest(compilation, test, operators, outcomes));
  }
  if (filter.empty())
    for (const OwnModel &own : ownModels)
      GLOWISH_RETURN_IF_ERROR(
          tryOwnModel(compilation, own, operators, outcomes));
  for (const auto &[name, outcome] : outcomes) {
    numFailed += !outcome.problem.empty();
    if (verbose || !outcome.problem.empty())
      llvm::outs() << name << ", " << outcome.numModels << " models"
                   << (outcome.problem.empty() ? "" : ": ") << outcome.problem
                   << "\n";
  }
  std::vector<std::string> untried = listUntried(operators, outcomes);
  if (filter.empty() || verbose)
    for (const std::string &name : untried)
      llvm::outs() << name << ": no model tries it\n";
  llvm::outs() << numTests << " tests, " << outcomes.size()
               << " attributes of operators, " << untried.size()
               << " not tried, " << numFailed << " failed\n";
  if (outcomes.empty())
    return makeError("-suite={0}: no operator has an attribute with a default",
                     suite);
  if (numFailed || (filter.empty() && !untried.empty()))
    return ExitCode::failure;
  return ExitCode::success;
}

int main(int argc, char **argv) {
  return runTool(argc, argv,
                 "Adds attributes with their defaults to ONNX's own tests, and "
                 "imports them. Exits 1\nif one is refused, or changes the "
                 "graph.\n",
                 {&category}, run);
}
