//===- Gradients.cpp - torch.autograd.grad() in programs ------------------===//
//
// A program that differentiates what it computes, as a force field does its
// energy, gets the nodes of the gradient where it asks for it.
//
//===----------------------------------------------------------------------===//

#include "glowish/Autodiff/Gradients.h"
#include "Common/Messages.h"
#include "TorchScript/Interpreter.h"

using namespace glowish;
using namespace glowish::torchscript;

/// Returns the elements of a list that has tensors only, input \p index.
static llvm::Expected<std::vector<NodeValue>> readTensors(ScriptCall &call,
                                                          unsigned index) {
  if (!call.inputs[index].isList())
    return call.refuse(index, "a list of tensors");
  std::vector<NodeValue> values;
  for (const ScriptValue &element : call.inputs[index].getList().elements) {
    if (!element.isTensor())
      return call.refuse(index, "a list of tensors");
    GLOWISH_ASSIGN_OR_RETURN(NodeValue value,
                             call.in.memory.read(element.getTensor()->place));
    values.push_back(value);
  }
  return values;
}

/// Returns the nodes that one of \p outputs is computed of.
static llvm::DenseSet<const Node *>
findComputedOf(llvm::ArrayRef<NodeValue> outputs) {
  llvm::DenseSet<const Node *> seen;
  std::vector<const Node *> open;
  auto visit = [&](NodeValue value) {
    if (value && seen.insert(value.node).second)
      open.push_back(value.node);
  };
  llvm::for_each(outputs, visit);
  while (!open.empty()) {
    const Node *node = open.back();
    open.pop_back();
    for (unsigned i = 0; i < node->getNumOperands(); ++i)
      visit(node->getOperand(i));
  }
  return seen;
}

/// Makes seeds of the gradients that the program states for \p outputs, or
/// ones.
static llvm::Expected<std::vector<GradientSeed>>
makeSeeds(ScriptCall &call, llvm::ArrayRef<NodeValue> outputs) {
  ScriptInterpreter &in = call.in;
  NodeBuilder b(in.getFunction(), in.memory.nodeName);
  std::vector<GradientSeed> seeds;
  for (auto [i, output] : llvm::enumerate(outputs)) {
    const ScriptValue *stated = nullptr;
    if (call.inputs[2].isList()) {
      const ScriptValues &all = call.inputs[2].getList().elements;
      if (all.size() != outputs.size())
        return call.refuse(2, "a gradient for each output");
      stated = &all[i];
    }
    GradientSeed seed{output, {}};
    if (stated && stated->isTensor()) {
      GLOWISH_ASSIGN_OR_RETURN(seed.gradient,
                               in.memory.read(stated->getTensor()->place));
      if (seed.gradient.getType() != output.getType())
        return call.refuse(2, "gradients of the outputs' types");
    } else if (output.getType().getNumElements() == 1) {
      GLOWISH_ASSIGN_OR_RETURN(
          seed.gradient,
          b.finish(b.splat(output.getElemKind(), output.getShape(), 1)));
    } else {
      return makeError("output {0} is {1} and has no gradient; accepted: a "
                       "scalar, or grad_outputs",
                       i, output.getType().str());
    }
    seeds.push_back(seed);
  }
  return seeds;
}

/// grad(outputs, inputs, grad_outputs, retain_graph, create_graph,
/// allow_unused).
static llvm::Expected<bool> importGrad(ScriptCall &call) {
  ScriptInterpreter &in = call.in;
  if (in.stopsGradients)
    return makeError("the program has detach() or torch.no_grad(), and "
                     "differentiates; accepted: one of both");
  if (!in.options.symbolRanges.empty())
    return makeError("the program differentiates, and a run decides the symbol "
                     "{0}; accepted: a value of it",
                     quote(in.options.symbolRanges.begin()->first));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> outputs,
                           readTensors(call, 0));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> inputs, readTensors(call, 1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<GradientSeed> seeds,
                           makeSeeds(call, outputs));
  llvm::DenseSet<const Node *> used = findComputedOf(outputs);
  bool isUnusedAllowed =
      call.inputs.size() > 5 && areEqual(call.inputs[5], true) == true;
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> gradients,
                           addGradients(in.getFunction(), seeds, inputs));
  ScriptValues results;
  for (auto [i, input, gradient] : llvm::enumerate(inputs, gradients)) {
    bool isUsed = used.contains(input.node);
    if (!isUsed && !isUnusedAllowed)
      return makeError("no output is computed of input {0} in this block; "
                       "accepted: inputs that are used, or allow_unused",
                       i);
    results.push_back(isUsed ? in.makeTensor(gradient) : ScriptValue());
  }
  return call.done(in.makeList(std::move(results)));
}
static const ScriptOperators gradients(importGrad, {"aten::grad"});

/// Notes that a part is not differentiated; otherwise it is as any operator.
static llvm::Expected<bool> importDetach(ScriptCall &call) {
  call.in.stopsGradients = true;
  return false;
}
static const ScriptOperators detaching(importDetach, {"aten::detach"});
