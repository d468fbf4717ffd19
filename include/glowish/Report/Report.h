//===- Report.h - A page about a compilation --------------------*- C++ -*-===//

#ifndef GLOWISH_REPORT_REPORT_H
#define GLOWISH_REPORT_REPORT_H

#include "glowish/Backends/CodeSizes.h"
#include "glowish/Driver/CompilationObserver.h"
#include "glowish/Driver/Profile.h"

namespace glowish {

struct ProgramRecord;

/// Records compilations and writes one self-contained HTML page about them: the
/// model and its graph, the changes of each pass, the schedule, the arena over
/// time, the cost of instructions, missed fusions, and the sizes of code and
/// constants. Phases that were not reached are left out. Apart from times, the
/// page depends on the compilation only.
class Report final : public CompilationObserver {
public:
  /// \p title: above the page. \p hasTimes: whether the page tells how long
  /// passes took.
  Report(std::string title, bool hasTimes);
  ~Report() override;

  void afterPhase(Phase phase, const Compilation &compilation,
                  const GraphStage &graph) override;
  void afterPhase(Phase phase, const Compilation &compilation,
                  const IRProgram &program) override;
  void afterPhase(Phase phase, const Compilation &compilation,
                  const PlannedProgram &program) override;
  void afterWeightQuantization(
      const Compilation &compilation,
      llvm::ArrayRef<NodeOfQuantizedWeights> nodes) override;
  void afterChoosingTogether(llvm::StringRef note) override {
    addFact("packed weights", note.str());
  }
  void afterPass(const PassRun &pass, const Compilation &compilation,
                 Function &unit) override;
  void afterPass(const PassRun &pass, const Compilation &compilation,
                 IRFunction &unit) override;

  /// A line of the page's first table.
  void addFact(std::string name, std::string value);
  /// Sets the title of the program that was imported as number \p program.
  void setProgramTitle(size_t program, std::string programTitle);
  /// Measured times of the instructions of the same program.
  void addProfile(size_t program, Profile profile);
  /// The code of the programs.
  void setCodeSizes(CodeSizes sizes) { codeSizes = std::move(sizes); }

  /// Whether all programs have a memory plan.
  bool isPlanned() const;
  /// The arenas of all programs (Report/MemoryMap.h). For this and print, the
  /// programs that have a plan still exist.
  void printMemory(llvm::raw_ostream &os) const;
  void print(llvm::raw_ostream &os) const;

private:
  ProgramRecord &beginRecord(const Compilation &compilation);
  ProgramRecord &getRecord(const Compilation &compilation);
  void countPass(const PassRun &pass, ProgramRecord &record);
  void printFacts(llvm::raw_ostream &os) const;

  std::string title;
  bool hasTimes;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::unique_ptr<ProgramRecord>> programs;
  std::optional<CodeSizes> codeSizes;
};

} // namespace glowish

#endif // GLOWISH_REPORT_REPORT_H
