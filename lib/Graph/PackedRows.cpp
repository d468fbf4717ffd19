//===- PackedRows.cpp - Rows of small integers in bytes -------------------===//

#include "glowish/Graph/PackedRows.h"

using namespace glowish;

Tensor glowish::packRows(const Tensor &integers, int offset, unsigned bits) {
  Dims shape(integers.getType().getShape());
  int64_t count = shape.back(), perByte = 8 / bits;
  shape.back() = (count + perByte - 1) / perByte;
  Tensor packed(Type(ElemKind::UInt8, shape));
  const auto *from = static_cast<const uint8_t *>(integers.getBytes());
  auto *to = static_cast<uint8_t *>(packed.getBytes());
  std::fill_n(to, packed.getNumElements(), uint8_t(0));
  for (int64_t i = 0; i < integers.getNumElements(); ++i) {
    int64_t row = i / count, column = i % count;
    to[row * shape.back() + column / perByte] |=
        uint8_t(((from[i] + offset) & 15) << (column % perByte * bits));
  }
  return packed;
}

NodeValue glowish::unpackRows(NodeBuilder &b, NodeValue bytes, unsigned bits,
                              int64_t count) {
  if (bits == 8 || !bytes)
    return bytes;
  int64_t perByte = 8 / bits, lastDim = int64_t(bytes.getShape().size()) - 1;
  Dims shape(bytes.getShape());
  shape.back() *= perByte;
  // What is above an integer is shifted out: ONNX has an operator for that, and
  // none for masks in the opset of written models.
  NodeValue shifts = b.table(ElemKind::UInt8, {perByte}, [&](DimsRef index) {
    return double(8 - (index[0] + 1) * bits);
  });
  NodeValue integers = b.make<ShiftRightNode>(
      b.make<ShiftLeftNode>(b.unsqueeze(bytes, lastDim + 1), shifts),
      b.scalar(ElemKind::UInt8, 8 - bits));
  return b.slice(b.reshape(integers, shape), lastDim, 0, count);
}
