//===- FilterPacker.h - Packing of weights for kernels ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_FILTERPACKER_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_FILTERPACKER_H

#include "Kernels/Convolution/Convolution.h"
#include "glowish/IR/Instrs.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <map>

namespace glowish {

class ConvolutionAlgorithm;
struct ConvolutionCandidate;

/// Whether the values are known at compile time.
inline bool isConstant(const Buffer &buffer) {
  return buffer.getKind() == Buffer::Kind::Constant;
}

/// Element \p index of a tensor of int8, uint8 or int16.
inline int32_t getSmallInteger(const Tensor &tensor, int64_t index) {
  switch (tensor.getType().getKind()) {
  case ElemKind::Int8:
    return static_cast<const int8_t *>(tensor.getBytes())[index];
  case ElemKind::UInt8:
    return static_cast<const uint8_t *>(tensor.getBytes())[index];
  default:
    assert(tensor.getType().getKind() == ElemKind::Int16);
    return static_cast<const int16_t *>(tensor.getBytes())[index];
  }
}

/// The place of a weight: its group, the output channel and the input channel
/// in that, and the kernel's row and column.
struct WeightIndex {
  int64_t g, n, kh, kw, c;
};

/// Weights that are to be packed.
struct FilterSource {
  IRFunction &function;
  const TargetDescription &target;
  /// The shape of the convolution that uses them.
  ConvolutionShape shape;
  Buffer *filter;
  /// Strides of element (group, kh, kw, c, n).
  Dims strides;
  /// The instruction before which packing instructions are inserted.
  Instruction &before;

  bool isConstant() const { return glowish::isConstant(*filter); }
  /// The values of a constant, element kind float.
  const float *getFloats() const {
    return reinterpret_cast<const float *>(filter->getTensor().getBytes());
  }
  Buffer *createConstant(Tensor tensor) const;
  /// Creates a constant of \p type that \p pack makes of the filter, also a
  /// constant, when it is written: \p pack gets zeros. \p key: all that \p pack
  /// depends on besides the filter.
  Buffer *
  createPacked(const Type &type, llvm::StringLiteral layout,
               llvm::ArrayRef<int64_t> key,
               std::function<void(const Tensor &, uint8_t *)> pack) const;
  /// Returns what the weights' places depend on, for the keys of packings.
  std::vector<int64_t> getKey() const;
  Buffer *createActivation(const Type &type) const;
  Buffer *createView(DimsRef extents, int64_t offset, DimsRef strides) const;
  void createInstr(InstrDraft draft) const;
  /// Calls \p fn with the place of each weight and its element number.
  void forEachWeight(
      llvm::function_ref<void(const WeightIndex &, int64_t)> fn) const;
};

/// The filter, and scales where the algorithm has them, of a CPUConvolution.
struct PackedFilter {
  Buffer *filter = nullptr, *scales = nullptr;
};

/// Packs filters, and other operands of matmuls, in the layout that kernels
/// read: constants at compile time, others by instructions before the first
/// use. The users of an operand share its packings.
class FilterPacker {
public:
  explicit FilterPacker(IRFunction &function) : function(function) {}

  PackedFilter getPacked(const FilterSource &source,
                         const ConvolutionCandidate &candidate);
  /// Makes a dense, row-major copy of \p buffer before \p user if there is
  /// none, and returns it. \p bounds: of what the user needs.
  Buffer *getDense(Buffer *buffer, Instruction &user,
                   llvm::ArrayRef<LoopBound> bounds);
  /// The same of \p buffer, of a half precision, as float.
  Buffer *getFloats(Buffer *buffer, Instruction &user,
                    llvm::ArrayRef<LoopBound> bounds);
  /// Removes the packings of the buffers that \p instr writes.
  void invalidate(const Instruction &instr);

private:
  struct Packings {
    /// The instructions that make the copies.
    Instruction *dense = nullptr, *floats = nullptr;
    /// Keyed by the algorithm, its packing key, and the number of groups.
    std::map<std::tuple<const ConvolutionAlgorithm *,
                        llvm::SmallVector<int64_t, 3>, int64_t>,
             PackedFilter>
        filters;
  };

  IRFunction &function;
  /// Keyed by root, and then by view.
  llvm::DenseMap<const Buffer *, llvm::DenseMap<const Buffer *, Packings>>
      packings;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_FILTERPACKER_H
