//===- Subgraphs.cpp - Import of subgraphs --------------------------------===//

#include "TFLite/Subgraphs.h"
#include "glowish/Importer/TFLite.h"

using namespace glowish;
using namespace glowish::tflite;

SubgraphImporter::SubgraphImporter(const schema::SubGraph &graph,
                                   Function &function, TFLiteModelState &model,
                                   VariableScope &variables)
    : graph(graph), model(model),
      context{function, model.options, model.foldingBudget, model, variables} {}

bool SubgraphImporter::isMain() const {
  return &graph == &model.file.getMain();
}

//===- Tensors ------------------------------------------------------------===//

/// An error if \p tensor, or its quantization, has set what is not read.
static llvm::Error checkTensor(const TFLiteFile &file,
                               const schema::Tensor &tensor) {
  llvm::Error error = checkFields(tensor, file.getFile());
  if (!error && tensor.quantization())
    error = checkFields(*tensor.quantization(), file.getFile());
  if (!error)
    return error;
  return addContext(std::move(error),
                    "tensor " + quote(getName(tensor)) + ": ");
}

llvm::Error SubgraphImporter::readTensors() {
  if (!graph.tensors()) {
    if (isMain())
      return makeError("it has no tensors");
    return llvm::Error::success();
  }
  for (const schema::Tensor *stored : *graph.tensors()) {
    GLOWISH_RETURN_IF_ERROR(checkTensor(model.file, *stored));
    TFLiteTensor tensor;
    std::string name = TFLiteOptions::of(model.options).renamesTensors
                           ? "tensor" + std::to_string(tensors.size())
                           : getName(*stored).str();
    // Names are those of placeholders in the main subgraph only.
    tensor.name = isMain() ? model.getUniqueName(name) : name;
    tensor.isResource = stored->type() == schema::TensorType::RESOURCE;
    if (!tensor.isResource) {
      GLOWISH_ASSIGN_OR_RETURN(tensor.type, getType(*stored));
      GLOWISH_ASSIGN_OR_RETURN(
          tensor.quantization,
          readQuantization(model.file, graph, *stored, tensor.type));
    }
    tensors.push_back(std::move(tensor));
  }
  return llvm::Error::success();
}

llvm::Error SubgraphImporter::createConstants() {
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    const schema::Tensor &stored = *graph.tensors()->Get(unsigned(i));
    if (tensor.value || tensor.isResource)
      continue;
    if (stored.is_variable()) {
      tensor.variable = &model.getVariable(
          stored, isMain() ? tensor.name : model.getUniqueName(tensor.name));
      tensor.variable->type = tensor.type;
      tensor.variable->quantization = tensor.quantization;
      // In the order of the file; others only if they are used.
      if (isMain())
        context.variables.read(*tensor.variable);
      continue;
    }
    bool isEmpty = tensor.type.getNumElements() == 0 && stored.buffer() != 0;
    if (model.file.getBytes(stored).empty() && !isEmpty)
      continue;
    GLOWISH_ASSIGN_OR_RETURN(tensor.value,
                             model.getConstant(stored, tensor.name));
  }
  return llvm::Error::success();
}

TFLiteValue SubgraphImporter::getValue(int32_t index) {
  TFLiteTensor &tensor = tensors[size_t(index)];
  if (tensor.isResource)
    return {.resource = tensor.variable};
  if (tensor.variable)
    tensor.value = context.variables.read(*tensor.variable);
  return {.tensor = tensor.value, .quantization = tensor.quantization};
}

//===- Operators ----------------------------------------------------------===//

/// An error unless the operator has as many inputs as \p traits state.
static llvm::Error checkInputs(llvm::ArrayRef<TFLiteTensor *> inputs,
                               const TFLiteOpTraits &traits) {
  GLOWISH_RETURN_IF_ERROR(traits.inputs.check(inputs.size()));
  for (auto [i, tensor] : llvm::enumerate(inputs)) {
    if (!tensor && i < traits.getFirstOptional())
      return makeError("its input {0} is absent", i);
    if (!tensor)
      continue;
    if (tensor->isResource && !traits.takesResources)
      return makeError("its input {0} ({1}) is a variable; accepted: a tensor",
                       i, quote(tensor->name));
    if (tensor->isResource ? !tensor->variable : !tensor->value)
      return makeError("nothing computes its input {0} ({1})", i,
                       quote(tensor->name));
  }
  return llvm::Error::success();
}

