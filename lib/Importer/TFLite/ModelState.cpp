//===- ModelState.cpp - What the subgraphs of a model share ---------------===//

#include "TFLite/ModelState.h"

using namespace glowish;
using namespace glowish::tflite;

std::string TFLiteModelState::getUniqueName(llvm::StringRef name) {
  std::string base = name.empty() ? "tensor" : name.str(), unique = base;
  while (!usedNames.insert(unique).second)
    unique = base + "_" + std::to_string(++numbers[base]);
  return unique;
}

llvm::Expected<NodeValue>
TFLiteModelState::getConstant(const schema::Tensor &stored,
                              llvm::StringRef name) {
  if (NodeValue known = constants.lookup(&stored))
    return known;
  GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, file.readConstant(stored));
  foldingBudget.grow(tensor.getSizeInBytes());
  NodeValue constant(module.createConstant(
      name, std::make_shared<const Tensor>(std::move(tensor))));
  constants[&stored] = constant;
  return constant;
}

//===- Variables ----------------------------------------------------------===//

TFLiteVariable &TFLiteModelState::create(llvm::StringRef name) {
  variables.push_back({.name = name.str()});
  return variables.back();
}

TFLiteVariable &TFLiteModelState::getVariable(const schema::Tensor &stored,
                                              llvm::StringRef name) {
  TFLiteVariable *&variable = tensorVariables[&stored];
  if (!variable)
    variable = &create(name);
  return *variable;
}

TFLiteVariable &TFLiteModelState::getResource(llvm::StringRef container,
                                              llvm::StringRef sharedName) {
  TFLiteVariable *&variable = resources[{container.str(), sharedName.str()}];
  if (!variable) {
    std::string name = sharedName.empty() ? "variable" : sharedName.str();
    if (!container.empty())
      name = container.str() + "/" + name;
    variable = &create(getUniqueName(name));
  }
  return *variable;
}

TFLiteVariable &TFLiteModelState::getInitialized(int32_t subgraph) {
  TFLiteVariable *&variable = initialized[subgraph];
  if (!variable) {
    variable = &create(getUniqueName("initialized"));
    variable->type = Type(ElemKind::Bool, {});
  }
  return *variable;
}

void TFLiteModelState::eraseUnusedVariables() {
  auto erase = [&](auto &list) {
    for (auto &[key, variable] : list)
      if (variable->placeholder && !variable->placeholder->hasUses())
        module.erasePlaceholder(variable->placeholder);
  };
  erase(resources);
  erase(initialized);
}

//===- Subgraphs ----------------------------------------------------------===//

int64_t TFLiteModelState::countOperators(int32_t subgraph) {
  return std::max<int64_t>(countOperators(subgraph, 0), 1);
}

int64_t TFLiteModelState::countOperators(int32_t subgraph, unsigned depth) {
  const schema::SubGraph *graph = file.findSubgraph(subgraph);
  // A subgraph that contains itself is refused when it is imported.
  auto [known, isNew] = numOperators.try_emplace(subgraph, 0);
  if (!graph || !graph->operators() || !isNew || depth > maxSubgraphDepth)
    return known->second;
  int64_t count = graph->operators()->size();
  for (const schema::Operator *op : *graph->operators())
    for (int32_t inner : getSubgraphs(*op))
      count = llvm::SaturatingAdd<uint64_t>(
          uint64_t(count), uint64_t(countOperators(inner, depth + 1)));
  return numOperators[subgraph] = std::min<int64_t>(count, INT32_MAX);
}
