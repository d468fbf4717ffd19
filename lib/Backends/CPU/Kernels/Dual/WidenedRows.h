//===- WidenedRows.h - Rows of an image as int16 ----------------*- C++ -*-===//
//
// Instructions that multiply two pairs of int16 take 8-bit integers that have
// been widened. The zero point is taken away at that: what is outside of an
// image is 0.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_WIDENEDROWS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_WIDENEDROWS_H

#include "Kernels/Convolution/WindowRows.h"

namespace glowish {

/// What 8-bit integers of a kind are widened by: less a zero point.
class ZeroShift {
public:
  /// \p zeroPoint, the address of one of \p kind, may be null for 0.
  ZeroShift(KernelBuilder &b, ElemKind kind, llvm::Value *zeroPoint);

  /// Bytes 0 and 2 of \p word as a pair of int16.
  llvm::Value *widen(KernelBuilder &b, llvm::Value *word) const;
  /// \p element as int16.
  llvm::Value *widenOne(KernelBuilder &b, llvm::Value *element) const;

private:
  bool isSigned;
  /// As int32, and as a pair of int16; null for 0.
  llvm::Value *added = nullptr, *pair = nullptr;
};

/// How the channels of a pixel lie in a widened row.
enum class ChannelOrder : uint8_t {
  /// In their own order, those of a pixel behind those of the one before it.
  Plain,
  /// Channels 0, 2, 1 and 3 of every four: two instructions widen four bytes of
  /// a register to two pairs of these. The last four of a pixel are filled up.
  Quads
};

/// The place of channel \p channel among those of its pixel.
inline int64_t getPlace(ChannelOrder order, int64_t channel) {
  constexpr int64_t places[] = {0, 2, 1, 3};
  return order == ChannelOrder::Plain ? channel
                                      : channel / 4 * 4 + places[channel % 4];
}

/// The layout of rows of int16, which pairs may read one element beyond.
RowsLayout getWidenedLayout(const ConvolutionShape &shape, ChannelOrder order,
                            int64_t outColumns);

/// Rows of 8-bit integers less the zero point, which may be null for 0.
class WidenedRows final : public WindowRows {
public:
  WidenedRows(KernelBuilder &b, const ConvolutionShape &shape,
              const StridedOperand &input, llvm::Value *zeroPoint,
              ChannelOrder order, const RowsLayout &layout)
      : WindowRows(b, shape, input, layout), order(order),
        shift(b, input.kind, zeroPoint) {}

private:
  void copyRun(llvm::Value *from, llvm::Value *to, llvm::Value *count) override;
  void fillColumn(llvm::Value *address) override;
  void widenWord(llvm::Value *from, llvm::Value *to);
  void widenByte(llvm::Value *from, llvm::Value *to);

  ChannelOrder order;
  ZeroShift shift;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_WIDENEDROWS_H
