//===- Kernel.h - One operator, compiled in this process --------*- C++ -*-===//

#ifndef GLOWISH_BENCH_KERNELS_KERNEL_H
#define GLOWISH_BENCH_KERNELS_KERNEL_H

#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Driver/Session.h"

namespace glowish::bench {

/// Numbers in [-1, 1) made from \p seed.
Tensor makeRandom(DimsRef shape, uint64_t seed);

/// A compiled function of one input, with constant weights.
class Kernel {
public:
  /// Makes the node that computes a result from \p input.
  using BuildFn =
      llvm::function_ref<NodeValue(Module &, Function &, NodeValue input)>;
  /// Ends the program where the kernel can't be compiled.
  Kernel(CPUBackend &backend, const Tensor &input, BuildFn build);

  void run() { llvm::cantFail(session->run()); }
  /// What the last run left; borrowed.
  Tensor getResult() const;
  /// The kind of the instruction that does the multiply-adds.
  llvm::StringRef getInstrKind();

private:
  std::optional<PlannedProgram> program;
  std::unique_ptr<Session> session;
};

/// Whether the elements of \p actual are those of \p expected up to 1e-4 of
/// the largest one.
bool isClose(const Tensor &actual, llvm::ArrayRef<float> expected);

} // namespace glowish::bench

#endif // GLOWISH_BENCH_KERNELS_KERNEL_H
