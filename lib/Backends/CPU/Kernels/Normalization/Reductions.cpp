//===- Reductions.cpp - Reductions, softmax, ArgMax, LRN ------------------===//

#include "Kernels/KernelOperands.h"
#include "Kernels/Math/EmittedScalar.h"
#include "Kernels/StridedOperand.h"
#include <cmath>

using namespace glowish;
using llvm::Value;

namespace {

/// How elements are reduced.
struct Reduction {
  llvm::StringRef mode;
  /// Of the elements in memory, and what they are combined in.
  ElemKind stored, kind;

  Reduction(llvm::StringRef mode, ElemKind kind)
      : mode(mode), stored(kind), kind(kind) {}
  Reduction(llvm::StringRef mode, ElemKind stored, ElemKind kind)
      : mode(mode), stored(stored), kind(kind) {}

  /// \p lanes elements from the one at index \p i of \p base on.
  Value *load(KernelBuilder &b, Value *base, Value *i, unsigned lanes) const;
  Value *combine(KernelBuilder &b, Value *left, Value *right) const;
  Value *getNeutral(KernelBuilder &b, unsigned lanes) const;
};

} // namespace

Value *Reduction::load(KernelBuilder &b, Value *base, Value *i,
                       unsigned lanes) const {
  Value *x = b.loadElement(stored, base, i, lanes);
  if (stored == kind)
    return x;
  assert(isIntegerKind(stored) && isIntegerKind(kind) && "floats are widened");
  return b.CreateIntCast(x, b.getComputeTy(kind, lanes),
                         isSignedIntegerKind(stored));
}

Value *Reduction::combine(KernelBuilder &b, Value *left, Value *right) const {
  EmittedScalar x{&b, left, kind}, y{&b, right, kind};
  if (mode == "max")
    return max(x, y).value;
  if (mode == "min")
    return min(x, y).value;
  return (mode == "prod" ? x * y : x + y).value;
}

Value *Reduction::getNeutral(KernelBuilder &b, unsigned lanes) const {
  double inf = std::numeric_limits<double>::infinity();
  return b.literal(kind,
                   mode == "max"    ? -inf
                   : mode == "min"  ? inf
                   : mode == "prod" ? 1
                                    : 0,
                   lanes);
}

static Value *divideBy(KernelBuilder &b, ElemKind kind, Value *sum,
                       int64_t count) {
  EmittedScalar x{&b, sum, kind};
  return (x / x.like(double(count))).value;
}

namespace {

/// The dimensions that are kept, and those that are reduced, with the input's
/// strides.
struct ReduceLoops {
  Dims kept, keptStrides, reduced, reducedStrides;
  /// The result's strides along the dimensions that are kept.
  Dims resultStrides = {};
  /// How many indices of each kept dimension are needed; null for all.
  Values needed = {};
};

} // namespace

/// Nested loops over \p shape with carried values; the offset into the input
/// is passed to the body.
static Values reduceNest(KernelBuilder &b, DimsRef shape, DimsRef strides,
                         Value *offset, Values start,
                         llvm::function_ref<Values(Value *, Values)> body) {
  if (shape.empty())
    return body(offset, std::move(start));
  return b.forLoop(
      shape[0], start, [&](Value *i, llvm::ArrayRef<Value *> carried) {
        return reduceNest(b, shape.drop_front(), strides.drop_front(),
                          b.addScaled(offset, i, strides[0]), Values(carried),
                          body);
      });
}

