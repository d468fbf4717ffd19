//===- Scatter.cpp - Scatters ---------------------------------------------===//

#include "Kernels/KernelOperands.h"
#include "Kernels/Math/EmittedScalar.h"

using namespace glowish;
using llvm::Value;

static Value *combine(llvm::StringRef mode, EmittedScalar element,
                      EmittedScalar value) {
  if (mode == "add")
    return (element + value).value;
  if (mode == "mul")
    return (element * value).value;
  if (mode == "max")
    return max(element, value).value;
  if (mode == "min")
    return min(element, value).value;
  return value.value;
}

void glowish::emitScatter(KernelBuilder &b, const ScatterInstr &instr,
                          const KernelOperands &operands) {
  const Type &type = instr.getInput()->getType();
  // Kinds of low precision are moved, not combined.
  ElemKind kind =
      isLowPrecisionKind(type.getKind()) ? ElemKind::UInt8 : type.getKind();
  ElemKind indexKind = instr.getIndices()->getType().getKind();
  int64_t rows = type.getDim(0), columns = type.getDim(1);
  llvm::Align align(getElemSize(kind));
  Value *result = operands.getPointer(ScatterInstr::resultIdx);
  Value *indices = operands.getPointer(ScatterInstr::indicesIdx);
  Value *updates = operands.getPointer(ScatterInstr::updatesIdx);
  Value *neededRows = operands.getBound(ScatterInstr::resultIdx, 0);
  Value *bytes = b.getInt64(type.getSizeInBytes());
  if (neededRows)
    bytes = b.scaleIndex(neededRows, columns * int64_t(getElemSize(kind)));
  b.CreateMemCpy(result, align, operands.getPointer(ScatterInstr::inputIdx),
                 align, bytes);
  if (type.getNumElements() == 0)
    return;
  auto combineRow = [&](Value *row, Value *i) {
    b.forVectors(
        columns, b.getRegisterLanes(kind), [&](Value *column, unsigned lanes) {
          Value *target =
              b.getElement(result, kind, b.addScaled(column, row, columns));
          Value *source =
              b.getElement(updates, kind, b.addScaled(column, i, columns));
          EmittedScalar element{&b, b.load(kind, target, lanes), kind};
          EmittedScalar value{&b, b.load(kind, source, lanes), kind};
          b.store(kind, combine(instr.getMode(), element, value), target);
        });
  };
  b.forLoop(instr.getIndices()->getType().getDim(0), [&](Value *i) {
    Value *address = b.getElement(indices, indexKind, i);
    Value *row = b.loadIndex(indexKind, address);
    row = b.CreateSelect(b.CreateICmpSLT(row, b.index(0)),
                         b.CreateAdd(row, b.index(rows)), row);
    // As unsigned, negative numbers are out of range too.
    b.ifThen(b.CreateICmpULT(row, neededRows ? neededRows : b.index(rows)),
             [&] { combineRow(row, i); });
  });
}