llvm::Error SubgraphImporter::importOperator(const schema::Operator &stored,
                                             size_t position) {
  llvm::SmallVector<TFLiteTensor *, 8> inputs, outputs, intermediates;
  for (int32_t index : getIndices(stored.inputs())) {
    inputs.push_back(index < 0 ? nullptr : &tensors[size_t(index)]);
    if (index >= 0)
      getValue(index); // the newest one of a variable
  }
  for (int32_t index : getIndices(stored.outputs()))
    outputs.push_back(&tensors[size_t(index)]);
  for (int32_t index : getIndices(stored.intermediates()))
    intermediates.push_back(index < 0 ? nullptr : &tensors[size_t(index)]);
  std::string type = model.file.getOperatorName(stored);
  const RegisteredTFLiteOp &registered =
      *findTFLiteOperator(type, context.options);
  TFLiteOp op(stored, type, inputs, outputs, intermediates, context);
  llvm::Error error = checkInputs(inputs, registered.traits);
  if (!error && outputs.size() < registered.traits.minOutputs)
    error = makeError("it has no output");
  if (!error && registered.traits.needsKnownExtents)
    error = op.checkAllKnown();
  if (!error)
    error = registered.importer(op);
  if (!error)
    error = op.checkReads();
  // The first error is the cause of the others.
  if (op.hasFailed()) {
    llvm::consumeError(std::move(error));
    error = op.takeError();
  }
  // Of nested subgraphs the innermost is told, and the main one's operator.
  if (!error || (model.isErrorLocated && !isMain()))
    return error;
  std::string name =
      outputs.empty() ? std::to_string(position) : outputs.front()->name;
  return addContext(std::move(error), describeNode(name, type) + ": ");
}

llvm::Error SubgraphImporter::importOperators() {
  if (graph.operators())
    for (auto [i, op] : llvm::enumerate(*graph.operators()))
      GLOWISH_RETURN_IF_ERROR(importOperator(*op, i));
  return llvm::Error::success();
}

//===- Inputs and outputs of other subgraphs ------------------------------===//

llvm::Error SubgraphImporter::setInput(size_t number, TFLiteTensor &tensor,
                                       const TFLiteValue &value) {
  auto refuse = [&](llvm::StringRef what, llvm::StringRef accepted) {
    return makeError("its input {0} ({1}) {2}; accepted: {3}", number,
                     quote(tensor.name), what, accepted);
  };
  if (tensor.value || tensor.variable)
    return refuse("is another one, too", "different tensors");
  if (tensor.isResource != bool(value.resource))
    return tensor.isResource
               ? refuse("is a variable, and a tensor is passed", "a variable")
               : refuse("is a tensor, and a variable is passed", "a tensor");
  tensor.variable = value.resource;
  if (tensor.isResource)
    return llvm::Error::success();
  const Type &type = value.tensor.getType();
  if (type.getKind() != tensor.type.getKind())
    return refuse("is " + tensor.type.str() + ", and " + type.str() +
                      " is passed",
                  "the same kind");
  if (tensor.quantization != value.quantization)
    return refuse("has other scales or zero points than what is passed",
                  "the same ones");
  context.hasOtherShapes |=
      type.hasExtents() || type.getShape() != tensor.type.getShape();
  tensor.value = value.tensor;
  return llvm::Error::success();
}

llvm::Error SubgraphImporter::setInputs(llvm::ArrayRef<TFLiteValue> inputs) {
  llvm::ArrayRef<int32_t> indices = getIndices(graph.inputs());
  if (indices.size() != inputs.size())
    return makeError("it has {0} inputs; accepted: {1}", indices.size(),
                     inputs.size());
  for (auto [i, index] : llvm::enumerate(indices))
    GLOWISH_RETURN_IF_ERROR(setInput(i, tensors[size_t(index)], inputs[i]));
  return llvm::Error::success();
}

llvm::Expected<TFLiteValues>
SubgraphImporter::importInner(llvm::ArrayRef<TFLiteValue> inputs,
                              bool hasOtherShapes) {
  context.hasOtherShapes = hasOtherShapes;
  GLOWISH_RETURN_IF_ERROR(readTensors());
  GLOWISH_RETURN_IF_ERROR(setInputs(inputs));
  GLOWISH_RETURN_IF_ERROR(createConstants());
  GLOWISH_RETURN_IF_ERROR(importOperators());
  TFLiteValues outputs;
  for (int32_t index : getIndices(graph.outputs())) {
    outputs.push_back(getValue(index));
    if (!outputs.back().tensor && !outputs.back().resource)
      return makeError("nothing computes its output {0} ({1})",
                       outputs.size() - 1, quote(tensors[size_t(index)].name));
  }
  return outputs;
}

