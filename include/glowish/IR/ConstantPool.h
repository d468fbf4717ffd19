//===- ConstantPool.h - Constants shared by programs ------------*- C++ -*-===//

#ifndef GLOWISH_IR_CONSTANTPOOL_H
#define GLOWISH_IR_CONSTANTPOOL_H

#include "glowish/IR/MemoryPlan.h"
#include <map>
#include <optional>

namespace glowish {

/// The constants of several programs that run with one constant region: what
/// is equal, type and bytes, is there once, in the region as in this process.
class ConstantPool {
public:
  /// \p alignment: of each constant in the region.
  explicit ConstantPool(uint64_t alignment) : alignment(alignment) {}

  /// Takes up the constants of \p function and its bodies, and gives those that
  /// are equal to earlier ones the payload of these.
  void share(IRFunction &function);
  /// Moves the constants of \p function, which has been shared, to their places
  /// in this region.
  void place(const IRFunction &function, MemoryPlan &plan) const;

  /// The bytes of the region so far.
  uint64_t getSize() const { return size; }
  /// The bytes of all constants that were shared, equals counted each time.
  uint64_t getSizeUnshared() const { return sizeUnshared; }
  /// The region: every constant at its offset, zeros between them.
  Tensor makeRegion() const;

private:
  struct Entry {
    std::shared_ptr<const Tensor> payload;
    uint64_t offset;
    /// Computed when another constant has as many bytes.
    std::optional<uint64_t> fingerprint;
  };
  const Entry &findOrAdd(const std::shared_ptr<const Tensor> &payload);

  uint64_t alignment;
  uint64_t size = 0;
  uint64_t sizeUnshared = 0;
  std::vector<Entry> entries;
  llvm::DenseMap<const Tensor *, size_t> byPayload;
  /// Entries by their number of bytes.
  std::map<int64_t, std::vector<size_t>> bySize;
};

} // namespace glowish

#endif // GLOWISH_IR_CONSTANTPOOL_H