/// Returns the loops of \p instr, a Reduce or ReduceInteger, without dimensions
/// of extent 1, but for the innermost.
template <typename Instr>
static ReduceLoops getLoops(const Instr &instr,
                            const KernelOperands &operands) {
  DimsRef shape = instr.getInput()->getShape();
  llvm::ArrayRef<int64_t> axes = instr.getAxes();
  Dims strides = getDenseStrides(shape);
  ReduceLoops loops;
  unsigned out = 0; // the dimension of the result
  for (unsigned d = 0; d < shape.size(); ++d) {
    bool isReduced = llvm::is_contained(axes, int64_t(d));
    unsigned own = out;
    out += !isReduced || instr.getKeepDims();
    if (shape[d] == 1 && d + 1 < shape.size())
      continue;
    (isReduced ? loops.reduced : loops.kept).push_back(shape[d]);
    (isReduced ? loops.reducedStrides : loops.keptStrides)
        .push_back(strides[d]);
    if (isReduced)
      continue;
    loops.resultStrides.push_back(instr.getResult()->getStrides()[own]);
    loops.needed.push_back(operands.getBound(Instr::resultIdx, own));
  }
  return loops;
}

/// The innermost dimension is reduced: vectors along it, then their lanes.
static Value *reduceRow(KernelBuilder &b, const Reduction &reduction,
                        Value *row, int64_t length) {
  unsigned lanes = b.getSumLanes(reduction.kind);
  int64_t whole = length / lanes;
  auto join = [&](Value *x, Value *y) { return reduction.combine(b, x, y); };
  Value *result = reduction.getNeutral(b, 1);
  if (whole) {
    Values sums = b.forLoop(
        b.index(0), b.index(whole * lanes), lanes,
        {reduction.getNeutral(b, lanes)},
        [&](Value *i, llvm::ArrayRef<Value *> carried) {
          return Values{join(carried[0], reduction.load(b, row, i, lanes))};
        });
    result = b.reduceLanes(sums[0], join);
  }
  for (int64_t i = whole * lanes; i < length; ++i)
    result = join(result, reduction.load(b, row, b.index(i), 1));
  return result;
}

namespace {

/// The loops of Reduce and ReduceInteger.
class ReduceEmitter {
public:
  /// \p input has \p type. \p loops: the dimensions of that.
  ReduceEmitter(KernelBuilder &b, const Reduction &reduction, const Type &type,
                ReduceLoops loops, Value *result, Value *input);
  void emit() {
    if (numResults != 0)
      emitDimension(0, b.index(0), b.index(0));
  }

private:
  /// Loops over kept dimension \p d and those behind it; \p offset is into the
  /// input, \p out into the result.
  void emitDimension(size_t d, Value *offset, Value *out);
  /// One result of rows of the innermost dimension, which is reduced.
  void emitRows(Value *offset, Value *out);
  /// Vectors of results: the innermost dimension is kept.
  void emitVectors(Value *offset, Value *out);
  Value *finish(Value *sum) const {
    return reduction.mode == "mean" ? divideBy(b, reduction.kind, sum, count)
                                    : sum;
  }

  KernelBuilder &b;
  const Reduction &reduction;
  Value *result, *input;
  int64_t numElements, numResults;
  ReduceLoops loops;
  /// Elements of a result; the extent of the innermost loop, and the result's
  /// stride along it.
  int64_t count, inner = 1, innerStride = 1;
  /// How many results of the innermost loop are needed; null for all.
  Value *neededInner = nullptr;
  bool reducesRows;
};

} // namespace

ReduceEmitter::ReduceEmitter(KernelBuilder &b, const Reduction &reduction,
                             const Type &type, ReduceLoops own, Value *result,
                             Value *input)
    : b(b), reduction(reduction), result(result), input(input),
      numElements(type.getNumElements()), loops(std::move(own)) {
  numResults = countElements(loops.kept);
  count = countElements(loops.reduced);
  bool innerIsReduced =
      !loops.reducedStrides.empty() && loops.reducedStrides.back() == 1;
  bool innerIsKept =
      !loops.keptStrides.empty() && loops.keptStrides.back() == 1;
  reducesRows = innerIsReduced && !innerIsKept;
  if (reducesRows) {
    inner = loops.reduced.pop_back_val();
    loops.reducedStrides.pop_back();
  } else if (!loops.kept.empty()) {
    inner = loops.kept.pop_back_val();
    loops.keptStrides.pop_back();
    innerStride = loops.resultStrides.pop_back_val();
    neededInner = loops.needed.pop_back_val();
  }
}

