//===- MicroKernel.h - The innermost loop of matmuls ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_MICROKERNEL_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_MICROKERNEL_H

#include "Kernels/Convolution/Window.h"
#include "Kernels/KernelBuilder.h"

namespace glowish {

/// An address to prefetch from, and the bytes that each reduction step
/// prefetches. \p stride: bytes from one step to the next, where it is not the
/// same; each step prefetches more, or less, than is its own then.
struct Prefetch {
  llvm::Value *address = nullptr;
  int64_t bytesPerStep = 0;
  llvm::Value *stride = nullptr;
};

/// A tile of rows ("pixels") by vectors of columns ("output channels") whose
/// sums are kept in registers while a reduction goes by.
struct MicroKernel {
  /// Of the sums.
  ElemKind kind;
  /// Lanes of all vectors but the last, and of the last.
  unsigned lanes, lastLanes;
  unsigned pixels, vectors;
  /// Elements from one pixel, and from one row of weights, to the next.
  int64_t pixelStride, rowStride;
  /// Whether the last vector of weights is filled up, so that it may be loaded
  /// whole.
  bool isPadded;
  /// Elements from one step of the reduction to the next, of a pixel; and from
  /// one column of weights to the next.
  int64_t stepStride = 1, columnStride = 1;
  /// The vectors of a block of columns, and the elements from one block's
  /// weights to the next one's; 0 where all columns are one block.
  unsigned blockVectors = 0;
  int64_t blockStride = 0;
  /// Where it is not empty, the elements from the first pixel to each, instead
  /// of the stride.
  llvm::ArrayRef<int64_t> pixelOffsets = {};
  /// Whether registers are left for a vector of elements a pixel, of which each
  /// step takes a lane. For steps of stride 1 where the target has that.
  bool takesLanes = false;
  /// Integers narrower than the sums, and half precisions, are widened when
  /// they are loaded.
  ElemKind inputKind = kind, weightKind = kind;
  /// Where it is not None, elements are of int32 and stand for as many small
  /// ones as that instruction multiplies in a lane.
  DotInstr dot = DotInstr::None;

  unsigned getLanes(unsigned vector) const {
    return vector + 1 == vectors ? lastLanes : lanes;
  }
  unsigned getNumBlocks() const {
    return blockVectors ? vectors / blockVectors : 1;
  }
  Values getZeros(KernelBuilder &b) const;
  /// sums + \p length elements from \p x on, for each of pixels \p range, times
  /// as many rows of weights. Sum (p, v) is number
  /// p * vectors + v.
  Values accumulate(KernelBuilder &b, PixelRange range, int64_t length,
                    llvm::Value *x, llvm::Value *weights, Values sums,
                    Prefetch prefetch = {}) const;
  /// The same for a length that is perhaps not known, and all pixels.
  Values accumulate(KernelBuilder &b, llvm::Value *length, llvm::Value *x,
                    llvm::Value *weights, Values sums) const;

private:
  /// Returns the elements from a row's first weight to those of \p vector.
  int64_t getVectorOffset(unsigned vector) const {
    unsigned inBlock = blockVectors ? vector % blockVectors : vector;
    unsigned block = blockVectors ? vector / blockVectors : 0;
    return int64_t(inBlock * lanes) * columnStride + block * blockStride;
  }
  int64_t getPixelOffset(unsigned pixel) const {
    return pixelOffsets.empty() ? pixel * pixelStride : pixelOffsets[pixel];
  }
  /// \p value, elements of \p from, as the sums' kind is computed with.
  llvm::Value *widenElements(KernelBuilder &b, llvm::Value *value,
                             ElemKind from) const;
  unsigned getUnrolling(const TargetDescription &target) const;
  /// The weights of step \p k.
  Values loadColumns(KernelBuilder &b, llvm::Value *k,
                     llvm::Value *weights) const;
  /// sums += \p factor * \p columns for \p pixel; rounded once where it
  /// \p fuses and the target can.
  void multiply(KernelBuilder &b, unsigned pixel, llvm::Value *factor,
                llvm::ArrayRef<llvm::Value *> columns, Values &sums,
                bool fuses = true) const;
  /// Step \p k of the reduction.
  Values accumulateStep(KernelBuilder &b, PixelRange range, llvm::Value *k,
                        llvm::Value *x, llvm::Value *weights,
                        llvm::ArrayRef<llvm::Value *> sums) const;
  /// As many steps as a vector has lanes, from \p k on.
  Values accumulateLanes(KernelBuilder &b, PixelRange range, llvm::Value *k,
                         llvm::Value *x, llvm::Value *weights,
                         llvm::ArrayRef<llvm::Value *> sums) const;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_MICROKERNEL_H
