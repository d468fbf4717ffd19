//===- IRGen.cpp - From scheduled nodes to instructions -------------------===//

#include "glowish/IRGen/IRGen.h"
#include "IRGenerator.h"
#include "glowish/IR/Passes.h"
#include "glowish/Support/Error.h"

using namespace glowish;

void IRGenerator::createWeights(Function &graph) {
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
    buffers[NodeValue(placeholder.get())] = function.createMutable(
        placeholder->getName(), placeholder->getType(),
        placeholder->getModelName(), placeholder->isInput(),
        placeholder->isOutput());
}

Buffer *IRGenerator::createResult(Node &node, unsigned result) {
  Buffer *buffer =
      function.createActivation(node.getName(), node.getType(result));
  buffers[node.getResult(result)] = buffer;
  return buffer;
}

Dims IRGenerator::getStrides(const Buffer *buffer) {
  return buffer->isView() ? Dims(buffer->getStrides())
                          : getDenseStrides(buffer->getShape());
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
  Dims own = getStrides(buffer), strides(shape.size(), 0);
  unsigned missing = shape.size() - own.size();
  for (unsigned d = 0; d < own.size(); ++d)
    if (buffer->getType().getDim(d) != 1)
      strides[missing + d] = own[d];
  return function.createView(buffer->getName(), buffer,
                             buffer->getType().withShape(shape),
                             buffer->getOffset(), strides);
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
    Buffer *input =
        broadcast(getBuffer(value), node.getType().getShape());
    auto found = llvm::find_if(inputs, [&](Buffer *other) {
      return other == input || (other->isView() && input->isView() &&
                                other->getRoot() == input->getRoot() &&
                                other->getOffset() == input->getOffset() &&
                                other->getStrides() == input->getStrides());
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

llvm::Error IRGenerator::emitSameName(Node &node) {
  std::optional<InstrKind> kind = findInstrKind(node.getKindName());
  if (!kind)
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

llvm::Error IRGenerator::visitNode(Node &node) {
  if (!isElementWise(node))
    return emitSameName(node);
  emitElementWise(node);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<IRFunction>>
glowish::generateIR(Function &function, llvm::ArrayRef<Node *> order) {
  auto ir = std::make_unique<IRFunction>(function.getName());
  IRGenerator generator(*ir);
  generator.createWeights(function);
  for (Node *node : order)
    GLOWISH_CHECK(generator.visit(*node));
  GLOWISH_CHECK(placeLifetimes(*ir, IRPassContext()).takeError());
  return std::move(ir);
}
