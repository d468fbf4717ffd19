//===- Complex.cpp - Complex tensors of TorchScript -----------------------===//
//
// A complex tensor is a tuple of two tensors, its parts, which share the memory
// of what they are views of: an operator that does the same with both is
// executed on each.
//
//===----------------------------------------------------------------------===//

#include "Aten/Complex.h"
#include "TorchScript/AtenCalls.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

static const ScriptTensorRef &getPart(const ScriptValue &value,
                                      bool isImaginary) {
  return value.getList().elements[isImaginary].getTensor();
}

/// Returns the argument \p index of \p node; null if the program has no schema
/// for it.
static const ProgramArgument *
findArgument(const Program &program, const ProgramNode &node, size_t index) {
  if (!node.schema || index >= program.schemas[*node.schema].arguments.size())
    return nullptr;
  return &program.schemas[*node.schema].arguments[index];
}

/// Returns whether \p value, argument \p index, is a complex element kind.
static bool isComplexKind(const Program &program, const ProgramNode &node,
                          const ScriptValue &value, size_t index) {
  const ProgramArgument *argument = findArgument(program, node, index);
  return argument && argument->name == "dtype" && value.isInt() &&
         getPartKind(value.getInt());
}

bool ScriptInterpreter::isOnComplex(const ProgramNode &node,
                                    llvm::ArrayRef<ScriptValue> inputs) const {
  llvm::StringRef kind = node.kind;
  static constexpr llvm::StringLiteral facts[] = {"prim::dtype", "prim::ndim",
                                                  "prim::shape", "prim::device",
                                                  "prim::layout"};
  static constexpr llvm::StringLiteral comparisons[] = {"aten::__is__",
                                                        "aten::__isnot__"};
  if (inputs.empty() || llvm::is_contained(comparisons, kind) ||
      (!kind.starts_with("aten::") && !llvm::is_contained(facts, kind)))
    return false;
  // What a container has in it doesn't matter to the container.
  bool isContainer = (inputs[0].isList() && !inputs[0].isComplex()) ||
                     inputs[0].isDict() || inputs[0].isObject();
  return !isContainer && llvm::any_of(inputs, [](const ScriptValue &input) {
    return input.isComplex();
  });
}

namespace {

/// Executes an operator on tensors of which some are complex.
class ComplexCall {
public:
  ComplexCall(ScriptInterpreter &in, const ProgramNode &node,
              llvm::ArrayRef<ScriptValue> inputs)
      : in(in), node(node), inputs(inputs),
        name(llvm::StringRef(node.kind).rsplit(':').second) {}

  llvm::Expected<ScriptValues> execute();

private:
  llvm::Expected<std::optional<ScriptValue>> findFact();
  llvm::Expected<std::optional<ScriptValue>> takeView();
  llvm::Expected<ScriptValues> callPartwise();
  llvm::Expected<ScriptValues> callWriting(llvm::StringRef returning);
  llvm::Expected<ScriptValue> takePart(size_t index, bool isImaginary);
  ScriptValue makeZeros(const ScriptTensorRef &like);
  ScriptValue join(const ScriptValue &real, const ScriptValue &imaginary);

  ScriptInterpreter &in;
  const ProgramNode &node;
  llvm::ArrayRef<ScriptValue> inputs;
  llvm::StringRef name;
};

} // namespace

ScriptValue ComplexCall::makeZeros(const ScriptTensorRef &like) {
  const Type &type = like->getType();
  NodeBuilder b(in.getFunction(), in.memory.nodeName);
  return in.makeTensor(b.splat(type.getKind(), type.getShape(), 0));
}

