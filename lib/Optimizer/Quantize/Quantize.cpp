//===- Quantize.cpp - From a float model to a quantized one ---------------===//
//
// Each value that a chosen node reads is quantized, once, where it is made:
// behind an activation, if it is one's result, and before reshapes. What no
// chosen node reads stays float: the scores of a network, for example. The
// graph is in the form of imported quantized models then, which the passes of
// docs/quantization.md make integer arithmetic.
//
//===----------------------------------------------------------------------===//

#include "Quantize/BiasCorrection.h"
#include "Quantize/Selection.h"
#include "Quantize/Weights.h"
#include "Util/ConstantTensors.h"
#include "Util/Dequantization.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Log.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

namespace {

/// A value that is quantized: \p real is what \p integer stands for.
struct QuantizedValue {
  NodeValue integer, real;
  QuantizationParams params;
};

class Quantizer {
public:
  Quantizer(Function &function, const RangeProfile &profile,
            const QuantizationConfig &config)
      : function(function), profile(profile), config(config) {}

  llvm::Error run();

private:
  void quantizeAnchor(Node &node, const Anchor &anchor);
  /// The constant bias of \p node, which \p bias is; zeros where it has none,
  /// and what rounding the weights adds to the sums is known. Else nullopt.
  std::optional<Tensor> getBiasTensor(const Node &node, const Anchor &anchor,
                                      NodeValue bias) const;
  /// Adds the biases of matmuls that had none.
  void addBiases();
  /// Adds to \p bias of \p node what rounded \p weights lack on average.
  void correctBias(Tensor &bias, const Node &node, const Anchor &anchor,
                   const QuantizedWeights &weights) const;
  /// Quantizes what depthwise convolution \p node reads with channels of equal
  /// ranges, if no other nodes read it.
  void equalizeInput(ConvolutionNode &node);
  void quantizeOperand(Node &node, unsigned index);
  bool isOwnResult(NodeValue value) const;
  void quantizeSummands();
  /// Fills \p means.
  void findMeans(llvm::ArrayRef<Node *> nodes);

  /// Of a value with \p histogram. The largest weights of a softmax matter
  /// most: their range is not narrowed.
  QuantizationParams chooseParams(NodeValue value,
                                  const Histogram &histogram) const {
    QuantizationCalibration calibration = llvm::isa<SoftmaxNode>(value.node)
                                              ? QuantizationCalibration::None
                                              : config.calibration;
    return chooseQuantization(calibrate(histogram, config.schema, calibration),
                              config.schema);
  }
  NodeValue makeConstant(llvm::StringRef name, Tensor tensor) {
    return function.getModule().createConstant(name, std::move(tensor));
  }
  NodeValue makeScalar(llvm::StringRef name, ElemKind kind, double value);
  /// \p value as an integer, and what \p integer stands for.
  NodeValue makeInteger(NodeValue value, const QuantizationParams &params);
  NodeValue makeReal(NodeValue integer, NodeValue scale, int zeroPoint);
  QuantizedValue quantizeValue(NodeValue value);
  QuantizedValue makeQuantized(NodeValue integer, QuantizationParams params);
  /// The functions of the nodes whose record has MovesQuantized: new nodes that
  /// take the place of \p node, unless it does not apply.
  std::optional<QuantizedValue> moveQuantized(Node &node);
#define MOVES_QUANTIZED(NAME)                                                  \
  std::optional<QuantizedValue> quantize##NAME(NAME##Node &node);
#define GET_MOVES_QUANTIZED_LIST
#include "glowish/Graph/NodeFunctions.inc"

  Function &function;
  const RangeProfile &profile;
  const QuantizationConfig &config;
  NodeSelection selection;
  /// By what was there, and by what stands for it.
  llvm::DenseMap<NodeValue, QuantizedValue> values;
  /// Of the channels that the weights of these nodes are multiplied with.
  llvm::DenseMap<const Node *, std::vector<float>> means;
  /// Of matmuls that had none. They are added at the end: until then values
  /// have the names by which the profile knows them.
  llvm::MapVector<Node *, NodeValue> newBiases;
};

} // namespace

//===- The composed forms -------------------------------------------------===//

NodeValue Quantizer::makeScalar(llvm::StringRef name, ElemKind kind,
                                double value) {
  Tensor tensor(Type(kind, {}));
  tensor.setFromDouble(0, value);
  return makeConstant(name, std::move(tensor));
}

