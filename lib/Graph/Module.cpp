//===- Module.cpp - Modules, functions and storage ------------------------===//

#include "glowish/Graph/Module.h"
#include "NodeFactory.h"
#include "glowish/Ops/ExtentRules.h"
#include "glowish/Ops/Predicate.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/DenseSet.h"

using namespace glowish;

//===- Storage ------------------------------------------------------------===//

Placeholder::Placeholder(llvm::StringRef name, const Type &type,
                         std::string modelName, bool input, bool output)
    : Node({NodeKind::Placeholder, {}, {}}, name, {type}),
      modelName(std::move(modelName)), input(input), output(output) {}

Constant::Constant(llvm::StringRef name, std::shared_ptr<const Tensor> payload)
    : Node({NodeKind::Constant, {}, {}}, name, {payload->getType()}),
      payload(std::move(payload)) {}

//===- Function -----------------------------------------------------------===//

Function::Function(Module &module, llvm::StringRef name)
    : module(module), name(name) {}

Function::~Function() {
  // Users come after the definitions.
  while (!nodes.empty())
    erase(&nodes.back());
  for (const PlaceholderList *list : {&parameters, &results})
    for (const auto &placeholder : *list)
      module.releaseName(placeholder->getName());
}

/// Adds the symbols that a node which states extents declares to \p module.
static void declareSymbols(const NodeDraft &draft, Module &module) {
  NodeTypes types(draft);
  // The views of all these have the same operands and attributes.
  DeclareExtentsView op(types.getView());
  const Type &type = op.getResultType().front();
  for (int64_t dim : op.getDims())
    module.declareSymbol(type.getExtent(dim)->getSymbol(),
                         {0, type.getDim(dim)});
}

llvm::Expected<TypeList> Function::inferDraft(const NodeDraft &draft) {
  const OpInfo &info = getNodeInfo(draft.kind);
  llvm::SmallVector<bool, 4> present;
  for (NodeValue value : draft.operands)
    present.push_back(bool(value));
  if (llvm::Error error = checkStructure(info, present, draft.attrs))
    return std::move(error);
  NodeTypes types(draft);
  if (info.has(OpTrait::StatesExtents)) {
    // Its extents are symbols that it declares itself.
    GLOWISH_RETURN_IF_ERROR(info.inferTypes(types.getView()).takeError());
    declareSymbols(draft, module);
  }
  std::vector<ExtentRequirement> requirements;
  llvm::Expected<TypeList> results =
      inferTypes(types.getView(), module.getSymbols(), requirements);
  if (!trial) {
    module.addRequirements(requirements);
    return results;
  }
  for (const ExtentRequirement &required : requirements)
    trial->isAllowed &= llvm::is_contained(module.getRequirements(), required);
  if (results)
    return results;
  llvm::Expected<TypeList> bounds = inferBounds(types.getView());
  if (!bounds) {
    llvm::consumeError(bounds.takeError());
    return results;
  }
  llvm::consumeError(results.takeError());
  trial->isAllowed = false;
  return bounds;
}

llvm::Expected<Node *> Function::tryCreate(llvm::StringRef name,
                                           NodeDraft draft) {
  llvm::Expected<TypeList> types = inferDraft(draft);
  if (!types)
    return addContext(types.takeError(),
                      getNodeInfo(draft.kind).name + " '" + name + "': ");
  if (draft.predicate)
    if (llvm::Error error = checkPredicate(getNodeInfo(draft.kind),
                                           draft.predicate.getType(), *types))
      return addContext(std::move(error),
                        getNodeInfo(draft.kind).name + " '" + name + "': ");
  Node *node = makeNode(std::move(draft), module.takeUniqueName(name),
                        std::move(*types));
  node->parent = this;
  nodes.insert(insertionPoint ? insertionPoint->getIterator() : nodes.end(),
               node);
  return node;
}

