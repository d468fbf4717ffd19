//===- ExternalOp.cpp - External operators in ONNX models -----------------===//

#include "ONNX/ExternalOp.h"
#include "Common/External.h"
#include "Common/Messages.h"
#include "ONNX/GraphScope.h"

using namespace glowish;
using namespace glowish::onnximport;
using onnx::AttributeProto;

static llvm::Expected<NamedValue::Content>
readContent(const AttributeProto &attr) {
  switch (attr.type()) {
  case AttributeProto::INT:
    return int64_t(attr.i());
  case AttributeProto::FLOAT:
    return double(attr.f());
  case AttributeProto::STRING:
    return attr.s();
  case AttributeProto::INTS:
    return std::vector<int64_t>(attr.ints().begin(), attr.ints().end());
  case AttributeProto::FLOATS:
    if (attr.floats().empty())
      return std::vector<int64_t>();
    return std::vector<double>(attr.floats().begin(), attr.floats().end());
  case AttributeProto::STRINGS:
    if (attr.strings().empty())
      return std::vector<int64_t>();
    return std::vector<std::string>(attr.strings().begin(),
                                    attr.strings().end());
  default:
    return makeError(
        "attribute {0} is a {1}; accepted of an external "
        "operator: numbers, strings and lists of them",
        quote(attr.name()),
        llvm::StringRef(AttributeProto::AttributeType_Name(attr.type()))
            .lower());
  }
}

llvm::Error onnximport::importExternalOp(OpContext &op) {
  const ExternalOperator *external = findExternalOperator(
      op.getScope().getState().options, op.getDomain(), op.getOpType());
  std::vector<NodeValue> inputs;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    if (op.hasSequence(i))
      return makeError("input {0} is a sequence or an optional; accepted of an "
                       "external operator: tensors",
                       i);
    inputs.push_back(op.input(i));
  }
  NamedValues attributes;
  for (const AttributeProto &attr : op.getAttrs()) {
    GLOWISH_ASSIGN_OR_RETURN(NamedValue::Content content, readContent(attr));
    attributes.push_back({attr.name(), std::move(content)});
  }
  GLOWISH_ASSIGN_OR_RETURN(
      auto results, importExternalOperator(
                        *external, op.getFunction(), op.getOutputName(0),
                        inputs, std::move(attributes), op.getNumOutputs()));
  for (unsigned i = 0; i < op.getNumOutputs(); ++i)
    GLOWISH_RETURN_IF_ERROR(op.setOutput(i, results[i]));
  return llvm::Error::success();
}
