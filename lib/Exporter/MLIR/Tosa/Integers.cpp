//===- Integers.cpp - Sums of products of bytes in TOSA -------------------===//
//
// TOSA multiplies int8, with zero points that are attributes. A uint8 is the
// int8 with the other upper bit, which stands for 128 less.
//
//===----------------------------------------------------------------------===//

#include "MLIR/Tosa/TosaWriter.h"
#include "glowish/Base/Tensor.h"

using namespace glowish;

/// An operand as int8.
static MlirValue makeSigned(TosaWriter &w, NodeValue x) {
  MlirValue bytes = w.get(x);
  return bytes.getKind() == ElemKind::Int8 ? bytes : w.flipSign(bytes);
}

/// The zero point of \p x as int8, which \p zeroPoint states; null where it is
/// not known or differs between channels.
static std::optional<int64_t> findZero(NodeValue x, NodeValue zeroPoint) {
  int64_t shift = x.getElemKind() == ElemKind::UInt8 ? 128 : 0;
  if (!zeroPoint)
    return -shift;
  auto *constant = zeroPoint.getNodeAs<Constant>();
  if (!constant || constant->getTensor().getNumElements() == 0 ||
      !isSplat(constant->getTensor()))
    return std::nullopt;
  return constant->getTensor().getAsInt(0) - shift;
}

static void writeByteMatMul(TosaWriter &w, const MatMulIntegerNode &node) {
  std::optional<int64_t> zero = findZero(node.getRhs(), node.getRhsZeroPoint());
  if (!zero)
    return w.refuse("tosa has one zero point for an operand, a constant");
  w.setResult(node, w.matMulBytes(makeSigned(w, node.getLhs()),
                                  makeSigned(w, node.getRhs()),
                                  *findZero(node.getLhs(), NodeValue()), *zero,
                                  node.getType()));
}
static const MlirForm byteMatMulForm(NodeKind::MatMulInteger, writeByteMatMul);

static void writeByteConvolution(TosaWriter &w,
                                 const ConvolutionIntegerNode &node) {
  std::optional<int64_t> inputZero =
      findZero(node.getInput(), node.getZeroPoint());
  std::optional<int64_t> filterZero =
      findZero(node.getFilter(), node.getFilterZeroPoint());
  if (!inputZero || !filterZero)
    return w.refuse("tosa has one zero point for an operand, a constant");
  w.setResult(node, w.convolve({.input = makeSigned(w, node.getInput()),
                                .filter = makeSigned(w, node.getFilter()),
                                .bias = w.get(node.getBias()),
                                .strides = node.getStrides(),
                                .pads = node.getPads(),
                                .dilations = node.getDilations(),
                                .group = node.getGroup(),
                                .inputZero = *inputZero,
                                .filterZero = *filterZero},
                               node.getType()));
}
static const MlirForm byteConvolutionForm(NodeKind::ConvolutionInteger,
                                          writeByteConvolution);
