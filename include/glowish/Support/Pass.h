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
#include "glowish/Support/Task.h"
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
  /// Returns whether it changed the unit. Null where there is an argument.
  llvm::Expected<bool> (*run)(Unit &, const Context &);
  /// For passes that are written as `name<argument>`: the form of the argument,
  /// and the function that runs in place of `run`.
  llvm::StringRef argumentForm = {};
  llvm::Expected<bool> (*runWithArgument)(Unit &, const Context &,
                                          llvm::StringRef argument) = nullptr;
};

/// A group of passes run in order, once or until none changes anything.
struct PipelineStep {
  /// Names, or `name<argument>`.
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

/// Returns the pass of \p table with the name \p name, or null.
template <typename Unit, typename Context>
const PassInfo<Unit, Context> *
findPass(llvm::ArrayRef<PassInfo<Unit, Context>> table, llvm::StringRef name) {
  for (const PassInfo<Unit, Context> &pass : table)
    if (pass.name == name)
      return &pass;
  return nullptr;
}

/// A pass of a pipeline, with the argument that it has there.
template <typename Unit, typename Context> struct PassCall {
  const PassInfo<Unit, Context> *pass;
  llvm::StringRef argument;

  llvm::Expected<bool> run(Unit &unit, const Context &context) const {
    return pass->run ? pass->run(unit, context)
                     : pass->runWithArgument(unit, context, argument);
  }
};

/// Finds the pass that \p text, `name` or `name<argument>`, names in \p table.
/// The error states what the pass accepts.
template <typename Unit, typename Context>
llvm::Expected<PassCall<Unit, Context>>
parsePassCall(llvm::ArrayRef<PassInfo<Unit, Context>> table,
              llvm::StringRef text) {
  auto [name, argument] = text.split('<');
  const PassInfo<Unit, Context> *pass = findPass(table, name);
  if (!pass)
    return makeError("there is no pass called '{0}'", name);
  bool isClosed = argument.consume_back(">");
  if (pass->run && name != text)
    return makeError("pass '{0}' takes no argument; accepted: {1}", text, name);
  if (pass->runWithArgument && !isClosed)
    return makeError("pass '{0}' needs an argument; accepted: {1}<{2}>", text,
                     name, pass->argumentForm);
  return PassCall<Unit, Context>{pass, argument};
}

/// Runs \p pipeline on \p unit with the passes of \p table. Each pass runs on
/// the units nested in \p unit first, innermost first; one with an argument,
/// which is about \p unit, on that alone. A fixed point that is not reached is
/// an error that names passes.
template <typename Unit, typename Context>
llvm::Expected<bool> runPipeline(const Pipeline &pipeline,
                                 llvm::ArrayRef<PassInfo<Unit, Context>> table,
                                 Unit &unit, const Context &context,
                                 const PassHooks<Unit> &hooks = {}) {
  auto runOn = [&](auto &runOn, const PassCall<Unit, Context> &call, Unit &unit,
                   bool isRequired) -> llvm::Expected<bool> {
    const PassInfo<Unit, Context> &pass = *call.pass;
    bool changedNested = false;
    if constexpr (HasNested<Unit>)
      for (Unit *nested :
           pass.runWithArgument ? std::vector<Unit *>() : getNested(unit)) {
        llvm::Expected<bool> changed = runOn(runOn, call, *nested, isRequired);
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
    GLOWISH_RETURN_IF_ERROR(checkCancelled());
    llvm::Expected<bool> changed = call.run(unit, context);
    if (!changed)
      return changed.takeError();
    if (hooks.after)
      if (llvm::Error error = hooks.after(pass.name, unit, *changed))
        return std::move(error);
    return *changed || changedNested;
  };
  auto runOne = [&](llvm::StringRef name,
                    bool isRequired) -> llvm::Expected<bool> {
    llvm::Expected<PassCall<Unit, Context>> call = parsePassCall(table, name);
    if (!call)
      return call.takeError();
    return runOn(runOn, *call, unit, isRequired);
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
