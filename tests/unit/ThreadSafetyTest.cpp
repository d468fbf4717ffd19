//===- ThreadSafetyTest.cpp - What all threads of a process share ---------===//
//
// Registries that plug-ins fill while other threads compile and run. What goes
// wrong without locks is rare in one run; with -fsanitize=thread the first one
// tells (docs/testing.md).
//
//===----------------------------------------------------------------------===//

#include "JIT.h"
#include "glowish/Backends/BackendRegistry.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/IR/IR.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Optimizer/Passes.h"
#include "glowish/Plugin/ExternalFunction.h"
#include "gmock/gmock.h"
#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <thread>

using namespace glowish;

namespace {

//===- Registries ---------------------------------------------------------===//

int doNothing(const glowish_call *) { return 0; }

/// Names of back ends are literals.
template <int Number> struct BackendName {
  static constexpr char text[] = {'t', 'e', 's', 't', char('a' + Number), 0};
};

template <int Number> void registerBackend() {
  BackendRegistration({.name = llvm::StringLiteral(BackendName<Number>::text),
                       .description = "Of a test",
                       .create = [](const TargetOptions &)
                           -> llvm::Expected<std::unique_ptr<Backend>> {
                         return createInterpreter();
                       }});
}

/// What the plug-in \p number brings: functions, a back end's name, its
/// instructions and a graph pass. As of a library, they stay for the rest of
/// the process.
void loadPlugin(int number) {
  static constexpr void (*backends[])() = {
      registerBackend<0>, registerBackend<1>, registerBackend<2>,
      registerBackend<3>, registerBackend<4>, registerBackend<5>,
      registerBackend<6>, registerBackend<7>};
  backends[number % std::size(backends)]();
  for (int i = 0; i < 50; ++i) {
    ExternalFunction function;
    function.name = llvm::formatv("test_{0}_{1}", number, i);
    function.operatorName = "Test";
    function.kernel = doNothing;
    llvm::cantFail(registerExternalFunction(function));
    // Another model brings the same library.
    llvm::cantFail(registerExternalFunction(function));
  }
  auto *names = new std::string("Test" + std::to_string(number));
  auto *table = new OpInfo[1]{{.name = *names, .summary = "Of a test"}};
  static constexpr InstrDialect::Maker makers[] = {nullptr};
  new InstrDialect(llvm::ArrayRef(table, 1), makers);
  auto *pass = new std::string("test-" + std::to_string(number));
  GraphPassRegistration({.name = *pass,
                         .exactness = Exactness::Exact,
                         .doc = "Of a test",
                         .run = eliminateDeadCode});
}

constexpr llvm::StringLiteral graph = R"(module "test"
placeholder %x : float<4x8> input "x"
placeholder %y : float<4x8> output "y"
constant %w : float<8> = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
function "main" {
  %m = Mul(%x, %w) : float<4x8>
  Save(%m, %y)
})";

/// Compiles for \p backend and runs: the eighth element of y.
float compileAndRun(Backend &backend) {
  auto module = llvm::cantFail(parseModule(graph, "test.graph", nullptr));
  Compilation compilation(backend, {});
  PlannedProgram program =
      llvm::cantFail(compilation.compile(ModelGraph(std::move(module))));
  // Its text is parsed by the names of instructions.
  EXPECT_TRUE(findInstrKind("ElementWiseLoop"));
  auto session = llvm::cantFail(Session::create(program));
  std::vector<float> x(32, 2);
  llvm::cantFail(session->setInput(
      llvm::cantFail(session->findPlaceholder("x")),
      Tensor::fromValues<float>(Type(ElemKind::Float, {4, 8}), x)));
  llvm::cantFail(session->run());
  return session->getTensor(llvm::cantFail(session->findPlaceholder("y")))
      .data<float>()[7];
}

