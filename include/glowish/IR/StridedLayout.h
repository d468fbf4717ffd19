//===- StridedLayout.h - Offset and strides of views ------------*- C++ -*-===//
//
// The arithmetic of views: a layout maps each index of its shape to an element
// of a root buffer. Layouts compose, so that a view of a view is a view.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_IR_STRIDEDLAYOUT_H
#define GLOWISH_IR_STRIDEDLAYOUT_H

#include "glowish/IR/IR.h"
#include <limits>

namespace glowish {

/// Element (i0, i1, ...) is element `offset + i0 * strides[0] + i1 *
/// strides[1] + ...` of the root.
struct StridedLayout {
  Dims shape;
  int64_t offset = 0;
  Dims strides;

  /// All of a dense tensor of \p shape.
  static StridedLayout dense(DimsRef shape) {
    return {Dims(shape), 0, getDenseStrides(shape)};
  }
  /// The elements of its root that \p buffer views.
  static StridedLayout of(const Buffer &buffer);

  int64_t getNumElements() const;
  bool isEmpty() const { return getNumElements() == 0; }
  /// Row-major without gaps; dimensions of extent 1 don't matter.
  bool isDense() const;
  /// Whether no two indices can be the same element, as writes demand. False
  /// when in doubt.
  bool isInjective() const;
  /// Whether the stride of the innermost dimension of extent > 1 is neither 1
  /// nor 0, which makes vectorized kernels slow.
  bool isScattered() const;
  /// The lowest and the highest element; null when empty, or when a malformed
  /// layout overflows.
  std::optional<std::pair<int64_t, int64_t>> getBounds() const;
};

/// Same shape, and each index is the same element.
bool isSame(const StridedLayout &a, const StridedLayout &b);

/// Whether \p a and \p b, of one root, certainly have no element in common.
/// Exact for boxes of one tensor (parts of a concatenation along any
/// dimension), which is what the compiler makes; false when in doubt.
bool areDisjoint(const StridedLayout &a, const StridedLayout &b);

/// Calls \p visit with the elements of \p layout as runs of neighbours in the
/// root, as few as follow from shape and strides, \p maxRuns of them at most;
/// an element that several indices have may be in several runs.
void forEachRun(const StridedLayout &layout,
                llvm::function_ref<void(int64_t first, int64_t count)> visit,
                int64_t maxRuns = std::numeric_limits<int64_t>::max());
/// How many runs \p layout has.
int64_t countRuns(const StridedLayout &layout);

/// \p outer maps to the row-major numbers of \p inner's indices; the result
/// maps \p outer's indices to the root of \p inner. Null where that is not a
/// layout, as for a reshape of a transposed tensor.
std::optional<StridedLayout> compose(const StridedLayout &inner,
                                     const StridedLayout &outer);

/// \p layout repeated as numpy would to \p shape, to which its shape
/// broadcasts.
StridedLayout broadcastTo(const StridedLayout &layout, DimsRef shape);

/// \p buffer is all of its root, in the root's own order.
bool isWholeRoot(const Buffer &buffer);

/// \p layout of \p root as a buffer of \p type, whose shape is the layout's:
/// the root itself where that is the same, else a new view called \p name.
Buffer *getView(IRFunction &function, llvm::StringRef name, Buffer *root,
                const Type &type, const StridedLayout &layout);

} // namespace glowish

#endif // GLOWISH_IR_STRIDEDLAYOUT_H
