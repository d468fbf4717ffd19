//===- AmxUnit.h - Instructions of Intel AMX --------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_AMXUNIT_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_AMXUNIT_H

#include "Kernels/KernelBuilder.h"

namespace glowish {

/// The rows and columns of an AMX tile register of sums, and the length in
/// bytes of the dot products that an instruction adds to them.
constexpr int64_t matrixRows = 16, matrixColumns = 16, matrixDepth = 64;

/// A row of a tile register in memory: 16 lanes of 32 bits at \p address, which
/// is a multiple of 64.
inline llvm::Value *loadRow(KernelBuilder &b, llvm::Value *address) {
  return b.CreateAlignedLoad(
      b.getComputeTy(ElemKind::Int32, unsigned(matrixColumns)), address,
      llvm::Align(64));
}
/// Stores such a row.
inline void storeRow(KernelBuilder &b, llvm::Value *row, llvm::Value *address) {
  b.CreateAlignedStore(row, address, llvm::Align(64));
}
/// A row of zeros.
inline llvm::Value *getZeroRow(KernelBuilder &b) {
  return b.literal(ElemKind::Int32, 0, unsigned(matrixColumns));
}

/// The eight tile registers of Intel AMX, each of 16 rows of 64 bytes.
class AmxUnit {
public:
  static constexpr int64_t registerBytes = matrixRows * 64;

  explicit AmxUnit(KernelBuilder &b) : b(b) {}

  /// Configures all tile registers with their largest size, until release().
  void configure();
  void release();

  void clear(unsigned number);
  /// Rows of 64 bytes that are \p strideBytes apart.
  void load(unsigned number, llvm::Value *address, int64_t strideBytes);
  void store(unsigned number, llvm::Value *address, int64_t strideBytes);

  /// What lanes of 32 bits hold that are multiplied, rows' by columns', and
  /// added to int32, or, of bfloat16, to float.
  enum class Elements : uint8_t {
    SignedBytes,
    UnsignedBySignedBytes,
    BFloat16Pairs
  };
  /// Register \p sums += \p rows * \p columns: 16 pixels of 16 lanes, and 16
  /// lanes of 16 columns.
  void multiply(Elements elements, unsigned sums, unsigned rows,
                unsigned columns);

protected:
  KernelBuilder &b;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_AMXUNIT_H