/// Starts \p threads at the same time and waits for them.
void runTogether(std::vector<std::function<void()>> works) {
  std::latch start(ptrdiff_t(works.size()));
  std::vector<std::thread> threads;
  for (auto &work : works)
    threads.emplace_back([&] {
      start.arrive_and_wait();
      work();
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ThreadSafety, PluginsAreLoadedWhileOthersCompile) {
  std::atomic<unsigned> numWrong = 0;
  std::vector<std::function<void()>> works;
  for (int loader = 0; loader < 2; ++loader)
    works.push_back([loader] {
      for (int i = 0; i < 8; ++i)
        loadPlugin(8 * loader + i);
    });
  TargetOptions quick;
  quick.testing.compilesQuickly = true;
  for (int i = 0; i < 2; ++i) {
    works.push_back([&] {
      auto backend = llvm::cantFail(CPUBackend::createLocal(quick));
      for (int run = 0; run < 3; ++run)
        numWrong += compileAndRun(*backend) != 16;
    });
    works.push_back([&] {
      auto backend = createInterpreter();
      for (int run = 0; run < 10; ++run)
        numWrong += compileAndRun(*backend) != 16;
    });
  }
  works.push_back([&] {
    for (int i = 0; i < 500; ++i) {
      numWrong += !llvm::cantFail(findBackend("CPU"));
      numWrong += listBackends().size() < 2;
      numWrong += llvm::cantFail(getModelFormat("model.onnx")) !=
                  llvm::cantFail(getModelFormat("m.onnx"));
      numWrong += !findPass(getGraphPasses(), "dce");
      const ExternalFunction *known = findExternalFunction("test_3_7");
      numWrong += known && known->kernel != doNothing;
    }
  });
  runTogether(std::move(works));
  EXPECT_EQ(numWrong, 0u);
  for (int number = 0; number < 16; ++number) {
    std::string name = "test_" + std::to_string(number) + "_49";
    EXPECT_TRUE(findExternalFunction(name)) << name;
    EXPECT_TRUE(findInstrKind("Test" + std::to_string(number)));
  }
  EXPECT_TRUE(bool(findBackend("testh")));
}

//===- Threads of programs ------------------------------------------------===//

/// Tasks that wait for each other.
class Meeting {
public:
  explicit Meeting(int wanted) : wanted(wanted) {}

  /// How many threads \p parallelFor brings together, of \c wanted that are
  /// waited for.
  int hold(ParallelForFn parallelFor) {
    parallelFor(
        [](void *meeting, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            static_cast<Meeting *>(meeting)->join();
        },
        this, wanted);
    return most;
  }

private:
  void join() {
    std::unique_lock lock(mutex);
    most = std::max(most, ++numInside);
    condition.notify_all();
    condition.wait_for(lock, std::chrono::seconds(most < wanted ? 1 : 0),
                       [&] { return most == wanted; });
    --numInside;
  }

  std::mutex mutex;
  std::condition_variable condition;
  int wanted, numInside = 0, most = 0;
};

/// Whatever the number of the program before was.
TEST(ThreadSafety, EachProgramHasItsNumberOfThreads) {
  for (int numThreads : {2, 5, 3, 1, 8, 2}) {
    EXPECT_EQ(Meeting(numThreads).hold(getParallelFor(numThreads)), numThreads);
    // One more would be waited for in vain.
    EXPECT_EQ(Meeting(numThreads + 1).hold(getParallelFor(numThreads)),
              numThreads);
  }
}

/// All tasks are done once, also while other threads call.
TEST(ThreadSafety, ProgramsShareThreads) {
  std::vector<std::function<void()>> works;
  std::vector<std::vector<std::atomic<int>>> counts;
  for (int i = 0; i < 4; ++i)
    counts.emplace_back(1000);
  for (int i = 0; i < 4; ++i)
    works.push_back([&, i] {
      for (int run = 0; run < 50; ++run)
        getParallelFor(i + 1)(
            [](void *counts, int64_t begin, int64_t end) {
              for (int64_t k = begin; k < end; ++k)
                ++(*static_cast<std::vector<std::atomic<int>> *>(counts))[k];
            },
            &counts[i], 1000);
    });
  runTogether(std::move(works));
  for (auto &own : counts)
    for (auto &count : own)
      EXPECT_EQ(count, 50);
}

} // namespace
