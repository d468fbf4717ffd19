//===- LanePacking.cpp - Convolutions by dot products ---------------------===//

#include "Kernels/Convolution/LanePacking.h"

using namespace glowish;

void glowish::readAsLanes(ConvolutionOperands &operands, int64_t elements) {
  operands.input.kind = operands.weightKind = ElemKind::Int32;
  for (int64_t &stride :
       llvm::MutableArrayRef(operands.input.strides).drop_back())
    stride /= elements;
}

void glowish::emitLanes(KernelBuilder &b, const ConvolutionShape &shape,
                        Tile tile, int64_t elements,
                        ConvolutionOperands operands, ElemKind sumKind,
                        DotInstr dot) {
  const TargetDescription &target = b.getTarget();
  ConvolutionShape lanes = countLanes(shape, elements);
  unsigned block = tile.vectors * target.getPackedLanes(4);
  // The weights are packed for wider vectors than this code has.
  if (target.packedBits != target.vectorBits)
    tile = chooseTile(lanes, sumKind, target, block);
  if (elements > 1)
    readAsLanes(operands, elements);
  emitConvolution(b, lanes, tile, getPackedLayout(lanes, block),
                  std::move(operands), dot);
}
