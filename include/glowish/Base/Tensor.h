//===- Tensor.h - Typed n-dimensional arrays --------------------*- C++ -*-===//

#ifndef GLOWISH_BASE_TENSOR_H
#define GLOWISH_BASE_TENSOR_H

#include "glowish/Base/Type.h"
#include <cstddef>
#include <memory>
#include <optional>

namespace glowish {

class TensorSource;

/// A contiguous, row-major, little-endian array of a Type. It owns its bytes
/// (aligned to 64), borrows them from memory that outlives it, or has a source
/// that makes them when they are asked for. Moves are cheap; copies are
/// explicit (clone).
class Tensor {
public:
  static constexpr size_t alignment = 64;

  Tensor();
  /// Allocates a zero-filled tensor.
  explicit Tensor(const Type &type);
  Tensor(Tensor &&) noexcept;
  Tensor &operator=(Tensor &&) noexcept;
  ~Tensor();

  /// Returns a tensor that does not own its bytes: the type.getSizeInBytes()
  /// bytes at \p data.
  static Tensor borrow(const Type &type, void *data);
  /// Returns a tensor with the elements that \p source makes. They are made on
  /// the first use of its bytes, once for all threads, and kept from then on;
  /// writeTo() and getSource() do without that.
  static Tensor defer(const Type &type,
                      std::shared_ptr<const TensorSource> source);

  template <typename T>
  static Tensor fromValues(const Type &type, llvm::ArrayRef<T> values) {
    assert(int64_t(values.size()) == type.getNumElements());
    Tensor tensor(type);
    std::copy(values.begin(), values.end(), tensor.data<T>().begin());
    return tensor;
  }
  template <typename T>
  static Tensor fromValues(const Type &type, std::initializer_list<T> values) {
    return fromValues(type, llvm::ArrayRef<T>(values.begin(), values.size()));
  }

  Tensor clone() const;
  /// Returns a tensor that borrows the elements where they are in memory, and
  /// aligned, and has a copy of its own else: unlike getBytes(), this keeps
  /// nothing that a source makes. This tensor outlives it.
  Tensor borrowOrMake() const;
  /// Returns a tensor with the source of this one, or else a clone.
  Tensor copyOrDefer() const;
  /// Reinterprets the bytes as \p newType, which has the same size.
  Tensor withType(const Type &newType) &&;

  const Type &getType() const { return type; }
  int64_t getNumElements() const { return type.getNumElements(); }
  int64_t getSizeInBytes() const { return type.getSizeInBytes(); }

  void *getBytes() {
    if (deferred)
      settle();
    return bytes;
  }
  const void *getBytes() const { return deferred ? makeBytes() : bytes; }
  llvm::ArrayRef<uint8_t> getByteRange() const {
    return llvm::ArrayRef<uint8_t>(static_cast<const uint8_t *>(getBytes()),
                                   size_t(getSizeInBytes()));
  }
  /// Returns what makes the elements; null where they are in memory.
  const TensorSource *getSource() const;
  /// Writes the bytes to \p to, which has space for them.
  void writeTo(uint8_t *to) const;
  /// Gives the pages of mapped files back that elements were read from, after
  /// writeTo() where they are not needed soon again.
  void releasePages() const;
  /// Returns the bytes where they are in memory, at any alignment, and need not
  /// be made.
  std::optional<llvm::ArrayRef<uint8_t>> findBytes() const;
  /// Returns a number that is the same for equal tensors which have sources of
  /// one kind, or none; it is computed of a part of the elements.
  uint64_t getFingerprint() const;

  template <typename T> llvm::MutableArrayRef<T> data() {
    assert(isStoredAs<T>(type.getKind()) && "wrong element type");
    return llvm::MutableArrayRef<T>(static_cast<T *>(getBytes()),
                                    size_t(getNumElements()));
  }
  template <typename T> llvm::ArrayRef<T> data() const {
    assert(isStoredAs<T>(type.getKind()) && "wrong element type");
    return llvm::ArrayRef<T>(static_cast<const T *>(getBytes()),
                             size_t(getNumElements()));
  }

  /// Returns the element at row-major \p index converted to double; of a
  /// quantized element the stored integer.
  double getAsDouble(int64_t index) const;
  /// Returns integer and bool elements exactly (uint64 values beyond int64
  /// wrap); floats are truncated and saturated, and NaN gives 0.
  int64_t getAsInt(int64_t index) const;
  /// Stores \p value, rounded to a float kind, or truncated and saturated to an
  /// integer kind (NaN gives 0). For a quantized kind \p value is the stored
  /// integer.
  void setFromDouble(int64_t index, double value);

  /// Whether types and bytes are equal. Sources are compared where both have
  /// some of one kind.
  bool isBitwiseEqual(const Tensor &other) const;

private:
  struct FreeDeleter {
    void operator()(void *memory) const;
  };
  struct Deferred;
  const void *makeBytes() const;
  /// Makes the bytes this tensor's own, which may change.
  void settle();

  Type type = Type(ElemKind::Float, {0});
  std::unique_ptr<void, FreeDeleter> owned;
  void *bytes = nullptr;
  std::unique_ptr<Deferred> deferred;
};

} // namespace glowish

#endif // GLOWISH_BASE_TENSOR_H