NodeValue Quantizer::makeInteger(NodeValue value,
                                 const QuantizationParams &params) {
  std::string name = (value.node->getName() + ".quantized").str();
  NodeValue scale = makeScalar(name, ElemKind::Float, params.scale);
  NodeValue result = function.create<DivNode>(name, value, scale)->getResult();
  result = function.create<RoundNode>(name, result)->getResult();
  if (params.zeroPoint) {
    NodeValue zero = makeScalar(name, ElemKind::Float, params.zeroPoint);
    result = function.create<AddNode>(name, result, zero)->getResult();
  }
  return function.create<CastNode>(name, result, params.kind)->getResult();
}

NodeValue Quantizer::makeReal(NodeValue integer, NodeValue scale,
                              int zeroPoint) {
  std::string name = integer.node->getName().str();
  NodeValue zero;
  if (zeroPoint)
    zero = makeScalar(name, ElemKind::Int32, zeroPoint);
  return composeDequantization(
      function, name, {.integer = integer, .zeroPoint = zero, .scale = scale});
}

//===- Values -------------------------------------------------------------===//

/// The node behind which what reads \p value may be; null for none.
static Node *findNext(Function &function, NodeValue value) {
  Function::NodeList &nodes = function.getNodes();
  if (value.node->getParent() != &function)
    return &nodes.front();
  auto next = std::next(value.node->getIterator());
  return next == nodes.end() ? nullptr : &*next;
}

QuantizedValue Quantizer::makeQuantized(NodeValue integer,
                                        QuantizationParams params) {
  NodeValue scale =
      makeScalar(integer.node->getName(), ElemKind::Float, params.scale);
  return {integer, makeReal(integer, scale, params.zeroPoint), params};
}

std::optional<QuantizedValue> Quantizer::moveQuantized(Node &node) {
  // Those that are to stay float have no reason.
  if (!selection.reasons.count(&node))
    return std::nullopt;
  switch (node.getKind()) {
#define MOVES_QUANTIZED(NAME)                                                  \
  case NodeKind::NAME:                                                         \
    return quantize##NAME(llvm::cast<NAME##Node>(node));
#define GET_MOVES_QUANTIZED_LIST
#include "glowish/Graph/NodeFunctions.inc"
  default:
    return std::nullopt;
  }
}

/// A max pool selects among the integers: a positive scale keeps their order.
std::optional<QuantizedValue> Quantizer::quantizeMaxPool(MaxPoolNode &node) {
  // A moved input would have to be moved as integers, too.
  NodeValue from = node.getInput();
  if (stripMoves(from) != from ||
      !(values.count(from) || findHistogram(from, profile)))
    return std::nullopt;
  QuantizedValue input = quantizeValue(from);
  NodeDraft draft = node.getDraft();
  draft.operands[MaxPoolNode::inputIdx] = input.integer;
  InsertionGuard guard(function, findNext(function, node.getResult()));
  Node *pool = function.create(node.getName(), std::move(draft));
  return makeQuantized(pool->getResult(), input.params);
}

/// The parts of a concatenation are quantized by its parameters.
std::optional<QuantizedValue> Quantizer::quantizeConcat(ConcatNode &node) {
  const Histogram *histogram = findHistogram(node.getResult(), profile);
  if (!histogram)
    return std::nullopt;
  QuantizationParams params = chooseParams(node.getResult(), *histogram);
  InsertionGuard guard(function, findNext(function, node.getResult()));
  NodeDraft draft = node.getDraft();
  for (NodeValue &operand : draft.operands)
    operand = makeInteger(operand, params);
  Node *concat = function.create(node.getName(), std::move(draft));
  return makeQuantized(concat->getResult(), params);
}

/// Quantizes \p value, which has a histogram, for all that read it but the
/// model's outputs.
QuantizedValue Quantizer::quantizeValue(NodeValue value) {
  auto found = values.find(value);
  assert((found != values.end() || findHistogram(value, profile)) &&
         "only values that have been seen are quantized");
  if (found != values.end())
    return found->second;
  std::vector<std::pair<Node *, unsigned>> readers;
  for (const Use &use : value.node->uses())
    if (use.get() == value && !llvm::isa<SaveNode>(use.getUser()))
      readers.emplace_back(use.getUser(), use.getOperandIndex());
  std::optional<QuantizedValue> quantized = moveQuantized(*value.node);
  if (quantized) {
    selection.reasons.erase(value.node);
  } else {
    InsertionGuard guard(function, findNext(function, value));
    QuantizationParams params =
        chooseParams(value, *findHistogram(value, profile));
    quantized = makeQuantized(makeInteger(value, params), params);
  }
  for (auto [reader, index] : readers)
    reader->setOperand(index, quantized->real);
  GLOWISH_VLOG(3, "quantized: value '{0}' is {1} with scale {2} around {3}",
               value.node->getName(), getElemKindName(quantized->params.kind),
               quantized->params.scale, quantized->params.zeroPoint);
  values[value] = *quantized;
  values[quantized->real] = *quantized;
  return *quantized;
}

