//===- HigherOrder.cpp - Branches and loops of exported programs ----------===//

#include "Common/Messages.h"
#include "TorchExport/GraphImporter.h"
#include "llvm/ADT/StringSwitch.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchexport;
namespace json = llvm::json;

namespace {

enum class Kind { Cond, While, Wrapper, None };

using Arguments = std::vector<HigherOrderArgument>;

} // namespace

static Kind getKind(llvm::StringRef target) {
  return llvm::StringSwitch<Kind>(target)
      .Case("torch.ops.higher_order.cond", Kind::Cond)
      .Case("torch.ops.higher_order.while_loop", Kind::While)
      .Case("torch.ops.higher_order.wrap_with_set_grad_enabled", Kind::Wrapper)
      .Default(Kind::None);
}

bool torchexport::isHigherOrder(llvm::StringRef target) {
  return getKind(target) != Kind::None;
}

/// The elements of a list or tuple of operands.
static llvm::Expected<AtenValue::List>
readOperands(const HigherOrderArgument &argument) {
  if (argument.graph || !argument.value.is<AtenValue::List>())
    return makeError("its operands are no list");
  return argument.value.get<AtenValue::List>();
}

static llvm::Expected<AtenValue::List> runGraph(const json::Object &graph,
                                                AtenValue::List inputs,
                                                Function &function,
                                                ExportedContext &context) {
  const json::Array *nodes = graph.getArray("nodes");
  GLOWISH_RETURN_IF_ERROR(
      context.budget.take(1 + (nodes ? int64_t(nodes->size()) : 0)));
  return ExportedGraph(graph, function, context).import(std::move(inputs));
}

/// The tensors of \p values, entered into \p body.
static AtenValue::List enterAll(OpenBody &body, AtenValue::List values) {
  for (AtenValue &value : values) {
    if (value.isTensor())
      value = AtenValue(body.enter(value.get<NodeValue>()));
    if (value.isComplex()) {
      auto [real, imaginary] = value.get<AtenComplex>();
      value = AtenValue(AtenComplex{body.enter(real), body.enter(imaginary)});
    }
  }
  return values;
}

NodeValue torchexport::asTensor(NodeBuilder &b, const AtenValue &value) {
  if (value.isTensor())
    return value.get<NodeValue>();
  if (value.is<Extent>())
    return b.compute(value.get<Extent>());
  if (value.is<int64_t>())
    return b.reshape(b.int64s({value.get<int64_t>()}), {});
  return b.scalar(value.is<bool>() ? ElemKind::Bool : ElemKind::Float,
                  value.getNumber());
}

/// Returns \p value, of a branch or a loop, as a tensor of \p function.
static llvm::Expected<NodeValue> asTensor(Function &function,
                                          const AtenValue &value) {
  if (!value.isTensor() && !value.isNumber())
    return makeError("a value of a branch or loop is {0}; accepted: tensors "
                     "and numbers",
                     value.describe());
  NodeBuilder b(function, "number");
  return b.finish(asTensor(b, value));
}

/// Returns a condition as a bool that is known, or as a bool scalar.
static llvm::Expected<AtenValue> readCondition(Function &function,
                                               const AtenValue &value) {
  if (value.is<bool>())
    return value;
  if (!value.isTensor() ||
      value.get<NodeValue>().getType().getNumElements() != 1)
    return makeError("the condition is {0}; accepted: bool with one element",
                     value.describe());
  NodeValue tensor = value.get<NodeValue>();
  if (auto *constant = tensor.getNodeAs<Constant>())
    return AtenValue(constant->getTensor().getAsDouble(0) != 0);
  NodeBuilder b(function, "condition");
  GLOWISH_ASSIGN_OR_RETURN(
      tensor, b.finish(b.reshape(b.cast(tensor, ElemKind::Bool), {})));
  return AtenValue(tensor);
}

//===- Branches -----------------------------------------------------------===//

/// Adds \p values to the results of \p body.
static llvm::Error addResults(OpenBody &body, const AtenValue::List &values) {
  for (const AtenValue &value : values) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue tensor,
                             asTensor(body.getFunction(), value));
    body.getFunction().addResult("result", tensor);
  }
  return llvm::Error::success();
}

static llvm::Error checkBranches(const OpenBody &then, const OpenBody &other) {
  const auto &first = then.getFunction().getResults();
  const auto &second = other.getFunction().getResults();
  if (first.size() != second.size())
    return makeError("the branches have {0} and {1} outputs; accepted: equal "
                     "numbers",
                     first.size(), second.size());
  for (auto [i, one, two] : llvm::enumerate(first, second))
    if (one->getType() != two->getType())
      return makeError("output {0} is {1} in one branch and {2} in the other; "
                       "accepted: one type",
                       i, one->getType().str(), two->getType().str());
  return llvm::Error::success();
}

