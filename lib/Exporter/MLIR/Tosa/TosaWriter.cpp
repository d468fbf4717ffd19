//===- TosaWriter.cpp - Movement of elements in TOSA ----------------------===//

#include "MLIR/Tosa/TosaWriter.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace glowish;

MlirValue TosaWriter::tosaOp(llvm::StringRef operation,
                             llvm::ArrayRef<MlirValue> operands,
                             const Type &type, const llvm::Twine &attributes) {
  std::vector<std::string> names, types;
  for (const MlirValue &operand : operands) {
    names.push_back(operand.name);
    types.push_back(getTensorType(operand.type));
  }
  return op(type, operation + " " + llvm::join(names, ", ") + attributes +
                      " : (" + llvm::join(types, ", ") + ") -> " +
                      getTensorType(type));
}

std::string glowish::formatTosaArray(IntsRef values) {
  return values.empty() ? "array<i64>"
                        : "array<i64: " + formatList(values) + ">";
}

std::string glowish::formatTosaAxis(int64_t axis) {
  return " {axis = " + std::to_string(axis) + " : i32}";
}

MlirValue TosaWriter::mapElements(ElemKind kind, DimsRef shape,
                                  llvm::ArrayRef<MlirValue> operands,
                                  ScalarFunction function) {
  // tosa-to-linalg makes an extent of 1 of 0 where an operand broadcasts.
  if (Type type(kind, shape); type.getNumElements() == 0)
    return splat(type, 0);
  std::vector<MlirScalar> elements;
  for (const MlirValue &operand : operands) {
    Dims own(shape.size() - operand.getRank(), 1);
    llvm::append_range(own, operand.getShape());
    MlirValue value = reshape(operand, own);
    elements.push_back({this, value.name, value.getKind(), own});
  }
  MlirScalar result = function(elements);
  return broadcast({result.name, Type(kind, result.shape)}, shape);
}