/// Returns what is known of a complex tensor without its elements.
llvm::Expected<std::optional<ScriptValue>> ComplexCall::findFact() {
  if (!inputs[0].isComplex())
    return std::nullopt;
  if (name == "is_complex")
    return ScriptValue(true);
  if (name == "is_floating_point")
    return ScriptValue(false);
  static constexpr llvm::StringLiteral names[] = {
      "size", "dim",    "ndim",   "ndimension", "numel",
      "len",  "device", "layout", "shape",      "dtype"};
  if (!llvm::is_contained(names, name))
    return std::nullopt;
  ScriptValues own(inputs);
  own[0] = getPart(inputs[0], /*isImaginary=*/false);
  GLOWISH_ASSIGN_OR_RETURN(ScriptValues results, in.call(node, own));
  if (name == "dtype")
    return ScriptValue(results[0].getInt() + complexKindDistance);
  return results[0];
}

/// Executes an operator whose result has the memory of a complex tensor.
llvm::Expected<std::optional<ScriptValue>> ComplexCall::takeView() {
  const ScriptValue &self = inputs[0];
  if (!self.isComplex())
    return std::nullopt;
  if (name == "real" || name == "imag")
    return ScriptValue(
        in.memory.createAt(getPart(self, name == "imag")->place));
  if (name == "resolve_conj" || name == "resolve_neg")
    return self;
  if (name != "view_as_real" && name != "conj" && name != "_conj")
    return std::nullopt;
  // Its memory is that of the parts, which isn't followed if it is written.
  GLOWISH_ASSIGN_OR_RETURN(ScriptValues results,
                           in.callReturning(node, inputs));
  ScriptValues made = results;
  if (results[0].isComplex())
    made = results[0].getList().elements;
  for (const ScriptValue &own : made)
    for (bool isImaginary : {false, true})
      in.memory.join(*own.getTensor()->place,
                     *getPart(self, isImaginary)->place);
  return results[0];
}

/// Returns a part of argument \p index; 0 in the place of the imaginary part of
/// a real one.
llvm::Expected<ScriptValue> ComplexCall::takePart(size_t index,
                                                  bool isImaginary) {
  const ScriptValue &input = inputs[index];
  const ProgramArgument *argument = findArgument(in.program, node, index);
  llvm::StringRef own = argument ? llvm::StringRef(argument->name) : "";
  if (input.isComplex())
    return ScriptValue(getPart(input, isImaginary));
  if (argument && argument->isWritten)
    return makeError("it writes complex elements to argument '{0}', which is "
                     "{1}; accepted: a complex tensor",
                     own, input.describe());
  if (isComplexKind(in.program, node, input, index))
    return ScriptValue(input.getInt() - complexKindDistance);
  if (own == "dtype" && !input.isNone())
    return makeError("argument 'dtype' is {0}, and a tensor complex; accepted: "
                     "a complex type, and .real, which is real",
                     input.describe());
  if (!isImaginary || isOfBothParts(own))
    return input;
  if (input.isTensor())
    return makeZeros(input.getTensor());
  bool isOperand =
      own == "other" || own == "value" || own == "fill_value" || own == "self";
  if (isOperand && input.isKnownNumber())
    return ScriptValue(int64_t(0));
  if (isOperand && input.isComputed())
    return makeError("argument '{0}' is {1}; accepted: a number that is known, "
                     "or a tensor",
                     own, input.describe());
  return input;
}

/// Returns the complex tensor, or the list of them, that has these parts.
ScriptValue ComplexCall::join(const ScriptValue &real,
                              const ScriptValue &imaginary) {
  if (real.isTensor() && imaginary.isTensor())
    return in.makeComplex(real.getTensor(), imaginary.getTensor());
  if (!real.isList() || !imaginary.isList())
    return real;
  ScriptValues elements;
  for (auto [x, y] :
       llvm::zip_equal(real.getList().elements, imaginary.getList().elements))
    elements.push_back(join(x, y));
  return in.makeContainer(real, std::move(elements));
}

llvm::Expected<ScriptValues> ComplexCall::callPartwise() {
  ScriptValues parts[2];
  for (bool isImaginary : {false, true}) {
    ScriptValues own;
    for (size_t i = 0; i < inputs.size(); ++i) {
      GLOWISH_ASSIGN_OR_RETURN(ScriptValue part, takePart(i, isImaginary));
      own.push_back(std::move(part));
    }
    GLOWISH_ASSIGN_OR_RETURN(parts[isImaginary], in.call(node, own));
  }
  ScriptValues results;
  for (auto [real, imaginary] : llvm::zip_equal(parts[0], parts[1]))
    results.push_back(join(real, imaginary));
  return results;
}

