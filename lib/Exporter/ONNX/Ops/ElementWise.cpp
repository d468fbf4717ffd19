//===- ElementWise.cpp - Element-wise nodes as ONNX -----------------------===//

#include "ONNX/Ops/ElementWise.h"
#include <cmath>

using namespace glowish;

/// The layout that the operands of \p node are to have.
static Layout chooseLayout(const GraphWriter &w, const Node &node) {
  unsigned rank = node.getType().getRank();
  for (NodeValue operand : node.getOperands()) {
    Layout layout = w.getLayout(operand);
    if (layout.size() == rank && !isIdentity(layout))
      return layout;
  }
  return getIdentityLayout(rank);
}

void glowish::writeElementWise(
    GraphWriter &w, const Node &node,
    llvm::function_ref<OnnxValue(llvm::ArrayRef<OnnxValue>)> write) {
  Layout layout = chooseLayout(w, node);
  OnnxValues operands;
  for (NodeValue operand : node.getOperands()) {
    bool isScalar = operand.getShape().empty();
    operands.push_back(isScalar || isIdentity(layout)
                           ? w.get(operand)
                           : w.getExpanded(operand, invert(layout)));
  }
  OnnxValue result = write(operands);
  w.setResult(node, result, layout);
}

ElementWiseExporter::ElementWiseExporter(NodeKind kind,
                                         llvm::StringLiteral onnxOperator)
    : exporter(kind, NodeExporter::Function([onnxOperator](GraphWriter &w,
                                                           const Node &node) {
                 writeElementWise(w, node, [&](llvm::ArrayRef<OnnxValue> x) {
                   return w.op(onnxOperator, x);
                 });
               })) {}

//===- Those that ONNX has ------------------------------------------------===//

static const ElementWiseExporter sameInOnnx[] = {
    {NodeKind::Add, "Add"},
    {NodeKind::Sub, "Sub"},
    {NodeKind::Mul, "Mul"},
    {NodeKind::Div, "Div"},
    {NodeKind::Max, "Max"},
    {NodeKind::Min, "Min"},
    {NodeKind::Pow, "Pow"},
    {NodeKind::Abs, "Abs"},
    {NodeKind::Neg, "Neg"},
    {NodeKind::Sign, "Sign"},
    {NodeKind::Exp, "Exp"},
    {NodeKind::Log, "Log"},
    {NodeKind::Sqrt, "Sqrt"},
    {NodeKind::Reciprocal, "Reciprocal"},
    {NodeKind::Floor, "Floor"},
    {NodeKind::Ceil, "Ceil"},
    {NodeKind::Round, "Round"},
    {NodeKind::Tanh, "Tanh"},
    {NodeKind::Erf, "Erf"},
    {NodeKind::Sin, "Sin"},
    {NodeKind::Cos, "Cos"},
    {NodeKind::Tan, "Tan"},
    {NodeKind::Asin, "Asin"},
    {NodeKind::Acos, "Acos"},
    {NodeKind::Atan, "Atan"},
    {NodeKind::Sinh, "Sinh"},
    {NodeKind::Cosh, "Cosh"},
    {NodeKind::Asinh, "Asinh"},
    {NodeKind::Acosh, "Acosh"},
    {NodeKind::Atanh, "Atanh"},
    {NodeKind::Sigmoid, "Sigmoid"},
    {NodeKind::HardSwish, "HardSwish"},
    {NodeKind::Equal, "Equal"},
    {NodeKind::Less, "Less"},
    {NodeKind::Greater, "Greater"},
    {NodeKind::LessOrEqual, "LessOrEqual"},
    {NodeKind::GreaterOrEqual, "GreaterOrEqual"},
    {NodeKind::Not, "Not"},
    {NodeKind::And, "And"},
    {NodeKind::Or, "Or"},
    {NodeKind::Select, "Where"},
};

//===- Limits and conversions ---------------------------------------------===//

/// Clip-13 has scalars as limits; those that limit nothing are left out.
static OnnxValue writeClip(GraphWriter &w, const ClipNode &node,
                           llvm::ArrayRef<OnnxValue> x) {
  OnnxValue low, high;
  if (node.getLow() != -HUGE_VAL)
    low = w.numberLike(x[0], node.getLow());
  if (node.getHigh() != HUGE_VAL)
    high = w.numberLike(x[0], node.getHigh());
  return w.op("Clip", {x[0], low, high});
}

/// The least and largest number of an integer kind of 8 or 16 bits.
static std::optional<std::pair<double, double>> getNarrowRange(ElemKind kind) {
  unsigned bits = 8 * getElemSize(kind);
  if (!isIntegerKind(kind) || bits > 16)
    return std::nullopt;
  if (isSignedIntegerKind(kind))
    return std::pair(-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1);
  return std::pair(0.0, std::ldexp(1, bits) - 1);
}

/// ONNX leaves it open what becomes of a float that does not fit, but
/// quantized numbers saturate.
static OnnxValue writeCast(GraphWriter &w, const CastNode &node,
                           llvm::ArrayRef<OnnxValue> operands) {
  OnnxValue x = operands[0];
  if (auto range = getNarrowRange(node.getTo()); range && isFloatKind(x.kind)) {
    x = w.cast(x, getElemSize(x.kind) < 4 ? ElemKind::Float : x.kind);
    x = w.op("Clip", {x, w.numberLike(x, range->first),
                      w.numberLike(x, range->second)});
  }
  if (x.kind == node.getTo())
    return x;
  return w.cast(x, node.getTo());
}

static const ElementWiseExporter clip(NodeKind::Clip, writeClip);
static const ElementWiseExporter castTo(NodeKind::Cast, writeCast);
