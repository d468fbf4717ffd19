//===- AtenIndexing.cpp - Operators with indices as ATen's ----------------===//

#include "AtenBuilder.h"

using namespace glowish;
using namespace glowish::fuzz;

/// Whether input \p index has negative indices, which some operators of PyTorch
/// do not take. Computed ones are remainders.
static bool mayBeNegative(const FormNode &node, unsigned index) {
  auto known = node.findInts(index);
  return known &&
         llvm::any_of(*known, [](int64_t element) { return element < 0; });
}

static AtenArg getIndices(AtenBuilder &b, const FormNode &node,
                          unsigned index) {
  AtenArg indices = b.getInput(node, index);
  return b.getType(indices).kind == ElemKind::Int64
             ? indices
             : b.cast(indices, ElemKind::Int64);
}

static bool translateGather(AtenBuilder &b, const FormNode &node) {
  AtenArg x = b.getInput(node, 0);
  int64_t axis = node.getAxis("axis", 0, node.getRank(0));
  unsigned rank = node.getRank(1);
  // An element that is known, or an extent.
  if (auto known = b.findInts(node.getInput(1));
      known && rank == 0 && b.chance(node, 60))
    if (auto number = b.makeNumber(known->front())) {
      b.finish(node, "select.int", {x, axis, *number});
      return true;
    }
  AtenArg indices = getIndices(b, node, 1);
  bool isNegative = mayBeNegative(node, 1);
  if (rank == 1 && !isNegative && b.chance(node, 50)) {
    b.finish(node, "index_select", {x, axis, indices});
    return true;
  }
  bool isTable = axis == 0 && node.getRank(0) == 2 &&
                 isFloatKind(node.getType(0).getKind());
  if (isTable && !isNegative && b.chance(node, 60, 1)) {
    b.finish(node, "embedding", {x, indices});
    return true;
  }
  AtenArg::List all(static_cast<size_t>(axis));
  all.push_back(indices);
  b.finish(node, "index.Tensor", {x, all});
  return true;
}

static bool translateGatherElements(AtenBuilder &b, const FormNode &node) {
  if (mayBeNegative(node, 1))
    return false;
  int64_t axis = node.getAxis("axis", 0, node.getRank(0));
  AtenArg x = b.getInput(node, 0), indices = getIndices(b, node, 1);
  b.finish(node, "gather", {x, axis, indices});
  return true;
}

static bool translateScatterElements(AtenBuilder &b, const FormNode &node) {
  if (mayBeNegative(node, 1))
    return false;
  int64_t axis = node.getAxis("axis", 0, node.getRank(0));
  AtenArg::List arguments = {b.getInput(node, 0), axis, getIndices(b, node, 1),
                             b.getInput(node, 2)};
  std::string reduction = node.getString("reduction", "none");
  if (reduction == "none") {
    b.finish(node, "scatter.src", arguments);
  } else if (reduction == "add") {
    b.finish(node, "scatter_add", arguments);
  } else if (reduction == "max" || reduction == "min") {
    arguments.push_back(reduction == "max" ? "amax" : "amin");
    b.finish(node, "scatter_reduce.two", arguments, {{"include_self", true}});
  } else {
    return false;
  }
  return true;
}

/// The first column of input \p index, which has one.
static std::optional<AtenArg> getColumn(AtenBuilder &b, const FormNode &node,
                                        unsigned index) {
  const Type &type = node.getType(index);
  if (type.getRank() != 2 || type.getLength(1) != Extent(1))
    return std::nullopt;
  AtenArg indices = getIndices(b, node, index);
  return b.call("select.int", {indices, int64_t(1), int64_t(0)},
                {ElemKind::Int64, {type.getLength(0)}});
}

static bool translateGatherND(AtenBuilder &b, const FormNode &node) {
  auto column = getColumn(b, node, 1);
  if (!column || node.getInt("batch_dims", 0))
    return false;
  b.finish(node, "index.Tensor", {b.getInput(node, 0), AtenArg::List{*column}});
  return true;
}

static bool translateScatterND(AtenBuilder &b, const FormNode &node) {
  auto column = getColumn(b, node, 1);
  if (!column || node.getString("reduction", "none") != "none")
    return false;
  b.finish(node, "index_put",
           {b.getInput(node, 0), AtenArg::List{*column}, b.getInput(node, 2)});
  return true;
}

llvm::ArrayRef<AtenTranslation> fuzz::getAtenIndexing() {
  static const AtenTranslation translations[] = {
      {"Gather", translateGather},
      {"GatherElements", translateGatherElements},
      {"ScatterElements", translateScatterElements},
      {"GatherND", translateGatherND},
      {"ScatterND", translateScatterND}};
  return translations;
}
