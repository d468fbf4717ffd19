//===- GraphScope.cpp - Names and nodes of an ONNX graph ------------------===//

#include "ONNX/GraphScope.h"
#include "ONNX/DeclaredTypes.h"
#include "ONNX/FunctionExtents.h"
#include "ONNX/ModelFile.h"
#include "ONNX/ReadNames.h"

using namespace glowish;
using namespace glowish::onnximport;

/// Limits the total length of sequences: each SequenceInsert creates a copy.
static constexpr size_t maxSequenceElements = 1 << 21;

GraphScope::GraphScope(const onnx::GraphProto &graph, GraphContext context,
                       ImportState &state)
    : graph(graph), state(state), context(std::move(context)) {
  this->context.scope = this;
  if (!this->context.extents)
    this->context.extents =
        std::make_shared<FunctionExtents>(this->context.function, state);
  countUses();
}

/// Returns the context of a subgraph of the graph of \p context.
static GraphContext getInner(const GraphContext &context, Function &function) {
  GraphContext inner{function, context.evaluate, context.external,
                     context.opsets};
  inner.foldingBudget = context.foldingBudget;
  inner.variables = context.variables;
  if (&function == &context.function)
    inner.extents = context.extents;
  return inner;
}

GraphScope::GraphScope(const onnx::GraphProto &graph, GraphScope &outer)
    : GraphScope(graph, outer,
                 getInner(outer.context, outer.context.function)) {}

GraphScope::GraphScope(const onnx::GraphProto &graph, GraphScope &outer,
                       GraphContext context)
    : GraphScope(graph, std::move(context), outer.state) {
  this->outer = &outer;
}

GraphScope::~GraphScope() {
  // Folding in imports that failed counts as well.
  if (outer)
    outer->context.foldingBudget = context.foldingBudget;
}

//===- Names --------------------------------------------------------------===//

/// Whether \p graph or one of its subgraphs contains a Gradient.
static bool hasGradient(const onnx::GraphProto &graph) {
  return llvm::any_of(graph.node(), [](const onnx::NodeProto &node) {
    return node.op_type() == "Gradient" ||
           llvm::any_of(getGraphs(node), [](const onnx::GraphProto *inner) {
             return hasGradient(*inner);
           });
  });
}

void GraphScope::countUses() {
  for (const onnx::NodeProto &node : graph.node())
    for (llvm::StringRef name : getReadNames(node))
      ++context.uses[name];
  for (const auto &output : graph.output())
    ++context.uses[output.name()];
  // A Gradient imports nodes a second time, which adds uses.
  if (!hasGradient(graph))
    return;
  for (const auto &input : graph.input())
    ++context.uses[input.name()];
  for (const auto &tensor : graph.initializer())
    ++context.uses[tensor.name()];
  for (const auto &tensor : graph.sparse_initializer())
    ++context.uses[tensor.values().name()];
}

std::string GraphScope::makePlaceholderName(llvm::StringRef name,
                                            llvm::StringRef suffix) const {
  std::string result = name.str();
  auto isTaken = [&] {
    return context.uses.count(result) ||
           context.function.getModule().findPlaceholder(result) ||
           llvm::any_of(graph.input(), [&](const auto &input) {
             return input.name() == result;
           });
  };
  while (isTaken())
    result += suffix;
  return result;
}

llvm::Error GraphScope::define(llvm::StringRef name, NodeValue value) {
  if (sequences.count(name) || !values.try_emplace(name, value).second)
    return makeError("the value {0} is defined twice", quote(name));
  state.pendingUses[value.node] += context.uses.lookup(name);
  return llvm::Error::success();
}

NodeValue GraphScope::lookup(llvm::StringRef name) {
  auto found = values.find(name);
  if (found != values.end())
    return found->second;
  NodeValue value = outer ? outer->lookup(name) : NodeValue();
  return value ? enter(value) : value;
}

llvm::Error GraphScope::defineStrings(llvm::StringRef name,
                                      const onnx::TensorProto &proto) {
  llvm::Expected<Tensor> numbers = state.strings.read(proto);
  if (!numbers)
    return addContext(numbers.takeError(), "initializer " + quote(name) + ": ");
  strings.insert(name);
  return define(name, context.function.getModule().createConstant(
                          name, std::move(*numbers)));
}

bool GraphScope::hasStrings(llvm::StringRef name) const {
  if (values.count(name) || sequences.count(name) || !outer)
    return strings.contains(name);
  return outer->hasStrings(name);
}

