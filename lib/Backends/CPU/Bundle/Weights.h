//===- Weights.h - The weights of a bundle ----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WEIGHTS_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WEIGHTS_H

#include "glowish/Backends/Variants.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/bit.h"
#include <map>
#include <optional>

namespace glowish {

/// Returns the bytes of \p tensor on a machine with the byte order \p order;
/// those of another one than this machine's are written to \p buffer.
llvm::ArrayRef<uint8_t> getBytesInOrder(const Tensor &tensor,
                                        llvm::endianness order,
                                        std::vector<uint8_t> &buffer);

/// The constant region that the programs of a bundle, their bodies included,
/// have in common. Its bytes are visited a constant at a time: all of them at
/// once would be in memory a second time.
class Weights {
public:
  /// Bytes are in the order \p order. \p variants outlives this.
  Weights(const Variants &variants, llvm::endianness order);

  uint64_t getSize() const { return size; }
  /// Calls \p take with the bytes of the region, in order: each constant at
  /// its place, zeros between them.
  void visit(llvm::function_ref<void(llvm::ArrayRef<uint8_t>)> take) const;
  /// Returns the checksum64 of the bytes; those of a file that has been written
  /// are not visited again for it.
  uint64_t getChecksum() const;
  /// Writes the bytes as they are.
  void print(llvm::raw_ostream &os) const;
  /// All bytes at once, for an object that holds them.
  std::vector<uint8_t> getBytes() const;
  /// The bytes as the inside of a C array initialiser.
  void printText(llvm::raw_ostream &os) const;

private:
  llvm::endianness order;
  uint64_t size;
  std::map<uint64_t, const Tensor *> places;
  mutable std::optional<uint64_t> checksum;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WEIGHTS_H