void ReduceEmitter::emitDimension(size_t d, Value *offset, Value *out) {
  if (d == loops.kept.size())
    return reducesRows ? emitRows(offset, out) : emitVectors(offset, out);
  auto emitIteration = [&](Value *i) {
    emitDimension(d + 1, b.addScaled(offset, i, loops.keptStrides[d]),
                  b.addScaled(out, i, loops.resultStrides[d]));
  };
  Value *needed = loops.needed[d];
  if (d == 0)
    b.forTasks(loops.kept[d], 2 * numElements, emitIteration, needed);
  else
    b.forLoop(needed ? needed : b.index(loops.kept[d]), emitIteration);
}

void ReduceEmitter::emitRows(Value *offset, Value *out) {
  Values sums =
      reduceNest(b, loops.reduced, loops.reducedStrides, offset,
                 {reduction.getNeutral(b, 1)}, [&](Value *at, Values carried) {
                   Value *row = b.getElement(input, reduction.stored, at);
                   return Values{reduction.combine(
                       b, carried[0], reduceRow(b, reduction, row, inner))};
                 });
  b.storeElement(reduction.kind, finish(sums[0]), result, out);
}

void ReduceEmitter::emitVectors(Value *offset, Value *out) {
  b.forVectors(
      inner, b.getRegisterLanes(reduction.kind),
      [&](Value *i, unsigned lanes) {
        Values sums = reduceNest(
            b, loops.reduced, loops.reducedStrides, b.CreateNSWAdd(offset, i),
            {reduction.getNeutral(b, lanes)}, [&](Value *at, Values carried) {
              Value *x = reduction.load(b, input, at, lanes);
              return Values{reduction.combine(b, carried[0], x)};
            });
        b.storeStrided(reduction.kind, finish(sums[0]),
                       b.getElement(result, reduction.kind,
                                    b.addScaled(out, i, innerStride)),
                       innerStride);
      },
      neededInner);
}

/// Emits a Reduce or ReduceInteger with the operands of both.
template <typename Instr>
static void emitReduction(KernelBuilder &b, const Reduction &reduction,
                          const Instr &instr, const KernelOperands &operands) {
  ReduceEmitter(b, reduction, instr.getInput()->getType(),
                getLoops(instr, operands),
                operands.getPointer(Instr::resultIdx),
                operands.getPointer(Instr::inputIdx))
      .emit();
}

void glowish::emitReduce(KernelBuilder &b, const ReduceInstr &instr,
                         const KernelOperands &operands) {
  Reduction reduction(instr.getMode(), instr.getInput()->getType().getKind());
  emitReduction(b, reduction, instr, operands);
}

void glowish::emitReduceInteger(KernelBuilder &b,
                                const ReduceIntegerInstr &instr,
                                const KernelOperands &operands) {
  Reduction reduction("sum", instr.getInput()->getType().getKind(),
                      ElemKind::Int32);
  emitReduction(b, reduction, instr, operands);
}

namespace {

/// The rows of a Softmax, or their first elements, behind which all are masked.
class SoftmaxEmitter {
public:
  /// \p needed: how many elements of a row count; null for all.
  SoftmaxEmitter(KernelBuilder &b, ElemKind kind, int64_t length, Value *needed)
      : b(b), kind(kind), length(length), needed(needed),
        lanes(b.getRegisterLanes(kind)) {}

  void emitRow(Value *from, Value *to) {
    // Subtracting the largest keeps the exponentials finite.
    Value *largest = reduce(Reduction("max", kind), from);
    forVectors([&](Value *i, unsigned active) {
      Value *x = b.loadElement(kind, from, i, active);
      Value *e = vectormath::exp(b, b.CreateFSub(x, b.splat(largest, active)));
      b.storeElement(kind, e, to, i);
    });
    Value *sum = reduce(Reduction("sum", kind), to);
    forVectors([&](Value *i, unsigned active) {
      Value *address = b.getElement(to, kind, i);
      Value *e = b.load(kind, address, active);
      b.store(kind, b.CreateFDiv(e, b.splat(sum, active)), address);
    });
  }

private:
  /// The elements of whole vectors of \p size lanes that have one that counts.
  Value *getVectorEnd(unsigned size) {
    Value *vectors = b.divideUp(needed, size);
    return b.minIndex(b.scaleIndex(vectors, size),
                      b.index(length / size * size));
  }