//===- Nodes --------------------------------------------------------------===//

void Quantizer::quantizeOperand(Node &node, unsigned index) {
  quantizeValue(stripMoves(node.getOperand(index)));
}

/// The operand that is the bias of \p node: its own, or that of a sum with a
/// constant for each output, which is all that reads a matmul.
static std::pair<Node *, unsigned> findBias(Node &node, const Anchor &anchor) {
  if (anchor.bias)
    return {&node, *anchor.bias};
  NodeValue result = node.getResult(0);
  if (!result.hasOneUse())
    return {nullptr, 0};
  const Use &use = *node.uses().begin();
  auto *add = llvm::dyn_cast<AddNode>(use.getUser());
  if (!add || add->getType() != result.getType())
    return {nullptr, 0};
  unsigned other = 1 - use.getOperandIndex();
  NodeValue bias = add->getOperand(other);
  bool isForOutputs = bias.getShape().size() == 1 &&
                      bias.getShape()[0] == result.getShape().back();
  return isForOutputs ? std::pair<Node *, unsigned>(add, other)
                      : std::pair<Node *, unsigned>(nullptr, 0);
}

std::optional<Tensor> Quantizer::getBiasTensor(const Node &node,
                                               const Anchor &anchor,
                                               NodeValue bias) const {
  if (!bias) {
    if (!means.count(&node))
      return std::nullopt;
    DimsRef filter = node.getOperand(anchor.filter).getShape();
    return Tensor(Type(ElemKind::Float, {filter[anchor.axis]}));
  }
  const Tensor *tensor = getConstantTensor(bias);
  if (!tensor || bias.getElemKind() != ElemKind::Float)
    return std::nullopt;
  return tensor->clone();
}

void Quantizer::correctBias(Tensor &bias, const Node &node,
                            const Anchor &anchor,
                            const QuantizedWeights &weights) const {
  auto found = means.find(&node);
  DimsRef filter = node.getOperand(anchor.filter).getShape();
  // A bias that is not one for each channel stays as it is.
  DimsRef shape = bias.getType().getShape();
  if (found == means.end() || shape.empty() ||
      shape.back() != filter[anchor.axis] ||
      bias.getNumElements() != shape.back())
    return;
  std::vector<double> errors =
      getMeanErrors(node, anchor, weights, found->second);
  for (auto [value, error] : llvm::zip_equal(bias.data<float>(), errors))
    value = float(double(value) + error);
}

void Quantizer::quantizeAnchor(Node &node, const Anchor &anchor) {
  quantizeOperand(node, anchor.input);
  double inputScale = values.find(stripMoves(node.getOperand(anchor.input)))
                          ->second.params.scale;
  NodeValue filter = node.getOperand(anchor.filter), bias;
  auto [biasReader, biasIndex] = findBias(node, anchor);
  if (biasReader)
    bias = biasReader->getOperand(biasIndex);
  std::optional<Tensor> biasTensor = getBiasTensor(node, anchor, bias);
  QuantizedWeights weights =
      quantizeWeights(*getConstantTensor(filter), anchor.axis,
                      biasTensor ? &*biasTensor : nullptr, inputScale, config,
                      anchor.isPerChannel);
  if (biasTensor) {
    correctBias(*biasTensor, node, anchor, weights);
    bias = makeConstant(bias ? bias.node->getName() : node.getName(),
                        roundBias(*biasTensor, weights,
                                  filter.getShape()[anchor.axis], inputScale));
  }
  InsertionGuard guard(function, &node);
  std::string name = filter.node->getName().str();
  NodeValue scales = makeConstant(name, std::move(weights.scales));
  filter = makeReal(makeConstant(name, std::move(weights.integers)), scales,
                    /*zeroPoint=*/0);
  node.setOperand(anchor.filter, filter);
  if (biasTensor && biasReader)
    biasReader->setOperand(biasIndex, bias);
  else if (biasTensor)
    newBiases[&node] = bias;
}

void Quantizer::addBiases() {
  for (auto [node, bias] : newBiases) {
    NodeValue sums = node->getResult(0);
    InsertionGuard guard(function, findNext(function, sums));
    Node *add = function.create<AddNode>(node->getName(), sums, bias);
    sums.replaceAllUsesWith(add->getResult());
    add->setOperand(AddNode::xIdx, sums);
  }
}

//===- Sums ---------------------------------------------------------------===//

