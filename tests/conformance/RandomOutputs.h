//===- RandomOutputs.h - Outputs that random numbers decide -----*- C++ -*-===//
//
// ONNX says what is distributed how, not which generator draws. The outputs in
// the data of such tests are those of NumPy's, and comparing with them would
// mean nothing. What is determined is checked instead: kind and shape (by the
// caller), and which values an element can have at all.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_CONFORMANCE_RANDOMOUTPUTS_H
#define GLOWISH_TESTS_CONFORMANCE_RANDOMOUTPUTS_H

#include "glowish/Base/Tensor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace onnx {
class GraphProto;
class NodeProto;
} // namespace onnx

namespace glowish {

/// Finds out which outputs of a graph random numbers decide: of
/// RandomUniform, RandomNormal, those like another tensor, Bernoulli,
/// Multinomial, Dropout in training mode with a ratio other than 0, and of what
/// is computed from them.
class RandomOutputs {
public:
  /// \p findInput: the tensor that the test gives to an input, or null.
  using FindInput = llvm::function_ref<const Tensor *(llvm::StringRef)>;
  RandomOutputs() = default;
  RandomOutputs(const onnx::GraphProto &graph, FindInput findInput);

  bool contains(llvm::StringRef output) const {
    return values.count(output) != 0;
  }
  /// An error names the first element that \p output can't have: after
  /// Bernoulli, and after a comparison, others than 0 and 1; after Dropout of
  /// an input, others than 0 and the input's divided by 1 - ratio; anywhere,
  /// what is not finite.
  llvm::Error check(llvm::StringRef output, const Tensor &actual) const;

private:
  /// What a random value is like.
  struct Value {
    bool isBinary = false;
    /// Of Dropout: the elements where they are kept.
    std::vector<double> kept;
  };
  void add(const onnx::NodeProto &node, FindInput findInput);
  bool isTraining(const onnx::NodeProto &node, FindInput findInput) const;

  llvm::StringMap<Value> values;
};

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_RANDOMOUTPUTS_H
