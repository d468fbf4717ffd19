//===- ShapeInts.h - Integers that determine shapes -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_SHAPEINTS_H
#define GLOWISH_LIB_IMPORTER_ONNX_SHAPEINTS_H

#include "Common/ExtentFinder.h"
#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// An element of an input that determines a shape: a start, an extent, a count.
struct ShapeInt : ScalarRange {
  /// An int64 scalar; null if constant.
  NodeValue value = {};
  /// The value of which the number is the element at `position`, if it is no
  /// extent.
  NodeValue source = {};
  int64_t position = 0;

  bool isConstant() const { return low == high; }
  /// Saturates, as the maximum integer often means "to the end".
  int64_t getConstant() const {
    if (low <= double(INT64_MIN) || low >= double(INT64_MAX))
      return low < 0 ? INT64_MIN : INT64_MAX;
    return int64_t(low);
  }
};

/// Returns \p number as an int64 scalar.
inline NodeValue getValue(OpContext &op, const ShapeInt &number) {
  return number.value ? number.value : op.scalar(ElemKind::Int64, number.low);
}

/// Reads the elements of input \p index, integers of rank 0 or 1, some or all
/// of which may be computed at run time. Elements are traced through data
/// movement (Shape, Concat, Gather, Slice...) to their definition, so that
/// equal extents are the same value.
llvm::Expected<std::vector<ShapeInt>> readShapeInts(OpContext &op,
                                                    unsigned index);
/// Like readShapeInts(), for numbers that are an attribute in old opsets.
llvm::Expected<std::vector<ShapeInt>>
readShapeInts(OpContext &op, llvm::StringRef name, unsigned index);
/// Reads the single element of input \p index, a number of any kind.
llvm::Expected<ShapeInt> readShapeInt(OpContext &op, unsigned index);
inline ShapeInt makeShapeInt(int64_t value) {
  return {{double(value), double(value), Extent(value)}};
}
inline bool areConstant(llvm::ArrayRef<ShapeInt> ints) {
  return llvm::all_of(ints, [](const ShapeInt &i) { return i.isConstant(); });
}

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_SHAPEINTS_H
