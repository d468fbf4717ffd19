//===- GraphSpec.cpp - Random graphs to shrink ----------------------------===//

#include "GraphSpec.h"
#include "Predicates.h"
#include "Values.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/Ops/Predicate.h"
#include "glowish/Support/Error.h"
#include <set>

using namespace glowish;
using namespace glowish::fuzz;

static constexpr llvm::StringLiteral constantPrefix = "constant ";

namespace {

/// What type rules see of a body.
class Signature final : public Body {
public:
  explicit Signature(const GraphSpec &spec) {
    for (unsigned i = 0; i < spec.numParameters; ++i)
      parameters.push_back(spec.entries[i].types[0]);
    for (const Output &output : spec.outputs)
      results.push_back(spec.getType(output.value));
  }
  TypeList getParameterTypes() const override { return parameters; }
  TypeList getResultTypes() const override { return results; }

private:
  TypeList parameters, results;
};

} // namespace

/// The attributes of \p entry with what \p makeBody makes of its bodies.
static std::vector<AttrValue> makeAttrs(
    const Entry &entry,
    llvm::function_ref<std::shared_ptr<Body>(const GraphSpec &)> makeBody) {
  std::vector<AttrValue> attrs = entry.attrs;
  unsigned next = 0;
  for (AttrValue &attr : attrs)
    if (auto *body = std::get_if<std::shared_ptr<Body>>(&attr))
      *body = makeBody(entry.bodies[next++]);
  return attrs;
}

TypeList fuzz::getParameters(const GraphSpec &spec, const Entry &entry) {
  bool isLoop = entry.kind == NodeKind::Loop;
  TypeList types;
  if (isLoop)
    types = {Type(ElemKind::Int64, {}), Type(ElemKind::Bool, {})};
  for (ValueRef value :
       llvm::ArrayRef(entry.operands).drop_front(isLoop ? 2 : 1))
    types.push_back(spec.getType(value));
  return types;
}

llvm::Expected<TypeList> fuzz::inferEntry(const GraphSpec &spec,
                                          const Entry &entry) {
  const OpInfo &info = getNodeInfo(entry.kind);
  llvm::SmallVector<const Type *, 4> inputs;
  llvm::SmallVector<bool, 4> present;
  for (ValueRef operand : entry.operands) {
    inputs.push_back(operand ? &spec.getType(operand) : nullptr);
    present.push_back(bool(operand));
  }
  if (entry.bodies.empty()) {
    GLOWISH_RETURN_IF_ERROR(checkStructure(info, present, entry.attrs));
    return info.inferTypes(OpView(info, inputs, {}, entry.attrs));
  }
  std::vector<AttrValue> attrs = makeAttrs(entry, [](const GraphSpec &body) {
    return std::make_shared<Signature>(body);
  });
  GLOWISH_RETURN_IF_ERROR(checkStructure(info, present, attrs));
  return info.inferTypes(OpView(info, inputs, {}, attrs));
}

/// A body has no storage but parameters and small constants.
static llvm::Error checkStorage(const GraphSpec &spec) {
  for (auto [i, entry] : llvm::enumerate(spec.entries))
    if (!spec.isParameter(int(i)) && entry.isStorage() &&
        (entry.kind == NodeKind::Placeholder ||
         entry.types[0].getNumElements() > mostPrinted))
      return makeError("storage in a body");
  return llvm::Error::success();
}

llvm::Error GraphSpec::inferTypes() {
  for (Entry &entry : entries) {
    if (entry.isStorage())
      continue;
    for (GraphSpec &body : entry.bodies) {
      TypeList types = getParameters(*this, entry);
      if (types.size() != body.numParameters)
        return makeError("another number of parameters");
      for (auto [i, type] : llvm::enumerate(types))
        body.entries[i].types = {type};
      GLOWISH_RETURN_IF_ERROR(checkStorage(body));
      GLOWISH_RETURN_IF_ERROR(body.inferTypes());
    }
    GLOWISH_ASSIGN_OR_RETURN(entry.types, inferEntry(*this, entry));
    if (entry.predicate)
      GLOWISH_RETURN_IF_ERROR(checkPredicate(
          getNodeInfo(entry.kind), getType(entry.predicate), entry.types));
  }
  return checkPredicates(*this);
}

void GraphSpec::dropUnused() {
  std::vector<bool> used(entries.size());
  std::fill_n(used.begin(), numParameters, true);
  for (const Output &output : outputs) {
    used[output.value.entry] = true;
    if (output.state >= 0)
      used[output.state] = true;
  }
  for (size_t i = entries.size(); i-- > 0;) {
    if (!used[i])
      continue;
    for (ValueRef operand : entries[i].operands)
      if (operand)
        used[operand.entry] = true;
    if (ValueRef predicate = entries[i].predicate)
      used[predicate.entry] = true;
  }
  std::vector<int> newIndex(entries.size(), -1);
  std::vector<Entry> kept;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!used[i])
      continue;
    newIndex[i] = kept.size();
    kept.push_back(std::move(entries[i]));
    for (GraphSpec &body : kept.back().bodies)
      body.dropUnused();
    for (ValueRef &operand : kept.back().operands)
      if (operand)
        operand.entry = newIndex[operand.entry];
    if (ValueRef &predicate = kept.back().predicate)
      predicate.entry = newIndex[predicate.entry];
  }
  for (Output &output : outputs) {
    output.value.entry = newIndex[output.value.entry];
    if (output.state >= 0)
      output.state = newIndex[output.state];
  }
  entries = std::move(kept);
}

