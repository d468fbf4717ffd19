//===- SharedPrograms.h - Programs that share constants ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_DRIVER_SHAREDPROGRAMS_H
#define GLOWISH_LIB_DRIVER_SHAREDPROGRAMS_H

#include "glowish/Driver/Compilation.h"

namespace glowish {

/// A program on its way: its phases, and what they have come to.
struct StartedProgram {
  /// In errors: "with batch=8", "the function 'encode'".
  std::string title;
  std::unique_ptr<Compilation> compilation;
  /// Null where the compilation stops before.
  std::optional<IRProgram> program;
};

/// Runs the phases behind the IR for \p started, which share their constants:
/// these go to \p constants. \p sharing: the placeholders that functions have
/// in common, one for each program; none where each program has its own mutable
/// region. Reports choices that they can't share to the warnings of
/// \p importOptions and to the observer. Returns no programs where the
/// compilation stops before the plan.
llvm::Expected<std::vector<PlannedProgram>>
finishPrograms(Backend &backend, const CompilationOptions &options,
               const ImportOptions &importOptions,
               std::vector<StartedProgram> started, ConstantPool &constants,
               llvm::ArrayRef<PlaceholderSharing> sharing = {});

} // namespace glowish

#endif // GLOWISH_LIB_DRIVER_SHAREDPROGRAMS_H
