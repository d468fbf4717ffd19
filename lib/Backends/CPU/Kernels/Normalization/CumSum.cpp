//===- CumSum.cpp - Cumulative sums ---------------------------------------===//

#include "Kernels/KernelOperands.h"
#include "Kernels/Math/EmittedScalar.h"

using namespace glowish;
using llvm::Value;

namespace {

/// Emits the sums of one instruction.
class CumSumEmitter {
public:
  CumSumEmitter(KernelBuilder &b, const CumSumInstr &instr,
                const KernelOperands &operands)
      : b(b), instr(instr), operands(operands),
        kind(instr.getInput()->getType().getKind()),
        length(instr.getInput()->getType().getDim(instr.getAxis())),
        input(operands.getPointer(instr.inputIdx)),
        result(operands.getPointer(instr.resultIdx)) {
    // Sums from the end need all elements.
    if (!instr.getReverse())
      needed = operands.getBound(instr.resultIdx, unsigned(instr.getAxis()));
  }

  void emit();

private:
  Value *add(Value *x, Value *y);
  Value *shiftLanes(Value *value, unsigned count);
  Value *sumLanes(Value *value);
  Value *emitBlock(Value *first, unsigned lanes, Value *before);
  void emitRow(Value *first);
  void emitColumns(Value *first, int64_t stride, unsigned lanes);

  KernelBuilder &b;
  const CumSumInstr &instr;
  const KernelOperands &operands;
  ElemKind kind;
  /// The number of elements that are summed.
  int64_t length;
  Value *input, *result;
  /// How many sums of a row are needed; null for all.
  Value *needed = nullptr;
};

} // namespace

Value *CumSumEmitter::add(Value *x, Value *y) {
  return (EmittedScalar{&b, x, kind} + EmittedScalar{&b, y, kind}).value;
}

/// Moves lanes by \p count in the direction of the sums; zeros follow.
Value *CumSumEmitter::shiftLanes(Value *value, unsigned count) {
  unsigned lanes = b.getLanes(value);
  Value *zero = b.literal(kind, 0, lanes);
  if (lanes == 1)
    return zero;
  llvm::SmallVector<int, 16> mask;
  for (int lane = 0; lane < int(lanes); ++lane) {
    int from = instr.getReverse() ? lane + int(count) : lane - int(count);
    mask.push_back(from >= 0 && from < int(lanes) ? from : int(lanes));
  }
  return b.CreateShuffleVector(value, zero, mask);
}

/// The sums of the lanes up to each of them: after each step a lane has the sum
/// of the last 2 * count lanes (Hillis and Steele, Data Parallel Algorithms,
/// 1986).
Value *CumSumEmitter::sumLanes(Value *value) {
  for (unsigned count = 1; count < b.getLanes(value); count *= 2)
    value = add(value, shiftLanes(value, count));
  return value;
}

/// Sums neighbours from element \p first on. \p before is the sum of the
/// elements before these; returns the sum with them.
Value *CumSumEmitter::emitBlock(Value *first, unsigned lanes, Value *before) {
  Value *sums = sumLanes(b.loadElement(kind, input, first, lanes));
  Value *stored = instr.getExclusive() ? shiftLanes(sums, 1) : sums;
  b.storeElement(kind, add(stored, b.splat(before, lanes)), result, first);
  Value *total = sums;
  if (lanes > 1)
    total = b.CreateExtractElement(
        sums, uint64_t(instr.getReverse() ? 0 : lanes - 1));
  return add(before, total);
}

/// Sums a row of neighbours, by registers.
void CumSumEmitter::emitRow(Value *first) {
  unsigned lanes = b.getSumLanes(kind);
  int64_t tail = length % lanes, whole = length - tail;
  bool reverse = instr.getReverse();
  Values sums = b.forLoop(
      b.index(0), needed ? b.minIndex(needed, b.index(whole)) : b.index(whole),
      lanes, {b.literal(kind, 0, 1)},
      [&](Value *i, llvm::ArrayRef<Value *> carried) {
        Value *at = reverse ? b.CreateNSWSub(b.index(length - lanes), i) : i;
        return Values{emitBlock(b.CreateNSWAdd(first, at), lanes, carried[0])};
      });
  if (tail)
    emitBlock(b.addScaled(first, b.index(reverse ? 0 : whole), 1),
              unsigned(tail), sums[0]);
}

/// Sums each of \p lanes columns, whose elements are \p stride apart.
void CumSumEmitter::emitColumns(Value *first, int64_t stride, unsigned lanes) {
  b.forLoop(needed ? needed : b.index(length), {b.literal(kind, 0, lanes)},
            [&](Value *i, llvm::ArrayRef<Value *> carried) {
              Value *row = instr.getReverse()
                               ? b.CreateNSWSub(b.index(length - 1), i)
                               : i;
              Value *at = b.addScaled(first, row, stride);
              Value *x = b.loadElement(kind, input, at, lanes);
              Value *sum = add(carried[0], x);
              b.storeElement(kind, instr.getExclusive() ? carried[0] : sum,
                             result, at);
              return Values{sum};
            });
}

void CumSumEmitter::emit() {
  const Type &type = instr.getInput()->getType();
  int64_t numElements = type.getNumElements();
  if (numElements == 0)
    return;
  int64_t inner = getDenseStrides(type.getShape())[instr.getAxis()];
  LoopExtents rows =
      operands.getExtents(instr.resultIdx, 0, unsigned(instr.getAxis()));
  if (inner == 1)
    return b.forTasks(rows, 4 * numElements,
                      [&](Value *row) { emitRow(b.scaleIndex(row, length)); });
  // Several registers of columns hide the latency of the additions.
  int64_t width = std::min<int64_t>(inner, 4 * b.getRegisterLanes(kind));
  int64_t whole = inner / width, tail = inner % width;
  int64_t numStrips = whole + (tail ? 1 : 0);
  Value *columns = operands.getBound(
      b, instr.resultIdx, unsigned(instr.getAxis()) + 1, type.getRank());
  LoopExtents strips = rows;
  strips.push_back(numStrips, columns ? b.divideUp(columns, width) : nullptr);
  Dims tasks = {countElements(rows.shape), numStrips};
  b.forTasks(strips, 2 * numElements, [&](Value *task) {
    Values place = b.splitIndex(task, tasks);
    Value *first =
        b.addScaled(b.scaleIndex(place[1], width), place[0], length * inner);
    if (!tail)
      return emitColumns(first, inner, unsigned(width));
    b.ifThenElse(
        b.CreateICmpULT(place[1], b.index(whole)),
        [&] { emitColumns(first, inner, unsigned(width)); },
        [&] { emitColumns(first, inner, unsigned(tail)); });
  });
}

void glowish::emitCumSum(KernelBuilder &b, const CumSumInstr &instr,
                         const KernelOperands &operands) {
  CumSumEmitter(b, instr, operands).emit();
}