llvm::Error GraphScope::defineSequence(llvm::StringRef name,
                                       Sequence sequence) {
  if (name.empty())
    return llvm::Error::success();
  state.numSequenceElements += sequence.elements.size();
  if (state.numSequenceElements > maxSequenceElements)
    return makeError("the sequences of the model have more than {0} elements",
                     maxSequenceElements);
  // Sequence elements may be used at any time, so they are never released.
  for (NodeValue element : sequence.elements)
    ++state.pendingUses[element.node];
  if (values.count(name) ||
      !sequences.try_emplace(name, std::move(sequence)).second)
    return makeError("the value {0} is defined twice", quote(name));
  return llvm::Error::success();
}

const Sequence *GraphScope::lookupSequence(llvm::StringRef name) {
  auto found = sequences.find(name);
  if (found != sequences.end())
    return &found->second;
  if (!outer || values.count(name))
    return nullptr;
  const Sequence *around = outer->lookupSequence(name);
  if (!around)
    return nullptr;
  // Each graph that uses a sequence has a copy; if there are too many elements,
  // it is not found.
  state.numSequenceElements += around->elements.size();
  if (state.numSequenceElements > maxSequenceElements)
    return nullptr;
  Sequence entered = *around;
  for (NodeValue &element : entered.elements)
    element = enter(element);
  return &sequences.try_emplace(name, std::move(entered)).first->second;
}

/// Records that one use of \p name has been imported. A constant without
/// further uses, such as a filter in the model's layout, is erased at once.
void GraphScope::release(llvm::StringRef name) {
  auto found = values.find(name);
  if (found == values.end())
    return; // released by the enclosing graph
  Node *node = found->second.node;
  if (--state.pendingUses[node] != 0)
    return;
  state.pendingUses.erase(node);
  if (llvm::isa<Constant>(node) && !node->hasUses())
    context.function.getModule().eraseConstant(llvm::cast<Constant>(node));
}

std::optional<int64_t> GraphScope::getStatedExtent(llvm::StringRef name) const {
  auto find = [&](const auto &list) -> std::optional<int64_t> {
    for (const onnx::ValueInfoProto &info : list) {
      const auto &shape = info.type().tensor_type().shape();
      if (info.name() == name && shape.dim_size() > 0 &&
          shape.dim(0).has_dim_value() && shape.dim(0).dim_value() >= 0)
        return shape.dim(0).dim_value();
    }
    return std::nullopt;
  };
  if (auto extent = find(graph.output()))
    return extent;
  return find(graph.value_info());
}

//===- Nodes --------------------------------------------------------------===//

/// Sorts the nodes topologically, which ONNX requires but not every file
/// satisfies; the file's order is kept if it is valid. Linear in nodes and
/// uses, and iterative, as graphs can be deep.
llvm::Expected<std::vector<const onnx::NodeProto *>> GraphScope::sortNodes() {
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string &name : graph.node(i).output())
      if (!name.empty() && !values.count(name))
        producers.try_emplace(name, i);
  enum State : uint8_t { Unseen, Waiting, Placed };
  std::vector<State> states(graph.node_size(), Unseen);
  std::vector<const onnx::NodeProto *> order;
  struct Visit {
    int index;
    std::vector<llvm::StringRef> names;
    size_t next = 0;
  };
  std::vector<Visit> stack;
  auto push = [&](int index) {
    states[index] = Waiting;
    stack.push_back({index, getReadNames(graph.node(index))});
  };
  for (int root = 0; root < graph.node_size(); ++root) {
    if (states[root] == Unseen)
      push(root);
    while (!stack.empty()) {
      Visit &visit = stack.back();
      if (visit.next == visit.names.size()) {
        states[visit.index] = Placed;
        order.push_back(&graph.node(visit.index));
        stack.pop_back();
        continue;
      }
      auto found = producers.find(visit.names[visit.next++]);
      if (found == producers.end() || states[found->second] == Placed)
        continue;
      if (states[found->second] == Waiting)
        return makeError("{0}: its input {1} depends on its output: the nodes "
                         "form a cycle",
                         describe(graph.node(visit.index)),
                         quote(found->first()));
      push(found->second);
    }
  }
  return order;
}

const onnx::NodeProto *GraphScope::findProducer(llvm::StringRef name) const {
  auto found = producers.find(name);
  if (found != producers.end())
    return &graph.node(found->second);
  return outer && !values.count(name) ? outer->findProducer(name) : nullptr;
}

llvm::Expected<std::vector<NodeValue>>
GraphScope::findInputs(const onnx::NodeProto &proto) {
  std::vector<NodeValue> inputs;
  for (const std::string &name : proto.input()) {
    inputs.push_back(name.empty() ? NodeValue() : lookup(name));
    if (!name.empty() && !inputs.back() && !lookupSequence(name))
      return makeError("input {0} is not defined", quote(name));
  }
  return inputs;
}

llvm::Error GraphScope::warn(const onnx::NodeProto &proto,
                             llvm::StringRef line) const {
  // Errors get the node's description from importNodes().
  const ImportOptions &options = state.options;
  return options.report(options.isStrict ? line.str()
                                         : describe(proto) + ": " + line.str());
}

