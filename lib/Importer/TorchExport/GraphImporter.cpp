//===- GraphImporter.cpp - Graphs of exported programs --------------------===//

#include "TorchExport/GraphImporter.h"
#include "Aten/External.h"
#include "Common/Messages.h"
#include "TorchExport/Symbols.h"
#include "TorchExport/Weights.h"
#include <numeric>

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchexport;
namespace json = llvm::json;

//===- Types --------------------------------------------------------------===//

std::optional<Extent>
torchexport::readSize(const json::Value &size,
                      const std::map<std::string, int64_t> &symbols) {
  llvm::Expected<JsonMember> member = getMember(size);
  if (!member) {
    llvm::consumeError(member.takeError());
    return std::nullopt;
  }
  if (auto extent = member->value->getAsInteger())
    return Extent(*extent);
  const json::Object *expression = member->value->getAsObject();
  auto text = expression ? expression->getString("expr_str") : std::nullopt;
  std::optional<Extent> extent =
      text ? readSymbolicExtent(*text) : std::nullopt;
  if (!extent)
    return extent;
  return extent->substitute([&](llvm::StringRef symbol) {
    auto found = symbols.find(symbol.str());
    return found == symbols.end() ? std::nullopt
                                  : std::optional(Extent(found->second));
  });
}

llvm::Expected<std::optional<Type>>
torchexport::readTensorMeta(const json::Object &meta,
                            const ExportedContext &context) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t number, getInteger(meta, "dtype"));
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, getExportedKind(number));
  GLOWISH_ASSIGN_OR_RETURN(const json::Array *sizes, getArray(meta, "sizes"));
  Dims shape;
  ExtentList extents;
  for (const json::Value &size : *sizes) {
    std::optional<Extent> extent = readSize(size, context.symbols);
    std::optional<IntRange> range =
        extent ? context.ranges.getRange(*extent) : std::nullopt;
    if (!range)
      return std::nullopt;
    if (range->high < 0)
      return makeError("an extent is {0}; accepted: 0 and more", range->high);
    shape.push_back(range->high);
    extents.push_back(extent->isConstant() ? std::nullopt : extent);
  }
  GLOWISH_RETURN_IF_ERROR(checkShape(kind, shape));
  return Type(kind, shape).withExtents(extents);
}

//===- Targets ------------------------------------------------------------===//

/// "torch.ops.aten.add.Tensor" as ATen's table has it: "add.Tensor".
static std::string getOperatorName(llvm::StringRef target) {
  target.consume_front("torch.ops.");
  auto [space, name] = target.split('.');
  name.consume_back(".default");
  return space == "aten" ? name.str() : (space + "::" + name).str();
}

/// The node that calls an operator which writes arguments, and returns what
/// they become instead: its first argument is the operator, and its results are
/// those of the operator, or None, and then the arguments that it writes.
static constexpr llvm::StringLiteral functionalizedTarget =
    "torch.ops.higher_order.auto_functionalized";

/// Returns the target that \p node calls: that of the operator that it makes a
/// function.
static llvm::StringRef getCalled(const json::Object &node,
                                 llvm::StringRef target) {
  const json::Array *inputs =
      target == functionalizedTarget ? node.getArray("inputs") : nullptr;
  const json::Object *first =
      inputs && !inputs->empty() ? inputs->front().getAsObject() : nullptr;
  const json::Object *argument = first ? first->getObject("arg") : nullptr;
  return (argument ? argument->getString("as_operator") : std::nullopt)
      .value_or(target);
}

