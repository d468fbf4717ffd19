//===- IRGen.cpp - From scheduled nodes to instructions -------------------===//

#include "glowish/IRGen/IRGen.h"
#include "IRGenerator.h"
#include "glowish/IR/Passes.h"
#include "glowish/Support/Error.h"

using namespace glowish;

void IRGenerator::createBodyWeights(Function &body) {
  for (Node &node : body.getNodes())
    for (NodeValue value : node.getOperands()) {
      auto *constant = value.getNodeAs<Constant>();
      if (constant && !buffers.count(value))
        buffers[value] = function.createConstant(constant->getName(),
                                                 constant->getPayload());
    }
  for (const auto &parameter : body.getParameters())
    buffers[NodeValue(parameter.get())] = function.createMutable(
        parameter->getName(), parameter->getType(), parameter->getName(),
        /*input=*/true, /*output=*/false);
  for (const auto &result : body.getResults())
    buffers[NodeValue(result.get())] =
        function.createMutable(result->getName(), result->getType(),
                               result->getName(), /*input=*/false,
                               /*output=*/true);
}

void IRGenerator::createWeights(Function &graph) {
  if (graph.isBody())
    return createBodyWeights(graph);
  Module &module = graph.getModule();
  for (const Node &node : module.getConstants()) {
    auto &constant = llvm::cast<Constant>(node);
    bool isUsed = llvm::any_of(constant.uses(), [&](const Use &use) {
      return use.getUser()->getParent() == &graph;
    });
    if (isUsed)
      buffers[NodeValue(const_cast<Constant *>(&constant))] =
          function.createConstant(constant.getName(), constant.getPayload());
  }
  for (const auto &placeholder : module.getPlaceholders())
    buffers[NodeValue(placeholder.get())] =
        function.createMutable(placeholder->getName(), placeholder->getType(),
                               placeholder->getModelName(),
                               placeholder->isInput(), placeholder->isOutput());
  for (const auto &placeholder : module.getPlaceholders())
    if (Placeholder *extents = placeholder->getExtents())
      buffers[NodeValue(placeholder.get())]->setExtents(
          buffers[NodeValue(extents)]);
}

Buffer *IRGenerator::createResult(Node &node, unsigned result) {
  Buffer *buffer =
      function.createActivation(node.getName(), node.getType(result));
  buffers[node.getResult(result)] = buffer;
  return buffer;
}

Buffer *IRGenerator::createView(const Node &node, Buffer *base, DimsRef shape,
                                int64_t offset, DimsRef strides) {
  return function.createView(node.getName(), base,
                             base->getType().withShape(shape),
                             base->getOffset() + offset, strides);
}

Buffer *IRGenerator::broadcast(Buffer *buffer, DimsRef shape) {
  if (buffer->getShape() == shape)
    return buffer;
  Region region = broadcastTo(Region::of(*buffer), shape);
  return function.createView(buffer->getName(), buffer,
                             buffer->getType().withShape(shape), region.offset,
                             region.strides);
}

void IRGenerator::emitElementWise(Node &node) {
  ScalarStep step;
  step.op = *node.getInfo().scalarOp;
  step.kind = node.getType().getKind();
  for (const AttrValue &attr : node.getAttrs())
    if (const double *param = std::get_if<double>(&attr))
      step.params.push_back(*param);
  llvm::SmallVector<Buffer *, 4> inputs;
  for (NodeValue value : node.getOperands()) {
    // An operand that comes twice is one input.
    Buffer *input = broadcast(getBuffer(value), node.getType().getShape());
    auto found = llvm::find_if(inputs, [&](Buffer *other) {
      return other->getRoot() == input->getRoot() &&
             isSame(Region::of(*other), Region::of(*input));
    });
    step.args.push_back(found - inputs.begin());
    if (found == inputs.end())
      inputs.push_back(input);
  }
  ScalarProgram program;
  program.steps.push_back(std::move(step));
  function.create<ElementWiseLoopInstr>(
      node.getName(), createResult(node),
      static_cast<const ScalarProgram &>(program),
      llvm::ArrayRef<Buffer *>(inputs));
}

