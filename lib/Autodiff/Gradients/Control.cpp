//===- Control.cpp - Gradients of nodes with bodies -----------------------===//
//
// The way back has bodies of its own: they compute the forward body again, from
// the same parameters, and then its gradients.
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
/// Which parameters of a branch want gradients, and which of its results have
/// one.
struct BranchGradient {
  std::vector<unsigned> wanted, seeded;
};
} // namespace

/// A body whose parameters are those of \p forward and the gradients of its
/// results, and whose results are the gradients of its parameters.
static llvm::Expected<std::shared_ptr<FunctionBody>>
makeGradientBody(Function &forward, const BranchGradient &flow) {
  auto body = FunctionBody::create(forward.getModule(),
                                   (forward.getName() + ".grad").str());
  Function &function = body->getFunction();
  Values parameters, variables;
  for (const auto &parameter : forward.getParameters())
    parameters.push_back(
        function.addParameter(parameter->getName(), parameter->getType()));
  for (unsigned index : flow.wanted)
    variables.push_back(parameters[index]);
  std::vector<GradientSeed> seeds;
  for (unsigned index : flow.seeded) {
    const Placeholder &result = *forward.getResults()[index];
    seeds.push_back({{}, function.addParameter("gradient", result.getType())});
  }
  Values results = forward.inlineInto(function, parameters);
  for (auto [seed, index] : llvm::zip_equal(seeds, flow.seeded))
    seed.value = results[index];
  GLOWISH_TRY(std::vector<NodeValue> gradients,
              addGradients(function, seeds, variables));
  for (NodeValue gradient : gradients)
    function.addResult("gradient", gradient);
  return body;
}

llvm::Error glowish::differentiateIf(IfNode &node, GradientContext &g) {
  BranchGradient flow;
  Values captures = node.getCaptures();
  for (unsigned i = 0; i < captures.size(); ++i)
    if (g.wants(node.capturesIdx + i))
      flow.wanted.push_back(i);
  Values inputs = captures;
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    if (NodeValue gradient = g.getGradient(i)) {
      flow.seeded.push_back(i);
      inputs.push_back(gradient);
    }
  GLOWISH_TRY(auto thenBody,
              makeGradientBody(getFunction(node.getThenBody()), flow));
  GLOWISH_TRY(auto elseBody,
              makeGradientBody(getFunction(node.getElseBody()), flow));
  GLOWISH_TRY(IfNode * gradients, g.getFunction().tryCreate<IfNode>(
                                      g.getName(), node.getCondition(),
                                      thenBody, elseBody, inputs));
  for (auto [result, index] : llvm::enumerate(flow.wanted))
    g.accumulate(node.capturesIdx + index, gradients->getResult(result));
  return llvm::Error::success();
}

//===- Loop ---------------------------------------------------------------===//

namespace {

/// The forward loop keeps the states that each round began with. The loop back
/// runs as often, from the last round to the first; its states are what flows
/// back to the forward states, and sums of what flows back to the captures.
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
  bool wantsCapture(unsigned index) const {
    return g.wants(node.valuesIdx + numStates + index);
  }

  LoopNode &node;
  GradientContext &g;
  unsigned numStates;
  Function &forward;
  Values values;
  /// Of each state, one a round; and how many rounds there were.
  Values kept;
  NodeValue count;
  /// Forward states of float kinds, captures that want a gradient, and elements
  /// of scans that something flows back to.
  std::vector<unsigned> states, wanted, scans;
  /// Of the loop back: first states, then captures.
  Values inputs;
};

} // namespace

