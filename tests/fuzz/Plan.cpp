//===- Plan.cpp - A graph that is easy to change --------------------------===//

#include "Plan.h"
#include "Values.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/Support/Error.h"
#include <set>

using namespace glowish;
using namespace glowish::fuzz;

static constexpr llvm::StringLiteral constantPrefix = "constant ";

llvm::Expected<TypeList> fuzz::inferEntry(const Plan &plan,
                                          const Entry &entry) {
  const OpInfo &info = getNodeInfo(entry.kind);
  llvm::SmallVector<const Type *, 4> inputs;
  llvm::SmallVector<bool, 4> present;
  for (ValueRef operand : entry.operands) {
    inputs.push_back(operand ? &plan.getType(operand) : nullptr);
    present.push_back(bool(operand));
  }
  GLOWISH_CHECK(checkStructure(info, present, entry.attrs));
  return info.inferTypes(OpView(info, inputs, {}, entry.attrs));
}

llvm::Error Plan::inferTypes() {
  for (Entry &entry : entries) {
    if (entry.isStorage())
      continue;
    GLOWISH_TRY(entry.types, inferEntry(*this, entry));
  }
  return llvm::Error::success();
}

void Plan::dropUnused() {
  std::vector<bool> used(entries.size());
  for (const Output &output : outputs) {
    used[output.value.entry] = true;
    if (output.state >= 0)
      used[output.state] = true;
  }
  for (size_t i = entries.size(); i-- > 0;)
    if (used[i])
      for (ValueRef operand : entries[i].operands)
        if (operand)
          used[operand.entry] = true;
  std::vector<int> newIndex(entries.size(), -1);
  std::vector<Entry> kept;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!used[i])
      continue;
    newIndex[i] = kept.size();
    kept.push_back(std::move(entries[i]));
    for (ValueRef &operand : kept.back().operands)
      if (operand)
        operand.entry = newIndex[operand.entry];
  }
  for (Output &output : outputs) {
    output.value.entry = newIndex[output.value.entry];
    if (output.state >= 0)
      output.state = newIndex[output.state];
  }
  entries = std::move(kept);
}

bool Plan::hasState(const Output &output) const {
  if (output.state < 0)
    return false;
  for (const Output &other : outputs) {
    if (&other == &output)
      break;
    if (other.state == output.state)
      return false;
  }
  const Entry &state = entries[output.state];
  return state.kind == NodeKind::Placeholder &&
         state.types[0] == getType(output.value);
}

static NodeValue makeStorage(Module &module, const Entry &entry, unsigned id,
                             bool isState) {
  const Type &type = entry.types[0];
  std::string name = "x" + std::to_string(id);
  if (entry.kind == NodeKind::Placeholder)
    return module.createPlaceholder(entry.name, type, true, isState, name);
  // The longest that the text form prints in a line.
  constexpr int64_t mostPrinted = 16;
  if (type.getNumElements() <= mostPrinted)
    return module.createConstant(name, makeValues(entry.name, type));
  return module.createPlaceholder((constantPrefix + entry.name).str(), type,
                                  true, false, name);
}

std::string Plan::print() const {
  Module module("fuzz");
  Function *function = module.createFunction("main");
  std::set<int> states;
  for (const Output &output : outputs)
    if (hasState(output))
      states.insert(output.state);
  std::vector<Node *> nodes;
  for (const Entry &entry : entries) {
    unsigned id = nodes.size();
    if (entry.isStorage()) {
      nodes.push_back(
          makeStorage(module, entry, id, states.count(int(id)) > 0).node);
      continue;
    }
    NodeDraft draft = {entry.kind, {}, entry.attrs};
    for (ValueRef operand : entry.operands)
      draft.operands.push_back(
          operand ? NodeValue(nodes[operand.entry], operand.result)
                  : NodeValue());
    nodes.push_back(
        function->create("n" + std::to_string(id), std::move(draft)));
  }
  for (auto [i, output] : llvm::enumerate(outputs)) {
    std::string name = "y" + std::to_string(i);
    Node *target = hasState(output)
                       ? nodes[output.state]
                       : module.createPlaceholder(name, getType(output.value),
                                                  false, true);
    ValueRef value = output.value;
    function->create<SaveNode>(
        "save", NodeValue(nodes[value.entry], value.result), NodeValue(target));
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  printModule(os, module, /*sideFile=*/nullptr);
  return text;
}

llvm::Expected<std::unique_ptr<Module>> fuzz::parseGraph(llvm::StringRef text) {
  GLOWISH_TRY(std::unique_ptr<Module> module,
              parseModule(text, "fuzz.graph", nullptr));
  for (const auto &placeholder : module->getPlaceholders()) {
    llvm::StringRef name = placeholder->getModelName();
    if (!name.consume_front(constantPrefix))
      continue;
    Constant *constant = module->createConstant(
        placeholder->getName(), makeValues(name, placeholder->getType()));
    NodeValue(placeholder.get()).replaceAllUsesWith(NodeValue(constant));
  }
  GLOWISH_CHECK(verify(*module));
  return module;
}
