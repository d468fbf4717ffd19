//===- CompilationObserver.h - Callbacks during a compilation ---*- C++ -*-===//

#ifndef GLOWISH_DRIVER_COMPILATIONOBSERVER_H
#define GLOWISH_DRIVER_COMPILATIONOBSERVER_H

#include "glowish/Driver/Compilation.h"

namespace glowish {

/// One run of a pass.
struct PassRun {
  llvm::StringRef name;
  /// Whether it ran on a body inside the function that is compiled.
  bool isOnBody = false;
  /// Whether it changed anything.
  bool changed = false;
};

/// Is told what happens in one compilation, or in several that take turns. What
/// it is shown may be gone when it is told the next thing. \p compilation says
/// which of them it is.
class CompilationObserver {
public:
  virtual ~CompilationObserver() = default;

  /// \p phase, which is one of Import to Schedule, has come to its end and been
  /// verified.
  virtual void afterPhase(Phase phase, const Compilation &compilation,
                          const GraphStage &graph) {}
  /// The same of IRGen, and of OptimizeIR before the back end prepares the IR.
  virtual void afterPhase(Phase phase, const Compilation &compilation,
                          const IRProgram &program) {}
  /// The same of Plan. IR, plan and back end stay as long as the program that
  /// the compilation returns.
  virtual void afterPhase(Phase phase, const Compilation &compilation,
                          const PlannedProgram &program) {}
  /// What runs from now on is a pass, until afterPass is told of it.
  virtual void beforePass() {}
  /// \p pass has run on \p unit.
  virtual void afterPass(const PassRun &pass, const Compilation &compilation,
                         Function &unit) {}
  virtual void afterPass(const PassRun &pass, const Compilation &compilation,
                         IRFunction &unit) {}
};

} // namespace glowish

#endif // GLOWISH_DRIVER_COMPILATIONOBSERVER_H
