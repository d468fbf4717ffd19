//===- KernelBuilder.h - Loops and vectors in LLVM IR -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_KERNELBUILDER_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_KERNELBUILDER_H

#include "glowish/Backends/CPU/TargetDescription.h"
#include "glowish/Base/Type.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"

namespace glowish {

using Values = llvm::SmallVector<llvm::Value *, 32>;

/// The extents of loops in one another, and how much of each a run needs.
struct LoopExtents {
  Dims shape;
  /// How many indices of each loop are needed, an index; null for all of them.
  llvm::SmallVector<llvm::Value *, 4> needed;

  explicit LoopExtents(DimsRef shape = {})
      : shape(shape), needed(shape.size()) {}
  size_t size() const { return shape.size(); }
  /// Returns loops \p begin ... \p end - 1.
  LoopExtents slice(size_t begin, size_t end) const;
  void push_back(int64_t extent, llvm::Value *own = nullptr) {
    shape.push_back(extent);
    needed.push_back(own);
  }
};

/// An IRBuilder with operations for kernels. Shapes are static, so that tails
/// are shorter vectors, not masked ones.
class KernelBuilder : public llvm::IRBuilder<> {
public:
  /// Begins at the end of \p function, which gets an entry block if it has no
  /// block.
  KernelBuilder(llvm::Function &function, const TargetDescription &target);

  const TargetDescription &getTarget() const { return target; }
  llvm::Function &getFunction() { return function; }
  /// A function of the module that kernels call, for this target: \p emit makes
  /// its body where it is not there yet.
  llvm::Function *getHelper(llvm::StringRef name, llvm::FunctionType *type,
                            llvm::function_ref<void(llvm::Function &)> emit);

  /// Whether each step of a scalar program is rounded by itself.
  bool getKeepsRoundings() const { return keepsRoundings; }
  void setKeepsRoundings(bool keeps) { keepsRoundings = keeps; }

  //===- Numbers ------------------------------------------------------------//

  /// The type that addresses are computed in.
  llvm::IntegerType *getIndexTy() const { return indexTy; }
  llvm::Value *index(int64_t value) {
    return llvm::ConstantInt::getSigned(indexTy, value);
  }
  /// a + b * factor, with the multiplications that are not needed left out.
  llvm::Value *addScaled(llvm::Value *a, llvm::Value *b, int64_t factor);
  /// value * factor, as an index.
  llvm::Value *scaleIndex(llvm::Value *value, int64_t factor) {
    return addScaled(index(0), value, factor);
  }
  /// value / divisor, rounded up.
  llvm::Value *divideUp(llvm::Value *value, int64_t divisor) {
    return CreateUDiv(CreateNSWAdd(value, index(divisor - 1)), index(divisor));
  }
  /// The indices of element \p number of a tensor of \p shape, row by row.
  Values splitIndex(llvm::Value *number, llvm::ArrayRef<int64_t> shape);
  llvm::Value *minIndex(llvm::Value *a, llvm::Value *b);
  llvm::Value *maxIndex(llvm::Value *a, llvm::Value *b);

  //===- Loops --------------------------------------------------------------//

  using LoopBody = llvm::function_ref<void(llvm::Value *)>;
  using CarryBody =
      llvm::function_ref<Values(llvm::Value *, llvm::ArrayRef<llvm::Value *>)>;
  /// for (i = low; i < high; i += step) body(i). Where the bounds are constant,
  /// emits nothing for no iteration, and no branches for one.
  void forLoop(llvm::Value *low, llvm::Value *high, int64_t step,
               LoopBody body);
  void forLoop(llvm::Value *count, LoopBody body) {
    forLoop(index(0), count, 1, body);
  }
  void forLoop(int64_t count, LoopBody body) { forLoop(index(count), body); }
  /// The same with values that each iteration passes to the next; returns
  /// those after the last.
  Values forLoop(llvm::Value *low, llvm::Value *high, int64_t step,
                 llvm::ArrayRef<llvm::Value *> start, CarryBody body);
  Values forLoop(llvm::Value *count, llvm::ArrayRef<llvm::Value *> start,
                 CarryBody body) {
    return forLoop(index(0), count, 1, start, body);
  }
  Values forLoop(int64_t count, llvm::ArrayRef<llvm::Value *> start,
                 CarryBody body) {
    return forLoop(index(count), start, body);
  }
  /// 0 ... count-1 in steps of \p unroll, then one by one.
  Values forUnrolled(int64_t count, int64_t unroll,
                     llvm::ArrayRef<llvm::Value *> start, CarryBody body);
  /// Vectors of \p lanes elements over \p count, then what is left:
  /// body(first element, lanes). \p needed: how many of the elements are needed
  /// in a run; null for all.
  void forVectors(int64_t count, unsigned lanes,
                  llvm::function_ref<void(llvm::Value *, unsigned)> body,
                  llvm::Value *needed = nullptr);
  /// Groups of \p size of \p count elements, then what is left, with values
  /// that each passes to the next: body(group, its elements, values).
  Values forGroups(int64_t count, int64_t size,
                   llvm::ArrayRef<llvm::Value *> start,
                   llvm::function_ref<Values(llvm::Value *, int64_t,
                                             llvm::ArrayRef<llvm::Value *>)>
                       body);
  /// Emits such groups where no values are passed.
  void forGroups(int64_t count, int64_t size,
                 llvm::function_ref<void(llvm::Value *, int64_t)> body);
  void ifThen(llvm::Value *condition, llvm::function_ref<void()> body);
  /// Two branches: no value comes out of either.
  void ifThenElse(llvm::Value *condition, llvm::function_ref<void()> body,
                  llvm::function_ref<void()> otherwise);

