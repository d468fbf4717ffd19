//===- Reductions.cpp - Reductions, softmax, ArgMax, LRN ------------------===//

#include "Kernels/KernelOperands.h"
#include "Kernels/Math/EmittedScalar.h"
#include "Kernels/StridedOperand.h"
#include <cmath>

using namespace glowish;
using llvm::Value;

/// One step of a reduction.
static Value *combine(KernelBuilder &b, llvm::StringRef mode, ElemKind kind,
                      Value *left, Value *right) {
  EmittedScalar x{&b, left, kind}, y{&b, right, kind};
  if (mode == "max")
    return max(x, y).value;
  if (mode == "min")
    return min(x, y).value;
  return (mode == "prod" ? x * y : x + y).value;
}

static double getNeutral(llvm::StringRef mode) {
  double inf = std::numeric_limits<double>::infinity();
  return mode == "max" ? -inf : mode == "min" ? inf : mode == "prod" ? 1 : 0;
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
};

} // namespace

/// Nested loops over \p shape with carried values; the offset into the input
/// is passed to the body.
static Values reduceNest(KernelBuilder &b, DimsRef shape, DimsRef strides,
                         Value *offset, Values start,
                         llvm::function_ref<Values(Value *, Values)> body) {
  if (shape.empty())
    return body(offset, std::move(start));
  return b.forLoop(b.index(0), b.index(shape[0]), 1, start,
                   [&](Value *i, llvm::ArrayRef<Value *> carried) {
                     return reduceNest(b, shape.drop_front(),
                                       strides.drop_front(),
                                       b.addScaled(offset, i, strides[0]),
                                       Values(carried), body);
                   });
}

/// Without dimensions of extent 1, but for the innermost.
static ReduceLoops splitDimensions(const ReduceInstr &instr) {
  DimsRef shape = instr.getInput()->getShape();
  Dims strides = getDenseStrides(shape);
  ReduceLoops loops;
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1 && d + 1 < shape.size())
      continue;
    bool isReduced = llvm::is_contained(instr.getAxes(), int64_t(d));
    (isReduced ? loops.reduced : loops.kept).push_back(shape[d]);
    (isReduced ? loops.reducedStrides : loops.keptStrides)
        .push_back(strides[d]);
  }
  return loops;
}

/// The innermost dimension is reduced: vectors along it, then their lanes.
static Value *reduceRow(KernelBuilder &b, llvm::StringRef mode, ElemKind kind,
                        Value *row, int64_t length) {
  unsigned lanes = b.getSumLanes(kind);
  int64_t whole = length / lanes;
  auto join = [&](Value *x, Value *y) { return combine(b, mode, kind, x, y); };
  Value *result = b.literal(kind, getNeutral(mode), 1);
  if (whole) {
    Values sums =
        b.forLoop(b.index(0), b.index(whole * lanes), lanes,
                  {b.literal(kind, getNeutral(mode), lanes)},
                  [&](Value *i, llvm::ArrayRef<Value *> carried) {
                    Value *x = b.load(kind, b.getElement(row, kind, i), lanes);
                    return Values{join(carried[0], x)};
                  });
    result = b.reduceLanes(sums[0], join);
  }
  for (int64_t i = whole * lanes; i < length; ++i)
    result = join(result, b.load(kind, b.getElement(row, kind, i), 1));
  return result;
}

void glowish::emitReduce(KernelBuilder &b, const ReduceInstr &instr,
                         const KernelOperands &operands) {
  Value *result = operands.getPointer(ReduceInstr::resultIdx);
  Value *input = operands.getPointer(ReduceInstr::inputIdx);
  ElemKind kind = instr.getInput()->getType().getKind();
  llvm::StringRef mode = instr.getMode();
  ReduceLoops loops = splitDimensions(instr);
  int64_t count = 1;
  for (int64_t dim : loops.reduced)
    count *= dim;
  if (instr.getResult()->getType().getNumElements() == 0)
    return;
  auto finish = [&](Value *sum) {
    return mode == "mean" ? divideBy(b, kind, sum, count) : sum;
  };
  auto join = [&](Value *x, Value *y) { return combine(b, mode, kind, x, y); };
  bool innerIsReduced =
      !loops.reducedStrides.empty() && loops.reducedStrides.back() == 1;
  bool innerIsKept =
      !loops.keptStrides.empty() && loops.keptStrides.back() == 1;
  int64_t inner = 1;
  if (innerIsReduced && !innerIsKept) {
    inner = loops.reduced.pop_back_val();
    loops.reducedStrides.pop_back();
  } else if (!loops.kept.empty()) {
    inner = loops.kept.pop_back_val();
    loops.keptStrides.pop_back();
  }
  Dims resultStrides = getDenseStrides(loops.kept);
  auto neutral = [&](unsigned lanes) {
    return b.literal(kind, getNeutral(mode), lanes);
  };
  Value *resultIndex = nullptr;
  std::function<void(size_t, Value *, Value *)> nest = [&](size_t d,
                                                           Value *offset,
                                                           Value *out) {
    if (d < loops.kept.size()) {
      auto emitIteration = [&](Value *i) {
        nest(d + 1, b.addScaled(offset, i, loops.keptStrides[d]),
             b.addScaled(out, i, resultStrides[d]));
      };
      if (d == 0)
        b.forTasks(loops.kept[d],
                   2 * instr.getInput()->getType().getNumElements(),
                   emitIteration);
      else
        b.forLoop(loops.kept[d], emitIteration);
      return;
    }
    if (innerIsReduced && !innerIsKept) {
      Values sums =
          reduceNest(b, loops.reduced, loops.reducedStrides, offset,
                     {neutral(1)}, [&](Value *at, Values carried) {
                       Value *row = b.getElement(input, kind, at);
                       return Values{join(
                           carried[0], reduceRow(b, mode, kind, row, inner))};
                     });
      b.store(kind, finish(sums[0]), b.getElement(result, kind, out));
      return;
    }
    resultIndex = b.addScaled(b.index(0), out, inner);
    b.forVectors(
        inner, b.getRegisterLanes(kind), [&](Value *i, unsigned lanes) {
          Values sums = reduceNest(
              b, loops.reduced, loops.reducedStrides, b.CreateNSWAdd(offset, i),
              {neutral(lanes)}, [&](Value *at, Values carried) {
                Value *x = b.load(kind, b.getElement(input, kind, at), lanes);
                return Values{join(carried[0], x)};
              });
          b.store(kind, finish(sums[0]),
                  b.getElement(result, kind, b.CreateNSWAdd(resultIndex, i)));
        });
  };
  nest(0, b.index(0), b.index(0));
}

