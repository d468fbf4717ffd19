//===- Quantized.cpp - Quantized tensors of TorchScript -------------------===//
//
// A quantized tensor is a tuple of its integers, scale and zero point. The
// integers share the memory of what they are views of: an operator that only
// moves elements is executed on them.
//
//===----------------------------------------------------------------------===//

#include "Aten/Quantized.h"
#include "TorchScript/AtenCalls.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

static const ScriptTensorRef &getIntegers(const ScriptValue &value) {
  return value.getList().elements[0].getTensor();
}

/// What is known of a quantized tensor without its elements.
static constexpr llvm::StringLiteral facts[] = {
    "size",   "dim",    "ndim",  "ndimension", "numel", "len",
    "device", "layout", "shape", "stride",     "dtype", "is_contiguous"};

bool ScriptInterpreter::isOnQuantized(
    const ProgramNode &node, llvm::ArrayRef<ScriptValue> inputs) const {
  llvm::StringRef kind = node.kind;
  if (inputs.empty() || !inputs[0].isQuantized() || kind == "aten::__is__" ||
      kind == "aten::__isnot__")
    return false;
  llvm::StringRef name = kind.rsplit(':').second;
  return kind.starts_with("aten::") || kind == "prim::is_quantized" ||
         (kind.starts_with("prim::") && llvm::is_contained(facts, name));
}

/// Returns \p value, or the tensors in the list that it is, with the scale and
/// zero point of \p like.
static ScriptValue wrap(ScriptInterpreter &in, const ScriptValue &value,
                        const ScriptValue &like) {
  const ScriptValues &own = like.getList().elements;
  if (value.isTensor())
    return in.makeQuantized(value.getTensor(), own[1].getTensor(),
                            own[2].getTensor(), /*axis=*/std::nullopt);
  if (!value.isList())
    return value;
  ScriptValues elements;
  for (const ScriptValue &element : value.getList().elements)
    elements.push_back(wrap(in, element, like));
  return in.makeContainer(value, std::move(elements));
}

/// Executes the operator called \p returning, which returns what \p self
/// becomes, and writes that.
static llvm::Expected<ScriptValues>
writeQuantized(ScriptInterpreter &in, const ProgramNode &node,
               llvm::StringRef returning, llvm::ArrayRef<ScriptValue> inputs) {
  ProgramNode own = node;
  own.kind = "aten::" + returning.str();
  GLOWISH_ASSIGN_OR_RETURN(ScriptValues results, in.callReturning(own, inputs));
  const ScriptTensorRef &self = getIntegers(inputs[0]);
  if (!results[0].isQuantized() ||
      getIntegers(results[0])->getType() != self->getType())
    return makeError("it writes {0} to {1}; accepted: one type",
                     results[0].describe(), inputs[0].describe());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value,
                           in.memory.read(getIntegers(results[0])->place));
  GLOWISH_RETURN_IF_ERROR(in.memory.write(self->place, value));
  return ScriptValues{inputs[0]};
}

llvm::Expected<ScriptValues>
ScriptInterpreter::callQuantized(const ProgramNode &node,
                                 llvm::ArrayRef<ScriptValue> inputs) {
  const ScriptValue &self = inputs[0];
  llvm::StringRef name = llvm::StringRef(node.kind).rsplit(':').second;
  if (name == "is_quantized")
    return ScriptValues{ScriptValue(true)};
  if (name == "is_floating_point" || name == "is_complex")
    return ScriptValues{ScriptValue(false)};
  if (name == "dtype")
    return ScriptValues{ScriptValue(
        getQuantizedNumber(getIntegers(self)->getType().getKind()))};
  ScriptValues own(inputs);
  own[0] = getIntegers(self);
  if (llvm::is_contained(facts, name))
    return call(node, own);
  llvm::StringRef returning = name;
  bool isInPlace = returning.consume_back("_");
  bool hasAxis = self.getList().elements.size() > 3;
  if (isOnIntegers(returning) && !hasAxis) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptValues results, call(node, own));
    for (ScriptValue &result : results)
      result = wrap(*this, result, self);
    return results;
  }
  return isInPlace ? writeQuantized(*this, node, returning, inputs)
                   : callReturning(node, inputs);
}
