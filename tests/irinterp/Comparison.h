//===- Comparison.h - LLVM IR before and after its passes -------*- C++ -*-===//

#ifndef GLOWISH_TESTS_IRINTERP_COMPARISON_H
#define GLOWISH_TESTS_IRINTERP_COMPARISON_H

#include "Interpreter.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Driver/Stages.h"

namespace glowish::irinterp {

/// What a program leaves in its outputs, one after the other.
struct Outputs {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  uint64_t numSteps = 0;
};

/// A model that is compiled for a target, with inputs that follow from a seed.
class CheckedModel {
public:
  /// \p backend outlives the model.
  static llvm::Expected<CheckedModel>
  create(CPUBackend &backend, llvm::StringRef path, uint64_t seed);

  /// Its LLVM IR as the emitters make it; the context outlives it.
  llvm::Expected<std::unique_ptr<llvm::Module>>
  emit(llvm::LLVMContext &context) const;
  /// Interprets that, or what LLVM's passes made of it. Each placeholder, the
  /// weights and the activations are a piece of memory of its own.
  llvm::Expected<Outputs> interpret(const llvm::Module &module) const;
  /// What the interpreter of the project computes.
  llvm::Expected<Outputs> getReference() const;

private:
  struct Places;
  CheckedModel(CPUBackend &backend, PlannedProgram program, std::string path,
               uint64_t seed)
      : backend(&backend), program(std::move(program)), path(std::move(path)),
        seed(seed) {}
  llvm::Expected<Places> placeAll(Memory &memory,
                                  const llvm::Module &module) const;
  llvm::Expected<Tensor> readOutput(const Memory &memory, uint64_t address,
                                    const Buffer *output) const;

  CPUBackend *backend;
  PlannedProgram program;
  std::string path;
  uint64_t seed;
};

/// Says where two results of the same model differ in their bits.
llvm::Error compareBits(const Outputs &before, const Outputs &after);
/// Says where a result differs from a reference by more than a share of the
/// largest magnitude.
llvm::Error compareValues(const Outputs &actual, const Outputs &expected,
                          double tolerance);

} // namespace glowish::irinterp

#endif // GLOWISH_TESTS_IRINTERP_COMPARISON_H
