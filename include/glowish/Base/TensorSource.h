//===- TensorSource.h - Elements that are made when asked for ---*- C++ -*-===//
//
// The weights of a large model are read from its file, and written to the
// bundle, each once: a constant knows where they are in the file, or what is to
// be made of another constant, and has no memory of its own for them.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_BASE_TENSORSOURCE_H
#define GLOWISH_BASE_TENSORSOURCE_H

#include "glowish/Base/Tensor.h"
#include "llvm/Support/ExtensibleRTTI.h"
#include "llvm/Support/MemoryBuffer.h"
#include <vector>

namespace glowish {

/// The maker of the elements of a tensor (Tensor::defer). It never changes.
class TensorSource : public llvm::RTTIExtends<TensorSource, llvm::RTTIRoot> {
public:
  static char ID;

  /// Writes the elements of a tensor of \p type to \p to, which has space for
  /// its bytes.
  virtual void write(const Type &type, uint8_t *to) const = 0;
  /// Returns whether \p other, of the same class, makes the same elements of
  /// the same contents.
  virtual bool isEqual(const TensorSource &other) const = 0;
  /// Returns a number that is the same for equal sources.
  virtual uint64_t getFingerprint() const = 0;
  /// Returns the elements of a tensor of \p type where they are in memory as
  /// the tensor would have them, at any alignment.
  virtual std::optional<llvm::ArrayRef<uint8_t>>
  findBytes(const Type &type) const {
    return std::nullopt;
  }
  /// Returns a source of the same bytes for a tensor of \p to instead of
  /// \p from; null where there is none.
  virtual std::shared_ptr<const TensorSource> retype(const Type &from,
                                                     const Type &to) const {
    return nullptr;
  }
  /// Gives the pages of mapped files back to the system that write() has read;
  /// they are read again where they are needed again.
  virtual void releasePages() const = 0;
};

/// Bytes in memory, and what keeps them there.
struct StoredBytes {
  llvm::ArrayRef<uint8_t> bytes;
  std::shared_ptr<const void> owner;
  /// They are a part of a file that is mapped, not of memory of the process.
  bool isMapped = false;

  /// Returns \p size bytes at \p start of \p file.
  static StoredBytes of(std::shared_ptr<const llvm::MemoryBuffer> file,
                        size_t start, size_t size);
  /// Returns the bytes of \p tensor, where they are stored if they are.
  static StoredBytes of(const std::shared_ptr<const Tensor> &tensor);
};

/// Elements as they are stored in a file: at any alignment, in another order of
/// the dimensions, or with fewer bits than a byte.
class StoredElements : public llvm::RTTIExtends<StoredElements, TensorSource> {
public:
  static char ID;

  struct Layout {
    /// All bytes that have elements; the first element is in the lowest bits of
    /// the first byte.
    StoredBytes stored;
    /// The kind of the stored elements: the tensor's, one as wide, or float16
    /// or bfloat16 for float.
    ElemKind kind;
    /// The extents of a tensor that has the elements in the order of this one,
    /// whose shape is another where it has been reshaped.
    Dims extents;
    /// Bits from an element to the next one along each of these dimensions.
    /// Elements of fewer than 8 bits don't cross bytes.
    llvm::SmallVector<int64_t, 4> strides;
    /// The highest bit of each is inverted, so that unsigned integers become
    /// signed ones that are 2^(bits-1) less.
    bool invertsSign = false;
  };

  explicit StoredElements(Layout layout) : layout(std::move(layout)) {}
  /// Returns the tensor of \p type that is stored as \p bytes in row-major
  /// order.
  static Tensor makeTensor(const Type &type, StoredBytes bytes);

  /// Returns the strides of elements of \p bits bits in row-major order.
  static llvm::SmallVector<int64_t, 4> getRowMajorStrides(DimsRef shape,
                                                          int64_t bits);

  const Layout &getLayout() const { return layout; }
  /// Returns the elements of a tensor whose dimension i is dimension
  /// permutation[i] of \p shape, that of a tensor with these; null where one of
  /// its dimensions is none, or several, of these.
  std::shared_ptr<const StoredElements>
  permute(DimsRef shape, llvm::ArrayRef<int64_t> permutation) const;

  void write(const Type &type, uint8_t *to) const override;
  bool isEqual(const TensorSource &other) const override;
  uint64_t getFingerprint() const override;
  std::optional<llvm::ArrayRef<uint8_t>>
  findBytes(const Type &type) const override;
  std::shared_ptr<const TensorSource> retype(const Type &from,
                                             const Type &to) const override;
  void releasePages() const override;

private:
  Layout layout;
};

/// Matrices side by side: tensors of rank 2 that are joined along dimension 1.
class JoinedColumns : public llvm::RTTIExtends<JoinedColumns, TensorSource> {
public:
  static char ID;

  explicit JoinedColumns(std::vector<std::shared_ptr<const Tensor>> parts)
      : parts(std::move(parts)) {}

  llvm::ArrayRef<std::shared_ptr<const Tensor>> getParts() const {
    return parts;
  }

  void write(const Type &type, uint8_t *to) const override;
  bool isEqual(const TensorSource &other) const override;
  uint64_t getFingerprint() const override;
  void releasePages() const override;

private:
  std::vector<std::shared_ptr<const Tensor>> parts;
};

/// Returns a checksum of parts of \p bytes, all of them where they are few.
uint64_t sampleBytes(llvm::ArrayRef<uint8_t> bytes);

} // namespace glowish

#endif // GLOWISH_BASE_TENSORSOURCE_H
