//===- Normalization.cpp - Layer and RMS normalization --------------------===//
//
// A task is a row. The row is read once for its mean, once for its variance
// and once for the result; after the first time it lies in the first cache.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Epilogue.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/Normalization/RowMean.h"

using namespace glowish;
using llvm::Value;

/// Four sums hide the additions' latency; they are joined in a fixed order.
Value *
glowish::emitRowMean(KernelBuilder &b, ElemKind kind, int64_t length,
                     llvm::function_ref<Value *(Value *, unsigned)> term) {
  unsigned lanes = b.getSumLanes(kind);
  constexpr int64_t numSums = 4;
  auto add = [&](Value *x, Value *y) { return b.CreateFAdd(x, y); };
  int64_t vectors = length / lanes, rounds = vectors / numSums;
  Values sums(std::min(vectors, numSums), b.literal(kind, 0, lanes));
  sums = b.forLoop(
      b.index(0), b.index(rounds * numSums * lanes), numSums * lanes, sums,
      [&](Value *i, llvm::ArrayRef<Value *> carried) {
        Values next;
        for (auto [v, sum] : llvm::enumerate(carried))
          next.push_back(
              add(sum, term(b.CreateNSWAdd(i, b.index(v * lanes)), lanes)));
        return next;
      });
  for (int64_t v = rounds * numSums; v < vectors; ++v) {
    Value *&sum = sums[v % numSums];
    sum = add(sum, term(b.index(v * lanes), lanes));
  }
  Value *total = b.literal(kind, 0, 1);
  for (; sums.size() > 1; sums.pop_back())
    sums[sums.size() - 2] = add(sums[sums.size() - 2], sums.back());
  if (!sums.empty())
    total = b.reduceLanes(sums[0], add);
  if (unsigned left = length % lanes)
    total =
        add(total, b.reduceLanes(term(b.index(vectors * lanes), left), add));
  return b.CreateFDiv(total, b.literal(kind, double(length), 1));
}

namespace {

class LayerNormalizationEmitter {
public:
  LayerNormalizationEmitter(KernelBuilder &b,
                            const LayerNormalizationInstr &instr,
                            StridedOperand result, StridedOperand input,
                            Value *scale, Value *bias, EpilogueCode epilogue)
      : b(b), instr(instr), result(std::move(result)), input(std::move(input)),
        scale(scale), bias(bias), epilogue(std::move(epilogue)),
        kind(this->input.kind), lanes(b.getRegisterLanes(kind)),
        length(instr.getInput()->getShape().back()) {}

  /// \p row: an index for each dimension but the last.
  void emitRow(llvm::ArrayRef<Value *> row);

private:
  KernelBuilder &b;
  const LayerNormalizationInstr &instr;
  StridedOperand result, input;
  Value *scale, *bias;
  EpilogueCode epilogue;
  ElemKind kind;
  unsigned lanes;
  int64_t length;
};

} // namespace

void LayerNormalizationEmitter::emitRow(llvm::ArrayRef<Value *> row) {
  Value *first = input.getAddress(b, row);
  Value *mean = nullptr;
  auto centered = [&](Value *i, unsigned active) {
    Value *address = b.getElement(first, kind, i, input.getInnerStride());
    Value *x = b.loadStrided(kind, address, active, input.getInnerStride());
    return mean ? b.CreateFSub(x, b.splat(mean, active)) : x;
  };
  if (instr.getSubtractMean())
    mean = emitRowMean(b, kind, length, centered);
  Value *variance =
      emitRowMean(b, kind, length, [&](Value *i, unsigned active) {
        Value *x = centered(i, active);
        return b.CreateFMul(x, x);
      });
  Value *deviation = vectormath::sqrt(
      b, b.CreateFAdd(variance, b.literal(kind, instr.getEpsilon(), 1)));
  Value *factor = b.CreateFDiv(b.literal(kind, 1, 1), deviation);
  b.forVectors(length, lanes, [&](Value *i, unsigned active) {
    Value *y = b.CreateFMul(centered(i, active), b.splat(factor, active));
    auto load = [&](Value *base) {
      return b.loadElement(kind, base, i, active);
    };
    if (scale && bias)
      y = b.multiplyAdd(y, load(scale), load(bias));
    else if (scale)
      y = b.CreateFMul(y, load(scale));
    else if (bias)
      y = b.CreateFAdd(y, load(bias));
    Values index(row);
    index.push_back(i);
    storeResult(b, result, epilogue, index, y, active);
  });
}

void glowish::emitLayerNormalization(KernelBuilder &b,
                                     const LayerNormalizationInstr &instr,
                                     const KernelOperands &operands) {
  StridedOperand result =
      operands.getStrided(LayerNormalizationInstr::resultIdx);
  StridedOperand input = operands.getStrided(LayerNormalizationInstr::inputIdx);
  Value *scale = operands.getPointer(LayerNormalizationInstr::scaleIdx);
  Value *bias = operands.getPointer(LayerNormalizationInstr::biasIdx);
  EpilogueCode epilogue = operands.getEpilogue(input.kind);
  LayerNormalizationEmitter emitter(b, instr, std::move(result),
                                    std::move(input), scale, bias,
                                    std::move(epilogue));
  const Type &type = instr.getResult()->getType();
  operands.forRows(b, LayerNormalizationInstr::resultIdx,
                   6 * type.getNumElements(), [&](Value *number) {
                     emitter.emitRow(
                         b.splitIndex(number, type.getShape().drop_back()));
                   });
}
