//===- TosaWriter.cpp - Movement of elements in TOSA ----------------------===//

#include "MLIR/Tosa/TosaWriter.h"
#include <cmath>

using namespace glowish;

std::string glowish::formatTosaAxis(int64_t axis) {
  return " {axis = " + std::to_string(axis) + " : i32}";
}

MlirValue TosaWriter::flipSign(const MlirValue &x) {
  ElemKind kind = getOtherSign(x.getKind());
  // The lowest number of a signed kind has the highest bit alone.
  ElemKind signedKind = isUnsignedKind(kind) ? x.getKind() : kind;
  return mapElements(kind, x.getShape(), {x}, [&](auto elements) {
    MlirScalar bits = elements[0];
    bits.kind = signedKind;
    MlirScalar flipped = bits ^ bits.like(-HUGE_VAL);
    flipped.kind = kind;
    return flipped;
  });
}

//===- Shapes -------------------------------------------------------------===//

MlirValue TosaWriter::writeReshape(const MlirValue &x, const Type &type) {
  return tensorOp("tosa.reshape", x, type,
                  " {new_shape = " + formatArray(type.getShape()) + "}");
}

/// A constant of int32 that an operation has as an operand.
static Tensor makeInt32s(DimsRef shape, IntsRef values) {
  Tensor tensor(Type(ElemKind::Int32, shape));
  llvm::copy(values, tensor.data<int32_t>().begin());
  return tensor;
}

MlirValue TosaWriter::writeTranspose(const MlirValue &x, IntsRef permutation,
                                     const Type &type) {
  MlirValue order =
      constant(makeInt32s({int64_t(permutation.size())}, permutation));
  return tensorOp("tosa.transpose", {x, order}, type);
}

MlirValue TosaWriter::writeBroadcast(const MlirValue &x, const Type &type) {
  Dims repeats;
  for (auto [own, extent] : llvm::zip_equal(x.getShape(), type.getShape()))
    repeats.push_back(own == extent ? 1 : extent);
  return tensorOp("tosa.tile", x, type,
                  " {multiples = " + formatArray(repeats) + "}");
}

MlirValue TosaWriter::writeReverse(const MlirValue &x, int64_t axis) {
  return tensorOp("tosa.reverse", x, x.type, formatTosaAxis(axis));
}

/// \p size elements of \p x along \p axis, the first and then each \p step-th.
MlirValue TosaWriter::takeEach(const MlirValue &x, int64_t axis, int64_t size,
                               int64_t step) {
  unsigned rank = x.getRank();
  std::vector<int64_t> pads(2 * rank, 0);
  // The last ones are those behind the last one that is taken.
  pads[rank + axis] = size * step - x.getShape()[axis];
  MlirValue padded = pad(x, pads, 0);
  Dims split(padded.getShape());
  split[axis] = size;
  split.insert(split.begin() + axis + 1, step);
  MlirValue parts = reshape(padded, split);
  std::vector<int64_t> starts(rank + 1, 0), steps(rank + 1, 1);
  std::vector<int64_t> sizes(split.begin(), split.end());
  sizes[axis + 1] = 1;
  Dims shape(x.getShape());
  shape[axis] = size;
  return reshape(slice(parts, starts, sizes, steps), shape);
}

MlirValue TosaWriter::writeSlice(const MlirValue &x, IntsRef starts,
                                 IntsRef steps, const Type &type) {
  DimsRef sizes = type.getShape();
  std::vector<int64_t> spans;
  for (auto [size, step] : llvm::zip_equal(sizes, steps))
    spans.push_back((size - 1) * step + 1);
  Type spanType = x.type.withShape(spans);
  MlirValue value = x;
  if (spanType != value.type)
    value = tensorOp("tosa.slice", value, spanType,
                     " {size = " + formatArray(spans) +
                         ", start = " + formatArray(starts) + "}");
  for (size_t d = 0; d < starts.size(); ++d)
    if (spans[d] != sizes[d])
      value = takeEach(value, int64_t(d), sizes[d], steps[d]);
  return value;
}

