//===- InPlace.cpp - Operators that change a tensor -----------------------===//
//
// They are executed as the operator that returns what the tensor becomes, and a
// write, but for a few.
//
//===----------------------------------------------------------------------===//

#include "TorchScript/AtenCalls.h"
#include "TorchScript/ResultExtents.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

//===- Operators that return what a tensor becomes ------------------------===//

/// Returns the operator of the table whose results \p node, such as
/// aten::add.out, writes to some arguments: that which takes the others. Null
/// if there is none.
static const RegisteredAtenOp *
findReturning(const Program &program, const ProgramNode &node,
              llvm::ArrayRef<ScriptValue> inputs) {
  if (!llvm::StringRef(node.overload).contains("out"))
    return nullptr;
  std::vector<std::pair<llvm::StringRef, bool>> operands;
  for (auto [argument, input] :
       llvm::zip_equal(program.schemas[*node.schema].arguments, inputs))
    if (!argument.isWritten)
      operands.emplace_back(argument.name, input.isTensor());
  llvm::StringRef name = node.kind;
  name.consume_front("aten::");
  // Overloads differ in their arguments, and in which are tensors.
  auto takes = [](const AtenArgument &argument, const auto &operand) {
    bool isTensor = argument.type.base == AtenType::Base::Tensor;
    return argument.name == operand.first && (isTensor || !operand.second) &&
           (!isTensor || operand.second || argument.type.isOptional ||
            argument.type.isList);
  };
  for (const RegisteredAtenOp *op : findAtenOverloads(name))
    if (llvm::equal(op->schema.arguments, operands, takes))
      return op;
  return nullptr;
}

/// The argument that \p node writes to, if there is just one; none if it writes
/// to none.
static llvm::Expected<std::optional<size_t>>
findWritten(const Program &program, const ProgramNode &node) {
  std::optional<size_t> written;
  if (!node.schema)
    return written;
  for (auto [i, argument] :
       llvm::enumerate(program.schemas[*node.schema].arguments)) {
    if (!argument.isWritten)
      continue;
    if (written)
      return makeError("it changes several of its arguments; accepted: "
                       "operators that change one");
    written = i;
  }
  return written;
}

/// \p value as new elements of a tensor of \p type.
static llvm::Expected<NodeValue> fitTo(ScriptInterpreter &in, NodeValue value,
                                       const Type &type) {
  NodeBuilder b(in.getFunction(), in.memory.nodeName);
  value = b.cast(value, type.getKind());
  if (value && value.getShape() != type.getShape())
    value = b.broadcast(value, type.getShape());
  return b.finish(value);
}

/// Sets \p tensor, an argument called out, to \p value: it gets memory of its
/// own if it had another shape.
static llvm::Error setOut(ScriptInterpreter &in, const ScriptTensorRef &tensor,
                          NodeValue value) {
  const Type &type = tensor->getType();
  NodeBuilder b(in.getFunction(), in.memory.nodeName);
  GLOWISH_ASSIGN_OR_RETURN(value, b.finish(b.cast(value, type.getKind())));
  if (value.getShape() == type.getShape())
    return in.memory.write(tensor->place, value);
  if (type.getNumElements() != 0)
    return makeError("argument 'out' is {0}, and the result {1}; accepted: a "
                     "tensor of that shape, or one without elements",
                     type.str(), value.getType().str());
  in.journal.save(tensor);
  tensor->place = in.memory.createDense(value)->place;
  return llvm::Error::success();
}

/// Returns the results of \p op for the inputs of \p node.
static llvm::Expected<AtenValue::List>
execute(ScriptInterpreter &in, const ProgramNode &node,
        const RegisteredAtenOp &op, llvm::ArrayRef<ScriptValue> inputs) {
  GLOWISH_ASSIGN_OR_RETURN(AtenCall call,
                           matchInputs(in.program, node, op, inputs));
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List arguments, convertInputs(in, call));
  return importChecked(op, in.getFunction(), in.memory.nodeName, arguments,
                       in.aten);
}

/// An operator that writes its results to its arguments called out.
static llvm::Expected<ScriptValues>
callWithOut(ScriptInterpreter &in, const ProgramNode &node,
            const RegisteredAtenOp &op, llvm::ArrayRef<ScriptValue> inputs) {
  const ProgramSchema &schema = in.program.schemas[*node.schema];
  ScriptValues operands(inputs), outs;
  for (auto [operand, argument] : llvm::zip_equal(operands, schema.arguments))
    if (argument.isWritten) {
      outs.push_back(operand);
      operand = {};
    }
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results,
                           execute(in, node, op, operands));
  if (results.size() < outs.size())
    return makeError("the operator is not supported");
  for (auto [out, result] : llvm::zip(outs, results)) {
    if (!out.isTensor() || !result.isTensor())
      return makeError("argument 'out' is {0}; accepted: a tensor",
                       out.describe());
    GLOWISH_RETURN_IF_ERROR(
        setOut(in, out.getTensor(), result.get<NodeValue>()));
  }
  return outs;
}

/// An operator that changes its first argument: the operator that returns what
/// that becomes, and a write.
static llvm::Expected<ScriptValues>
callInPlace(ScriptInterpreter &in, const ProgramNode &node,
            llvm::ArrayRef<ScriptValue> inputs, size_t written) {
  if (!inputs[written].isTensor())
    return makeError("it changes {0}; accepted: a tensor",
                     inputs[written].describe());
  const RegisteredAtenOp *op = findOperator(node, /*isInPlace=*/true);
  if (!op)
    return makeError("the operator is not supported");
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results,
                           execute(in, node, *op, inputs));
  const ScriptTensorRef &tensor = inputs[written].getTensor();
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue value,
      fitTo(in, results[0].get<NodeValue>(), tensor->getType()));
  GLOWISH_RETURN_IF_ERROR(in.memory.write(tensor->place, value));
  return ScriptValues{inputs[written]};
}

llvm::Expected<ScriptValues>
ScriptInterpreter::callWriting(const ProgramNode &node,
                               llvm::ArrayRef<ScriptValue> inputs) {
  if (const RegisteredAtenOp *op = findReturning(program, node, inputs))
    return callWithOut(*this, node, *op, inputs);
  GLOWISH_ASSIGN_OR_RETURN(std::optional<size_t> written,
                           findWritten(program, node));
  return callInPlace(*this, node, inputs, *written);
}

//===- Others -------------------------------------------------------------===//

/// Sets all elements of input 0 to \p value, a scalar or a tensor.
static llvm::Expected<bool> fill(ScriptCall &call, NodeValue value) {
  const ScriptTensorRef &tensor = call.inputs[0].getTensor();
  GLOWISH_ASSIGN_OR_RETURN(value, fitTo(call.in, value, tensor->getType()));
  GLOWISH_RETURN_IF_ERROR(call.in.memory.write(tensor->place, value));
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
  call.in.stopsGradients |= call.node.kind == "aten::detach_";
  return call.done(call.inputs[0]);
}
static const ScriptOperators nothing(importNothing,
                                     {"aten::detach_", "aten::requires_grad_"});