Node *Function::create(llvm::StringRef name, NodeDraft draft) {
  llvm::Expected<Node *> node = tryCreate(name, std::move(draft));
  if (!node)
    llvm::report_fatal_error(node.takeError());
  return *node;
}

void Function::erase(Node *node) {
  assert(node->parent == this && "a node of another function");
  if (insertionPoint == node) {
    auto next = std::next(node->getIterator());
    insertionPoint = next == nodes.end() ? nullptr : &*next;
  }
  module.releaseName(node->getName());
  nodes.erase(node);
}

bool Function::canBound(const Extent &extent) const {
  return !isBody() && module.isStated(extent);
}

void Function::moveBefore(Node *node, Node *before) {
  nodes.splice(before ? before->getIterator() : nodes.end(), nodes,
               node->getIterator());
}

void Function::sortTopologically() {
  // Depth-first search from the nodes in their current order, which keeps an
  // order that is valid already. Iterative, as graphs can be deep.
  auto order = llvm::to_vector(llvm::make_pointer_range(nodes));
  llvm::DenseSet<Node *> placed;
  std::vector<std::pair<Node *, unsigned>> stack;
  for (Node *root : order) {
    if (!placed.insert(root).second)
      continue;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      auto &[node, next] = stack.back();
      if (next <= node->numOperands) {
        Node *operand = node->operands[next++].get().node;
        if (operand && operand->parent == this && placed.insert(operand).second)
          stack.push_back({operand, 0});
        continue;
      }
      moveBefore(node, nullptr);
      stack.pop_back();
    }
  }
}

void Function::dropPredicates() {
  for (Node &node : nodes) {
    node.setPredicate({});
    for (Function *nested : getBodies(node))
      nested->dropPredicates();
  }
}

//===- Cloning and inlining -----------------------------------------------===//

/// Copies the nodes to \p target, Saves only if \p withSaves. \p copies maps
/// values of this function to values of \p target; results are added.
void Function::copyNodes(Function &target,
                         llvm::DenseMap<NodeValue, NodeValue> &copies,
                         bool withSaves) const {
  auto mapped = [&](NodeValue value) {
    auto found = copies.find(value);
    return found == copies.end() ? value : found->second;
  };
  for (const Node &node : nodes) {
    if (!withSaves && node.getKind() == NodeKind::Save)
      continue;
    NodeDraft draft = node.getDraft();
    for (NodeValue &value : draft.operands)
      value = mapped(value);
    draft.predicate = mapped(node.getPredicate());
    for (AttrValue &attr : draft.attrs)
      if (auto *body = std::get_if<std::shared_ptr<Body>>(&attr))
        *body = getFunction(*body).cloneBody();
    Node *made = target.create(node.getName(), std::move(draft));
    for (unsigned i = 0; i < node.getNumResults(); ++i)
      copies[NodeValue(const_cast<Node *>(&node), i)] = made->getResult(i);
  }
}

std::shared_ptr<FunctionBody> Function::cloneBody() const {
  std::shared_ptr<FunctionBody> copy = FunctionBody::create(module, name);
  Function &target = copy->getFunction();
  llvm::DenseMap<NodeValue, NodeValue> copies;
  for (const auto &parameter : parameters)
    copies[NodeValue(parameter.get())] = NodeValue(
        target.addParameter(parameter->getName(), parameter->getType()));
  for (const auto &result : results)
    copies[NodeValue(result.get())] =
        NodeValue(target.addResult(result->getName(), result->getType()));
  copyNodes(target, copies, /*withSaves=*/true);
  return copy;
}

Function *Function::clone(llvm::StringRef newName) {
  Function *copy = module.createFunction(newName);
  llvm::DenseMap<NodeValue, NodeValue> copies;
  copyNodes(*copy, copies, /*withSaves=*/true);
  return copy;
}

