//===- Reduction.cpp - Reduces models that a test found wrong -------------===//

#include "Reduction.h"
#include "Shrinker.h"
#include "Values.h"
#include "common/TensorFile.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Support/File.h"
#include "llvm/Support/FileSystem.h"

using namespace glowish;
using namespace glowish::fuzz;

//===- Specs --------------------------------------------------------------===//

namespace {

/// Makes the spec of a function, or of a body.
class SpecMaker {
public:
  explicit SpecMaker(const std::map<std::string, Tensor> &inputs)
      : inputs(inputs) {}

  llvm::Expected<GraphSpec> make(const Function &function);

private:
  llvm::Expected<ValueRef> find(NodeValue value);
  llvm::Expected<int> addStorage(const Node &storage);
  llvm::Error addNode(const Node &node);
  llvm::Error addOutput(const SaveNode &save);

  const std::map<std::string, Tensor> &inputs;
  bool isBody = false;
  GraphSpec spec;
  llvm::DenseMap<const Node *, int> entries;
};

} // namespace

llvm::Expected<int> SpecMaker::addStorage(const Node &storage) {
  Entry entry;
  entry.kind = storage.getKind();
  entry.types = {storage.getType()};
  if (auto *constant = llvm::dyn_cast<Constant>(&storage)) {
    if (isBody && storage.getType().getNumElements() > mostPrinted)
      return makeError("a body reads the large constant '{0}'",
                       storage.getName());
    entry.name = giveValues(constant->getPayload());
  } else {
    auto &placeholder = llvm::cast<Placeholder>(storage);
    if (placeholder.getRange() || placeholder.getType().hasExtents())
      return makeError("each run states the extents of '{0}'",
                       placeholder.getModelName());
    auto given = inputs.find(placeholder.getModelName().str());
    entry.name =
        given == inputs.end()
            ? "unit" + std::to_string(spec.entries.size())
            : giveValues(std::make_shared<const Tensor>(given->second.clone()));
  }
  spec.entries.push_back(std::move(entry));
  return entries[&storage] = int(spec.entries.size()) - 1;
}

llvm::Expected<ValueRef> SpecMaker::find(NodeValue value) {
  if (!value)
    return ValueRef();
  auto found = entries.find(value.node);
  if (found != entries.end())
    return ValueRef{found->second, value.result};
  GLOWISH_ASSIGN_OR_RETURN(int entry, addStorage(*value.node));
  return ValueRef{entry, value.result};
}

llvm::Error SpecMaker::addNode(const Node &node) {
  Entry entry;
  entry.kind = node.getKind();
  entry.types.assign(node.getTypes().begin(), node.getTypes().end());
  for (NodeValue operand : node.getOperands()) {
    GLOWISH_ASSIGN_OR_RETURN(ValueRef value, find(operand));
    entry.operands.push_back(value);
  }
  entry.attrs.assign(node.getAttrs().begin(), node.getAttrs().end());
  for (AttrValue &attr : entry.attrs)
    if (auto *body = std::get_if<std::shared_ptr<Body>>(&attr)) {
      SpecMaker maker(inputs);
      maker.isBody = true;
      GLOWISH_ASSIGN_OR_RETURN(GraphSpec inner, maker.make(getFunction(*body)));
      entry.bodies.push_back(std::move(inner));
      *body = nullptr;
    }
  spec.entries.push_back(std::move(entry));
  entries[&node] = int(spec.entries.size()) - 1;
  return llvm::Error::success();
}

llvm::Error SpecMaker::addOutput(const SaveNode &save) {
  auto *target = save.getOutput().getNodeAs<Placeholder>();
  if (target->getExtents())
    return makeError("the extents of output '{0}' depend on data",
                     target->getModelName());
  Output output;
  GLOWISH_ASSIGN_OR_RETURN(output.value, find(save.getInput()));
  if (target->isInput()) {
    GLOWISH_ASSIGN_OR_RETURN(ValueRef state, find(NodeValue(target)));
    output.state = state.entry;
  }
  spec.outputs.push_back(output);
  return llvm::Error::success();
}

llvm::Expected<GraphSpec> SpecMaker::make(const Function &function) {
  for (const auto &parameter : function.getParameters()) {
    Entry entry;
    entry.types = {parameter->getType()};
    entries[parameter.get()] = int(spec.entries.size());
    spec.entries.push_back(std::move(entry));
  }
  spec.numParameters = unsigned(spec.entries.size());
  for (const Node &node : function.getNodes())
    if (!llvm::isa<SaveNode>(node))
      GLOWISH_RETURN_IF_ERROR(addNode(node));
  if (isBody) {
    for (unsigned i = 0; i < function.getResults().size(); ++i) {
      GLOWISH_ASSIGN_OR_RETURN(ValueRef value,
                               find(function.getResultValue(i)));
      spec.outputs.push_back({value});
    }
    return std::move(spec);
  }
  for (const Node &node : function.getNodes())
    if (auto *save = llvm::dyn_cast<SaveNode>(&node))
      GLOWISH_RETURN_IF_ERROR(addOutput(*save));
  return std::move(spec);
}