MlirValue TosaWriter::writeConcat(llvm::ArrayRef<MlirValue> xs, int64_t axis,
                                  const Type &type) {
  return tensorOp("tosa.concat", xs, type, formatTosaAxis(axis));
}

MlirValue TosaWriter::writePad(const MlirValue &x, IntsRef pads, double value,
                               const Type &type) {
  unsigned rank = x.getRank();
  Dims pairs;
  for (unsigned d = 0; d < rank; ++d)
    pairs.append({pads[d], pads[rank + d]});
  MlirValue amounts = constant(makeInt32s({int64_t(rank), 2}, pairs));
  MlirValue filler = getConstants().getSplat(Type(x.getKind(), {}), value);
  return tensorOp("tosa.pad", {x, amounts, filler}, type);
}

//===- Elements at computed places ----------------------------------------===//

/// One gather of rows for each index of the dimensions before \p axis.
MlirValue TosaWriter::gather(const MlirValue &x, const MlirValue &indices,
                             int64_t axis, const Type &type) {
  if (type.getNumElements() == 0)
    return splat(type, 0);
  DimsRef shape = x.getShape();
  int64_t outer = countElements(shape.take_front(axis)), length = shape[axis];
  int64_t inner = countElements(shape.drop_front(axis + 1));
  int64_t count = indices.type.getNumElements();
  MlirValue places =
      map(ElemKind::Int32, indices.getShape(), {indices}, [&](auto elements) {
        MlirScalar number = countFromStart(elements[0], length);
        return max(min(number, double(length - 1)), 0.0);
      });
  places = broadcast(reshape(places, {1, count}), {outer, count});
  MlirValue rows =
      tensorOp("tosa.gather", {reshape(x, {outer, length, inner}), places},
               type.withShape({outer, count, inner}));
  return reshape(rows, type.getShape());
}

/// Of numbers, the largest: tosa.argmax leaves open what it does with NaN.
MlirValue TosaWriter::argMaxOfFloats(const MlirValue &x, int64_t axis,
                                     bool selectLast, const Type &type) {
  ElemKind kind = x.getKind();
  MlirValue isNaN = map(kind, x.getShape(), {x}, [](auto elements) {
    const MlirScalar &e = elements[0];
    return select(e == e, e.like(0), e.like(1));
  });
  MlirValue numbers = map(kind, x.getShape(), {x}, [](auto elements) {
    const MlirScalar &e = elements[0];
    return select(e == e, e, e.like(-HUGE_VAL));
  });
  MlirValue hasNaN =
      reshape(reduce("max", isNaN, axis, /*keepDims=*/false), type.getShape());
  return map(ElemKind::Int64, type.getShape(),
             {hasNaN, findLargest(isNaN, axis, selectLast, type),
              findLargest(numbers, axis, selectLast, type)},
             [](auto elements) {
               return select(elements[0] > 0.0, elements[1], elements[2]);
             });
}

MlirValue TosaWriter::argMax(const MlirValue &x, int64_t axis, bool selectLast,
                             const Type &type) {
  if (type.getNumElements() == 0)
    return splat(type, 0);
  return isFloatKind(x.getKind()) ? argMaxOfFloats(x, axis, selectLast, type)
                                  : findLargest(x, axis, selectLast, type);
}

MlirValue TosaWriter::findLargest(const MlirValue &x, int64_t axis,
                                  bool selectLast, const Type &type) {
  // It compares integers as signed ones.
  if (isUnsignedKind(x.getKind()))
    return findLargest(flipSign(x), axis, selectLast, type);
  Dims kept(x.getShape());
  int64_t last = kept[axis] - 1;
  kept.erase(kept.begin() + axis);
  MlirValue value = selectLast ? writeReverse(x, axis) : x;
  MlirValue index = tensorOp("tosa.argmax", value, Type(ElemKind::Int32, kept),
                             formatTosaAxis(axis));
  index = map(ElemKind::Int64, kept, {index}, [&](auto elements) {
    return selectLast ? double(last) - elements[0] : elements[0];
  });
  return reshape(index, type.getShape());
}
