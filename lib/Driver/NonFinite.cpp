//===- NonFinite.cpp - Origins of NaN and infinity ------------------------===//

#include "NonFinite.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Driver/InnerOutputs.h"
#include "glowish/Driver/TrainingCompilation.h"
#include "glowish/Graph/Nodes.h"
#include <cmath>

using namespace glowish;

/// The name that a copy of one of the nodes \p modelNames stands for.
static std::string findModelName(const Node &node,
                                 const std::set<std::string> &modelNames) {
  std::string name = node.getName().rsplit('_').first.str();
  return modelNames.count(name) ? name : node.getName().str();
}

/// Makes an output of every float that \p function computes. Constants are not
/// values here: masks are made of infinities on purpose.
void NonFiniteFinder::addOutputs(Function &function,
                                 const std::set<std::string> &modelNames) {
  llvm::DenseMap<NodeValue, size_t> indices;
  auto findIndices = [&](const Node &node) {
    std::vector<size_t> found;
    for (NodeValue operand : node.getOperands())
      if (auto entry = indices.find(operand); entry != indices.end())
        found.push_back(entry->second);
    return found;
  };
  for (const auto &placeholder : function.getModule().getPlaceholders()) {
    if (!placeholder->isInput() ||
        !isFloatKind(placeholder->getType().getKind()))
      continue;
    std::string name = placeholder->getModelName().str();
    indices[NodeValue(placeholder.get())] = values.size();
    values.push_back({.description = "the input or variable '" + name + "'",
                      .placeholder = name,
                      .operands = {},
                      .isGiven = true});
  }
  std::vector<Node *> saves;
  for (Node &node : function.getNodes())
    if (llvm::isa<SaveNode>(node))
      saves.push_back(&node);
  for (InnerOutput &output : addInnerOutputs(function, [](NodeValue value) {
         return isFloatKind(value.getElemKind());
       })) {
    const Node &node = *output.value.node;
    std::vector<size_t> operands = findIndices(node);
    indices[output.value] = values.size();
    values.push_back(
        {.description =
             llvm::formatv("node '{0}' ({1})", findModelName(node, modelNames),
                           node.getKindName())
                 .str(),
         .placeholder = std::move(output.placeholder),
         .operands = std::move(operands),
         .isCollective = node.getInfo().has(OpTrait::Collective)});
  }
  for (const Node *save : saves)
    if (std::vector<size_t> saved = findIndices(*save); !saved.empty())
      roots.push_back(saved.front());
}

llvm::Expected<std::unique_ptr<NonFiniteFinder>>
NonFiniteFinder::create(llvm::StringRef path, ImportOptions importOptions,
                        const TrainingConfig &config) {
  std::unique_ptr<NonFiniteFinder> finder(
      new NonFiniteFinder(createInterpreter()));
  VariableValues variables;
  importOptions.isRepeated = true;
  Compilation compilation(*finder->backend, CompilationOptions());
  GLOWISH_ASSIGN_OR_RETURN(
      ModelGraph graph, importForTraining(compilation, path,
                                          std::move(importOptions), variables));
  std::set<std::string> modelNames;
  for (Node &node : graph.getFunction().getNodes())
    modelNames.insert(node.getName().str());
  GLOWISH_ASSIGN_OR_RETURN(TrainingStep step,
                           makeStep(graph, variables, config));
  finder->addOutputs(*step.function, modelNames);
  GLOWISH_ASSIGN_OR_RETURN(finder->program,
                           compilation.compile(std::move(graph)));
  GLOWISH_ASSIGN_OR_RETURN(finder->session, Session::create(*finder->program));
  return finder;
}

llvm::Expected<std::string> NonFiniteFinder::find(const Session &source) {
  std::set<size_t> wrong;
  auto look = [&](bool areGiven) -> llvm::Error {
    // After the step, a variable has its new value, not the one that was read.
    for (auto [i, value] : llvm::enumerate(values)) {
      if (value.isGiven != areGiven)
        continue;
      GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                               session->findPlaceholder(value.placeholder));
      if (!isFinite(session->getTensor(buffer)))
        wrong.insert(i);
    }
    return llvm::Error::success();
  };
  GLOWISH_RETURN_IF_ERROR(session->copyInputs(source));
  GLOWISH_RETURN_IF_ERROR(look(/*areGiven=*/true));
  GLOWISH_RETURN_IF_ERROR(session->run());
  GLOWISH_RETURN_IF_ERROR(look(/*areGiven=*/false));
  // Walks from the results of the step back to nodes whose operands are all
  // finite, and takes the first one: later ones may depend on it.
  std::set<size_t> seen;
  std::vector<size_t> pending = roots;
  std::optional<size_t> first;
  while (!pending.empty()) {
    size_t index = pending.back();
    pending.pop_back();
    if (!wrong.count(index) || !seen.insert(index).second)
      continue;
    const Value &value = values[index];
    llvm::append_range(pending, value.operands);
    if (!value.isCollective &&
        llvm::none_of(value.operands,
                      [&](size_t operand) { return wrong.count(operand); }))
      first = std::min(first.value_or(index), index);
  }
  return first ? values[*first].description : std::string();
}
