//===- WeightsAlone.cpp - Matmuls of floats and quantized weights ---------===//
//
// Weights become integers, in the form in which models with such weights are
// imported. What they are multiplied with stays float, so that no profile is
// needed.
//
//===----------------------------------------------------------------------===//

#include "Quantize/Selection.h"
#include "Quantize/WeightBlocks.h"
#include "Util/ConstantTensors.h"
#include "Util/Dequantization.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Graph/RepeatedBlocks.h"
#include "llvm/ADT/DenseMap.h"

using namespace glowish;

namespace {

/// Floats composed of constant integers, and how exact they are.
struct ComposedWeights {
  NodeValue value = {};
  Type type = {};
  int64_t block = 0;
  double error = 0;
};

} // namespace

/// Quantizes \p weights in blocks of rows.
static ComposedWeights compose(Function &function, llvm::StringRef name,
                               const Tensor &weights,
                               const WeightQuantization &quantization) {
  BlockedWeights blocks = quantizeBlocks(weights, /*axis=*/0, quantization);
  Module &module = function.getModule();
  auto repeat = [&](Tensor parameter) {
    return repeatBlocks(function, name,
                        module.createConstant(name, std::move(parameter)),
                        /*axis=*/0, weights.getType().getDim(0), blocks.block);
  };
  ComposedWeights result = {.type = blocks.integers.getType(),
                            .block = blocks.block,
                            .error = blocks.error};
  Dequantization composed = {
      .integer = module.createConstant(name, std::move(blocks.integers))};
  if (!IntegerRange(quantization.kind).isSigned)
    composed.zeroPoint = repeat(std::move(blocks.zeroPoints));
  composed.scale = repeat(std::move(blocks.scales));
  result.value = composeDequantization(function, name, composed);
  return result;
}

/// The weights of matmul \p anchor of \p node, which are to be quantized; null
/// where they are not, which is logged.
static const Tensor *findWeights(const Node &node, const Anchor &anchor) {
  const Tensor *weights = getConstantTensor(node.getOperand(anchor.filter));
  // Filters of convolutions have four dimensions.
  if (weights &&
      (weights->getType().getRank() != 2 || weights->getNumElements() == 0)) {
    logFloat(node, "its weights are no matrix");
    return nullptr;
  }
  std::string reason = explainFloatWeights(node, anchor);
  if (reason.empty())
    return weights;
  logFloat(node, reason);
  return nullptr;
}

std::vector<NodeOfQuantizedWeights>
glowish::quantizeWeightsAlone(Function &function,
                              const WeightQuantization &quantization,
                              const std::set<NodeKind> &keptKinds) {
  std::vector<Node *> nodes;
  for (Node &node : function.getNodes())
    if (!keptKinds.count(node.getKind()))
      nodes.push_back(&node);
    else if (describeAnchor(node, QuantizationConfig()))
      logFloat(node, "its kind keeps its precision");
  // Of weights that several nodes read.
  llvm::DenseMap<const Tensor *, ComposedWeights> made;
  std::vector<NodeOfQuantizedWeights> result;
  for (Node *node : nodes) {
    std::optional<Anchor> anchor = describeAnchor(*node, QuantizationConfig());
    const Tensor *weights = anchor ? findWeights(*node, *anchor) : nullptr;
    if (!weights)
      continue;
    ComposedWeights &composed = made[weights];
    if (!composed.value) {
      InsertionGuard guard(function, node);
      std::string name = node->getOperand(anchor->filter).node->getName().str();
      composed = compose(function, name, *weights, quantization);
    }
    node->setOperand(anchor->filter, composed.value);
    result.push_back({node->getName().str(), node->getKind(), composed.type,
                      composed.block, composed.error});
  }
  return result;
}