bool GraphSpec::hasState(const Output &output) const {
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

namespace {

/// Makes a module of a spec.
class Builder {
public:
  explicit Builder(Module &module) : module(module) {}

  void build(const GraphSpec &spec, Function &function);

private:
  Node *makeStorage(const GraphSpec &spec, int index,
                    const std::set<int> &states);
  std::shared_ptr<Body> makeBody(const GraphSpec &spec);
  std::vector<Node *> makeNodes(const GraphSpec &spec, Function &function,
                                std::vector<Node *> nodes);

  Module &module;
  unsigned nextId = 0;
};

} // namespace

Node *Builder::makeStorage(const GraphSpec &spec, int index,
                           const std::set<int> &states) {
  const Entry &entry = spec.entries[index];
  const Type &type = entry.types[0];
  std::string name = "x" + std::to_string(nextId++);
  if (entry.kind == NodeKind::Placeholder)
    return module.createPlaceholder(entry.name, type, true,
                                    states.count(index) > 0, name);
  if (type.getNumElements() <= mostPrinted)
    return module.createConstant(name, makeValues(entry.name, type));
  return module.createPlaceholder((constantPrefix + entry.name).str(), type,
                                  true, false, name);
}

/// \p nodes: of the first entries of \p spec. Adds those of the others.
std::vector<Node *> Builder::makeNodes(const GraphSpec &spec,
                                       Function &function,
                                       std::vector<Node *> nodes) {
  std::set<int> states;
  for (const Output &output : spec.outputs)
    if (spec.hasState(output))
      states.insert(output.state);
  while (nodes.size() < spec.entries.size()) {
    int index = int(nodes.size());
    const Entry &entry = spec.entries[index];
    if (entry.isStorage()) {
      nodes.push_back(makeStorage(spec, index, states));
      continue;
    }
    std::string name = "n" + std::to_string(nextId++);
    NodeDraft draft = {
        entry.kind, {}, makeAttrs(entry, [&](const GraphSpec &body) {
          return makeBody(body);
        })};
    for (ValueRef operand : entry.operands)
      draft.operands.push_back(
          operand ? NodeValue(nodes[operand.entry], operand.result)
                  : NodeValue());
    if (entry.predicate)
      draft.predicate =
          NodeValue(nodes[entry.predicate.entry], entry.predicate.result);
    nodes.push_back(function.create(name, std::move(draft)));
  }
  return nodes;
}

std::shared_ptr<Body> Builder::makeBody(const GraphSpec &spec) {
  auto body = FunctionBody::create(module, "b" + std::to_string(nextId++));
  Function &function = body->getFunction();
  std::vector<Node *> nodes;
  for (unsigned i = 0; i < spec.numParameters; ++i)
    nodes.push_back(function.addParameter("p" + std::to_string(nextId++),
                                          spec.entries[i].types[0]));
  nodes = makeNodes(spec, function, std::move(nodes));
  for (const Output &output : spec.outputs)
    function.addResult(
        "r" + std::to_string(nextId++),
        NodeValue(nodes[output.value.entry], output.value.result));
  return body;
}

void Builder::build(const GraphSpec &spec, Function &function) {
  std::vector<Node *> nodes = makeNodes(spec, function, {});
  for (auto [i, output] : llvm::enumerate(spec.outputs)) {
    ValueRef value = output.value;
    Node *target =
        spec.hasState(output)
            ? nodes[output.state]
            : module.createPlaceholder("y" + std::to_string(i),
                                       spec.getType(value), false, true);
    function.create<SaveNode>(
        "save", NodeValue(nodes[value.entry], value.result), NodeValue(target));
  }
}

std::string GraphSpec::print() const {
  Module module("fuzz");
  Builder(module).build(*this, *module.createFunction("main"));
  std::string text;
  llvm::raw_string_ostream os(text);
  printModule(os, module, /*sideFile=*/nullptr);
  return text;
}

llvm::Expected<std::unique_ptr<Module>> fuzz::parseGraph(llvm::StringRef text) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                           parseModule(text, "fuzz.graph", nullptr));
  for (const auto &placeholder : module->getPlaceholders()) {
    llvm::StringRef name = placeholder->getModelName();
    if (!name.consume_front(constantPrefix))
      continue;
    Constant *constant = module->createConstant(
        placeholder->getName(), makeValues(name, placeholder->getType()));
    NodeValue(placeholder.get()).replaceAllUsesWith(NodeValue(constant));
  }
  GLOWISH_RETURN_IF_ERROR(verify(*module));
  return module;
}
