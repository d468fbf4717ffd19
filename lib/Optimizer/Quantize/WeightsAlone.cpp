//===- WeightsAlone.cpp - Matmuls of floats and quantized weights ---------===//
//
// Weights become integers, in the form in which models with such weights are
// imported. What they are multiplied with stays float, so that no profile is
// needed.
//
//===----------------------------------------------------------------------===//

#include "Quantize/Selection.h"
#include "Util/ConstantTensors.h"
#include "Util/Dequantization.h"
#include <cmath>
#include <map>

using namespace glowish;

namespace {

/// The scale and zero point of one block of a column.
struct BlockParameters {
  float scale = 1;
  int64_t zeroPoint = 0;
};

/// Integers [K, N], and their parameters, a row a block.
struct BlockedWeights {
  Tensor integers, scales, zeroPoints;
};

/// The numbers of a kind.
struct IntegerRange {
  explicit IntegerRange(ElemKind kind)
      : isSigned(kind == ElemKind::Int8 || kind == ElemKind::Int4) {
    int64_t count = int64_t(1) << getElemBits(kind);
    least = isSigned ? -count / 2 : 0;
    greatest = least + count - 1;
  }
  bool isSigned;
  int64_t least, greatest;
};

} // namespace

/// Parameters for numbers from \p low, at most 0, to \p high, at least 0.
/// Signed integers have the zero point 0. Of the few that have 4 bits the least
/// stands for the greatest magnitude, as there is one more of its sign: the
/// scale may be negative.
static BlockParameters chooseParameters(double low, double high,
                                        const IntegerRange &range) {
  // Less is zero.
  constexpr double least = 1e-30;
  if (high - low < least)
    return {};
  if (range.isSigned && range.greatest == 7)
    return {.scale = float((high > -low ? high : low) / double(range.least))};
  if (range.isSigned)
    return {.scale = float(std::max(high, -low) / double(range.greatest))};
  float scale = float((high - low) / double(range.greatest));
  return {.scale = scale, .zeroPoint = int64_t(std::nearbyint(-low / scale))};
}

/// Quantizes \p weights, [K, N], in blocks of \p block rows.
static BlockedWeights quantizeBlocks(const Tensor &weights, ElemKind kind,
                                     int64_t block) {
  DimsRef shape = weights.getType().getShape();
  int64_t rows = shape[0], columns = shape[1];
  Dims parameters = {(rows + block - 1) / block, columns};
  BlockedWeights result = {Tensor(Type(kind, shape)),
                           Tensor(Type(ElemKind::Float, parameters)),
                           Tensor(Type(kind, parameters))};
  IntegerRange range(kind);
  llvm::ArrayRef<float> from = weights.data<float>();
  auto *to = static_cast<uint8_t *>(result.integers.getBytes());
  std::vector<double> low(static_cast<size_t>(columns)), high(low);
  for (int64_t first = 0; first < rows; first += block) {
    int64_t end = std::min(rows, first + block);
    std::fill(low.begin(), low.end(), 0);
    std::fill(high.begin(), high.end(), 0);
    for (int64_t i = first * columns; i < end * columns; ++i) {
      size_t n = size_t(i % columns);
      low[n] = std::min(low[n], double(from[size_t(i)]));
      high[n] = std::max(high[n], double(from[size_t(i)]));
    }
    std::vector<BlockParameters> chosen;
    for (int64_t n = 0; n < columns; ++n) {
      chosen.push_back(
          chooseParameters(low[size_t(n)], high[size_t(n)], range));
      int64_t index = first / block * columns + n;
      result.scales.setFromDouble(index, chosen.back().scale);
      result.zeroPoints.setFromDouble(index, double(chosen.back().zeroPoint));
    }
    for (int64_t i = first * columns; i < end * columns; ++i) {
      const BlockParameters &p = chosen[size_t(i % columns)];
      auto q = int64_t(std::nearbyint(double(from[size_t(i)]) / p.scale)) +
               p.zeroPoint;
      to[i] = uint8_t(std::clamp(q, range.least, range.greatest));
    }
  }
  return result;
}

/// The composed form of \p weights, which are quantized in blocks of \p block
/// rows.
static NodeValue dequantize(Function &function, llvm::StringRef name,
                            BlockedWeights weights, int64_t block) {
  Module &module = function.getModule();
  int64_t rows = weights.integers.getType().getDim(0);
  bool isSigned = IntegerRange(weights.integers.getType().getKind()).isSigned;
  NodeValue value = module.createConstant(name, std::move(weights.integers));
  auto repeat = [&](Tensor parameter) {
    return repeatBlocks(function, name,
                        module.createConstant(name, std::move(parameter)),
                        /*axis=*/0, rows, block);
  };
  auto cast = [&](NodeValue from, ElemKind to) {
    return function.create<CastNode>(name, from, to)->getResult();
  };
  if (!isSigned)
    value = function
                .create<SubNode>(name, cast(value, ElemKind::Int32),
                                 cast(repeat(std::move(weights.zeroPoints)),
                                      ElemKind::Int32))
                ->getResult();
  return function
      .create<MulNode>(name, cast(value, ElemKind::Float),
                       repeat(std::move(weights.scales)))
      ->getResult();
}

/// The weights of matmul \p anchor of \p node, which are to be quantized; null
/// where they are not.
static const Tensor *findWeights(const Node &node, const Anchor &anchor) {
  NodeValue value = node.getOperand(anchor.filter);
  const Tensor *weights = getConstantTensor(value);
  // Filters of convolutions have four dimensions.
  bool isMatrix = weights && weights->getType().getRank() == 2 &&
                  weights->getType().getKind() == ElemKind::Float &&
                  weights->getNumElements() != 0;
  bool isQuantized = isMatrix && anchor.obstacle.empty() &&
                     llvm::all_of(weights->data<float>(), [](float number) {
                       return std::isfinite(number);
                     });
  return isQuantized ? weights : nullptr;
}

void glowish::quantizeWeightsAlone(Function &function,
                                   const WeightQuantization &quantization,
                                   const std::set<NodeKind> &keptKinds) {
  std::vector<Node *> nodes;
  for (Node &node : function.getNodes())
    if (!keptKinds.count(node.getKind()))
      nodes.push_back(&node);
  // Of weights that several nodes read, by their orientation.
  std::map<std::pair<const Tensor *, bool>, NodeValue> made;
  for (Node *node : nodes) {
    std::optional<Anchor> anchor = describeAnchor(*node, QuantizationConfig());
    const Tensor *weights = anchor ? findWeights(*node, *anchor) : nullptr;
    if (!weights)
      continue;
    bool isTransposed = anchor->axis == 0;
    NodeValue &value = made[{weights, isTransposed}];
    if (!value) {
      int64_t rows = weights->getType().getDim(isTransposed ? 1 : 0);
      int64_t block =
          quantization.block ? std::min(quantization.block, rows) : rows;
      InsertionGuard guard(function, node);
      std::string name = node->getOperand(anchor->filter).node->getName().str();
      BlockedWeights quantized =
          isTransposed ? quantizeBlocks(permute(*weights, {1, 0}),
                                        quantization.kind, block)
                       : quantizeBlocks(*weights, quantization.kind, block);
      value = dequantize(function, name, std::move(quantized), block);
    }
    node->setOperand(anchor->filter, value);
    if (auto *gemm = llvm::dyn_cast<GemmNode>(node))
      gemm->setTransposeB(false);
  }
}
