//===- StridedOperand.h - Operands as kernels see them ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_STRIDEDOPERAND_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_STRIDEDOPERAND_H

#include "Kernels/KernelBuilder.h"
#include "glowish/IR/IR.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

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
inline Dims sortDimensions(DimsRef shape,
                           llvm::ArrayRef<StridedOperand *> operands) {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, shape.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    int64_t strideA = std::abs(operands[0]->strides[a]);
    int64_t strideB = std::abs(operands[0]->strides[b]);
    return strideA != strideB ? strideA > strideB : a < b;
  });
  auto permute = [&](DimsRef values) {
    Dims sorted;
    for (unsigned d : order)
      sorted.push_back(values[d]);
    return sorted;
  };
  for (StridedOperand *operand : operands)
    operand->strides = permute(operand->strides);
  return permute(shape);
}

/// Joins neighbouring dimensions of \p shape that all operands walk through as
/// one, and drops those of extent 1. At least one dimension is left.
inline Dims joinDimensions(DimsRef shape,
                           llvm::ArrayRef<StridedOperand *> operands) {
  Dims joined;
  std::vector<Dims> strides(operands.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1)
      continue;
    bool joins = !joined.empty();
    for (size_t i = 0; i < operands.size() && joins; ++i)
      joins = strides[i].back() == operands[i]->strides[d] * shape[d];
    if (joins)
      joined.back() *= shape[d];
    else
      joined.push_back(shape[d]);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!joins)
        strides[i].push_back(0);
      strides[i].back() = operands[i]->strides[d];
    }
  }
  if (joined.empty()) {
    joined.push_back(1);
    for (Dims &s : strides)
      s.push_back(1);
  }
  for (size_t i = 0; i < operands.size(); ++i)
    operands[i]->strides = strides[i];
  return joined;
}

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_STRIDEDOPERAND_H
