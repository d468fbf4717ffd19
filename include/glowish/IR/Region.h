//===- Region.h - Which elements of a root a view shows -------*- C++ -*-===//
//
// The arithmetic of views: a region maps each index of its shape to an element
// of a root buffer. Regions compose, so that a view of a view is a view.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_IR_REGION_H
#define GLOWISH_IR_REGION_H

#include "glowish/IR/IR.h"

namespace glowish {

/// Element (i0, i1, ...) is element `offset + i0 * strides[0] + i1 *
/// strides[1] + ...` of the root.
struct Region {
  Dims shape;
  int64_t offset = 0;
  Dims strides;

  /// All of a dense tensor of \p shape.
  static Region dense(DimsRef shape) {
    return {Dims(shape), 0, getDenseStrides(shape)};
  }
  /// What \p buffer shows of its root.
  static Region of(const Buffer &buffer);

  int64_t getNumElements() const;
  bool isEmpty() const { return getNumElements() == 0; }
  /// Row-major without gaps; dimensions of extent 1 don't matter.
  bool isDense() const;
  /// Certainly no two indices are one element: what may be written to.
  bool isInjective() const;
  /// Neighbours in the innermost dimension are neither side by side nor the
  /// same element: what kernels that compute vectors of elements are slow at.
  bool isScattered() const;
  /// The lowest and the highest element; null when empty, or when a hostile
  /// region overflows.
  std::optional<std::pair<int64_t, int64_t>> getBounds() const;
};

/// Same shape, and each index is the same element.
bool isSame(const Region &a, const Region &b);

/// Whether \p a and \p b, of one root, certainly have no element in common.
/// Exact for boxes of one tensor (parts of a concatenation along any
/// dimension), which is what the compiler makes; false when in doubt.
bool areDisjoint(const Region &a, const Region &b);

/// Calls \p visit with the elements of \p region as runs of neighbours in the
/// root, as few as follow from shape and strides; an element that several
/// indices have may be in several runs.
void forEachRun(const Region &region,
                llvm::function_ref<void(int64_t first, int64_t count)> visit);

/// \p outer maps to the row-major numbers of \p inner's indices; the result
/// maps \p outer's indices to the root of \p inner. Null where that is not a
/// region, as for a reshape of a transposed tensor.
std::optional<Region> compose(const Region &inner, const Region &outer);

/// \p region repeated as numpy would to \p shape, to which its shape
/// broadcasts.
Region broadcastTo(const Region &region, DimsRef shape);

/// \p buffer is all of its root, in the root's own order.
bool isWholeRoot(const Buffer &buffer);

/// \p region of \p root as a buffer of \p type, whose shape is the region's:
/// the root itself where that is the same, else a new view called \p name.
Buffer *getView(IRFunction &function, llvm::StringRef name, Buffer *root,
                const Type &type, const Region &region);

} // namespace glowish

#endif // GLOWISH_IR_REGION_H
