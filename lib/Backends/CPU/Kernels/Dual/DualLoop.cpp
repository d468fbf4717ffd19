//===- DualLoop.cpp - The loop over pairs in assembly ---------------------===//

#include "Kernels/Dual/DualLoop.h"
#include "Kernels/Dual/Assembly.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;
using llvm::Value;

static constexpr int64_t stepBytes = 8;

// Operands of the assembly: those that it changes, what it works with, and the
// end of the weights.
static constexpr unsigned numSums = DualLoop::pixels * DualLoop::channels;
static constexpr unsigned pixelOperand = numSums, weightsOperand = numSums + 1;
static constexpr unsigned numChanged = numSums + 2;
static constexpr unsigned firstTemporary = numChanged, numTemporaries = 6;
static constexpr unsigned endOperand = numChanged + numTemporaries + numChanged;

bool DualLoop::isPossible(const TargetDescription &target) const {
  // LDRD reaches 1020 bytes.
  constexpr int64_t reach = 1020;
  int64_t bytes = 2 * pixelStride;
  return target.hasDualMultiply && target.hasFloat && bytes % 4 == 0 &&
         (pixels - 1) * bytes - stepBytes <= reach;
}

/// Weights are two words, which become pairs of the first channel and, in their
/// places, of the second one. The first pixel moves the address.
std::string DualLoop::getStep() const {
  auto w0 = firstTemporary, w1 = w0 + 1, a0 = w0 + 2, a1 = w0 + 3, x0 = w0 + 4,
       x1 = w0 + 5;
  std::string text = llvm::formatv("ldrd ${0}, ${1}, [${2}], #8\n"
                                   "sxtb16 ${3}, ${0}\n"
                                   "sxtb16 ${0}, ${0}, ror #8\n"
                                   "sxtb16 ${4}, ${1}\n"
                                   "sxtb16 ${1}, ${1}, ror #8\n",
                                   w0, w1, weightsOperand, a0, a1);
  for (int64_t p = 0; p < pixels; ++p) {
    if (p == 0)
      text +=
          llvm::formatv("ldrd ${0}, ${1}, [${2}], #8\n", x0, x1, pixelOperand);
    else
      text += llvm::formatv("ldrd ${0}, ${1}, [${2}, #{3}]\n", x0, x1,
                            pixelOperand, 2 * p * pixelStride - stepBytes);
    auto sum = unsigned(channels * p);
    text += llvm::formatv("smlad ${0}, ${2}, ${4}, ${0}\n"
                          "smlad ${1}, ${2}, ${5}, ${1}\n"
                          "smlad ${0}, ${3}, ${6}, ${0}\n"
                          "smlad ${1}, ${3}, ${7}, ${1}\n",
                          sum, sum + 1, x0, x1, a0, w0, a1, w1);
  }
  return text;
}

/// \p steps steps, \p repetitions times.
DualLoop::State DualLoop::emitBlock(KernelBuilder &b, int64_t steps,
                                    int64_t repetitions, State state) const {
  bool repeats = repetitions > 1;
  std::string text = repeats ? "1:\n" : "", constraints;
  for (int64_t i = 0; i < steps; ++i)
    text += getStep();
  if (repeats)
    text += llvm::formatv("vmov ${0}, ${1}\n"
                          "cmp ${2}, ${0}\n"
                          "bne 1b\n",
                          firstTemporary, endOperand, weightsOperand);
  llvm::SmallVector<llvm::Type *, 16> results;
  Values values = state.sums;
  values.append({state.pixel, state.weights});
  for (Value *value : values) {
    constraints += "=&r,";
    results.push_back(value->getType());
  }
  for (unsigned i = 0; i < numTemporaries; ++i) {
    constraints += "=&r,";
    results.push_back(b.getInt32Ty());
  }
  for (unsigned i = 0; i < numChanged; ++i)
    constraints += std::to_string(i) + ",";
  if (repeats) {
    constraints += "t,";
    Value *end = b.getElement(state.weights, ElemKind::Int8,
                              steps * repetitions * stepBytes);
    values.push_back(
        b.CreateBitCast(b.CreatePtrToInt(end, b.getInt32Ty()), b.getFloatTy()));
  }
  constraints += "~{cc},~{memory}";
  llvm::CallInst *done = emitAssembly(b, text, constraints, results, values);
  for (unsigned i = 0; i < numSums; ++i)
    state.sums[i] = b.CreateExtractValue(done, i);
  state.pixel = b.CreateExtractValue(done, pixelOperand);
  state.weights = b.CreateExtractValue(done, weightsOperand);
  return state;
}

DualLoop::State DualLoop::emit(KernelBuilder &b, int64_t steps,
                               State state) const {
  // As many steps as four need no loop; else the blocks that leave least.
  constexpr int64_t mostSteps = 4;
  int64_t block = std::min(steps, mostSteps);
  if (steps > mostSteps && steps % block)
    block = steps % 3 ? block : 3;
  if (steps >= block && block > 0)
    state = emitBlock(b, block, steps / block, std::move(state));
  if (block > 0 && steps % block)
    state = emitBlock(b, steps % block, 1, std::move(state));
  return state;
}
