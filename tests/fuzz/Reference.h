//===- Reference.h - Reference evaluation -----------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_REFERENCE_H
#define GLOWISH_TESTS_FUZZ_REFERENCE_H

#include "glowish/Graph/Evaluator.h"
#include "glowish/Graph/Module.h"

namespace glowish::fuzz {

/// An output of a graph.
struct Expectation {
  /// The model's.
  std::string name;
  Tensor value;
  /// By how much each element may be off: 0 for integers, infinity where the
  /// graph does not say what the element is.
  std::vector<double> bounds;
  /// The elements that infinities or NaN came up for: a pass that reorders
  /// floating point arithmetic may have others there.
  std::vector<bool> nonFinite;
  /// Whether an element that is known no better than that it may be 0 may be
  /// infinite or NaN instead.
  bool hasPole = false;
  /// Whether roundings decide how many elements it has: nothing is compared.
  bool hasOpenExtents = false;
};

/// Makes a module; what it folds is computed by \p evaluate.
using ModuleMaker = llvm::function_ref<llvm::Expected<std::unique_ptr<Module>>(
    const NodeEvaluator &evaluate)>;

/// Interprets the first function of a module node by node, without any pass,
/// and says what each output is: its actual part, where another output has its
/// extents. Inputs have the values of their names.
///
/// The bounds come from making and interpreting it again with every rounding
/// made worse: operands of computations and their results are changed by a few
/// units in the last place. What little changes make large, as 1 / (x - y)
/// does, gets a large bound; where they turn a comparison, nothing is compared.
/// Operators that pick and move elements are given inputs as they are:
/// comparing, rounding to integers and ArgMax of inputs have exact results.
///
/// \p numTrials: how often it is interpreted again. Two nearly equal elements
/// change places in one trial of four.
llvm::Expected<std::vector<Expectation>> interpretGraph(ModuleMaker make,
                                                        unsigned numTrials);

/// Whether element \p index is compared, for a program whose passes may
/// \p reorder floating point arithmetic or not.
bool isCompared(const Expectation &expected, size_t index, bool reorder);

/// The first element whose bits differ in \p actual and \p other, of those that
/// are compared; NaNs are alike. Empty where there is none.
std::string describeOtherBits(const Expectation &expected, const Tensor &actual,
                              const Tensor &other, bool reorder);

/// How \p actual differs from \p expected; empty where it does not.
std::string describeDifference(const Expectation &expected,
                               const Tensor &actual, bool reorder);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_REFERENCE_H
