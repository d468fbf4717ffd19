//===- NonMaxSuppression.cpp - Non-maximum suppression --------------------===//

#include "Kernels/KernelOperands.h"
#include "Kernels/Math/EmittedScalar.h"
#include "glowish/Ops/Boxes.h"

using namespace glowish;
using llvm::Value;

namespace {

/// The boxes of one batch.
struct BoxRow {
  KernelBuilder &b;
  Value *first;

  Box<EmittedScalar> get(Value *index) const {
    Value *address = b.getElement(first, ElemKind::Float, index, 4);
    auto load = [&](int64_t i) {
      Value *element = b.getElement(address, ElemKind::Float, i);
      return EmittedScalar{&b, b.load(ElemKind::Float, element, 1),
                           ElemKind::Float};
    };
    return {load(0), load(1), load(2), load(3)};
  }
};

} // namespace

void glowish::emitNonMaxSuppression(KernelBuilder &b,
                                    const NonMaxSuppressionInstr &instr,
                                    const KernelOperands &operands) {
  // Fused multiplications would decide otherwise at the threshold.
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  DimsRef shape = instr.getCandidates()->getShape();
  int64_t numBoxes = instr.getBoxes()->getType().getDim(1);
  int64_t classes = shape[1], length = shape[2], count = instr.getCount();
  int64_t rows = shape[0] * classes;
  if (count == 0)
    return;
  Value *threshold =
      b.load(ElemKind::Float,
             operands.getPointer(NonMaxSuppressionInstr::thresholdIdx), 1);
  auto getInt = [&](Value *base, Value *index) {
    return b.getElement(base, ElemKind::Int64, index);
  };
  auto selectBoxes = [&](Value *row) {
    Value *batch = b.CreateUDiv(row, b.index(classes));
    BoxRow boxes{
        b, b.getElement(operands.getPointer(NonMaxSuppressionInstr::boxesIdx),
                        ElemKind::Float, batch, 4 * numBoxes)};
    Value *out = getInt(operands.getPointer(NonMaxSuppressionInstr::resultIdx),
                        b.scaleIndex(row, count));
    Value *in =
        getInt(operands.getPointer(NonMaxSuppressionInstr::candidatesIdx),
               b.scaleIndex(row, length));
    Value *none = b.getInt64(-1);
    b.forLoop(count, [&](Value *k) {
      b.store(ElemKind::Int64, none, getInt(out, k));
    });
    auto visit = [&](Value *i, llvm::ArrayRef<Value *> carried) -> Values {
      Value *number = b.load(ElemKind::Int64, getInt(in, i), 1);
      // As unsigned, negative numbers are out of range too.
      Value *isBox =
          b.CreateAnd(b.CreateICmpULT(number, b.getInt64(uint64_t(numBoxes))),
                      b.CreateICmpSLT(carried[0], b.index(count)));
      Value *inside = b.CreateSExtOrTrunc(
          b.CreateSelect(isBox, number, b.getInt64(0)), b.getIndexTy());
      Value *end = b.CreateSelect(isBox, carried[0], b.index(0));
      Box<EmittedScalar> box = boxes.get(inside);
      Values free = b.forLoop(
          end, {isBox},
          [&](Value *k, llvm::ArrayRef<Value *> isFree) -> Values {
            Value *other = b.CreateSExtOrTrunc(
                b.load(ElemKind::Int64, getInt(out, k), 1), b.getIndexTy());
            Value *overlaps = b.CreateFCmpOGT(
                getOverlap(box, boxes.get(other)).value, threshold);
            return {b.CreateAnd(isFree[0], b.CreateNot(overlaps))};
          });
      b.ifThen(free[0], [&] {
        b.store(ElemKind::Int64, number, getInt(out, carried[0]));
      });
      return {b.CreateAdd(carried[0], b.CreateZExt(free[0], b.getIndexTy()))};
    };
    // Without boxes there is no element to load.
    if (numBoxes)
      b.forLoop(length, {b.index(0)}, visit);
  };
  operands.forRows(b, NonMaxSuppressionInstr::resultIdx, rows * length * 8,
                   selectBoxes);
}
