//===- StateSet.cpp - States with initial values --------------------------===//

#include "Common/StateSet.h"
#include "Common/Outputs.h"
#include "glowish/Graph/Nodes.h"

using namespace glowish;

NodeValue RunFlag::get() {
  Module &module = function.getModule();
  if (!placeholder)
    placeholder = module.createPlaceholder(
        getUniqueModelName(module, "initialized", "_state"),
        Type(ElemKind::Bool, {}), /*isInput=*/true, /*isOutput=*/true);
  return NodeValue(placeholder);
}

void RunFlag::save() {
  if (!placeholder)
    return;
  Tensor yes = Tensor::fromValues<bool>(Type(ElemKind::Bool, {}), {true});
  NodeValue value(function.getModule().createConstant("yes", std::move(yes)));
  function.create<SaveNode>("save_initialized", value, NodeValue(placeholder));
}

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