/// A copy of the loop, in its place, with one more scan for each state.
llvm::Error LoopGradient::keepStates() {
  std::shared_ptr<FunctionBody> body = forward.cloneBody();
  Function &copy = body->getFunction();
  for (unsigned i = 0; i < numStates; ++i)
    copy.addResult("kept", NodeValue(copy.getParameters()[2 + i].get()));
  InsertionGuard guard(g.getFunction(), &node);
  GLOWISH_TRY(LoopNode * loop,
              g.getFunction().tryCreate<LoopNode>(
                  node.getName(), node.getTripCount(), node.getCondition(),
                  body, numStates, node.getMaxTripCount(), values));
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
    if (!wantsCapture(i))
      continue;
    wanted.push_back(i);
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

/// One round back. Parameters: its number, the condition, and inputs.
llvm::Error LoopGradient::makeBody(FunctionBody &body) {
  Function &function = body.getFunction();
  Type scalar(ElemKind::Int64, Dims()), flag(ElemKind::Bool, Dims());
  NodeValue number = function.addParameter("round", scalar);
  function.addParameter("condition", flag);
  Values parameters;
  for (NodeValue input : inputs)
    parameters.push_back(function.addParameter("value", input.getType()));
  unsigned numFlows = states.size() + wanted.size();
  llvm::ArrayRef<NodeValue> rest = llvm::ArrayRef(parameters);
  auto take = [&](size_t size) {
    llvm::ArrayRef<NodeValue> taken = rest.take_front(size);
    rest = rest.drop_front(size);
    return taken;
  };
  auto flows = take(numFlows);
  NodeBuilder b(function, "round");
  NodeValue index = b.sub(b.sub(take(1)[0], number), 1);
  Values arguments = {index, b.scalar(ElemKind::Bool, 1)};
  for (NodeValue stack : take(numStates))
    arguments.push_back(b.gather(stack, index, 0));
  llvm::append_range(arguments, take(getCaptures().size()));
  GLOWISH_CHECK(b.takeError());

  Values results = forward.inlineInto(function, arguments);
  std::vector<GradientSeed> seeds;
  Values variables;
  for (auto [i, state] : llvm::enumerate(states)) {
    seeds.push_back({results[1 + state], flows[i]});
    variables.push_back(arguments[2 + state]);
  }
  for (unsigned capture : wanted)
    variables.push_back(arguments[2 + numStates + capture]);
  for (auto [scan, stack] : llvm::zip_equal(scans, take(scans.size())))
    seeds.push_back({results[1 + numStates + scan], b.gather(stack, index, 0)});
  GLOWISH_CHECK(b.takeError());
  GLOWISH_TRY(std::vector<NodeValue> gradients,
              addGradients(function, seeds, variables));
  function.addResult("condition", b.scalar(ElemKind::Bool, 1));
  for (auto [i, gradient] : llvm::enumerate(gradients))
    function.addResult(
        "gradient", i < states.size() ? gradient : b.add(flows[i], gradient));
  return b.takeError();
}

llvm::Error LoopGradient::run() {
  addStates();
  if (node.getMaxTripCount() > 0) {
    GLOWISH_CHECK(keepStates());
    addCaptures();
    unsigned numFlows = states.size() + wanted.size();
    auto body = FunctionBody::create(forward.getModule(),
                                     (forward.getName() + ".grad").str());
    GLOWISH_CHECK(makeBody(*body));
    GLOWISH_TRY(LoopNode * loop, g.getFunction().tryCreate<LoopNode>(
                                     g.getName(), count, NodeValue(), body,
                                     numFlows, node.getMaxTripCount(), inputs));
    for (unsigned i = 0; i < numFlows; ++i)
      inputs[i] = loop->getResult(i);
  }
  for (auto [i, state] : llvm::enumerate(states))
    g.accumulate(node.valuesIdx + state, inputs[i]);
  for (auto [i, capture] : llvm::enumerate(wanted))
    g.accumulate(node.valuesIdx + numStates + capture,
                 inputs[states.size() + i]);
  return llvm::Error::success();
}

llvm::Error glowish::differentiateLoop(LoopNode &node, GradientContext &g) {
  return LoopGradient(node, g).run();
}
