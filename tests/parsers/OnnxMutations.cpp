//===- OnnxMutations.cpp - Mutations of ONNX models -----------------------===//

#include "parsers/OnnxMutations.h"
#include "parsers/OnnxSchemas.h"
#include "robustness/Extremes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <iterator>
#include <set>

using namespace glowish;
using namespace glowish::parsers;
using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

static constexpr int64_t numbers[] = {0,  1,  2,  3,  4,   5,    7,    8,
                                      16, -1, -2, -3, 255, 1000, 1024, 65536};

namespace {

class ModelMutator {
public:
  ModelMutator(onnx::ModelProto &model, Random &random)
      : model(model), graph(*model.mutable_graph()), random(random) {
    collectNames();
  }
  void mutate();
  void cross(const GraphProto &other);

private:
  void collectNames();
  NodeProto *pickNode() {
    return graph.node_size()
               ? graph.mutable_node(int(random.below(graph.node_size())))
               : nullptr;
  }
  TensorProto *pickTensor();
  std::string pickName();
  std::string makeName() { return "v" + std::to_string(random.below(1000)); }
  /// Mostly small, as large ones end most ways early.
  int64_t pickNumber() {
    if (random.below(8) == 0)
      return robustness::pickExtreme(random);
    return numbers[random.below(random.below(4) ? 9 : std::size(numbers))];
  }
  /// Moves the last node to another place.
  void moveLastNode(int to);
  void declareOutput(const std::string &name);

  void addNode();
  void repeatNode();
  void removeNode();
  void swapNodes();
  void changeOperator();
  void setAttribute();
  void changeAttributeType();
  void connect();
  void renameValue();
  void changeOpset();
  void changeInput();
  void changeExtents();
  void changeElements();
  void makeExternal();
  void makeInitializer();

  onnx::ModelProto &model;
  GraphProto &graph;
  Random &random;
  std::vector<std::string> names;
};

} // namespace

void ModelMutator::collectNames() {
  for (const auto &input : graph.input())
    names.push_back(input.name());
  for (const TensorProto &tensor : graph.initializer())
    names.push_back(tensor.name());
  for (const NodeProto &node : graph.node())
    names.insert(names.end(), node.output().begin(), node.output().end());
}

std::string ModelMutator::pickName() {
  return names.empty() ? makeName() : names[random.below(names.size())];
}

/// An initializer, or the tensor of an attribute.
TensorProto *ModelMutator::pickTensor() {
  std::vector<TensorProto *> tensors;
  for (TensorProto &tensor : *graph.mutable_initializer())
    tensors.push_back(&tensor);
  for (NodeProto &node : *graph.mutable_node())
    for (AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_t())
        tensors.push_back(attribute.mutable_t());
  return tensors.empty() ? nullptr : tensors[random.below(tensors.size())];
}

void ModelMutator::moveLastNode(int to) {
  for (int i = graph.node_size() - 1; i > to; --i)
    graph.mutable_node()->SwapElements(i, i - 1);
}

void ModelMutator::declareOutput(const std::string &name) {
  graph.add_output()->set_name(name);
}

//===- Nodes --------------------------------------------------------------===//

void ModelMutator::addNode() {
  const std::vector<OnnxOperator> &operators = getOnnxOperators();
  const OnnxOperator &op = operators[random.below(operators.size())];
  NodeProto &node = *graph.add_node();
  node.set_op_type(op.name);
  int numInputs =
      op.minInputs +
      int(random.below(std::max(op.maxInputs - op.minInputs, 0) + 1));
  for (int i = 0; i < numInputs; ++i)
    node.add_input(pickName());
  for (int i = 0; i < std::max(op.minOutputs, 1); ++i)
    node.add_output(makeName());
  declareOutput(node.output(0));
}