llvm::Error GraphScope::warnOfUnknownAttrs(const onnx::NodeProto &proto,
                                           const OpContext &op) {
  for (llvm::StringRef name : op.getUnknownAttrs())
    if (state.warned.insert((proto.op_type() + "." + name).str()).second)
      GLOWISH_RETURN_IF_ERROR(
          warn(proto, "attribute " + quote(name) +
                          " is ignored: the operator has no such attribute"));
  return llvm::Error::success();
}

/// Reports the first value inside the model whose type is not the declared
/// one: those that are computed from it are likely to differ as well.
llvm::Error GraphScope::warnOfDeclaredType(const onnx::NodeProto &proto,
                                           llvm::StringRef name,
                                           NodeValue value) {
  if (outer || !state.declared || state.warned.contains("declared types"))
    return llvm::Error::success();
  std::string difference = state.declared->compareInner(name, value.getType());
  if (difference.empty())
    return llvm::Error::success();
  state.warned.insert("declared types");
  return warn(proto, "output " + difference);
}

llvm::Error GraphScope::setOutputs(const onnx::NodeProto &proto,
                                   OpContext &op) {
  for (int i = 0; i < proto.output_size(); ++i) {
    const std::string &name = proto.output(i);
    auto sequence = op.getOutputSequences().find(i);
    if (sequence != op.getOutputSequences().end()) {
      GLOWISH_RETURN_IF_ERROR(
          defineSequence(name, std::move(sequence->second)));
      continue;
    }
    NodeValue value;
    if (i < int(op.getOutputs().size()))
      value = op.getOutputs()[i];
    // An output that is not set must be unused.
    if (!value && op.wantsOutput(i))
      return makeError("output {0} ({1}) is not supported", i, quote(name));
    if (!value || name.empty())
      continue;
    GLOWISH_RETURN_IF_ERROR(define(name, value));
    if (op.givesStrings())
      strings.insert(name);
    GLOWISH_RETURN_IF_ERROR(warnOfDeclaredType(proto, name, value));
  }
  return llvm::Error::success();
}

llvm::Error GraphScope::importNode(const onnx::NodeProto &proto) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> inputs, findInputs(proto));
  GLOWISH_ASSIGN_OR_RETURN(
      bool givesStrings,
      checkStringInputs(
          proto, [&](llvm::StringRef name) { return hasStrings(name); }));
  OpContext op(proto, context, std::move(inputs));
  op.setGivesStrings(givesStrings);
  GLOWISH_RETURN_IF_ERROR(op.checkAttrs());
  llvm::Error error =
      findOnnxOperator(proto.domain(), proto.op_type(), state.options)
          ->importer(op);
  // It came before the error that the importer may have returned.
  if (llvm::Error wrongAttr = op.checkAttrTypes()) {
    llvm::consumeError(std::move(error));
    return wrongAttr;
  }
  GLOWISH_RETURN_IF_ERROR(std::move(error));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_RETURN_IF_ERROR(op.checkAllRead());
  GLOWISH_RETURN_IF_ERROR(warnOfUnknownAttrs(proto, op));
  GLOWISH_RETURN_IF_ERROR(setOutputs(proto, op));
  for (llvm::StringRef name : getReadNames(proto))
    release(name);
  return llvm::Error::success();
}

llvm::Error GraphScope::importNodes() {
  GLOWISH_ASSIGN_OR_RETURN(auto order, sortNodes());
  for (const onnx::NodeProto *proto : order) {
    if (outer)
      GLOWISH_RETURN_IF_ERROR(state.subgraphBudget.take(1));
    if (llvm::Error error = importNode(*proto))
      return addContext(std::move(error), describe(*proto) + ": ");
  }
  return llvm::Error::success();
}

//===- Subgraphs ----------------------------------------------------------===//

llvm::Error GraphScope::importInnerWeights() {
  Module &module = context.function.getModule();
  for (const onnx::TensorProto &proto : graph.initializer()) {
    if (hasStringElements(proto)) {
      GLOWISH_RETURN_IF_ERROR(defineStrings(proto.name(), proto));
      continue;
    }
    auto &known = state.innerWeights[&proto];
    if (!known) {
      auto tensor = readTensor(proto, context.external);
      if (!tensor)
        return addContext(tensor.takeError(),
                          "initializer " + quote(proto.name()) + ": ");
      known = std::move(*tensor);
      context.foldingBudget.grow(known->getSizeInBytes());
    }
    GLOWISH_RETURN_IF_ERROR(
        define(proto.name(), module.createConstant(proto.name(), known)));
  }
  for (const onnx::SparseTensorProto &proto : graph.sparse_initializer()) {
    GLOWISH_ASSIGN_OR_RETURN(auto tensor,
                             readSparseTensor(proto, context.external));
    GLOWISH_RETURN_IF_ERROR(
        define(proto.values().name(),
               module.createConstant(proto.values().name(), tensor)));
  }
  return llvm::Error::success();
}

