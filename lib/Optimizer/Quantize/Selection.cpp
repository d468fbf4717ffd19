//===- Selection.cpp - Which nodes are quantized --------------------------===//
//
// Convolutions and matmuls with constant weights, the factors and means behind
// them, and the matmuls of attentions. A sum is no reason to quantize: it is
// computed in float behind one of its operands, in the same kernel.
//
//===----------------------------------------------------------------------===//

#include "Quantize/Selection.h"
#include "Recognize/AttentionScores.h"
#include "Util/ConstantTensors.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Support/Log.h"

using namespace glowish;

//===- Functions of nodes -------------------------------------------------===//
//
// describeWeightsNAME for the nodes whose record has HasQuantizedWeights.

#define QUANTIZED_WEIGHTS(NAME)                                                \
  static Anchor describeWeights##NAME(const NAME##Node &node,                  \
                                      const QuantizationConfig &config);
#define GET_QUANTIZED_WEIGHTS_LIST
#include "glowish/Graph/NodeFunctions.inc"

static Anchor describeWeightsConvolution(const ConvolutionNode &,
                                         const QuantizationConfig &config) {
  return {.input = ConvolutionNode::inputIdx,
          .filter = ConvolutionNode::filterIdx,
          .bias = ConvolutionNode::biasIdx,
          .isPerChannel = config.isChannelwise};
}

static Anchor describeWeightsFullyConnected(const FullyConnectedNode &,
                                            const QuantizationConfig &config) {
  return {.input = FullyConnectedNode::inputIdx,
          .filter = FullyConnectedNode::weightsIdx,
          .bias = FullyConnectedNode::biasIdx,
          .axis = 1,
          .isPerChannel = config.isRowwise};
}

static Anchor describeWeightsMatMul(const MatMulNode &node,
                                    const QuantizationConfig &config) {
  Anchor anchor = {.input = MatMulNode::lhsIdx,
                   .filter = MatMulNode::rhsIdx,
                   .axis = 1,
                   .isPerChannel = config.isRowwise};
  if (node.getRhs().getShape().size() != 2)
    anchor.obstacle = "its weights have more than two dimensions";
  return anchor;
}

std::optional<Anchor>
glowish::describeAnchor(const Node &node, const QuantizationConfig &config) {
  switch (node.getKind()) {
#define QUANTIZED_WEIGHTS(NAME)                                                \
  case NodeKind::NAME:                                                         \
    return describeWeights##NAME(llvm::cast<NAME##Node>(node), config);
#define GET_QUANTIZED_WEIGHTS_LIST
#include "glowish/Graph/NodeFunctions.inc"
  default:
    return std::nullopt;
  }
}

NodeValue glowish::getWeightedInput(const Node &node) {
  std::optional<Anchor> anchor = describeAnchor(node, QuantizationConfig());
  return anchor && getConstantTensor(node.getOperand(anchor->filter))
             ? node.getOperand(anchor->input)
             : NodeValue();
}

bool glowish::movesQuantized(const Node &node) {
  switch (node.getKind()) {
#define MOVES_QUANTIZED(NAME) case NodeKind::NAME:
#define GET_MOVES_QUANTIZED_LIST
#include "glowish/Graph/NodeFunctions.inc"
    return true;
  default:
    return false;
  }
}

llvm::ArrayRef<NodeKind> glowish::getQuantizableKinds() {
  static constexpr NodeKind kinds[] = {
#define QUANTIZED_WEIGHTS(NAME) NodeKind::NAME,
#define GET_QUANTIZED_WEIGHTS_LIST
#include "glowish/Graph/NodeFunctions.inc"
#define MOVES_QUANTIZED(NAME) NodeKind::NAME,
#define GET_MOVES_QUANTIZED_LIST
#include "glowish/Graph/NodeFunctions.inc"
#define READS_QUANTIZED(NAME) NodeKind::NAME,
#define GET_READS_QUANTIZED_LIST
#include "glowish/Graph/NodeFunctions.inc"
  };
  return kinds;
}

//===- Choosing nodes -----------------------------------------------------===//

NodeValue glowish::stripMoves(NodeValue value) {
  while (llvm::isa<ReshapeNode, TransposeNode>(value.node))
    value = value.node->getOperand(0);
  return value;
}

const Histogram *glowish::findHistogram(NodeValue value,
                                        const RangeProfile &profile) {
  value = stripMoves(value);
  if (value.getElemKind() != ElemKind::Float || isConstantOrSplat(value))
    return nullptr;
  auto found = profile.values.find(getProfileName(value));
  return found == profile.values.end() ? nullptr : &found->second;
}

