//===- While.cpp - Loops over subgraphs -----------------------------------===//
//
// A loop is unrolled if its conditions are constants and the result is small;
// otherwise it becomes a Loop node, which needs a bound.
//
//===----------------------------------------------------------------------===//

#include "TFLite/Subgraphs.h"

using namespace glowish;
using namespace glowish::tflite;

namespace {

class WhileImporter {
public:
  WhileImporter(TFLiteOp &op, OperatorOptions<schema::WhileOptions> options);

  llvm::Expected<TFLiteValues> import();

private:
  /// Null if a condition is not constant, or if there are too many iterations.
  llvm::Expected<std::optional<TFLiteValues>> unroll();
  llvm::Expected<std::optional<TFLiteValues>> unrollIterations();
  llvm::Expected<NodeValue> importCondition(llvm::ArrayRef<TFLiteValue> states,
                                            Function &function,
                                            VariableScope &variables);
  void findInvariants();
  llvm::Error importBody(OpenBody &body, VariableScope &inside);
  llvm::Error checkNext(size_t index, const TFLiteValue &next) const;
  llvm::Error makeLoop();

  TFLiteOp &op;
  int32_t condition, body;
  VariableScope &variables;
  TFLiteValues states;
  /// Whether a state is what the body gets of it, in each iteration.
  std::vector<bool> isInvariant;
  /// The variables that the body assigns: further states of the Loop node.
  std::vector<TFLiteVariable *> assigned;
};

} // namespace

WhileImporter::WhileImporter(TFLiteOp &op,
                             OperatorOptions<schema::WhileOptions> options)
    : op(op), condition(options.get<"cond_subgraph_index">()),
      body(options.get<"body_subgraph_index">()),
      variables(op.getContext().variables), states(getValues(op)),
      isInvariant(states.size()) {}

/// Imports the condition subgraph and returns its only output.
llvm::Expected<NodeValue>
WhileImporter::importCondition(llvm::ArrayRef<TFLiteValue> values,
                               Function &function, VariableScope &inside) {
  GLOWISH_ASSIGN_OR_RETURN(
      TFLiteValues outputs,
      importSubgraph(op, condition, values, function, inside));
  if (outputs.size() != 1)
    return makeError("{0} has {1} outputs; accepted: 1",
                     describeSubgraph(op, condition), outputs.size());
  GLOWISH_RETURN_IF_ERROR(checkCondition(outputs[0]));
  return outputs[0].tensor;
}

/// \p value, a condition, in the shape that a Loop node takes.
static llvm::Expected<NodeValue> makeScalar(Function &function,
                                            NodeValue value) {
  NodeBuilder b(function, "condition");
  return b.finish(b.reshape(value, {}));
}

//===- Unrolling ----------------------------------------------------------===//

llvm::Expected<std::optional<TFLiteValues>> WhileImporter::unrollIterations() {
  TFLiteModelState &model = op.getContext().model;
  int64_t most =
      std::max<int64_t>(maxUnrolledNodes / (model.countOperators(condition) +
                                            model.countOperators(body)),
                        1);
  TFLiteValues current = states;
  for (int64_t number = 0;; ++number) {
    GLOWISH_ASSIGN_OR_RETURN(
        NodeValue continues,
        importCondition(current, op.getFunction(), variables));
    auto *known = continues.getNodeAs<Constant>();
    if (!known)
      return std::nullopt;
    if (known->getTensor().getAsInt(0) == 0)
      return current;
    if (number == most)
      return std::nullopt;
    GLOWISH_ASSIGN_OR_RETURN(current, importSubgraph(op, body, current));
  }
}

llvm::Expected<std::optional<TFLiteValues>> WhileImporter::unroll() {
  Function &function = op.getFunction();
  Node *last =
      function.getNodes().empty() ? nullptr : &function.getNodes().back();
  VariableScope before = variables;
  auto values = unrollIterations();
  if (values && *values)
    return values;
  variables = std::move(before);
  eraseNodesBehind(function, last);
  return values;
}

//===- Loop nodes ---------------------------------------------------------===//

/// What the body returns as it gets it is the same in all iterations.
void WhileImporter::findInvariants() {
  const schema::SubGraph *graph = op.getContext().model.file.findSubgraph(body);
  if (!graph)
    return;
  llvm::ArrayRef<int32_t> inputs = getIndices(graph->inputs()),
                          outputs = getIndices(graph->outputs());
  for (size_t i = 0; i < isInvariant.size(); ++i)
    isInvariant[i] =
        i < inputs.size() && i < outputs.size() && inputs[i] == outputs[i];
}

/// An error unless \p next can be state \p index of the next iteration.
llvm::Error WhileImporter::checkNext(size_t index,
                                     const TFLiteValue &next) const {
  const TFLiteValue &first = states[index];
  if (first.resource || next.resource) {
    if (first.resource == next.resource)
      return llvm::Error::success();
    return makeError("state {0} becomes another variable; accepted: the same "
                     "one",
                     index);
  }
  if (first.tensor.getType() != next.tensor.getType())
    return makeError("state {0} is {1} at first and then {2}; accepted: one "
                     "type, or constant conditions",
                     index, first.tensor.getType().str(),
                     next.tensor.getType().str());
  if (first.quantization != next.quantization)
    return makeError("state {0} has other scales or zero points after an "
                     "iteration; accepted: the same ones",
                     index);
  return llvm::Error::success();
}

