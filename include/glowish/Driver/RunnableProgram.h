//===- RunnableProgram.h - What is needed to run ----------------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_RUNNABLEPROGRAM_H
#define GLOWISH_DRIVER_RUNNABLEPROGRAM_H

#include "glowish/Driver/ModelVariants.h"

namespace glowish {

class ProgramCache;

/// A program that runs in this process: its code is loaded, and its constants
/// are in memory. Any number of sessions may run it. Members are never null.
struct RunnableProgram {
  /// Generates the code of \p program, whose back end outlives the result.
  /// \p constants: the region of programs that share theirs; null for a program
  /// of its own.
  static llvm::Expected<RunnableProgram>
  create(PlannedProgram program, std::shared_ptr<const Tensor> constants);

  /// A function with the placeholders in their order, and perhaps with
  /// instructions.
  std::shared_ptr<const IRFunction> placeholders;
  /// The places of these, and the sizes of all regions.
  std::shared_ptr<const MemoryPlan> plan;
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<const Tensor> constants;
};

/// A model, and all that determines its programs.
struct ModelRequest {
  /// Outlives what is made of the request.
  Backend &backend;
  /// See Compilation::import.
  std::string path;
  ImportOptions importOptions;
  /// The compilation stops nowhere.
  CompilationOptions options;
  /// See ModelVariants::open. The programs are those that
  /// ModelVariants::select() keeps.
  std::vector<SymbolValues> symbols = {};
};

/// The programs of a model.
struct RunnableModel {
  struct Program {
    /// ModelVariants::describe(); empty where there is one program.
    std::string title;
    RunnableProgram program;
  };
  std::vector<Program> programs;
  /// Whether they were read from a cache: nothing was imported or compiled.
  bool isFromCache = false;
};

/// Makes the programs of \p request, or reads them from \p cache if it has
/// them; else they are kept there. Null: no cache. What a user gets by the
/// import options (warnings, sequenceOutputs) is the same either way.
llvm::Expected<RunnableModel> makeRunnable(ModelRequest request,
                                           ProgramCache *cache = nullptr);

} // namespace glowish

#endif // GLOWISH_DRIVER_RUNNABLEPROGRAM_H
