//===- Functions.cpp - Inlining of model-local functions ------------------===//

#include "ONNX/Functions.h"
#include "ONNX/LaterFields.h"
#include "ONNX/ModelFile.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringMap.h"
#include <map>

using namespace glowish;
using namespace glowish::onnximport;
using onnx::FunctionProto;
using onnx::NodeProto;
using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

/// Functions that call others repeatedly grow exponentially: inlined code is
/// limited to maxGrowth times the bytes of the model plus freeBytes.
static constexpr size_t maxGrowth = 32;
static constexpr size_t freeBytes = 32 << 20;
static constexpr unsigned maxDepth = 64;

namespace {

class Inliner {
public:
  explicit Inliner(onnx::ModelProto &model);
  llvm::Expected<NodeOpsets> run();

private:
  /// Domain, name and overload.
  using Key = std::tuple<std::string, std::string, std::string>;
  using SharedOpsets = std::shared_ptr<const Opsets>;
  /// \p own: the opsets of \p nodes, null for the model's.
  llvm::Error addAll(const Nodes &nodes, const SharedOpsets &own,
                     unsigned depth, Nodes &result);
  llvm::Error addCall(const NodeProto &call, const FunctionProto &function,
                      unsigned depth, Nodes &result);
  llvm::Error addGraphs(NodeProto &node, const SharedOpsets &own,
                        unsigned depth);
  using Rename = llvm::function_ref<void(std::string &name)>;
  llvm::Error bindNodes(Nodes &nodes, const NodeProto &call,
                        llvm::StringRef prefix, Rename rename);
  llvm::Error bindAttributes(NodeProto &node, const NodeProto &call);
  /// Takes \p bytes from the budget for inlined code.
  llvm::Error take(size_t bytes);
  llvm::Expected<SharedOpsets> readOpsets(const FunctionProto &function);

  onnx::ModelProto &model;
  std::map<Key, const FunctionProto *> functions;
  std::map<const FunctionProto *, SharedOpsets> functionOpsets;
  NodeOpsets opsets;
  unsigned numCalls = 0;
  size_t budget;
};

} // namespace

Inliner::Inliner(onnx::ModelProto &model)
    : model(model), budget(maxGrowth * model.ByteSizeLong() + freeBytes) {
  for (const FunctionProto &function : model.functions())
    functions[{normalizeDomain(function.domain()), function.name(),
               getOverload(function)}] = &function;
}

llvm::Error Inliner::take(size_t bytes) {
  if (bytes > budget)
    return makeError("inlined, the functions of the model would take more than "
                     "{0} times its size and {1} MiB",
                     maxGrowth, freeBytes >> 20);
  budget -= bytes;
  return llvm::Error::success();
}

llvm::Expected<Inliner::SharedOpsets>
Inliner::readOpsets(const FunctionProto &function) {
  SharedOpsets &known = functionOpsets[&function];
  if (known)
    return known;
  llvm::Expected<Opsets> own =
      Opsets::read(function.opset_import(), opsets.getModel());
  if (!own)
    return addContext(own.takeError(),
                      "function " + quote(function.name()) + ": ");
  known = std::make_shared<const Opsets>(std::move(*own));
  return known;
}

/// Returns \p call with the attributes that \p function states for those that
/// it lacks.
static llvm::Expected<NodeProto> addDefaults(const NodeProto &call,
                                             const FunctionProto &function) {
  GLOWISH_ASSIGN_OR_RETURN(auto defaults, getDefaultAttributes(function));
  NodeProto complete = call;
  for (onnx::AttributeProto &attribute : defaults)
    if (llvm::none_of(call.attribute(), [&](const auto &given) {
          return given.name() == attribute.name();
        }))
      *complete.add_attribute() = std::move(attribute);
  return complete;
}

/// Replaces the attributes of \p node that refer to attributes of \p call by
/// these, and removes those that \p call does not have.
llvm::Error Inliner::bindAttributes(NodeProto &node, const NodeProto &call) {
  google::protobuf::RepeatedPtrField<onnx::AttributeProto> bound;
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      *bound.Add() = attribute;
      continue;
    }
    for (const onnx::AttributeProto &given : call.attribute())
      if (given.name() == attribute.ref_attr_name()) {
        GLOWISH_RETURN_IF_ERROR(take(given.SpaceUsedLong()));
        *bound.Add() = given;
        bound.rbegin()->set_name(attribute.name());
      }
  }
  node.mutable_attribute()->Swap(&bound);
  return llvm::Error::success();
}

