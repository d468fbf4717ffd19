//===- Memory.h - Checked memory of interpreted LLVM IR ---------*- C++ -*-===//

#ifndef GLOWISH_TESTS_IRINTERP_MEMORY_H
#define GLOWISH_TESTS_IRINTERP_MEMORY_H

#include "Lane.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace glowish::irinterp {

/// Pieces of memory that are far from each other: an address tells the piece,
/// and whether it is inside. A byte that was never written is poison.
class Memory {
public:
  /// \p pointerBits: 32 or 64.
  explicit Memory(unsigned pointerBits)
      : offsetBits(pointerBits == 32 ? 24 : 40) {}

  /// Returns the address of a new piece, which is a multiple of \p alignment
  /// and of no larger power of two.
  llvm::Expected<uint64_t> allocate(std::string name, uint64_t size,
                                    uint64_t alignment);
  /// The piece of an address that allocate returned is gone.
  void release(uint64_t address);
  /// Fills the piece, which then only \p isWritable allows to be changed.
  void initialize(uint64_t address, llvm::ArrayRef<uint8_t> bytes,
                  bool isWritable);

  /// \name Accesses of the program
  /// The error names piece and distance, or a wrong alignment.
  /// @{
  llvm::Expected<Lane> load(uint64_t address, ScalarType type);
  llvm::Error store(uint64_t address, ScalarType type, Lane lane);
  llvm::Error checkAlignment(uint64_t address, uint64_t alignment) const;
  llvm::Error copy(uint64_t to, uint64_t from, uint64_t size);
  llvm::Error fill(uint64_t to, Lane byte, uint64_t size);
  /// @}

  /// Bytes that are in a piece, and which of them are poison.
  llvm::ArrayRef<uint8_t> getBytes(uint64_t address, uint64_t size) const;
  llvm::ArrayRef<uint8_t> getPoison(uint64_t address, uint64_t size) const;

private:
  struct Piece {
    std::string name;
    uint64_t start = 0;
    std::vector<uint8_t> bytes, poison;
    bool isWritable = true, isAlive = false;
  };
  uint64_t getNumber(uint64_t address) const { return address >> offsetBits; }
  llvm::Expected<Piece *> find(uint64_t address, uint64_t size, bool writes);

  unsigned offsetBits;
  std::vector<Piece> pieces = std::vector<Piece>(1);
  std::vector<uint64_t> released;
};

} // namespace glowish::irinterp

#endif // GLOWISH_TESTS_IRINTERP_MEMORY_H
