//===- Pass.h - Passes, registries and pipelines --------------*- C++ -*-===//
//
// A pass is a function from a unit (a graph Function, an IRFunction) to
// 'changed or not', registered by name. A pipeline is data: a list of names,
// each group run once or to a fixed point.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_SUPPORT_PASS_H
#define GLOWISH_SUPPORT_PASS_H

#include "glowish/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace glowish {

/// What a pass may do to the results of a program: nothing, or compute them
/// with other roundings of the same arithmetic.
enum class Exactness { Exact, Rounding };

/// A pass over \p Unit that may look at \p Context.
template <typename Unit, typename Context> struct PassInfo {
  llvm::StringRef name;
  Exactness exactness;
  /// One line for -list-passes.
  llvm::StringRef doc;
  /// Returns whether it changed the unit.
  llvm::Expected<bool> (*run)(Unit &, const Context &);
};

/// A group of passes run in order, once or until none changes anything.
struct PipelineStep {
  std::vector<std::string> passes;
  bool toFixedPoint = false;
  /// Those of the passes without which what comes after can't go on.
  std::vector<std::string> required{};
};
using Pipeline = std::vector<PipelineStep>;

/// What a driver wants to see or do between passes.
template <typename Unit> struct PassHooks {
  /// Before each run of a pass: whether it runs, as a required one must.
  std::function<llvm::Expected<bool>(llvm::StringRef pass, Unit &,
                                     bool isRequired)>
      before;
  /// After each run of a pass; an error (of a verifier) stops the pipeline.
  std::function<llvm::Error(llvm::StringRef pass, Unit &, bool changed)> after;
};

/// The most rounds of a fixed point: a pair of passes that undo each other is
/// a bug that must not hang the compiler.
constexpr unsigned maxFixedPointRounds = 32;

/// A unit may contain others (bodies of its operators), which getNested(unit),
/// found by its argument, gives.
template <typename Unit>
concept HasNested = requires(Unit &unit) { getNested(unit); };

/// The pass of \p table called \p name; null if there is none.
template <typename Unit, typename Context>
const PassInfo<Unit, Context> *
findPass(llvm::ArrayRef<PassInfo<Unit, Context>> table, llvm::StringRef name) {
  for (const PassInfo<Unit, Context> &pass : table)
    if (pass.name == name)
      return &pass;
  return nullptr;
}

/// Runs \p pipeline on \p unit with the passes of \p table. Each pass runs
/// first on the units inside \p unit, from the innermost on.
template <typename Unit, typename Context>
llvm::Expected<bool> runPipeline(const Pipeline &pipeline,
                                 llvm::ArrayRef<PassInfo<Unit, Context>> table,
                                 Unit &unit, const Context &context,
                                 const PassHooks<Unit> &hooks = {}) {
  auto runOn = [&](auto &runOn, const PassInfo<Unit, Context> &pass, Unit &unit,
                   bool isRequired) -> llvm::Expected<bool> {
    bool changedNested = false;
    if constexpr (HasNested<Unit>)
      for (Unit *nested : getNested(unit)) {
        llvm::Expected<bool> changed = runOn(runOn, pass, *nested, isRequired);
        if (!changed)
          return changed.takeError();
        changedNested |= *changed;
      }
    if (hooks.before) {
      llvm::Expected<bool> runs = hooks.before(pass.name, unit, isRequired);
      if (!runs)
        return runs.takeError();
      if (!*runs)
        return changedNested;
    }
    llvm::Expected<bool> changed = pass.run(unit, context);
    if (!changed)
      return changed.takeError();
    if (hooks.after)
      if (llvm::Error error = hooks.after(pass.name, unit, *changed))
        return std::move(error);
    return *changed || changedNested;
  };
  auto runOne = [&](llvm::StringRef name,
                    bool isRequired) -> llvm::Expected<bool> {
    if (const PassInfo<Unit, Context> *pass = findPass(table, name))
      return runOn(runOn, *pass, unit, isRequired);
    return makeError("there is no pass called '{0}'", name);
  };
  bool changedAny = false;
  for (const PipelineStep &step : pipeline) {
    for (unsigned round = 0; round < maxFixedPointRounds; ++round) {
      bool changed = false;
      for (const std::string &name : step.passes) {
        llvm::Expected<bool> result =
            runOne(name, llvm::is_contained(step.required, name));
        if (!result)
          return result.takeError();
        changed |= *result;
      }
      changedAny |= changed;
      if (!changed || !step.toFixedPoint)
        break;
    }
  }
  return changedAny;
}

} // namespace glowish

#endif // GLOWISH_SUPPORT_PASS_H
