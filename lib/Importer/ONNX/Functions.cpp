//===- Functions.cpp - Functions of a model written out -------------------===//

#include "ONNX/Functions.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringMap.h"
#include <map>

using namespace glowish;
using onnx::FunctionProto;
using onnx::NodeProto;
using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

/// Functions that call each other twice and more grow without bounds.
static constexpr int maxNodes = 1 << 20;
static constexpr unsigned maxDepth = 64;

namespace {

class Inliner {
public:
  explicit Inliner(onnx::ModelProto &model);
  llvm::Error run();

private:
  using Key = std::pair<std::string, std::string>; // domain, name
  llvm::Error addAll(const Nodes &nodes, unsigned depth);
  llvm::Error addCall(const NodeProto &call, const FunctionProto &function,
                      unsigned depth);
  llvm::Error checkOpset(const FunctionProto &function) const;

  onnx::ModelProto &model;
  std::map<Key, const FunctionProto *> functions;
  Nodes result;
  unsigned numCalls = 0;
};

} // namespace

static std::string getDomain(const std::string &domain) {
  return domain == "ai.onnx" ? "" : domain;
}

Inliner::Inliner(onnx::ModelProto &model) : model(model) {
  for (const FunctionProto &function : model.functions())
    functions[{getDomain(function.domain()), function.name()}] = &function;
}

/// Operators mean what the model's operator set says.
llvm::Error Inliner::checkOpset(const FunctionProto &function) const {
  for (const auto &own : function.opset_import())
    for (const auto &other : model.opset_import())
      if (getDomain(own.domain()).empty() &&
          getDomain(other.domain()).empty() && own.version() != other.version())
        return makeError("function '{0}' is of opset {1}; accepted: {2}, the "
                         "model's",
                         function.name(), own.version(), other.version());
  return llvm::Error::success();
}

/// The attributes of \p node that stand for one of \p call's get its value, or
/// are left out where it has none.
static void bindAttributes(NodeProto &node, const NodeProto &call) {
  google::protobuf::RepeatedPtrField<onnx::AttributeProto> bound;
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      *bound.Add() = attribute;
      continue;
    }
    for (const onnx::AttributeProto &given : call.attribute())
      if (given.name() == attribute.ref_attr_name()) {
        *bound.Add() = given;
        bound.rbegin()->set_name(attribute.name());
      }
  }
  node.mutable_attribute()->Swap(&bound);
}

llvm::Error Inliner::addCall(const NodeProto &call,
                             const FunctionProto &function, unsigned depth) {
  if (depth > maxDepth)
    return makeError("function '{0}' calls itself, or functions are nested "
                     "more than {1} deep",
                     function.name(), maxDepth);
  GLOWISH_CHECK(checkOpset(function));
  if (call.input_size() > function.input_size() ||
      call.output_size() > function.output_size())
    return makeError("a call of function '{0}' has {1} inputs and {2} outputs; "
                     "accepted: up to {3} and {4}",
                     function.name(), call.input_size(), call.output_size(),
                     function.input_size(), function.output_size());
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
  for (NodeProto &node : body) {
    bindAttributes(node, call);
    for (std::string &name : *node.mutable_input())
      rename(name);
    for (std::string &name : *node.mutable_output())
      rename(name);
    node.set_name(prefix + node.name());
  }
  return addAll(body, depth + 1);
}

llvm::Error Inliner::addAll(const Nodes &nodes, unsigned depth) {
  for (const NodeProto &node : nodes) {
    auto found = functions.find({getDomain(node.domain()), node.op_type()});
    if (found != functions.end()) {
      GLOWISH_CHECK(addCall(node, *found->second, depth));
      continue;
    }
    if (result.size() >= maxNodes)
      return makeError("the functions of the model make more than {0} nodes",
                       maxNodes);
    *result.Add() = node;
  }
  return llvm::Error::success();
}

llvm::Error Inliner::run() {
  GLOWISH_CHECK(addAll(model.graph().node(), 0));
  model.mutable_graph()->mutable_node()->Swap(&result);
  return llvm::Error::success();
}

llvm::Error glowish::inlineFunctions(onnx::ModelProto &model) {
  if (model.functions_size() == 0)
    return llvm::Error::success();
  return Inliner(model).run();
}
