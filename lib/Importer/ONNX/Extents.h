//===- Extents.h - Values with extents that runs decide ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_EXTENTS_H
#define GLOWISH_LIB_IMPORTER_ONNX_EXTENTS_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// Makes \p value, an int64 scalar, possibly constant, an extent with the upper
/// bound \p bound: it is clamped unless it is known to be within it.
NodeValue makeExtent(OpContext &op, NodeValue value, int64_t bound);
/// Gives dimension \p x of \p xs and \p y of \p ys, which must have one length
/// in each run, the smaller bound of both; a static one makes the other static.
/// An error where a static one exceeds the other's bound.
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
llvm::Error saveOpenOutput(GraphContext &graph, llvm::StringRef name,
                           NodeValue value, DimsRef shape);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_EXTENTS_H
