//===- Attention.cpp - Scores, softmax and weighted sum -------------------===//

#include "Run.h"
#include "glowish/IR/StridedLayout.h"
#include <cmath>
#include <numeric>
#include <optional>

using namespace glowish;
using namespace glowish::interpreter;

namespace {

/// One attention: its extents, and its mask, gathered.
struct Problem {
  Dims batch;
  int64_t queries, keys, depth, columns;
  /// The keys that this run needs; no other is read.
  int64_t neededKeys;
  double scale;
  bool causal;
  /// Whether a query without a key has the result NaN, not 0.
  bool nanIfMasked;
  std::optional<Tensor> mask;
  /// Of the mask's elements; 0 where it repeats.
  Dims maskStrides;

  /// What is added to the score of query number \p m of head \p head with key
  /// number \p n.
  double getMask(DimsRef head, int64_t m, int64_t n) const {
    if (!mask)
      return 0;
    Dims index(head);
    index.append({m, n});
    return mask->getAsDouble(getOffset(index, maskStrides));
  }
};

} // namespace

/// The integer weights that NaN becomes are 0 anyway.
static bool isNaNIfMasked(const AttentionIntegerInstr &) { return false; }
static bool isNaNIfMasked(const AttentionInstr &instr) {
  return instr.getNanIfMasked();
}

template <typename InstrT>
static Problem makeProblem(const Memory &memory, const InstrT &instr) {
  DimsRef shape = instr.getResult()->getShape();
  Problem problem{.batch = Dims(shape.drop_back(2)),
                  .queries = shape[shape.size() - 2],
                  .keys = instr.getKey()->getShape().drop_back().back(),
                  .depth = instr.getQuery()->getShape().back(),
                  .columns = shape.back(),
                  .neededKeys = countNeeded(memory, instr, InstrT::keyIdx,
                                            unsigned(shape.size()) - 2),
                  .scale = instr.getScale(),
                  .causal = instr.getCausal(),
                  .nanIfMasked = isNaNIfMasked(instr),
                  .mask = std::nullopt,
                  .maskStrides = {}};
  if (instr.getMask()) {
    problem.mask = gatherOperand(memory, instr.getMask());
    Dims scores(shape.drop_back());
    scores.push_back(problem.keys);
    DimsRef own = problem.mask->getType().getShape();
    problem.maskStrides =
        broadcastTo(StridedLayout::dense(own), scores).strides;
  }
  return problem;
}

/// The softmax over the keys for query number \p m of head \p head.
/// \p getSum(n): the sum over the depth of that query times key number n.
template <typename SumFn>
static std::vector<double> weighKeys(const Problem &problem, DimsRef head,
                                     int64_t m, SumFn getSum) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  double largest = none;
  std::vector<double> weights(problem.neededKeys, largest);
  for (int64_t n = 0; n < problem.neededKeys; ++n) {
    if (problem.causal && n > m + problem.keys - problem.queries)
      break;
    weights[n] = getSum(n) * problem.scale + problem.getMask(head, m, n);
    largest = std::max(largest, weights[n]);
  }
  if (largest == none && !problem.nanIfMasked)
    largest = 0; // so that the powers are 0, or NaN of NaN
  for (double &weight : weights)
    weight = std::exp(weight - largest);
  double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (total == 0)
    return weights;
  for (double &weight : weights)
    weight /= total;
  return weights;
}

/// The rows of query, key and value of head number \p head.
template <typename QueryT, typename KeyT, typename ValueT> struct Head {
  llvm::ArrayRef<QueryT> query;
  llvm::ArrayRef<KeyT> key;
  llvm::ArrayRef<ValueT> value;

  Head(const Problem &problem, int64_t number, const Tensor &queries,
       const Tensor &keys, const Tensor &values)
      : query(slice<QueryT>(queries, number, problem.queries * problem.depth)),
        key(slice<KeyT>(keys, number, problem.keys * problem.depth)),
        value(slice<ValueT>(values, number, problem.keys * problem.columns)) {}

private:
  template <typename T>
  static llvm::ArrayRef<T> slice(const Tensor &tensor, int64_t number,
                                 int64_t count) {
    return tensor.data<T>().slice(number * count, count);
  }
};

