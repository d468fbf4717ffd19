//===- Epilogue.h - What happens to results in registers --------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_EPILOGUE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_EPILOGUE_H

#include "Kernels/Math/EmittedScalar.h"
#include "Kernels/StridedOperand.h"

namespace glowish {

/// Passes \p value through the epilogue, whose operands \p load returns.
inline llvm::Value *
emitEpilogue(KernelBuilder &b, const EpilogueCode &epilogue, llvm::Value *value,
             llvm::function_ref<llvm::Value *(const StridedOperand &)> load) {
  Values values = {value};
  llvm::SmallVector<ElemKind, 4> kinds = {epilogue.kind};
  for (const StridedOperand &operand : epilogue.fused) {
    values.push_back(load(operand));
    kinds.push_back(operand.kind);
  }
  return emitProgram(b, *epilogue.program, values, kinds);
}

/// Passes \p value, the elements from \p index on along the last dimension,
/// through the epilogue and stores the first \p lanes of them.
inline void storeResult(KernelBuilder &b, const StridedOperand &result,
                        const EpilogueCode &epilogue,
                        llvm::ArrayRef<llvm::Value *> index, llvm::Value *value,
                        unsigned lanes) {
  auto load = [&](const StridedOperand &operand) {
    return b.loadStrided(operand.kind, operand.getAddress(b, index), lanes,
                         operand.getInnerStride());
  };
  b.storeStrided(result.kind,
                 emitEpilogue(b, epilogue, b.takeLanes(value, lanes), load),
                 result.getAddress(b, index), result.getInnerStride());
}

/// The addresses that storeResult takes for one element, of which others are a
/// constant distance away.
class ResultAddresses {
public:
  ResultAddresses(KernelBuilder &b, const StridedOperand &result,
                  const EpilogueCode &epilogue,
                  llvm::ArrayRef<llvm::Value *> index)
      : result(result), epilogue(epilogue), own(result.getAddress(b, index)) {
    for (const StridedOperand &operand : epilogue.fused)
      fused.push_back(operand.getAddress(b, index));
  }

  /// Passes \p value, the element \p steps from the first one in each
  /// dimension, through the epilogue and stores it.
  void store(KernelBuilder &b, llvm::ArrayRef<int64_t> steps,
             llvm::Value *value) const {
    auto getDistance = [&](const StridedOperand &operand) {
      int64_t distance = 0;
      for (auto [step, stride] : llvm::zip_equal(steps, operand.strides))
        distance += step * stride;
      return distance;
    };
    auto *address = fused.begin();
    auto load = [&](const StridedOperand &operand) {
      return b.loadElement(operand.kind, *address++, getDistance(operand), 1);
    };
    b.storeElement(result.kind, emitEpilogue(b, epilogue, value, load), own,
                   getDistance(result));
  }

private:
  const StridedOperand &result;
  const EpilogueCode &epilogue;
  llvm::Value *own;
  Values fused;
};

/// Whether storePixels takes pixels of \p channels channels, in images
/// [N, H, W, C] where an operand that is the same for all has stride 0.
inline bool canJoinPixels(const StridedOperand &result,
                          const EpilogueCode &epilogue, int64_t channels) {
  auto isDense = [&](const StridedOperand &operand) {
    return operand.strides[2] == channels && operand.getInnerStride() == 1;
  };
  return isDense(result) &&
         llvm::all_of(epilogue.fused, [&](const StridedOperand &operand) {
           return isDense(operand) || operand.strides[2] == 0;
         });
}

/// The same as storeResult for all channels of some pixels that lie side by
/// side: the first \p lanes of each of \p pixels, of which \p index is the
/// first. Of few channels, a vector has several pixels'.
inline void storePixels(KernelBuilder &b, const StridedOperand &result,
                        const EpilogueCode &epilogue,
                        llvm::ArrayRef<llvm::Value *> index,
                        llvm::ArrayRef<llvm::Value *> pixels, unsigned lanes) {
  unsigned count = unsigned(pixels.size());
  auto load = [&](const StridedOperand &operand) {
    llvm::Value *address = operand.getAddress(b, index);
    if (operand.strides[2] != 0)
      return b.load(operand.kind, address, count * lanes);
    llvm::Value *shared =
        b.loadStrided(operand.kind, address, lanes, operand.getInnerStride());
    return b.joinLanes(Values(count, shared), lanes);
  };
  b.store(result.kind,
          emitEpilogue(b, epilogue, b.joinLanes(pixels, lanes), load),
          result.getAddress(b, index));
}

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_EPILOGUE_H
