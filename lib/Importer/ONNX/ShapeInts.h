//===- ShapeInts.h - Numbers that shapes are made of ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_SHAPEINTS_H
#define GLOWISH_LIB_IMPORTER_ONNX_SHAPEINTS_H

#include "ONNX/Composer.h"

namespace glowish {

/// One number of an input that decides a shape: a start, an extent, a count.
struct ShapeInt {
  /// An int64 scalar; null for a constant.
  NodeValue value;
  /// What it can be; infinite where nothing is known. Equal for a constant.
  double low, high;
  /// Where the number is: an element of this value, by its position.
  NodeValue source = {};
  int64_t position = 0;

  bool isConstant() const { return low == high; }
  /// Saturated: "to the end" is often the largest number there is.
  int64_t getConstant() const {
    if (low <= double(INT64_MIN) || low >= double(INT64_MAX))
      return low < 0 ? INT64_MIN : INT64_MAX;
    return int64_t(low);
  }
};

/// \p number as an int64 scalar.
inline NodeValue getValue(Composer &c, const ShapeInt &number) {
  return number.value ? number.value : c.scalar(ElemKind::Int64, number.low);
}

/// The elements of input \p index, integers of rank 0 or 1, of which some or
/// all are computed when the model runs. What Shape, Concat, Gather, Slice and
/// the like have only moved is found where it came from, so that the same
/// extent is the same value.
llvm::Expected<std::vector<ShapeInt>> readShapeInts(OpContext &op, Composer &c,
                                                    unsigned index);
/// The same where the numbers are an input or, in old opsets, an attribute.
llvm::Expected<std::vector<ShapeInt>>
readShapeInts(OpContext &op, Composer &c, llvm::StringRef name, unsigned index);
/// The one element of input \p index, a number of any kind.
llvm::Expected<ShapeInt> readShapeInt(OpContext &op, Composer &c,
                                      unsigned index);
inline ShapeInt makeShapeInt(int64_t value) {
  return {{}, double(value), double(value), {}, 0};
}
inline bool areConstant(llvm::ArrayRef<ShapeInt> ints) {
  return llvm::all_of(ints, [](const ShapeInt &i) { return i.isConstant(); });
}

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_SHAPEINTS_H
