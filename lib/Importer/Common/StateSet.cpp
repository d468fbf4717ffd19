//===- StateSet.cpp - States with initial values --------------------------===//

#include "Common/StateSet.h"
#include "glowish/Graph/Nodes.h"

using namespace glowish;

NodeValue StateSet::add(llvm::StringRef name,
                        std::shared_ptr<const Tensor> initial) {
  Placeholder *&placeholder = placeholders[name];
  Module &module = function.getModule();
  placeholder = module.createPlaceholder(name, initial->getType(),
                                         /*isInput=*/true, /*isOutput=*/true);
  NodeValue value(placeholder);
  if (llvm::all_of(initial->getByteRange(),
                   [](uint8_t byte) { return byte == 0; }))
    return value;
  NodeValue first(module.createConstant(name, std::move(initial)));
  return function.create<SelectNode>(name, flag.get(), value, first)
      ->getResult();
}

void StateSet::save(llvm::StringRef name, NodeValue value) {
  function.create<SaveNode>(("save_" + name).str(), value,
                            NodeValue(placeholders[name]));
}
