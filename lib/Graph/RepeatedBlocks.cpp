//===- RepeatedBlocks.cpp - Parameters of blocks of a tensor --------------===//

#include "glowish/Graph/RepeatedBlocks.h"

using namespace glowish;

/// \p value before a slice that leaves the last elements out.
static NodeValue stripSlice(NodeValue value) {
  auto *slice = value.getNodeAs<SliceNode>();
  bool isPrefix =
      slice &&
      llvm::all_of(slice->getStarts(), [](int64_t i) { return i == 0; }) &&
      llvm::all_of(slice->getSteps(), [](int64_t i) { return i == 1; });
  return isPrefix ? slice->getInput() : value;
}

/// The only dimension in which \p from and \p to differ; nullopt if there are
/// several or none.
static std::optional<size_t> findDifference(DimsRef from, DimsRef to) {
  std::optional<size_t> found;
  if (from.size() != to.size())
    return std::nullopt;
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] == to[d])
      continue;
    if (found)
      return std::nullopt;
    found = d;
  }
  return found;
}

std::optional<RepeatedBlocks> glowish::matchRepeatedBlocks(NodeValue value) {
  NodeValue whole = stripSlice(value);
  auto *joined = whole.getNodeAs<ReshapeNode>();
  auto *repeated =
      joined ? joined->getInput().getNodeAs<BroadcastNode>() : nullptr;
  if (!repeated)
    return std::nullopt;
  DimsRef from = repeated->getInput().getShape();
  DimsRef to = repeated->getType().getShape();
  std::optional<size_t> dim = findDifference(from, to);
  if (!dim || *dim == 0 || from[*dim] != 1)
    return std::nullopt;
  size_t axis = *dim - 1;
  int64_t block = to[*dim];
  Dims expected(to);
  expected[axis] *= block;
  expected.erase(expected.begin() + int64_t(*dim));
  if (whole.getShape() != DimsRef(expected))
    return std::nullopt;
  // The slice leaves out a part of the last block alone.
  expected[axis] = value.getShape()[axis];
  if (value.getShape() != DimsRef(expected) ||
      (expected[axis] + block - 1) / block != from[axis])
    return std::nullopt;
  return RepeatedBlocks{repeated->getInput(), unsigned(axis), block};
}

NodeValue glowish::repeatBlocks(Function &function, llvm::StringRef name,
                                NodeValue parameter, unsigned axis,
                                int64_t extent, int64_t block) {
  Dims shape(parameter.getShape());
  int64_t count = shape[axis];
  if (count == 1 || count == extent)
    return parameter;
  Dims blocks = shape;
  blocks.insert(blocks.begin() + axis + 1, 1);
  NodeValue value =
      function.create<ReshapeNode>(name, parameter, blocks)->getResult();
  blocks[axis + 1] = block;
  value = function.create<BroadcastNode>(name, value, blocks)->getResult();
  shape[axis] = count * block;
  value = function.create<ReshapeNode>(name, value, shape)->getResult();
  if (count * block == extent)
    return value;
  shape[axis] = extent;
  return function
      .create<SliceNode>(name, value, std::vector<int64_t>(shape.size(), 0),
                         std::vector<int64_t>(shape.begin(), shape.end()),
                         std::vector<int64_t>(shape.size(), 1))
      ->getResult();
}

NodeValue glowish::dequantizeRows(Function &function, llvm::StringRef name,
                                  NodeValue integers, NodeValue scales,
                                  NodeValue zeroPoints, int64_t block) {
  auto cast = [&](NodeValue value, ElemKind kind) {
    return function.create<CastNode>(name, value, kind)->getResult();
  };
  auto repeat = [&](NodeValue parameter) {
    return repeatBlocks(function, name, parameter, /*axis=*/0,
                        integers.getShape()[0], block);
  };
  NodeValue weights = cast(integers, ElemKind::Int32);
  if (zeroPoints)
    weights = function
                  .create<SubNode>(name, weights,
                                   cast(repeat(zeroPoints), ElemKind::Int32))
                  ->getResult();
  return function
      .create<MulNode>(name, cast(weights, ElemKind::Float), repeat(scales))
      ->getResult();
}