llvm::Expected<std::vector<std::string>>
torchexport::findUnsupported(const json::Object &graph,
                             const ImportOptions &options) {
  std::vector<std::string> lines;
  std::vector<const json::Object *> graphs = {&graph};
  for (size_t next = 0; next < graphs.size(); ++next) {
    GLOWISH_ASSIGN_OR_RETURN(const json::Array *nodes,
                             getArray(*graphs[next], "nodes"));
    for (const json::Value &value : *nodes) {
      GLOWISH_ASSIGN_OR_RETURN(const json::Object *node, asObject(value));
      GLOWISH_ASSIGN_OR_RETURN(llvm::StringRef target,
                               getString(*node, "target"));
      target = getCalled(*node, target);
      std::string name = getOperatorName(target);
      if (!findAtenOperator(name) && !findExternalAten(options, name) &&
          !isPythonOperator(target) && !isHigherOrder(target)) {
        lines.push_back(
            describeNode(node->getString("name").value_or(""), target));
        continue;
      }
      if (const json::Array *inputs = node->getArray("inputs"))
        for (const json::Value &input : *inputs)
          if (const json::Object *object = input.getAsObject())
            if (const json::Object *argument = object->getObject("arg"))
              if (const json::Object *own = argument->getObject("as_graph"))
                if (const json::Object *inner = own->getObject("graph"))
                  graphs.push_back(inner);
    }
  }
  return lines;
}

//===- Nodes --------------------------------------------------------------===//

namespace {

/// An argument of a node.
struct NamedArgument {
  llvm::StringRef name;
  JsonMember value;
};

} // namespace

static llvm::Expected<std::vector<NamedArgument>>
readArguments(const json::Object &node) {
  GLOWISH_ASSIGN_OR_RETURN(const json::Array *inputs, getArray(node, "inputs"));
  std::vector<NamedArgument> arguments;
  for (const json::Value &value : *inputs) {
    GLOWISH_ASSIGN_OR_RETURN(const json::Object *input, asObject(value));
    GLOWISH_ASSIGN_OR_RETURN(llvm::StringRef name, getString(*input, "name"));
    GLOWISH_ASSIGN_OR_RETURN(const json::Object *argument,
                             getObject(*input, "arg"));
    GLOWISH_ASSIGN_OR_RETURN(JsonMember member, getMember(*argument));
    arguments.push_back({name, member});
  }
  return arguments;
}

llvm::Expected<AtenValue::List>
ExportedGraph::runExternal(const json::Object &node, const ExternalOperator &op,
                           llvm::StringRef name, bool isFunctionalized) {
  GLOWISH_ASSIGN_OR_RETURN(bool isWriting, writesArguments(op));
  if (isWriting && !isFunctionalized)
    return makeError("it writes its arguments; accepted: {0} of it, which "
                     "PyTorch's run_decompositions() makes",
                     functionalizedTarget);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NamedArgument> stated,
                           readArguments(node));
  std::vector<NamedAtenValue> arguments;
  for (const NamedArgument &argument :
       llvm::ArrayRef(stated).drop_front(isFunctionalized ? 1 : 0)) {
    GLOWISH_ASSIGN_OR_RETURN(AtenValue value, values.read(argument.value));
    arguments.push_back({argument.name.str(), std::move(value)});
  }
  GLOWISH_ASSIGN_OR_RETURN(const json::Array *outputs,
                           getArray(node, "outputs"));
  // How many each output has: none where it is None, several of a list.
  std::vector<size_t> counts;
  for (const json::Value &output : *outputs) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> names,
                             readResultNames(output));
    counts.push_back(names.size());
  }
  auto numResults =
      unsigned(std::accumulate(counts.begin(), counts.end(), size_t(0)));
  GLOWISH_ASSIGN_OR_RETURN(
      AtenValue::List flat,
      importExternalAten(op, function, name, arguments, numResults));
  AtenValue::List results;
  llvm::ArrayRef<AtenValue> rest = flat;
  for (size_t count : counts) {
    if (count == 1)
      results.push_back(rest.front());
    else
      results.push_back(
          count == 0 ? AtenValue()
                     : AtenValue(AtenValue::List(rest.take_front(count))));
    rest = rest.drop_front(count);
  }
  return results;
}

