//===- LayerResult.h - A result of a node, computed both ways ---*- C++ -*-===//

#ifndef GLOWISH_TOOLS_NETWORK_DEBUGGER_LAYERRESULT_H
#define GLOWISH_TOOLS_NETWORK_DEBUGGER_LAYERRESULT_H

#include "glowish/Base/Comparison.h"
#include "network-debugger/Side.h"

namespace glowish {

/// A result of a node, computed both ways.
struct LayerResult {
  ValueName name;
  /// Of the node's operator.
  std::string kind;
  Type type;
  Comparison comparison;
  /// The element that differs most, of the reference and of the other; the
  /// first one where nothing differs.
  double expected = 0, actual = 0;
  /// The largest difference is more than atol, and rtol of the largest
  /// magnitude of the layer.
  bool isBad = false;
};

/// Called with the tensors of a result, the reference first.
using LayerVisitor = std::function<llvm::Error(
    const LayerResult &result, const Tensor &expected, const Tensor &actual)>;

struct ComparisonOptions {
  double rtol = 0, atol = 0;
  /// The least rtol for layers of these kinds, whose roundings are that large.
  double float16Rtol = 0, bfloat16Rtol = 0;
  /// Fills the inputs of a network.
  std::function<llvm::Error(Session &)> fillInputs;
  /// May be null.
  LayerVisitor visit;
};

/// Compares the reference's \p expected, which has the same type as \p actual.
LayerResult makeLayerResult(const ValueName &name, llvm::StringRef kind,
                            const Tensor &expected, const Tensor &actual,
                            const ComparisonOptions &options);

/// Two models have no values that could be compared.
llvm::Error makeNothingInCommonError();

} // namespace glowish

#endif // GLOWISH_TOOLS_NETWORK_DEBUGGER_LAYERRESULT_H
