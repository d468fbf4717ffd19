//===- CompilationObserver.h - Who looks on at a compilation ----*- C++ -*-===//

#ifndef GLOWISH_DRIVER_COMPILATIONOBSERVER_H
#define GLOWISH_DRIVER_COMPILATIONOBSERVER_H

#include "glowish/Driver/Compilation.h"

namespace glowish {

/// Is told what happens in one compilation, or in several that take turns. What
/// it is shown may be gone when it is told the next thing.
class CompilationObserver {
public:
  virtual ~CompilationObserver() = default;

  /// \p phase has come to its end and been verified. Plan: the IR and the plan
  /// stay as long as \p compilation. OptimizeIR: the back end has not prepared
  /// the IR yet.
  virtual void afterPhase(Phase phase, Compilation &compilation) {}
  /// What runs from now on is a pass, until afterPass is told of it.
  virtual void beforePass() {}
  /// \p pass has run on \p unit: the function that is compiled, or a body
  /// inside it.
  virtual void afterPass(llvm::StringRef pass, Compilation &compilation,
                         Function &unit, bool changed) {}
  virtual void afterPass(llvm::StringRef pass, Compilation &compilation,
                         IRFunction &unit, bool changed) {}
};

} // namespace glowish

#endif // GLOWISH_DRIVER_COMPILATIONOBSERVER_H