static llvm::Expected<AtenValue::List> runCond(llvm::StringRef name,
                                               const Arguments &arguments,
                                               Function &function,
                                               ExportedContext &context) {
  if (arguments.size() != 4 || !arguments[1].graph || !arguments[2].graph)
    return makeError("its arguments are others than a condition, two graphs "
                     "and operands");
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List operands,
                           readOperands(arguments[3]));
  GLOWISH_ASSIGN_OR_RETURN(AtenValue condition,
                           readCondition(function, arguments[0].value));
  if (condition.is<bool>())
    return runGraph(*arguments[condition.get<bool>() ? 1 : 2].graph,
                    std::move(operands), function, context);
  OpenBody then(function.getModule(), "then"),
      other(function.getModule(), "else");
  for (auto [body, graph] : {std::pair(&then, arguments[1].graph),
                             std::pair(&other, arguments[2].graph)}) {
    if (body == &other)
      other.enterCaptures(then);
    GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results,
                             runGraph(*graph, enterAll(*body, operands),
                                      body->getFunction(), context));
    GLOWISH_RETURN_IF_ERROR(addResults(*body, results));
  }
  then.enterCaptures(other);
  GLOWISH_RETURN_IF_ERROR(checkBranches(then, other));
  GLOWISH_ASSIGN_OR_RETURN(
      IfNode *node, function.tryCreate<IfNode>(name, condition.get<NodeValue>(),
                                               then.getAttr(), other.getAttr(),
                                               then.getCaptures()));
  AtenValue::List results;
  for (unsigned i = 0; i < node->getNumResults(); ++i)
    results.push_back(NodeValue(node, i));
  return results;
}

//===- Loops --------------------------------------------------------------===//

namespace {

/// while_loop(cond, body, states, captures).
class WhileLoop {
public:
  WhileLoop(const json::Object &condition, const json::Object &body,
            Function &function, ExportedContext &context)
      : condition(condition), body(body), function(function), context(context) {
  }

  /// \p origin: that of the node, see LoopNode.
  llvm::Expected<AtenValue::List> run(llvm::StringRef name,
                                      llvm::StringRef origin,
                                      AtenValue::List states,
                                      AtenValue::List captures);

private:
  llvm::Expected<AtenValue> evaluate(AtenValue::List states,
                                     const AtenValue::List &captures,
                                     Function &target);
  llvm::Expected<std::optional<AtenValue::List>>
  unroll(const AtenValue::List &first, const AtenValue::List &captures);
  llvm::Error importBody(OpenBody &loop, const AtenValue::List &states,
                         const AtenValue::List &captures);

  const json::Object &condition, &body;
  Function &function;
  ExportedContext &context;
};

} // namespace

static AtenValue::List join(AtenValue::List states,
                            const AtenValue::List &captures) {
  states.insert(states.end(), captures.begin(), captures.end());
  return states;
}

llvm::Expected<AtenValue> WhileLoop::evaluate(AtenValue::List states,
                                              const AtenValue::List &captures,
                                              Function &target) {
  GLOWISH_ASSIGN_OR_RETURN(
      AtenValue::List results,
      runGraph(condition, join(std::move(states), captures), target, context));
  if (results.size() != 1)
    return makeError("the condition has {0} outputs; accepted: 1",
                     results.size());
  return readCondition(target, results[0]);
}

/// The states after the loop, if the conditions are known and there are few
/// iterations.
llvm::Expected<std::optional<AtenValue::List>>
WhileLoop::unroll(const AtenValue::List &first,
                  const AtenValue::List &captures) {
  const json::Array *nodes = body.getArray("nodes");
  int64_t most = std::max<int64_t>(
      maxUnrolledNodes / (1 + int64_t(nodes ? nodes->size() : 0)), 1);
  Node *last =
      function.getNodes().empty() ? nullptr : &function.getNodes().back();
  AtenValue::List states = first;
  for (int64_t number = 0; number <= most; ++number) {
    GLOWISH_ASSIGN_OR_RETURN(AtenValue value,
                             evaluate(states, captures, function));
    if (!value.is<bool>())
      break;
    if (!value.get<bool>())
      return states;
    GLOWISH_ASSIGN_OR_RETURN(
        states, runGraph(body, join(states, captures), function, context));
    if (states.size() != first.size())
      return makeError("the body has {0} outputs; accepted: {1}", states.size(),
                       first.size());
  }
  eraseNodesBehind(function, last);
  return std::nullopt;
}

