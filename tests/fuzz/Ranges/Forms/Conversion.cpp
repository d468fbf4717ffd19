//===- Conversion.cpp - A model by way of another format ------------------===//

#include "Conversion.h"
#include "../../GraphTarget.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;
using namespace glowish::fuzz;

/// Makes initializers of the nodes that are constant tensors: forms know
/// initializers alone.
static void liftConstants(onnx::GraphProto &graph) {
  auto isConstant = [](const onnx::NodeProto &node) {
    return node.op_type() == "Constant" && node.attribute_size() == 1 &&
           node.attribute(0).name() == "value";
  };
  google::protobuf::RepeatedPtrField<onnx::NodeProto> others;
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    if (!isConstant(node)) {
      *others.Add() = node;
      continue;
    }
    onnx::TensorProto &tensor = *graph.add_initializer();
    tensor = node.attribute(0).t();
    tensor.set_name(node.output(0));
  }
  graph.mutable_node()->Swap(&others);
}

static llvm::Error writeOutput(const RangedModel &model,
                               const std::string &folder) {
  const std::string &output = model.proto.graph().output(0).name();
  auto module = model.importRanged();
  if (!module)
    return handleErrors(module.takeError(), [&](const Inexpressible &error) {
      llvm::outs() << output << ": " << error.message() << "\n";
    });
  llvm::outs() << output << " " << model.getOutputName(output);
  for (const auto &input : model.proto.graph().input())
    llvm::outs() << " " << input.name();
  llvm::outs() << "\n";
  return writeModule(**module, folder + "/" + output + ".graph");
}

llvm::Error fuzz::convertModel(const std::string &path, const Form &form,
                               const std::string &folder) {
  GLOWISH_ASSIGN_OR_RETURN(auto bytes, readFile(path));
  RangedModel model;
  model.form = &form;
  if (!model.proto.ParseFromString(bytes->getBuffer().str()))
    return makeError("'{0}' is no ONNX model", path);
  onnx::GraphProto &graph = *model.proto.mutable_graph();
  liftConstants(graph);
  for (const auto &output : graph.output()) {
    RangedModel part = model;
    part.proto.mutable_graph()->clear_output();
    *part.proto.mutable_graph()->add_output() = output;
    part.dropUnused();
    GLOWISH_RETURN_IF_ERROR(
        addContext(writeOutput(part, folder), "'" + output.name() + "': "));
  }
  return llvm::Error::success();
}
