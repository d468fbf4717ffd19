//===- InnerOutputs.cpp - Intermediate results as outputs -----------------===//

#include "glowish/Driver/InnerOutputs.h"
#include "glowish/Graph/Nodes.h"

using namespace glowish;

std::string glowish::findFreePrefix(const Module &module,
                                    llvm::StringRef base) {
  std::string prefix = base.str();
  auto isTaken = [&](const std::unique_ptr<Placeholder> &placeholder) {
    return placeholder->getModelName().starts_with(prefix);
  };
  while (llvm::any_of(module.getPlaceholders(), isTaken))
    prefix = "_" + prefix;
  return prefix;
}

std::vector<InnerOutput>
glowish::addInnerOutputs(Function &function,
                         llvm::function_ref<bool(NodeValue value)> isWanted) {
  Module &module = function.getModule();
  // All of a value is looked at.
  function.dropPredicates();
  std::string prefix = findFreePrefix(module, "value.");
  std::vector<InnerOutput> outputs;
  for (Node &node : function.getNodes())
    for (unsigned i = 0; i < node.getNumResults(); ++i)
      if (isWanted(node.getResult(i)))
        outputs.push_back({node.getResult(i), ""});
  for (auto [number, output] : llvm::enumerate(outputs)) {
    // An output has the bounds; which elements are there, a run tells.
    Placeholder *placeholder = module.createPlaceholder(
        prefix + std::to_string(number),
        output.value.getType().withoutExtents(), /*isInput=*/false,
        /*isOutput=*/true);
    output.placeholder = placeholder->getModelName().str();
    function.create<SaveNode>(placeholder->getName(), output.value,
                              NodeValue(placeholder));
  }
  return outputs;
}
