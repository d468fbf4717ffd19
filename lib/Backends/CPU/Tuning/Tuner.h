//===- Tuner.h - Measuring candidates for convolutions ----------*- C++ -*-===//
//
// Each candidate is compiled as a program of its own, with random weights, and
// runs on one thread: what is computed must not depend on the number of
// threads, so neither may the choice. Before each run more than a core's caches
// hold is read, and then the images and the stack: as in a network, the weights
// come from afar, and what the layers before have used is near.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_TUNING_TUNER_H
#define GLOWISH_LIB_BACKENDS_CPU_TUNING_TUNER_H

#include "Tuning/TuningRecord.h"
#include "glowish/Backends/CPU/CPUBackend.h"

namespace glowish {

/// Of the candidates \p ranked, which are sorted by their estimates, those that
/// are measured: the first, the first of each algorithm within 4 times its
/// estimate, and all within 2.5 times; in this order.
std::vector<ConvolutionCandidate>
selectCandidates(llvm::ArrayRef<ConvolutionCandidate> ranked);

/// A candidate and the shortest time that it took.
struct MeasuredCandidate {
  ConvolutionCandidate candidate;
  double seconds;
};

/// The entry for measured candidates, of which the first is the estimate's
/// best: it stays unless another is at least 3 % faster.
TuningRecord::Entry chooseMeasured(llvm::ArrayRef<MeasuredCandidate> measured);

class Tuner : public KernelTuner {
public:
  /// createTuner().
  static llvm::Expected<std::unique_ptr<Tuner>> create(CPUBackend &tuned);

  llvm::Error tune(llvm::ArrayRef<const IRFunction *> functions) override;

  /// Measures the candidates for \p key.
  llvm::Expected<TuningRecord::Entry> measure(const TuningKey &key);

private:
  struct Candidate;
  Tuner(CPUBackend &tuned, std::unique_ptr<CPUBackend> backend);
  llvm::Expected<std::unique_ptr<Candidate>>
  build(const ConvolutionProblem &problem,
        const ConvolutionCandidate &candidate,
        std::shared_ptr<const Tensor> filter);
  llvm::Error time(Candidate &candidate);

  /// The back end that gets the choices.
  CPUBackend &tuned;
  /// Compiles the candidates, for the same target and one thread.
  std::unique_ptr<CPUBackend> backend;
  /// Bytes that push others out of the caches.
  std::vector<uint8_t> otherData;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_TUNING_TUNER_H
