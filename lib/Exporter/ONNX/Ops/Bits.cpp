//===- Bits.cpp - Export of shifts, lookups and bit casts -----------------===//

#include "ONNX/Ops/ElementWise.h"

using namespace glowish;

/// Returns the unsigned kind of the size of integer kind \p kind.
static ElemKind getUnsigned(ElemKind kind) {
  switch (getElemSize(kind)) {
  case 1:
    return ElemKind::UInt8;
  case 2:
    return ElemKind::UInt16;
  case 4:
    return ElemKind::UInt32;
  default:
    return ElemKind::UInt64;
  }
}

/// Whether \p count is a constant with all elements less than \p bits.
static bool isKnownBelow(NodeValue count, unsigned bits) {
  auto *constant = count.getNodeAs<Constant>();
  if (!constant)
    return false;
  const Tensor &tensor = constant->getTensor();
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (uint64_t(tensor.getAsInt(i)) >= bits)
      return false;
  return true;
}

/// BitShift takes unsigned integers, and does not define shifts by the number
/// of bits or more, which give 0 here.
template <typename T>
static OnnxValue writeShift(GraphWriter &w, const T &node,
                            llvm::ArrayRef<OnnxValue> operands) {
  llvm::StringRef direction =
      std::is_same_v<T, ShiftLeftNode> ? "LEFT" : "RIGHT";
  ElemKind kind = node.getType().getKind(), bitsKind = getUnsigned(kind);
  unsigned bits = 8 * getElemSize(kind);
  OnnxValue x = w.cast(operands[0], bitsKind);
  OnnxValue count = w.cast(operands[1], bitsKind);
  if (isKnownBelow(node.getOperand(1), bits))
    return w.cast(
        w.op("BitShift", {x, count}, {stringAttr("direction", direction)}),
        kind);
  OnnxValue isInRange = w.op("Less", {count, w.numberLike(count, bits)});
  OnnxValue zero = w.numberLike(x, 0);
  OnnxValue shifted = w.op("BitShift", {x, w.select(isInRange, count, zero)},
                           {stringAttr("direction", direction)});
  return w.cast(w.select(isInRange, shifted, zero), kind);
}

static const ElementWiseExporter shiftLeft = writeShift<ShiftLeftNode>;
static const ElementWiseExporter shiftRight = writeShift<ShiftRightNode>;

/// Gather counts negative indices from the end, where a table has the results
/// for the bits of negative numbers.
static OnnxValue writeLookup(GraphWriter &w, const LookupNode &node,
                             llvm::ArrayRef<OnnxValue> x) {
  llvm::ArrayRef<int64_t> numbers = node.getTable();
  Tensor table(Type(node.getType().getKind(), {int64_t(numbers.size())}));
  for (auto [i, number] : llvm::enumerate(numbers))
    table.setFromDouble(int64_t(i), double(number));
  return w.op("Gather",
              {w.constant(std::move(table)), w.cast(x[0], ElemKind::Int32)});
}
static const ElementWiseExporter lookup = writeLookup;

/// A Cast between integers of the same size keeps all bits.
static void exportBitCast(GraphWriter &w, const BitCastNode &node) {
  NodeValue input = node.getInput();
  if (isFloatKind(input.getElemKind()) || isFloatKind(node.getTo()))
    return w.fail("a BitCast of floats needs opset 26; models are written with "
                  "opset 17");
  w.setResult(node, w.cast(w.getStored(input), node.getTo()),
              w.getLayout(input));
}
static const NodeExporter bitCast = exportBitCast;

static constexpr llvm::StringLiteral noBits =
    "bitwise operators need opset 18; models are written with opset 17";
static const NodeRefusal bitRefusals[] = {
    {NodeKind::BitAnd, noBits},
    {NodeKind::BitOr, noBits},
    {NodeKind::BitXor, noBits},
    {NodeKind::Rescale, "ONNX has no fixed-point numbers"},
    {NodeKind::RandomBits, "ONNX has no counter-based random number generator"},
};