/// Executes the operator called \p returning, which returns what the first
/// argument becomes, and writes that.
llvm::Expected<ScriptValues>
ComplexCall::callWriting(llvm::StringRef returning) {
  ProgramNode own = node;
  own.kind = "aten::" + returning.str();
  GLOWISH_ASSIGN_OR_RETURN(ScriptValues results, in.callReturning(own, inputs));
  if (!inputs[0].isComplex() || !results[0].isComplex())
    return makeError("it writes {0} to {1}; accepted: complex elements to a "
                     "complex tensor",
                     results[0].describe(), inputs[0].describe());
  for (bool isImaginary : {false, true}) {
    GLOWISH_ASSIGN_OR_RETURN(
        NodeValue value,
        in.memory.read(getPart(results[0], isImaginary)->place));
    const ScriptTensorRef &part = getPart(inputs[0], isImaginary);
    if (value.getType() != part->getType())
      return makeError("it writes parts of {0} to {1}; accepted: one type",
                       value.getType().str(), inputs[0].describe());
    GLOWISH_RETURN_IF_ERROR(in.memory.write(part->place, value));
  }
  return ScriptValues{inputs[0]};
}

llvm::Expected<ScriptValues> ComplexCall::execute() {
  GLOWISH_ASSIGN_OR_RETURN(std::optional<ScriptValue> fact, findFact());
  if (fact)
    return ScriptValues{*fact};
  GLOWISH_ASSIGN_OR_RETURN(std::optional<ScriptValue> view, takeView());
  if (view)
    return ScriptValues{*view};
  llvm::StringRef returning = name;
  bool isInPlace = returning.consume_back("_");
  if (isPartwise(returning) || returning == "fill")
    return callPartwise();
  return isInPlace ? callWriting(returning) : in.callReturning(node, inputs);
}

llvm::Expected<ScriptValues>
ScriptInterpreter::callComplex(const ProgramNode &node,
                               llvm::ArrayRef<ScriptValue> inputs) {
  for (const ScriptValue &input : inputs)
    if (input.isOpen())
      return makeError("{0} is an operand of an operator on complex tensors; "
                       "accepted: extents that no run decides",
                       input.describe());
  return ComplexCall(*this, node, inputs).execute();
}

//===- Views of real tensors ----------------------------------------------===//

/// Executes view_as_complex(): the parts are views of the tensor.
static llvm::Expected<bool> importViewAsComplex(ScriptCall &call) {
  if (!call.inputs[0].isTensor())
    return call.refuse(0, "a real tensor");
  ScriptInterpreter &in = call.in;
  const ScriptPlaceRef &base = call.inputs[0].getTensor()->place;
  DimsRef shape = base->type.getShape();
  if (shape.empty() || shape.back() != 2 || !isFloatKind(base->type.getKind()))
    return call.refuse(0, "floats with a last dimension of 2");
  const RegisteredAtenOp *select = findAtenOperator("select.int");
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, in.memory.read(base));
  ScriptTensorRef parts[2];
  for (int64_t part : {0, 1}) {
    ScriptView view{.call = {.op = select,
                             .arguments = {value, AtenValue(int64_t(-1)),
                                           AtenValue(part)}}};
    GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results,
                             importAtenOperator(*select, in.getFunction(),
                                                in.memory.nodeName,
                                                view.call.arguments, in.aten));
    view.call.arguments[0] = {};
    parts[part] = in.memory.createView(base, view, results[0].get<NodeValue>());
  }
  return call.done(in.makeComplex(parts[0], parts[1]));
}
static const ScriptOperators complexViews(importViewAsComplex,
                                          {"aten::view_as_complex"});
