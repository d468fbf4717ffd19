//===- PeakRate.cpp - Peak rates of a core --------------------------------===//

#include "glowish/Backends/CPU/PeakRate.h"
#include "Target/ProbeProgram.h"
#include "llvm/IR/IRBuilder.h"
#include <chrono>

using namespace glowish;

/// A multiply-add takes at most six cycles, and a core begins at most two a
/// cycle: so many chains keep it busy.
static constexpr unsigned numChains = 12;
static constexpr uint64_t numSteps = 100000;

/// Fills \p entry (constants, mutables, activations): vectors of \p lanes
/// numbers from mutables, `numSteps` times multiplied and added to, and stored
/// again so that nothing of it can be left out.
static void emitChains(llvm::Function &entry, unsigned lanes) {
  llvm::LLVMContext &context = entry.getContext();
  auto *before = llvm::BasicBlock::Create(context, "entry", &entry);
  auto *loop = llvm::BasicBlock::Create(context, "loop", &entry);
  auto *after = llvm::BasicBlock::Create(context, "after", &entry);
  llvm::IRBuilder<> b(before);
  llvm::Type *scalar = b.getFloatTy();
  llvm::Type *type =
      lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
  auto getAddress = [&](unsigned i) {
    return b.CreateConstGEP1_32(type, entry.getArg(1), i);
  };
  llvm::Value *factor =
      b.CreateAlignedLoad(type, getAddress(numChains), llvm::Align(4));
  llvm::SmallVector<llvm::Value *> starts;
  for (unsigned i = 0; i < numChains; ++i)
    starts.push_back(b.CreateAlignedLoad(type, getAddress(i), llvm::Align(4)));
  b.CreateBr(loop);

  b.SetInsertPoint(loop);
  llvm::PHINode *step = b.CreatePHI(b.getInt64Ty(), 2);
  step->addIncoming(b.getInt64(0), before);
  llvm::SmallVector<llvm::PHINode *> chains;
  for (llvm::Value *start : starts) {
    chains.push_back(b.CreatePHI(type, 2));
    chains.back()->addIncoming(start, before);
  }
  llvm::SmallVector<llvm::Value *> sums;
  for (llvm::PHINode *chain : chains) {
    sums.push_back(b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type},
                                     {chain, factor, factor}));
    chain->addIncoming(sums.back(), loop);
  }
  llvm::Value *next = b.CreateAdd(step, b.getInt64(1));
  step->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpEQ(next, b.getInt64(numSteps)), after, loop);

  b.SetInsertPoint(after);
  for (unsigned i = 0; i < numChains; ++i)
    b.CreateAlignedStore(sums[i], getAddress(i), llvm::Align(4));
  b.CreateRet(b.getInt32(0));
}

llvm::Expected<double> glowish::measurePeakRate(CPUBackend &backend,
                                                double seconds) {
  using Clock = std::chrono::steady_clock;
  unsigned lanes = backend.getTarget().getLanes(sizeof(float));
  auto emit = [&](llvm::Function &entry) { emitChains(entry, lanes); };
  GLOWISH_ASSIGN_OR_RETURN(auto program, compileProbe(backend, "peak", emit));
  // 0.5 is where x * 0.5 + 0.5 leads to 1: no slow denormals.
  std::vector<float> numbers((numChains + 1) * lanes, 0.5f);
  auto *bytes = reinterpret_cast<uint8_t *>(numbers.data());
  double best = 0;
  Clock::time_point start = Clock::now(), last = start;
  do {
    GLOWISH_RETURN_IF_ERROR(program->run(nullptr, bytes, nullptr));
    Clock::time_point now = Clock::now();
    double elapsed = std::chrono::duration<double>(now - last).count();
    best = std::max(best, 2.0 * numChains * lanes * numSteps / elapsed);
    last = now;
  } while (std::chrono::duration<double>(last - start).count() < seconds);
  return best;
}
