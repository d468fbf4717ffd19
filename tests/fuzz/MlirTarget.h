//===- MlirTarget.h - Graphs as MLIR ----------------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_MLIRTARGET_H
#define GLOWISH_TESTS_FUZZ_MLIRTARGET_H

#include "GraphTarget.h"
#include "common/Foreign/TemporaryFolder.h"
#include "glowish/Exporter/MLIR.h"

namespace glowish::fuzz {

/// Writes graphs in a dialect and runs them with LLVM's tools, or StableHLO's
/// interpreter (tests/mlir/run_mlir.py).
class MlirTarget final : public GraphTarget {
public:
  /// \p name: "mlir-linalg" and so on, else an error says which there are.
  /// Null, with a line on stdout, where a program is not installed.
  static llvm::Expected<std::unique_ptr<GraphTarget>>
  create(llvm::StringRef name);
  static bool isName(llvm::StringRef name) { return name.starts_with("mlir-"); }

  llvm::StringRef getName() const override { return name; }
  bool hasForm(const Node &node) const override {
    return hasMlirForm(dialect, node);
  }
  /// TOSA has no form of some graphs; the other dialects have of all.
  llvm::Expected<Outputs> run(Module &module,
                              const RunExtents &values) const override;

private:
  MlirTarget(llvm::StringRef name, MlirDialect dialect,
             std::unique_ptr<TemporaryFolder> folder)
      : name(name), dialect(dialect), folder(std::move(folder)) {}

  std::string name;
  MlirDialect dialect;
  /// Has the library that every run loads.
  std::unique_ptr<TemporaryFolder> folder;
};

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_MLIRTARGET_H
