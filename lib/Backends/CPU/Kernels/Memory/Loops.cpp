//===- Loops.cpp - Element-wise loops, copies and fills -------------------===//

#include "Kernels/Memory/Loops.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/Math/EmittedScalar.h"
#include "Kernels/Memory/Transpose.h"
#include "glowish/Ops/Predicate.h"

using namespace glowish;
using llvm::Value;

/// Loops over all dimensions of \p extents but the last, and vectors over that.
static void forEachVector(
    KernelBuilder &b, const LoopExtents &extents, unsigned lanes,
    llvm::function_ref<void(llvm::ArrayRef<Value *>, unsigned)> body) {
  size_t last = extents.size() - 1;
  if (last == 0)
    return b.forElementTasks(
        extents.shape[0],
        [&](Value *first, int64_t count) {
          Value *needed = extents.needed[0];
          b.forVectors(
              count, lanes,
              [&](Value *i, unsigned active) {
                body({b.CreateNSWAdd(first, i)}, active);
              },
              needed ? b.CreateNSWSub(needed, first) : nullptr);
        },
        extents.needed[0]);
  Values index;
  std::function<void(size_t)> nest = [&](size_t d) {
    auto emitAt = [&](Value *i, auto emitInside) {
      index.push_back(i);
      emitInside();
      index.pop_back();
    };
    Value *needed = extents.needed[d];
    if (d == last)
      return b.forVectors(
          extents.shape[d], lanes,
          [&](Value *i, unsigned active) {
            emitAt(i, [&] { body(index, active); });
          },
          needed);
    b.forLoop(needed ? needed : b.index(extents.shape[d]),
              [&](Value *i) { emitAt(i, [&] { nest(d + 1); }); });
  };
  // The outer two dimensions give tasks enough.
  LoopExtents tasks = extents.slice(0, std::min<size_t>(last, 2));
  b.forTasks(tasks, 8 * countElements(extents.shape), [&](Value *task) {
    index = {task};
    if (tasks.size() > 1)
      index = {b.CreateUDiv(task, b.index(tasks.shape[1])),
               b.CreateURem(task, b.index(tasks.shape[1]))};
    nest(index.size());
    index.clear();
  });
}

/// The elements that are computed together: what fills a register in the widest
/// kind that is computed with.
static unsigned chooseLanes(KernelBuilder &b, const StridedOperand &result,
                            llvm::ArrayRef<StridedOperand> inputs,
                            const ScalarProgram &program) {
  unsigned lanes = b.getRegisterLanes(result.kind);
  bool areBytes = b.getComputeTy(result.kind)->isIntegerTy(8);
  for (const StridedOperand &input : inputs) {
    lanes = std::min(lanes, b.getRegisterLanes(input.kind));
    areBytes &= b.getComputeTy(input.kind)->isIntegerTy(8);
  }
  for (const ScalarStep &step : program.steps)
    areBytes &= b.getComputeTy(step.kind)->isIntegerTy(8);
  return areBytes && !program.empty() ? b.getTarget().getLanes(1) : lanes;
}

/// Whether a loop is best computed for vectors of the dimension in front of the
/// last, such as pixels of few channels: the last one would leave most of a
/// register empty. The inputs' elements lie side by side there, or are one.
static bool isInterleaved(DimsRef shape, unsigned lanes,
                          const StridedOperand &result,
                          llvm::ArrayRef<StridedOperand> inputs) {
  constexpr int64_t most = 4;
  size_t last = shape.size() - 1;
  if (last == 0 || shape[last] > std::min<int64_t>(most, lanes / 2) ||
      shape[last - 1] < lanes || result.strides[last] != 1 ||
      result.strides[last - 1] != shape[last])
    return false;
  return llvm::all_of(inputs, [&](const StridedOperand &input) {
    return input.strides[last - 1] == 0 || input.strides[last - 1] == 1;
  });
}

/// Emits the loop for each row of \p predicate that is needed.
static void emitRowLoops(KernelBuilder &b, const LoopExtents &extents,
                         const StridedOperand &result,
                         llvm::ArrayRef<StridedOperand> inputs,
                         const ScalarProgram &program,
                         const RowPredicate &predicate) {
  size_t numOuter = countRowDims(extents.shape, predicate.count).value_or(0);
  LoopExtents outer = extents.slice(0, numOuter);
  auto getRow = [&](const StridedOperand &operand, Values index) {
    StridedOperand row = operand;
    row.base = operand.getAddress(b, index);
    row.strides.erase(row.strides.begin(), row.strides.begin() + numOuter);
    return row;
  };
  auto emitRow = [&](Value *row) {
    Values index = b.splitIndex(row, outer.shape);
    std::vector<StridedOperand> rows;
    for (const StridedOperand &input : inputs)
      rows.push_back(getRow(input, index));
    emitLoop(b, extents.slice(numOuter, extents.size()), getRow(result, index),
             rows, program);
  };
  b.forTasks(outer, 8 * countElements(extents.shape), [&](Value *row) {
    b.ifThen(predicate.isNeeded(b, row), [&] { emitRow(row); });
  });
}

/// Returns whether rows take longer to compute than to ask for.
static bool hasLongRows(KernelBuilder &b, DimsRef shape,
                        const StridedOperand &result,
                        const RowPredicate &predicate) {
  return predicate && countElements(shape) / predicate.count >=
                          2 * int64_t(b.getRegisterLanes(result.kind));
}

