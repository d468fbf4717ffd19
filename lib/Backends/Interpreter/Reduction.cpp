//===- Reduction.cpp - Reductions and ArgMax ------------------------------===//

#include "Run.h"

using namespace glowish;
using namespace glowish::interpreter;

/// Integers are reduced in themselves (sums and products wrap), floats in
/// double.
template <typename T> struct AccumulatorOf {
  using type = std::conditional_t<std::is_integral_v<T>, T, double>;
};

/// Returns the reduction of the empty set; a mean starts as a sum.
template <typename Acc> static Acc getIdentity(llvm::StringRef mode) {
  using Limits = std::numeric_limits<Acc>;
  if (mode == "max")
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  if (mode == "min")
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  return mode == "prod" ? 1 : 0;
}

/// Combines elements of \p shape, which \p in has in their order, along \p
/// axes, in \p Acc.
template <typename Acc, typename Elements>
static std::vector<Acc> reduceAlong(const Elements &in, DimsRef shape,
                                    llvm::ArrayRef<int64_t> axes,
                                    size_t resultSize, llvm::StringRef mode) {
  // Strides into the result: 0 along the reduced dimensions.
  Dims kept(shape);
  for (int64_t axis : axes)
    kept[axis] = 1;
  Dims strides = getDenseStrides(kept);
  for (int64_t axis : axes)
    strides[axis] = 0;

  std::vector<Acc> results(resultSize, getIdentity<Acc>(mode));
  size_t next = 0;
  forEachIndex(shape, [&](DimsRef index) {
    Acc &result = results[getOffset(index, strides)];
    result = combineElements<Acc>(mode, result, Acc(in[next++]));
  });
  return results;
}

void interpreter::runReduce(const Memory &memory, const ReduceInstr &instr) {
  const Type &type = instr.getInput()->getType();
  Tensor result(instr.getResult()->getType());
  llvm::StringRef mode = instr.getMode();
  dispatchNumberKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    using Acc = typename AccumulatorOf<T>::type;
    auto in = getDense<const T>(memory, instr.getInput());
    llvm::MutableArrayRef<T> out = result.data<T>();
    std::vector<Acc> sums = reduceAlong<Acc>(in, type.getShape(),
                                             instr.getAxes(), out.size(), mode);
    // The type rule refuses a mean of no integers.
    Acc count = Acc(out.empty() ? 1 : in.size() / out.size());
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = T(ComputeType<T>(mode == "mean" ? sums[i] / count : sums[i]));
  });
  scatterOperand(memory, instr.getResult(), result);
}

void interpreter::runReduceInteger(const Memory &memory,
                                   const ReduceIntegerInstr &instr) {
  const Type &type = instr.getInput()->getType();
  Tensor result(instr.getResult()->getType());
  llvm::MutableArrayRef<int32_t> out = result.data<int32_t>();
  dispatchByteKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    llvm::copy(reduceAlong<int32_t>(getDense<const T>(memory, instr.getInput()),
                                    type.getShape(), instr.getAxes(),
                                    out.size(), "sum"),
               out.begin());
  });
  scatterOperand(memory, instr.getResult(), result);
}

void interpreter::runCumSum(const Memory &memory, const CumSumInstr &instr) {
  const Type &type = instr.getInput()->getType();
  int64_t length = type.getDim(instr.getAxis());
  int64_t inner = getDenseStrides(type.getShape())[instr.getAxis()];
  dispatchNumberKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    auto in = getDense<const T>(memory, instr.getInput());
    auto out = getDense<T>(memory, instr.getResult());
    for (int64_t row = 0; row * length < int64_t(in.size()); ++row) {
      int64_t first = row / inner * length * inner + row % inner;
      SumType<T> sum = 0;
      for (int64_t k = 0; k < length; ++k) {
        int64_t i = first + (instr.getReverse() ? length - 1 - k : k) * inner;
        // The result may be in the input's buffer.
        SumType<T> before = sum;
        sum += SumType<T>(in[i]);
        out[i] = T(ComputeType<T>(instr.getExclusive() ? before : sum));
      }
    }
  });
}

/// Whether \p value comes before \p leader, an earlier element. NaN is greater
/// than all numbers, and equal to NaN.
template <typename T>
static bool isBetter(T value, T leader, bool selectsLast) {
  if (value != value || leader != leader)
    return value != value && (selectsLast || leader == leader);
  return value > leader || (selectsLast && value == leader);
}

void interpreter::runArgMax(const Memory &memory, const ArgMaxInstr &instr) {
  const Type &type = instr.getInput()->getType();
  int64_t length = type.getDim(instr.getAxis());
  int64_t inner = getDenseStrides(type.getShape())[instr.getAxis()];
  auto out = getDense<int64_t>(memory, instr.getResult());
  dispatchNumberKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    using C = ComputeType<T>;
    auto in = getDense<const T>(memory, instr.getInput());
    for (int64_t i = 0; i < int64_t(out.size()); ++i) {
      const T *first = in.data() + i / inner * length * inner + i % inner;
      int64_t best = 0;
      for (int64_t k = 1; k < length; ++k) {
        C value = C(first[k * inner]), leader = C(first[best * inner]);
        if (isBetter(value, leader, instr.getSelectLast()))
          best = k;
      }
      out[i] = best;
    }
  });
}