void ModelMutator::repeatNode() {
  NodeProto *node = pickNode();
  if (!node)
    return;
  NodeProto copy = *node;
  for (std::string &output : *copy.mutable_output())
    output += "_2";
  std::string output = copy.output_size() ? copy.output(0) : makeName();
  *graph.add_node() = std::move(copy);
  if (random.below(2))
    declareOutput(output);
}

/// What read its result reads its operand.
void ModelMutator::removeNode() {
  if (graph.node_size() == 0)
    return;
  int at = int(random.below(graph.node_size()));
  NodeProto removed = graph.node(at);
  graph.mutable_node()->DeleteSubrange(at, 1);
  if (!removed.input_size() || !removed.output_size())
    return;
  for (NodeProto &node : *graph.mutable_node())
    for (std::string &input : *node.mutable_input())
      if (input == removed.output(0))
        input = removed.input(0);
  for (auto &output : *graph.mutable_output())
    if (output.name() == removed.output(0))
      output.set_name(removed.input(0));
}

void ModelMutator::swapNodes() {
  if (graph.node_size() > 1)
    graph.mutable_node()->SwapElements(int(random.below(graph.node_size())),
                                       int(random.below(graph.node_size())));
}

void ModelMutator::changeOperator() {
  const std::vector<OnnxOperator> &operators = getOnnxOperators();
  if (NodeProto *node = pickNode()) {
    node->set_op_type(operators[random.below(operators.size())].name);
    node->clear_domain();
  }
}

//===- Attributes ---------------------------------------------------------===//

/// Gives \p attribute a value of \p type.
static void setValue(AttributeProto &attribute, int type, int64_t number,
                     Random &random) {
  std::string name = attribute.name();
  attribute.Clear();
  attribute.set_name(name);
  if (!AttributeProto::AttributeType_IsValid(type))
    type = AttributeProto::INT;
  attribute.set_type(AttributeProto::AttributeType(type));
  switch (type) {
  case AttributeProto::FLOAT:
    return attribute.set_f(float(number) / 4);
  case AttributeProto::INT:
    return attribute.set_i(number);
  case AttributeProto::STRING:
    return attribute.set_s(std::to_string(number));
  case AttributeProto::FLOATS:
    for (uint64_t left = random.below(5); left > 0; --left)
      attribute.add_floats(float(number) / 4);
    return;
  case AttributeProto::INTS:
    for (uint64_t left = random.below(7); left > 0; --left)
      attribute.add_ints(random.below(3) ? number : int64_t(left));
    return;
  case AttributeProto::STRINGS:
    return attribute.add_strings("a");
  case AttributeProto::TENSOR:
    attribute.mutable_t()->set_data_type(TensorProto::INT64);
    attribute.mutable_t()->add_dims(1);
    return attribute.mutable_t()->add_int64_data(number);
  default:
    return;
  }
}

/// One that the schema of the node's operator has.
void ModelMutator::setAttribute() {
  NodeProto *node = pickNode();
  if (!node)
    return;
  for (const OnnxOperator &op : getOnnxOperators()) {
    if (op.name != node->op_type() || op.attributes.empty())
      continue;
    const OnnxOperator::Attribute &known =
        op.attributes[random.below(op.attributes.size())];
    AttributeProto *attribute = nullptr;
    for (AttributeProto &present : *node->mutable_attribute())
      if (present.name() == known.name)
        attribute = &present;
    if (!attribute)
      attribute = node->add_attribute();
    attribute->set_name(known.name);
    return setValue(*attribute, known.type, pickNumber(), random);
  }
}

void ModelMutator::changeAttributeType() {
  NodeProto *node = pickNode();
  if (node && node->attribute_size())
    setValue(
        *node->mutable_attribute(int(random.below(node->attribute_size()))),
        int(random.below(15)), pickNumber(), random);
}

//===- Values -------------------------------------------------------------===//

/// An operand becomes another value, is left out, or is one more.
void ModelMutator::connect() {
  NodeProto *node = pickNode();
  if (!node)
    return;
  std::string name = random.below(6) ? pickName() : "";
  if (node->input_size() == 0 || random.below(4) == 0)
    return node->add_input(name);
  *node->mutable_input(int(random.below(node->input_size()))) = name;
}