/// One iteration: the body, and the condition of its results.
llvm::Error WhileLoop::importBody(OpenBody &loop, const AtenValue::List &states,
                                  const AtenValue::List &captures) {
  loop.addParameter("number", Type(ElemKind::Int64, {}));
  loop.addParameter("condition", Type(ElemKind::Bool, {}));
  AtenValue::List current;
  for (const AtenValue &state : states)
    current.push_back(AtenValue(
        loop.addParameter("state", state.get<NodeValue>().getType())));
  AtenValue::List inner = enterAll(loop, captures);
  Function &target = loop.getFunction();
  GLOWISH_ASSIGN_OR_RETURN(
      AtenValue::List next,
      runGraph(body, join(current, inner), target, context));
  if (next.size() != states.size())
    return makeError("the body has {0} outputs; accepted: {1}", next.size(),
                     states.size());
  for (auto [i, value] : llvm::enumerate(next)) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue tensor, asTensor(target, value));
    const Type &first = states[i].get<NodeValue>().getType();
    if (tensor.getType() != first)
      return makeError("state {0} is {1} at first and then {2}; accepted: one "
                       "type, or known conditions",
                       i, first.str(), tensor.getType().str());
    value = AtenValue(tensor);
  }
  GLOWISH_ASSIGN_OR_RETURN(AtenValue value, evaluate(next, inner, target));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue flag, asTensor(target, value));
  target.addResult("next", flag);
  return addResults(loop, next);
}

llvm::Expected<AtenValue::List> WhileLoop::run(llvm::StringRef name,
                                               llvm::StringRef origin,
                                               AtenValue::List states,
                                               AtenValue::List captures) {
  GLOWISH_ASSIGN_OR_RETURN(std::optional<AtenValue::List> known,
                           unroll(states, captures));
  if (known)
    return std::move(*known);
  int64_t most = context.options.maxTripCount;
  if (most == 0)
    return makeError("the loop has no bound; accepted: conditions that are "
                     "known for few iterations, or «max-trip-count=N»");
  for (AtenValue &state : states) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue tensor, asTensor(function, state));
    state = AtenValue(tensor);
  }
  GLOWISH_ASSIGN_OR_RETURN(AtenValue value,
                           evaluate(states, captures, function));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue begins, asTensor(function, value));
  OpenBody loop(function.getModule(), "body");
  GLOWISH_RETURN_IF_ERROR(importBody(loop, states, captures));
  std::vector<NodeValue> values;
  for (const AtenValue &state : states)
    values.push_back(state.get<NodeValue>());
  auto numStates = int64_t(values.size());
  llvm::append_range(values, loop.getCaptures());
  // The bound is an assumption, which the loop checks.
  NodeBuilder b(function, "trips");
  NodeValue trips =
      b.reshape(b.int64s({std::numeric_limits<int64_t>::max()}), {});
  GLOWISH_ASSIGN_OR_RETURN(trips, b.finish(trips));
  GLOWISH_ASSIGN_OR_RETURN(
      LoopNode *node,
      function.tryCreate<LoopNode>(name, trips, begins, loop.getAttr(),
                                   numStates, most, values, origin));
  AtenValue::List results;
  for (unsigned i = 0; i < unsigned(numStates); ++i)
    results.push_back(AtenValue(NodeValue(node, i)));
  return results;
}

//===- Dispatch -----------------------------------------------------------===//

llvm::Expected<AtenValue::List>
torchexport::runHigherOrder(llvm::StringRef target, llvm::StringRef name,
                            Arguments arguments, Function &function,
                            ExportedContext &context) {
  switch (getKind(target)) {
  case Kind::Cond:
    return runCond(name, arguments, function, context);
  case Kind::While: {
    if (arguments.size() != 4 || !arguments[0].graph || !arguments[1].graph)
      return makeError("its arguments are others than two graphs, states and "
                       "operands");
    GLOWISH_ASSIGN_OR_RETURN(AtenValue::List states,
                             readOperands(arguments[2]));
    GLOWISH_ASSIGN_OR_RETURN(AtenValue::List captures,
                             readOperands(arguments[3]));
    return WhileLoop(*arguments[0].graph, *arguments[1].graph, function,
                     context)
        .run(name, describeNode(name, target), std::move(states),
             std::move(captures));
  }
  case Kind::Wrapper: {
    // A flag of gradients, a graph, and its inputs.
    if (arguments.size() < 2 || !arguments[1].graph)
      return makeError("its arguments are others than a flag and a graph");
    AtenValue::List inputs;
    for (const HigherOrderArgument &argument :
         llvm::ArrayRef(arguments).drop_front(2))
      inputs.push_back(argument.value);
    return runGraph(*arguments[1].graph, std::move(inputs), function, context);
  }
  case Kind::None:
    break;
  }
  llvm_unreachable("not an operator that takes graphs");
}