  //===- Tasks --------------------------------------------------------------//

  /// Makes the kernel run only tasks \p begin ... \p end - 1 of its outermost
  /// forTasks.
  void setTasks(llvm::Value *begin, llvm::Value *end) {
    taskBegin = begin;
    taskEnd = end;
  }
  /// A parallel loop: its iterations are independent, that is, write different
  /// elements and read none that others write. A kernel has at most one
  /// outermost parallel loop, which has all its effects. \p operations: of all
  /// iterations; few of them are not distributed to threads. \p needed: how
  /// many iterations there are in a run, at most \p count; null for all.
  void forTasks(int64_t count, int64_t operations, LoopBody body,
                llvm::Value *needed = nullptr);
  /// Emits \p body, as tasks, for each index of \p extents that is needed, with
  /// its number among all indices, row by row.
  void forTasks(const LoopExtents &extents, int64_t operations, LoopBody body);
  /// Emits the same as loops of the thread that runs the code around them.
  void forEach(const LoopExtents &extents, LoopBody body) {
    forTasks(extents, /*operations=*/0, body);
  }
  /// The same for elements 0 ... count - 1, some thousand a task:
  /// body(first element, number of elements).
  void forElementTasks(int64_t count,
                       llvm::function_ref<void(llvm::Value *, int64_t)> body,
                       llvm::Value *needed = nullptr);
  /// The iterations of that loop; 1 if there is none.
  int64_t getNumTasks() const { return numTasks; }

  //===- Elements -----------------------------------------------------------//

  /// How elements of \p kind lie in memory, half precisions as i16 and low ones
  /// as i8, and what is computed in: getValueKind's type, bool as i1.
  llvm::Type *getStorageTy(ElemKind kind);
  llvm::Type *getComputeTy(ElemKind kind);
  llvm::Type *getComputeTy(ElemKind kind, unsigned lanes) {
    return getVectorTy(getComputeTy(kind), lanes);
  }
  /// A vector, or the element itself for one lane.
  static llvm::Type *getVectorTy(llvm::Type *element, unsigned lanes);
  static unsigned getLanes(llvm::Value *value);
  /// Lanes of a register for what is computed in.
  unsigned getRegisterLanes(ElemKind kind);
  /// Lanes of a vector of sums that are added to each other at the end: as many
  /// on all reproducible targets.
  unsigned getSumLanes(ElemKind kind) const;

