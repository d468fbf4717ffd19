//===- OnnxRuntime.h - Models in ONNX Runtime -------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_COMMON_FOREIGN_ONNXRUNTIME_H
#define GLOWISH_TESTS_COMMON_FOREIGN_ONNXRUNTIME_H

#include "glowish/Base/Tensor.h"
#include "llvm/Support/Error.h"

namespace glowish {

/// What ONNX Runtime has no kernel for, or its binding for Node.js no tensors.
class NotInOnnxRuntime : public llvm::ErrorInfo<NotInOnnxRuntime> {
public:
  static char ID;

  explicit NotInOnnxRuntime(std::string text) : text(std::move(text)) {}

  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  /// "node 'a' (Atanh): ONNX Runtime has no kernel".
  std::string text;
};

/// Why there is no ONNX Runtime; empty where there is one.
std::string findMissingOnnxRuntime();

struct OnnxRuntimeRun {
  std::string model;
  /// By the names of the inputs.
  std::vector<std::pair<std::string, const Tensor *>> inputs;
  std::vector<std::string> outputs;
  /// With all of its optimizations, or with none.
  bool isOptimized = true;
};

/// The outputs of a run in a process of its own (run_onnx.mjs). The error is
/// NotInOnnxRuntime, or has what ONNX Runtime says.
llvm::Expected<std::vector<Tensor>> runOnnxRuntime(const OnnxRuntimeRun &run);

} // namespace glowish

#endif // GLOWISH_TESTS_COMMON_FOREIGN_ONNXRUNTIME_H