  /// Also computes elements behind those that count, which have no use.
  void forVectors(llvm::function_ref<void(Value *, unsigned)> body) {
    if (!needed)
      return b.forVectors(length, lanes, body);
    Value *end = getVectorEnd(lanes);
    b.forLoop(b.index(0), end, lanes, [&](Value *i) { body(i, lanes); });
    b.forLoop(end, needed, 1, [&](Value *i) { body(i, 1); });
  }

  Value *reduce(const Reduction &reduction, Value *row) {
    if (!needed)
      return reduceRow(b, reduction, row, length);
    unsigned sumLanes = b.getSumLanes(kind);
    auto join = [&](Value *x, Value *y) { return reduction.combine(b, x, y); };
    Value *neutral = reduction.getNeutral(b, sumLanes);
    Value *end = getVectorEnd(sumLanes);
    Values sums = b.forLoop(
        b.index(0), end, sumLanes, {neutral},
        [&](Value *i, llvm::ArrayRef<Value *> carried) {
          Value *x = reduction.load(b, row, i, sumLanes);
          return Values{join(carried[0],
                             b.CreateSelect(counts(i, sumLanes), x, neutral))};
        });
    return b.forLoop(end, needed, 1, {b.reduceLanes(sums[0], join)},
                     [&](Value *i, llvm::ArrayRef<Value *> carried) {
                       return Values{
                           join(carried[0], reduction.load(b, row, i, 1))};
                     })[0];
  }

  /// Returns a mask of the needed ones among the \p size elements from index
  /// \p i on.
  Value *counts(Value *i, unsigned size) {
    Value *left = b.CreateTrunc(b.CreateNSWSub(needed, i), b.getInt32Ty());
    return b.CreateICmpSGT(b.splat(left, size),
                           b.numberLanes(b.getInt32Ty(), size));
  }

  KernelBuilder &b;
  ElemKind kind;
  int64_t length;
  Value *needed;
  unsigned lanes;
};

} // namespace

void glowish::emitSoftmax(KernelBuilder &b, const SoftmaxInstr &instr,
                          const KernelOperands &operands) {
  Value *result = operands.getPointer(SoftmaxInstr::resultIdx);
  Value *input = operands.getPointer(SoftmaxInstr::inputIdx);
  const Type &type = instr.getInput()->getType();
  ElemKind kind = type.getKind();
  int64_t length = type.getShape().back();
  SoftmaxEmitter emitter(
      b, kind, length,
      operands.getBound(SoftmaxInstr::inputIdx, type.getRank() - 1));
  operands.forRows(b, SoftmaxInstr::resultIdx, 30 * type.getNumElements(),
                   [&](Value *number) {
                     Value *start = b.scaleIndex(number, length);
                     emitter.emitRow(b.getElement(input, kind, start),
                                     b.getElement(result, kind, start));
                   });
}

/// Whether \p x replaces \p leader, an earlier element. NaN is greater than all
/// numbers, and equal to NaN.
static Value *isBetter(KernelBuilder &b, EmittedScalar x, EmittedScalar leader,
                       bool selectsLast) {
  if (!x.isFloat())
    return (selectsLast ? x >= leader : x > leader).value;
  // Greater or unordered: a number is not better than NaN.
  Value *isAbove = selectsLast ? b.CreateFCmpUGE(x.value, leader.value)
                               : b.CreateFCmpUGT(x.value, leader.value);
  Value *mayFollow = b.CreateFCmpORD(leader.value, leader.value);
  if (selectsLast)
    mayFollow = b.CreateOr(mayFollow, b.CreateFCmpUNO(x.value, x.value));
  return b.CreateAnd(isAbove, mayFollow);
}

