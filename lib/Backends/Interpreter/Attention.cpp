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
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d)
      offset += index[d] * maskStrides[d];
    return mask->getAsDouble(offset);
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

template <typename T>
static void attend(const Memory &memory, const AttentionInstr &instr,
                   llvm::MutableArrayRef<T> result) {
  Problem problem = makeProblem(memory, instr);
  Tensor queries = gatherOperand(memory, instr.getQuery());
  Tensor keys = gatherOperand(memory, instr.getKey());
  Tensor values = gatherOperand(memory, instr.getValue());
  int64_t number = 0;
  T *next = result.data();
  forEachIndex(problem.batch, [&](DimsRef index) {
    Head<T, T, T> head(problem, number++, queries, keys, values);
    for (int64_t m = 0; m < problem.queries; ++m) {
      auto getSum = [&](int64_t n) {
        double sum = 0;
        for (int64_t k = 0; k < problem.depth; ++k)
          sum += double(head.query[m * problem.depth + k]) *
                 double(head.key[n * problem.depth + k]);
        return sum;
      };
      std::vector<double> weights = weighKeys(problem, index, m, getSum);
      for (int64_t e = 0; e < problem.columns; ++e) {
        double sum = 0;
        for (int64_t n = 0; n < problem.neededKeys; ++n)
          sum += weights[n] * double(head.value[n * problem.columns + e]);
        *next++ = T(ComputeType<T>(sum));
      }
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
    attend<decltype(zero)>(memory, instr, result.data<decltype(zero)>());
  });
  scatterOperand(memory, instr.getResult(), result);
}

template <typename QueryT, typename KeyT, typename ValueT>
static void attendInteger(const Memory &memory,
                          const AttentionIntegerInstr &instr,
                          llvm::MutableArrayRef<int32_t> result) {
  Problem problem = makeProblem(memory, instr);
  Tensor queries = gatherOperand(memory, instr.getQuery());
  Tensor keys = gatherOperand(memory, instr.getKey());
  Tensor values = gatherOperand(memory, instr.getValue());
  auto queryZero = int32_t(instr.getQueryZeroPoint());
  auto valueZero = int32_t(instr.getValueZeroPoint());
  int64_t number = 0;
  int32_t *next = result.data();
  forEachIndex(problem.batch, [&](DimsRef index) {
    Head<QueryT, KeyT, ValueT> head(problem, number++, queries, keys, values);
    for (int64_t m = 0; m < problem.queries; ++m) {
      auto getSum = [&](int64_t n) {
        int64_t sum = 0;
        for (int64_t k = 0; k < problem.depth; ++k)
          sum += (head.query[m * problem.depth + k] - queryZero) *
                 head.key[n * problem.depth + k];
        return double(sum);
      };
      std::vector<double> weights = weighKeys(problem, index, m, getSum);
      for (double &weight : weights) {
        double rounded = std::nearbyint(weight / instr.getWeightScale());
        weight = std::isnan(rounded)
                     ? 0
                     : std::min(rounded, double(instr.getMaxWeight()));
      }
      for (int64_t e = 0; e < problem.columns; ++e) {
        uint32_t sum = 0;
        for (int64_t n = 0; n < problem.neededKeys; ++n)
          sum += uint32_t(int32_t(weights[n]) *
                          (head.value[n * problem.columns + e] - valueZero));
        *next++ = int32_t(sum);
      }
    }
  });
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
            memory, instr, result.data<int32_t>());
      });
    });
  });
  storeThroughEpilogue(memory, instr.getResult(), std::move(result),
                       instr.getEpilogue(), instr.getFused());
}
