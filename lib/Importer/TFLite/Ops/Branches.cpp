//===- Branches.cpp - Subgraphs that run once or not at all ---------------===//

#include "TFLite/Boundary.h"
#include "TFLite/Subgraphs.h"

using namespace glowish;
using namespace glowish::tflite;

namespace {

/// A branch that is being imported; without a subgraph it does nothing.
struct Branch {
  Branch(TFLiteOp &op, llvm::StringRef name)
      : body(op.getFunction().getModule(), name),
        variables(body, op.getContext().variables) {}

  llvm::Error import(TFLiteOp &op, int32_t subgraph, TFLiteValues inputs) {
    for (TFLiteValue &input : inputs)
      if (input.tensor)
        input.tensor = body.enter(input.tensor);
    GLOWISH_ASSIGN_OR_RETURN(
        outputs,
        importSubgraph(op, subgraph, inputs, body.getFunction(), variables));
    return llvm::Error::success();
  }

  OpenBody body;
  VariableScope variables;
  TFLiteValues outputs;
};

} // namespace

/// An error unless the subgraphs have outputs of the same types.
static llvm::Error checkBranches(const TFLiteValues &first,
                                 const TFLiteValues &second) {
  if (first.size() != second.size())
    return makeError("the subgraphs have {0} and {1} outputs; accepted: equal "
                     "numbers",
                     first.size(), second.size());
  for (auto [i, one, other] : llvm::enumerate(first, second)) {
    if (one.resource != other.resource)
      return makeError("output {0} is another variable in each subgraph; "
                       "accepted: one, or a constant condition",
                       i);
    if (one.resource)
      continue;
    if (one.tensor.getType() != other.tensor.getType())
      return makeError("output {0} is {1} in one subgraph and {2} in the "
                       "other; accepted: one type, or a constant condition",
                       i, one.tensor.getType().str(),
                       other.tensor.getType().str());
    if (one.quantization != other.quantization)
      return makeError("output {0} has other scales or zero points in each "
                       "subgraph; accepted: the same ones",
                       i);
  }
  return llvm::Error::success();
}

/// Adds results to both branches for the variables that one of them assigns,
/// which are returned.
static std::vector<TFLiteVariable *> addVariables(Branch &then, Branch &other) {
  std::vector<TFLiteVariable *> assigned = then.variables.getAssigned();
  for (TFLiteVariable *variable : other.variables.getAssigned())
    if (!llvm::is_contained(assigned, variable))
      assigned.push_back(variable);
  for (TFLiteVariable *variable : assigned) {
    NodeValue value = then.variables.read(*variable);
    // Captures are in the same order in both bodies.
    other.body.enterCaptures(then.body);
    then.body.getFunction().addResult(variable->name, value);
    value = other.variables.read(*variable);
    then.body.enterCaptures(other.body);
    other.body.getFunction().addResult(variable->name, value);
  }
  return assigned;
}

/// Creates the node that executes \p then if \p condition is true, else
/// \p other, and returns its outputs. Both have all captures but those for
/// variables.
static llvm::Expected<TFLiteValues> makeIf(TFLiteOp &op, NodeValue condition,
                                           Branch &then, Branch &other) {
  for (Branch *branch : {&then, &other})
    for (const TFLiteValue &output : branch->outputs)
      if (output.tensor)
        branch->body.getFunction().addResult("result", output.tensor);
  std::vector<TFLiteVariable *> assigned = addVariables(then, other);
  TFLiteValues outputs = then.outputs;
  if (assigned.empty() &&
      llvm::none_of(outputs, [](auto &output) { return bool(output.tensor); }))
    return outputs;
  NodeValue scalar = op.reshape(condition, {});
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(IfNode *node,
                           op.getFunction().tryCreate<IfNode>(
                               op.getName(), scalar, then.body.getAttr(),
                               other.body.getAttr(), then.body.getCaptures()));
  unsigned next = 0;
  for (TFLiteValue &output : outputs)
    if (output.tensor)
      output.tensor = node->getResult(next++);
  for (TFLiteVariable *variable : assigned)
    op.getContext().variables.assign(*variable, node->getResult(next++));
  return outputs;
}

