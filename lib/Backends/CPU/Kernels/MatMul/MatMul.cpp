//===- MatMul.cpp - Matmuls of unpacked operands --------------------------===//

#include "Kernels/MatMul/MatMul.h"
#include "Kernels/Convolution/Convolution.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/Memory/Loops.h"

using namespace glowish;
using llvm::Value;

static int64_t countMatrices(DimsRef shape) {
  return countElements(shape.drop_back(2));
}

bool glowish::packsOperand(const MatMulInstr &instr, unsigned index,
                           const TargetDescription &target) {
  const Type &type = instr.getOperand(index)->getType();
  DimsRef shape = type.getShape(), result = instr.getResult()->getShape();
  int64_t matrices = countMatrices(shape);
  // One that several matmuls share is better packed once.
  if (matrices <= 1 || matrices != countMatrices(result))
    return false;
  // Packing pays only if enough rows of the other side reuse it.
  constexpr int64_t fewest = 8;
  int64_t uses =
      index == MatMulInstr::lhsIdx ? result.back() : result[result.size() - 2];
  int64_t bytes = int64_t(type.getSizeInBytes()) / matrices;
  return uses >= fewest && bytes <= target.maxStackBytes / 8;
}

bool glowish::hasBoundedDepth(const MatMulInstr &instr) {
  unsigned depth = instr.getLhs()->getType().getRank() - 1;
  return llvm::any_of(instr.getLoopBounds(), [&](const LoopBound &bound) {
    return bound.operand == MatMulInstr::lhsIdx && bound.dim == depth;
  });
}

namespace {

class MatMulEmitter {
public:
  MatMulEmitter(KernelBuilder &b, const MatMulInstr &instr,
                const KernelOperands &operands)
      : b(b), instr(instr), result(operands.getStrided(MatMulInstr::resultIdx)),
        lhs(operands.getStrided(MatMulInstr::lhsIdx)),
        rhs(operands.getStrided(MatMulInstr::rhsIdx)),
        fused(operands.getStridedFrom(MatMulInstr::fusedIdx)),
        predicate(operands.getRowPredicate()) {
    unsigned rank = instr.getResult()->getType().getRank();
    matrices = operands.getExtents(MatMulInstr::resultIdx, 0, rank - 2);
    neededRows = operands.getBound(MatMulInstr::resultIdx, rank - 2);
    neededColumns = operands.getBound(MatMulInstr::resultIdx, rank - 1);
    neededDepth = operands.getBound(MatMulInstr::lhsIdx,
                                    instr.getLhs()->getType().getRank() - 1);
  }
  void emit();

private:
  using Batch = llvm::ArrayRef<Value *>;
  static StridedOperand getMatrix(KernelBuilder &b, StridedOperand operand,
                                  DimsRef shape, Batch batch);
  Value *allocate(const StridedOperand &operand, unsigned index);
  void pack(StridedOperand &matrix, Value *place, DimsRef shape, Value *needed);
  void packColumns(StridedOperand &matrix, Value *place, DimsRef shape,
                   int64_t together);
  void multiply(Batch batch);

  KernelBuilder &b;
  const MatMulInstr &instr;
  StridedOperand result, lhs, rhs;
  std::vector<StridedOperand> fused;
  /// The leading dimensions of the result.
  LoopExtents matrices;
  /// The rows and columns of each matrix of the result, and the summed
  /// elements, that are needed; null for all.
  Value *neededRows, *neededColumns, *neededDepth;
  /// The predicate of the rows of the only matrix, or of matrices.
  RowPredicate predicate;
  /// Where a matrix is packed, or null.
  Value *lhsPlace = nullptr, *rhsPlace = nullptr;
};

} // namespace

/// The matrix of \p batch of an operand of \p shape, as an image of one row.
StridedOperand MatMulEmitter::getMatrix(KernelBuilder &b,
                                        StridedOperand operand, DimsRef shape,
                                        Batch batch) {
  unsigned own = shape.size() - 2;
  for (unsigned d = 0; d < own; ++d)
    if (shape[d] == 1)
      operand.strides[d] = 0;
  Dims strides = operand.strides;
  operand.base = operand.getAddress(b, batch.take_back(own));
  operand.strides = {0, 0, strides[own], strides[own + 1]};
  return operand;
}

Value *MatMulEmitter::allocate(const StridedOperand &operand, unsigned index) {
  if (operand.getInnerStride() == 1)
    return nullptr;
  assert(packsOperand(instr, index, b.getTarget()) && "not made dense");
  DimsRef shape = instr.getOperand(index)->getShape();
  return b.allocate(operand.kind, shape.back() * shape[shape.size() - 2]);
}

