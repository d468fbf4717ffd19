//===- Transpose.cpp - Transposition of square blocks ---------------------===//

#include "Kernels/Memory/Transpose.h"

using namespace glowish;
using llvm::Value;

/// Step s swaps the blocks of s x s elements beside the diagonal of each square
/// of 2 s x 2 s.
Values glowish::transposeSquare(KernelBuilder &b, Values rows) {
  unsigned lanes = rows.size();
  for (unsigned step = 1; step < lanes; step *= 2)
    for (unsigned i = 0; i < lanes; ++i) {
      if (i & step)
        continue;
      llvm::SmallVector<int, 16> low, high;
      for (unsigned j = 0; j < lanes; ++j) {
        low.push_back(j & step ? lanes + j - step : j);
        high.push_back(j & step ? lanes + j : j + step);
      }
      Value *x = rows[i], *y = rows[i + step];
      rows[i] = b.CreateShuffleVector(x, y, low);
      rows[i + step] = b.CreateShuffleVector(x, y, high);
    }
  return rows;
}

namespace {

/// Elements are moved as integers of their size.
class TranspositionEmitter {
public:
  TranspositionEmitter(KernelBuilder &b, const LoopExtents &extents,
                       const StridedOperand &result,
                       const StridedOperand &input)
      : b(b), extents(extents), shape(extents.shape), result(result),
        input(input), bytes(unsigned(getElemSize(result.kind))),
        lanes(std::min(16u, b.getTarget().getLanes(bytes))) {}
  bool emit();

private:
  std::optional<unsigned> findNeighbours(const StridedOperand &operand) const;
  void emitSquare(llvm::ArrayRef<Value *> corner, unsigned rows,
                  unsigned columns);
  void emitStripe(Values corner, unsigned rows);

  KernelBuilder &b;
  const LoopExtents &extents;
  DimsRef shape;
  const StridedOperand &result, &input;
  unsigned bytes, lanes;
  /// The dimensions in which neighbours of the input and of the result lie side
  /// by side: rows and columns of the result.
  unsigned row = 0, column = 0;
};

} // namespace

std::optional<unsigned>
TranspositionEmitter::findNeighbours(const StridedOperand &operand) const {
  // Fewer would leave most of a square empty.
  constexpr int64_t fewest = 4;
  for (unsigned d = 0; d < shape.size(); ++d)
    if (operand.strides[d] == 1 && shape[d] >= fewest)
      return d;
  return std::nullopt;
}

/// The elements from \p corner on, \p rows by \p columns.
void TranspositionEmitter::emitSquare(llvm::ArrayRef<Value *> corner,
                                      unsigned rows, unsigned columns) {
  llvm::Type *element = b.getIntNTy(bytes * 8);
  llvm::Align align(bytes);
  Value *from = input.getAddress(b, corner);
  Values square;
  for (unsigned c = 0; c < columns; ++c)
    square.push_back(b.widen(
        b.CreateAlignedLoad(
            KernelBuilder::getVectorTy(element, rows),
            b.getElement(from, input.kind, c * input.strides[column]), align),
        lanes));
  square.resize(lanes, llvm::PoisonValue::get(
                           KernelBuilder::getVectorTy(element, lanes)));
  square = transposeSquare(b, std::move(square));
  Value *to = result.getAddress(b, corner);
  for (unsigned r = 0; r < rows; ++r)
    b.CreateAlignedStore(b.takeLanes(square[r], columns),
                         b.getElement(to, result.kind, r * result.strides[row]),
                         align);
}

/// \p rows rows of the result.
void TranspositionEmitter::emitStripe(Values corner, unsigned rows) {
  b.forVectors(
      shape[column], lanes,
      [&](Value *first, unsigned columns) {
        corner[column] = first;
        emitSquare(corner, rows, columns);
      },
      extents.needed[column]);
}

bool TranspositionEmitter::emit() {
  std::optional<unsigned> ofInput = findNeighbours(input);
  std::optional<unsigned> ofResult = findNeighbours(result);
  if (!ofInput || !ofResult || ofInput == ofResult || lanes < 4)
    return false;
  row = *ofInput;
  column = *ofResult;
  // Task: the index of the other dimensions, then the stripe.
  int64_t whole = shape[row] / lanes;
  unsigned left = unsigned(shape[row] % lanes);
  LoopExtents tasks = extents;
  tasks.shape[column] = 1;
  tasks.needed[column] = nullptr;
  tasks.shape[row] = whole + (left ? 1 : 0);
  if (Value *&needed = tasks.needed[row])
    needed = b.divideUp(needed, lanes);
  b.forTasks(tasks, 8 * countElements(shape), [&](Value *task) {
    Values corner = b.splitIndex(task, tasks.shape);
    Value *stripe = corner[row];
    corner[row] = b.scaleIndex(stripe, lanes);
    if (!left)
      return emitStripe(corner, lanes);
    if (!whole)
      return emitStripe(corner, left);
    b.ifThenElse(
        b.CreateICmpULT(stripe, b.index(whole)),
        [&] { emitStripe(corner, lanes); }, [&] { emitStripe(corner, left); });
  });
  return true;
}

bool glowish::emitTransposition(KernelBuilder &b, const LoopExtents &extents,
                                const StridedOperand &result,
                                const StridedOperand &input) {
  return TranspositionEmitter(b, extents, result, input).emit();
}
