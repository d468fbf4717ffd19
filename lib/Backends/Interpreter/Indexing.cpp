//===- Indexing.cpp - Scatters and sorted indices -------------------------===//

#include "Run.h"
#include "glowish/Ops/Boxes.h"
#include "glowish/Ops/Scalar.h"
#include <cstring>
#include <numeric>

using namespace glowish;
using namespace glowish::interpreter;

void interpreter::runScatter(const Memory &memory, const ScatterInstr &instr) {
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
        if constexpr (std::is_same_v<T, bool> || isLowPrecision<T>)
          element = value;
        else
          element = instr.getMode() == "replace"
                        ? value
                        : T(combineElements<C>(instr.getMode(), C(element),
                                               C(value)));
      }
    }
  });
  scatterOperand(memory, instr.getResult(), result);
}

void interpreter::runInsertSlice(const Memory &memory,
                                 const InsertSliceInstr &instr) {
  DimsRef shape = instr.getUpdate()->getShape();
  int64_t axis = instr.getAxis();
  int64_t lastStart = instr.getBuffer()->getShape()[axis] - shape[axis];
  int64_t start = readOperand(memory, instr.getStart()).getAsInt(0);
  start = std::clamp<int64_t>(start, 0, lastStart);
  Tensor result = gatherOperand(memory, instr.getBuffer());
  Tensor update = gatherOperand(memory, instr.getUpdate());
  int64_t size = getElemSize(result.getType().getKind());
  Dims strides = getDenseStrides(result.getType().getShape());
  auto *next = static_cast<const uint8_t *>(update.getBytes());
  forEachIndex(shape, [&](DimsRef index) {
    int64_t offset = start * strides[axis] + getOffset(index, strides);
    std::memcpy(static_cast<uint8_t *>(result.getBytes()) + offset * size, next,
                size);
    next += size;
  });
  scatterOperand(memory, instr.getBuffer(), result);
}

void interpreter::runTopK(const Memory &memory, const TopKInstr &instr) {
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

static Box<Num<float>> getBox(const float *box) {
  return {Num(box[0]), Num(box[1]), Num(box[2]), Num(box[3])};
}

void interpreter::runNonMaxSuppression(const Memory &memory,
                                       const NonMaxSuppressionInstr &instr) {
  auto boxes = getDense<const float>(memory, instr.getBoxes());
  auto candidates = getDense<const int64_t>(memory, instr.getCandidates());
  float threshold = getDense<const float>(memory, instr.getThreshold())[0];
  auto out = getDense<int64_t>(memory, instr.getResult());
  DimsRef shape = instr.getCandidates()->getShape();
  int64_t numBoxes = instr.getBoxes()->getType().getDim(1);
  int64_t count = instr.getCount();
  std::fill(out.begin(), out.end(), -1);
  for (int64_t row = 0; row < shape[0] * shape[1]; ++row) {
    const float *batch = boxes.data() + row / shape[1] * numBoxes * 4;
    int64_t *picked = out.data() + row * count;
    int64_t numPicked = 0;
    for (int64_t i = 0; i < shape[2] && numPicked < count; ++i) {
      int64_t number = candidates[row * shape[2] + i];
      auto overlaps = [&](int64_t other) {
        return getOverlap(getBox(batch + number * 4), getBox(batch + other * 4))
                   .value > threshold;
      };
      if (number >= 0 && number < numBoxes &&
          std::none_of(picked, picked + numPicked, overlaps))
        picked[numPicked++] = number;
    }
  }
}

void interpreter::runBitCast(const Memory &memory, const BitCastInstr &instr) {
  if (int64_t bytes = instr.getInput()->getType().getSizeInBytes())
    std::memcpy(memory.getAddress(instr.getResult()),
                memory.getAddress(instr.getInput()), bytes);
}