  llvm::Value *getElement(llvm::Value *base, ElemKind kind, llvm::Value *index);
  llvm::Value *getElement(llvm::Value *base, ElemKind kind, int64_t offset) {
    return offset ? getElement(base, kind, index(offset)) : base;
  }
  /// Element number * stride.
  llvm::Value *getElement(llvm::Value *base, ElemKind kind, llvm::Value *number,
                          int64_t stride) {
    return getElement(base, kind, scaleIndex(number, stride));
  }
  /// \p lanes elements side by side, as values to compute with.
  llvm::Value *load(ElemKind kind, llvm::Value *address, unsigned lanes);
  /// Loads \p lanes elements from element \p index of \p base on, a value or a
  /// number.
  template <typename Index>
  llvm::Value *loadElement(ElemKind kind, llvm::Value *base, Index index,
                           unsigned lanes) {
    return load(kind, getElement(base, kind, index), lanes);
  }
  /// \p count vectors, each \p stride elements behind the one before.
  Values loadVectors(ElemKind kind, llvm::Value *address, int64_t count,
                     unsigned lanes, int64_t stride);
  /// \p lanes elements that are \p stride elements apart.
  llvm::Value *loadStrided(ElemKind kind, llvm::Value *address, unsigned lanes,
                           int64_t stride);
  void store(ElemKind kind, llvm::Value *value, llvm::Value *address);
  /// Stores \p value from element \p index of \p base on.
  template <typename Index>
  void storeElement(ElemKind kind, llvm::Value *value, llvm::Value *base,
                    Index index) {
    store(kind, value, getElement(base, kind, index));
  }
  /// Stores \p vectors, each \p stride elements behind the one before.
  void storeVectors(ElemKind kind, llvm::ArrayRef<llvm::Value *> vectors,
                    llvm::Value *address, int64_t stride);
  /// Stores the first lanes of all \p vectors, then the second, ...
  void storeInterleaved(ElemKind kind, llvm::ArrayRef<llvm::Value *> vectors,
                        llvm::Value *address);
  void storeStrided(ElemKind kind, llvm::Value *value, llvm::Value *address,
                    int64_t stride);
  /// The int32 or int64 at \p address as an index. Numbers that are none where
  /// addresses have 32 bits become the least or the largest, which are out of
  /// range, too.
  llvm::Value *loadIndex(ElemKind kind, llvm::Value *address);
  /// Returns \p entries as data of the module.
  template <typename T>
  llvm::GlobalVariable *createTable(llvm::ArrayRef<T> entries) {
    return createTable(llvm::ConstantDataArray::get(getContext(), entries));
  }
  llvm::GlobalVariable *createTable(llvm::Constant *entries);
  /// Returns entry \p index of \p table; integers as an index.
  llvm::Value *lookUp(llvm::GlobalVariable *table, llvm::Value *index);
  template <typename T>
  llvm::Value *lookUp(llvm::ArrayRef<T> table, llvm::Value *index) {
    return lookUp(createTable(table), index);
  }
  /// Returns space on the stack for one value, which the whole function has: it
  /// is reserved once, even in a loop.
  llvm::AllocaInst *allocateSlot(llvm::Type *type);
  /// Returns space on the stack for \p count elements, at the begin of a cache
  /// line.
  llvm::Value *allocate(llvm::Type *type, int64_t count);
  llvm::Value *allocate(ElemKind kind, int64_t count) {
    return allocate(getStorageTy(kind), count);
  }
  /// Asks for the cache line of \p address in the second cache.
  void prefetch(llvm::Value *address);
  /// \p address, but unknown to the optimizer: what is loaded from it is not
  /// kept in a register for other loads from the same address.
  llvm::Value *hideAddress(llvm::Value *address);
  /// \p address, to which constants of at least 0 are added for loads and
  /// stores: hidden where these would not be part of the instructions else.
  llvm::Value *keepOffsets(llvm::Value *address) {
    return target.isTranslated ? hideAddress(address) : address;
  }
  /// The first \p lanes of \p value.
  llvm::Value *takeLanes(llvm::Value *value, unsigned lanes);
  /// The first \p lanes of each of \p values, one after the other.
  llvm::Value *joinLanes(llvm::ArrayRef<llvm::Value *> values, unsigned lanes);
  /// \p value with undefined lanes behind it.
  llvm::Value *widen(llvm::Value *value, unsigned lanes);
  /// Returns \p value, of elements that are computed as \p kind, with zeros
  /// behind it.
  llvm::Value *padWithZeros(llvm::Value *value, ElemKind kind, unsigned lanes);
  /// What \p function, which is applied to \p lanes lanes at a time, makes of
  /// each lane of \p value.
  llvm::Value *
  mapParts(llvm::Value *value, unsigned lanes,
           llvm::function_ref<llvm::Value *(llvm::Value *)> function);
  llvm::Value *splat(llvm::Value *scalar, unsigned lanes);
  /// The number of each lane as an integer of \p type.
  llvm::Value *numberLanes(llvm::Type *type, unsigned lanes);
  /// A literal of \p kind; integers saturate.
  llvm::Value *literal(ElemKind kind, double value, unsigned lanes);

  /// float16 and bfloat16 are computed in float, as kinds of low precision are
  /// in wider ones: \p value with the precision that an element of \p kind has.
  llvm::Value *roundToKind(ElemKind kind, llvm::Value *value) {
    if (getValueKind(kind) == kind)
      return value;
    return fromStorage(kind, toStorage(kind, value));
  }

  /// Whether the target has instructions for arithmetic of the type of \p
  /// value, floats or doubles.
  bool hasArithmetic(llvm::Value *value) const {
    return target.hasArithmetic(value->getType()->getScalarType()->isDoubleTy()
                                    ? ElemKind::Double
                                    : ElemKind::Float);
  }
  /// a * b + c; one rounding where the target has that.
  llvm::Value *multiplyAdd(llvm::Value *a, llvm::Value *b, llvm::Value *c);
  /// The larger or smaller; NaN if either is. Integers of \p kind.
  llvm::Value *maximum(ElemKind kind, llvm::Value *a, llvm::Value *b);
  llvm::Value *minimum(ElemKind kind, llvm::Value *a, llvm::Value *b);
  /// Combines all lanes, halves first: a fixed order.
  llvm::Value *reduceLanes(
      llvm::Value *value,
      llvm::function_ref<llvm::Value *(llvm::Value *, llvm::Value *)> combine);

private:
  bool areShared(int64_t count, int64_t operations) const {
    return taskBegin && count > 1 && operations > 0 &&
           operations >= target.minTaskOperations;
  }
  llvm::Value *shareNeeded(llvm::Value *number, int64_t count,
                           llvm::Value *needed);
  void nestLoops(const LoopExtents &extents, llvm::Value *number,
                 LoopBody body);
  llvm::Value *fromStorage(ElemKind kind, llvm::Value *value);
  llvm::Value *toStorage(ElemKind kind, llvm::Value *value);

  llvm::Function &function;
  const TargetDescription &target;
  llvm::IntegerType *indexTy;
  llvm::Value *taskBegin = nullptr, *taskEnd = nullptr;
  int64_t numTasks = 1;
  bool keepsRoundings = false;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_KERNELBUILDER_H