llvm::Error GraphScope::checkOutputExtents() {
  for (const auto &output : graph.output()) {
    const Sequence *sequence = lookupSequence(output.name());
    for (NodeValue value :
         sequence ? sequence->elements : std::vector{lookup(output.name())})
      for (unsigned d = 0; value && d < value.getType().getRank(); ++d)
        if (value.getType().getExtent(d))
          return makeError("the extent of dimension {0} of the output {1} of "
                           "the graph {2} is known only when the model runs; "
                           "accepted: constant ones",
                           d, quote(output.name()), quote(graph.name()));
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<GraphValue>>
GraphScope::importValues(llvm::ArrayRef<GraphValue> inputs) {
  if (size_t(graph.input_size()) != inputs.size())
    return makeError("the graph {0} has {1} inputs; accepted: {2}",
                     quote(graph.name()), graph.input_size(), inputs.size());
  GLOWISH_RETURN_IF_ERROR(state.subgraphBudget.take(
      1 + graph.initializer_size() + graph.sparse_initializer_size()));
  for (auto [input, value] : llvm::zip_equal(graph.input(), inputs)) {
    if (value.sequence)
      GLOWISH_RETURN_IF_ERROR(defineSequence(input.name(), *value.sequence));
    else if (!input.name().empty())
      GLOWISH_RETURN_IF_ERROR(define(input.name(), value.tensor));
  }
  GLOWISH_RETURN_IF_ERROR(importInnerWeights());
  GLOWISH_RETURN_IF_ERROR(importNodes());
  std::vector<GraphValue> outputs;
  for (const auto &output : graph.output()) {
    GraphValue value;
    if (const Sequence *sequence = lookupSequence(output.name()))
      value.sequence = *sequence;
    else
      value.tensor = lookup(output.name());
    if (!value.tensor && !value.sequence)
      return makeError("the output {0} of the graph {1} is not computed by any "
                       "node",
                       quote(output.name()), quote(graph.name()));
    if (hasStrings(output.name()))
      return refuseStrings("the output " + quote(output.name()) +
                           " of the graph " + quote(graph.name()));
    outputs.push_back(std::move(value));
  }
  return outputs;
}

llvm::Expected<std::vector<GraphValue>>
GraphScope::importStaticValues(llvm::ArrayRef<GraphValue> inputs) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<GraphValue> outputs,
                           importValues(inputs));
  GLOWISH_RETURN_IF_ERROR(checkOutputExtents());
  return outputs;
}

llvm::Expected<std::vector<NodeValue>>
GraphScope::importInner(llvm::ArrayRef<NodeValue> inputs) {
  std::vector<GraphValue> values;
  for (NodeValue input : inputs)
    values.push_back({.tensor = input});
  GLOWISH_ASSIGN_OR_RETURN(std::vector<GraphValue> outputs,
                           importStaticValues(values));
  std::vector<NodeValue> tensors;
  for (auto [output, value] : llvm::zip_equal(graph.output(), outputs)) {
    if (value.sequence)
      return makeError("the output {0} of the graph {1} is a sequence or an "
                       "optional; accepted: a tensor",
                       quote(output.name()), quote(graph.name()));
    tensors.push_back(value.tensor);
  }
  return tensors;
}

//===- Bodies -------------------------------------------------------------===//

BodyScope::BodyScope(const onnx::GraphProto &graph, GraphScope &outer,
                     llvm::StringRef name)
    : BodyScope(graph, outer,
                OpenBody(outer.getContext().function.getModule(), name)) {}

BodyScope::BodyScope(const onnx::GraphProto &graph, GraphScope &outer,
                     OpenBody body)
    : GraphScope(graph, outer,
                 getInner(outer.getContext(), body.getFunction())),
      body(std::move(body)) {}

/// Returns \p extent, an int64 scalar of the enclosing graph, with its bound.
NodeValue BodyScope::enterExtent(NodeValue extent) {
  if (!extent)
    return extent;
  auto &bounds = getState().bounds;
  auto bound = bounds.find(extent);
  NodeValue own = body.enter(extent);
  if (bound != bounds.end())
    bounds[own] = bound->second;
  return own;
}

NodeValue BodyScope::enter(NodeValue value) {
  if (!value.getType().hasExtents())
    return body.enter(value);
  NodeValue &own = entered[value];
  if (own)
    return own;
  FunctionExtents &outer = *getOuter()->getContext().extents;
  Lengths lengths = outer.getValues(value.getType());
  for (NodeValue &length : lengths)
    length = enterExtent(length);
  own = getContext().extents->declare(body.enter(outer.drop(value)), lengths);
  return own;
}
