//===- ChoiceLog.cpp - Logs which kernels are chosen ----------------------===//

#include "Selection/ChoiceLog.h"
#include "glowish/Support/Log.h"

using namespace glowish;

/// "direct 14x2, 123,456 cycles"
static std::string describe(const ConvolutionCandidate &candidate) {
  std::string text = candidate.str();
  if (candidate.cycles > 0)
    text += llvm::formatv(", {0:N} cycles", uint64_t(candidate.cycles)).str();
  return text;
}

/// `Convolution 'conv1' (float<1x112x112x64>)`
static std::string describe(const Instruction &instr) {
  return llvm::formatv("{0} '{1}' ({2})", instr.getKindName(), instr.getName(),
                       instr.getOperand(0)->getType().str());
}

/// The best of the other candidates, which is faster where a tuning file or
/// other programs decide.
static std::string describeNext(const ConvolutionChoice &choice) {
  if (choice.others.empty())
    return "no other";
  const ConvolutionCandidate &next = choice.others.front();
  bool isFaster = next.cycles < choice.candidate.cycles;
  return (isFaster ? "faster by estimate: " : "runner-up ") + describe(next);
}

void glowish::logChoice(const Instruction &instr,
                        const ConvolutionChoice &choice) {
  if (!GLOWISH_IS_LOGGED(1))
    return;
  GLOWISH_VLOG(1, "kernel of {0}: {1}{2}{3}; {4}", describe(instr),
               describe(choice.candidate), choice.reason.empty() ? "" : ", ",
               choice.reason, describeNext(choice));
  for (const ConvolutionCandidate &other : choice.others)
    GLOWISH_VLOG(3, "other kernel of '{0}': {1}", instr.getName(),
                 describe(other));
}

void glowish::logChoice(const Instruction &instr, llvm::StringRef what) {
  GLOWISH_VLOG(1, "kernel of {0}: {1}", describe(instr), what);
}
