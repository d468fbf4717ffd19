//===- Epilogue.h - What happens to results in registers --------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_EPILOGUE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_EPILOGUE_H

#include "Kernels/Math/EmittedScalar.h"
#include "Kernels/StridedOperand.h"

namespace glowish {

/// Passes \p value, the elements from \p index on along the last dimension,
/// through the epilogue and stores the first \p lanes of them.
inline void storeResult(KernelBuilder &b, const StridedOperand &result,
                        const EpilogueCode &epilogue,
                        llvm::ArrayRef<llvm::Value *> index, llvm::Value *value,
                        unsigned lanes) {
  Values values = {b.takeLanes(value, lanes)};
  llvm::SmallVector<ElemKind, 4> kinds = {epilogue.kind};
  if (!epilogue.program->empty())
    for (const StridedOperand &operand : epilogue.fused) {
      values.push_back(b.loadStrided(operand.kind, operand.getAddress(b, index),
                                     lanes, operand.getInnerStride()));
      kinds.push_back(operand.kind);
    }
  b.storeStrided(result.kind, emitProgram(b, *epilogue.program, values, kinds),
                 result.getAddress(b, index), result.getInnerStride());
}

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_EPILOGUE_H
