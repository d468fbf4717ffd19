//===- Attention.cpp - Scores, softmax and weighted sum -------------------===//

#include "Run.h"
#include "glowish/IR/StridedLayout.h"
#include <cmath>
#include <numeric>

using namespace glowish;
using namespace glowish::interpreter;

namespace {

/// The operands, gathered; null pointers where there is no mask.
template <typename T> struct Operands {
  llvm::ArrayRef<T> query, key, value, mask;
};

} // namespace

/// e^(score - largest score) of query number \p m of head \p head with all
/// keys. \p getMask(m, n): what is added.
template <typename T, typename MaskFn>
static std::vector<double>
weighKeys(const AttentionInstr &instr, llvm::ArrayRef<T> query,
          llvm::ArrayRef<T> key, int64_t m, MaskFn getMask) {
  DimsRef queryShape = instr.getQuery()->getShape();
  int64_t depth = queryShape.back();
  int64_t queries = queryShape[queryShape.size() - 2];
  int64_t keys = int64_t(instr.getKey()->getShape().drop_back().back());
  double largest = -std::numeric_limits<double>::infinity();
  std::vector<double> weights(keys, largest);
  for (int64_t n = 0; n < keys; ++n) {
    if (instr.getCausal() && n > m + keys - queries)
      break;
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += double(query[m * depth + k]) * double(key[n * depth + k]);
    weights[n] = sum * instr.getScale() + getMask(m, n);
    largest = std::max(largest, weights[n]);
  }
  for (double &weight : weights)
    weight = std::exp(weight - largest);
  return weights;
}

template <typename T>
static void attend(const AttentionInstr &instr, const Operands<T> &operands,
                   DimsRef maskStrides, llvm::MutableArrayRef<T> result) {
  DimsRef shape = instr.getResult()->getShape();
  int64_t queries = shape[shape.size() - 2], columns = shape.back();
  int64_t keys = instr.getKey()->getShape().drop_back().back();
  int64_t depth = instr.getQuery()->getShape().back();
  int64_t head = 0;
  forEachIndex(shape.drop_back(2), [&](DimsRef batch) {
    auto query = operands.query.slice(head * queries * depth, queries * depth);
    auto key = operands.key.slice(head * keys * depth, keys * depth);
    auto value = operands.value.slice(head * keys * columns, keys * columns);
    auto getMask = [&](int64_t m, int64_t n) {
      if (operands.mask.empty())
        return 0.0;
      Dims index(batch);
      index.append({m, n});
      int64_t offset = 0;
      for (size_t d = 0; d < index.size(); ++d)
        offset += index[d] * maskStrides[d];
      return double(operands.mask[offset]);
    };
    for (int64_t m = 0; m < queries; ++m) {
      std::vector<double> weights = weighKeys(instr, query, key, m, getMask);
      double total = std::accumulate(weights.begin(), weights.end(), 0.0);
      for (int64_t e = 0; e < columns; ++e) {
        double sum = 0;
        for (int64_t n = 0; n < keys; ++n)
          sum += weights[n] * double(value[n * columns + e]);
        result[(head * queries + m) * columns + e] =
            T(ComputeType<T>(sum / total));
      }
    }
    ++head;
  });
}

void interpreter::runAttention(const Memory &memory,
                               const AttentionInstr &instr) {
  const Type &type = instr.getResult()->getType();
  if (type.getNumElements() == 0)
    return;
  Tensor query = gatherOperand(memory, instr.getQuery());
  Tensor key = gatherOperand(memory, instr.getKey());
  Tensor value = gatherOperand(memory, instr.getValue());
  Tensor mask, result(type);
  // Of the mask's elements; 0 where it repeats.
  Dims strides;
  if (instr.getMask()) {
    mask = gatherOperand(memory, instr.getMask());
    Dims shape(type.getShape().drop_back());
    shape.push_back(key.getType().getShape().drop_back().back());
    strides =
        broadcastTo(StridedLayout::dense(mask.getType().getShape()), shape)
            .strides;
  }
  dispatchFloatKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    Operands<T> operands{query.data<T>(), key.data<T>(), value.data<T>(), {}};
    if (instr.getMask())
      operands.mask = mask.data<T>();
    attend<T>(instr, operands, strides, result.data<T>());
  });
  scatterOperand(memory, instr.getResult(), result);
}
