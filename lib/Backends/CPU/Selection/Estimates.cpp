//===- Estimates.cpp - Estimated times of kernels -------------------------===//

#include "Selection/KernelSelection.h"
#include "glowish/Backends/CPU/CPUBackend.h"

using namespace glowish;

std::optional<double>
CPUBackend::estimateCycles(const Instruction &instr) const {
  auto *convolution = llvm::dyn_cast<CPUConvolutionInstr>(&instr);
  if (!convolution || convolution->getResult()->getType().getNumElements() == 0)
    return std::nullopt;
  const Buffer &input = *convolution->getInput();
  ConvolutionCandidate own = getCandidate(*convolution);
  ConvolutionProblem problem = {.shape = getConvolutionShape(*convolution),
                                .kind = input.getType().getKind(),
                                .inputStrides = Dims(input.getStrides()),
                                .isOfBytes = own.algorithm->multipliesBytes()};
  for (const ConvolutionCandidate &candidate :
       rankCandidates(problem, getTarget(), int64_t(WinogradLimit::F4)))
    if (candidate.isSameAs(own) && candidate.cycles > 0)
      return candidate.cycles;
  return std::nullopt;
}
