//===- AmxTile.h - Products of slices in matrix registers ----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_AMXTILE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_AMXTILE_H

#include "Kernels/AMX/SlicedImage.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace glowish {

/// A tile of sums of products of slices in the matrix registers (Intel AMX): 16
/// rows by 16 columns, of each a register for the products that count as 2^32,
/// 2^24 and 2^16.
class AmxTile {
public:
  static constexpr int64_t registerBytes = matrixRows * 64;
  /// Of the sums of a tile in memory: [order][row][column].
  static constexpr int64_t sumBytes = numSlices * registerBytes;

  explicit AmxTile(KernelBuilder &b) : b(b) {}

  /// Gives all registers 16 rows of 64 bytes; release() ends their use.
  void configure();
  void release() { call(llvm::Intrinsic::x86_tilerelease, {}); }

  void clearSums();
  void loadSums(llvm::Value *sums) {
    moveSums(llvm::Intrinsic::x86_tileloadd64, sums);
  }
  void storeSums(llvm::Value *sums) {
    moveSums(llvm::Intrinsic::x86_tilestored64, sums);
  }

  /// Slices of a step: 16 rows of 64 bytes each, \p sliceBytes from each other.
  struct Slices {
    llvm::Value *address;
    int64_t sliceBytes;
  };
  /// Adds the products of \p rows and \p columns, and after product i of its 6
  /// meanwhile(i).
  void multiply(Slices rows, Slices columns,
                llvm::function_ref<void(int64_t)> meanwhile);

  /// Row \p row of stored sums of all orders as floats, in units of 2^16.
  llvm::Value *addOrders(llvm::Value *sums, llvm::Value *row);

private:
  void call(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value *> args) {
    b.CreateIntrinsic(id, {}, args);
  }
  void load(unsigned number, Slices slices, int64_t slice);
  void moveSums(llvm::Intrinsic::ID id, llvm::Value *sums);

  KernelBuilder &b;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_AMXTILE_H
