//===- Estimates.cpp - Estimated times and accesses of kernels ------------===//

#include "Selection/KernelSelection.h"
#include "glowish/Backends/CPU/CPUBackend.h"

using namespace glowish;

std::optional<double>
CPUBackend::estimateCycles(const Instruction &instr) const {
  auto *convolution = llvm::dyn_cast<CPUConvolutionInstr>(&instr);
  if (!convolution || convolution->getResult()->getType().getNumElements() == 0)
    return std::nullopt;
  const Buffer &input = *convolution->getInput();
  const ConvolutionCandidate &own = convolution->getAlgorithm();
  ConvolutionProblem problem = {.shape = getConvolutionShape(*convolution),
                                .kind = input.getType().getKind(),
                                .inputStrides = Dims(input.getStrides()),
                                .isOfBytes = own.algorithm->multipliesBytes()};
  for (const ConvolutionCandidate &candidate :
       rankCandidates(problem, getTarget(), int64_t(WinogradLimit::F4)))
    if (candidate == own && candidate.cycles > 0)
      return candidate.cycles;
  return std::nullopt;
}

/// The loads of the input of \p convolution.
static double countInputLoads(const CPUConvolutionInstr &convolution,
                              const TargetDescription &target) {
  const Type &type = convolution.getInput()->getType();
  unsigned size = getElemSize(type.getKind());
  // What is copied is loaded by vectors, or by words.
  constexpr unsigned wordBytes = 4;
  double once = double(type.getNumElements()) /
                std::max(target.getLanes(size), wordBytes / size);
  const ConvolutionCandidate &own = convolution.getAlgorithm();
  std::optional<int64_t> served = own.algorithm->getMultiplyAddsPerLoad(
      own.parameters, target.getComputeLanes(type.getKind()));
  return served
             ? std::max(once, getCost(convolution).flops / 2 / double(*served))
             : once;
}

double CPUBackend::countAccesses(const Instruction &instr,
                                 unsigned index) const {
  const Buffer *buffer = instr.getOperand(index);
  if (!buffer)
    return 0;
  auto *convolution = llvm::dyn_cast<CPUConvolutionInstr>(&instr);
  if (convolution && index == CPUConvolutionInstr::inputIdx)
    return countInputLoads(*convolution, getTarget());
  return glowish::countAccesses(instr, index) /
         getTarget().getLanes(getElemSize(buffer->getType().getKind()));
}