/// Whether one reader alone has \p value, which a chosen convolution or matmul
/// computes, perhaps with constants and activations behind it.
bool Quantizer::isOwnResult(NodeValue value) const {
  while (value.hasOneUse() && isElementWise(*value.node)) {
    NodeValue only;
    for (NodeValue operand : value.node->getOperands()) {
      if (isConstantOrSplat(operand))
        continue;
      if (only)
        return false;
      only = operand;
    }
    if (!only)
      return false;
    value = only;
  }
  return value.hasOneUse() && selection.chosen.count(value.node) &&
         describeAnchor(*value.node, config);
}

/// What a sum alone reads stays float: the kernel that computes it adds the
/// other operand. Of two such operands the first to be computed waits in memory
/// for the second, as integers.
void Quantizer::quantizeSummands() {
  llvm::DenseMap<const Node *, unsigned> positions;
  llvm::SmallVector<NodeValue> summands;
  for (Node &node : function.getNodes()) {
    positions.try_emplace(&node, positions.size());
    auto *add = llvm::dyn_cast<AddNode>(&node);
    if (!add || !isOwnResult(add->getX()) || !isOwnResult(add->getY()))
      continue;
    summands.push_back(positions[add->getX().node] < positions[add->getY().node]
                           ? add->getX()
                           : add->getY());
  }
  for (NodeValue value : summands)
    if (findHistogram(value, profile))
      quantizeValue(value);
}

//===- Channels of different ranges ---------------------------------------===//

bool glowish::isDepthwise(const ConvolutionNode &node) {
  return node.getGroup() > 1 && node.getFilter().getShape()[3] == 1;
}

/// What each channel is divided by, so that all have the range of the widest.
static Tensor getDivisors(const ChannelRanges &ranges) {
  // 0 is in all of them.
  std::vector<float> extents;
  for (auto [low, high] : llvm::zip_equal(ranges.minima, ranges.maxima))
    extents.push_back(std::max(high, 0.0f) - std::min(low, 0.0f));
  float widest = *llvm::max_element(extents);
  Tensor divisors(Type(ElemKind::Float, {int64_t(extents.size())}));
  for (auto [divisor, extent] :
       llvm::zip_equal(divisors.data<float>(), extents))
    divisor = extent > 0 ? std::max(extent / widest, 1e-4f) : 1;
  return divisors;
}

/// \p weights of a depthwise convolution, each output channel times the
/// divisor of its input channel.
static Tensor multiplyChannels(const Tensor &weights, const Tensor &divisors) {
  Tensor result = weights.clone();
  int64_t numOutputs = weights.getType().getDim(0);
  int64_t numTaps = weights.getNumElements() / numOutputs;
  int64_t multiplier = numOutputs / divisors.getNumElements();
  for (auto [i, value] : llvm::enumerate(result.data<float>()))
    value *= divisors.data<float>()[size_t(int64_t(i) / numTaps / multiplier)];
  return result;
}

void Quantizer::equalizeInput(ConvolutionNode &node) {
  NodeValue value = node.getInput();
  auto ranges = profile.channels.find(getProfileName(value));
  if (!isDepthwise(node) || ranges == profile.channels.end() ||
      values.count(value) || !value.hasOneUse() ||
      int64_t(ranges->second.minima.size()) != value.getShape().back())
    return;
  Tensor divisors = getDivisors(ranges->second);
  ValueRange range;
  for (auto [low, high, divisor] :
       llvm::zip_equal(ranges->second.minima, ranges->second.maxima,
                       divisors.data<float>())) {
    range.min = std::min(range.min, double(low / divisor));
    range.max = std::max(range.max, double(high / divisor));
  }
  if (auto found = means.find(&node); found != means.end())
    for (auto [mean, divisor] :
         llvm::zip_equal(found->second, divisors.data<float>()))
      mean /= divisor;
  QuantizationParams params = chooseQuantization(range, config.schema);
  std::string name = (value.node->getName() + ".equalized").str();
  NodeValue filter = makeConstant(
      node.getFilter().node->getName(),
      multiplyChannels(*getConstantTensor(node.getFilter()), divisors));
  InsertionGuard guard(function, findNext(function, value));
  value =
      function
          .create<DivNode>(name, value, makeConstant(name, std::move(divisors)))
          ->getResult();
  QuantizedValue quantized = makeQuantized(makeInteger(value, params), params);
  values[quantized.real] = quantized;
  node.setOperand(ConvolutionNode::inputIdx, quantized.real);
  node.setOperand(ConvolutionNode::filterIdx, filter);
}