//===- Subgraphs of operators ---------------------------------------------===//

TFLiteValues tflite::getValues(const TFLiteOp &op, unsigned first) {
  TFLiteValues values;
  for (unsigned i = first; i < op.getNumInputs(); ++i)
    values.push_back(op.getValue(i));
  return values;
}

std::string tflite::describeSubgraph(const TFLiteOp &op, int32_t index) {
  const schema::SubGraph *graph =
      op.getContext().model.file.findSubgraph(index);
  std::string text = "subgraph " + std::to_string(index);
  if (graph && graph->name() && graph->name()->size())
    text += " (" + quote(graph->name()->str()) + ")";
  return text;
}

/// An error if \p op can't run subgraph \p index, which \p graph is.
static llvm::Error checkSubgraph(TFLiteOp &op, int32_t index,
                                 const schema::SubGraph *graph) {
  TFLiteModelState &model = op.getContext().model;
  if (!graph)
    return makeError("it runs subgraph {0}; the file has {1}", index,
                     model.file.getModel().subgraphs()->size());
  if (llvm::is_contained(model.active, index))
    return makeError("it runs {0}, which contains it; accepted: subgraphs "
                     "without recursion",
                     describeSubgraph(op, index));
  if (model.active.size() > maxSubgraphDepth)
    return makeError("subgraphs are nested more than {0} deep",
                     maxSubgraphDepth);
  auto getSize = [](const auto *list) { return list ? list->size() : 0; };
  return model.subgraphBudget.take(1 + int64_t(getSize(graph->tensors())) +
                                   getSize(graph->operators()));
}

llvm::Expected<TFLiteValues>
tflite::importSubgraph(TFLiteOp &op, int32_t index,
                       llvm::ArrayRef<TFLiteValue> inputs, Function &function,
                       VariableScope &variables) {
  TFLiteModelState &model = op.getContext().model;
  const schema::SubGraph *graph = model.file.findSubgraph(index);
  GLOWISH_RETURN_IF_ERROR(checkSubgraph(op, index, graph));
  model.active.push_back(index);
  auto outputs = SubgraphImporter(*graph, function, model, variables)
                     .importInner(inputs, op.getContext().hasOtherShapes);
  model.active.pop_back();
  if (outputs || model.isErrorLocated)
    return outputs;
  model.isErrorLocated = true;
  return addContext(outputs.takeError(), describeSubgraph(op, index) + ": ");
}

llvm::Expected<TFLiteValues>
tflite::importSubgraph(TFLiteOp &op, int32_t index,
                       llvm::ArrayRef<TFLiteValue> inputs) {
  return importSubgraph(op, index, inputs, op.getFunction(),
                        op.getContext().variables);
}

llvm::Error tflite::checkCondition(const TFLiteValue &value) {
  if (value.resource)
    return makeError("the condition is a variable; accepted: bool with one "
                     "element");
  const Type &type = value.tensor.getType();
  if (type.getKind() != ElemKind::Bool || type.getNumElements() != 1)
    return makeError("the condition is {0}; accepted: bool with one element",
                     type.str());
  return llvm::Error::success();
}

/// Makes \p value output \p index of \p op.
static llvm::Error setOutput(TFLiteOp &op, unsigned index,
                             const TFLiteValue &value) {
  if (value.resource)
    return op.setResource(index, *value.resource);
  if (op.getOutputQuantization(index) != value.quantization)
    return makeError("output {0} has other scales or zero points than that of "
                     "the subgraph; accepted: the same ones",
                     index);
  return op.setOutput(index, value.tensor);
}

llvm::Error tflite::setOutputs(TFLiteOp &op,
                               llvm::ArrayRef<TFLiteValue> values) {
  if (op.getNumOutputs() != values.size())
    return makeError("it has {0} outputs, and its subgraph {1}; accepted: as "
                     "many",
                     op.getNumOutputs(), values.size());
  for (auto [i, value] : llvm::enumerate(values))
    GLOWISH_RETURN_IF_ERROR(setOutput(op, unsigned(i), value));
  return llvm::Error::success();
}
