//===- Indexing.cpp - Scatters and sorted indices -------------------------===//

#include "InstrRunner.h"
#include <numeric>

using namespace glowish;
using namespace glowish::interpreter;

/// \p value combined into \p element. A NaN in either stays.
template <typename C>
static C combine(llvm::StringRef mode, C element, C value) {
  if (mode == "max")
    return value > element || value != value ? value : element;
  if (mode == "min")
    return value < element || value != value ? value : element;
  if constexpr (std::is_integral_v<C>)
    return mode == "mul" ? C(uint64_t(element) * uint64_t(value))
                         : C(uint64_t(element) + uint64_t(value));
  else
    return mode == "mul" ? element * value : element + value;
}

void InstrRunner::visitScatter(ScatterInstr &instr) {
  const Type &type = instr.getInput()->getType();
  Tensor result = gatherOperand(memory, instr.getInput());
  Tensor indices = gatherOperand(memory, instr.getIndices());
  int64_t rows = type.getDim(0), columns = type.getDim(1);
  dispatchElemKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    using C = ComputeType<T>;
    auto updates = getDense<const T>(memory, instr.getUpdates());
    auto out = llvm::MutableArrayRef<T>(static_cast<T *>(result.getBytes()),
                                        size_t(result.getNumElements()));
    for (int64_t i = 0; i < indices.getNumElements(); ++i) {
      int64_t row = indices.getAsInt(i);
      row += row < 0 ? rows : 0;
      if (row < 0 || row >= rows)
        continue;
      for (int64_t k = 0; k < columns; ++k) {
        T &element = out[row * columns + k];
        const T &value = updates[i * columns + k];
        if constexpr (std::is_same_v<T, bool>)
          element = value;
        else
          element = instr.getMode() == "replace"
                        ? value
                        : T(combine<C>(instr.getMode(), C(element), C(value)));
      }
    }
  });
  scatterOperand(memory, instr.getResult(), result);
}

void InstrRunner::visitTopK(TopKInstr &instr) {
  const Type &type = instr.getInput()->getType();
  int64_t length = type.getShape().back(), count = instr.getCount();
  auto out = getDense<int64_t>(memory, instr.getResult());
  dispatchNumberKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    using C = ComputeType<T>;
    auto in = getDense<const T>(memory, instr.getInput());
    std::vector<int64_t> order(length);
    for (size_t row = 0; count > 0 && row < out.size() / count; ++row) {
      const T *first = in.data() + row * length;
      // A NaN is the largest.
      auto isAbove = [&](int64_t i, int64_t k) {
        C x = C(first[i]), y = C(first[k]);
        return x > y || (x != x && y == y);
      };
      std::iota(order.begin(), order.end(), 0);
      llvm::sort(order, [&](int64_t i, int64_t k) {
        bool isTie = !isAbove(i, k) && !isAbove(k, i);
        return isTie ? i < k : isAbove(i, k) == instr.getLargest();
      });
      std::copy_n(order.begin(), count, out.data() + row * count);
    }
  });
}

void InstrRunner::visitBitCast(BitCastInstr &instr) {
  if (int64_t bytes = instr.getInput()->getType().getSizeInBytes())
    std::memcpy(memory.getAddress(instr.getResult()),
                memory.getAddress(instr.getInput()), bytes);
}
