//===- LayerComparison.cpp - Compares results by layer --------------------===//

#include "network-debugger/LayerComparison.h"
#include "glowish/Graph/Nodes.h"
#include <map>

using namespace glowish;

//===- Layer by layer -----------------------------------------------------===//

namespace {

/// The results of the reference.
struct Reference {
  std::unique_ptr<InnerRun> run;
  std::map<ValueName, Tensor> tensors;

  /// Null where the reference lacks \p value, or has another type for it.
  const Tensor *find(NodeValue value) const {
    auto found = tensors.find(getName(value));
    bool isSame =
        found != tensors.end() && found->second.getType() == value.getType();
    return isSame ? &found->second : nullptr;
  }
};

/// Gives the nodes of a function operands that a reference has computed.
class Feeder {
public:
  Feeder(Function &function, const Reference &reference)
      : function(function), reference(reference),
        prefix(findFreePrefix(function.getModule(), "fed.")),
        constants(findConstantValues(function)) {}

  /// Replaces the operands of all nodes.
  void feed();
  /// Whether \p value is to be compared.
  bool isCompared(NodeValue value) const {
    return reference.find(value) && !constants.count(value);
  }
  /// The names of the new inputs with what they are to be filled with.
  const std::map<std::string, const Tensor *> &getInputs() const {
    return inputs;
  }

private:
  NodeValue getFed(NodeValue value);

  Function &function;
  const Reference &reference;
  const std::string prefix;
  const llvm::DenseSet<NodeValue> constants;
  llvm::DenseMap<NodeValue, Placeholder *> placeholders;
  std::map<std::string, const Tensor *> inputs;
};

} // namespace

/// The replacement of \p value for its users: itself where it is not compared.
NodeValue Feeder::getFed(NodeValue value) {
  if (!value || !isCompared(value))
    return value;
  Placeholder *&placeholder = placeholders[value];
  if (!placeholder) {
    std::string name = prefix + std::to_string(inputs.size());
    placeholder = function.getModule().createPlaceholder(
        name, value.getType(), /*isInput=*/true, /*isOutput=*/false);
    inputs[name] = reference.find(value);
  }
  return NodeValue(placeholder);
}

void Feeder::feed() {
  for (Node &node : function.getNodes()) {
    for (unsigned i = 0; i < node.getNumOperands(); ++i)
      if (NodeValue fed = getFed(node.getOperand(i)); fed != node.getOperand(i))
        node.setOperand(i, fed);
  }
}

static llvm::Expected<Reference>
computeReference(const Side &side, const ComparisonOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(ImportedSide imported, importSide(side));
  llvm::DenseSet<NodeValue> constants =
      findConstantValues(imported.graph.getFunction());
  Reference reference;
  GLOWISH_ASSIGN_OR_RETURN(reference.run, InnerRun::create(
                                              std::move(imported),
                                              [&](NodeValue value) {
                                                return !constants.count(value);
                                              }));
  GLOWISH_RETURN_IF_ERROR(options.fillInputs(reference.run->getSession()));
  GLOWISH_RETURN_IF_ERROR(reference.run->getSession().run());
  for (auto [i, name] : llvm::enumerate(reference.run->getNames()))
    reference.tensors[name] = reference.run->getTensor(i);
  return reference;
}

/// Fills the inputs of \p session: \p fed by their names, the others with the
/// reference's.
static llvm::Error setInputs(Session &session, Reference &reference,
                             const std::map<std::string, const Tensor *> &fed) {
  auto isFed = [&](const Buffer *buffer) {
    return fed.count(buffer->getModelName().str()) > 0;
  };
  GLOWISH_RETURN_IF_ERROR(
      session.copyInputs(reference.run->getSession(), isFed));
  for (const auto &[name, tensor] : fed) {
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                             session.findPlaceholder(name));
    GLOWISH_RETURN_IF_ERROR(session.setInput(buffer, *tensor));
  }
  return llvm::Error::success();
}

/// The operators of the nodes of \p function by their names.
static std::map<std::string, std::string> findKinds(Function &function) {
  std::map<std::string, std::string> kinds;
  for (Node &node : function.getNodes())
    kinds[node.getName().str()] = node.getKindName().str();
  return kinds;
}

llvm::Expected<std::vector<LayerResult>>
glowish::compareLayers(const Side &referenceSide, const Side &tested,
                       const ComparisonOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(Reference reference,
                           computeReference(referenceSide, options));
  GLOWISH_ASSIGN_OR_RETURN(ImportedSide imported, importSide(tested));
  Function &function = imported.graph.getFunction();
  std::map<std::string, std::string> kinds = findKinds(function);
  Feeder feeder(function, reference);
  eraseSaves(function);
  feeder.feed();
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<InnerRun> run,
      InnerRun::create(
          std::move(imported),
          [&](NodeValue value) { return feeder.isCompared(value); }));
  if (run->getNames().empty())
    return makeNothingInCommonError();
  GLOWISH_RETURN_IF_ERROR(
      setInputs(run->getSession(), reference, feeder.getInputs()));
  GLOWISH_RETURN_IF_ERROR(run->getSession().run());
  std::vector<LayerResult> results;
  for (auto [i, name] : llvm::enumerate(run->getNames())) {
    const Tensor &expected = reference.tensors[name];
    Tensor actual = run->getTensor(i);
    results.push_back(
        makeLayerResult(name, kinds[name.node], expected, actual, options));
    if (options.visit)
      GLOWISH_RETURN_IF_ERROR(options.visit(results.back(), expected, actual));
  }
  return results;
}
