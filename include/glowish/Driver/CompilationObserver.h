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
  /// The nodes or instructions of what it ran on, with those of bodies, before
  /// and after it; and how long it took.
  size_t before = 0, after = 0;
  double seconds = 0;
};

/// Calls \p visit with the nodes of \p function and its bodies.
void forEachNode(const Function &function,
                 llvm::function_ref<void(const Node &node)> visit);
/// The nodes of \p function and its bodies.
size_t countNodes(const Function &function);
/// The instructions of \p function and its bodies, without marks of lifetimes.
size_t countInstrs(const IRFunction &function);

/// Callbacks for the phases and passes of one compilation, or of several that
/// interleave: \p compilation identifies them. Arguments are valid until
/// the next callback, unless stated otherwise.
class CompilationObserver {
public:
  virtual ~CompilationObserver() = default;

  /// Called when \p phase, one of Import to Schedule, has ended and its result
  /// has been verified.
  virtual void afterPhase(Phase phase, const Compilation &compilation,
                          const GraphStage &graph) {}
  /// The same for IRGen, and for OptimizeIR before the back end prepares the
  /// IR.
  virtual void afterPhase(Phase phase, const Compilation &compilation,
                          const IRProgram &program) {}
  /// The same for Plan. IR, plan and back end are valid as long as the program
  /// that the compilation returns.
  virtual void afterPhase(Phase phase, const Compilation &compilation,
                          const PlannedProgram &program) {}
  /// Called after Import has ended, with the nodes whose weights alone it has
  /// quantized.
  virtual void
  afterWeightQuantization(const Compilation &compilation,
                          llvm::ArrayRef<NodeOfQuantizedWeights> nodes) {}
  /// Called where programs that share weights cannot share all choices, with
  /// SharedChoices::getNote().
  virtual void afterChoosingTogether(llvm::StringRef note) {}
  /// Called after \p pass has run on \p unit.
  virtual void afterPass(const PassRun &pass, const Compilation &compilation,
                         Function &unit) {}
  virtual void afterPass(const PassRun &pass, const Compilation &compilation,
                         IRFunction &unit) {}
};

} // namespace glowish

#endif // GLOWISH_DRIVER_COMPILATIONOBSERVER_H