llvm::Expected<AtenValue::List>
ExportedGraph::runAten(const json::Object &node, const RegisteredAtenOp &op,
                       llvm::StringRef name) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NamedArgument> stated,
                           readArguments(node));
  const AtenSchema &schema = op.schema;
  AtenValue::List arguments(schema.arguments.size());
  std::vector<bool> isSet(schema.arguments.size());
  // The names of arguments that are one tensor each.
  std::map<unsigned, std::string> tensors;
  for (const NamedArgument &argument : stated) {
    std::optional<unsigned> index = schema.findArgument(argument.name);
    if (!index)
      return makeError("it has the argument {0}; accepted: those of the "
                       "operator",
                       quote(argument.name));
    GLOWISH_ASSIGN_OR_RETURN(arguments[*index], values.read(argument.value));
    isSet[*index] = true;
    if (argument.value.name == "as_tensor")
      if (auto name = argument.value.value->getAsObject()->getString("name"))
        tensors[*index] = name->str();
  }
  for (auto [i, argument] : llvm::enumerate(schema.arguments)) {
    if (isSet[i])
      continue;
    if (!argument.fallback)
      return makeError("it has no argument {0}", quote(argument.name));
    arguments[i] = *argument.fallback;
  }
  GLOWISH_ASSIGN_OR_RETURN(const RegisteredAtenOp *replacement,
                           findAlias(op, tensors, arguments));
  const RegisteredAtenOp &used = replacement ? *replacement : op;
  arguments.resize(used.schema.arguments.size());
  if (used.schema.name == "as_strided" && tensors.contains(0) &&
      arguments[0].isTensor())
    GLOWISH_RETURN_IF_ERROR(findMemory(tensors[0], arguments));
  GLOWISH_RETURN_IF_ERROR(noteViews(node, used, tensors, arguments));
  return importAtenOperator(used, function, name, std::move(arguments),
                            context.aten);
}

/// Returns the operator that computes _reshape_alias(), which begins where its
/// operand does: view() where the elements keep their order, of which passes
/// know more than of as_strided(). Null of other operators.
llvm::Expected<const RegisteredAtenOp *>
ExportedGraph::findAlias(const RegisteredAtenOp &op,
                         const std::map<unsigned, std::string> &tensors,
                         const AtenValue::List &arguments) {
  if (op.schema.name != "_reshape_alias")
    return nullptr;
  // Complex tensors are reshaped alone.
  bool isView = arguments[0].isComplex();
  if (auto self = tensors.find(0);
      self != tensors.end() && arguments[0].isTensor())
    GLOWISH_ASSIGN_OR_RETURN(
        isView, memory.isReshaped(self->second, arguments[1], arguments[2]));
  return findAtenOperator(isView ? "view" : "as_strided");
}

/// Replaces the operand \p self of as_strided, and where it begins, by the
/// memory that it has.
llvm::Error ExportedGraph::findMemory(llvm::StringRef self,
                                      AtenValue::List &arguments) {
  GLOWISH_ASSIGN_OR_RETURN(ExportedMemory::Place place, memory.find(self));
  arguments[0] = place.memory;
  if (arguments[3].isNone())
    arguments[3] = AtenValue(place.offset);
  return llvm::Error::success();
}

/// Notes which results of \p node are views of its operand.
llvm::Error
ExportedGraph::noteViews(const json::Object &node, const RegisteredAtenOp &op,
                         const std::map<unsigned, std::string> &tensors,
                         const AtenValue::List &arguments) {
  const AtenSchema &schema = op.schema;
  if (schema.results.size() != 1 || schema.results[0].aliasSet.empty())
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(const json::Array *outputs,
                           getArray(node, "outputs"));
  for (auto [i, argument] : llvm::enumerate(schema.arguments)) {
    auto base = tensors.find(unsigned(i));
    if (argument.aliasSet != schema.results[0].aliasSet ||
        base == tensors.end() || outputs->size() != 1)
      continue;
    GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> names,
                             readResultNames(outputs->front()));
    AtenView view{.op = &op, .arguments = arguments, .self = unsigned(i)};
    for (auto [k, name] : llvm::enumerate(names)) {
      if (schema.results[0].type.isList)
        view.element = k;
      memory.addView(name, base->second, view);
    }
  }
  return llvm::Error::success();
}

