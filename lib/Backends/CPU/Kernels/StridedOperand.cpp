//===- StridedOperand.cpp - Operands as kernels see them ------------------===//

#include "Kernels/StridedOperand.h"
#include "llvm/ADT/Sequence.h"

using namespace glowish;

LoopExtents glowish::sortDimensions(const LoopExtents &extents,
                                    llvm::ArrayRef<StridedOperand *> operands) {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, extents.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    int64_t strideA = std::abs(operands[0]->strides[a]);
    int64_t strideB = std::abs(operands[0]->strides[b]);
    return strideA != strideB ? strideA > strideB : a < b;
  });
  LoopExtents sorted;
  std::vector<Dims> strides(operands.size());
  for (unsigned d : order) {
    sorted.push_back(extents.shape[d], extents.needed[d]);
    for (auto [own, operand] : llvm::zip_equal(strides, operands))
      own.push_back(operand->strides[d]);
  }
  for (auto [own, operand] : llvm::zip_equal(strides, operands))
    operand->strides = own;
  return sorted;
}

LoopExtents glowish::joinDimensions(KernelBuilder &b,
                                    const LoopExtents &extents,
                                    llvm::ArrayRef<StridedOperand *> operands) {
  LoopExtents joined;
  std::vector<Dims> strides(operands.size());
  for (size_t d = 0; d < extents.size(); ++d) {
    int64_t extent = extents.shape[d];
    if (extent == 1)
      continue;
    bool joins = joined.size() != 0 && !extents.needed[d];
    for (size_t i = 0; i < operands.size() && joins; ++i)
      joins = strides[i].back() == operands[i]->strides[d] * extent;
    if (!joins) {
      joined.push_back(extent, extents.needed[d]);
    } else {
      joined.shape.back() *= extent;
      if (llvm::Value *&needed = joined.needed.back())
        needed = b.scaleIndex(needed, extent);
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!joins)
        strides[i].push_back(0);
      strides[i].back() = operands[i]->strides[d];
    }
  }
  if (joined.size() == 0) {
    joined.push_back(1);
    for (Dims &s : strides)
      s.push_back(1);
  }
  for (size_t i = 0; i < operands.size(); ++i)
    operands[i]->strides = strides[i];
  return joined;
}
