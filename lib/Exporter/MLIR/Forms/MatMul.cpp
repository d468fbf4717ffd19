//===- MatMul.cpp - Sums of products as MLIR ------------------------------===//

#include "MLIR/Writer.h"

using namespace glowish;

static const MlirForm matMul = [](MlirWriter &w, const MatMulNode &node) {
  const Type &type = node.getType();
  return w.matMul(w.get(node.getLhs()), w.get(node.getRhs()),
                  type.withKind(getSumKind(type.getKind())));
};

static MlirValue writeConvolution(MlirWriter &w, const ConvolutionNode &node) {
  const Type &type = node.getType();
  MlirValue bias = w.get(node.getBias());
  return w.convolve(MlirConvolution::of(node, w.get(node.getInput()),
                                        w.get(node.getFilter()),
                                        bias ? w.widen(bias) : bias),
                    type.withKind(getSumKind(type.getKind())));
}
static const MlirForm convolution = writeConvolution;