llvm::Expected<GraphSpec>
fuzz::makeSpec(const Module &module,
               const std::map<std::string, Tensor> &inputs) {
  GLOWISH_ASSIGN_OR_RETURN(
      GraphSpec spec, SpecMaker(inputs).make(*module.getFunctions().front()));
  GLOWISH_RETURN_IF_ERROR(spec.inferTypes());
  return spec;
}

//===- Models -------------------------------------------------------------===//

static size_t countNodes(const Module &module) {
  return module.getFunctions().front()->getNodes().size();
}

/// Erases what \p outputs do not need, where there are any.
static llvm::Error keepOutputs(Module &module,
                               llvm::ArrayRef<std::string> outputs) {
  Function &function = *module.getFunctions().front();
  for (const std::string &output : outputs)
    if (!module.findPlaceholder(output))
      return makeError("the model has no output '{0}'", output);
  if (!outputs.empty())
    for (Node &node : llvm::make_early_inc_range(function.getNodes()))
      if (auto *save = llvm::dyn_cast<SaveNode>(&node))
        if (auto *target = save->getOutput().getNodeAs<Placeholder>();
            !llvm::is_contained(outputs, target->getModelName()) &&
            // Another output has its extents there.
            llvm::none_of(module.getPlaceholders(), [&](const auto &other) {
              return other->getExtents() == target;
            }))
          function.erase(save);
  return eliminateDeadCode(function, GraphPassContext()).takeError();
}

/// Erases placeholders that nothing uses.
static void eraseUnused(Module &module) {
  std::vector<Placeholder *> unused;
  for (const auto &placeholder : module.getPlaceholders())
    if (!placeholder->hasUses() && !placeholder->getRange())
      unused.push_back(placeholder.get());
  for (Placeholder *placeholder : unused)
    module.erasePlaceholder(placeholder);
}

/// Writes \p module and the values that \p getInput has of its inputs, but for
/// those that a .npy file can't have.
static llvm::Error
write(Module &module, llvm::StringRef folder,
      llvm::function_ref<std::optional<Tensor>(const Placeholder &)> getInput) {
  eraseUnused(module);
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return makeError("'{0}' can't be made: {1}", folder, error.message());
  for (const auto &placeholder : module.getPlaceholders()) {
    if (!placeholder->isInput())
      continue;
    std::optional<Tensor> value = getInput(*placeholder);
    if (!value)
      continue;
    std::string path =
        (folder + "/" + getFileName(placeholder->getModelName()) + ".npy")
            .str();
    llvm::Expected<std::string> bytes = encodeNpy(path, *value);
    if (!bytes) {
      llvm::consumeError(bytes.takeError());
      continue;
    }
    GLOWISH_RETURN_IF_ERROR(writeFile(path, *bytes));
  }
  return writeModule(module, (folder + "/reduced.graph").str());
}

/// Writes \p module, of which the back ends compute the same, or nothing is
/// known for \p reason.
static llvm::Expected<std::string> writeWhole(const WrongRun &run,
                                              llvm::StringRef folder,
                                              size_t numNodes,
                                              const llvm::Twine &reason) {
  GLOWISH_RETURN_IF_ERROR(
      write(*run.module, folder,
            [&](const Placeholder &placeholder) -> std::optional<Tensor> {
              auto given = run.inputs.find(placeholder.getModelName().str());
              if (given == run.inputs.end())
                return std::nullopt;
              return given->second.clone();
            }));
  return llvm::formatv("{0} of {1} nodes: what the wrong outputs are computed "
                       "of; {2}",
                       countNodes(*run.module), numNodes, reason.str())
      .str();
}

llvm::Expected<std::string> fuzz::reduce(WrongRun run, llvm::StringRef folder,
                                         unsigned maxChecks) {
  size_t numNodes = countNodes(*run.module);
  GLOWISH_RETURN_IF_ERROR(keepOutputs(*run.module, run.outputs));
  llvm::Expected<GraphSpec> spec = makeSpec(*run.module, run.inputs);
  if (!spec)
    return writeWhole(run, folder, numNodes,
                      "not made smaller: " + llvm::toString(spec.takeError()));
  Finding finding = checkInChild(GraphCase(spec->print()), getAllConfigs());
  if (finding.verdict == Verdict::Same)
    return writeWhole(run, folder, numNodes,
                      "code and reference agree on it, so that the import or "
                      "what is expected is wrong");
  if (finding.verdict != Verdict::Differs &&
      finding.verdict != Verdict::Crashed)
    return writeWhole(run, folder, numNodes,
                      "not made smaller: " + finding.message);
  shrink(*spec, finding, maxChecks);
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> reduced,
                           parseGraph(spec->print()));
  GLOWISH_RETURN_IF_ERROR(write(
      *reduced, folder,
      [](const Placeholder &placeholder) -> std::optional<Tensor> {
        return makeValues(placeholder.getModelName(), placeholder.getType());
      }));
  return llvm::formatv("{0} of {1} nodes: code and reference differ: {2}: {3}",
                       countNodes(*reduced), numNodes, finding.config.str(),
                       finding.message)
      .str();
}
