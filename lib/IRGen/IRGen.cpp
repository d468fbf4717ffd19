//===- IRGen.cpp - Generates the IR of a schedule -------------------------===//

#include "glowish/IRGen/IRGen.h"
#include "IRGenerator.h"
#include "glowish/IR/Passes.h"
#include "glowish/Support/Error.h"

using namespace glowish;

void IRGenerator::createBodyWeights(Function &body) {
  for (Node &node : body.getNodes())
    for (NodeValue value : node.getReads()) {
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
  for (const auto &placeholder : module.getPlaceholders()) {
    Buffer *buffer =
        function.createMutable(placeholder->getName(), placeholder->getType(),
                               placeholder->getModelName(),
                               placeholder->isInput(), placeholder->isOutput());
    buffer->setInputExtents(placeholder->getInputExtents());
    buffer->setClassNames(placeholder->getClassNames());
    buffers[NodeValue(placeholder.get())] = buffer;
  }
  for (const auto &placeholder : module.getPlaceholders())
    if (Placeholder *extents = placeholder->getExtents())
      buffers[NodeValue(placeholder.get())]->setExtents(
          buffers[NodeValue(extents)]);
}

Buffer *IRGenerator::createResult(Node &node, unsigned result) {
  Buffer *buffer = function.createActivation(
      node.getName(), node.getType(result).withoutExtents());
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
  StridedLayout layout = broadcastTo(StridedLayout::of(*buffer), shape);
  return function.createView(buffer->getName(), buffer,
                             buffer->getType().withShape(shape), layout.offset,
                             layout.strides);
}

void IRGenerator::generateElementWise(Node &node) {
  ScalarStep step = makeScalarStep(node);
  llvm::SmallVector<Buffer *, 4> inputs;
  for (NodeValue value : node.getOperands()) {
    // An operand that comes twice is one input.
    Buffer *input = broadcast(getBuffer(value), node.getType().getShape());
    auto found = llvm::find_if(inputs, [&](Buffer *other) {
      return other->getRoot() == input->getRoot() &&
             isSame(StridedLayout::of(*other), StridedLayout::of(*input));
    });
    step.args.push_back(found - inputs.begin());
    if (found == inputs.end())
      inputs.push_back(input);
  }
  ScalarProgram program;
  program.steps.push_back(std::move(step));
  auto *loop = function.create<ElementWiseLoopInstr>(
      node.getName(), createResult(node),
      static_cast<const ScalarProgram &>(program),
      llvm::ArrayRef<Buffer *>(inputs));
  loop->setLoopBounds(getBounds(node));
  loop->setPredicate(getBuffer(node.getPredicate()));
}

void IRGenerator::generateInstr(Node &node, InstrKind kind) {
  InstrDraft draft{kind, {}, node.getAttrs().vec()};
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    draft.operands.push_back(createResult(node, i));
  for (NodeValue value : node.getOperands())
    draft.operands.push_back(value ? getBuffer(value) : nullptr);
  // Nodes have no epilogue.
  if (getInstrInfo(kind).hasEpilogue())
    draft.attrs.push_back(ScalarProgram());
  draft.bounds = getBounds(node);
  draft.predicate = getBuffer(node.getPredicate());
  function.create(node.getName(), std::move(draft));
}

llvm::Error IRGenerator::generate(Node &node) {
  if (isElementWise(node)) {
    generateElementWise(node);
    return llvm::Error::success();
  }
  switch (node.getKind()) {
#define IR_GENERATION(NAME)                                                    \
  case NodeKind::NAME:                                                         \
    return generate##NAME(llvm::cast<NAME##Node>(node));
#define GET_IR_GENERATION_LIST
#include "glowish/Graph/NodeFunctions.inc"
#define INSTR_FOR(NAME)                                                        \
  case NodeKind::NAME:                                                         \
    generateInstr(node, InstrKind::NAME);                                      \
    return llvm::Error::success();
#define GET_INSTR_FOR_LIST
#include "glowish/Graph/NodeFunctions.inc"
  default:
    return makeError("{0} '{1}': there is no instruction for it; it must be "
                     "lowered",
                     node.getKindName(), node.getName());
  }
}

//===- Saves --------------------------------------------------------------===//
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
    for (auto [i, value] : llvm::enumerate(node->getReads())) {
      if (llvm::isa<SaveNode>(node) && i == SaveNode::outputIdx)
        continue;
      const Buffer *buffer = getBuffer(value);
      if (!buffer)
        buffer = views.lookup(value);
      auto found = lastRead.find(buffer);
      if (found == lastRead.end())
        continue;
      found->second = number;
      if (node->getInfo().has(OpTrait::View) && i == 0)
        views[node->getResult()] = buffer;
    }
  }
}

llvm::Error IRGenerator::generateSave(SaveNode &node) {
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
    copySaved({&node, source});
  return llvm::Error::success();
}

void IRGenerator::copySaved(const Saved &save) {
  auto *copy = function.create<CopyInstr>(
      save.node->getName(), getBuffer(save.node->getOutput()), save.source);
  copy->setLoopBounds(
      getCopyBounds(save.node->getInput(), CopyInstr::resultIdx));
}

llvm::Error IRGenerator::run() {
  findSavedPlaceholders();
  for (Node *node : order) {
    finishReductions(*node);
    GLOWISH_RETURN_IF_ERROR(generate(*node));
    auto delayed = delayedSaves.find(position++);
    if (delayed == delayedSaves.end())
      continue;
    for (const Saved &save : delayed->second)
      copySaved(save);
  }
  return llvm::Error::success();
}

//===- Entry points -------------------------------------------------------===//

llvm::Expected<std::unique_ptr<IRFunction>>
glowish::generateIR(Function &function, llvm::ArrayRef<Node *> order) {
  auto ir = std::make_unique<IRFunction>(function.getName());
  IRGenerator generator(function, *ir, order);
  generator.createWeights(function);
  GLOWISH_RETURN_IF_ERROR(generator.run());
  GLOWISH_RETURN_IF_ERROR(insertLifetimes(*ir, IRPassContext()).takeError());
  return std::move(ir);
}