/// Everywhere: what else has the new name is the same value then.
void ModelMutator::renameValue() {
  std::string from = pickName(), to = random.below(2) ? pickName() : makeName();
  auto rename = [&](std::string &name) {
    if (name == from)
      name = to;
  };
  for (NodeProto &node : *graph.mutable_node()) {
    llvm::for_each(*node.mutable_input(), rename);
    llvm::for_each(*node.mutable_output(), rename);
  }
  for (auto *list : {graph.mutable_input(), graph.mutable_output()})
    for (auto &info : *list)
      rename(*info.mutable_name());
  for (TensorProto &tensor : *graph.mutable_initializer())
    rename(*tensor.mutable_name());
}

void ModelMutator::changeOpset() {
  if (model.opset_import_size() == 0)
    model.add_opset_import();
  model.mutable_opset_import(int(random.below(model.opset_import_size())))
      ->set_version(random.below(8) ? 1 + int64_t(random.below(24))
                                    : pickNumber());
}

/// The type of an input, or one of its extents: a number or a symbol.
void ModelMutator::changeInput() {
  if (graph.input_size() == 0)
    return;
  auto &type = *graph.mutable_input(int(random.below(graph.input_size())))
                    ->mutable_type()
                    ->mutable_tensor_type();
  if (random.below(3) == 0)
    return type.set_elem_type(int(random.below(24)));
  auto &shape = *type.mutable_shape();
  if (shape.dim_size() == 0 || random.below(6) == 0)
    return shape.add_dim()->set_dim_value(pickNumber());
  if (random.below(8) == 0)
    return shape.mutable_dim()->RemoveLast();
  auto &dim = *shape.mutable_dim(int(random.below(shape.dim_size())));
  static const char *const symbols[] = {"n", "m", "2*n", "m+1", "unknown"};
  if (random.below(2))
    return dim.set_dim_param(symbols[random.below(std::size(symbols))]);
  dim.set_dim_value(pickNumber());
}

//===- Tensors ------------------------------------------------------------===//

void ModelMutator::changeExtents() {
  TensorProto *tensor = pickTensor();
  if (!tensor)
    return;
  if (tensor->dims_size() == 0 || random.below(4) == 0)
    return tensor->add_dims(random.below(2) ? 1 : pickNumber());
  int at = int(random.below(tensor->dims_size()));
  switch (random.below(3)) {
  case 0:
    return tensor->mutable_dims()->Truncate(at);
  case 1:
    return tensor->mutable_dims()->SwapElements(at, 0);
  default:
    tensor->set_dims(at, pickNumber());
  }
}

/// The kind or the number of elements, and whether they are raw.
void ModelMutator::changeElements() {
  TensorProto *tensor = pickTensor();
  if (!tensor)
    return;
  if (random.below(3) == 0)
    return tensor->set_data_type(int(random.below(24)));
  std::string raw = tensor->raw_data();
  for (float value : tensor->float_data())
    raw.append(reinterpret_cast<const char *>(&value), sizeof(value));
  for (int64_t value : tensor->int64_data())
    raw.append(reinterpret_cast<const char *>(&value), sizeof(value));
  for (int32_t value : tensor->int32_data())
    raw.append(reinterpret_cast<const char *>(&value),
               tensor->data_type() == TensorProto::INT32 ? 4 : 1);
  if (random.below(2))
    raw.resize(random.below(2 * raw.size() + 9));
  else if (!raw.empty())
    raw[random.below(raw.size())] = char(random.next());
  tensor->clear_float_data();
  tensor->clear_int64_data();
  tensor->clear_int32_data();
  tensor->set_raw_data(raw);
}

