//===- TensorWriter.cpp - Dialects of whole tensors -----------------------===//

#include "MLIR/TensorWriter.h"

using namespace glowish;

MlirValue TensorWriter::tensorOp(llvm::StringRef operation,
                                 llvm::ArrayRef<MlirValue> operands,
                                 const Type &type,
                                 const llvm::Twine &attributes) {
  TextStyle style = getTextStyle(getDialect());
  return op(type, operation + " " + joinNames(operands) + attributes + " : (" +
                      getTensorTypes(getTypes(operands), style) + ") -> " +
                      getTensorType(type, style));
}

//===- Scalars ------------------------------------------------------------===//

Dims TensorWriter::getCommonShape(llvm::ArrayRef<MlirScalar> args) {
  Dims shape = args[0].shape;
  for (const MlirScalar &arg : args)
    for (size_t d = 0; d < shape.size(); ++d)
      shape[d] = shape[d] == 1 ? arg.shape[d] : shape[d];
  return shape;
}

MlirScalar TensorWriter::refuseScalar(const llvm::Twine &what,
                                      const MlirScalar &like, ElemKind kind) {
  return getScalar(refuseValue(what, Type(kind, like.shape)));
}

MlirValue TensorWriter::mapElements(ElemKind kind, DimsRef shape,
                                    llvm::ArrayRef<MlirValue> operands,
                                    ScalarFunction function) {
  // tosa-to-linalg makes an extent of 1 of 0 where an operand broadcasts.
  if (Type type(kind, shape); type.getNumElements() == 0)
    return splat(type, 0);
  std::vector<MlirScalar> elements;
  for (const MlirValue &operand : operands) {
    Dims own(shape.size() - operand.getRank(), 1);
    llvm::append_range(own, operand.getShape());
    elements.push_back(getScalar(reshape(operand, own)));
  }
  MlirScalar result = function(elements);
  return broadcast({result.name, Type(kind, result.shape)}, shape);
}

//===- Shapes -------------------------------------------------------------===//

MlirValue TensorWriter::reshape(const MlirValue &x, DimsRef shape) {
  Type type = x.type.withShape(shape);
  if (type == x.type)
    return x;
  if (type.getNumElements() == 0)
    return splat(type, 0);
  return writeReshape(x, type);
}

MlirValue TensorWriter::transpose(const MlirValue &x, IntsRef permutation) {
  Dims shape;
  for (int64_t d : permutation)
    shape.push_back(x.getShape()[d]);
  if (llvm::is_sorted(permutation))
    return x;
  return writeTranspose(x, permutation, x.type.withShape(shape));
}

MlirValue TensorWriter::broadcast(const MlirValue &x, DimsRef shape) {
  if (x.getShape() == shape)
    return x;
  Type type = x.type.withShape(shape);
  if (type.getNumElements() == 0)
    return splat(type, 0);
  Dims own(shape.size() - x.getRank(), 1);
  llvm::append_range(own, x.getShape());
  MlirValue value = reshape(x, own);
  return DimsRef(own) == shape ? value : writeBroadcast(value, type);
}

MlirValue TensorWriter::slice(const MlirValue &x, IntsRef starts, IntsRef sizes,
                              IntsRef steps) {
  Type type = x.type.withShape(sizes);
  if (type.getNumElements() == 0)
    return splat(type, 0);
  MlirValue value = x;
  std::vector<int64_t> firsts(starts), distances;
  for (size_t d = 0; d < starts.size(); ++d) {
    if (steps[d] < 0 && sizes[d] > 1) {
      value = writeReverse(value, int64_t(d));
      firsts[d] = x.getShape()[d] - 1 - starts[d];
    }
    distances.push_back(std::abs(steps[d]));
  }
  return writeSlice(value, firsts, distances, type);
}

MlirValue TensorWriter::concat(llvm::ArrayRef<MlirValue> xs, int64_t axis,
                               const Type &type) {
  MlirValues parts;
  for (const MlirValue &x : xs)
    if (x.type.getNumElements() != 0)
      parts.push_back(x);
  if (parts.empty())
    return splat(type, 0);
  return parts.size() == 1 ? parts.front() : writeConcat(parts, axis, type);
}

MlirValue TensorWriter::padWider(const MlirValue &x, IntsRef pads,
                                 double value) {
  unsigned rank = x.getRank();
  Dims shape(x.getShape());
  for (unsigned d = 0; d < rank; ++d)
    shape[d] += pads[d] + pads[rank + d];
  Type type = x.type.withShape(shape);
  if (x.type.getNumElements() == 0)
    return splat(type, value);
  return writePad(x, pads, value, type);
}
