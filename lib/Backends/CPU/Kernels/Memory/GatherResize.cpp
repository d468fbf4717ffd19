//===- GatherResize.cpp - Gather and resize -------------------------------===//

#include "Kernels/KernelOperands.h"
#include "Kernels/StridedOperand.h"
#include "glowish/Ops/ResizeSource.h"

using namespace glowish;
using llvm::Value;

/// Returns the address of element \p number of \p buffer, which \p operand is,
/// counted in its order.
static Value *getAddressOf(KernelBuilder &b, const Buffer &buffer,
                           const StridedOperand &operand, Value *number) {
  if (buffer.isDense())
    return b.getElement(operand.base, operand.kind, number);
  llvm::ArrayRef<int64_t> shape = buffer.getShape();
  Values index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = d ? b.CreateURem(number, b.index(shape[d])) : number;
    number = b.CreateUDiv(number, b.index(shape[d]));
  }
  return operand.getAddress(b, index);
}

void glowish::emitGather(KernelBuilder &b, const GatherInstr &instr,
                         const KernelOperands &operands) {
  Value *result = operands.getPointer(GatherInstr::resultIdx);
  Value *input = operands.getPointer(GatherInstr::inputIdx);
  StridedOperand indices = operands.getStrided(GatherInstr::indicesIdx);
  const Type &type = instr.getInput()->getType();
  int64_t length = type.getDim(instr.getAxis());
  int64_t bytes = getDenseStrides(type.getShape())[instr.getAxis()] *
                  getElemSize(type.getKind());
  int64_t count = instr.getIndices()->getType().getNumElements();
  if (instr.getResult()->getType().getNumElements() == 0)
    return;
  unsigned axis = unsigned(instr.getAxis());
  LoopExtents outer = operands.getExtents(GatherInstr::resultIdx, 0, axis);
  LoopExtents rows =
      operands.getExtents(GatherInstr::resultIdx, axis,
                          axis + instr.getIndices()->getType().getRank());
  b.forEach(outer, [&](Value *o) {
    b.forEach(rows, [&](Value *i) {
      Value *index = b.loadIndex(
          indices.kind, getAddressOf(b, *instr.getIndices(), indices, i));
      Value *fromEnd = b.CreateNSWAdd(index, b.index(length));
      index =
          b.CreateSelect(b.CreateICmpSLT(index, b.index(0)), fromEnd, index);
      // Indices out of range must not read outside of the operand.
      index = b.minIndex(b.maxIndex(index, b.index(0)), b.index(length - 1));
      Value *from = b.scaleIndex(b.addScaled(index, o, length), bytes);
      Value *to = b.scaleIndex(b.addScaled(i, o, count), bytes);
      b.CreateMemCpy(b.CreateInBoundsGEP(b.getInt8Ty(), result, to),
                     llvm::Align(getElemSize(type.getKind())),
                     b.CreateInBoundsGEP(b.getInt8Ty(), input, from),
                     llvm::Align(getElemSize(type.getKind())),
                     b.getInt64(bytes));
    });
  });
}

namespace {

/// Where the pixels of one dimension of the result come from.
struct SourceTable {
  std::vector<int32_t> low, high;
  std::vector<double> weight; // of high
};

} // namespace

static SourceTable makeTable(const ResizeInstr &instr, unsigned d,
                             double scale) {
  ResizeDim dim = {.mode = instr.getMode(),
                   .coordinates = instr.getCoordinates(),
                   .nearestMode = instr.getNearestMode(),
                   .from = instr.getInput()->getShape()[d],
                   .to = instr.getResult()->getShape()[d],
                   .scale = scale};
  SourceTable table;
  for (int64_t i = 0; i < dim.to; ++i) {
    ResizeSource source = getResizeSource(dim, i);
    table.low.push_back(int32_t(source.low));
    table.high.push_back(int32_t(source.high));
    table.weight.push_back(source.weight);
  }
  return table;
}

static Value *lookUpWeight(KernelBuilder &b, ElemKind kind,
                           const SourceTable &table, Value *index) {
  if (kind == ElemKind::Double)
    return b.lookUp<double>(table.weight, index);
  std::vector<float> rounded(table.weight.begin(), table.weight.end());
  return b.lookUp<float>(rounded, index);
}

void glowish::emitResize(KernelBuilder &b, const ResizeInstr &instr,
                         const KernelOperands &operands) {
  StridedOperand result = operands.getStrided(ResizeInstr::resultIdx);
  Value *input = operands.getPointer(ResizeInstr::inputIdx);
  DimsRef in = instr.getInput()->getShape();
  DimsRef out = instr.getResult()->getShape();
  ElemKind kind = result.kind;
  if (instr.getResult()->getType().getNumElements() == 0)
    return;
  SourceTable rows = makeTable(instr, 1, instr.getScaleH());
  SourceTable columns = makeTable(instr, 2, instr.getScaleW());
  bool isLinear = instr.getMode() == "linear";
  Dims strides = getDenseStrides(in);
  int64_t work = 8 * instr.getResult()->getType().getNumElements();
  Value *neededColumns = operands.getBound(ResizeInstr::resultIdx, 2);
  b.forTasks(
      operands.getExtents(ResizeInstr::resultIdx, 0, 2), work,
      [&](Value *task) {
        Value *n = b.CreateUDiv(task, b.index(out[1]));
        Value *y = b.CreateURem(task, b.index(out[1]));
        Value *image = b.scaleIndex(n, strides[0]);
        Value *top =
            b.addScaled(image, b.lookUp<int32_t>(rows.low, y), strides[1]);
        Value *bottom =
            isLinear ? b.addScaled(image, b.lookUp<int32_t>(rows.high, y),
                                   strides[1])
                     : nullptr;
        Value *v = isLinear ? lookUpWeight(b, kind, rows, y) : nullptr;
        b.forLoop(neededColumns ? neededColumns : b.index(out[2]), [&](Value
                                                                           *x) {
          Value *left = b.lookUp<int32_t>(columns.low, x);
          Value *right =
              isLinear ? b.lookUp<int32_t>(columns.high, x) : nullptr;
          Value *h = isLinear ? lookUpWeight(b, kind, columns, x) : nullptr;
          b.forVectors(
              in[3], b.getRegisterLanes(kind), [&](Value *c, unsigned lanes) {
                auto at = [&](Value *row, Value *column) {
                  Value *offset =
                      b.CreateNSWAdd(b.addScaled(row, column, strides[2]), c);
                  return b.loadElement(kind, input, offset, lanes);
                };
                auto mix = [&](Value *low, Value *high, Value *weight) {
                  weight = b.splat(b.CreateFPCast(weight, b.getComputeTy(kind)),
                                   lanes);
                  return b.multiplyAdd(b.CreateFSub(high, low), weight, low);
                };
                Value *pixel = at(top, left);
                if (isLinear)
                  pixel = mix(mix(pixel, at(top, right), h),
                              mix(at(bottom, left), at(bottom, right), h), v);
                b.storeStrided(kind, pixel, result.getAddress(b, {n, y, x, c}),
                               result.getInnerStride());
              });
        });
      });
}