/// The integer kind of the other sign and as many bits as \p kind.
static ElemKind getOtherSign(ElemKind kind) {
  using enum ElemKind;
  constexpr std::pair<ElemKind, ElemKind> pairs[] = {
      {Int8, UInt8}, {Int16, UInt16}, {Int32, UInt32}, {Int64, UInt64}};
  for (auto [isSigned, isUnsigned] : pairs)
    if (kind == isSigned || kind == isUnsigned)
      return kind == isSigned ? isUnsigned : isSigned;
  llvm_unreachable("not an integer kind");
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

MlirValue TosaWriter::reshape(const MlirValue &x, DimsRef shape) {
  Type type = x.type.withShape(shape);
  if (type == x.type)
    return x;
  if (type.getNumElements() == 0)
    return splat(type, 0);
  return tosaOp("tosa.reshape", x, type,
                " {new_shape = " + formatTosaArray(shape) + "}");
}

/// A constant of int32 that an operation has as an operand.
static Tensor makeInt32s(DimsRef shape, IntsRef values) {
  Tensor tensor(Type(ElemKind::Int32, shape));
  llvm::copy(values, tensor.data<int32_t>().begin());
  return tensor;
}

MlirValue TosaWriter::transpose(const MlirValue &x, IntsRef permutation) {
  Dims shape;
  for (int64_t d : permutation)
    shape.push_back(x.getShape()[d]);
  if (llvm::is_sorted(permutation))
    return x;
  MlirValue order =
      constant(makeInt32s({int64_t(permutation.size())}, permutation));
  return tosaOp("tosa.transpose", {x, order}, x.type.withShape(shape));
}

MlirValue TosaWriter::broadcast(const MlirValue &x, DimsRef shape) {
  if (x.getShape() == shape)
    return x;
  if (countElements(shape) == 0)
    return splat(x.type.withShape(shape), 0);
  Dims own(shape.size() - x.getRank(), 1), repeats;
  llvm::append_range(own, x.getShape());
  for (size_t d = 0; d < shape.size(); ++d)
    repeats.push_back(own[d] == shape[d] ? 1 : shape[d]);
  MlirValue value = reshape(x, own);
  return DimsRef(own) == shape
             ? value
             : tosaOp("tosa.tile", value, x.type.withShape(shape),
                      " {multiples = " + formatTosaArray(repeats) + "}");
}

MlirValue TosaWriter::reverse(const MlirValue &x, int64_t axis) {
  return tosaOp("tosa.reverse", x, x.type, formatTosaAxis(axis));
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

MlirValue TosaWriter::slice(const MlirValue &x, IntsRef starts, IntsRef sizes,
                            IntsRef steps) {
  Type type = x.type.withShape(sizes);
  if (type.getNumElements() == 0)
    return splat(type, 0);
  MlirValue value = x;
  std::vector<int64_t> firsts(starts), spans(sizes);
  for (size_t d = 0; d < starts.size(); ++d) {
    if (steps[d] < 0 && sizes[d] > 1) {
      value = reverse(value, int64_t(d));
      firsts[d] = x.getShape()[d] - 1 - starts[d];
    }
    spans[d] = (sizes[d] - 1) * std::abs(steps[d]) + 1;
  }
  Type spanType = x.type.withShape(spans);
  if (spanType != value.type)
    value = tosaOp("tosa.slice", value, spanType,
                   " {size = " + formatTosaArray(spans) +
                       ", start = " + formatTosaArray(firsts) + "}");
  for (size_t d = 0; d < starts.size(); ++d)
    if (spans[d] != sizes[d])
      value = takeEach(value, int64_t(d), sizes[d], std::abs(steps[d]));
  return value;
}

MlirValue TosaWriter::concat(llvm::ArrayRef<MlirValue> xs, int64_t axis,
                             const Type &type) {
  MlirValues parts;
  for (const MlirValue &x : xs)
    if (x.type.getNumElements() != 0)
      parts.push_back(x);
  if (parts.empty())
    return splat(type, 0);
  if (parts.size() == 1)
    return parts.front();
  return tosaOp("tosa.concat", parts, type, formatTosaAxis(axis));
}

MlirValue TosaWriter::padWider(const MlirValue &x, IntsRef pads, double value) {
  unsigned rank = x.getRank();
  Dims shape(x.getShape()), pairs;
  for (unsigned d = 0; d < rank; ++d) {
    shape[d] += pads[d] + pads[rank + d];
    pairs.append({pads[d], pads[rank + d]});
  }
  Type type = x.type.withShape(shape);
  if (x.type.getNumElements() == 0)
    return splat(type, value);
  MlirValue amounts = constant(makeInt32s({int64_t(rank), 2}, pairs));
  MlirValue filler = getConstants().getSplat(Type(x.getKind(), {}), value);
  return tosaOp("tosa.pad", {x, amounts, filler}, type);
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
        const MlirScalar &i = elements[0];
        MlirScalar fromStart = select(i < 0.0, i + double(length), i);
        return max(min(fromStart, double(length - 1)), 0.0);
      });
  places = broadcast(reshape(places, {1, count}), {outer, count});
  MlirValue rows =
      tosaOp("tosa.gather", {reshape(x, {outer, length, inner}), places},
             type.withShape({outer, count, inner}));
  return reshape(rows, type.getShape());
}

MlirValue TosaWriter::argMax(const MlirValue &x, int64_t axis, bool selectLast,
                             const Type &type) {
  if (type.getNumElements() == 0)
    return splat(type, 0);
  // It compares integers as signed ones.
  if (isUnsignedKind(x.getKind()))
    return argMax(flipSign(x), axis, selectLast, type);
  Dims kept(x.getShape());
  int64_t last = kept[axis] - 1;
  kept.erase(kept.begin() + axis);
  MlirValue value = selectLast ? reverse(x, axis) : x;
  MlirValue index = tosaOp("tosa.argmax", value, Type(ElemKind::Int32, kept),
                           formatTosaAxis(axis));
  index = map(ElemKind::Int64, kept, {index}, [&](auto elements) {
    return selectLast ? double(last) - elements[0] : elements[0];
  });
  return reshape(index, type.getShape());
}
