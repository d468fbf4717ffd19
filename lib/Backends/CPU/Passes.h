//===- Passes.h - The CPU back end's passes over the IR ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_PASSES_H
#define GLOWISH_LIB_BACKENDS_CPU_PASSES_H

#include "Selection/ConvolutionAlgorithm.h"
#include "glowish/IR/Passes.h"

namespace glowish {

/// The input of the passes, IRPassContext::backend.
struct CPUPassInput {
  const TargetDescription *target;
  /// The ConvolutionChooser.
  std::function<std::optional<ConvolutionChoice>(const ConvolutionProblem &,
                                                 const Buffer &)>
      choose;
};

/// Returns the passes, in their order.
const Pipeline &getCPUPipeline();

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_PASSES_H
