//===- ExternalOp.cpp - External operators in TensorFlow Lite -------------===//

#include "TFLite/ExternalOp.h"
#include "Common/External.h"
#include "TFLite/CustomOptions.h"

using namespace glowish;
using namespace glowish::tflite;
using flexbuffers::Reference;

/// The elements of a list: integers (also true and false), floats or strings.
template <typename ListT>
static std::optional<NamedValue::Content> readList(const ListT &list) {
  std::vector<int64_t> integers;
  std::vector<double> floats;
  std::vector<std::string> strings;
  for (size_t i = 0; i < list.size(); ++i) {
    Reference element = list[i];
    if (element.IsIntOrUint() || element.IsBool())
      integers.push_back(element.AsInt64());
    else if (element.IsFloat())
      floats.push_back(element.AsDouble());
    else if (element.IsString())
      strings.push_back(element.AsString().str());
  }
  if (integers.size() == list.size())
    return integers;
  if (floats.size() == list.size())
    return floats;
  if (strings.size() == list.size())
    return strings;
  return std::nullopt;
}

static std::optional<NamedValue::Content> readContent(const Reference &value) {
  if (value.IsIntOrUint() || value.IsBool())
    return value.AsInt64();
  if (value.IsFloat())
    return value.AsDouble();
  if (value.IsString())
    return value.AsString().str();
  if (value.IsTypedVector())
    return readList(value.AsTypedVector());
  if (value.IsUntypedVector())
    return readList(value.AsVector());
  return std::nullopt;
}

static llvm::Expected<NamedValues> readAttributes(const TFLiteOp &op) {
  NamedValues attributes;
  if (op.getCustomOptions().empty())
    return attributes;
  GLOWISH_ASSIGN_OR_RETURN(CustomOptions options, CustomOptions::read(op));
  for (std::string &name : options.getNames()) {
    std::optional<NamedValue::Content> content =
        readContent(options.get(name.c_str()));
    if (!content)
      return makeError("option {0} is accepted of an external operator if it "
                       "is a number, a string or a list of them",
                       quote(name));
    attributes.push_back({std::move(name), std::move(*content)});
  }
  return attributes;
}

llvm::Error tflite::importExternalTFLiteOp(TFLiteOp &op) {
  const ExternalOperator *external =
      findExternalOperator(op.getContext().options, tfliteDomain, op.getType());
  std::vector<NodeValue> inputs;
  for (unsigned i = 0; i < op.getNumInputs(); ++i)
    inputs.push_back(op.input(i));
  GLOWISH_ASSIGN_OR_RETURN(NamedValues attributes, readAttributes(op));
  GLOWISH_ASSIGN_OR_RETURN(
      auto results,
      importExternalOperator(*external, op.getFunction(), op.getName(), inputs,
                             std::move(attributes), op.getNumOutputs()));
  for (unsigned i = 0; i < op.getNumOutputs(); ++i) {
    if (results[i].getElemKind() != op.getOutputKind(i))
      return makeError("the operator's result {0} is {1}; the file states {2}",
                       i, results[i].getType().str(),
                       op.getStatedType(i).str());
    GLOWISH_RETURN_IF_ERROR(op.setOutput(i, results[i]));
  }
  return llvm::Error::success();
}
