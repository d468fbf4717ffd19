//===- DynamicDims.h - Values with dynamic dimensions -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_DYNAMICDIMS_H
#define GLOWISH_LIB_IMPORTER_ONNX_DYNAMICDIMS_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// A value and the actual extents of its dynamic dimensions. Functions on it
/// return null for null values: the OpContext keeps the error.
struct DynamicValue {
  NodeValue value;
  Extents extents = {};

  DimsRef getShape() const { return value.getShape(); }
  unsigned getRank() const { return getShape().size(); }
  bool isDynamic(unsigned dim) const {
    return dim < extents.size() && extents[dim];
  }
  bool isDynamic() const {
    return llvm::any_of(extents, [](NodeValue e) { return bool(e); });
  }
  /// Returns the actual extent of dimension \p dim; null if it is static.
  NodeValue getExtent(unsigned dim) const {
    return isDynamic(dim) ? extents[dim] : NodeValue();
  }
  void setExtent(unsigned dim, NodeValue extent) {
    extents.resize(value ? getRank() : dim + 1);
    extents[dim] = extent;
  }
};

/// Returns input \p index with its extents, which count as handled by the
/// importer.
llvm::Expected<DynamicValue> getDynamicInput(OpContext &op, unsigned index);
template <>
inline DynamicValue readInput<DynamicValue>(OpContext &op, unsigned index) {
  return {readInput<NodeValue>(op, index), op.getExtents(index)};
}
/// Sets output \p index and its extents.
llvm::Error setDynamicOutput(OpContext &op, unsigned index, DynamicValue value);

/// Makes \p value, an int64 scalar, possibly constant, an extent with the upper
/// bound \p bound: it is clamped unless it is known to be within it.
NodeValue makeExtent(OpContext &op, NodeValue value, int64_t bound);
/// Returns the actual extent of dimension \p dim, a constant if it is static.
NodeValue countAlong(OpContext &op, const DynamicValue &x, unsigned dim);
/// Returns the actual number of elements, counting only dimensions \p dims.
NodeValue countAlong(OpContext &op, const DynamicValue &x,
                     llvm::ArrayRef<int64_t> dims);
/// Returns 0, 1, ... along dimension \p dim of \p x, with the rank of \p x.
NodeValue numberAlong(OpContext &op, const DynamicValue &x, unsigned dim);
/// Returns a bool tensor that broadcasts to \p x: whether an element is within
/// the actual extents of \p dims. Null if they are all static.
NodeValue isInside(OpContext &op, const DynamicValue &x,
                   llvm::ArrayRef<int64_t> dims);
/// Replaces elements of \p x beyond the actual extents of \p dims by \p filler.
/// For integers, infinities become the minimum or maximum of the kind.
NodeValue fillOutside(OpContext &op, const DynamicValue &x,
                      llvm::ArrayRef<int64_t> dims, double filler);
/// Makes negative \p indices into dimension \p axis of \p x, which count from
/// its actual end, non-negative. Returns \p indices if the dimension is static.
NodeValue wrapDynamicIndices(OpContext &op, NodeValue indices,
                             const DynamicValue &x, unsigned axis);

/// Unifies dimension \p x of \p xs and \p y of \p ys, which have the same
/// actual extent: both get the smaller upper bound and the same extent value.
llvm::Error unify(OpContext &op, DynamicValue &xs, unsigned x, DynamicValue &ys,
                  unsigned y);

/// Gives dimension \p x of \p xs and \p y of \p ys, which have one length in
/// each run, the smaller bound of both; a static one makes the other static. An
/// error where a static one exceeds the other's bound.
llvm::Error align(OpContext &op, NodeValue &xs, unsigned x, NodeValue &ys,
                  unsigned y);
/// Aligns the dimensions of \p values, some of which may be null, that
/// broadcast to each other: all but the last \p numInner. A dimension that a
/// run decides does not broadcast, unless its bound is 1.
llvm::Error alignBroadcast(OpContext &op,
                           llvm::MutableArrayRef<NodeValue> values,
                           unsigned numInner = 0);

/// Returns an error if a run decides an extent of dimensions \p dims of \p x,
/// input \p index. \p why: "the points are places in it; accepted: ...".
llvm::Error refuseExtents(NodeValue x, unsigned index,
                          llvm::ArrayRef<int64_t> dims, const llvm::Twine &why);
/// Why pixels are not taken from images of which a run decides height or width.
inline constexpr llvm::StringLiteral samplesWholeImages =
    "places of pixels are clamped to it; accepted: such extents of the batch, "
    "the channels and the points";

/// Wraps the importer of an operator of whose nodes the extent rules infer the
/// extents of the outputs.
template <auto import> llvm::Error withExtents(OpContext &op) {
  op.keepExtents();
  return importInputs(op, import);
}

/// Imports an operator whose output elements depend on input elements of the
/// same index: aligns its inputs, then calls \p import.
llvm::Error importElementWise(OpContext &op, const OpImporter &import);
template <auto import> llvm::Error elementWise(OpContext &op) {
  return importElementWise(
      op, [](OpContext &op) { return importInputs(op, import); });
}

/// Gives all outputs the extents of the first \p count dimensions of input 0.
/// Returns an error if other dimensions are dynamic.
llvm::Error passOuterExtents(OpContext &op, unsigned count);
constexpr unsigned anyDims = ~0u;
/// Wraps the importer of an operator that treats each index of the first
/// \p count dimensions of input 0 separately and keeps these dimensions.
template <unsigned count, auto import> llvm::Error alongOuter(OpContext &op) {
  GLOWISH_RETURN_IF_ERROR(importInputs(op, import));
  return passOuterExtents(op, count);
}

/// Returns the extent of dimension \p dim of \p type, a number if it is static.
/// None if inputs of \p module don't state all of its symbols.
std::optional<Extent> findStated(const Module &module, const Type &type,
                                 unsigned dim);
/// A slice of the first elements of \p value along each dimension, as many as
/// \p shape says, made where \p function inserts nodes.
NodeValue sliceCorner(Function &function, NodeValue value, DimsRef shape);
/// Pads \p value at its ends to \p shape, which is at least as large.
NodeValue padTo(OpContext &op, NodeValue value, DimsRef shape);
/// Makes \p value the output \p name of the model, and creates an additional
/// output for the extents. The output has the extents \p shape, at least those
/// of the value; elements beyond the actual ones are unspecified.
llvm::Error saveDynamicOutput(GraphContext &graph, llvm::StringRef name,
                              NodeValue value, DimsRef shape);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_DYNAMICDIMS_H
