//===- Control.cpp - Gradients of control-flow nodes ----------------------===//
//
// The bodies of the backward pass recompute the forward body from the same
// parameters and then compute its gradients.
//
//===----------------------------------------------------------------------===//

#include "../GradientContext.h"
#include "glowish/Autodiff/Gradients.h"
#include "glowish/Support/Error.h"

using namespace glowish;

using Values = llvm::SmallVector<NodeValue, 4>;

static bool isFloat(NodeValue value) {
  return value && isFloatKind(value.getElemKind());
}

//===- If -----------------------------------------------------------------===//

namespace {
/// Parameters of a branch whose gradients are needed, and results that have an
/// adjoint.
struct BranchGradient {
  std::vector<unsigned> needed, seeded;
};
} // namespace

/// Builds a body that takes the parameters of \p forward and the adjoints of
/// its results, and returns the gradients of its parameters.
static llvm::Expected<std::shared_ptr<FunctionBody>>
makeGradientBody(Function &forward, const BranchGradient &selection) {
  auto body = FunctionBody::create(forward.getModule(),
                                   (forward.getName() + ".grad").str());
  Function &function = body->getFunction();
  Values parameters, variables;
  for (const auto &parameter : forward.getParameters())
    parameters.push_back(
        function.addParameter(parameter->getName(), parameter->getType()));
  for (unsigned index : selection.needed)
    variables.push_back(parameters[index]);
  std::vector<GradientSeed> seeds;
  for (unsigned index : selection.seeded) {
    const Placeholder &result = *forward.getResults()[index];
    seeds.push_back({{}, function.addParameter("gradient", result.getType())});
  }
  Values results = forward.inlineInto(function, parameters);
  for (auto [seed, index] : llvm::zip_equal(seeds, selection.seeded))
    seed.value = results[index];
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> gradients,
                           addGradients(function, seeds, variables));
  for (NodeValue gradient : gradients)
    function.addResult("gradient", gradient);
  return body;
}

/// Makes an If of bodies that compute the gradients.
static llvm::Error makeGradientIf(IfNode &node, GradientContext &g) {
  BranchGradient selection;
  Values captures = node.getCaptures();
  for (unsigned i = 0; i < captures.size(); ++i)
    if (g.needsGradient(node.capturesIdx + i))
      selection.needed.push_back(i);
  Values inputs = captures;
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    if (NodeValue gradient = g.getGradient(i)) {
      selection.seeded.push_back(i);
      inputs.push_back(gradient);
    }
  GLOWISH_ASSIGN_OR_RETURN(
      auto thenBody,
      makeGradientBody(getFunction(node.getThenBody()), selection));
  GLOWISH_ASSIGN_OR_RETURN(
      auto elseBody,
      makeGradientBody(getFunction(node.getElseBody()), selection));
  GLOWISH_ASSIGN_OR_RETURN(
      IfNode *gradients,
      g.getFunction().tryCreate<IfNode>(g.getName(), node.getCondition(),
                                        thenBody, elseBody, inputs));
  for (auto [result, index] : llvm::enumerate(selection.needed))
    g.accumulate(node.capturesIdx + index, gradients->getResult(result));
  return llvm::Error::success();
}

void glowish::differentiateIf(IfNode &node, GradientContext &g) {
  g.keepError(makeGradientIf(node, g));
}

//===- Loop ---------------------------------------------------------------===//

namespace {

/// The forward loop records the states at the start of each iteration. The
/// backward loop runs the iterations in reverse order; its states are the
/// adjoints of the forward states and the accumulated adjoints of the captures.
class LoopGradient {
public:
  LoopGradient(LoopNode &node, GradientContext &g)
      : node(node), g(g), numStates(node.getNumStates()),
        forward(getFunction(node.getBody())), values(node.getValues()) {}
  llvm::Error run();

private:
  llvm::Error keepStates();
  void addStates();
  void addCaptures();
  llvm::Error makeBody(FunctionBody &body);
  llvm::ArrayRef<NodeValue> getCaptures() const {
    return llvm::ArrayRef(values).drop_front(numStates);
  }
  bool captureNeedsGradient(unsigned index) const {
    return g.needsGradient(node.valuesIdx + numStates + index);
  }

  LoopNode &node;
  GradientContext &g;
  unsigned numStates;
  Function &forward;
  Values values;
  /// The recorded states, stacked along the iterations, and the number of
  /// iterations.
  Values kept;
  NodeValue count;
  /// Forward states of float kinds, captures that need a gradient, and scan
  /// outputs that have an adjoint.
  std::vector<unsigned> states, needed, scans;
  /// Operands of the backward loop: states, then captures.
  Values inputs;
};

} // namespace

/// Replaces the loop by a copy with one more scan output per state.
llvm::Error LoopGradient::keepStates() {
  std::shared_ptr<FunctionBody> body = forward.cloneBody();
  Function &copy = body->getFunction();
  for (unsigned i = 0; i < numStates; ++i)
    copy.addResult("kept", NodeValue(copy.getParameters()[2 + i].get()));
  InsertionGuard guard(g.getFunction(), &node);
  GLOWISH_ASSIGN_OR_RETURN(
      LoopNode *loop,
      g.getFunction().tryCreate<LoopNode>(
          node.getName(), node.getTripCount(), node.getCondition(), body,
          numStates, node.getMaxTripCount(), values, node.getOrigin()));
  unsigned last = node.getNumResults() - 1;
  Values results;
  for (unsigned i = 0; i < last; ++i)
    results.push_back(loop->getResult(i));
  for (unsigned i = 0; i < numStates; ++i)
    kept.push_back(loop->getResult(last + i));
  count = loop->getResult(loop->getNumResults() - 1);
  results.push_back(count);
  g.replaceForward(results);
  return llvm::Error::success();
}

