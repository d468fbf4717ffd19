//===- Variables.cpp - Resources that keep a value from run to run --------===//

#include "TFLite/TFLiteOp.h"

using namespace glowish;
using namespace glowish::tflite;

/// Operators with the same names share a variable.
static llvm::Error importVarHandle(TFLiteOp &op) {
  auto options = op.options<schema::VarHandleOptions>();
  auto getText = [](const flatbuffers::String *text) {
    return text ? text->str() : std::string();
  };
  return op.setResource(0, op.getContext().model.getResource(
                               getText(options.get<"container">()),
                               getText(options.get<"shared_name">())));
}

/// Gives \p variable the \p type and \p quantization of what is read of it or
/// assigned to it, or checks that they are those that it has.
static llvm::Error setType(TFLiteVariable &variable, const Type &type,
                           const std::optional<Quantization> &quantization) {
  if (!variable.type) {
    variable.type = type;
    variable.quantization = quantization;
  }
  if (*variable.type != type)
    return makeError("the variable {0} is {1} and here {2}; accepted: one type",
                     quote(variable.name), variable.type->str(), type.str());
  if (variable.quantization != quantization)
    return makeError("the variable {0} has other scales or zero points here; "
                     "accepted: the same ones",
                     quote(variable.name));
  return llvm::Error::success();
}

static llvm::Error importReadVariable(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(TFLiteVariable *variable, op.getResource(0));
  // The file may leave the shape open.
  Type type = op.getStatedType();
  if (variable->type)
    type = type.withShape(variable->type->getShape());
  GLOWISH_RETURN_IF_ERROR(setType(*variable, type, op.getOutputQuantization()));
  return op.setOutput(0, op.getContext().variables.read(*variable));
}

static llvm::Error importAssignVariable(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(TFLiteVariable *variable, op.getResource(0));
  TFLiteValue value = op.getValue(1);
  if (value.resource)
    return makeError("input 1 is a variable; accepted: a tensor");
  GLOWISH_RETURN_IF_ERROR(
      setType(*variable, value.tensor.getType(), value.quantization));
  op.getContext().variables.assign(*variable, value.tensor);
  return llvm::Error::success();
}

static const TFLiteOperators operators = {
    {"VAR_HANDLE", importVarHandle, {.inputs = 0}},
    {"READ_VARIABLE",
     importReadVariable,
     {.takesResources = true, .limit = "one type a variable"}},
    {"ASSIGN_VARIABLE",
     importAssignVariable,
     {.inputs = 2,
      .minOutputs = 0,
      .takesResources = true,
      .needsKnownExtents = true,
      .limit = "one type a variable"}}};
