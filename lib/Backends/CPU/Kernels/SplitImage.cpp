//===- SplitImage.cpp - Floats as sums of bfloat16 numbers ----------------===//

#include "SplitImage.h"

using namespace glowish;
using llvm::Value;

//===- Geometry ----------------------------------------------------------===//

SplitImage SplitImage::forInput(const ConvolutionShape &shape) {
  int64_t reachH = (shape.kernelH - 1) * shape.dilationH;
  int64_t reachW = (shape.kernelW - 1) * shape.dilationW;
  return {std::min(shape.strideH, reachH + 1),
          std::min(shape.strideW, reachW + 1),
          shape.batch,
          shape.outHeight + reachH / shape.strideH,
          shape.outWidth + reachW / shape.strideW,
          (shape.channels + matrixDepth - 1) / matrixDepth};
}

int64_t glowish::getSplitWeightSize(const ConvolutionShape &shape) {
  int64_t registers = (shape.outChannels + matrixColumns - 1) / matrixColumns;
  return getSplitSteps(shape) * getSplitStepSize(registers);
}

int64_t glowish::getSplitWeightIndex(const ConvolutionShape &shape, int64_t kh,
                                     int64_t kw, int64_t c, int64_t n) {
  int64_t step = (c / matrixDepth * shape.kernelH + kh) * shape.kernelW + kw;
  int64_t half = matrixDepth / 2;
  int64_t row = c % half * 2 + c % matrixDepth / half;
  int64_t block = n / splitChannels;
  int64_t left = shape.outChannels - block * splitChannels;
  int64_t registers = left > matrixColumns ? 2 : 1;
  return block * getSplitSteps(shape) * getSplitStepSize(2) +
         step * getSplitStepSize(registers) +
         n % splitChannels / matrixColumns * matrixDepth * matrixColumns +
         row * matrixColumns + n % matrixColumns;
}

//===- Splitting ---------------------------------------------------------===//

std::array<Value *, numParts> glowish::splitFloats(KernelBuilder &b,
                                                   Value *even, Value *odd) {
  unsigned lanes = KernelBuilder::getLanes(even);
  llvm::Type *intTy = KernelBuilder::getVectorTy(b.getInt32Ty(), lanes);
  Value *half = llvm::ConstantInt::get(intTy, 0x8000);
  Value *upper = llvm::ConstantInt::get(intTy, 0xffff0000u);
  std::array<Value *, numParts> parts;
  std::array<Value *, 2> values = {even, odd};
  for (int64_t i = 0; i < numParts; ++i) {
    std::array<Value *, 2> kept;
    for (Value *&value : values) {
      // Half of the last place that is kept is added, and the rest cut off. At
      // last nothing is left beyond it.
      Value *bits = b.CreateBitCast(value, intTy);
      Value *rounded = i + 1 < numParts ? b.CreateAdd(bits, half) : bits;
      kept[&value - values.data()] = b.CreateAnd(rounded, upper);
    }
    parts[i] = b.CreateOr(b.CreateLShr(kept[0], 16), kept[1]);
    for (int64_t k = 0; k < 2; ++k)
      values[k] = b.CreateFSub(values[k],
                               b.CreateBitCast(kept[k], values[k]->getType()));
  }
  return parts;
}
