//===- OnnxRuntimeTarget.h - Graphs in ONNX Runtime -------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_ONNXRUNTIMETARGET_H
#define GLOWISH_TESTS_FUZZ_ONNXRUNTIMETARGET_H

#include "GraphTarget.h"

namespace glowish::fuzz {

/// Writes graphs as ONNX models and runs them in ONNX Runtime, with or without
/// its optimizations.
class OnnxRuntimeTarget final : public GraphTarget {
public:
  /// \p name: that of isName(). Null, with a line on stdout, where ONNX Runtime
  /// is not installed.
  static llvm::Expected<std::unique_ptr<GraphTarget>>
  create(llvm::StringRef name);
  static bool isName(llvm::StringRef name) {
    return name == optimized || name == plain;
  }

  llvm::StringRef getName() const override {
    return isOptimized ? optimized : plain;
  }
  bool hasForm(const Node &node) const override;
  llvm::Expected<Outputs> run(Module &module,
                              const RunExtents &values) const override;

private:
  static constexpr llvm::StringLiteral optimized = "onnxruntime";
  static constexpr llvm::StringLiteral plain = "onnxruntime-plain";

  explicit OnnxRuntimeTarget(bool isOptimized) : isOptimized(isOptimized) {}

  bool isOptimized;
};

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_ONNXRUNTIMETARGET_H
