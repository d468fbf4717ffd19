//===- PeakRate.cpp - Peak rates of a core --------------------------------===//

#include "glowish/Backends/CPU/PeakRate.h"
#include "Kernels/KernelBuilder.h"
#include "Target/ProbeProgram.h"
#include <chrono>

using namespace glowish;

/// A multiply-add takes at most six cycles, and a core begins at most two a
/// cycle: so many chains keep it busy.
static constexpr unsigned numChains = 12;
static constexpr uint64_t numSteps = 100000;

/// Fills \p entry (constants, mutables, activations): vectors of \p lanes
/// numbers from mutables, `numSteps` times multiplied and added to, and stored
/// again so that nothing of it can be left out.
static void emitChains(llvm::Function &entry, unsigned lanes,
                       const TargetDescription &target) {
  KernelBuilder b(entry, target);
  llvm::Value *numbers = entry.getArg(1);
  llvm::Value *factor = b.loadElement(ElemKind::Float, numbers,
                                      int64_t(numChains) * lanes, lanes);
  Values chains = b.forLoop(
      int64_t(numSteps),
      b.loadVectors(ElemKind::Float, numbers, numChains, lanes, lanes),
      [&](llvm::Value *, llvm::ArrayRef<llvm::Value *> carried) {
        Values next;
        for (llvm::Value *chain : carried)
          next.push_back(b.CreateIntrinsic(llvm::Intrinsic::fmuladd,
                                           {chain->getType()},
                                           {chain, factor, factor}));
        return next;
      });
  b.storeVectors(ElemKind::Float, chains, numbers, lanes);
  b.CreateRet(b.getInt32(0));
}

llvm::Expected<double> glowish::measurePeakRate(CPUBackend &backend,
                                                double seconds) {
  using Clock = std::chrono::steady_clock;
  unsigned lanes = backend.getTarget().getLanes(sizeof(float));
  auto emit = [&](llvm::Function &entry) {
    emitChains(entry, lanes, backend.getTarget());
  };
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
