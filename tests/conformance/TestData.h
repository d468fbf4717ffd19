//===- TestData.h - Inputs and expected outputs -----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_TESTDATA_H
#define GLOWISH_TESTS_CONFORMANCE_TESTDATA_H

#include "Containers.h"
#include "RandomOutputs.h"
#include "Suite.h"
#include "glowish/Base/Tensor.h"
#include <memory>

namespace glowish {

/// An input or output of a model. Inputs are shared with the compilation where
/// they are constants.
struct NamedTensor {
  std::string name;
  std::shared_ptr<const Tensor> tensor;
};

/// In the model's order; initializers are no inputs, and sequences are an input
/// or an output for each element.
struct TestData {
  std::vector<NamedTensor> inputs, outputs;
  /// The inputs that are sequences or optionals; their tensors are inputs.
  std::vector<Container> containers;
  /// Those of the outputs that are not compared.
  RandomOutputs random;
};

/// The set of data \p index of \p test. An error names the file or value that
/// is no tensor of ours.
llvm::Expected<TestData> readTestData(const NodeTest &test, unsigned index);

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_TESTDATA_H
