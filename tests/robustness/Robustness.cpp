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
#include <sys/mman.h>
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

/// Gives this process the processor for \c maxSeconds more.
static void limitTime() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  rlim_t used = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1;
  rlimit limit = {used + maxSeconds, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &limit);
}

Counts
Cases::run(llvm::function_ref<bool(llvm::StringRef text)> isForeign) const {
  // Before what a case writes to stderr; no other text has it.
  constexpr llvm::StringLiteral mark = "\x01";
  // Of the cases that made no fault, shared with the child processes; 0 of
  // others.
  size_t size = std::max<size_t>(cases.size(), 1);
  void *shared = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(shared, MAP_FAILED);
  auto *outcomes = static_cast<uint8_t *>(shared);
  Counts counts;
  for (size_t first = 0, next = 0; first < cases.size(); first = next + 1) {
    ChildResult result = runChild([&] {
      // A core of a process under a sanitizer is terabytes.
      rlimit limit = {0, 0};
      setrlimit(RLIMIT_CORE, &limit);
      for (size_t i = first; i < cases.size(); ++i) {
        limitTime();
        llvm::errs() << mark;
        int outcome = cases[i].check();
        if (outcome != Refused && outcome != Accepted)
          return outcome;
        outcomes[i] = outcome;
      }
      return int(Accepted);
    });
    for (next = first; next < cases.size() && outcomes[next]; ++next)
      if (outcomes[next] == Accepted)
        ++counts.accepted;
      else
        counts.refused.push_back(cases[next].name);
    if (next == cases.size())
      break;
    llvm::StringRef text = llvm::StringRef(result.text).rsplit(mark).second;
    if (isForeign && isForeign(text))
      ++counts.foreign;
    else
      ADD_FAILURE() << cases[next].name << ", after " << next - first
                    << " cases in one process: exit code " << result.exitCode
                    << ", signal " << result.signal << "\n"
                    << text.substr(0, 6000).str();
  }
  munmap(shared, size);
  return counts;
}