void glowish::emitLoop(KernelBuilder &b, const LoopExtents &extents,
                       StridedOperand result,
                       std::vector<StridedOperand> inputs,
                       const ScalarProgram &program,
                       const RowPredicate &predicate) {
  if (countElements(extents.shape) == 0)
    return;
  if (hasLongRows(b, extents.shape, result, predicate))
    return emitRowLoops(b, extents, result, inputs, program, predicate);
  std::vector<StridedOperand *> operands = {&result};
  for (StridedOperand &input : inputs)
    operands.push_back(&input);
  LoopExtents joined =
      joinDimensions(b, sortDimensions(extents, operands), operands);
  bool isCopy = program.steps.empty();
  if (isCopy && isLowPrecisionKind(result.kind))
    // Bits are moved: a NaN has several patterns.
    for (StridedOperand *operand : operands)
      operand->kind = ElemKind::UInt8;
  if (isCopy && emitTransposition(b, joined, result, inputs[0]))
    return;
  unsigned lanes = chooseLanes(b, result, inputs, program);
  llvm::SmallVector<ElemKind, 4> kinds;
  for (const StridedOperand &input : inputs)
    kinds.push_back(input.kind);
  auto compute = [&](llvm::ArrayRef<Value *> index, unsigned active,
                     size_t along) {
    Values values;
    for (const StridedOperand &input : inputs)
      values.push_back(b.loadStrided(input.kind, input.getAddress(b, index),
                                     active, input.strides[along]));
    return emitProgram(b, program, values, kinds);
  };
  size_t last = joined.size() - 1;
  if (!joined.needed[last] &&
      isInterleaved(joined.shape, lanes, result, inputs))
    return forEachVector(b, joined.slice(0, last), lanes,
                         [&](llvm::ArrayRef<Value *> index, unsigned active) {
                           Values vectors, first(index), each(index);
                           first.push_back(b.index(0));
                           for (int64_t i = 0; i < joined.shape[last]; ++i) {
                             each.resize(last);
                             each.push_back(b.index(i));
                             vectors.push_back(compute(each, active, last - 1));
                           }
                           b.storeInterleaved(result.kind, vectors,
                                              result.getAddress(b, first));
                         });
  forEachVector(
      b, joined, lanes, [&](llvm::ArrayRef<Value *> index, unsigned active) {
        b.storeStrided(result.kind, compute(index, active, last),
                       result.getAddress(b, index), result.getInnerStride());
      });
}

void glowish::emitFill(KernelBuilder &b, const LoopExtents &extents,
                       StridedOperand result, double value) {
  if (countElements(extents.shape) == 0)
    return;
  forEachVector(
      b, joinDimensions(b, extents, {&result}), b.getRegisterLanes(result.kind),
      [&](llvm::ArrayRef<Value *> index, unsigned active) {
        b.storeStrided(result.kind, b.literal(result.kind, value, active),
                       result.getAddress(b, index), result.getInnerStride());
      });
}

//===- Instructions -------------------------------------------------------===//

void glowish::emitCopy(KernelBuilder &b, const CopyInstr &instr,
                       const KernelOperands &operands) {
  emitLoop(b, operands.getExtents(CopyInstr::resultIdx),
           operands.getStrided(CopyInstr::resultIdx),
           {operands.getStrided(CopyInstr::inputIdx)}, ScalarProgram(),
           operands.getRowPredicate());
}

void glowish::emitInsertSlice(KernelBuilder &b, const InsertSliceInstr &instr,
                              const KernelOperands &operands) {
  StridedOperand result = operands.getStrided(InsertSliceInstr::bufferIdx);
  const Type &update = instr.getUpdate()->getType();
  int64_t axis = instr.getAxis();
  int64_t lastStart = instr.getBuffer()->getShape()[axis] - update.getDim(axis);
  Value *start = b.loadIndex(instr.getStart()->getType().getKind(),
                             operands.getPointer(InsertSliceInstr::startIdx));
  start = b.minIndex(b.maxIndex(start, b.index(0)), b.index(lastStart));
  result.base =
      b.getElement(result.base, result.kind, start, result.strides[axis]);
  emitLoop(b, operands.getExtents(InsertSliceInstr::updateIdx), result,
           {operands.getStrided(InsertSliceInstr::updateIdx)}, ScalarProgram());
}

void glowish::emitFill(KernelBuilder &b, const FillInstr &instr,
                       const KernelOperands &operands) {
  emitFill(b, operands.getExtents(FillInstr::resultIdx),
           operands.getStrided(FillInstr::resultIdx), instr.getValue());
}

void glowish::emitElementWiseLoop(KernelBuilder &b,
                                  const ElementWiseLoopInstr &instr,
                                  const KernelOperands &operands) {
  emitLoop(b, operands.getExtents(ElementWiseLoopInstr::resultIdx),
           operands.getStrided(ElementWiseLoopInstr::resultIdx),
           operands.getStridedFrom(ElementWiseLoopInstr::inputsIdx),
           instr.getProgram(), operands.getRowPredicate());
}

void glowish::emitBitCast(KernelBuilder &b, const BitCastInstr &instr,
                          const KernelOperands &operands) {
  const Type &type = instr.getResult()->getType();
  Value *needed =
      operands.getBound(b, BitCastInstr::resultIdx, 0, type.getRank());
  Value *bytes =
      needed ? b.scaleIndex(needed, int64_t(getElemSize(type.getKind())))
             : b.getInt64(type.getSizeInBytes());
  b.CreateMemCpy(operands.getPointer(BitCastInstr::resultIdx), llvm::Align(1),
                 operands.getPointer(BitCastInstr::inputIdx), llvm::Align(1),
                 bytes);
}
