//===- FilterPacker.h - Weights in the order of their kernels ---*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_FILTERPACKER_H
#define GLOWISH_LIB_BACKENDS_CPU_FILTERPACKER_H

#include "Kernels/ConvolutionChoice.h"
#include "glowish/IR/Instrs.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace glowish {

/// What a convolution or a product comes down to.
struct Anchor {
  Instruction &instr;
  Buffer *result, *input, *filter, *bias;
  llvm::SmallVector<Buffer *, 4> fused;
  std::vector<int64_t> kernels, strides, pads, dilations;
  int64_t group;
  const ScalarProgram &epilogue;
  /// Strides of the filter's element (group, kh, kw, c, n).
  Dims filterStrides;
};

/// Whether the values are known when the code is made.
inline bool isConstant(const Buffer &buffer) {
  return buffer.getKind() == Buffer::Kind::Constant;
}

/// Brings filters, and other operands of products, into the order in which
/// kernels read them: constants at once, others by instructions in front of the
/// first anchor that needs them. Anchors share what is made of an operand.
class FilterPacker {
public:
  explicit FilterPacker(IRFunction &function) : function(function) {}

  struct SplitFilter {
    Buffer *digits = nullptr, *scales = nullptr;
  };
  /// What CPUSplitConvolution takes.
  SplitFilter getSplit(const Anchor &anchor, const ConvolutionShape &shape);
  /// The same of CPUWinogradConvolution. The filter is a constant.
  Buffer *getWinograd(const Anchor &anchor, const ConvolutionShape &shape,
                      const ConvolutionChoice &choice);
  /// In blocks of \p block output channels, as getPackedLayout says.
  Buffer *getBlocks(const Anchor &anchor, const ConvolutionShape &shape,
                    unsigned block);
  /// The elements of \p buffer row by row, for \p user.
  Buffer *getDense(Buffer *buffer, Instruction &user);
  /// Forgets what was made of the buffers that \p instr writes.
  void invalidate(const Instruction &instr);

private:
  struct PackedFilter {
    Buffer *dense = nullptr;
    SplitFilter split;
    /// By the number of groups, and block.
    std::map<std::pair<int64_t, unsigned>, Buffer *> blocks;
    /// By the size of tiles, and block.
    std::map<std::tuple<int64_t, int64_t, unsigned>, Buffer *> winograd;
  };

  PackedFilter &getPacked(const Anchor &anchor) {
    return packed[anchor.filter->getRoot()][anchor.filter];
  }
  Buffer *createConstant(const Anchor &anchor, Tensor tensor);
  Buffer *viewFilter(const Anchor &anchor, DimsRef shape, int64_t offset,
                     DimsRef strides);
  Tensor packConstant(const Anchor &anchor, const ConvolutionShape &shape,
                      unsigned block);
  void copyToBlocks(const Anchor &anchor, const ConvolutionShape &shape,
                    unsigned block, Buffer *result);

  IRFunction &function;
  /// By root, and the view of it.
  llvm::DenseMap<const Buffer *, llvm::DenseMap<const Buffer *, PackedFilter>>
      packed;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_FILTERPACKER_H
