//===- KernelTuner.h - Measuring before a back end chooses ------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_KERNELTUNER_H
#define GLOWISH_BACKENDS_KERNELTUNER_H

#include "glowish/IR/IR.h"

namespace glowish {

/// Measures the kernels that a back end chooses between. The driver runs it on
/// programs before the back end prepares them.
class KernelTuner {
public:
  virtual ~KernelTuner() = default;

  /// Measures the candidates of all instructions of \p functions and of their
  /// bodies that have not been measured yet; the back end uses the results.
  virtual llvm::Error tune(llvm::ArrayRef<const IRFunction *> functions) = 0;
};

} // namespace glowish

#endif // GLOWISH_BACKENDS_KERNELTUNER_H
