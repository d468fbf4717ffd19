//===- PlanCertificate.h - The proof of memory plans as a file --*- C++ -*-===//

#ifndef GLOWISH_LIB_COMPILER_PLANCERTIFICATE_H
#define GLOWISH_LIB_COMPILER_PLANCERTIFICATE_H

#include "glowish/Backends/Bundle.h"
#include "glowish/IR/PlanProof.h"

namespace glowish {

/// Proofs of the memory plans of programs that run with the same regions, and
/// what another program needs to check them again (tests/check_plan.py).
class PlanCertificate {
public:
  /// Proves the plans of \p variants and that they agree. \p titles: of the
  /// programs. The programs outlive the result.
  static llvm::Expected<PlanCertificate>
  prove(const Variants &variants, llvm::ArrayRef<std::string> titles);
  /// The same of programs that learn.
  static llvm::Expected<PlanCertificate>
  prove(const TrainingPrograms &programs);

  /// Prints the certificate as JSON. \p target: names and values that say what
  /// the programs are for. The same programs give the same bytes.
  void print(llvm::raw_ostream &os, uint64_t modelHash,
             llvm::ArrayRef<std::pair<std::string, std::string>> target) const;

private:
  struct Program {
    std::string title;
    const IRFunction *function;
    const MemoryPlan *plan;
    /// See ProvedProgram.
    unsigned placeholders, states;
    ProofOptions options = {};
    PlanProof proof = {};
  };
  static llvm::Expected<PlanCertificate> prove(std::vector<Program> programs);

  std::vector<Program> programs;
};

} // namespace glowish

#endif // GLOWISH_LIB_COMPILER_PLANCERTIFICATE_H
