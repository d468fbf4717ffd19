//===- Reduction.h - Reduces models that a test found wrong -----*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_REDUCTION_H
#define GLOWISH_TESTS_FUZZ_REDUCTION_H

#include "GraphSpec.h"

namespace glowish::fuzz {

/// Returns the first function of \p module as a spec that shrink() takes: the
/// elements of its constants are given, and those of its inputs where \p inputs
/// has them by their names (Values.h). \p module outlives all use of the spec.
/// An error is that a spec has no form for something.
llvm::Expected<GraphSpec> makeSpec(const Module &module,
                                   const std::map<std::string, Tensor> &inputs);

/// A model, and what a run of it that went wrong was given.
struct WrongRun {
  std::unique_ptr<Module> module;
  std::map<std::string, Tensor> inputs;
  /// The outputs that are wrong; all where there are none.
  std::vector<std::string> outputs;
};

/// Writes a smaller model of \p run to \p folder, which is made:
/// `reduced.graph`, and `NAME.npy` for each of its inputs of a kind that the
/// format has. Where the code of a back end computes something else than the
/// reference, it is the smallest graph found in \p maxChecks programs of which
/// that is still true; else, what the wrong outputs are computed of. Returns a
/// line that says so.
llvm::Expected<std::string> reduce(WrongRun run, llvm::StringRef folder,
                                   unsigned maxChecks);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_REDUCTION_H