llvm::SmallVector<NodeValue, 4>
Function::inlineInto(Function &target,
                     llvm::ArrayRef<NodeValue> arguments) const {
  llvm::DenseMap<NodeValue, NodeValue> copies;
  for (auto [parameter, argument] : llvm::zip_equal(parameters, arguments))
    copies[NodeValue(parameter.get())] = argument;
  copyNodes(target, copies, /*withSaves=*/false);
  llvm::SmallVector<NodeValue, 4> values;
  for (unsigned i = 0; i < results.size(); ++i) {
    NodeValue value = getResultValue(i);
    auto found = copies.find(value);
    values.push_back(found == copies.end() ? value : found->second);
  }
  return values;
}

//===- Bodies -------------------------------------------------------------===//

std::shared_ptr<FunctionBody> FunctionBody::create(Module &module,
                                                   llvm::StringRef name) {
  return std::shared_ptr<FunctionBody>(new FunctionBody(module, name));
}

static TypeList getTypes(const Function::PlaceholderList &placeholders) {
  TypeList types;
  for (const auto &placeholder : placeholders)
    types.push_back(placeholder->getType());
  return types;
}

TypeList FunctionBody::getParameterTypes() const {
  return getTypes(function.getParameters());
}

TypeList FunctionBody::getResultTypes() const {
  return getTypes(function.getResults());
}

Placeholder *Function::addStorage(PlaceholderList &list, llvm::StringRef base,
                                  const Type &type) {
  assert(body && "only bodies have storage of their own");
  std::string unique = module.takeUniqueName(base);
  list.push_back(std::unique_ptr<Placeholder>(
      new Placeholder(unique, type, unique, /*input=*/false,
                      /*output=*/false)));
  list.back()->owner = this;
  return list.back().get();
}

Placeholder *Function::addParameter(llvm::StringRef base, const Type &type) {
  return addStorage(parameters, base, type);
}

Placeholder *Function::addResult(llvm::StringRef base, const Type &type) {
  return addStorage(results, base, type);
}

Placeholder *Function::addResult(llvm::StringRef base, NodeValue value) {
  Placeholder *result = addResult(base, value.getType());
  create<SaveNode>(base, value, NodeValue(result));
  return result;
}

void Function::eraseParameter(unsigned index) {
  module.releaseName(parameters[index]->getName());
  parameters.erase(parameters.begin() + index);
}

void Function::eraseResult(unsigned index) {
  Placeholder &result = *results[index];
  while (result.hasUses())
    erase(result.uses().begin()->getUser());
  module.releaseName(result.getName());
  results.erase(results.begin() + index);
}

NodeValue Function::getResultValue(unsigned index) const {
  for (Use &use : results[index]->uses())
    if (use.getUser()->getKind() == NodeKind::Save)
      return use.getUser()->getOperand(0);
  return {};
}

llvm::SmallVector<Function *, 2> glowish::getBodies(const Node &node) {
  llvm::SmallVector<Function *, 2> bodies;
  for (const AttrValue &attr : node.getAttrs())
    if (auto *body = std::get_if<std::shared_ptr<Body>>(&attr))
      bodies.push_back(&getFunction(*body));
  return bodies;
}

std::vector<Function *> glowish::getNested(Function &function) {
  std::vector<Function *> nested;
  for (const Node &node : function.getNodes())
    if (node.getInfo().hasBodies())
      llvm::append_range(nested, getBodies(node));
  return nested;
}

//===- Module -------------------------------------------------------------===//

Module::Module(llvm::StringRef name) : name(name) {}

Module::~Module() { functions.clear(); }

Function *Module::createFunction(llvm::StringRef name) {
  assert(!findFunction(name) && "functions have distinct names");
  functions.push_back(std::unique_ptr<Function>(new Function(*this, name)));
  return functions.back().get();
}

Function *Module::findFunction(llvm::StringRef name) const {
  for (const auto &function : functions)
    if (function->getName() == name)
      return function.get();
  return nullptr;
}

