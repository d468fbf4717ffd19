//===- Normalization.cpp - Export of normalizations -----------------------===//

#include "ONNX/GraphWriter.h"

using namespace glowish;

//===- Normalizations of images -------------------------------------------===//

/// Returns the order of dimensions with \p axis, the channels, behind the
/// first.
static Layout moveChannels(unsigned rank, int64_t axis) {
  Layout permutation = getIdentityLayout(rank);
  permutation.erase(permutation.begin() + axis);
  permutation.insert(permutation.begin() + 1, axis);
  return permutation;
}

/// ONNX expects the channels in dimension 1.
static void exportBatchNormalization(GraphWriter &w,
                                     const BatchNormalizationNode &node) {
  NodeValue input = node.getInput();
  int64_t rank = int64_t(input.getShape().size()), axis = node.getAxis();
  Layout layout = w.getLayout(input);
  OnnxValue x = w.getStored(input);
  if (rank == 1) {
    x = w.reshape(x, {1, input.getShape()[0]});
  } else if (layout[axis] != 1) {
    Layout permutation = moveChannels(rank, axis);
    x = w.get(input, permutation);
    layout = invert(permutation);
  }
  OnnxValue result = w.op("BatchNormalization",
                          {x, w.get(node.getScale()), w.get(node.getBias()),
                           w.get(node.getMean()), w.get(node.getVariance())},
                          {floatAttr("epsilon", node.getEpsilon())});
  if (rank == 1)
    result = w.reshape(result, input.getShape());
  w.setResult(node, result, layout);
}
static const NodeExporter batchNormalization = exportBatchNormalization;

/// ONNX has GroupNormalization from opset 18 on; written as
/// InstanceNormalization with each group as a channel.
static void exportGroupNormalization(GraphWriter &w,
                                     const GroupNormalizationNode &node) {
  const Type &type = node.getType();
  NodeValue input = node.getInput(), scale = node.getScale();
  int64_t rank = int64_t(type.getRank()), axis = node.getAxis();
  Layout layout = w.getLayout(input);
  OnnxValue x = w.getStored(input);
  if (layout[0] != 0 || layout[axis] != 1) {
    Layout permutation = moveChannels(rank, axis);
    x = w.get(input, permutation);
    layout = invert(permutation);
  }
  if (type.getNumElements() == 0)
    return w.setResult(node, w.op("Identity", {x}), layout);
  Dims shape(rank);
  for (int64_t d = 0; d < rank; ++d)
    shape[layout[d]] = type.getDim(d);
  int64_t groups = node.getGroups();
  bool isInstance = groups == shape[1] && rank > 2;
  auto getFactor = [&](NodeValue value, double missing) {
    return isInstance && value ? w.get(value)
                               : w.filled(type.getKind(), {groups}, missing);
  };
  if (!isInstance)
    x = w.reshape(
        x, {shape[0], groups, type.getNumElements() / shape[0] / groups});
  x = w.op("InstanceNormalization",
           {x, getFactor(scale, 1), getFactor(node.getBias(), 0)},
           {floatAttr("epsilon", node.getEpsilon())});
  if (!isInstance) {
    Dims column(rank - 1, 1);
    column[0] = shape[1];
    x = w.reshape(x, shape);
    if (scale)
      x = w.mul(x, w.reshape(w.get(scale), column));
    if (node.getBias())
      x = w.add(x, w.reshape(w.get(node.getBias()), column));
  }
  w.setResult(node, x, layout);
}
static const NodeExporter groupNormalization = exportGroupNormalization;

static void exportLRN(GraphWriter &w,
                      const LocalResponseNormalizationNode &node) {
  DimsRef shape = node.getType().getShape();
  OnnxAttrs attrs = {
      intAttr("size", node.getSize()), floatAttr("alpha", node.getAlpha()),
      floatAttr("beta", node.getBeta()), floatAttr("bias", node.getBias())};
  if (shape.size() == 4)
    return w.setResult(
        node,
        w.op("LRN", {w.get(node.getInput(), {0, 3, 1, 2})}, std::move(attrs)),
        {0, 2, 3, 1});
  int64_t rows = countElements(shape.drop_back());
  OnnxValue x = w.reshape(w.get(node.getInput()), {rows, shape.back(), 1, 1});
  w.setResult(node, w.reshape(w.op("LRN", {x}, std::move(attrs)), shape));
}
static const NodeExporter lrn = exportLRN;

//===- Normalizations of trailing dimensions ------------------------------===//

/// Composed for the cases that LayerNormalization-17 does not support: no
/// subtraction of the mean, and double precision.
static OnnxValue writeLayerNormalization(GraphWriter &w,
                                         const LayerNormalizationNode &node,
                                         llvm::ArrayRef<int64_t> axes) {
  OnnxValue x = w.get(node.getInput());
  if (node.getSubtractMean())
    x = w.sub(x, w.reduce("ReduceMean", x, axes, /*keepDims=*/true));
  OnnxValue variance =
      w.reduce("ReduceMean", w.mul(x, x), axes, /*keepDims=*/true);
  OnnxValue sum = w.add(variance, w.numberLike(x, node.getEpsilon()));
  x = w.div(x, w.op("Sqrt", {sum}));
  if (node.getScale())
    x = w.mul(x, w.get(node.getScale()));
  if (node.getBias())
    x = w.add(x, w.get(node.getBias()));
  return x;
}

static OnnxValue exportLayerNormalization(GraphWriter &w,
                                          const LayerNormalizationNode &node) {
  const Type &type = node.getType();
  std::vector<int64_t> axes;
  for (int64_t d = node.getAxis(); d < int64_t(type.getRank()); ++d)
    axes.push_back(d);
  if (!node.getSubtractMean() || type.getKind() == ElemKind::Double)
    return writeLayerNormalization(w, node, axes);
  OnnxValue scale = w.get(node.getScale());
  if (!scale)
    scale =
        w.filled(type.getKind(), type.getShape().drop_front(node.getAxis()), 1);
  return w.op("LayerNormalization",
              {w.get(node.getInput()), scale, w.get(node.getBias())},
              {intAttr("axis", node.getAxis()),
               floatAttr("epsilon", node.getEpsilon())});
}
static const NodeExporter layerNormalization = exportLayerNormalization;

//===- Softmax ------------------------------------------------------------===//

/// In the input's layout.
template <typename T>
static void writeSoftmax(GraphWriter &w, const T &node, llvm::StringRef type) {
  Layout layout = w.getLayout(node.getInput());
  OnnxValue x = w.getStored(node.getInput());
  w.setResult(node, w.op(type, {x}, {intAttr("axis", layout[node.getAxis()])}),
              layout);
}
static const NodeExporter softmax = [](GraphWriter &w,
                                       const SoftmaxNode &node) {
  writeSoftmax(w, node, "Softmax");
};
static const NodeExporter logSoftmax = [](GraphWriter &w,
                                          const LogSoftmaxNode &node) {
  writeSoftmax(w, node, "LogSoftmax");
};