llvm::Expected<AtenValue::List> ExportedGraph::runNode(const json::Object &node,
                                                       llvm::StringRef target,
                                                       llvm::StringRef name) {
  bool isFunctionalized = target == functionalizedTarget;
  std::string operatorName = getOperatorName(getCalled(node, target));
  if (auto *external = findExternalAten(context.options, operatorName))
    return runExternal(node, *external, name, isFunctionalized);
  if (isFunctionalized)
    return makeError("it calls '{0}'; accepted: operators of plug-ins",
                     getCalled(node, target));
  if (const RegisteredAtenOp *op = findAtenOperator(operatorName))
    return runAten(node, *op, name);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NamedArgument> stated,
                           readArguments(node));
  if (isPythonOperator(target)) {
    AtenValue::List arguments;
    for (const NamedArgument &argument : stated) {
      GLOWISH_ASSIGN_OR_RETURN(AtenValue value, values.read(argument.value));
      arguments.push_back(std::move(value));
    }
    GLOWISH_ASSIGN_OR_RETURN(
        AtenValue result, runPythonOperator(target, arguments, context.ranges));
    return AtenValue::List{std::move(result)};
  }
  std::vector<HigherOrderArgument> arguments;
  for (const NamedArgument &argument : stated) {
    HigherOrderArgument &own = arguments.emplace_back();
    if (argument.value.name == "as_graph") {
      GLOWISH_ASSIGN_OR_RETURN(const json::Object *object,
                               asObject(*argument.value.value));
      GLOWISH_ASSIGN_OR_RETURN(own.graph, getObject(*object, "graph"));
    } else {
      GLOWISH_ASSIGN_OR_RETURN(own.value, values.read(argument.value));
    }
  }
  return runHigherOrder(target, name, std::move(arguments), function, context);
}

/// Returns whether a value of \p type is one of the type \p stated, once it has
/// the extents of that: those that it has are the same. Where it has none, it
/// has the elements up to its bound, of which the first are the stated ones.
static bool agrees(const Type &type, const Type &stated,
                   const SymbolRanges &symbols) {
  if (type.getKind() != stated.getKind() || type.getRank() != stated.getRank())
    return false;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    const Extent *own = type.getExtent(d), *other = stated.getExtent(d);
    if (!other ? own || type.getDim(d) != stated.getDim(d)
        : own  ? symbols.areEqual(*own, *other) != Certainty::Yes
               : symbols.isAtMost(*other, type.getDim(d)) != Certainty::Yes)
      return false;
  }
  return true;
}

/// Gives \p value those extents of \p stated that it lacks.
llvm::Expected<NodeValue> ExportedGraph::declareStated(llvm::StringRef name,
                                                       NodeValue value,
                                                       const Type &stated) {
  const Type &type = value.getType();
  ExtentList extents(type.getRank());
  for (unsigned d = 0; d < type.getRank(); ++d)
    if (const Extent *own =
            type.getExtent(d) ? type.getExtent(d) : stated.getExtent(d))
      extents[d] = *own;
  NodeBuilder b(function, name);
  return b.finish(b.declareExtents(value, type.withExtents(extents)));
}

/// Returns an error unless \p value has the type that the file states of
/// \p name. Gives it the extents that runs decide.
llvm::Error ExportedGraph::checkType(llvm::StringRef name, AtenValue &value) {
  if (!value.isTensor())
    return llvm::Error::success();
  const json::Object *meta = findTensorMeta(graph, name);
  if (!meta && !context.ranges.empty())
    return makeError("the file states no type of {0}; accepted with extents "
                     "that runs decide: the types of all results",
                     quote(name));
  if (!meta)
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(std::optional<Type> stated,
                           readTensorMeta(*meta, context));
  if (!stated && !context.ranges.empty())
    return makeError("the file states a type of {0} that is no expression of "
                     "the inputs' symbols; accepted: sums, multiples and "
                     "quotients of them, rounded",
                     quote(name));
  NodeValue tensor = value.get<NodeValue>();
  const Type &type = tensor.getType();
  if (stated && !agrees(type, *stated, context.ranges))
    return makeError("the result {0} would be {1}, and the file states {2}",
                     quote(name), type.str(), stated->str());
  if (!stated || !stated->hasExtents())
    return llvm::Error::success();
  if (function.isBody())
    return makeError("the result {0} is {1}; accepted in branches and loops: "
                     "extents that no run decides",
                     quote(name), stated->str());
  GLOWISH_ASSIGN_OR_RETURN(tensor, declareStated(name, tensor, *stated));
  value = AtenValue(tensor);
  return llvm::Error::success();
}