/// Copies \p needed rows of \p matrix, or all, to \p place, if there is one.
void MatMulEmitter::pack(StridedOperand &matrix, Value *place, DimsRef shape,
                         Value *needed) {
  if (!place)
    return;
  StridedOperand packed = matrix;
  packed.base = place;
  packed.strides = {0, 0, shape.back(), 1};
  LoopExtents extents({1, 1, shape[shape.size() - 2], shape.back()});
  extents.needed[2] = needed;
  emitLoop(b, extents, packed, {matrix}, ScalarProgram());
  matrix = packed;
}

/// Copies the columns of \p matrix that are needed, \p together at a time, to
/// \p place, if there is one.
void MatMulEmitter::packColumns(StridedOperand &matrix, Value *place,
                                DimsRef shape, int64_t together) {
  if (!place)
    return;
  StridedOperand packed = matrix;
  packed.base = place;
  packed.strides = {0, 0, shape.back(), 1};
  auto copy = [&](Value *column, int64_t count) {
    StridedOperand from = matrix, to = packed;
    for (StridedOperand *operand : {&from, &to})
      operand->base = b.getElement(operand->base, operand->kind, column,
                                   operand->getInnerStride());
    LoopExtents extents({1, 1, shape[shape.size() - 2], count});
    extents.needed[2] = neededDepth;
    emitLoop(b, extents, to, {from}, ScalarProgram());
  };
  int64_t whole = shape.back() / together * together;
  b.forLoop(b.index(0), b.minIndex(neededColumns, b.index(whole)), together,
            [&](Value *column) { copy(column, together); });
  if (whole != shape.back())
    b.ifThen(b.CreateICmpSGT(neededColumns, b.index(whole)),
             [&] { copy(b.index(whole), shape.back() - whole); });
  matrix = packed;
}

void MatMulEmitter::multiply(Batch batch) {
  DimsRef out = instr.getResult()->getShape();
  DimsRef lhsShape = instr.getLhs()->getShape();
  DimsRef rhsShape = instr.getRhs()->getShape();
  int64_t rows = out[out.size() - 2], columns = out.back();
  ConvolutionShape shape =
      ConvolutionShape::forMatMul(rows, lhsShape.back(), columns);
  Tile tile = chooseTile(shape, lhs.kind, b.getTarget());
  StridedOperand left = getMatrix(b, lhs, lhsShape, batch);
  StridedOperand right = getMatrix(b, rhs, rhsShape, batch);
  pack(left, lhsPlace, lhsShape, neededRows);
  if (neededColumns)
    packColumns(right, rhsPlace, rhsShape,
                tile.vectors * b.getRegisterLanes(lhs.kind));
  else
    pack(right, rhsPlace, rhsShape, neededDepth);
  WeightLayout layout =
      getPlainLayout(shape, tile.vectors * b.getRegisterLanes(lhs.kind));
  layout.rowStride = right.strides[2];
  EpilogueCode epilogue{lhs.kind, &instr.getEpilogue(), {}};
  for (const StridedOperand &operand : fused)
    epilogue.fused.push_back(getMatrix(b, operand, out, batch));
  emitConvolution(
      b, shape, tile, layout,
      {.result = getMatrix(b, result, out, batch),
       .input = left,
       .weights = right.base,
       .weightKind = right.kind,
       .epilogue = std::move(epilogue),
       .neededColumns = neededRows,
       .neededChannels = neededColumns,
       .neededDepth = neededDepth,
       .predicate = countMatrices(out) == 1 ? predicate : RowPredicate()});
}

void MatMulEmitter::emit() {
  DimsRef out = instr.getResult()->getShape();
  int64_t numMatMuls = countMatrices(out);
  // A single matmul is cut into tasks itself.
  if (numMatMuls == 1) {
    Values first(out.size() - 2, b.index(0));
    return multiply(first);
  }
  lhsPlace = allocate(lhs, MatMulInstr::lhsIdx);
  rhsPlace = allocate(rhs, MatMulInstr::rhsIdx);
  int64_t operations = 2 * instr.getResult()->getType().getNumElements() *
                       instr.getLhs()->getShape().back();
  b.forTasks(matrices, operations, [&](Value *number) {
    auto multiplyOne = [&] { multiply(b.splitIndex(number, matrices.shape)); };
    // A predicate of fewer rows has one for several matrices.
    if (!predicate || numMatMuls % predicate.count)
      return multiplyOne();
    Value *row = b.CreateUDiv(number, b.index(numMatMuls / predicate.count));
    b.ifThen(predicate.isNeeded(b, row), multiplyOne);
  });
}

void glowish::emitMatMul(KernelBuilder &b, const MatMulInstr &instr,
                         const KernelOperands &operands) {
  MatMulEmitter(b, instr, operands).emit();
}
