//===- Loops.cpp - Element-wise loops, copies and fills -------------------===//

#include "Kernels/Memory/Loops.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/Math/EmittedScalar.h"
#include "Kernels/Memory/Transpose.h"
#include "glowish/Ops/Predicate.h"

using namespace glowish;
using llvm::Value;

/// Loops over all dimensions of \p shape but the last, and vectors over that.
static void forEachVector(
    KernelBuilder &b, DimsRef shape, unsigned lanes, NeededIndices needed,
    llvm::function_ref<void(llvm::ArrayRef<Value *>, unsigned)> body) {
  auto getNeeded = [&](size_t d) {
    if (needed.count && needed.dim == d)
      return needed.count;
    return d + 1 == shape.size() ? needed.ofLast : nullptr;
  };
  if (shape.size() == 1)
    return b.forElementTasks(
        shape[0],
        [&](Value *first, int64_t count) {
          b.forVectors(count, lanes, [&](Value *i, unsigned active) {
            body({b.CreateNSWAdd(first, i)}, active);
          });
        },
        getNeeded(0));
  Values index;
  std::function<void(size_t)> nest = [&](size_t d) {
    if (d + 1 == shape.size()) {
      b.forVectors(
          shape[d], lanes,
          [&](Value *i, unsigned active) {
            index.push_back(i);
            body(index, active);
            index.pop_back();
          },
          getNeeded(d));
      return;
    }
    Value *end = getNeeded(d) ? getNeeded(d) : b.index(shape[d]);
    b.forLoop(end, [&](Value *i) {
      index.push_back(i);
      nest(d + 1);
      index.pop_back();
    });
  };
  int64_t elements = countElements(shape);
  // The outer two dimensions give tasks enough.
  int64_t second = shape.size() > 2 && !getNeeded(1) ? shape[1] : 1;
  Value *tasks = getNeeded(0);
  if (tasks)
    tasks = b.scaleIndex(tasks, second);
  b.forTasks(
      shape[0] * second, 8 * elements,
      [&](Value *task) {
        index = {task};
        if (second > 1)
          index = {b.CreateUDiv(task, b.index(second)),
                   b.CreateURem(task, b.index(second))};
        nest(index.size());
        index.clear();
      },
      tasks);
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

/// Sorts and joins the dimensions of \p shape. Dimension \p needed.dim is not
/// joined with those around it, but with those inside, unless the last one has
/// a number of its own; \p needed becomes that of the joined ones.
static Dims arrange(KernelBuilder &b, DimsRef shape,
                    std::vector<StridedOperand *> operands,
                    NeededIndices &needed) {
  if (!needed.count)
    return joinDimensions(sortDimensions(shape, operands), operands);
  // Strides of an operand of its own keep the dimensions apart: 0 around it.
  StridedOperand marker;
  for (size_t d = 0; d < shape.size(); ++d)
    marker.strides.push_back(int64_t(d));
  operands.push_back(&marker);
  StridedOperand lastMarker;
  if (needed.ofLast) {
    lastMarker.strides.assign(shape.size(), 0);
    lastMarker.strides.back() = 1;
    operands.push_back(&lastMarker);
  }
  Dims sorted = sortDimensions(shape, operands);
  auto *place = llvm::find(marker.strides, int64_t(needed.dim));
  std::fill(marker.strides.begin(), place, 0);
  int64_t size = 1;
  for (size_t d = shape.size(); marker.strides.begin() + d-- > place;) {
    marker.strides[d] = size;
    size *= sorted[d];
  }
  int64_t extent = shape[needed.dim];
  Dims joined = joinDimensions(sorted, operands);
  needed.dim = unsigned(
      llvm::find_if(marker.strides, [](int64_t stride) { return stride; }) -
      marker.strides.begin());
  needed.count = b.scaleIndex(needed.count, joined[needed.dim] / extent);
  if (needed.ofLast && lastMarker.strides.back() != 1)
    needed.ofLast = nullptr;
  return joined;
}

/// Emits the loop for each row of \p predicate that is needed.
static void emitRowLoops(KernelBuilder &b, DimsRef shape,
                         const StridedOperand &result,
                         llvm::ArrayRef<StridedOperand> inputs,
                         const ScalarProgram &program, NeededIndices needed,
                         const RowPredicate &predicate) {
  size_t numOuter = countRowDims(shape, predicate.count).value_or(0);
  if (needed.dim < numOuter)
    needed = {};
  else
    needed.dim -= unsigned(numOuter);
  auto getRow = [&](const StridedOperand &operand, Values index) {
    StridedOperand row = operand;
    row.base = operand.getAddress(b, index);
    row.strides.erase(row.strides.begin(), row.strides.begin() + numOuter);
    return row;
  };
  auto emitRow = [&](Value *row) {
    Values index = b.splitIndex(row, shape.take_front(numOuter));
    std::vector<StridedOperand> rows;
    for (const StridedOperand &input : inputs)
      rows.push_back(getRow(input, index));
    emitLoop(b, shape.drop_front(numOuter), getRow(result, index), rows,
             program, needed);
  };
  b.forTasks(predicate.count, 8 * countElements(shape), [&](Value *row) {
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

void glowish::emitLoop(KernelBuilder &b, DimsRef shape, StridedOperand result,
                       std::vector<StridedOperand> inputs,
                       const ScalarProgram &program, NeededIndices needed,
                       const RowPredicate &predicate) {
  for (int64_t dim : shape)
    if (dim == 0)
      return;
  if (hasLongRows(b, shape, result, predicate))
    return emitRowLoops(b, shape, result, inputs, program, needed, predicate);
  std::vector<StridedOperand *> operands = {&result};
  for (StridedOperand &input : inputs)
    operands.push_back(&input);
  Dims joined = arrange(b, shape, operands, needed);
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
  bool isLastNeeded = needed.ofLast || (needed.count && needed.dim == last);
  if (!isLastNeeded && isInterleaved(joined, lanes, result, inputs))
    return forEachVector(b, DimsRef(joined).drop_back(), lanes, needed,
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
  forEachVector(b, joined, lanes, needed,
                [&](llvm::ArrayRef<Value *> index, unsigned active) {
                  b.storeStrided(result.kind, compute(index, active, last),
                                 result.getAddress(b, index),
                                 result.getInnerStride());
                });
}

void glowish::emitFill(KernelBuilder &b, DimsRef shape, StridedOperand result,
                       double value, NeededIndices needed) {
  for (int64_t dim : shape)
    if (dim == 0)
      return;
  Dims joined = needed.count ? arrange(b, shape, {&result}, needed)
                             : joinDimensions(shape, {&result});
  forEachVector(b, joined, b.getRegisterLanes(result.kind), needed,
                [&](llvm::ArrayRef<Value *> index, unsigned active) {
                  b.storeStrided(
                      result.kind, b.literal(result.kind, value, active),
                      result.getAddress(b, index), result.getInnerStride());
                });
}

//===- Instructions -------------------------------------------------------===//

/// The outermost bound of operand \p index, and that of its last dimension.
static NeededIndices findNeeded(const Instruction &instr,
                                const KernelOperands &operands,
                                unsigned index = 0) {
  const Type &type = instr.getOperand(index)->getType();
  for (unsigned d = 0; d < type.getRank(); ++d)
    if (Value *bound = operands.getBound(index, d))
      if (type.getDim(d) != 1) {
        unsigned last = type.getRank() - 1;
        return {d, bound, d == last ? nullptr : operands.getBound(index, last)};
      }
  return {};
}

void glowish::emitCopy(KernelBuilder &b, const CopyInstr &instr,
                       const KernelOperands &operands) {
  emitLoop(b, instr.getResult()->getShape(),
           operands.getStrided(CopyInstr::resultIdx),
           {operands.getStrided(CopyInstr::inputIdx)}, ScalarProgram(),
           findNeeded(instr, operands), operands.getRowPredicate());
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
  emitLoop(b, update.getShape(), result,
           {operands.getStrided(InsertSliceInstr::updateIdx)}, ScalarProgram(),
           findNeeded(instr, operands, InsertSliceInstr::updateIdx));
}

void glowish::emitFill(KernelBuilder &b, const FillInstr &instr,
                       const KernelOperands &operands) {
  emitFill(b, instr.getResult()->getShape(),
           operands.getStrided(FillInstr::resultIdx), instr.getValue(),
           findNeeded(instr, operands));
}

void glowish::emitElementWiseLoop(KernelBuilder &b,
                                  const ElementWiseLoopInstr &instr,
                                  const KernelOperands &operands) {
  emitLoop(b, instr.getResult()->getShape(),
           operands.getStrided(ElementWiseLoopInstr::resultIdx),
           operands.getStridedFrom(ElementWiseLoopInstr::inputsIdx),
           instr.getProgram(), findNeeded(instr, operands),
           operands.getRowPredicate());
}

void glowish::emitBitCast(KernelBuilder &b, const BitCastInstr &instr,
                          const KernelOperands &operands) {
  b.CreateMemCpy(operands.getPointer(BitCastInstr::resultIdx), llvm::Align(1),
                 operands.getPointer(BitCastInstr::inputIdx), llvm::Align(1),
                 instr.getInput()->getType().getSizeInBytes());
}