llvm::Error Inliner::addCall(const NodeProto &call,
                             const FunctionProto &function, unsigned depth,
                             Nodes &result) {
  if (depth > maxDepth)
    return makeError("function {0} calls itself, or functions are nested more "
                     "than {1} deep",
                     quote(function.name()), maxDepth);
  GLOWISH_ASSIGN_OR_RETURN(SharedOpsets own, readOpsets(function));
  if (call.input_size() > function.input_size() ||
      call.output_size() > function.output_size())
    return makeError("a call of function {0} has {1} inputs and {2} outputs; "
                     "accepted: up to {3} and {4}",
                     quote(function.name()), call.input_size(),
                     call.output_size(), function.input_size(),
                     function.output_size());
  llvm::StringMap<std::string> names;
  for (int i = 0; i < function.input_size(); ++i)
    names[function.input(i)] = i < call.input_size() ? call.input(i) : "";
  for (int i = 0; i < call.output_size(); ++i)
    if (!call.output(i).empty())
      names[function.output(i)] = call.output(i);
  std::string prefix = function.name() + "." + std::to_string(numCalls++) + "/";
  auto rename = [&](std::string &name) {
    if (!name.empty())
      name = names.try_emplace(name, prefix + name).first->second;
  };
  Nodes body = function.node();
  GLOWISH_ASSIGN_OR_RETURN(NodeProto complete, addDefaults(call, function));
  GLOWISH_RETURN_IF_ERROR(bindNodes(body, complete, prefix, rename));
  return addAll(body, own, depth + 1, result);
}

/// Renames the values of \p graph, a subgraph of a function body.
static void renameValues(onnx::GraphProto &graph,
                         llvm::function_ref<void(std::string &)> rename) {
  for (auto *list : {graph.mutable_input(), graph.mutable_output(),
                     graph.mutable_value_info()})
    for (onnx::ValueInfoProto &info : *list)
      rename(*info.mutable_name());
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    rename(*tensor.mutable_name());
  for (onnx::SparseTensorProto &tensor : *graph.mutable_sparse_initializer())
    rename(*tensor.mutable_values()->mutable_name());
}

/// Instantiates \p nodes, of a function or of a subgraph in it, for \p call.
llvm::Error Inliner::bindNodes(Nodes &nodes, const NodeProto &call,
                               llvm::StringRef prefix, Rename rename) {
  for (NodeProto &node : nodes) {
    // Before bindAttributes(): subgraphs that are attributes of the call must
    // not be renamed.
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (!attribute.has_g())
        continue;
      renameValues(*attribute.mutable_g(), rename);
      GLOWISH_RETURN_IF_ERROR(bindNodes(*attribute.mutable_g()->mutable_node(),
                                        call, prefix, rename));
    }
    GLOWISH_RETURN_IF_ERROR(bindAttributes(node, call));
    for (std::string &name : *node.mutable_input())
      rename(name);
    for (std::string &name : *node.mutable_output())
      rename(name);
    node.set_name((prefix + node.name()).str());
  }
  return llvm::Error::success();
}

/// Inlines the calls in the subgraphs of \p node.
llvm::Error Inliner::addGraphs(NodeProto &node, const SharedOpsets &own,
                               unsigned depth) {
  for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
    if (!attribute.has_g())
      continue;
    Nodes inner;
    GLOWISH_RETURN_IF_ERROR(addAll(attribute.g().node(), own, depth, inner));
    attribute.mutable_g()->mutable_node()->Swap(&inner);
  }
  return llvm::Error::success();
}

llvm::Error Inliner::addAll(const Nodes &nodes, const SharedOpsets &own,
                            unsigned depth, Nodes &result) {
  for (const NodeProto &node : nodes) {
    auto found = functions.find(
        {normalizeDomain(node.domain()), node.op_type(), getOverload(node)});
    if (found != functions.end()) {
      GLOWISH_RETURN_IF_ERROR(addCall(node, *found->second, depth, result));
      continue;
    }
    GLOWISH_RETURN_IF_ERROR(take(node.SpaceUsedLong()));
    NodeProto &added = *result.Add();
    added = node;
    if (own)
      opsets.set(added, own);
    GLOWISH_RETURN_IF_ERROR(addGraphs(added, own, depth));
  }
  return llvm::Error::success();
}

llvm::Expected<NodeOpsets> Inliner::run() {
  GLOWISH_ASSIGN_OR_RETURN(Opsets own, Opsets::read(model));
  opsets.setModel(std::move(own));
  if (model.functions_size() == 0)
    return std::move(opsets);
  Nodes result;
  GLOWISH_RETURN_IF_ERROR(
      addAll(model.graph().node(), /*own=*/nullptr, 0, result));
  // The swap keeps the addresses of nodes, which are keys of the opsets.
  model.mutable_graph()->mutable_node()->Swap(&result);
  return std::move(opsets);
}

llvm::Expected<NodeOpsets>
onnximport::inlineFunctions(onnx::ModelProto &model) {
  return Inliner(model).run();
}
