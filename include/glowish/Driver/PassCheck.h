//===- PassCheck.h - Finds passes that change results -----------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_PASSCHECK_H
#define GLOWISH_DRIVER_PASSCHECK_H

#include "glowish/Driver/Session.h"
#include "glowish/Support/Pass.h"
#include <functional>
#include <map>

namespace glowish {

/// Interprets a program on the same inputs after every pass, and finds the pass
/// after which the outputs differ from those before it by more than it may
/// (PassInfo::exactness).
class PassCheck {
public:
  /// By the placeholders' names in the model.
  using Outputs = std::map<std::string, Tensor>;
  /// Sets the inputs of a session, each time to the same values.
  using Fill = std::function<llvm::Error(Session &session)>;
  /// How \p after differs from \p before; empty where it may. \p tolerance: by
  /// which share of its largest magnitude an output may be off; 0: not at all.
  using Compare = std::function<std::string(
      const Outputs &before, const Outputs &after, double tolerance)>;

  explicit PassCheck(Fill fill, Compare compare = describeChange);

  /// Sets the reference of later checks: the outputs of \p module's first
  /// function, or of \p function.
  llvm::Error start(Module &module);
  llvm::Error start(const IRFunction &function);
  /// Checks \p module or \p function after \p what, a pass or a phase. The
  /// error states how an output changed. A function with instructions of one
  /// back end, which the interpreter has not, is checked by checkCode() alone.
  llvm::Error check(llvm::StringRef what, Exactness exactness, Module &module);
  llvm::Error check(llvm::StringRef what, Exactness exactness,
                    const IRFunction &function);
  /// The same of what \p backend has prepared and compiles itself. Where the
  /// interpreter adds up in double, this may be off by codeTolerance at least.
  llvm::Error checkCode(Backend &backend, const IRFunction &function,
                        const MemoryPlan &plan);
  static constexpr double codeTolerance = 1e-4;

  unsigned getNumChecks() const { return numChecks; }

  /// A Compare. Without a tolerance each element has the same value: zeros may
  /// differ in their signs and NaN in their payloads. Integers never differ.
  static std::string describeChange(const Outputs &before, const Outputs &after,
                                    double tolerance);
  /// By how much passes that round otherwise may be off where values of \p kind
  /// are computed: 1e-5, and where that is larger 8 units in the last place, of
  /// a quantized kind 8 steps of 256.
  static double getRoundingTolerance(ElemKind kind);

private:
  double getTolerance(Exactness exactness) const {
    return exactness == Exactness::Exact ? 0 : roundingTolerance;
  }
  /// Runs \p function and compares; \p what has made it.
  llvm::Error check(llvm::StringRef what, double tolerance, Backend &backend,
                    const IRFunction &function, const MemoryPlan &plan);
  llvm::Error take(llvm::StringRef what, double tolerance, Outputs outputs);
  llvm::Expected<Outputs> interpret(Module &module);
  llvm::Expected<Outputs> run(Backend &backend, const IRFunction &function,
                              const MemoryPlan &plan);

  Fill fill;
  Compare compare;
  std::unique_ptr<Backend> interpreter;
  std::optional<Outputs> last;
  /// The largest getRoundingTolerance of what the module computes.
  double roundingTolerance = 0;
  unsigned numChecks = 0;
};

} // namespace glowish

#endif // GLOWISH_DRIVER_PASSCHECK_H
