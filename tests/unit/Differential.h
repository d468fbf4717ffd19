//===- Differential.h - Compiled code against the interpreter ---*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_DIFFERENTIAL_H
#define GLOWISH_TESTS_UNIT_DIFFERENTIAL_H

#include "CPULevels.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include "glowish/IR/IRText.h"
#include "glowish/Support/Random.h"
#include "gtest/gtest.h"

namespace glowish {

/// Builds the same graph for each back end: inputs come from a seed.
using BuildFn = std::function<NodeValue(Function &, Module &)>;

inline Tensor makeRandom(const Type &type, uint64_t seed) {
  Random random(seed);
  Tensor tensor(type);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    tensor.setFromDouble(i, isFloatKind(type.getKind())
                                ? double(random.uniform(-1, 1))
                                : double(random.below(7)) - 3);
  return tensor;
}

inline NodeValue input(Module &module, ElemKind kind, DimsRef shape) {
  return NodeValue(
      module.createPlaceholder("x", Type(kind, shape), true, false));
}

inline NodeValue constant(Module &module, ElemKind kind, DimsRef shape) {
  return NodeValue(
      module.createConstant("c", makeRandom(Type(kind, shape), 99)));
}

/// Operand number \p index of a node: the input "x0" and so on, or a constant.
inline NodeValue makeOperand(Module &module, unsigned index, const Type &type,
                             bool isConstant) {
  std::string name = "x" + std::to_string(index);
  if (isConstant)
    return NodeValue(module.createConstant(name, makeRandom(type, 99 + index)));
  return NodeValue(module.createPlaceholder(name, type, /*isInput=*/true,
                                            /*isOutput=*/false));
}

/// A module of one function with the result of \p build as output "y".
inline std::unique_ptr<Module> buildModule(const BuildFn &build) {
  auto module = std::make_unique<Module>("test");
  Function *function = module->createFunction("main");
  NodeValue result = build(*function, *module);
  Placeholder *output =
      module->createPlaceholder("y", result.getType(), false, true);
  function->create<SaveNode>("save", result, NodeValue(output));
  return module;
}

/// \p build's graph, compiled for \p backend. Its result is the output y.
inline llvm::Expected<PlannedProgram> compileFor(Backend &backend,
                                                 const BuildFn &build,
                                                 KernelTuner *tuner = nullptr) {
  CompilationOptions options;
  options.tuner = tuner;
  options.verifyEach = true;
  return Compilation(backend, options).compile(buildModule(build));
}

/// The instructions of \p build's program for \p backend as text: what the code
/// follows from on one target.
inline std::string printProgram(Backend &backend, const BuildFn &build) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printIR(os, llvm::cantFail(compileFor(backend, build)).getIR(), nullptr);
  return text;
}

/// How many instructions called \p name \p build's code for \p backend has.
inline unsigned countInstrs(Backend &backend, const BuildFn &build,
                            llvm::StringRef name) {
  PlannedProgram program = llvm::cantFail(compileFor(backend, build));
  return unsigned(llvm::count_if(
      program.getIR().getInstrs(),
      [&](const Instruction &instr) { return instr.getInfo().name == name; }));
}

/// What \p build's result is for inputs that \p makeElements makes of seeds 7,
/// 8, ... in their order.
inline llvm::Expected<Tensor>
run(Backend &backend, const BuildFn &build, KernelTuner *tuner = nullptr,
    Tensor (*makeElements)(const Type &, uint64_t) = makeRandom) {
  GLOWISH_ASSIGN_OR_RETURN(PlannedProgram program,
                           compileFor(backend, build, tuner));
  GLOWISH_ASSIGN_OR_RETURN(auto session, Session::create(program));
  uint64_t seed = 7;
  for (const Buffer *placeholder : session->getPlaceholders())
    if (placeholder->isInput())
      GLOWISH_RETURN_IF_ERROR(session->setInput(
          placeholder, makeElements(placeholder->getType(), seed++)));
  GLOWISH_RETURN_IF_ERROR(session->run());
  GLOWISH_ASSIGN_OR_RETURN(const Buffer *y, session->findPlaceholder("y"));
  return session->getTensor(y).clone();
}

/// The number of this call within the test that runs, whatever ran before it.
inline size_t countCallsInTest() {
  static const testing::TestInfo *test = nullptr;
  static size_t calls = 0;
  const testing::TestInfo *current =
      testing::UnitTest::GetInstance()->current_test_info();
  calls = current == test ? calls + 1 : 0;
  test = current;
  return calls;
}

/// This machine with all that it has and, in turn, a part of the other levels:
/// for a case of many. A test's first two cases see all levels between them,
/// and so do each three of the others, in an order that no loop over kinds or
/// shapes has: a kind that every second case has would else always see the same
/// levels. Later than in the first two cases, the others and, in half of the
/// cases, this machine are compiled without LLVM's own passes, which take most
/// of the time and are not what is tested.
/// \p turn: the number of the case.
inline std::vector<TargetOptions>
getLevelsInTurn(size_t turn = countCallsInTest()) {
  size_t parts = 2, part = turn;
  bool isOptimized = true;
  if (turn >= 2) {
    Random random((turn - 2) / 3);
    size_t step = 1 + random.below(2), first = random.below(3);
    parts = 3;
    part = (first + step * (turn - 2)) % 3;
    isOptimized = Random(turn).below(2);
  }
  std::vector<TargetOptions> all = getLevels(), some;
  for (size_t i = 0; i < all.size(); ++i)
    if (i == 0 || (i + part) % parts == 0) {
      all[i].testing.compilesQuickly = turn >= 2 && (i > 0 || !isOptimized);
      some.push_back(std::move(all[i]));
    }
  return some;
}

/// What compare() does with each of its graphs and the last of its targets
/// besides; TasksTest.cpp, in the program of the back ends, checks the tasks of
/// kernels. Else null.
inline void (*checkTasks)(const TargetOptions &options,
                          const BuildFn &build) = nullptr;

/// Compares \p levels with the interpreter: errors are at most \p bound times
/// the largest magnitude.
inline void compare(const std::string &name, const BuildFn &build,
                    double bound = 1e-5,
                    llvm::ArrayRef<TargetOptions> levels = getLevelsInTurn()) {
  auto expected = run(*createInterpreter(), build);
  ASSERT_TRUE(bool(expected))
      << name << ": " << llvm::toString(expected.takeError());
  double largest = 1e-3;
  for (int64_t i = 0; i < expected->getNumElements(); ++i)
    largest = std::max(largest, std::abs(expected->getAsDouble(i)));
  if (checkTasks)
    checkTasks(levels.back(), build);
  for (const TargetOptions &options : levels) {
    auto backend = CPUBackend::create(options);
    ASSERT_TRUE(bool(backend)) << llvm::toString(backend.takeError());
    auto actual = run(**backend, build);
    ASSERT_TRUE(bool(actual))
        << name << ": " << llvm::toString(actual.takeError());
    ASSERT_EQ(actual->getType(), expected->getType()) << name;
    for (int64_t i = 0; i < expected->getNumElements(); ++i)
      ASSERT_LE(std::abs(actual->getAsDouble(i) - expected->getAsDouble(i)),
                bound * largest)
          << name << " on '" << options.cpu << "' at " << i;
  }
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_DIFFERENTIAL_H