void Module::eraseFunction(Function *function) {
  functions.remove_if(
      [&](const auto &owned) { return owned.get() == function; });
}

Placeholder *Module::createPlaceholder(llvm::StringRef modelName,
                                       const Type &type, bool isInput,
                                       bool isOutput, llvm::StringRef name) {
  std::string unique = takeUniqueName(name.empty() ? modelName : name);
  placeholders.push_back(std::unique_ptr<Placeholder>(
      new Placeholder(unique, type, modelName.str(), isInput, isOutput)));
  return placeholders.back().get();
}

InputExtents Placeholder::getInputExtents() const {
  return {range, required, getType().getExtents(), nextExtents};
}

void Module::stateSymbol(Placeholder &placeholder, SymbolRange range) {
  symbols.set(range.symbol, range.bounds);
  placeholder.range = std::move(range);
}

void Module::declareSymbol(llvm::StringRef symbol, IntRange range) {
  if (std::optional<IntRange> known = symbols.find(symbol))
    range = {std::max(range.low, known->low),
             std::min(range.high, known->high)};
  symbols.set(symbol, range);
}

void Module::addRequirements(llvm::ArrayRef<ExtentRequirement> required) {
  for (const ExtentRequirement &each : required) {
    if (llvm::is_contained(requirements, each))
      continue;
    requirements.push_back(each);
    // What nodes compute is not known before the run.
    std::vector<std::string> own = each.a.getSymbols();
    llvm::append_range(own, each.b.getSymbols());
    if (!own.empty() && isStated(each.a) && isStated(each.b))
      findStated(own.front())->required.push_back(each);
  }
}

void Module::setElemKind(Placeholder &placeholder, ElemKind kind) {
  Type &type = placeholder.types.front();
  type = type.withKind(kind);
}

void Module::makeState(Placeholder &placeholder, DimsRef shape) {
  Type &type = placeholder.types.front();
  type = type.withShape(shape).withExtents(type.getExtents());
  placeholder.output = true;
}

Constant *Module::createConstant(llvm::StringRef name, Tensor tensor) {
  return createConstant(
      name, sharedTensors ? sharedTensors->share(std::move(tensor))
                          : std::make_shared<const Tensor>(std::move(tensor)));
}

Constant *Module::createConstant(llvm::StringRef name,
                                 std::shared_ptr<const Tensor> payload) {
  auto *constant = new Constant(takeUniqueName(name), std::move(payload));
  constants.push_back(constant);
  return constant;
}

Placeholder *Module::findPlaceholder(llvm::StringRef modelName) const {
  for (const auto &placeholder : placeholders)
    if (placeholder->getModelName() == modelName)
      return placeholder.get();
  return nullptr;
}

Placeholder *Module::findStated(llvm::StringRef symbol) const {
  for (const auto &placeholder : placeholders)
    if (placeholder->getRange() && placeholder->getRange()->symbol == symbol)
      return placeholder.get();
  return nullptr;
}

bool Module::isStated(const Extent &extent) const {
  return llvm::all_of(extent.getSymbols(), [&](const std::string &symbol) {
    return findStated(symbol);
  });
}

void Module::erasePlaceholder(Placeholder *placeholder) {
  assert(placeholder->uses().empty() && "the placeholder is used");
  releaseName(placeholder->getName());
  placeholders.remove_if(
      [&](const auto &owned) { return owned.get() == placeholder; });
}

void Module::eraseConstant(Constant *constant) {
  releaseName(constant->getName());
  constants.erase(constant);
}

std::string Module::takeUniqueName(llvm::StringRef base) {
  if (base.empty())
    base = "v";
  if (names.insert(base).second)
    return base.str();
  unsigned &suffix = nextSuffix[base];
  std::string name;
  do
    name = (base + "_" + llvm::Twine(++suffix)).str();
  while (!names.insert(name).second);
  return name;
}
