//===- Extents.h - Values whose size the model computes ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_EXTENTS_H
#define GLOWISH_LIB_IMPORTER_ONNX_EXTENTS_H

#include "ONNX/Composer.h"

namespace glowish {

/// A value and its extents. All functions take null values, and return such:
/// a Composer has kept the error.
struct SizedValue {
  NodeValue value;
  Extents extents = {};

  DimsRef getShape() const { return value.getShape(); }
  unsigned getRank() const { return getShape().size(); }
  bool isSized(unsigned dim) const {
    return dim < extents.size() && extents[dim];
  }
  bool isSized() const {
    return llvm::any_of(extents, [](NodeValue e) { return bool(e); });
  }
  /// The extent of dimension \p dim; null where the type has it.
  NodeValue getExtent(unsigned dim) const {
    return isSized(dim) ? extents[dim] : NodeValue();
  }
  void setExtent(unsigned dim, NodeValue extent) {
    extents.resize(value ? getRank() : dim + 1);
    extents[dim] = extent;
  }
};

/// Input \p index and its extents, which the importer answers for.
llvm::Expected<SizedValue> getSizedInput(OpContext &op, unsigned index);
/// Sets output \p index and its extents.
llvm::Error setSizedOutput(OpContext &op, Composer &c, unsigned index,
                           SizedValue value);

/// \p value, an int64 scalar, as an extent of at most \p bound, which it is
/// clamped to. A constant is one, too.
NodeValue makeExtent(OpContext &op, Composer &c, NodeValue value,
                     int64_t bound);
/// The extent of dimension \p dim, as a constant where the type has it.
NodeValue countAlong(Composer &c, const SizedValue &x, unsigned dim);
/// Number of elements, or of those of dimensions \p dims.
NodeValue countAlong(Composer &c, const SizedValue &x,
                     llvm::ArrayRef<int64_t> dims);
/// 0, 1, ... along dimension \p dim of \p x, of its rank.
NodeValue numberAlong(Composer &c, const SizedValue &x, unsigned dim);
/// A bool that broadcasts to \p x: whether an element is inside the extents of
/// \p dims. Null where all are, as the type says.
NodeValue isInside(Composer &c, const SizedValue &x,
                   llvm::ArrayRef<int64_t> dims);
/// \p x with \p filler outside the extents of \p dims. Infinities become the
/// extreme numbers of integers.
NodeValue fillOutside(Composer &c, const SizedValue &x,
                      llvm::ArrayRef<int64_t> dims, double filler);
/// \p indices into dimension \p axis of \p x; negative ones, which count from
/// its actual end, are made positive. Themselves where the type says the end.
NodeValue wrapSizedIndices(Composer &c, NodeValue indices, const SizedValue &x,
                           unsigned axis);
/// 0 ... \p rank - 1.
std::vector<int64_t> getAllDims(unsigned rank);

/// Gives dimension \p x of \p xs and \p y of \p ys, which have the same actual
/// extent, the same type and extent: the smaller one.
llvm::Error unify(Composer &c, SizedValue &xs, unsigned x, SizedValue &ys,
                  unsigned y);

/// For operators that compute each element of their outputs from those of the
/// same index: gives inputs whose extents are known only when the model runs
/// the same bounds, and lets \p import do the rest. Such an extent does not
/// broadcast when it is 1: it is taken to be that of the other inputs.
llvm::Error importElementWise(OpContext &op, OpImporter import);
template <OpImporter import> llvm::Error elementWise(OpContext &op) {
  return importElementWise(op, import);
}

/// Gives all outputs, which have been set, the extents of the first \p count
/// dimensions of input 0, where other dimensions have none of their own.
llvm::Error passOuterExtents(OpContext &op, unsigned count);
constexpr unsigned anyDims = ~0u;
/// For operators that keep the first \p count dimensions of input 0 and compute
/// each of their slices by itself.
template <unsigned count, OpImporter import>
llvm::Error alongOuter(OpContext &op) {
  if (llvm::Error error = import(op))
    return error;
  return passOuterExtents(op, count);
}

/// Makes \p value the output \p name of the model, with zeros outside its
/// extents, and another output that gets them.
llvm::Error saveSizedOutput(GraphContext &graph, llvm::StringRef name,
                            SizedValue value);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_EXTENTS_H
