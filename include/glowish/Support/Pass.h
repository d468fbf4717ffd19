//===- Pass.h - Passes, registries and pipelines ----------------*- C++ -*-===//
//
// A pass is a function, registered by name, that transforms a unit (a graph
// Function or an IRFunction) and returns whether it changed it. A pipeline is
// data: a list of groups of pass names, each run once or to a fixed point.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_SUPPORT_PASS_H
#define GLOWISH_SUPPORT_PASS_H

#include "glowish/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace glowish {

/// Effect of a pass on the numerical results of a program: bit-identical, or
/// rounded differently (the same arithmetic in another order or precision).
enum class Exactness { Exact, Rounding };

/// A registered pass over \p Unit with read-only access to \p Context.
template <typename Unit, typename Context> struct PassInfo {
  llvm::StringRef name;
  Exactness exactness;
  /// One-line description for -list-passes.
  llvm::StringRef doc;
  /// Returns whether it changed the unit.
  llvm::Expected<bool> (*run)(Unit &, const Context &);
  /// A former name that is still accepted; may be empty.
  llvm::StringRef oldName = {};
};

/// A group of passes run in order, once or until none changes anything.
struct PipelineStep {
  std::vector<std::string> passes;
  bool toFixedPoint = false;
  /// The subset of `passes` that later stages depend on.
  std::vector<std::string> required{};
};
using Pipeline = std::vector<PipelineStep>;

/// Callbacks of the driver before and after each run of a pass.
template <typename Unit> struct PassHooks {
  /// Returns whether to run the pass. It must return true if \p isRequired.
  std::function<llvm::Expected<bool>(llvm::StringRef pass, Unit &,
                                     bool isRequired)>
      before;
  /// An error, for example of a verifier, stops the pipeline.
  std::function<llvm::Error(llvm::StringRef pass, Unit &, bool changed)> after;
};

/// Bounds the rounds of a fixed point. Passes that undo each other never reach
/// it; those of the pipelines take a dozen for known networks.
constexpr unsigned maxFixedPointRounds = 32;

/// The error of a fixed point that is not reached: \p passes changed something
/// in the last round.
inline llvm::Error makeNoFixedPointError(llvm::ArrayRef<std::string> passes) {
  return makeError("internal: no fixed point after {0} rounds: passes that "
                   "still change something, and may undo each other: {1}",
                   maxFixedPointRounds, llvm::join(passes, ", "));
}

/// Units that contain other units (the subgraphs of control-flow operators).
/// getNested(unit) is found by argument-dependent lookup.
template <typename Unit>
concept HasNested = requires(Unit &unit) { getNested(unit); };

/// Returns the pass of \p table with the current or former name \p name, or
/// null.
template <typename Unit, typename Context>
const PassInfo<Unit, Context> *
findPass(llvm::ArrayRef<PassInfo<Unit, Context>> table, llvm::StringRef name) {
  for (const PassInfo<Unit, Context> &pass : table)
    if (pass.name == name || (!name.empty() && pass.oldName == name))
      return &pass;
  return nullptr;
}

/// Runs \p pipeline on \p unit with the passes of \p table. Each pass runs on
/// the units nested in \p unit first, innermost first. A fixed point that is
/// not reached is an error that names passes.
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
    for (unsigned round = 1;; ++round) {
      std::vector<std::string> changing;
      for (const std::string &name : step.passes) {
        llvm::Expected<bool> changed =
            runOne(name, llvm::is_contained(step.required, name));
        if (!changed)
          return changed.takeError();
        if (*changed)
          changing.push_back(name);
      }
      changedAny |= !changing.empty();
      if (changing.empty() || !step.toFixedPoint)
        break;
      if (round == maxFixedPointRounds)
        return makeNoFixedPointError(changing);
    }
  }
  return changedAny;
}

} // namespace glowish

#endif // GLOWISH_SUPPORT_PASS_H
