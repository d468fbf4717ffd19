//===- Estimates.cpp - The time that instructions are chosen by -----------===//

#include "Anchors.h"
#include "Instrs.h"
#include "glowish/Backends/CPU/CPUBackend.h"

using namespace glowish;

static ConvolutionChoice getChoice(const CPUConvolutionInstr &instr) {
  ConvolutionChoice choice;
  choice.tile = {unsigned(instr.getTile()[0]), unsigned(instr.getTile()[1])};
  return choice;
}

static ConvolutionChoice getChoice(const CPUWinogradConvolutionInstr &instr) {
  ConvolutionChoice choice;
  choice.algorithm = ConvolutionChoice::Algorithm::Winograd;
  choice.size = {instr.getSize()[0], instr.getSize()[1]};
  choice.block = unsigned(instr.getBlock());
  return choice;
}

static ConvolutionChoice getChoice(const CPUSplitConvolutionInstr &) {
  ConvolutionChoice choice;
  choice.algorithm = ConvolutionChoice::Algorithm::Split;
  return choice;
}

/// The estimate of the way in which \p instr is computed, if it is one of those
/// that are ranked: not of a depthwise convolution.
template <typename T>
static std::optional<double> estimate(const T &instr,
                                      const TargetDescription &target) {
  ConvolutionShape shape = getConvolutionShape(instr);
  if (isDepthwise(shape) || instr.getResult()->getType().getNumElements() == 0)
    return std::nullopt;
  const Buffer &input = *instr.getInput();
  ConvolutionChoice own = getChoice(instr);
  for (const ConvolutionChoice &way :
       rankConvolutions(shape, input.getType().getKind(),
                        StridedOperand(nullptr, input).strides, target,
                        /*maxWinograd=*/int64_t(WinogradLimit::F4)))
    if (isSameWay(way, own))
      return way.cycles;
  return std::nullopt;
}

std::optional<double>
CPUBackend::estimateCycles(const Instruction &instr) const {
  if (auto *direct = llvm::dyn_cast<CPUConvolutionInstr>(&instr))
    return estimate(*direct, getTarget());
  if (auto *winograd = llvm::dyn_cast<CPUWinogradConvolutionInstr>(&instr))
    return estimate(*winograd, getTarget());
  if (auto *split = llvm::dyn_cast<CPUSplitConvolutionInstr>(&instr))
    return estimate(*split, getTarget());
  return std::nullopt;
}
