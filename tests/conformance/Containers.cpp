//===- Containers.cpp - Inputs that are sequences or optionals ------------===//

#include "Containers.h"
#include "glowish/Importer/TensorProtoFile.h"
#include "glowish/Support/File.h"
#include <onnx/onnx-data_pb.h>
#include <onnx/onnx_pb.h>

using namespace glowish;

bool glowish::isContainer(const onnx::ValueInfoProto &value) {
  return value.type().has_sequence_type() || value.type().has_optional_type();
}

/// Whether the OptionalProto \p file has no value.
static llvm::Expected<bool> hasNoValue(const std::string &file) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(file));
  onnx::OptionalProto proto;
  if (!proto.ParseFromArray(buffer->getBufferStart(),
                            int(buffer->getBufferSize())))
    return makeError("'{0}': not an OptionalProto", file);
  return !proto.has_tensor_value() && !proto.has_sequence_value();
}

llvm::Expected<Container>
glowish::readContainer(const std::string &file,
                       const onnx::ValueInfoProto &value) {
  const onnx::TypeProto &type = value.type();
  Container container = {value.name()};
  container.isOptional = type.has_optional_type();
  container.isSequence =
      (container.isOptional ? type.optional_type().elem_type() : type)
          .has_sequence_type();
  if (container.isOptional) {
    GLOWISH_ASSIGN_OR_RETURN(container.isAbsent, hasNoValue(file));
  }
  // An optional tensor is read like a sequence of one.
  if (!container.isAbsent) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<Tensor> tensors,
                             readSequenceProto(file));
    for (Tensor &tensor : tensors)
      container.tensors.push_back(
          std::make_shared<const Tensor>(std::move(tensor)));
  }
  return container;
}

/// The type of the elements, or of the value, of an input.
static onnx::TypeProto getTensorType(onnx::TypeProto type) {
  if (type.has_optional_type())
    type = onnx::TypeProto(type.optional_type().elem_type());
  if (type.has_sequence_type())
    type = onnx::TypeProto(type.sequence_type().elem_type());
  return type;
}

/// Adds the nodes that make the value \p input of tensors.
static void addNodes(onnx::GraphProto &graph, const Container &container,
                     const onnx::ValueInfoProto &input) {
  onnx::NodeProto *node = graph.add_node();
  std::string sequence = container.name;
  if (container.isSequence && !container.isAbsent) {
    if (container.isOptional)
      sequence += ".sequence";
    node->set_op_type(container.tensors.empty() ? "SequenceEmpty"
                                                : "SequenceConstruct");
    for (size_t i = 0; i < container.tensors.size(); ++i)
      node->add_input(container.getTensorName(i));
    if (container.tensors.empty()) {
      onnx::AttributeProto *kind = node->add_attribute();
      kind->set_name("dtype");
      kind->set_type(onnx::AttributeProto::INT);
      kind->set_i(getTensorType(input.type()).tensor_type().elem_type());
    }
    node->add_output(sequence);
    if (!container.isOptional)
      return;
    node = graph.add_node();
  }
  node->set_op_type("Optional");
  if (!container.isAbsent) {
    node->add_input(container.isSequence ? sequence
                                         : container.getTensorName(0));
  } else {
    onnx::AttributeProto *type = node->add_attribute();
    type->set_name("type");
    type->set_type(onnx::AttributeProto::TYPE_PROTO);
    *type->mutable_tp() = input.type().optional_type().elem_type();
  }
  node->add_output(container.name);
}

void glowish::replaceContainers(onnx::ModelProto &model,
                                llvm::ArrayRef<Container> containers) {
  onnx::GraphProto &graph = *model.mutable_graph();
  auto inputs = graph.input();
  auto nodes = graph.node();
  graph.clear_input();
  graph.clear_node();
  for (const onnx::ValueInfoProto &input : inputs) {
    const Container *found =
        llvm::find_if(containers, [&](const Container &each) {
          return each.name == input.name();
        });
    if (found == containers.end()) {
      *graph.add_input() = input;
      continue;
    }
    for (size_t i = 0; i < found->tensors.size(); ++i) {
      onnx::ValueInfoProto *tensor = graph.add_input();
      tensor->set_name(found->getTensorName(i));
      *tensor->mutable_type() = getTensorType(input.type());
    }
    addNodes(graph, *found, input);
  }
  for (const onnx::NodeProto &node : nodes)
    *graph.add_node() = node;
}