std::string glowish::explainFloatWeights(const Node &node,
                                         const Anchor &anchor) {
  NodeValue filter = node.getOperand(anchor.filter);
  const Tensor *tensor = getConstantTensor(filter);
  if (!tensor)
    return "its weights are not constant";
  if (filter.getElemKind() != ElemKind::Float)
    return "its weights are not float";
  if (!isFinite(*tensor))
    return "its weights are not finite";
  return anchor.obstacle.str();
}

void glowish::logFloat(const Node &node, llvm::StringRef reason) {
  GLOWISH_VLOG(1, "float: {0} '{1}': {2}", node.getKindName(), node.getName(),
               reason);
}

/// Why convolution or matmul \p node stays float; empty if it does not.
static std::string explainAnchor(Node &node, const Anchor &anchor,
                                 const RangeProfile &profile) {
  std::string reason = explainFloatWeights(node, anchor);
  if (reason.empty() && !findHistogram(node.getOperand(anchor.input), profile))
    reason = "the profile does not have its input";
  return reason;
}

/// Why \p node, of a quantizable kind, is to stay float whether or not it could
/// be quantized; empty if it is not.
static llvm::StringRef explainKept(const Node &node,
                                   const RangeProfile &profile,
                                   const QuantizationConfig &config) {
  if (config.keptKinds.count(node.getKind()))
    return "its kind keeps its precision";
  if (profile.floatNodes.count(node.getName().str()))
    return "the profile says so";
  return {};
}

/// The matmul of queries and keys of the attention that \p node, a matmul,
/// ends; null for none.
static MatMulNode *findScores(MatMulNode &node) {
  std::optional<AttentionWeights> weights = matchWeights(node.getLhs());
  if (!weights || !fitsAttention(*weights->scores.matMul, node))
    return nullptr;
  return weights->scores.matMul;
}

/// Chooses both matmuls of attentions, or none.
static void chooseAttentions(Function &function, const RangeProfile &profile,
                             const QuantizationConfig &config,
                             NodeSelection &selection) {
  if (config.keptKinds.count(NodeKind::MatMul))
    return;
  auto isProfiled = [&](NodeValue value) {
    return findHistogram(value, profile) != nullptr;
  };
  auto isKept = [&](const MatMulNode &matMul) {
    return profile.floatNodes.count(matMul.getName().str()) ||
           !llvm::all_of(matMul.getOperands(), isProfiled);
  };
  for (Node &node : function.getNodes()) {
    auto *matMul = llvm::dyn_cast<MatMulNode>(&node);
    MatMulNode *scores = matMul ? findScores(*matMul) : nullptr;
    if (!scores || isKept(*scores) || isKept(*matMul))
      continue;
    selection.scores[matMul] = scores;
    selection.chosen.insert(scores);
    selection.chosen.insert(matMul);
  }
}

NodeSelection glowish::selectNodes(Function &function,
                                   const RangeProfile &profile,
                                   const QuantizationConfig &config) {
  NodeSelection selection;
  chooseAttentions(function, profile, config, selection);
  // What chosen nodes compute, and what is element-wise or moved of that.
  llvm::DenseSet<const Node *> behind;
  auto isBehind = [&](NodeValue value) {
    return value && behind.count(value.node);
  };
  auto explain = [&](Node &node) -> std::string {
    if (std::optional<Anchor> anchor = describeAnchor(node, config))
      return explainAnchor(node, *anchor, profile);
    if (movesQuantized(node))
      return "no quantized node reads it";
    for (NodeValue operand : node.getOperands())
      if (!findHistogram(operand, profile))
        return "the profile does not have its operands";
    return !config.needsQuantizedOperand ||
                   llvm::any_of(node.getOperands(), isBehind)
               ? ""
               : "none of its operands comes from a quantized node";
  };
  for (Node &node : function.getNodes()) {
    bool isElementWise = node.getInfo().scalarOp.has_value();
    bool moves =
        node.getInfo().has(OpTrait::StaticDataMovement) || movesQuantized(node);
    if ((isElementWise || moves) && llvm::any_of(node.getOperands(), isBehind))
      behind.insert(&node);
    if (selection.chosen.count(&node)) {
      behind.insert(&node);
      continue;
    }
    if (!llvm::is_contained(getQuantizableKinds(), node.getKind()))
      continue;
    if (llvm::StringRef reason = explainKept(node, profile, config);
        !reason.empty()) {
      selection.kept[&node] = reason;
      continue;
    }
    // Sums with constants are a part of what is in front of them.
    if (isElementWise && llvm::any_of(node.getOperands(), isConstantOrSplat))
      continue;
    std::string reason = explain(node);
    if (!reason.empty()) {
      selection.reasons[&node] = reason;
      continue;
    }
    selection.chosen.insert(&node);
    behind.insert(&node);
  }
  return selection;
}
