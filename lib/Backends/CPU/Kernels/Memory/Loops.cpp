//===- Loops.cpp - Element-wise loops, copies and fills -------------------===//

#include "Kernels/Memory/Loops.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/Math/EmittedScalar.h"
#include "Kernels/Memory/Transpose.h"

using namespace glowish;
using llvm::Value;

/// Loops over all dimensions of \p shape but the last, and vectors over that.
static void forEachVector(
    KernelBuilder &b, DimsRef shape, unsigned lanes,
    llvm::function_ref<void(llvm::ArrayRef<Value *>, unsigned)> body) {
  if (shape.size() == 1)
    return b.forElementTasks(shape[0], [&](Value *first, int64_t count) {
      b.forVectors(count, lanes, [&](Value *i, unsigned active) {
        body({b.CreateNSWAdd(first, i)}, active);
      });
    });
  Values index;
  std::function<void(size_t)> nest = [&](size_t d) {
    if (d + 1 == shape.size()) {
      b.forVectors(shape[d], lanes, [&](Value *i, unsigned active) {
        index.push_back(i);
        body(index, active);
        index.pop_back();
      });
      return;
    }
    b.forLoop(shape[d], [&](Value *i) {
      index.push_back(i);
      nest(d + 1);
      index.pop_back();
    });
  };
  int64_t elements = 1;
  for (int64_t dim : shape)
    elements *= dim;
  // The outer two dimensions give tasks enough.
  int64_t second = shape.size() > 2 ? shape[1] : 1;
  b.forTasks(shape[0] * second, 8 * elements, [&](Value *task) {
    index = {task};
    if (shape.size() > 2)
      index = {b.CreateUDiv(task, b.index(second)),
               b.CreateURem(task, b.index(second))};
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

void glowish::emitLoop(KernelBuilder &b, DimsRef shape, StridedOperand result,
                       std::vector<StridedOperand> inputs,
                       const ScalarProgram &program) {
  for (int64_t dim : shape)
    if (dim == 0)
      return;
  std::vector<StridedOperand *> operands = {&result};
  for (StridedOperand &input : inputs)
    operands.push_back(&input);
  Dims joined = joinDimensions(sortDimensions(shape, operands), operands);
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
  if (isInterleaved(joined, lanes, result, inputs))
    return forEachVector(b, DimsRef(joined).drop_back(), lanes,
                         [&](llvm::ArrayRef<Value *> index, unsigned active) {
                           Values vectors, first(index), each(index);
                           first.push_back(b.index(0));
                           for (int64_t i = 0; i < joined[last]; ++i) {
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

void glowish::emitFill(KernelBuilder &b, DimsRef shape, StridedOperand result,
                       double value) {
  for (int64_t dim : shape)
    if (dim == 0)
      return;
  Dims joined = joinDimensions(shape, {&result});
  forEachVector(b, joined, b.getRegisterLanes(result.kind),
                [&](llvm::ArrayRef<Value *> index, unsigned active) {
                  b.storeStrided(
                      result.kind, b.literal(result.kind, value, active),
                      result.getAddress(b, index), result.getInnerStride());
                });
}

//===- Instructions -------------------------------------------------------===//

void glowish::emitCopy(KernelBuilder &b, const CopyInstr &instr,
                       const KernelOperands &operands) {
  emitLoop(b, instr.getResult()->getShape(),
           operands.getStrided(CopyInstr::resultIdx),
           {operands.getStrided(CopyInstr::inputIdx)}, ScalarProgram());
}

void glowish::emitFill(KernelBuilder &b, const FillInstr &instr,
                       const KernelOperands &operands) {
  emitFill(b, instr.getResult()->getShape(),
           operands.getStrided(FillInstr::resultIdx), instr.getValue());
}

void glowish::emitElementWiseLoop(KernelBuilder &b,
                                  const ElementWiseLoopInstr &instr,
                                  const KernelOperands &operands) {
  emitLoop(b, instr.getResult()->getShape(),
           operands.getStrided(ElementWiseLoopInstr::resultIdx),
           operands.getStridedFrom(ElementWiseLoopInstr::inputsIdx),
           instr.getProgram());
}

void glowish::emitBitCast(KernelBuilder &b, const BitCastInstr &instr,
                          const KernelOperands &operands) {
  b.CreateMemCpy(operands.getPointer(BitCastInstr::resultIdx), llvm::Align(1),
                 operands.getPointer(BitCastInstr::inputIdx), llvm::Align(1),
                 instr.getInput()->getType().getSizeInBytes());
}
