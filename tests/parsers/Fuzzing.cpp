//===- Fuzzing.cpp - What the fuzzers of parsers have in common -----------===//

#include "parsers/Fuzzing.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Graph/Contract.h"
#include "robustness/Allocations.h"
#include "robustness/Outcome.h"
#include <ctime>

using namespace glowish;
using namespace glowish::parsers;
using namespace glowish::robustness;

static Counts counts;
/// What the fuzzer runs on, which messages may quote.
static llvm::StringRef currentInput;

Counts glowish::parsers::getCounts() { return counts; }

/// Of processor time: others may be at work on the machine. Under the
/// sanitizers a few seconds of a compiler that users have are as many.
static constexpr double maxSeconds = 15;

static double getProcessorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

void glowish::parsers::runInput(Fuzzer fuzzer, llvm::StringRef input) {
  double start = getProcessorSeconds();
  allowAllocations(getAllocationLimit(input.size()));
  currentInput = input;
  fuzzer(input);
  limitAllocations(SIZE_MAX);
  expect(getProcessorSeconds() - start < maxSeconds,
         "the input takes too much processor time");
}

void glowish::parsers::allowAllocations(size_t bytes) {
  limitAllocations(bytes);
}

void glowish::parsers::expect(bool condition, const char *message) {
  if (condition)
    return;
  llvm::errs() << message << "\n";
  std::abort();
}

bool glowish::parsers::accept(llvm::Error error) {
  int outcome = judge(std::move(error), currentInput);
  if (outcome == BadMessage)
    std::abort();
  ++(outcome == Accepted ? counts.accepted : counts.refused);
  return outcome == Accepted;
}

/// Code for the same processor on every machine, so that an input means the
/// same.
static std::unique_ptr<Backend> createBackend(Target target) {
  if (target == Target::Interpreter)
    return createInterpreter();
  TargetOptions options;
  options.triple = "x86_64-linux-gnu";
  options.cpu = "x86-64-v3";
  return llvm::cantFail(CPUBackend::create(options));
}

void glowish::parsers::compileToPlan(
    llvm::Expected<std::unique_ptr<Module>> imported, size_t size,
    Target target) {
  auto module = accept(std::move(imported));
  if (!module || (*module)->getFunctions().empty())
    return;
  allowAllocations(getAllocationLimit(size, **module));
  if (llvm::Error error = verifyContract(**module)) {
    llvm::errs() << "what was imported breaks the contract: "
                 << llvm::toString(std::move(error)) << "\n";
    std::abort();
  }
  std::unique_ptr<Backend> backend = createBackend(target);
  CompilationOptions options;
  options.verifyEach = true;
  Compilation compilation(*backend, options);
  accept(compilation.compile(std::move(*module)).takeError());
}

//===- Registration -------------------------------------------------------===//

static llvm::StringMap<Fuzzer> &getRegistry() {
  static llvm::StringMap<Fuzzer> fuzzers;
  return fuzzers;
}

const llvm::StringMap<Fuzzer> &glowish::parsers::getFuzzers() {
  return getRegistry();
}

Registration::Registration(const char *name, Fuzzer fuzzer) {
  getRegistry()[name] = fuzzer;
}