static llvm::Error importIf(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(auto options,
                           op.requireOptions<schema::IfOptions>());
  int32_t thenIndex = options.get<"then_subgraph_index">();
  int32_t elseIndex = options.get<"else_subgraph_index">();
  TFLiteValue condition = op.getValue(0);
  GLOWISH_RETURN_IF_ERROR(checkCondition(condition));
  TFLiteValues inputs = getValues(op, 1);
  if (auto *known = condition.tensor.getNodeAs<Constant>()) {
    GLOWISH_ASSIGN_OR_RETURN(
        TFLiteValues outputs,
        importSubgraph(op,
                       known->getTensor().getAsInt(0) ? thenIndex : elseIndex,
                       inputs));
    return setOutputs(op, outputs);
  }
  GLOWISH_RETURN_IF_ERROR(op.checkAllKnown());
  Branch then(op, "then"), other(op, "else");
  GLOWISH_RETURN_IF_ERROR(then.import(op, thenIndex, inputs));
  other.body.enterCaptures(then.body);
  GLOWISH_RETURN_IF_ERROR(other.import(op, elseIndex, inputs));
  then.body.enterCaptures(other.body);
  GLOWISH_RETURN_IF_ERROR(checkBranches(then.outputs, other.outputs));
  GLOWISH_ASSIGN_OR_RETURN(TFLiteValues outputs,
                           makeIf(op, condition.tensor, then, other));
  return setOutputs(op, outputs);
}

static llvm::Error importCall(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(auto options,
                           op.requireOptions<schema::CallOptions>());
  GLOWISH_ASSIGN_OR_RETURN(
      TFLiteValues outputs,
      importSubgraph(op, int32_t(options.get<"subgraph">()), getValues(op)));
  return setOutputs(op, outputs);
}

/// Imports the subgraph that a composite operator decomposes into, whatever the
/// operator's name is.
static llvm::Error importComposite(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(
      auto options, op.requireOptions<schema::StableHLOCompositeOptions>());
  GLOWISH_ASSIGN_OR_RETURN(
      TFLiteValues outputs,
      importSubgraph(op, options.get<"decomposition_subgraph_index">(),
                     getValues(op)));
  return setOutputs(op, outputs);
}

/// Whether the values that \p init assigns are those that zeros stand for, in
/// variables that nothing changed before.
static bool setsZeros(VariableScope &variables, Branch &init) {
  return llvm::all_of(
      init.variables.getAssigned(), [&](TFLiteVariable *variable) {
        return isZero(*variable, init.variables.read(*variable)) &&
               variables.isAsBeforeRun(*variable);
      });
}

/// The first run, and each one from states of zeros, executes the subgraph. A
/// state tells whether that was done, which is not needed where the subgraph
/// sets variables to zeros.
static llvm::Error importCallOnce(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(auto options,
                           op.requireOptions<schema::CallOnceOptions>());
  int32_t subgraph = options.get<"init_subgraph_index">();
  TFLiteModelState &model = op.getContext().model;
  VariableScope &variables = op.getContext().variables;
  if (model.initializedByZeros.contains(subgraph))
    return llvm::Error::success();
  Branch done(op, "done"), init(op, "init");
  GLOWISH_RETURN_IF_ERROR(init.import(op, subgraph, {}));
  GLOWISH_RETURN_IF_ERROR(setOutputs(op, init.outputs));
  if (setsZeros(variables, init)) {
    model.initializedByZeros.insert(subgraph);
    return llvm::Error::success();
  }
  TFLiteVariable &flag = model.getInitialized(subgraph);
  NodeValue isDone = variables.read(flag);
  // Another operator for the same subgraph was here before.
  if (llvm::isa<Constant>(isDone.node))
    return llvm::Error::success();
  done.body.enterCaptures(init.body);
  GLOWISH_RETURN_IF_ERROR(makeIf(op, isDone, done, init).takeError());
  variables.assign(flag, op.scalar(ElemKind::Bool, 1));
  return op.takeError();
}

static const TFLiteOperators operators = {
    {"IF",
     importIf,
     {.inputs = {1, manyInputs},
      .minOutputs = 0,
      .takesResources = true,
      .limit =
          "outputs of one type in both subgraphs, or a constant condition"}},
    {"CALL",
     importCall,
     {.inputs = {0, manyInputs}, .minOutputs = 0, .takesResources = true}},
    {"STABLEHLO_COMPOSITE",
     importComposite,
     {.inputs = {0, manyInputs}, .minOutputs = 0, .takesResources = true}},
    {"CALL_ONCE", importCallOnce, {.inputs = 0, .minOutputs = 0}}};
