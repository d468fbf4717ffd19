//===- StateSet.cpp - States with initial values --------------------------===//

#include "Common/StateSet.h"
#include "glowish/Graph/Nodes.h"

using namespace glowish;

Placeholder *StateSet::create(llvm::StringRef name, const Type &type) {
  return function.getModule().createPlaceholder(name, type, /*isInput=*/true,
                                                /*isOutput=*/true);
}

NodeValue StateSet::add(llvm::StringRef name,
                        std::shared_ptr<const Tensor> initial) {
  Placeholder *&placeholder = placeholders[name];
  placeholder = create(name, initial->getType());
  NodeValue value(placeholder);
  if (llvm::all_of(initial->getByteRange(),
                   [](uint8_t byte) { return byte == 0; }))
    return value;
  Module &module = function.getModule();
  if (!initialized)
    initialized = create(module.findPlaceholder("initialized")
                             ? module.takeUniqueName("initialized")
                             : "initialized",
                         Type(ElemKind::Bool, {}));
  NodeValue first(module.createConstant(name, std::move(initial)));
  return function
      .create<SelectNode>(name, NodeValue(initialized), value, first)
      ->getResult();
}

void StateSet::save(llvm::StringRef name, NodeValue value) {
  function.create<SaveNode>(("save_" + name).str(), value,
                            NodeValue(placeholders[name]));
}

void StateSet::finish() {
  if (!initialized)
    return;
  Tensor yes = Tensor::fromValues<bool>(Type(ElemKind::Bool, {}), {true});
  NodeValue value(function.getModule().createConstant("yes", std::move(yes)));
  function.create<SaveNode>("save_initialized", value, NodeValue(initialized));
}
