//===- Fuzzing.h - What the fuzzers of parsers have in common ---*- C++ -*-===//

#ifndef GLOWISH_TESTS_PARSERS_FUZZING_H
#define GLOWISH_TESTS_PARSERS_FUZZING_H

#include "glowish/Graph/Module.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace glowish::parsers {

/// What a fuzzer does with an input. A fault ends the process.
using Fuzzer = void (*)(llvm::StringRef input);

/// Runs \p fuzzer with a limit on the size of single allocations, that of
/// tests/robustness, which follows from the size of the input; and aborts where
/// it took much processor time.
void runInput(Fuzzer fuzzer, llvm::StringRef input);

/// Sets another limit until the end of the input.
void allowAllocations(size_t bytes);

/// How many results of the parsers were good, and how many were errors.
struct Counts {
  unsigned accepted = 0, refused = 0;
};
Counts getCounts();

/// Whether there is no error. Aborts where a user could not act on the message.
bool accept(llvm::Error error);
/// The value, if there is one; else the same.
template <typename T> std::optional<T> accept(llvm::Expected<T> value) {
  if (!accept(value.takeError()))
    return std::nullopt;
  return std::move(*value);
}

/// Aborts with \p message unless \p condition.
void expect(bool condition, const char *message);

enum class Target { Interpreter, CPU };

/// Takes the module that an input of \p size bytes was imported to through all
/// phases as far as the memory plan for \p target. It must keep the contract of
/// front ends; it is verified after each pass, and the plan is proved.
void compileToPlan(llvm::Expected<std::unique_ptr<Module>> module, size_t size,
                   Target target);

/// The fuzzers that this program has, by their names; none in those of
/// libFuzzer, which have one each.
const llvm::StringMap<Fuzzer> &getFuzzers();

struct Registration {
  Registration(const char *name, Fuzzer fuzzer);
};

} // namespace glowish::parsers

/// The body of the fuzzer NAME follows. With libFuzzer it is the only one of
/// its program; without, one of a program that has them all (Main.cpp).
#ifdef GLOWISH_LIBFUZZER
#define GLOWISH_PARSER_FUZZER(NAME)                                            \
  static void NAME##Fuzzer(llvm::StringRef input);                             \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {    \
    llvm::StringRef input(reinterpret_cast<const char *>(data), size);         \
    glowish::parsers::runInput(NAME##Fuzzer, input);                           \
    return 0;                                                                  \
  }                                                                            \
  static void NAME##Fuzzer(llvm::StringRef input)
#else
#define GLOWISH_PARSER_FUZZER(NAME)                                            \
  static void NAME##Fuzzer(llvm::StringRef input);                             \
  static const glowish::parsers::Registration NAME##Registration(              \
      #NAME, NAME##Fuzzer);                                                    \
  static void NAME##Fuzzer(llvm::StringRef input)
#endif

#endif // GLOWISH_TESTS_PARSERS_FUZZING_H
