//===- PassHooks.h - What happens around each pass --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_DRIVER_PASSHOOKS_H
#define GLOWISH_LIB_DRIVER_PASSHOOKS_H

#include "glowish/Driver/CompilationObserver.h"
#include "glowish/Driver/PassCheck.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/IR/IRText.h"
#include "glowish/Support/Pass.h"

namespace glowish {

/// The hooks that both kinds of pipelines run around each pass. \p own: for
/// this kind, of which \p numRun passes have run. \p check: what -check-passes
/// does with the pass.
template <typename Unit, typename PrintFn, typename CheckFn>
PassHooks<Unit> getHooks(const CompilationOptions &options,
                         const PassOptions &own, uint64_t &numRun,
                         PrintFn print, CheckFn check) {
  PassHooks<Unit> hooks;
  hooks.before = [&own, &numRun,
                  print](llvm::StringRef pass, Unit &unit,
                         bool isRequired) -> llvm::Expected<bool> {
    if (own.limit && numRun >= *own.limit && !isRequired)
      return false;
    ++numRun;
    if (own.printNames)
      llvm::errs() << "// pass " << pass << "\n";
    if (own.printBefore.has(pass)) {
      llvm::errs() << "// before " << pass << "\n";
      print(llvm::errs(), unit);
    }
    if (own.verifyBefore.has(pass))
      GLOWISH_RETURN_IF_ERROR(
          addContext(verify(unit), "before pass " + pass + ": "));
    return true;
  };
  hooks.after = [&options, &own, print, check](llvm::StringRef pass, Unit &unit,
                                               bool changed) -> llvm::Error {
    if (own.printAfter.has(pass) || (options.printAfterAll && changed)) {
      llvm::errs() << "// after " << pass << "\n";
      print(llvm::errs(), unit);
    }
    if (options.verifyEach || own.verifyAfter.has(pass))
      GLOWISH_RETURN_IF_ERROR(
          addContext(verify(unit), "after pass " + pass + ": "));
    if (options.passCheck && changed)
      return check(pass);
    return llvm::Error::success();
  };
  return hooks;
}

inline size_t countSteps(const Function &function) {
  return countNodes(function);
}
inline size_t countSteps(const IRFunction &function) {
  return countInstrs(function);
}

/// \p hooks that also notify \p observers of passes of \p compilation on
/// \p function and its bodies.
template <typename Unit>
PassHooks<Unit>
getWatched(PassHooks<Unit> hooks, const Compilation &compilation,
           const Unit &function,
           llvm::SmallVector<CompilationObserver *, 2> observers) {
  if (observers.empty())
    return hooks;
  struct Start {
    size_t size = 0;
    std::chrono::steady_clock::time_point time = {};
  };
  auto start = std::make_shared<Start>();
  PassHooks<Unit> watched;
  watched.before = [before = hooks.before, start](llvm::StringRef pass,
                                                  Unit &unit, bool isRequired) {
    llvm::Expected<bool> runs = before(pass, unit, isRequired);
    *start = {countSteps(unit), std::chrono::steady_clock::now()};
    return runs;
  };
  watched.after = [after = hooks.after, &compilation, &function, observers,
                   start](llvm::StringRef pass, Unit &unit, bool changed) {
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start->time;
    PassRun run = {.name = pass,
                   .isOnBody = &unit != &function,
                   .changed = changed,
                   .before = start->size,
                   .after = countSteps(unit),
                   .seconds = time.count()};
    for (CompilationObserver *observer : observers)
      observer->afterPass(run, compilation, unit);
    return after(pass, unit, changed);
  };
  return watched;
}

} // namespace glowish

#endif // GLOWISH_LIB_DRIVER_PASSHOOKS_H
