//===- MlirTarget.h - Graphs as MLIR ----------------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_MLIRTARGET_H
#define GLOWISH_TESTS_FUZZ_MLIRTARGET_H

#include "RunValues.h"
#include "common/Foreign/TemporaryFolder.h"
#include "glowish/Exporter/MLIR.h"
#include <set>

namespace glowish::fuzz {

/// A graph that a dialect of MLIR cannot express.
class Inexpressible : public llvm::ErrorInfo<Inexpressible> {
public:
  static char ID;

  explicit Inexpressible(std::string text) : text(std::move(text)) {}

  /// "Scatter: tosa has no form of it", one for each kind of nodes and reason.
  std::set<std::string> getReasons() const;

  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  /// That of writeMlir().
  std::string text;
};

/// Writes graphs in a dialect and runs them with LLVM's tools, or StableHLO's
/// interpreter (tests/mlir/run_mlir.py).
class MlirTarget {
public:
  /// \p name: "mlir-linalg" and so on, else an error says which there are.
  /// Null, with a line on stdout, where a program is not installed.
  static llvm::Expected<std::unique_ptr<MlirTarget>>
  create(llvm::StringRef name);
  static bool isName(llvm::StringRef name) { return name.starts_with("mlir-"); }

  MlirDialect getDialect() const { return dialect; }
  /// The outputs of \p module in a run that states \p values. The error is
  /// Inexpressible where TOSA has no such operation; the other dialects have
  /// all.
  llvm::Expected<Outputs> run(const Module &module,
                              const RunExtents &values) const;

private:
  MlirTarget(MlirDialect dialect, std::unique_ptr<TemporaryFolder> folder)
      : dialect(dialect), folder(std::move(folder)) {}

  MlirDialect dialect;
  /// Has the library that every run loads.
  std::unique_ptr<TemporaryFolder> folder;
};

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_MLIRTARGET_H
