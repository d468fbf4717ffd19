//===- SharedPrograms.cpp - Programs that share constants -----------------===//

#include "SharedPrograms.h"
#include "glowish/Backends/KernelTuner.h"
#include "glowish/Driver/CompilationObserver.h"
#include "glowish/IR/PlaceholderPool.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Numbers.h"

using namespace glowish;

/// Chooses kernels for all programs, after their constants, of which most are
/// the same, have been found to be equal.
static llvm::Expected<std::unique_ptr<SharedChoices>>
chooseTogether(Backend &backend, const CompilationOptions &options,
               const ImportOptions &importOptions,
               llvm::MutableArrayRef<StartedProgram> started) {
  ConstantPool unpacked(MemoryPlan::defaultAlignment);
  std::vector<const IRFunction *> functions;
  for (StartedProgram &each : started) {
    unpacked.share(each.program->getIR());
    functions.push_back(&each.program->getIR());
  }
  if (options.tuner)
    GLOWISH_RETURN_IF_ERROR(options.tuner->tune(functions));
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<SharedChoices> choices,
                           backend.chooseTogether(functions));
  std::string note = choices ? choices->getNote() : "";
  if (!note.empty()) {
    importOptions.tell(note);
    if (options.observer)
      options.observer->afterChoosingTogether(note);
  }
  return choices;
}

static llvm::Expected<PlaceholderPool>
arrangePlaceholders(llvm::ArrayRef<StartedProgram> started,
                    llvm::ArrayRef<PlaceholderSharing> sharing) {
  std::vector<PlaceholderPool::Member> members;
  for (auto [each, own] : llvm::zip_equal(started, sharing))
    members.push_back({&each.program->getIR(), each.title, own});
  return PlaceholderPool::create(std::move(members));
}

llvm::Expected<std::vector<PlannedProgram>> glowish::finishPrograms(
    Backend &backend, const CompilationOptions &options,
    const ImportOptions &importOptions, std::vector<StartedProgram> started,
    ConstantPool &constants, llvm::ArrayRef<PlaceholderSharing> sharing) {
  std::vector<PlannedProgram> programs;
  if (llvm::any_of(started,
                   [](const StartedProgram &each) { return !each.program; }))
    return programs;
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<SharedChoices> choices,
      chooseTogether(backend, options, importOptions, started));
  std::optional<PlaceholderPool> placeholders;
  if (!sharing.empty())
    GLOWISH_ASSIGN_OR_RETURN(placeholders,
                             arrangePlaceholders(started, sharing));
  for (StartedProgram &each : started) {
    GLOWISH_ASSIGN_OR_RETURN(
        std::optional<PlannedProgram> program,
        addContext(each.compilation->runToPlan(
                       std::move(*each.program), choices.get(),
                       {&constants, placeholders ? &*placeholders : nullptr}),
                   each.title + ": "));
    if (program)
      programs.push_back(std::move(*program));
  }
  if (!programs.empty())
    GLOWISH_VLOG(1, "constants of {0} programs: {1}, without sharing {2}",
                 started.size(), formatExactBytes(constants.getSize()),
                 formatExactBytes(constants.getSizeUnshared()));
  return programs;
}
