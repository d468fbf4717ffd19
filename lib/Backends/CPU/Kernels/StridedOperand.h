//===- StridedOperand.h - Operands as kernels see them ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_STRIDEDOPERAND_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_STRIDEDOPERAND_H

#include "Kernels/KernelBuilder.h"
#include "glowish/IR/IR.h"
#include "llvm/ADT/STLExtras.h"

namespace glowish {

/// A pointer to element 0, an element kind, and strides in elements.
struct StridedOperand {
  llvm::Value *base = nullptr;
  ElemKind kind = ElemKind::Float;
  Dims strides;

  StridedOperand() = default;
  StridedOperand(llvm::Value *base, const Buffer &buffer)
      : base(base), kind(buffer.getType().getKind()),
        strides(buffer.getStrides()) {}

  int64_t getInnerStride() const {
    return strides.empty() ? 1 : strides.back();
  }

  /// The address of the element at \p index: one value a dimension.
  llvm::Value *getAddress(KernelBuilder &b,
                          llvm::ArrayRef<llvm::Value *> index) const {
    llvm::Value *offset = b.index(0);
    for (size_t d = 0; d < index.size(); ++d)
      offset = b.addScaled(offset, index[d], strides[d]);
    return b.getElement(base, kind, offset);
  }
};

/// The epilogue that is applied to results before they are stored.
struct EpilogueCode {
  /// Of the elements before the epilogue.
  ElemKind kind = ElemKind::Float;
  const ScalarProgram *program = nullptr;
  std::vector<StridedOperand> fused;
};

/// Puts the dimensions in an order in which \p operands[0] walks through memory
/// with falling strides, so that the last is the one side by side.
LoopExtents sortDimensions(const LoopExtents &extents,
                           llvm::ArrayRef<StridedOperand *> operands);

/// Joins neighbouring dimensions that all operands walk through as one, and
/// drops those of extent 1. One of which a run needs a part is not joined with
/// those around it. At least one dimension is left.
LoopExtents joinDimensions(KernelBuilder &b, const LoopExtents &extents,
                           llvm::ArrayRef<StridedOperand *> operands);
/// Joins dimensions of \p shape, of which a run needs all.
inline Dims joinDimensions(KernelBuilder &b, DimsRef shape,
                           llvm::ArrayRef<StridedOperand *> operands) {
  return joinDimensions(b, LoopExtents(shape), operands).shape;
}

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_STRIDEDOPERAND_H
