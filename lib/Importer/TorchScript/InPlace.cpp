//===- InPlace.cpp - Operators that change a tensor -----------------------===//
//
// Those whose result is no other operator's. Others are executed as the
// operator that returns what the tensor becomes (AtenCalls.cpp).
//
//===----------------------------------------------------------------------===//

#include "TorchScript/Interpreter.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

/// Sets all elements of input 0 to \p value, a scalar or a tensor.
static llvm::Expected<bool> fill(ScriptCall &call, NodeValue value) {
  ScriptInterpreter &in = call.in;
  const ScriptTensorRef &tensor = call.inputs[0].getTensor();
  const Type &type = tensor->getType();
  NodeBuilder b(in.getFunction(), in.memory.nodeName);
  value = b.cast(value, type.getKind());
  if (value && value.getShape() != type.getShape())
    value = b.broadcast(value, type.getShape());
  GLOWISH_ASSIGN_OR_RETURN(value, b.finish(value));
  GLOWISH_RETURN_IF_ERROR(in.memory.write(tensor->place, value));
  return call.done(call.inputs[0]);
}

static llvm::Expected<bool> importCopy(ScriptCall &call) {
  if (!call.inputs[0].isTensor() || !call.inputs[1].isTensor())
    return false;
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue value, call.in.memory.read(call.inputs[1].getTensor()->place));
  return fill(call, value);
}
static const ScriptOperators copies(importCopy, {"aten::copy_"});

static llvm::Expected<bool> importFill(ScriptCall &call) {
  if (!call.inputs[0].isTensor())
    return false;
  const ScriptValue &value = call.inputs[1];
  if (value.isTensor())
    return importCopy(call);
  return fill(call, call.in.makeScalar(value));
}
static const ScriptOperators fills(importFill, {"aten::fill_"});

static llvm::Expected<bool> importZero(ScriptCall &call) {
  if (!call.inputs[0].isTensor())
    return false;
  return fill(call, call.in.makeScalar(ScriptValue(int64_t(0))));
}
static const ScriptOperators zeros(importZero, {"aten::zero_"});

/// The tensor itself becomes a view of what it was. Views of it that were made
/// before are of its place, and stay.
static llvm::Expected<bool> importViewInPlace(ScriptCall &call) {
  if (!call.inputs[0].isTensor())
    return false;
  const ScriptTensorRef &tensor = call.inputs[0].getTensor();
  ScriptTensorRef before = call.in.memory.createAt(tensor->place);
  torchscript::ProgramNode node = call.node;
  node.kind = llvm::StringRef(node.kind).drop_back().str();
  // In place it has no name.
  if (node.kind == "aten::transpose" && node.overload.empty())
    node.overload = "int";
  ScriptValues inputs = call.inputs;
  inputs[0] = before;
  GLOWISH_ASSIGN_OR_RETURN(ScriptValues results,
                           call.in.callReturning(node, inputs));
  if (!results[0].isTensor())
    return call.refuse(0, "a tensor");
  call.in.journal.save(tensor);
  tensor->place = results[0].getTensor()->place;
  return call.done(call.inputs[0]);
}
static const ScriptOperators viewsInPlace(importViewInPlace,
                                          {"aten::squeeze_", "aten::unsqueeze_",
                                           "aten::t_", "aten::transpose_",
                                           "aten::swapaxes_", "aten::swapdims_",
                                           "aten::as_strided_"});

/// What is about gradients changes no element.
static llvm::Expected<bool> importNothing(ScriptCall &call) {
  return call.done(call.inputs[0]);
}
static const ScriptOperators nothing(importNothing,
                                     {"aten::detach_", "aten::requires_grad_"});