void ModelMutator::makeExternal() {
  TensorProto *tensor = pickTensor();
  if (!tensor)
    return;
  static const char *const places[] = {"weights",   "weights", "../weights", "",
                                       "/dev/null", ".",       "none"};
  tensor->set_data_location(TensorProto::EXTERNAL);
  tensor->clear_external_data();
  auto add = [&](const char *key, std::string value) {
    auto &entry = *tensor->add_external_data();
    entry.set_key(key);
    entry.set_value(std::move(value));
  };
  add("location", places[random.below(std::size(places))]);
  if (random.below(2))
    add("offset", std::to_string(pickNumber()));
  if (random.below(2))
    add("length", std::to_string(pickNumber()));
}

/// An input becomes a constant: what is computed of constants is folded.
void ModelMutator::makeInitializer() {
  if (graph.input_size() == 0)
    return;
  const auto &input = graph.input(int(random.below(graph.input_size())));
  const auto &type = input.type().tensor_type();
  TensorProto tensor;
  tensor.set_name(input.name());
  tensor.set_data_type(type.elem_type());
  int64_t count = 1;
  for (const auto &dim : type.shape().dim()) {
    tensor.add_dims(dim.dim_value());
    count = std::min<int64_t>(
        count * std::clamp<int64_t>(dim.dim_value(), 0, 64), 64);
  }
  for (int64_t i = 0; i < count; ++i)
    if (type.elem_type() == TensorProto::INT64)
      tensor.add_int64_data(i % 3);
    else if (type.elem_type() == TensorProto::FLOAT)
      tensor.add_float_data(float(i % 5) / 2);
    else
      tensor.add_int32_data(int32_t(i % 3));
  *graph.add_initializer() = std::move(tensor);
}

//===- All ----------------------------------------------------------------===//

void ModelMutator::mutate() {
  using Mutation = void (ModelMutator::*)();
  static constexpr Mutation mutations[] = {
      &ModelMutator::addNode,        &ModelMutator::repeatNode,
      &ModelMutator::removeNode,     &ModelMutator::swapNodes,
      &ModelMutator::changeOperator, &ModelMutator::setAttribute,
      &ModelMutator::setAttribute,   &ModelMutator::changeAttributeType,
      &ModelMutator::connect,        &ModelMutator::renameValue,
      &ModelMutator::changeOpset,    &ModelMutator::changeInput,
      &ModelMutator::changeInput,    &ModelMutator::changeExtents,
      &ModelMutator::changeElements, &ModelMutator::makeExternal,
      &ModelMutator::makeInitializer};
  (this->*mutations[random.below(std::size(mutations))])();
}

void ModelMutator::cross(const GraphProto &other) {
  // Values that only the other has keep apart from those that are there.
  std::set<std::string> own(names.begin(), names.end()), added;
  auto rename = [&](std::string &name) {
    if (own.count(name) && random.below(3))
      name += "_3";
  };
  for (const TensorProto &tensor : other.initializer())
    if (!own.count(tensor.name()))
      *graph.add_initializer() = tensor;
  if (other.node_size() == 0)
    return;
  int first = int(random.below(other.node_size()));
  int end = first + 1 + int(random.below(other.node_size() - first));
  for (int i = first; i < end; ++i) {
    NodeProto node = other.node(i);
    for (std::string &input : *node.mutable_input())
      if (!input.empty() && !added.count(input) && random.below(2))
        input = pickName();
    llvm::for_each(*node.mutable_output(), rename);
    added.insert(node.output().begin(), node.output().end());
    *graph.add_node() = std::move(node);
  }
  const NodeProto &last = graph.node(graph.node_size() - 1);
  if (last.output_size())
    declareOutput(last.output(0));
}

void glowish::parsers::mutateModel(onnx::ModelProto &model, Random &random) {
  ModelMutator(model, random).mutate();
}

void glowish::parsers::crossModels(onnx::ModelProto &model,
                                   const onnx::ModelProto &other,
                                   Random &random) {
  ModelMutator(model, random).cross(other.graph());
}
