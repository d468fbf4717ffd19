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

/// The zero point of \p x as int8, which \p zeroPoint states. One that is not
/// known, or differs between channels, is refused.
static int64_t getZero(TosaWriter &w, NodeValue x, NodeValue zeroPoint) {
  int64_t shift = x.getElemKind() == ElemKind::UInt8 ? 128 : 0;
  if (!zeroPoint)
    return -shift;
  auto *constant = zeroPoint.getNodeAs<Constant>();
  if (constant && constant->getTensor().getNumElements() != 0 &&
      isSplat(constant->getTensor()))
    return constant->getTensor().getAsInt(0) - shift;
  w.refuse("tosa has one zero point for an operand, a constant");
  return 0;
}

static MlirValue writeByteMatMul(TosaWriter &w, const MatMulIntegerNode &node) {
  return w.matMulBytes(
      makeSigned(w, node.getLhs()), makeSigned(w, node.getRhs()),
      getZero(w, node.getLhs(), NodeValue()),
      getZero(w, node.getRhs(), node.getRhsZeroPoint()), node.getType());
}
static const MlirForm byteMatMul = writeByteMatMul;

static MlirValue writeByteConvolution(TosaWriter &w,
                                      const ConvolutionIntegerNode &node) {
  MlirConvolution convolution = MlirConvolution::of(
      node, makeSigned(w, node.getInput()), makeSigned(w, node.getFilter()),
      w.get(node.getBias()));
  convolution.inputZero = getZero(w, node.getInput(), node.getZeroPoint());
  convolution.filterZero =
      getZero(w, node.getFilter(), node.getFilterZeroPoint());
  return w.convolve(convolution, node.getType());
}
static const MlirForm byteConvolution = writeByteConvolution;
