//===- Evaluator.cpp - Computing a node at compile time -------------------===//

#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Base/Permute.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/Optimizer/Passes.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Task.h"

using namespace glowish;

/// A copy of \p node in a function of its own: constants as operands, one
/// placeholder a result.
static llvm::Expected<Function *> isolate(const Node &node, Module &module,
                                          std::vector<Placeholder *> &outputs) {
  Function *function = module.createFunction("evaluate");
  NodeDraft draft = node.getDraft();
  for (NodeValue &value : draft.operands)
    if (value)
      value =
          module.createConstant(value.node->getName(),
                                llvm::cast<Constant>(value.node)->getPayload());
  llvm::Expected<Node *> copy =
      function->tryCreate(node.getName(), std::move(draft));
  if (!copy)
    return copy.takeError();
  for (unsigned i = 0; i < node.getNumResults(); ++i) {
    outputs.push_back(module.createPlaceholder("out", node.getType(i),
                                               /*isInput=*/false,
                                               /*isOutput=*/true));
    function->create<SaveNode>("save", (*copy)->getResult(i),
                               NodeValue(outputs.back()));
  }
  return function;
}

llvm::Error glowish::lowerForInterpreter(Function &function) {
  std::unique_ptr<Backend> interpreter = createInterpreter();
  GraphPassContext context;
  context.isSupported = [&](const Node &node) {
    return interpreter->isSupported(node);
  };
  return runPipeline<Function, GraphPassContext>(
             {{{"lower-extents"}, /*toFixedPoint=*/false},
              {{"lower"}, /*toFixedPoint=*/true}},
             getGraphPasses(), function, context)
      .takeError();
}

/// The result of a node that moves all elements of a constant, without a
/// program of the interpreter, which has copies of it: weights are large.
static std::optional<Tensor> moveElements(const Node &node) {
  auto getElements = [](NodeValue value) -> const Tensor & {
    return *llvm::cast<Constant>(value.node)->getPayload();
  };
  if (auto *transpose = llvm::dyn_cast<TransposeNode>(&node))
    return permute(getElements(transpose->getInput()),
                   transpose->getPermutation());
  if (auto *reshape = llvm::dyn_cast<ReshapeNode>(&node))
    return getElements(reshape->getInput()).copyOrDefer();
  return std::nullopt;
}

llvm::Expected<std::vector<Tensor>> glowish::evaluateNode(const Node &node) {
  GLOWISH_RETURN_IF_ERROR(checkCancelled());
  GLOWISH_VLOG(3, "computed now: {0} '{1}'", node.getKindName(),
               node.getName());
  LogPause pause;
  if (std::optional<Tensor> moved = moveElements(node)) {
    GLOWISH_RETURN_IF_ERROR(checkCancelled());
    std::vector<Tensor> results;
    // Scales that run along a dimension run along another one then.
    results.push_back(std::move(*moved).withType(node.getType()));
    return results;
  }
  Module module("evaluate");
  std::vector<Placeholder *> outputs;
  GLOWISH_ASSIGN_OR_RETURN(Function *function, isolate(node, module, outputs));

  // Not more: a pipeline with constant folding would come back here.
  GLOWISH_RETURN_IF_ERROR(lowerForInterpreter(*function));
  std::unique_ptr<Backend> interpreter = createInterpreter();
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> ir,
                           generateIR(*function, scheduleNodes(*function)));
  MemoryPlan plan = planMemory(*ir);
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Executable> program,
                           interpreter->compile(*ir, plan));

  Type bytes(ElemKind::UInt8, {0});
  auto region = [&](uint64_t size) {
    return Tensor(bytes.withShape({int64_t(size)}));
  };
  Tensor constants = makeConstantRegion(*ir, plan);
  Tensor mutables = region(plan.mutableSize);
  Tensor activations = region(plan.activationSize);
  std::vector<const Buffer *> outputBuffers;
  for (const auto &buffer : ir->getBuffers()) {
    if (buffer->getKind() == Buffer::Kind::Mutable)
      outputBuffers.push_back(buffer.get());
  }
  if (llvm::Error error = program->run(constants.data<uint8_t>().data(),
                                       mutables.data<uint8_t>().data(),
                                       activations.data<uint8_t>().data()))
    return std::move(error);
  std::vector<Tensor> results;
  results.reserve(outputBuffers.size());
  for (const Buffer *buffer : outputBuffers)
    results.push_back(
        Tensor::borrow(buffer->getType(),
                       mutables.data<uint8_t>().data() + plan.getOffset(buffer))
            .clone());
  return results;
}
