//===- Dynamic.cpp - Quantization with the ranges of each run -------------===//
//
// What a matmul with constant weights reads is quantized by its range in this
// run, as ONNX's DynamicQuantizeLinear does it. What it computes is float
// again, so that other nodes stay what they are.
//
//===----------------------------------------------------------------------===//

#include "Quantize/Selection.h"
#include "Quantize/Weights.h"
#include "Util/ConstantTensors.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Log.h"
#include <numeric>

using namespace glowish;

/// Why \p node, which \p anchor describes, stays float; empty if it does not.
static std::string explainFloat(const Node &node, const Anchor &anchor,
                                const QuantizationConfig &config) {
  NodeValue input = node.getOperand(anchor.input);
  if (llvm::isa<ConvolutionNode>(node))
    return "matmuls alone are quantized by the ranges of each run";
  if (config.keptKinds.count(node.getKind()))
    return "its kind keeps its precision";
  if (input.getElemKind() != ElemKind::Float)
    return "its input is not float";
  if (isConstantOrSplat(input))
    return "its input is constant";
  return explainFloatWeights(node, anchor);
}

/// What \p x is when it has been quantized by its least and greatest number.
static NodeValue quantizeInput(NodeBuilder &b, NodeValue x) {
  Dims axes(x.getShape().size());
  std::iota(axes.begin(), axes.end(), 0);
  NodeValue least = b.min(b.reduce(x, "min", axes, /*keepDims=*/false), 0);
  NodeValue greatest = b.max(b.reduce(x, "max", axes, /*keepDims=*/false), 0);
  NodeValue range = b.sub(greatest, least);
  // All zeros have the scale 1.
  NodeValue scale = b.select(b.equal(range, 0), b.number(x, 1),
                             b.div(range, b.number(x, 255)));
  NodeValue zero = b.unary<RoundNode>(b.div(b.sub(0, least), scale));
  zero = b.cast(zero, ElemKind::UInt8);
  NodeValue integer =
      b.add(b.unary<RoundNode>(b.div(x, scale)), b.cast(zero, ElemKind::Float));
  integer = b.cast(integer, ElemKind::UInt8);
  NodeValue difference =
      b.sub(b.cast(integer, ElemKind::Int32), b.cast(zero, ElemKind::Int32));
  return b.mul(b.cast(difference, ElemKind::Float), scale);
}

/// What the weights of \p node are as integers.
static NodeValue quantizeFilter(NodeBuilder &b, Node &node,
                                const Anchor &anchor,
                                const QuantizationConfig &config) {
  NodeValue filter = node.getOperand(anchor.filter);
  QuantizedWeights weights =
      quantizeWeights(*getConstantTensor(filter), anchor.axis, /*bias=*/nullptr,
                      /*inputScale=*/1, config, anchor.isPerChannel);
  NodeValue integers = b.createConstant(std::move(weights.integers));
  return b.mul(b.cast(integers, ElemKind::Float),
               b.createConstant(std::move(weights.scales)));
}

llvm::Error glowish::quantizeDynamically(Function &function,
                                         const QuantizationConfig &config) {
  std::vector<Node *> nodes;
  for (Node &node : function.getNodes())
    nodes.push_back(&node);
  // Each value is quantized once, in front of the first node that reads it.
  llvm::DenseMap<NodeValue, NodeValue> inputs;
  for (Node *node : nodes) {
    std::optional<Anchor> anchor = describeAnchor(*node, config);
    if (!anchor)
      continue;
    if (std::string reason = explainFloat(*node, *anchor, config);
        !reason.empty()) {
      logFloat(*node, reason);
      continue;
    }
    GLOWISH_VLOG(1, "quantized: {0} '{1}' by the range of each run",
                 node->getKindName(), node->getName());
    InsertionGuard guard(function, node);
    NodeValue input = node->getOperand(anchor->input);
    NodeValue &quantized = inputs[input];
    if (!quantized) {
      NodeBuilder b(function, (input.node->getName() + ".quantized").str());
      GLOWISH_ASSIGN_OR_RETURN(quantized, b.finish(quantizeInput(b, input)));
    }
    NodeBuilder b(function, node->getOperand(anchor->filter).node->getName());
    GLOWISH_ASSIGN_OR_RETURN(
        NodeValue filter, b.finish(quantizeFilter(b, *node, *anchor, config)));
    node->setOperand(anchor->input, quantized);
    node->setOperand(anchor->filter, filter);
  }
  return llvm::Error::success();
}
