//===- TestCase.h - What is compiled and compared ---------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_TESTCASE_H
#define GLOWISH_TESTS_FUZZ_TESTCASE_H

#include "glowish/Graph/Evaluator.h"
#include "glowish/Graph/Module.h"
#include <map>
#include <string>

namespace glowish::fuzz {

/// What a run states: the extent of each symbol.
using RunExtents = std::map<std::string, int64_t>;

/// What is compiled in several ways and compared with a reference. Inputs have
/// the values of their names (Values.h).
class TestCase {
public:
  virtual ~TestCase() = default;

  virtual std::string print() const = 0;
  /// The module that is compiled. An error is a difference.
  virtual llvm::Expected<std::unique_ptr<Module>> makeModule() const = 0;

  /// What each run of the compiled module states: one run, of nothing, where it
  /// has no extents to state.
  virtual std::vector<RunExtents> getRuns() const { return {{}}; }
  /// The module that the reference interprets for \p run. \p evaluate computes
  /// what is folded when it is made.
  virtual llvm::Expected<std::unique_ptr<Module>>
  makeReference(const RunExtents &run, const NodeEvaluator &evaluate) const {
    return makeModule();
  }
  /// The placeholder of the compiled module that has \p output of the
  /// reference.
  virtual std::string findPlace(const std::string &output) const {
    return output;
  }
};

/// "S=3 P=0"; empty if there are none.
std::string print(const RunExtents &values);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_TESTCASE_H