/// Imports an iteration: the body, and the condition for its results.
llvm::Error WhileImporter::importBody(OpenBody &loop, VariableScope &inside) {
  loop.addParameter("number", Type(ElemKind::Int64, {}));
  loop.addParameter("condition", Type(ElemKind::Bool, {}));
  TFLiteValues current = states;
  for (auto [i, state] : llvm::enumerate(current))
    if (state.tensor && !isInvariant[i])
      state.tensor = loop.addParameter("state", state.tensor.getType());
  for (TFLiteVariable *variable : assigned)
    inside.begin(*variable, loop.addParameter(variable->name, *variable->type));
  // Captures come last.
  for (auto [i, state] : llvm::enumerate(current))
    if (state.tensor && isInvariant[i])
      state.tensor = loop.enter(state.tensor);
  Function &function = loop.getFunction();
  GLOWISH_ASSIGN_OR_RETURN(TFLiteValues next,
                           importSubgraph(op, body, current, function, inside));
  if (next.size() != states.size())
    return makeError("{0} has {1} outputs; accepted: {2}, as many as inputs",
                     describeSubgraph(op, body), next.size(), states.size());
  for (auto [i, value] : llvm::enumerate(next)) {
    GLOWISH_RETURN_IF_ERROR(checkNext(i, value));
    if (isInvariant[i] && value.tensor != current[i].tensor)
      return makeError("{0} computes its input {1}; accepted: inputs that "
                       "nothing else computes",
                       describeSubgraph(op, body), i);
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue continues,
                           importCondition(next, function, inside));
  GLOWISH_ASSIGN_OR_RETURN(continues, makeScalar(function, continues));
  function.addResult("next", continues);
  for (auto [i, value] : llvm::enumerate(next))
    if (value.tensor && !isInvariant[i])
      function.addResult("next", value.tensor);
  for (TFLiteVariable *variable : assigned)
    function.addResult(variable->name, inside.read(*variable));
  return llvm::Error::success();
}

llvm::Error WhileImporter::makeLoop() {
  int64_t most = op.getContext().options.maxTripCount;
  if (most == 0)
    return makeError("the loop has no bound; accepted: constant conditions for "
                     "few iterations, or «max-trip-count=N»");
  findInvariants();
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue begins, importCondition(states, op.getFunction(), variables));
  GLOWISH_ASSIGN_OR_RETURN(begins, makeScalar(op.getFunction(), begins));
  std::optional<OpenBody> loop;
  std::optional<VariableScope> inside;
  // Which variables the body assigns shows when it is imported.
  for (bool isComplete = false; !isComplete;) {
    inside.emplace(loop.emplace(op.getFunction().getModule(), "body"),
                   variables);
    GLOWISH_RETURN_IF_ERROR(importBody(*loop, *inside));
    isComplete = true;
    for (TFLiteVariable *variable : inside->getAssigned())
      if (!llvm::is_contained(assigned, variable)) {
        assigned.push_back(variable);
        isComplete = false;
      }
  }
  std::vector<NodeValue> values;
  for (auto [i, state] : llvm::enumerate(states))
    if (state.tensor && !isInvariant[i])
      values.push_back(state.tensor);
  for (TFLiteVariable *variable : assigned)
    values.push_back(variables.read(*variable));
  auto numStates = int64_t(values.size());
  llvm::append_range(values, loop->getCaptures());
  // The bound is an assumption, which the loop checks.
  NodeValue trips = op.createConstant(Tensor::fromValues<int64_t>(
      Type(ElemKind::Int64, {}), {std::numeric_limits<int64_t>::max()}));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(LoopNode *node,
                           op.getFunction().tryCreate<LoopNode>(
                               op.getName(), trips, begins, loop->getAttr(),
                               numStates, most, values,
                               describeNode(op.getName(), "WHILE")));
  unsigned next = 0;
  for (auto [i, state] : llvm::enumerate(states))
    if (state.tensor && !isInvariant[i])
      state.tensor = node->getResult(next++);
  for (TFLiteVariable *variable : assigned)
    variables.assign(*variable, node->getResult(next++));
  return llvm::Error::success();
}

llvm::Expected<TFLiteValues> WhileImporter::import() {
  GLOWISH_ASSIGN_OR_RETURN(std::optional<TFLiteValues> values, unroll());
  if (values)
    return std::move(*values);
  GLOWISH_RETURN_IF_ERROR(makeLoop());
  return states;
}

static llvm::Error importWhile(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(auto options,
                           op.requireOptions<schema::WhileOptions>());
  GLOWISH_ASSIGN_OR_RETURN(TFLiteValues outputs,
                           WhileImporter(op, options).import());
  return setOutputs(op, outputs);
}

static const TFLiteOperators operators = {
    {"WHILE",
     importWhile,
     {.inputs = {0, manyInputs},
      .minOutputs = 0,
      .takesResources = true,
      .needsKnownExtents = true,
      .limit = "states of one type, or few iterations with constant "
               "conditions; «max-trip-count» states a bound"}}};
