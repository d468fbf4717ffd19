//===- Quantized.cpp - Operators on quantized tensors ---------------------===//

#include "Aten/Quantized.h"
#include "Aten/ElementImporters.h"

using namespace glowish;
using namespace glowish::aten;

//===- Registry -----------------------------------------------------------===//

/// The importers for quantized tensors; created on first use.
static AtenElementImporters &getImporters() {
  static AtenElementImporters importers(AtenElements::RealOrQuantized);
  return importers;
}

AtenQuantizedOperators::AtenQuantizedOperators(
    AtenImporter importer, std::initializer_list<llvm::StringLiteral> names) {
  getImporters().add(importer, names);
}

bool aten::isOnIntegers(llvm::StringRef name) {
  static const llvm::StringSet<> names = splitWords(
      "_unsafe_view alias channel_shuffle chunk clone contiguous detach expand "
      "expand_as flatten flip index_select max_pool1d max_pool2d moveaxis "
      "movedim narrow permute pixel_shuffle pixel_unshuffle repeat reshape "
      "roll select slice split split_with_sizes squeeze swapaxes swapdims t "
      "tensor_split transpose unbind unflatten unsafe_chunk unsafe_split "
      "unsqueeze upsample_nearest2d view");
  return names.contains(name);
}

bool aten::hasQuantized(const AtenValue &value) {
  if (value.is<AtenValue::List>())
    return llvm::any_of(value.get<AtenValue::List>(), hasQuantized);
  return value.isQuantized() || value.is<AtenQuantizedKind>();
}

//===- Kinds --------------------------------------------------------------===//

/// The kinds from the number of qint8 on.
static constexpr ElemKind quantizedKinds[] = {ElemKind::Int8, ElemKind::UInt8,
                                              ElemKind::Int32};
static constexpr int64_t firstQuantizedKind = 12;

std::optional<ElemKind> aten::getQuantizedKind(int64_t number) {
  int64_t index = number - firstQuantizedKind;
  return index >= 0 && index < int64_t(std::size(quantizedKinds))
             ? std::optional(quantizedKinds[index])
             : std::nullopt;
}

int64_t aten::getQuantizedNumber(ElemKind kind) {
  return firstQuantizedKind +
         (llvm::find(quantizedKinds, kind) - std::begin(quantizedKinds));
}

//===- Arguments ----------------------------------------------------------===//

llvm::Expected<NodeValue> aten::readFloat(const AtenOp &op,
                                          llvm::StringRef argument) {
  const AtenValue &value = op.get(argument);
  if (!value.isTensor() ||
      value.get<NodeValue>().getElemKind() != ElemKind::Float)
    return op.refuse(argument, "a tensor of float");
  return value.get<NodeValue>();
}

llvm::Expected<AtenQuantized> aten::readQuantized(const AtenOp &op,
                                                  llvm::StringRef argument) {
  const AtenValue &value = op.get(argument);
  if (!value.isQuantized() || value.get<AtenQuantized>().axis)
    return op.refuse(argument, "a quantized tensor with one scale");
  return value.get<AtenQuantized>();
}

//===- Arithmetic ---------------------------------------------------------===//

/// Returns \p parameter of \p own so that it broadcasts to tensors of \p rank.
static NodeValue alignParameter(NodeBuilder &b, NodeValue parameter,
                                const AtenQuantized &own, size_t rank) {
  if (!parameter || !own.axis)
    return parameter;
  Dims shape(rank - size_t(*own.axis), 1);
  shape[0] = parameter.getType().getNumElements();
  return b.reshape(parameter, shape);
}

NodeValue aten::dequantize(NodeBuilder &b, const AtenQuantized &x) {
  if (!x.values)
    return {};
  size_t rank = x.values.getShape().size();
  NodeValue steps = b.sub(b.cast(x.values, ElemKind::Int32),
                          alignParameter(b, x.zeroPoint, x, rank));
  return b.mul(b.cast(steps, ElemKind::Float),
               alignParameter(b, x.scale, x, rank));
}

/// Returns \p steps, rounded and with the zero point of \p like, as integers of
/// \p kind, which a cast bounds.
static AtenQuantized round(NodeBuilder &b, NodeValue steps, ElemKind kind,
                           const AtenQuantized &like) {
  if (!steps)
    return {};
  size_t rank = steps.getShape().size();
  // A float does not have all of int32.
  ElemKind wide = kind == ElemKind::Int32 ? ElemKind::Double : ElemKind::Float;
  NodeValue sum =
      b.add(b.cast(b.unary<RoundNode>(steps), wide),
            b.cast(alignParameter(b, like.zeroPoint, like, rank), wide));
  return {b.cast(sum, kind), like.scale, like.zeroPoint, like.axis};
}

AtenQuantized aten::quantize(NodeBuilder &b, NodeValue x, ElemKind kind,
                             const AtenQuantized &like) {
  if (!x)
    return {};
  NodeValue inverse =
      alignParameter(b, b.div(1, like.scale), like, x.getShape().size());
  return round(b, b.mul(x, inverse), kind, like);
}

AtenQuantized aten::requantize(NodeBuilder &b, NodeValue x, ElemKind kind,
                               const AtenQuantized &like) {
  return round(b, b.div(x, like.scale), kind, like);
}

//===- Import -------------------------------------------------------------===//

/// Returns \p value, or the tensors in the list that it is, with the scale and
/// zero point of \p like.
static AtenValue wrap(const AtenValue &value, const AtenQuantized &like) {
  if (value.isTensor())
    return AtenQuantized{value.get<NodeValue>(), like.scale, like.zeroPoint};
  if (!value.is<AtenValue::List>())
    return value;
  AtenValue::List list;
  for (const AtenValue &element : value.get<AtenValue::List>())
    list.push_back(wrap(element, like));
  return list;
}

/// Imports an operator as that on the integers of its first argument.
static llvm::Expected<AtenValue::List>
importOnIntegers(const RegisteredAtenOp &op, Function &function,
                 llvm::StringRef name, AtenValue::List arguments,
                 AtenContext &context) {
  AtenQuantized self = arguments[0].get<AtenQuantized>();
  arguments[0] = self.values;
  GLOWISH_ASSIGN_OR_RETURN(
      AtenValue::List results,
      importAtenOperator(op, function, name, std::move(arguments), context));
  for (AtenValue &result : results)
    result = wrap(result, self);
  return results;
}

llvm::Expected<AtenValue::List>
aten::importQuantized(const RegisteredAtenOp &op, Function &function,
                      llvm::StringRef name, AtenValue::List arguments,
                      AtenContext &context) {
  if (AtenImporter importer = getImporters().find(op))
    return getImporters().import(importer, op, function, name,
                                 std::move(arguments), context);
  if (isOnIntegers(op.schema.name) && arguments[0].isQuantized() &&
      !arguments[0].get<AtenQuantized>().axis)
    return importOnIntegers(op, function, name, std::move(arguments), context);
  for (auto [argument, value] : llvm::zip_equal(op.schema.arguments, arguments))
    if (hasQuantized(value))
      return makeError("argument '{0}' is {1}; accepted: real tensors, such as "
                       "dequantize() returns, and their types",
                       argument.name, value.describe());
  llvm_unreachable("an argument is quantized");
}
