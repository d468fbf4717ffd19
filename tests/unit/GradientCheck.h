//===- GradientCheck.h - Gradients against differences ----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_GRADIENTCHECK_H
#define GLOWISH_TESTS_UNIT_GRADIENTCHECK_H

#include "glowish/Autodiff/Gradients.h"
#include "glowish/Base/Tensor.h"
#include "gtest/gtest.h"
#include <map>

namespace glowish {

/// The values of an input.
struct InputValues {
  /// Where those of a float kind lie, all inputs' being distinct.
  double low = -1, high = 1;
  /// Instead of these, and for integers: the elements, over and over.
  std::vector<double> given;
  /// Whether gradients with respect to it are asked for.
  bool isVariable = true;
};

inline InputValues between(double low, double high) {
  return {low, high, {}, true};
}
/// Just these, away from kinks.
inline InputValues at(std::vector<double> given) {
  return {0, 0, std::move(given), true};
}
/// Just these, held constant.
inline InputValues held(std::vector<double> given) {
  return {0, 0, std::move(given), false};
}

/// What is differentiated.
struct GradientCase {
  GradientCase(std::string text, std::vector<InputValues> values = {})
      : text(std::move(text)), values(std::move(values)) {}

  /// An operator in the notation of parseOp, or a module in the text form; its
  /// float kind is called double.
  std::string text;
  /// Of the inputs in their order, seeds behind them; those that are missing
  /// lie in (-1, 1).
  std::vector<InputValues> values;
};

std::ostream &operator<<(std::ostream &os, const GradientCase &tested);

/// The outputs of a module by their names.
using NamedTensors = std::map<std::string, Tensor>;

/// The module of \p tested with \p kind for double, and gradients of its float
/// outputs times random seeds with respect to its variables, \p order times:
/// outputs `gradient1.x0` and so on.
llvm::Expected<std::unique_ptr<Module>>
makeGradientModule(const GradientCase &tested, unsigned order,
                   llvm::StringRef kind = "double");

/// What the interpreter computes with the module of makeGradientModule.
NamedTensors runGradients(const GradientCase &tested, unsigned order,
                          llvm::StringRef kind = "double");

/// Expects each element of the gradients of order \p order to be within 1e-6 of
/// the central difference of what they are the gradients of, both on the
/// interpreter in double.
void checkAgainstDifferences(const GradientCase &tested, unsigned order = 1);

/// Expects what compiled code computes with \p kind to be what the interpreter
/// does, within \p bound times the largest element, at those of the machine's
/// levels that the case has in its turn, and the same bits with 1 and 3
/// threads.
void checkCompiled(const GradientCase &tested, llvm::StringRef kind = "float",
                   double bound = 1e-5);

/// The kinds of nodes that \p tested has, those of bodies among them.
std::vector<NodeKind> getKinds(const GradientCase &tested);

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_GRADIENTCHECK_H
