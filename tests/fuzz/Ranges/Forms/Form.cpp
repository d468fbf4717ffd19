//===- Form.cpp - Formats that ranged models are written in ---------------===//

#include "Form.h"
#include "../../GraphTarget.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Compiler/InputTypes.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using namespace glowish::fuzz;

llvm::ArrayRef<const Form *> fuzz::getForms() {
  static const Form *const forms[] = {&caffe2Form, &exportedProgramForm,
                                      &tfliteForm, &torchScriptForm};
  return forms;
}

const Form *fuzz::findForm(llvm::StringRef name) {
  for (const Form *form : getForms())
    if (form->name == name)
      return form;
  return nullptr;
}

//===- Types --------------------------------------------------------------===//

const Tensor *TypedModel::findConstant(const std::string &value) const {
  auto found = constants.find(value);
  return found == constants.end() ? nullptr : &found->second;
}

llvm::Expected<TypedModel> fuzz::findTypes(const RangedModel &model) {
  RangedModel whole = model;
  whole.form = nullptr;
  whole.states.clear();
  onnx::GraphProto &graph = *whole.proto.mutable_graph();
  graph.clear_output();
  for (const auto &tensor : graph.initializer())
    graph.add_output()->set_name(tensor.name());
  for (const auto &node : graph.node())
    for (const std::string &output : node.output())
      if (!output.empty())
        graph.add_output()->set_name(output);
  auto module = whole.importRanged();
  if (!module)
    return llvm::make_error<Inexpressible>(llvm::toString(module.takeError()));
  TypedModel typed{model, {}, {}, {}};
  for (const auto &placeholder : (*module)->getPlaceholders()) {
    typed.types.emplace(placeholder->getModelName().str(),
                        placeholder->getType());
    if (placeholder->getExtents() && !placeholder->getType().hasExtents())
      typed.openValues.insert(placeholder->getModelName().str());
  }
  for (Node &node : (*module)->getFunctions().front()->getNodes())
    if (auto *save = llvm::dyn_cast<SaveNode>(&node))
      if (auto *constant = save->getInput().getNodeAs<Constant>())
        typed.constants.emplace(
            llvm::cast<Placeholder>(save->getOutput().node)->getModelName(),
            constant->getTensor().clone());
  return typed;
}

//===- Nodes --------------------------------------------------------------===//

const onnx::AttributeProto *FormNode::findAttr(llvm::StringRef name) const {
  for (const onnx::AttributeProto &attr : proto.attribute())
    if (attr.name() == name)
      return &attr;
  return nullptr;
}

int64_t FormNode::getInt(llvm::StringRef name, int64_t otherwise) const {
  const onnx::AttributeProto *attr = findAttr(name);
  return attr ? attr->i() : otherwise;
}

double FormNode::getFloat(llvm::StringRef name, double otherwise) const {
  const onnx::AttributeProto *attr = findAttr(name);
  return attr ? double(attr->f()) : otherwise;
}

std::string FormNode::getString(llvm::StringRef name,
                                llvm::StringRef otherwise) const {
  const onnx::AttributeProto *attr = findAttr(name);
  return attr ? attr->s() : otherwise.str();
}

std::vector<int64_t> FormNode::getInts(llvm::StringRef name) const {
  const onnx::AttributeProto *attr = findAttr(name);
  if (!attr)
    return {};
  return {attr->ints().begin(), attr->ints().end()};
}

int64_t FormNode::getAxis(llvm::StringRef name, int64_t otherwise,
                          unsigned rank) const {
  int64_t axis = getInt(name, otherwise);
  return axis < 0 ? axis + int64_t(rank) : axis;
}

const Tensor *FormNode::findConstant(unsigned index) const {
  return hasInput(index) ? model.findConstant(getInput(index)) : nullptr;
}

std::optional<std::vector<int64_t>> FormNode::findInts(unsigned index) const {
  const Tensor *tensor = findConstant(index);
  if (!tensor || !isIntegerKind(tensor->getType().getKind()))
    return std::nullopt;
  std::vector<int64_t> ints;
  for (int64_t i = 0; i < tensor->getNumElements(); ++i)
    ints.push_back(tensor->getAsInt(i));
  return ints;
}

std::optional<std::vector<int64_t>> FormNode::findAxes() const {
  int64_t rank = getRank(0);
  std::vector<int64_t> axes = getInts("axes");
  if (hasInput(1)) {
    std::optional<std::vector<int64_t>> stated = findInts(1);
    if (!stated)
      return std::nullopt;
    axes = *stated;
  }
  if (axes.empty())
    for (int64_t d = 0; d < rank; ++d)
      axes.push_back(d);
  for (int64_t &axis : axes)
    axis += axis < 0 ? rank : 0;
  llvm::sort(axes);
  return axes;
}

bool FormNode::hasPlainIndices(unsigned index) const {
  if (auto indices = findInts(index))
    return llvm::all_of(*indices, [](int64_t each) { return each >= 0; });
  const auto &nodes = model.model.proto.graph().node();
  return llvm::any_of(nodes, [&](const auto &node) {
    return node.op_type() == "Mod" && node.output(0) == getInput(index);
  });
}

llvm::Error FormNode::refuse(const llvm::Twine &why) const {
  return llvm::make_error<Inexpressible>(
      ("node '" + getOutput() + "' (" + getOp() + "): " + why).str());
}

//===- Models -------------------------------------------------------------===//

llvm::Expected<FormModel> fuzz::writeForm(const RangedModel &model) {
  GLOWISH_ASSIGN_OR_RETURN(TypedModel typed, findTypes(model));
  return model.form->write(typed);
}

llvm::Expected<std::unique_ptr<Module>>
fuzz::importForm(const RangedModel &model) {
  GLOWISH_ASSIGN_OR_RETURN(TypedModel typed, findTypes(model));
  GLOWISH_ASSIGN_OR_RETURN(FormModel written, model.form->write(typed));
  return model.form->import(written, typed);
}

/// The type of \p input as -model-input has it: "x,float,[S + 1,3]".
static std::string describeInput(const onnx::ValueInfoProto &input,
                                 const Type &type) {
  std::string text =
      input.name() + "," + getElemKindName(type.getKind()).str() + ",[";
  llvm::StringRef separator = "";
  for (const auto &dim : input.type().tensor_type().shape().dim()) {
    text += separator;
    text += dim.dim_param().empty() ? std::to_string(dim.dim_value())
                                    : dim.dim_param();
    separator = ",";
  }
  return text + "]";
}

ImportOptions fuzz::makeFormOptions(const TypedModel &model, bool statesTypes) {
  ImportOptions options;
  options.evaluate = evaluateNode;
  options.symbolRanges = model.model.ranges;
  if (!statesTypes)
    return options;
  std::vector<std::string> texts;
  for (const auto &input : model.model.proto.graph().input())
    texts.push_back(describeInput(input, model.getType(input.name())));
  llvm::cantFail(readInputTypes(texts, options));
  return options;
}