void glowish::emitSoftmax(KernelBuilder &b, const SoftmaxInstr &instr,
                          const KernelOperands &operands) {
  Value *result = operands.getPointer(SoftmaxInstr::resultIdx);
  Value *input = operands.getPointer(SoftmaxInstr::inputIdx);
  const Type &type = instr.getInput()->getType();
  ElemKind kind = type.getKind();
  int64_t length = type.getShape().back();
  if (type.getNumElements() == 0)
    return;
  unsigned lanes = b.getRegisterLanes(kind);
  Value *needed =
      operands.getBound(b, SoftmaxInstr::resultIdx, 0, type.getRank() - 1);
  b.forTasks(
      type.getNumElements() / length, 30 * type.getNumElements(),
      [&](Value *number) {
        Value *start = b.addScaled(b.index(0), number, length);
        Value *from = b.getElement(input, kind, start);
        Value *to = b.getElement(result, kind, start);
        // Subtracting the largest keeps the exponentials finite.
        Value *largest = reduceRow(b, "max", kind, from, length);
        b.forVectors(length, lanes, [&](Value *i, unsigned active) {
          Value *x = b.load(kind, b.getElement(from, kind, i), active);
          Value *e =
              vectormath::exp(b, b.CreateFSub(x, b.splat(largest, active)));
          b.store(kind, e, b.getElement(to, kind, i));
        });
        Value *sum = reduceRow(b, "sum", kind, to, length);
        b.forVectors(length, lanes, [&](Value *i, unsigned active) {
          Value *address = b.getElement(to, kind, i);
          Value *e = b.load(kind, address, active);
          b.store(kind, b.CreateFDiv(e, b.splat(sum, active)), address);
        });
      },
      needed);
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
  b.forLoop(type.getNumElements() / length / inner, [&](Value *outer) {
    b.forLoop(inner, [&](Value *i) {
      Value *first = b.addScaled(i, outer, length * inner);
      auto load = [&](Value *k) {
        return b.load(
            kind, b.getElement(input, kind, b.addScaled(first, k, inner)), 1);
      };
      Values best = b.forLoop(
          b.index(1), b.index(length), 1, {load(b.index(0)), b.index(0)},
          [&](Value *k, llvm::ArrayRef<Value *> carried) {
            EmittedScalar x{&b, load(k), kind}, leader{&b, carried[0], kind};
            Value *wins =
                (instr.getSelectLast() ? x >= leader : x > leader).value;
            return Values{b.CreateSelect(wins, x.value, leader.value),
                          b.CreateSelect(wins, k, carried[1])};
          });
      Value *index = b.CreateSExtOrTrunc(best[1], b.getInt64Ty());
      b.store(
          ElemKind::Int64, index,
          b.getElement(result, ElemKind::Int64, b.addScaled(i, outer, inner)));
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
  b.forTasks(
      type.getNumElements() / channels,
      std::min(instr.getSize(), channels) * type.getNumElements(),
      [&](Value *pixel) {
        Value *start = b.addScaled(b.index(0), pixel, channels);
        b.forLoop(channels, [&](Value *channel) {
          Value *low =
              b.maxIndex(b.CreateNSWSub(channel, b.index(before)), b.index(0));
          Value *high = b.minIndex(b.CreateNSWAdd(channel, b.index(after + 1)),
                                   b.index(channels));
          auto load = [&](Value *c) {
            return b.load(
                kind, b.getElement(input, kind, b.CreateNSWAdd(start, c)), 1);
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
          b.store(kind, y.value,
                  b.getElement(result, kind, b.CreateNSWAdd(start, channel)));
        });
      });
}
