//===- ChoiceLog.h - Logs which kernels are chosen --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_CHOICELOG_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_CHOICELOG_H

#include "Selection/ConvolutionAlgorithm.h"

namespace glowish {

/// Logs the candidate that computes \p instr, and the next best one; in detail
/// all of them.
void logChoice(const Instruction &instr, const ConvolutionChoice &choice);
/// Logs that \p instr is computed by another kernel than one of the candidates,
/// as \p what says.
void logChoice(const Instruction &instr, llvm::StringRef what);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_CHOICELOG_H
