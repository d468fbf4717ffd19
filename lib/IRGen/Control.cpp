//===- Control.cpp - Branches, loops and calls ----------------------------===//

#include "IRGenerator.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/Support/Error.h"

using namespace glowish;

llvm::SmallVector<Buffer *, 4> IRGenerator::createResults(Node &node) {
  llvm::SmallVector<Buffer *, 4> results;
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    results.push_back(createResult(node, i));
  return results;
}

llvm::SmallVector<Buffer *, 4>
IRGenerator::getBuffers(llvm::ArrayRef<NodeValue> values) {
  llvm::SmallVector<Buffer *, 4> found;
  for (NodeValue value : values)
    found.push_back(getBuffer(value));
  return found;
}

/// Generates a body for each instruction, also where nodes share one: the
/// memory plan has one offset for each buffer.
static llvm::Expected<std::shared_ptr<Body>>
generateBody(const std::shared_ptr<Body> &body) {
  Function &function = getFunction(body);
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> ir,
                           generateIR(function, scheduleNodes(function)));
  return std::make_shared<IRBody>(std::move(ir));
}

llvm::Error IRGenerator::generateIf(IfNode &node) {
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<Body> thenBody,
                           generateBody(node.getThenBody()));
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<Body> elseBody,
                           generateBody(node.getElseBody()));
  auto *branch = function.create<IfInstr>(
      node.getName(), createResults(node), getBuffer(node.getCondition()),
      getBuffers(node.getCaptures()), thenBody, elseBody);
  branch->setPredicate(getBuffer(node.getPredicate()));
  return llvm::Error::success();
}

llvm::Error IRGenerator::generateExternalCall(ExternalCallNode &node) {
  function.create<ExternalCallInstr>(
      node.getName(), createResults(node), getBuffers(node.getInputs()),
      node.getOperatorName().str(), node.getFunction().str(),
      node.getResultTypes().vec(), node.getValues(), node.getAbsent().vec());
  return llvm::Error::success();
}

/// The buffer that is averaged is the result; copies of the input disappear
/// where nothing else reads it. What reads the result has it finished first.
llvm::Error IRGenerator::generateAllReduce(AllReduceNode &node) {
  Buffer *result = createResult(node);
  function.create<CopyInstr>(node.getName(), result,
                             getBuffer(node.getInput()));
  function.create<StartAllReduceInstr>(node.getName(), result);
  unfinished[result] = &node;
  return llvm::Error::success();
}

void IRGenerator::finishReductions(const Node &reader) {
  for (NodeValue value : reader.getReads()) {
    Buffer *buffer = value ? getBuffer(value) : nullptr;
    auto reduction = unfinished.find(buffer);
    if (reduction == unfinished.end())
      continue;
    function.create<FinishAllReduceInstr>(reduction->second->getName(), buffer);
    unfinished.erase(reduction);
  }
}

llvm::Error IRGenerator::generateLoop(LoopNode &node) {
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<Body> body,
                           generateBody(node.getBody()));
  auto *loop = function.create<LoopInstr>(
      node.getName(), createResults(node), getBuffer(node.getTripCount()),
      getBuffer(node.getCondition()), getBuffers(node.getValues()), body,
      node.getNumStates(), node.getMaxTripCount(), node.getOrigin());
  loop->setPredicate(getBuffer(node.getPredicate()));
  return llvm::Error::success();
}
