//===- ReductionDefinitions.cpp - Reductions and normalizations ----------===//

#include "Definitions.h"
#include "glowish/Base/ForEachIndex.h"

using namespace glowish;
using namespace glowish::proofs;

//===- Reductions ---------------------------------------------------------===//

std::vector<Number> proofs::gather(const SymbolicTensor &tensor,
                                   llvm::ArrayRef<int64_t> axes,
                                   DimsRef index) {
  std::vector<Number> elements;
  forEachIndex(tensor.type.getShape(), [&](DimsRef candidate) {
    for (size_t d = 0; d < candidate.size(); ++d)
      if (!llvm::is_contained(axes, int64_t(d)) && candidate[d] != index[d])
        return;
    elements.push_back(tensor.getNumber(candidate));
  });
  return elements;
}

/// \p reduce of the elements along \p axes, for each of the others.
static SymbolicTensor
reduceAlong(const Node &node, const SymbolicTensor &input,
            llvm::ArrayRef<int64_t> axes,
            llvm::function_ref<Number(llvm::ArrayRef<Number>)> reduce) {
  SymbolicTensor result = {node.getType(), {}};
  Dims kept(input.type.getShape());
  for (int64_t axis : axes)
    kept[axis] = 1;
  forEachIndex(kept, [&](DimsRef index) {
    result.elements.push_back(reduce(gather(input, axes, index)));
  });
  return result;
}

static Number averageAll(llvm::ArrayRef<Number> elements) {
  return addAll(elements) / double(elements.size());
}
static Number findLargest(llvm::ArrayRef<Number> elements) {
  Number largest = elements[0];
  for (const Number &element : elements.drop_front())
    largest = max(largest, element);
  return largest;
}

static SymbolicTensor defineReduce(Proof &proof, const ReduceNode &node,
                                   Tensors operands) {
  if (operands[0].elements.empty()) {
    proof.fail("a reduction of no elements");
    return {node.getType(), {}};
  }
  llvm::StringRef mode = node.getMode();
  auto reduce = [&](llvm::ArrayRef<Number> elements) {
    if (mode == "sum")
      return addAll(elements);
    if (mode == "mean")
      return averageAll(elements);
    if (mode == "max")
      return findLargest(elements);
    Number result = elements[0];
    for (const Number &element : elements.drop_front())
      result = mode == "min" ? min(result, element) : result * element;
    return result;
  };
  return reduceAlong(node, operands[0], node.getAxes(), reduce);
}
static const NodeDefinition reduce(NodeKind::Reduce,
                                   defineAs<ReduceNode, defineReduce>);

static SymbolicTensor
defineReduceInteger(Proof &, const ReduceIntegerNode &node, Tensors operands) {
  return reduceAlong(node, operands[0], node.getAxes(),
                     [](llvm::ArrayRef<Number> elements) {
                       std::vector<Number> wide;
                       for (const Number &element : elements)
                         wide.push_back(convert(element, ElemKind::Int32));
                       return addAll(wide);
                     });
}
static const NodeDefinition
    reduceInteger(NodeKind::ReduceInteger,
                  defineAs<ReduceIntegerNode, defineReduceInteger>);

static SymbolicTensor
defineGlobalAvgPool(Proof &, const GlobalAvgPoolNode &node, Tensors operands) {
  return reduceAlong(node, operands[0], {1, 2}, averageAll);
}
static const NodeDefinition
    globalAvgPool(NodeKind::GlobalAvgPool,
                  defineAs<GlobalAvgPoolNode, defineGlobalAvgPool>);

static SymbolicTensor
defineGlobalMaxPool(Proof &, const GlobalMaxPoolNode &node, Tensors operands) {
  return reduceAlong(node, operands[0], {1, 2}, findLargest);
}
static const NodeDefinition
    globalMaxPool(NodeKind::GlobalMaxPool,
                  defineAs<GlobalMaxPoolNode, defineGlobalMaxPool>);

//===- Normalization ------------------------------------------------------===//

static SymbolicTensor
defineBatchNormalization(Proof &, const BatchNormalizationNode &node,
                         Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    Dims channel = {index[node.getAxis()]};
    Number centred =
        operands[0].getNumber(index) - operands[3].getNumber(channel);
    result.elements.push_back(
        centred / sqrt(operands[4].getNumber(channel) + node.getEpsilon()) *
            operands[1].getNumber(channel) +
        operands[2].getNumber(channel));
  });
  return result;
}
static const NodeDefinition batchNormalization(
    NodeKind::BatchNormalization,
    defineAs<BatchNormalizationNode, defineBatchNormalization>);

/// \p x less the mean of \p elements, divided by the root of their variance and
/// \p epsilon; without the mean where it is not subtracted.
static Number normalize(const Number &x, llvm::ArrayRef<Number> elements,
                        double epsilon, bool subtractsMean) {
  Number mean = subtractsMean ? averageAll(elements) : x.like(0);
  std::vector<Number> squares;
  for (const Number &element : elements)
    squares.push_back((element - mean) * (element - mean));
  return (x - mean) / sqrt(averageAll(squares) + epsilon);
}

static SymbolicTensor
defineLayerNormalization(Proof &, const LayerNormalizationNode &node,
                         Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  std::vector<int64_t> axes;
  for (int64_t d = node.getAxis(); d < int64_t(node.getType().getRank()); ++d)
    axes.push_back(d);
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    Number value = normalize(operands[0].getNumber(index),
                             gather(operands[0], axes, index),
                             node.getEpsilon(), node.getSubtractMean());
    DimsRef trailing = index.drop_front(size_t(node.getAxis()));
    if (isPresent(operands[1]))
      value = value * operands[1].getNumber(trailing);
    if (isPresent(operands[2]))
      value = value + operands[2].getNumber(trailing);
    result.elements.push_back(value);
  });
  return result;
}
static const NodeDefinition layerNormalization(
    NodeKind::LayerNormalization,
    defineAs<LayerNormalizationNode, defineLayerNormalization>);

static SymbolicTensor
defineGroupNormalization(Proof &, const GroupNormalizationNode &node,
                         Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  DimsRef shape = node.getType().getShape();
  int64_t axis = node.getAxis(), perGroup = shape[axis] / node.getGroups();
  forEachIndex(shape, [&](DimsRef index) {
    std::vector<Number> elements;
    forEachIndex(shape, [&](DimsRef other) {
      if (other[0] == index[0] &&
          other[axis] / perGroup == index[axis] / perGroup)
        elements.push_back(operands[0].getNumber(other));
    });
    Number value =
        normalize(operands[0].getNumber(index), elements, node.getEpsilon(),
                  /*subtractsMean=*/true);
    if (isPresent(operands[1]))
      value = value * operands[1].getNumber(index[axis]);
    if (isPresent(operands[2]))
      value = value + operands[2].getNumber(index[axis]);
    result.elements.push_back(value);
  });
  return result;
}
static const NodeDefinition groupNormalization(
    NodeKind::GroupNormalization,
    defineAs<GroupNormalizationNode, defineGroupNormalization>);
