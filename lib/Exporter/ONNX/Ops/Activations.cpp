//===- Activations.cpp - Export of activations ----------------------------===//

#include "ONNX/Ops/ElementWise.h"

using namespace glowish;
using Operands = llvm::ArrayRef<OnnxValue>;

/// ONNX Runtime does not implement Relu for int64, and there is no wider kind.
static OnnxValue writeRelu(GraphWriter &w, const ReluNode & /*node*/,
                           Operands x) {
  if (x[0].kind == ElemKind::Int64)
    return w.op("Max", {x[0], w.numberLike(x[0], 0)});
  return w.op("Relu", x);
}
static const ElementWiseExporter relu = writeRelu;

/// ONNX's PRelu broadcasts the slope to x, but not x to the slope.
static OnnxValue writePRelu(GraphWriter &w, const PReluNode &node, Operands x) {
  if (node.getX().getShape() == node.getType().getShape())
    return w.op("PRelu", x);
  OnnxValue isNegative = w.op("Less", {x[0], w.numberLike(x[0], 0)});
  return w.select(isNegative, w.mul(x[0], x[1]), x[0]);
}
static const ElementWiseExporter pRelu = writePRelu;

//===- Activations missing in opset 17 ------------------------------------===//

static OnnxValue writeSilu(GraphWriter &w, const SiluNode & /*node*/,
                           Operands x) {
  return w.mul(x[0], w.op("Sigmoid", x));
}
static const ElementWiseExporter silu = writeSilu;

static OnnxValue writeSwish(GraphWriter &w, const SwishNode &node, Operands x) {
  OnnxValue scaled = w.mul(x[0], w.numberLike(x[0], node.getAlpha()));
  return w.mul(x[0], w.op("Sigmoid", {scaled}));
}
static const ElementWiseExporter swish = writeSwish;

/// x / 2 * (1 + erf(x / sqrt(2))).
static OnnxValue writeGelu(GraphWriter &w, const GeluNode & /*node*/,
                           Operands x) {
  OnnxValue scaled = w.mul(x[0], w.numberLike(x[0], 0.70710678118654752));
  OnnxValue erf = w.op("Erf", {scaled});
  OnnxValue sum = w.add(erf, w.numberLike(x[0], 1));
  return w.mul(w.mul(x[0], sum), w.numberLike(x[0], 0.5));
}
static const ElementWiseExporter gelu = writeGelu;

/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
static OnnxValue writeGeluTanh(GraphWriter &w, const GeluTanhNode & /*node*/,
                               Operands x) {
  OnnxValue cube = w.mul(w.mul(x[0], x[0]), x[0]);
  OnnxValue inner =
      w.add(x[0], w.mul(cube, w.numberLike(x[0], 0.044714999999999998)));
  OnnxValue tanh =
      w.op("Tanh", {w.mul(inner, w.numberLike(x[0], 0.79788456080286536))});
  OnnxValue sum = w.add(tanh, w.numberLike(x[0], 1));
  return w.mul(w.mul(x[0], sum), w.numberLike(x[0], 0.5));
}
static const ElementWiseExporter geluTanh = writeGeluTanh;

static OnnxValue writeLogSigmoid(GraphWriter &w,
                                 const LogSigmoidNode & /*node*/, Operands x) {
  return w.op("Neg", {w.op("Softplus", {w.op("Neg", x)})});
}
static const ElementWiseExporter logSigmoid = writeLogSigmoid;

static OnnxValue writeMish(GraphWriter &w, const MishNode & /*node*/,
                           Operands x) {
  return w.mul(x[0], w.op("Tanh", {w.op("Softplus", x)}));
}
static const ElementWiseExporter mish = writeMish;

//===- Functions that no opset has ----------------------------------------===//

/// e^x - 1: near 0 by t = tanh(x / 2), with which it is 2 t / (1 - t).
static OnnxValue writeExpm1(GraphWriter &w, const Expm1Node & /*node*/,
                            Operands x) {
  OnnxValue one = w.numberLike(x[0], 1), half = w.numberLike(x[0], 0.5);
  OnnxValue t = w.op("Tanh", {w.mul(x[0], half)});
  OnnxValue near = w.op("Div", {w.add(t, t), w.op("Sub", {one, t})});
  OnnxValue far = w.op("Sub", {w.op("Exp", x), one});
  OnnxValue isNear = w.op("Less", {w.op("Abs", x), half});
  return w.select(isNear, near, far);
}
static const ElementWiseExporter expMinusOne = writeExpm1;

/// ln(1 + x): the ratio of x and what 1 + x keeps of it makes up for the
/// rounding (Higham, Accuracy and Stability of Numerical Algorithms, 1.14.1).
/// Where nothing is kept, or all is infinite, the result is x.
static OnnxValue writeLog1p(GraphWriter &w, const Log1pNode & /*node*/,
                            Operands x) {
  OnnxValue one = w.numberLike(x[0], 1), zero = w.numberLike(x[0], 0);
  OnnxValue sum = w.add(x[0], one), kept = w.op("Sub", {sum, one});
  OnnxValue log = w.mul(w.op("Log", {sum}), w.op("Div", {x[0], kept}));
  OnnxValue isPlain =
      w.op("Or", {w.op("Equal", {kept, zero}), w.op("IsInf", {kept})});
  return w.select(isPlain, x[0], log);
}
static const ElementWiseExporter logOfOnePlus = writeLog1p;

static OnnxValue writeErfc(GraphWriter &w, const ErfcNode & /*node*/,
                           Operands x) {
  return w.op("Sub", {w.numberLike(x[0], 1), w.op("Erf", x)});
}
static const ElementWiseExporter complement = writeErfc;

//===- Extents ------------------------------------------------------------===//

/// ONNX has no types with them.
static void exportDeclareExtents(GraphWriter &w,
                                 const DeclareExtentsNode &node) {
  w.setResult(node, w.op("Identity", {w.getStored(node.getInput())}),
              w.getLayout(node.getInput()));
}
static const NodeExporter declareExtents = exportDeclareExtents;

//===- Dropout ------------------------------------------------------------===//

/// The identity in inference; kept for training of the written model.
static void exportDropout(GraphWriter &w, const DropoutNode &node) {
  OnnxValue result =
      w.op("Dropout", {w.getStored(node.getInput()),
                       w.number(ElemKind::Float, node.getRatio())});
  w.setResult(node, result, w.getLayout(node.getInput()));
}
static const NodeExporter dropout = exportDropout;

//===- Loss ---------------------------------------------------------------===//

/// The identity: ONNX's losses are other values than what they compare.
static const NodeExporter loss = [](GraphWriter &w, const LossNode &node) {
  w.setResult(node, w.op("Identity", {w.getStored(node.getInput())}),
              w.getLayout(node.getInput()));
};
