//===- MlirTarget.h - Graphs as MLIR ----------------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_FOREIGN_MLIRTARGET_H
#define GLOWISH_TESTS_FUZZ_FOREIGN_MLIRTARGET_H

#include "../RunValues.h"
#include "TemporaryFolder.h"
#include "glowish/Exporter/MLIR.h"

namespace glowish::fuzz {

/// Writes graphs in a dialect and runs them with LLVM's tools
/// (tests/mlir/run_mlir.py).
class MlirTarget {
public:
  /// \p name: "mlir-linalg" and so on, else an error says which there are.
  /// Null, with a line on stdout, where a program is not installed.
  static llvm::Expected<std::unique_ptr<MlirTarget>>
  create(llvm::StringRef name);
  static bool isName(llvm::StringRef name) { return name.starts_with("mlir-"); }

  MlirDialect getDialect() const { return dialect; }
  /// The outputs of \p module, whose nodes have forms, in a run that states
  /// \p values; null where the dialect has no such operation.
  llvm::Expected<std::optional<Outputs>> run(const Module &module,
                                             const RunExtents &values) const;

private:
  MlirTarget(MlirDialect dialect, std::unique_ptr<TemporaryFolder> folder)
      : dialect(dialect), folder(std::move(folder)) {}

  MlirDialect dialect;
  /// Has the library that every run loads.
  std::unique_ptr<TemporaryFolder> folder;
};

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_FOREIGN_MLIRTARGET_H
