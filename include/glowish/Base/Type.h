//===- Type.h - Tensor types ------------------------------------*- C++ -*-===//

#ifndef GLOWISH_BASE_TYPE_H
#define GLOWISH_BASE_TYPE_H

#include "glowish/Base/ElemKind.h"
#include "glowish/Base/Extent.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace glowish {

/// The extents of a tensor, outermost dimension first; empty for a scalar.
using Dims = llvm::SmallVector<int64_t, 4>;
using DimsRef = llvm::ArrayRef<int64_t>;

/// Returns the product of the extents: 1 for a scalar, 0 if an extent is 0, and
/// INT64_MAX, which is no tensor's (checkShape), if it does not fit.
int64_t countElements(DimsRef shape);

/// Quantization parameters: an integer q stands for the real value (q - offset)
/// * scale. One scale and offset for the tensor, or one per index of dimension
/// `axis`.
struct QuantParams {
  std::vector<float> scales;
  std::vector<int32_t> offsets;
  /// The dimension of per-axis quantization; -1 for per-tensor quantization.
  int axis = -1;

  bool operator==(const QuantParams &other) const = default;
};

/// For each dimension the extent that a run decides (Base/Extent.h); none where
/// it is always the same. Empty if all are.
using ExtentList = std::vector<std::optional<Extent>>;

/// The element kind, the shape and, of quantized kinds, the quantization
/// parameters of a tensor. A value type: cheap to copy, compared by content.
///
/// A dimension may have an extent that a run decides. The shape then has its
/// bound: memory is planned, and elements are laid out, for the bounds.
/// Elements at indices from the extent on are unspecified.
class Type {
public:
  Type() = default;
  Type(ElemKind kind, DimsRef shape) : kind(kind), shape(shape) {
    assert(!isQuantizedKind(kind) && "a quantized type needs parameters");
  }
  Type(ElemKind kind, std::initializer_list<int64_t> shape)
      : Type(kind, DimsRef(shape)) {}
  Type(ElemKind kind, DimsRef shape, QuantParams params);

  ElemKind getKind() const { return kind; }
  DimsRef getShape() const { return shape; }
  unsigned getRank() const { return shape.size(); }
  int64_t getDim(unsigned index) const { return shape[index]; }

  bool isQuantized() const { return quant != nullptr; }
  const QuantParams &getQuantParams() const {
    assert(quant && "not a quantized type");
    return *quant;
  }

  /// Returns the number of elements: 1 for a scalar, 0 if an extent is 0.
  int64_t getNumElements() const;
  /// Returns the size in bytes of a contiguous tensor of this type.
  int64_t getSizeInBytes() const {
    return getNumElements() * getElemSize(kind);
  }

  /// Whether a run decides the extent of a dimension.
  bool hasExtents() const { return extents != nullptr; }
  /// Returns the extent of dimension \p index; null where it is always the
  /// same.
  const Extent *getExtent(unsigned index) const;
  /// Returns the extent of dimension \p index, a constant where no run decides
  /// it.
  Extent getLength(unsigned index) const;
  /// Returns getLength() of each dimension.
  std::vector<Extent> getLengths() const;
  /// Returns one entry for each dimension; none if hasExtents() is false.
  llvm::ArrayRef<std::optional<Extent>> getExtents() const;
  /// Returns this type with those extents in place of its own; the shape stays.
  Type withExtents(llvm::ArrayRef<std::optional<Extent>> newExtents) const;
  Type withoutExtents() const;

  /// Returns this type with another shape, and without extents that a run
  /// decides.
  Type withShape(DimsRef newShape) const;
  Type withShape(std::initializer_list<int64_t> newShape) const {
    return withShape(DimsRef(newShape));
  }
  /// Returns this type with another kind, which must not be quantized.
  Type withKind(ElemKind newKind) const;

  bool operator==(const Type &other) const;
  bool operator!=(const Type &other) const { return !(*this == other); }

  /// Prints `float<1x224x224x3>`, `float<>` for a scalar, `float<1x512{N}>`
  /// where the second extent is N, `int8q<4x4, scale 0.5 offset 3>`,
  /// `int8q<2x4, axis 0 scale [0.5, 0.25] offset [0, 0]>`.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

private:
  ElemKind kind = ElemKind::Float;
  Dims shape;
  std::shared_ptr<const QuantParams> quant;
  /// Null where no run decides an extent.
  std::shared_ptr<const ExtentList> extents;
};

llvm::hash_code hash_value(const Type &type);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Type &type);

/// Returns the strides, in elements, of a contiguous row-major tensor of
/// \p shape; INT64_MAX for those that do not fit.
Dims getDenseStrides(DimsRef shape);

/// Formats \p shape for messages: "1x3x224x224", or "scalar" for {}.
std::string formatShape(DimsRef shape);

/// The maximum size in bytes, and number of elements, of one tensor. Shapes of
/// malformed models are refused before products of extents overflow.
constexpr int64_t maxTensorBytes = int64_t(1) << 40;

/// Returns an error for negative extents and for more than maxTensorBytes.
llvm::Error checkShape(ElemKind kind, DimsRef shape);

} // namespace glowish

#endif // GLOWISH_BASE_TYPE_H
