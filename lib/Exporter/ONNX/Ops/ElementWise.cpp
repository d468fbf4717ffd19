//===- ElementWise.cpp - Export of element-wise nodes ---------------------===//

#include "ONNX/Ops/ElementWise.h"
#include "glowish/Base/ElemRange.h"
#include <cmath>

using namespace glowish;

/// Returns the common layout for the operands of \p node.
static Layout chooseLayout(const GraphWriter &w, const Node &node) {
  unsigned rank = node.getType().getRank();
  for (NodeValue operand : node.getOperands()) {
    Layout layout = w.getLayout(operand);
    if (layout.size() == rank && !isIdentity(layout))
      return layout;
  }
  return getIdentityLayout(rank);
}

/// Operand \p index of \p node in the function's order. The bias of a matmul
/// is one of its Gemm's in ONNX Runtime, which multiplies integers only if the
/// bias is made of some, too.
static OnnxValue getOperand(GraphWriter &w, const Node &node, unsigned index) {
  NodeValue operand = node.getOperand(index);
  if (!llvm::isa<AddNode>(node) || operand.getShape().size() != 1)
    return w.get(operand);
  auto *matMul = node.getOperand(1 - index).getNodeAs<MatMulNode>();
  return matMul ? w.getBias(operand, matMul->getLhs(), matMul->getRhs())
                : w.get(operand);
}

void glowish::writeElementWise(
    GraphWriter &w, const Node &node,
    llvm::function_ref<OnnxValue(llvm::ArrayRef<OnnxValue>)> write) {
  Layout layout = chooseLayout(w, node);
  OnnxValues operands;
  for (auto [i, operand] : llvm::enumerate(node.getOperands())) {
    bool isScalar = operand.getShape().empty();
    operands.push_back(isScalar || isIdentity(layout)
                           ? getOperand(w, node, unsigned(i))
                           : w.getExpanded(operand, invert(layout)));
  }
  OnnxValue result = write(operands);
  w.setResult(node, result, layout);
}

ElementWiseExporter::ElementWiseExporter(NodeKind kind,
                                         llvm::StringLiteral onnxOperator)
    : exporter(kind, NodeExporter::Function([onnxOperator](GraphWriter &w,
                                                           const Node &node) {
                 OnnxAttrs attrs;
                 for (auto [info, value] :
                      llvm::zip_equal(node.getInfo().attrs, node.getAttrs()))
                   attrs.push_back(
                       floatAttr(info.name, std::get<double>(value)));
                 writeElementWise(w, node, [&](llvm::ArrayRef<OnnxValue> x) {
                   return w.op(onnxOperator, x, attrs);
                 });
               })) {}

//===- Operators of the same semantics in ONNX ----------------------------===//

static const ElementWiseExporter sameOperators[] = {
#define ONNX_ELEMENT_WISE(NAME, ONNX, ...) {NodeKind::NAME, ONNX},
#define GET_ONNX_ELEMENT_WISE_LIST
#include "glowish/Graph/NodeFunctions.inc"
};

//===- Clip and Cast ------------------------------------------------------===//

/// Clip-13 takes the bounds as scalars; infinite ones are left out.
static OnnxValue writeClip(GraphWriter &w, const ClipNode &node,
                           llvm::ArrayRef<OnnxValue> x) {
  OnnxValue low, high;
  if (node.getLow() != -HUGE_VAL)
    low = w.numberLike(x[0], node.getLow());
  if (node.getHigh() != HUGE_VAL)
    high = w.numberLike(x[0], node.getHigh());
  return w.op("Clip", {x[0], low, high});
}

/// Whether \p kind is an integer kind of 8 or 16 bits.
static bool isNarrowInteger(ElemKind kind) {
  return isIntegerKind(kind) && getElemSize(kind) <= 2;
}

/// ONNX does not define the conversion of floats out of range, but quantized
/// values must saturate.
static OnnxValue writeCast(GraphWriter &w, const CastNode &node,
                           llvm::ArrayRef<OnnxValue> operands) {
  OnnxValue x = operands[0];
  if (isNarrowInteger(node.getTo()) && isFloatKind(x.kind)) {
    ElemRange range = getFiniteRange(node.getTo());
    x = w.cast(x, getElemSize(x.kind) < 4 ? ElemKind::Float : x.kind);
    x = w.op("Clip",
             {x, w.numberLike(x, range.low), w.numberLike(x, range.high)});
  }
  if (x.kind == node.getTo())
    return x;
  return w.cast(x, node.getTo());
}

static const ElementWiseExporter clip = writeClip;
static const ElementWiseExporter castTo = writeCast;
