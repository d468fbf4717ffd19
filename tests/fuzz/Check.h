//===- Check.h - Whether a graph is compiled right --------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_CHECK_H
#define GLOWISH_TESTS_FUZZ_CHECK_H

#include "CompileConfig.h"

namespace glowish::fuzz {

/// What is wrong with a graph.
enum class Verdict {
  /// Of what was compared.
  Same,
  /// An output is not what the interpreter computes.
  Differs,
  /// The type rules accept it and the compiler does not.
  Refused,
  /// It takes more memory than any of these small graphs should.
  TooLarge,
  /// The compiler or the program ended by a signal, or took too long.
  Crashed,
  /// Nothing is wrong with any config in a process of its own.
  WrongTogether,
};

/// Elements of outputs, over all configs.
struct ElementCounts {
  uint64_t all = 0;
  /// Those that were compared: the reference has a finite bound for them.
  uint64_t compared = 0;

  ElementCounts &operator+=(const ElementCounts &other) {
    all += other.all;
    compared += other.compared;
    return *this;
  }
};

/// Programs that were left out, as the target that graphs are written for has
/// no form of theirs (GraphTarget).
struct Omissions {
  uint64_t programs = 0;
  /// How many of them have each reason (Inexpressible::getReasons).
  std::map<std::string, uint64_t> reasons;
};

struct Finding {
  Verdict verdict = Verdict::Same;
  CompileConfig config;
  /// The output and element, the compiler's message, or the signal. If the
  /// verdict is Same, why the graph could not be expressed; else empty.
  std::string message;
  /// If the verdict is Same.
  ElementCounts elements = {};
  Omissions omissions = {};
};

/// Ends this process with exit code Verdict::TooLarge when it takes more than
/// any graph should.
void limitMemory();

/// Compiles \p test at each of \p configs and makes its runs: the first that
/// is wrong. What crashes takes this process with it.
Finding check(const TestCase &test, llvm::ArrayRef<CompileConfig> configs);

/// The same in child processes: in one, and if something is wrong there, with a
/// process for each config, to see with which. \p configs is not empty.
Finding checkInChild(const TestCase &test,
                     llvm::ArrayRef<CompileConfig> configs);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_CHECK_H
