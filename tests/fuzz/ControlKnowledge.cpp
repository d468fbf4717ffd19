//===- ControlKnowledge.cpp - What is known of branches and loops ---------===//

#include "Knowledge.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using namespace glowish::fuzz;

static Known copyKnown(const Known &source, unsigned result) {
  Known copy;
  copy.isExact = source.isExact;
  copy.isUnknown = source.isUnknown;
  copy.isDelicate = source.isDelicate;
  copy.hasPole = source.hasPole;
  copy.depth = source.depth;
  copy.largest = source.largest;
  copy.tensors.push_back(source.tensors[result].clone());
  return copy;
}

static Known makeExact(const Type &type, double value) {
  Known known;
  known.isExact = true;
  known.tensors.emplace_back(type);
  known.tensors[0].setFromDouble(0, value);
  return known;
}

/// What is not known of \p source isn't of \p target, which depends on it.
static void degrade(Known &target, const Known &source) {
  target.isExact &= source.isExact;
  target.isUnknown |= source.isUnknown;
  target.isDelicate |= source.isDelicate;
  target.hasPole |= source.hasPole;
  target.depth = std::max(target.depth, source.depth);
  target.largest = std::max(target.largest, source.largest);
}

/// Runs \p body once: what is known of its results.
static llvm::Expected<std::vector<Known>>
learnBody(Function &body, std::vector<Known> arguments, Knowledge &knowledge,
          Worsening *worsening) {
  for (auto [parameter, argument] :
       llvm::zip_equal(body.getParameters(), arguments))
    knowledge[parameter.get()] = std::move(argument);
  for (Node &node : body.getNodes())
    if (!llvm::isa<SaveNode>(node))
      GLOWISH_CHECK(learn(node, knowledge, worsening));
  std::vector<Known> results;
  for (unsigned i = 0; i < body.getResults().size(); ++i) {
    NodeValue value = body.getResultValue(i);
    results.push_back(copyKnown(knowledge[value.node], value.result));
  }
  return results;
}

llvm::Error fuzz::learnIf(IfNode &node, Knowledge &knowledge,
                          Worsening *worsening) {
  const Known &condition = knowledge[node.getCondition().node];
  bool isTrue = condition.tensors[node.getCondition().result].getAsInt(0) != 0;
  Known known;
  known.isExact = true;
  degrade(known, condition);
  std::vector<Known> arguments;
  for (NodeValue capture : node.getCaptures())
    arguments.push_back(copyKnown(knowledge[capture.node], capture.result));
  GLOWISH_TRY(
      std::vector<Known> results,
      learnBody(getFunction(isTrue ? node.getThenBody() : node.getElseBody()),
                std::move(arguments), knowledge, worsening));
  for (Known &result : results) {
    degrade(known, result);
    known.tensors.push_back(std::move(result.tensors[0]));
  }
  knowledge[&node] = std::move(known);
  return llvm::Error::success();
}

/// Puts \p element into row \p number of \p scan.
static void storeRow(Tensor &scan, const Tensor &element, int64_t number) {
  if (int64_t bytes = element.getSizeInBytes())
    std::memcpy(static_cast<uint8_t *>(scan.getBytes()) + number * bytes,
                element.getBytes(), bytes);
}

llvm::Error fuzz::learnLoop(LoopNode &node, Knowledge &knowledge,
                            Worsening *worsening) {
  Known known;
  known.isExact = true;
  auto get = [&](NodeValue value) {
    Known copy = copyKnown(knowledge[value.node], value.result);
    degrade(known, copy);
    return copy;
  };
  int64_t bound = node.getMaxTripCount(), number = 0;
  if (node.getTripCount())
    bound = std::min(bound, get(node.getTripCount()).tensors[0].getAsInt(0));
  Type boolean(ElemKind::Bool, {}), integer(ElemKind::Int64, {});
  Known condition =
      node.getCondition() ? get(node.getCondition()) : makeExact(boolean, 1);
  std::vector<Known> values;
  for (NodeValue value : node.getValues())
    values.push_back(get(value));
  size_t numStates = node.getNumStates();
  std::vector<Tensor> scans;
  for (unsigned i = numStates; i + 1 < node.getNumResults(); ++i)
    scans.emplace_back(node.getType(i));
  for (; number < bound && condition.tensors[0].getAsInt(0); ++number) {
    std::vector<Known> arguments;
    arguments.push_back(makeExact(integer, double(number)));
    arguments.push_back(copyKnown(condition, 0));
    for (const Known &value : values)
      arguments.push_back(copyKnown(value, 0));
    GLOWISH_TRY(std::vector<Known> results,
                learnBody(getFunction(node.getBody()), std::move(arguments),
                          knowledge, worsening));
    for (const Known &result : results)
      degrade(known, result);
    condition = std::move(results[0]);
    for (size_t i = 0; i < numStates; ++i)
      values[i] = std::move(results[1 + i]);
    for (size_t i = 0; i < scans.size(); ++i)
      storeRow(scans[i], results[1 + numStates + i].tensors[0], number);
  }
  for (size_t i = 0; i < numStates; ++i)
    known.tensors.push_back(std::move(values[i].tensors[0]));
  llvm::move(scans, std::back_inserter(known.tensors));
  known.tensors.push_back(
      std::move(makeExact(integer, double(number)).tensors[0]));
  knowledge[&node] = std::move(known);
  return llvm::Error::success();
}