void LoopGradient::addStates() {
  for (unsigned i = 0; i < numStates; ++i) {
    if (!isFloat(values[i]))
      continue;
    states.push_back(i);
    NodeValue gradient = g.getGradient(i);
    inputs.push_back(gradient ? gradient : g.zeros(values[i].getType()));
  }
  for (unsigned i = 0; i < getCaptures().size(); ++i) {
    if (!captureNeedsGradient(i))
      continue;
    needed.push_back(i);
    inputs.push_back(g.zeros(getCaptures()[i].getType()));
  }
}

void LoopGradient::addCaptures() {
  inputs.push_back(count);
  inputs.append(kept);
  llvm::append_range(inputs, getCaptures());
  for (unsigned i = numStates; i + 1 < node.getNumResults(); ++i)
    if (NodeValue gradient = g.getGradient(i)) {
      scans.push_back(i - numStates);
      inputs.push_back(gradient);
    }
}

/// One backward iteration. Parameters: iteration number, condition, inputs.
llvm::Error LoopGradient::makeBody(FunctionBody &body) {
  Function &function = body.getFunction();
  Type scalar(ElemKind::Int64, Dims()), flag(ElemKind::Bool, Dims());
  NodeValue number = function.addParameter("round", scalar);
  function.addParameter("condition", flag);
  Values parameters;
  for (NodeValue input : inputs)
    parameters.push_back(function.addParameter("value", input.getType()));
  unsigned numAdjoints = states.size() + needed.size();
  llvm::ArrayRef<NodeValue> rest = llvm::ArrayRef(parameters);
  auto take = [&](size_t size) {
    llvm::ArrayRef<NodeValue> taken = rest.take_front(size);
    rest = rest.drop_front(size);
    return taken;
  };
  auto adjoints = take(numAdjoints);
  NodeBuilder b(function, "round");
  NodeValue index = b.sub(b.sub(take(1)[0], number), 1);
  Values arguments = {index, b.scalar(ElemKind::Bool, 1)};
  for (NodeValue stack : take(numStates))
    arguments.push_back(b.gather(stack, index, 0));
  llvm::append_range(arguments, take(getCaptures().size()));
  GLOWISH_RETURN_IF_ERROR(b.takeError());

  Values results = forward.inlineInto(function, arguments);
  std::vector<GradientSeed> seeds;
  Values variables;
  for (auto [i, state] : llvm::enumerate(states)) {
    seeds.push_back({results[1 + state], adjoints[i]});
    variables.push_back(arguments[2 + state]);
  }
  for (unsigned capture : needed)
    variables.push_back(arguments[2 + numStates + capture]);
  for (auto [scan, stack] : llvm::zip_equal(scans, take(scans.size())))
    seeds.push_back({results[1 + numStates + scan], b.gather(stack, index, 0)});
  GLOWISH_RETURN_IF_ERROR(b.takeError());
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> gradients,
                           addGradients(function, seeds, variables));
  function.addResult("condition", b.scalar(ElemKind::Bool, 1));
  for (auto [i, gradient] : llvm::enumerate(gradients))
    function.addResult("gradient", i < states.size()
                                       ? gradient
                                       : b.add(adjoints[i], gradient));
  return b.takeError();
}

llvm::Error LoopGradient::run() {
  addStates();
  if (node.getMaxTripCount() > 0) {
    GLOWISH_RETURN_IF_ERROR(keepStates());
    addCaptures();
    unsigned numAdjoints = states.size() + needed.size();
    auto body = FunctionBody::create(forward.getModule(),
                                     (forward.getName() + ".grad").str());
    GLOWISH_RETURN_IF_ERROR(makeBody(*body));
    GLOWISH_ASSIGN_OR_RETURN(LoopNode *loop,
                             g.getFunction().tryCreate<LoopNode>(
                                 g.getName(), count, NodeValue(), body,
                                 numAdjoints, node.getMaxTripCount(), inputs));
    for (unsigned i = 0; i < numAdjoints; ++i)
      inputs[i] = loop->getResult(i);
  }
  for (auto [i, state] : llvm::enumerate(states))
    g.accumulate(node.valuesIdx + state, inputs[i]);
  for (auto [i, capture] : llvm::enumerate(needed))
    g.accumulate(node.valuesIdx + numStates + capture,
                 inputs[states.size() + i]);
  return llvm::Error::success();
}

void glowish::differentiateLoop(LoopNode &node, GradientContext &g) {
  g.keepError(LoopGradient(node, g).run());
}

//===- Processes ----------------------------------------------------------===//

/// Each process differentiates its own loss, of which the group learns the
/// mean: an input has 1/N of the effect on each of the N results.
void glowish::differentiateAllReduce(AllReduceNode &node, GradientContext &g) {
  g.accumulate(node.inputIdx, g.make<AllReduceNode>(g.getGradient()));
}