/// An error names the nodes that are not quantized, and their kinds.
static llvm::Error checkAllQuantized(const NodeSelection &selection) {
  std::vector<std::string> nodes;
  std::set<std::string> kinds;
  for (const auto &[node, reason] : selection.reasons) {
    if (movesQuantized(*node))
      continue;
    kinds.insert(node->getKindName().str());
    nodes.push_back(llvm::formatv("{0} '{1}' ({2})", node->getKindName(),
                                  node->getName(), reason));
  }
  if (nodes.empty())
    return llvm::Error::success();
  return makeError(
      "«assert-all-nodes-quantized»: not quantized: {0}; accepted: "
      "without this flag, or with "
      "«keep-original-precision-for-nodes={1}»",
      llvm::join(nodes, ", "), llvm::join(kinds, ","));
}

void Quantizer::findMeans(llvm::ArrayRef<Node *> nodes) {
  for (const Node *node : nodes) {
    NodeValue input = getWeightedInput(*node);
    auto found =
        input ? profile.means.find(getProfileName(input)) : profile.means.end();
    if (found != profile.means.end() &&
        int64_t(found->second.size()) == input.getShape().back())
      means[node] = found->second;
  }
}

llvm::Error Quantizer::run() {
  selection = selectNodes(function, profile, config);
  std::vector<Node *> nodes;
  for (Node &node : function.getNodes())
    if (selection.chosen.count(&node))
      nodes.push_back(&node);
  if (config.correctsBiases)
    findMeans(nodes);
  if (config.equalizesChannels)
    for (Node *node : nodes)
      if (auto *convolution = llvm::dyn_cast<ConvolutionNode>(node))
        equalizeInput(*convolution);
  for (Node *node : nodes) {
    std::optional<Anchor> anchor = describeAnchor(*node, config);
    if (anchor && getConstantTensor(node->getOperand(anchor->filter))) {
      quantizeAnchor(*node, *anchor);
      continue;
    }
    for (unsigned i = 0; i < node->getNumOperands(); ++i)
      quantizeOperand(*node, i);
  }
  quantizeSummands();
  addBiases();
  for (const auto &[node, reason] : selection.kept)
    logFloat(*node, reason);
  for (const auto &[node, reason] : selection.reasons)
    logFloat(*node, reason);
  GLOWISH_VLOG(1, "quantized: {0} nodes", nodes.size());
  if (config.assertsAll)
    return checkAllQuantized(selection);
  return llvm::Error::success();
}

llvm::Error glowish::quantize(Function &function, const RangeProfile &profile,
                              const QuantizationConfig &config) {
  if (profile.checksum != getProfileChecksum(function))
    return makeError("the profile is of another model, '{0}'; accepted: one "
                     "that `model-runner -dump-profile=FILE` has written for "
                     "this model",
                     profile.model);
  std::set<std::string> missing = profile.floatNodes;
  for (const Node &node : function.getNodes())
    missing.erase(node.getName().str());
  if (!missing.empty())
    return makeError("the profile names '{0}' as a float node; accepted: names "
                     "of the model's nodes",
                     *missing.begin());
  return Quantizer(function, profile, config).run();
}

/// Of \p anchor, a convolution or matmul.
static uint64_t countMultiplications(const Node &node, const Anchor &anchor) {
  const Type &filter = node.getOperand(anchor.filter).getType();
  return uint64_t(node.getType(0).getNumElements()) *
         uint64_t(filter.getNumElements()) /
         uint64_t(filter.getDim(anchor.axis));
}

/// Of \p matMul, of values that are not constant.
static uint64_t countMultiplications(const Node &matMul) {
  return uint64_t(matMul.getType(0).getNumElements()) *
         uint64_t(matMul.getOperand(MatMulNode::lhsIdx).getShape().back());
}

std::vector<QuantizedNode>
glowish::listQuantizedNodes(Function &function, const RangeProfile &profile,
                            const QuantizationConfig &config) {
  NodeSelection selection = selectNodes(function, profile, config);
  std::vector<QuantizedNode> nodes;
  for (const Node &node : function.getNodes()) {
    if (!selection.chosen.count(&node))
      continue;
    QuantizedNode listed = {node.getName().str(), node.getKind()};
    std::optional<Anchor> anchor = describeAnchor(node, config);
    if (auto found = selection.scores.find(&node);
        found != selection.scores.end()) {
      listed.numMultiplications =
          countMultiplications(node) + countMultiplications(*found->second);
    } else if (anchor && getConstantTensor(node.getOperand(anchor->filter))) {
      listed.numMultiplications = countMultiplications(node, *anchor);
    } else if (anchor) {
      // Listed with the other matmul of its attention.
      continue;
    }
    nodes.push_back(std::move(listed));
  }
  return nodes;
}