/// Whether \p instr is the instruction that computes \p node, as InstrFor
/// makes it: results, then the node's operands, and the node's attributes.
static bool computes(const OpInfo &instr, const OpInfo &node) {
  size_t numResults = node.results.size();
  if (instr.operands.size() != numResults + node.operands.size() ||
      instr.attrs.size() != node.attrs.size())
    return false;
  for (size_t i = 0; i < node.operands.size(); ++i)
    if (instr.operands[numResults + i].name != node.operands[i].name)
      return false;
  return true;
}

llvm::Error IRGenerator::emitSameName(Node &node) {
  std::optional<InstrKind> kind = findInstrKind(node.getKindName());
  if (!kind || !computes(getInstrInfo(*kind), node.getInfo()))
    return makeError("{0} '{1}': there is no instruction for it; it must be "
                     "lowered",
                     node.getKindName(), node.getName());
  const OpInfo &info = node.getInfo();
  InstrDraft draft{*kind, {}, node.getAttrs().vec()};
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    draft.operands.push_back(createResult(node, i));
  for (unsigned i = 0; i < node.getNumOperands(); ++i) {
    NodeValue value = node.getOperand(i);
    Buffer *buffer = value ? getBuffer(value) : nullptr;
    if (buffer && info.getOperandInfo(i).name == "fused")
      buffer = broadcast(buffer, node.getType().getShape());
    draft.operands.push_back(buffer);
  }
  function.create(node.getName(), std::move(draft));
  return llvm::Error::success();
}

//===- Saves -------------------------------------------------------------===//
//
// In the graph all reads of a placeholder give what it held when the function
// began, even where the function saves to it: a Save has no order among other
// nodes. The instructions have one, so a save comes after the last read, and
// what it saves is kept apart if that is itself a placeholder that another
// save overwrites.

void IRGenerator::findSavedPlaceholders() {
  for (Node *node : order)
    if (auto *save = llvm::dyn_cast<SaveNode>(node))
      lastRead[getBuffer(save->getOutput())] = 0;
  llvm::DenseMap<NodeValue, const Buffer *> views; // of saved placeholders
  for (auto [number, node] : llvm::enumerate(order)) {
    for (unsigned i = 0; i < node->getNumOperands(); ++i) {
      NodeValue value = node->getOperand(i);
      if (llvm::isa<SaveNode>(node) && i == SaveNode::outputIdx)
        continue;
      const Buffer *buffer = getBuffer(value);
      if (!buffer)
        buffer = views.lookup(value);
      auto found = lastRead.find(buffer);
      if (found == lastRead.end())
        continue;
      found->second = number;
      if (llvm::isa<ReshapeNode>(node))
        views[node->getResult()] = buffer;
    }
  }
}

llvm::Error IRGenerator::visitSave(SaveNode &node) {
  Buffer *target = getBuffer(node.getOutput());
  Buffer *source = getBuffer(node.getInput());
  if (source->getRoot() == target)
    return llvm::Error::success(); // of the same type: the same elements
  if (lastRead.count(source->getRoot())) {
    Buffer *kept = function.createActivation(node.getName(), source->getType());
    function.create<CopyInstr>(node.getName(), kept, source);
    source = kept;
  }
  unsigned last = lastRead.lookup(target);
  if (last > position)
    delayedSaves[last].push_back({&node, source});
  else
    function.create<CopyInstr>(node.getName(), target, source);
  return llvm::Error::success();
}

llvm::Error IRGenerator::run() {
  findSavedPlaceholders();
  for (Node *node : order) {
    GLOWISH_CHECK(visit(*node));
    auto delayed = delayedSaves.find(position++);
    if (delayed == delayedSaves.end())
      continue;
    for (const DelayedSave &save : delayed->second)
      function.create<CopyInstr>(
          save.node->getName(), getBuffer(save.node->getOutput()), save.source);
  }
  return llvm::Error::success();
}

//===- Entry points ------------------------------------------------------===//

llvm::Error IRGenerator::visitNode(Node &node) {
  if (!isElementWise(node))
    return emitSameName(node);
  emitElementWise(node);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<IRFunction>>
glowish::generateIR(Function &function, llvm::ArrayRef<Node *> order) {
  auto ir = std::make_unique<IRFunction>(function.getName());
  IRGenerator generator(*ir, order);
  generator.createWeights(function);
  GLOWISH_CHECK(generator.run());
  GLOWISH_CHECK(placeLifetimes(*ir, IRPassContext()).takeError());
  return std::move(ir);
}