/// Calls \p sumValues(weights, values, columns) for each row of the result of
/// \p instr, in order. \p multiply(query, key): the score of two rows before it
/// is scaled.
template <typename QueryT, typename KeyT, typename ValueT, typename InstrT,
          typename MultiplyFn, typename SumFn>
static void attend(const Memory &memory, const InstrT &instr,
                   MultiplyFn multiply, SumFn sumValues) {
  Problem problem = makeProblem(memory, instr);
  Tensor queries = gatherOperand(memory, instr.getQuery());
  Tensor keys = gatherOperand(memory, instr.getKey());
  Tensor values = gatherOperand(memory, instr.getValue());
  int64_t number = 0;
  forEachIndex(problem.batch, [&](DimsRef index) {
    Head<QueryT, KeyT, ValueT> head(problem, number++, queries, keys, values);
    for (int64_t m = 0; m < problem.queries; ++m) {
      auto getSum = [&](int64_t n) {
        return multiply(head.query.slice(m * problem.depth, problem.depth),
                        head.key.slice(n * problem.depth, problem.depth));
      };
      sumValues(weighKeys(problem, index, m, getSum), head.value,
                problem.columns);
    }
  });
}

void interpreter::runAttention(const Memory &memory,
                               const AttentionInstr &instr) {
  const Type &type = instr.getResult()->getType();
  if (type.getNumElements() == 0)
    return;
  Tensor result(type);
  dispatchFloatKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    T *next = result.data<T>().data();
    auto multiply = [](llvm::ArrayRef<T> query, llvm::ArrayRef<T> key) {
      double sum = 0;
      for (auto [x, y] : llvm::zip_equal(query, key))
        sum += double(x) * double(y);
      return sum;
    };
    auto sumValues = [&](llvm::ArrayRef<double> weights,
                         llvm::ArrayRef<T> values, int64_t columns) {
      for (int64_t e = 0; e < columns; ++e) {
        double sum = 0;
        for (auto [n, weight] : llvm::enumerate(weights))
          sum += weight * double(values[int64_t(n) * columns + e]);
        *next++ = T(ComputeType<T>(sum));
      }
    };
    attend<T, T, T>(memory, instr, multiply, sumValues);
  });
  scatterOperand(memory, instr.getResult(), result);
}

template <typename QueryT, typename KeyT, typename ValueT>
static void attendInteger(const Memory &memory,
                          const AttentionIntegerInstr &instr, int32_t *next) {
  auto queryZero = int32_t(instr.getQueryZeroPoint());
  auto valueZero = int32_t(instr.getValueZeroPoint());
  auto multiply = [&](llvm::ArrayRef<QueryT> query, llvm::ArrayRef<KeyT> key) {
    int64_t sum = 0;
    for (auto [x, y] : llvm::zip_equal(query, key))
      sum += (x - queryZero) * y;
    return double(sum);
  };
  auto sumValues = [&](std::vector<double> weights,
                       llvm::ArrayRef<ValueT> values, int64_t columns) {
    for (double &weight : weights) {
      double rounded = std::nearbyint(weight / instr.getWeightScale());
      weight = std::isnan(rounded)
                   ? 0
                   : std::min(rounded, double(instr.getMaxWeight()));
    }
    for (int64_t e = 0; e < columns; ++e) {
      uint32_t sum = 0;
      for (auto [n, weight] : llvm::enumerate(weights))
        sum += uint32_t(int32_t(weight) *
                        (values[int64_t(n) * columns + e] - valueZero));
      *next++ = int32_t(sum);
    }
  };
  attend<QueryT, KeyT, ValueT>(memory, instr, multiply, sumValues);
}

void interpreter::runAttentionInteger(const Memory &memory,
                                      const AttentionIntegerInstr &instr) {
  Tensor result(Type(ElemKind::Int32, instr.getResult()->getShape()));
  if (result.getNumElements() == 0)
    return;
  auto getKind = [](const Buffer *operand) {
    return operand->getType().getKind();
  };
  dispatchByteKind(getKind(instr.getQuery()), [&](auto query) {
    dispatchByteKind(getKind(instr.getKey()), [&](auto key) {
      dispatchByteKind(getKind(instr.getValue()), [&](auto value) {
        attendInteger<decltype(query), decltype(key), decltype(value)>(
            memory, instr, result.data<int32_t>().data());
      });
    });
  });
  storeThroughEpilogue(memory, instr, std::move(result));
}
