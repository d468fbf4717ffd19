//===- Robustness.cpp - Checks of malformed input -------------------------===//

#include "Robustness.h"
#include "../unit/ChildProcess.h"
#include "Allocations.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/TrainingCompilation.h"
#include "glowish/Graph/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <sys/resource.h>

using namespace glowish;
using namespace glowish::robustness;

/// Of processor time: others may be at work on the machine.
static constexpr unsigned maxSeconds = 60;

Range glowish::robustness::getRange(uint64_t defaultCount) {
  Range range = {1, defaultCount};
  if (const char *text = std::getenv("GLOWISH_ROBUSTNESS")) {
    auto [first, count] = llvm::StringRef(text).split(',');
    if (first.getAsInteger(10, range.first) ||
        count.getAsInteger(10, range.count))
      ADD_FAILURE() << "GLOWISH_ROBUSTNESS=" << text << " is not FIRST,COUNT";
  }
  return range;
}

void glowish::robustness::saveCase(const std::string &name,
                                   const std::string &bytes) {
  const char *folder = std::getenv("GLOWISH_ROBUSTNESS_SAVE");
  std::error_code code;
  if (folder)
    llvm::raw_fd_ostream(std::string(folder) + "/" + name, code) << bytes;
}

/// \p maker is what made \p module.
static int verifyMade(const Module &module, llvm::StringRef maker) {
  llvm::Error error = verify(module);
  if (!error)
    return Accepted;
  llvm::errs() << "the " << maker << " made what does not verify: "
               << llvm::toString(std::move(error)) << "\n";
  return BadMessage;
}

static int finish(Compilation &compilation, ModelGraph graph) {
  llvm::Expected<PlannedProgram> program =
      compilation.compile(std::move(graph));
  if (!program)
    return judge(program.takeError());
  return judge(compilation.getBackend()
                   .compile(program->getIR(), program->getPlan())
                   .takeError());
}

/// What comes of \p compile with both back ends.
static int forEachBackend(llvm::function_ref<int(Backend &backend)> compile) {
  std::unique_ptr<Backend> backends[] = {
      createInterpreter(), llvm::cantFail(CPUBackend::create({}))};
  int outcome = Accepted;
  for (const auto &backend : backends) {
    int made = compile(*backend);
    if (made == BadMessage)
      return made;
    outcome = std::min(outcome, made);
  }
  return outcome;
}

int glowish::robustness::compileAll(
    size_t size,
    llvm::function_ref<llvm::Expected<std::unique_ptr<Module>>()> import) {
  return forEachBackend([&](Backend &backend) -> int {
    limitAllocations(getAllocationLimit(size), TooLarge);
    llvm::Expected<std::unique_ptr<Module>> module = import();
    if (!module)
      return judge(module.takeError());
    if ((*module)->getFunctions().empty())
      return Refused;
    limitAllocations(getAllocationLimit(size, **module), TooLarge);
    if (int outcome = verifyMade(**module, "importer"); outcome != Accepted)
      return outcome;
    Compilation compilation(backend, {});
    return finish(compilation, std::move(*module));
  });
}

int glowish::robustness::compileStep(size_t size, llvm::StringRef path) {
  TrainingConfig config;
  config.loss = LossKind::MeanSquaredError;
  config.solver.kind = SolverKind::Adam;
  return forEachBackend([&](Backend &backend) -> int {
    limitAllocations(getAllocationLimit(size), TooLarge);
    VariableValues variables;
    Compilation compilation(backend, {});
    auto graph = importForTraining(compilation, path, {}, variables);
    if (!graph)
      return judge(graph.takeError());
    Module &module = graph->getModule();
    limitAllocations(getAllocationLimit(size, module), TooLarge);
    if (llvm::Error error = makeStep(*graph, variables, config).takeError())
      return judge(std::move(error));
    if (int outcome = verifyMade(module, "differentiation");
        outcome != Accepted)
      return outcome;
    limitAllocations(getAllocationLimit(size, module), TooLarge);
    return finish(compilation, std::move(*graph));
  });
}

void glowish::robustness::checkInChildProcess(
    const std::string &name, llvm::function_ref<int()> check, Counts &counts,
    llvm::function_ref<bool(llvm::StringRef text)> isForeign) {
  ChildResult result = runChild([&] {
    rlimit limit = {maxSeconds, maxSeconds};
    setrlimit(RLIMIT_CPU, &limit);
    // A core of a process under a sanitizer is terabytes.
    limit = {0, 0};
    setrlimit(RLIMIT_CORE, &limit);
    return check();
  });
  if (result.exitCode == Refused)
    ++counts.refused;
  else if (result.exitCode == Accepted)
    ++counts.accepted;
  else if (isForeign && isForeign(result.text))
    ++counts.foreign;
  else
    ADD_FAILURE() << name << ": exit code " << result.exitCode << ", signal "
                  << result.signal << "\n"
                  << result.text.substr(0, 6000);
}
