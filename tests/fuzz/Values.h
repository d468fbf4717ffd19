//===- Values.h - Values of inputs and constants ----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_VALUES_H
#define GLOWISH_TESTS_FUZZ_VALUES_H

#include "glowish/Base/Tensor.h"
#include <memory>

namespace glowish::fuzz {

/// The classes of values:
///   unit      uniform in (-1, 1)
///   positive  uniform in [0.1, 2)
///   large     uniform in [1.1, 4)
///   whole     integers -3 ... 3
///   wide      normal with deviation 10; integers of all their range
///   special   signed zeros, infinities, NaN, small and large numbers
/// and `given`, the elements of tensor N of those that giveValues() was given.
/// Integers take those of `whole` in all classes but `wide`.
llvm::ArrayRef<llvm::StringRef> getValueClasses();

/// The elements of the input \p name: a class and a seed, "unit17". They
/// depend on nothing else, so that an input keeps its values while the graph
/// around it shrinks, and has them when the graph is read from a file. Another
/// name has the class unit.
Tensor makeValues(llvm::StringRef name, const Type &type);

/// Returns the name whose values are \p tensor's elements: "given3". Where the
/// type has smaller extents they are its corner, and of another rank or kind
/// the name has the class unit. For the rest of the process, and its children.
std::string giveValues(std::shared_ptr<const Tensor> tensor);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_VALUES_H