llvm::Error ExportedGraph::setResults(const json::Object &node,
                                      AtenValue::List results,
                                      llvm::StringRef where) {
  GLOWISH_ASSIGN_OR_RETURN(const json::Array *outputs,
                           getArray(node, "outputs"));
  // An operator with several results may have one output, their list.
  if (outputs->size() == 1 && results.size() > 1) {
    AtenValue::List list = std::move(results);
    results = {AtenValue(std::move(list))};
  }
  for (auto [i, output] : llvm::enumerate(*outputs)) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> names,
                             readResultNames(output));
    if (names.empty())
      continue;
    if (i >= results.size())
      return makeError("the file has output {0}, and the operator {1} results",
                       i, results.size());
    AtenValue::List own;
    if (results[i].is<AtenValue::List>())
      own = results[i].get<AtenValue::List>();
    else
      own.push_back(results[i]);
    if (own.size() != names.size())
      return makeError("output {0} has {1} names for {2} values", i,
                       names.size(), own.size());
    for (auto &&[name, value] : llvm::zip_equal(names, own)) {
      GLOWISH_RETURN_IF_ERROR(checkType(name, value));
      // Results that nothing computes may be named and not used.
      if (!value.isNone())
        values.set(name, value);
      else
        values.setMissing(name, llvm::formatv("result {0} of {1}", i, where));
    }
  }
  return llvm::Error::success();
}

/// That of the node, or in older files that of its first result.
static llvm::Expected<std::string> getNodeName(const json::Object &node) {
  if (auto name = node.getString("name"))
    return name->str();
  GLOWISH_ASSIGN_OR_RETURN(const json::Array *outputs,
                           getArray(node, "outputs"));
  for (const json::Value &output : *outputs) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> names,
                             readResultNames(output));
    if (!names.empty())
      return names.front();
  }
  return "node";
}

llvm::Error ExportedGraph::importNode(const json::Object &node) {
  GLOWISH_ASSIGN_OR_RETURN(llvm::StringRef target, getString(node, "target"));
  GLOWISH_ASSIGN_OR_RETURN(std::string name, getNodeName(node));
  std::string where = describeNode(name, target);
  auto run = [&]() -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results,
                             runNode(node, target, name));
    return setResults(node, std::move(results), where);
  };
  if (llvm::Error error = run())
    return addContext(std::move(error), where + ": ");
  return llvm::Error::success();
}

llvm::Error ExportedGraph::importNodes() {
  GLOWISH_ASSIGN_OR_RETURN(const json::Array *nodes, getArray(graph, "nodes"));
  for (const json::Value &value : *nodes) {
    GLOWISH_ASSIGN_OR_RETURN(const json::Object *node, asObject(value));
    GLOWISH_RETURN_IF_ERROR(importNode(*node));
  }
  return llvm::Error::success();
}

llvm::Expected<AtenValue::List> ExportedGraph::import(AtenValue::List inputs) {
  GLOWISH_ASSIGN_OR_RETURN(const json::Array *stated,
                           getArray(graph, "inputs"));
  if (stated->size() != inputs.size())
    return makeError("a graph has {0} inputs and gets {1}", stated->size(),
                     inputs.size());
  for (auto [i, value] : llvm::enumerate(*stated)) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> names,
                             readResultNames(value));
    if (names.size() == 1)
      values.set(names.front(), inputs[i]);
  }
  GLOWISH_RETURN_IF_ERROR(importNodes());
  GLOWISH_ASSIGN_OR_RETURN(const json::Array *outputs,
                           getArray(graph, "outputs"));
  AtenValue::List results;
  for (const json::Value &output : *outputs) {
    GLOWISH_ASSIGN_OR_RETURN(AtenValue value, values.read(output));
    results.push_back(std::move(value));
  }
  return results;
}
