//===- ControlEvaluation.cpp - Evaluation of branches and loops -----------===//

#include "ReferenceEvaluation.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using namespace glowish::fuzz;

static Evaluation copyEvaluation(const Evaluation &source, unsigned result) {
  Evaluation copy;
  copy.isExact = source.isExact;
  copy.isUnbounded = source.isUnbounded;
  copy.nonFinite.push_back(source.nonFinite[result]);
  copy.hasPole = source.hasPole;
  copy.depth = source.depth;
  copy.largest = source.largest;
  copy.tensors.push_back(source.tensors[result].clone());
  return copy;
}

static Evaluation makeExact(const Type &type, double value) {
  Evaluation evaluation;
  evaluation.isExact = true;
  evaluation.tensors.emplace_back(type);
  evaluation.tensors[0].setFromDouble(0, value);
  evaluation.nonFinite.emplace_back(1);
  return evaluation;
}

/// What is known of the results of a node with bodies.
struct ControlEvaluation : Evaluation {
  /// An infinity or NaN came up for some element.
  bool hasNonFinite = false;
};

/// What is not known of \p source isn't of \p target, which depends on it.
static void degrade(ControlEvaluation &target, const Evaluation &source) {
  target.isExact &= source.isExact;
  target.isUnbounded |= source.isUnbounded;
  target.hasNonFinite |= llvm::any_of(source.nonFinite, hasAny);
  target.hasPole |= source.hasPole;
  target.depth = std::max(target.depth, source.depth);
  target.largest = std::max(target.largest, source.largest);
}

/// The same, which element depends on which is not traced through bodies.
static Evaluation finish(ControlEvaluation evaluation) {
  for (const Tensor &tensor : evaluation.tensors)
    evaluation.nonFinite.emplace_back(tensor.getType().getNumElements(),
                                      evaluation.hasNonFinite);
  return std::move(evaluation);
}

/// Runs \p body once: what is known of its results.
static llvm::Expected<std::vector<Evaluation>>
evaluateBody(Function &body, std::vector<Evaluation> arguments,
             Evaluations &evaluations, RoundingPerturbation *perturbation) {
  for (auto [parameter, argument] :
       llvm::zip_equal(body.getParameters(), arguments))
    evaluations[parameter.get()] = std::move(argument);
  for (Node &node : body.getNodes())
    if (!llvm::isa<SaveNode>(node))
      GLOWISH_RETURN_IF_ERROR(evaluate(node, evaluations, perturbation));
  std::vector<Evaluation> results;
  for (unsigned i = 0; i < body.getResults().size(); ++i) {
    NodeValue value = body.getResultValue(i);
    results.push_back(copyEvaluation(evaluations[value.node], value.result));
  }
  return results;
}

llvm::Error fuzz::evaluateIf(IfNode &node, Evaluations &evaluations,
                             RoundingPerturbation *perturbation) {
  const Evaluation &condition = evaluations[node.getCondition().node];
  bool isTrue = condition.tensors[node.getCondition().result].getAsInt(0) != 0;
  ControlEvaluation evaluation;
  evaluation.isExact = true;
  degrade(evaluation, condition);
  std::vector<Evaluation> arguments;
  for (NodeValue capture : node.getCaptures())
    arguments.push_back(
        copyEvaluation(evaluations[capture.node], capture.result));
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<Evaluation> results,
      evaluateBody(
          getFunction(isTrue ? node.getThenBody() : node.getElseBody()),
          std::move(arguments), evaluations, perturbation));
  for (Evaluation &result : results) {
    degrade(evaluation, result);
    evaluation.tensors.push_back(std::move(result.tensors[0]));
  }
  evaluations[&node] = finish(std::move(evaluation));
  return llvm::Error::success();
}

/// Puts \p element into row \p number of \p scan.
static void storeRow(Tensor &scan, const Tensor &element, int64_t number) {
  if (int64_t bytes = element.getSizeInBytes())
    std::memcpy(static_cast<uint8_t *>(scan.getBytes()) + number * bytes,
                element.getBytes(), bytes);
}

llvm::Error fuzz::evaluateLoop(LoopNode &node, Evaluations &evaluations,
                               RoundingPerturbation *perturbation) {
  ControlEvaluation evaluation;
  evaluation.isExact = true;
  auto get = [&](NodeValue value) {
    Evaluation copy = copyEvaluation(evaluations[value.node], value.result);
    degrade(evaluation, copy);
    return copy;
  };
  int64_t bound = node.getMaxTripCount(), number = 0;
  if (node.getTripCount())
    bound = std::min(bound, get(node.getTripCount()).tensors[0].getAsInt(0));
  Type boolean(ElemKind::Bool, {}), integer(ElemKind::Int64, {});
  Evaluation condition =
      node.getCondition() ? get(node.getCondition()) : makeExact(boolean, 1);
  std::vector<Evaluation> values;
  for (NodeValue value : node.getValues())
    values.push_back(get(value));
  size_t numStates = node.getNumStates();
  std::vector<Tensor> scans;
  for (unsigned i = numStates; i + 1 < node.getNumResults(); ++i)
    scans.emplace_back(node.getType(i));
  for (; number < bound && condition.tensors[0].getAsInt(0); ++number) {
    std::vector<Evaluation> arguments;
    arguments.push_back(makeExact(integer, double(number)));
    arguments.push_back(copyEvaluation(condition, 0));
    for (const Evaluation &value : values)
      arguments.push_back(copyEvaluation(value, 0));
    GLOWISH_ASSIGN_OR_RETURN(std::vector<Evaluation> results,
                             evaluateBody(getFunction(node.getBody()),
                                          std::move(arguments), evaluations,
                                          perturbation));
    for (const Evaluation &result : results)
      degrade(evaluation, result);
    condition = std::move(results[0]);
    for (size_t i = 0; i < numStates; ++i)
      values[i] = std::move(results[1 + i]);
    for (size_t i = 0; i < scans.size(); ++i)
      storeRow(scans[i], results[1 + numStates + i].tensors[0], number);
  }
  for (size_t i = 0; i < numStates; ++i)
    evaluation.tensors.push_back(std::move(values[i].tensors[0]));
  llvm::move(scans, std::back_inserter(evaluation.tensors));
  evaluation.tensors.push_back(
      std::move(makeExact(integer, double(number)).tensors[0]));
  evaluations[&node] = finish(std::move(evaluation));
  return llvm::Error::success();
}