void glowish::emitArgMax(KernelBuilder &b, const ArgMaxInstr &instr,
                         const KernelOperands &operands) {
  Value *result = operands.getPointer(ArgMaxInstr::resultIdx);
  Value *input = operands.getPointer(ArgMaxInstr::inputIdx);
  const Type &type = instr.getInput()->getType();
  ElemKind kind = type.getKind();
  int64_t length = type.getDim(instr.getAxis());
  int64_t inner = getDenseStrides(type.getShape())[instr.getAxis()];
  if (type.getNumElements() == 0)
    return;
  unsigned axis = unsigned(instr.getAxis()), kept = instr.getKeepDims() ? 1 : 0;
  LoopExtents rows = operands.getExtents(ArgMaxInstr::resultIdx, 0, axis);
  LoopExtents columns =
      operands.getExtents(ArgMaxInstr::resultIdx, axis + kept,
                          instr.getResult()->getType().getRank());
  b.forEach(rows, [&](Value *outer) {
    b.forEach(columns, [&](Value *i) {
      Value *first = b.addScaled(i, outer, length * inner);
      auto load = [&](Value *k) {
        return b.loadElement(kind, input, b.addScaled(first, k, inner), 1);
      };
      Values best = b.forLoop(
          b.index(1), b.index(length), 1, {load(b.index(0)), b.index(0)},
          [&](Value *k, llvm::ArrayRef<Value *> carried) {
            EmittedScalar x{&b, load(k), kind}, leader{&b, carried[0], kind};
            Value *wins = isBetter(b, x, leader, instr.getSelectLast());
            return Values{b.CreateSelect(wins, x.value, leader.value),
                          b.CreateSelect(wins, k, carried[1])};
          });
      Value *index = b.CreateSExtOrTrunc(best[1], b.getInt64Ty());
      b.storeElement(ElemKind::Int64, index, result,
                     b.addScaled(i, outer, inner));
    });
  });
}

void glowish::emitLocalResponseNormalization(
    KernelBuilder &b, const LocalResponseNormalizationInstr &instr,
    const KernelOperands &operands) {
  Value *result =
      operands.getPointer(LocalResponseNormalizationInstr::resultIdx);
  Value *input = operands.getPointer(LocalResponseNormalizationInstr::inputIdx);
  const Type &type = instr.getInput()->getType();
  ElemKind kind = type.getKind();
  int64_t channels = type.getShape().back();
  if (type.getNumElements() == 0)
    return;
  int64_t before = (instr.getSize() - 1) / 2;
  int64_t after = instr.getSize() - 1 - before;
  operands.forRows(
      b, LocalResponseNormalizationInstr::resultIdx,
      std::min(instr.getSize(), channels) * type.getNumElements(),
      [&](Value *pixel) {
        Value *start = b.scaleIndex(pixel, channels);
        b.forLoop(channels, [&](Value *channel) {
          Value *low =
              b.maxIndex(b.CreateNSWSub(channel, b.index(before)), b.index(0));
          Value *high = b.minIndex(b.CreateNSWAdd(channel, b.index(after + 1)),
                                   b.index(channels));
          auto load = [&](Value *c) {
            return b.loadElement(kind, input, b.CreateNSWAdd(start, c), 1);
          };
          Values squares =
              b.forLoop(low, high, 1, {b.literal(kind, 0, 1)},
                        [&](Value *c, llvm::ArrayRef<Value *> carried) {
                          Value *x = load(c);
                          return Values{b.multiplyAdd(x, x, carried[0])};
                        });
          EmittedScalar sum{&b, squares[0], kind}, x{&b, load(channel), kind};
          EmittedScalar base =
              sum * (instr.getAlpha() / double(instr.getSize())) +
              instr.getBias();
          // Bases <= 0 have no logarithm: only integer powers are computed.
          double beta = instr.getBeta();
          EmittedScalar y = beta == std::floor(beta)
                                ? x / pow(base, base.like(beta))
                                : x * exp(log(base) * -beta);
          b.storeElement(kind, y.value, result, b.CreateNSWAdd(start, channel));
        });
      });
}
