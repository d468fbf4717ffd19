//===- TwoStepReductions.h - Reductions in two steps ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_TWOSTEPREDUCTIONS_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_TWOSTEPREDUCTIONS_H

#include "glowish/IR/Instrs.h"

namespace glowish {

/// Replaces large reductions of whole images by two steps, first of each row
/// and then of the rows, so that each thread reads the rows that it wrote. The
/// order of the sums does not depend on the number of threads. Returns
/// whether it changed something.
bool prepareReductions(IRFunction &function);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_TWOSTEPREDUCTIONS_H
