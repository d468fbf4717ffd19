//===- FlexAttention.cpp - Expansion of FlexAttention ---------------------===//

#include "ONNX/FlexAttention.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace glowish;
using namespace glowish::onnximport;
using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

static bool isGraph(const AttributeProto &attr) {
  return attr.has_g() || attr.graphs_size();
}

static bool isFlexAttention(const NodeProto &node) {
  return node.domain() == "ai.onnx.preview" &&
         node.op_type() == "FlexAttention" &&
         llvm::any_of(node.attribute(), isGraph);
}

namespace {

/// Emits the decomposition of one FlexAttention. The scaled scores are output 3
/// of an Attention node.
class Expansion {
public:
  Expansion(const NodeProto &node, Nodes &nodes)
      : node(node), nodes(nodes),
        prefix((node.name().empty() && node.output_size() ? node.output(0)
                                                          : node.name()) +
               "/") {}

  llvm::Error run();

private:
  NodeProto &add(const char *type, const std::vector<std::string> &inputs,
                 const std::string &output);
  void addShape(const std::string &of, int64_t start, int64_t end,
                const std::string &output);
  void addTensor(const onnx::TensorProto &tensor, const std::string &output);
  llvm::Expected<std::string> addGraph(const char *name, std::string input);
  void addWeightedValues(const std::string &weights);

  const NodeProto &node;
  Nodes &nodes;
  std::string prefix;
};

} // namespace

static void setInt(NodeProto &node, const char *name, int64_t value) {
  AttributeProto &attr = *node.add_attribute();
  attr.set_name(name);
  attr.set_type(AttributeProto::INT);
  attr.set_i(value);
}

NodeProto &Expansion::add(const char *type,
                          const std::vector<std::string> &inputs,
                          const std::string &output) {
  NodeProto &added = *nodes.Add();
  added.set_op_type(type);
  added.set_name(output);
  for (const std::string &input : inputs)
    added.add_input(input);
  added.add_output(output);
  return added;
}

void Expansion::addShape(const std::string &of, int64_t start, int64_t end,
                         const std::string &output) {
  NodeProto &shape = add("Shape", {of}, output);
  setInt(shape, "start", start);
  setInt(shape, "end", end);
}

void Expansion::addTensor(const onnx::TensorProto &tensor,
                          const std::string &output) {
  AttributeProto &value = *add("Constant", {}, output).add_attribute();
  value.set_name("value");
  value.set_type(AttributeProto::TENSOR);
  *value.mutable_t() = tensor;
}

/// Inlines the graph in attribute \p name and returns its result, or \p input
/// without the attribute. Names that the graph does not define are the model's.
llvm::Expected<std::string> Expansion::addGraph(const char *name,
                                                std::string input) {
  auto attr = llvm::find_if(node.attribute(), [&](const AttributeProto &each) {
    return each.name() == name;
  });
  if (attr == node.attribute().end())
    return input;
  const GraphProto &graph = attr->g();
  if (!attr->has_g() || graph.input_size() != 1 || graph.output_size() != 1 ||
      graph.sparse_initializer_size())
    return makeError(
        "attribute '{0}' is not a graph of one input and one output", name);
  std::string inner = prefix + name + "/";
  llvm::StringMap<std::string> names;
  names[graph.input(0).name()] = input;
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    names[tensor.name()] = inner + tensor.name();
    addTensor(tensor, inner + tensor.name());
  }
  for (const NodeProto &each : graph.node())
    for (const std::string &output : each.output())
      if (!output.empty())
        names[output] = inner + output;
  auto rename = [&](std::string &value) {
    auto found = names.find(value);
    if (found != names.end())
      value = found->second;
  };
  for (const NodeProto &each : graph.node()) {
    if (llvm::any_of(each.attribute(), isGraph))
      return makeError("attribute '{0}': its node '{1}' ({2}) has a graph of "
                       "its own; accepted: none",
                       name, each.name(), each.op_type());
    NodeProto &copy = *nodes.Add();
    copy = each;
    copy.set_name(inner + each.name());
    for (std::string &value : *copy.mutable_input())
      rename(value);
    for (std::string &value : *copy.mutable_output())
      rename(value);
  }
  std::string result = graph.output(0).name();
  rename(result);
  return result;
}

/// Multiplies \p weights [batch, heads, L, S] by the values [batch, shared
/// heads, S, E]: heads that share values (grouped-query attention) are rows of
/// one matmul.
void Expansion::addWeightedValues(const std::string &weights) {
  const std::string &values = node.input(2);
  onnx::TensorProto rest;
  rest.set_data_type(onnx::TensorProto::INT64);
  rest.add_dims(1);
  rest.add_int64_data(-1);
  std::string any = prefix + "any";
  addTensor(rest, any);
  addShape(values, 0, 2, prefix + "shared");
  addShape(values, 2, 3, prefix + "keys");
  addShape(weights, 0, 3, prefix + "rows");
  auto addReshape = [&](const std::string &from,
                        const std::vector<std::string> &extents,
                        const std::string &to) {
    setInt(add("Concat", extents, to + "/shape"), "axis", 0);
    add("Reshape", {from, to + "/shape"}, to);
  };
  addReshape(weights, {prefix + "shared", any, prefix + "keys"},
             prefix + "weights");
  add("MatMul", {prefix + "weights", values}, prefix + "weighted");
  addReshape(prefix + "weighted", {prefix + "rows", any}, node.output(0));
}

llvm::Error Expansion::run() {
  if (node.input_size() != 3 || node.output_size() != 1)
    return makeError("there are {0} inputs and {1} outputs; accepted: 3 and 1",
                     node.input_size(), node.output_size());
  NodeProto &attention = *nodes.Add();
  attention.set_op_type("Attention");
  attention.set_name(prefix + "scores");
  for (const std::string &input : node.input())
    attention.add_input(input);
  for (const char *output : {"", "", ""})
    attention.add_output(output);
  attention.add_output(prefix + "scores");
  for (const AttributeProto &attr : node.attribute())
    if (attr.name() != "score_mod" && attr.name() != "prob_mod")
      *attention.add_attribute() = attr;
  GLOWISH_ASSIGN_OR_RETURN(std::string scores,
                           addGraph("score_mod", prefix + "scores"));
  setInt(add("Softmax", {scores}, prefix + "probabilities"), "axis", -1);
  GLOWISH_ASSIGN_OR_RETURN(std::string weights,
                           addGraph("prob_mod", prefix + "probabilities"));
  addWeightedValues(weights);
  return llvm::Error::success();
}

llvm::Error onnximport::expandFlexAttention(onnx::ModelProto &model) {
  Nodes &nodes = *model.mutable_graph()->mutable_node();
  if (llvm::none_of(nodes, isFlexAttention))
    return llvm::Error::success();
  Nodes result;
  for (const NodeProto &node : nodes) {
    if (!isFlexAttention(node)) {
      *result.Add() = node;
      continue;
    }
    if (llvm::Error error = Expansion(node, result).run())
      return addContext(std::move(error),
                        "node '" + node.name() + "' (FlexAttention): ");
  }
  nodes.Swap(&result);
  return llvm::Error::success();
}
